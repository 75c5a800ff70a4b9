/* The derivative of the log-likelihood where several hypotheses are possible.
 *
 * Hypotheses have weights w_i that sum to 1. An event turns them into successors j with weights
 * v_j = w_i f_i p_j s_j: f_i what the agent would have done, p_j the environment's probability of
 * what was seen, s_j the share of a model where recognition is sampled. Equal ones are added up,
 * and w'_c = sum v_j / T. Backward, with G_c the slope in w'_c and L the row's own terms,
 *
 *   d/d log v_j = v_j/T (G_c - sum G w') + dL/d log v_j,
 *
 * which goes on to f_i, s_j and w_i by their sums. A belief gets the slope of the hypothesis that
 * it was merged into in proportion to v_j: exact where equal beliefs are the same function of
 * theta, and to the first order where they only happen to meet. A subtree with gaps is gone down
 * and back at once, so that memory follows the depth of the tree, not its size.
 *
 * Contents: what it holds · forward · backward · both */
#include "plan/believer/slope_set.h"

#include <math.h>

#include "base/memory.h"

/* --- what it holds -------------------------------------------------------------------------- */

/* Hypotheses on the branch under way, and what is asked of them. */
typedef struct frame {
  hypotheses h;
  const slope_row *row; /* whose event made them; NULL at the base */
  consequence made;
  size_t room;                 /* hypotheses that there are slopes for */
  double *weight_slope;        /* [hypothesis] */
  double *belief_slope;        /* [hypothesis][state] */
  double *log_decision_slope;  /* [hypothesis][action] */
  double *specification_slope; /* [hypothesis][action][model] */
} frame;

struct slope_set {
  const believer *b;
  void *adjoint;
  musing scratch;
  frame *frame; /* [frames]: by depth below the base */
  size_t frames;
  size_t top;   /* the last one in use */
  double *gain; /* [gains]: d/d log f_i of a recorded action */
  size_t gains;
  double *slope;      /* [state]: a belief's share */
  double *filter;     /* scratch of slopes by the dynamics */
  habit_slope *habit; /* of the base */
  idm_theta *opt_dynamics;
};

static void free_frame(frame *f)
{
  idm_hypotheses_free(&f->h);
  free(f->weight_slope);
  free(f->belief_slope);
  free(f->log_decision_slope);
  free(f->specification_slope);
}

void idm_slope_set_destroy(slope_set *slope)
{
  if (!slope) return;
  for (size_t i = 0; i < slope->frames; i++) free_frame(&slope->frame[i]);
  idm_musing_free(&slope->scratch);
  free(slope->frame);
  free(slope->gain);
  free(slope->slope);
  free(slope->filter);
  free(slope);
}

idm_status idm_slope_set_create(const believer *b, void *adjoint, slope_set **ret_slope,
                                idm_error *opt_error)
{
  *ret_slope = NULL;
  slope_set *slope = idm_new(1, sizeof *slope);
  if (!slope) return idm_fail_memory(opt_error);
  slope->b = b;
  slope->adjoint = adjoint;
  slope->slope = idm_new(b->theta->sizes.states, sizeof *slope->slope);
  slope->filter = idm_new(idm_filter_slope_scratch(b->theta->sizes.states), sizeof *slope->filter);
  const idm_status status = slope->slope && slope->filter
                                ? idm_musing_init(b, &slope->scratch, opt_error)
                                : idm_fail_memory(opt_error);
  if (status != IDM_OK) {
    idm_slope_set_destroy(slope);
    return status;
  }
  *ret_slope = slope;
  return IDM_OK;
}

/* Frames up to `depth` below the base; those there are may move. */
static idm_status reach(slope_set *slope, size_t depth, idm_error *opt_error)
{
  if (depth < slope->frames) return IDM_OK;
  frame *larger = realloc(slope->frame, 2 * (depth + 1) * sizeof *larger);
  if (!larger) return idm_fail_memory(opt_error);
  slope->frame = larger;
  while (slope->frames < 2 * (depth + 1)) {
    frame *f = &slope->frame[slope->frames++];
    *f = (frame){0};
    const idm_status status = idm_hypotheses_init(slope->b, &f->h, opt_error);
    if (status != IDM_OK) return status;
    f->h.set.traced = true;
  }
  return IDM_OK;
}

/* Slopes of 0 for every hypothesis of a frame. */
static idm_status clear_slopes(frame *f, idm_error *opt_error)
{
  const belief_set *set = &f->h.set;
  if (set->count > f->room) {
    struct {
      double **array;
      size_t width;
    } const parts[] = {{&f->weight_slope, 1},
                       {&f->belief_slope, set->states},
                       {&f->log_decision_slope, set->actions},
                       {&f->specification_slope, set->pairs}};
    const size_t room = set->capacity;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
      double *larger = realloc(*parts[i].array, room * parts[i].width * sizeof *larger);
      if (!larger) return idm_fail_memory(opt_error);
      *parts[i].array = larger;
    }
    f->room = room;
  }
  memset(f->weight_slope, 0, set->count * sizeof(double));
  memset(f->belief_slope, 0, set->count * set->states * sizeof(double));
  memset(f->log_decision_slope, 0, set->count * set->actions * sizeof(double));
  memset(f->specification_slope, 0, set->count * set->pairs * sizeof(double));
  return IDM_OK;
}

static idm_status reserve_gains(slope_set *slope, size_t count, idm_error *opt_error)
{
  if (count <= slope->gains) return IDM_OK;
  double *larger = realloc(slope->gain, 2 * count * sizeof *larger);
  if (!larger) return idm_fail_memory(opt_error);
  slope->gain = larger;
  slope->gains = 2 * count;
  return IDM_OK;
}

/* --- forward -------------------------------------------------------------------------------- */

/* The hypotheses that the rows start from. */
static idm_status begin(slope_set *slope, const slope_base *base, idm_error *opt_error)
{
  const idm_sizes n = slope->b->theta->sizes;
  const size_t pairs = n.actions * slope->b->theta->models;
  idm_status status = reach(slope, 0, opt_error);
  if (status != IDM_OK) return status;
  slope->top = 0;
  slope->habit = base->habit;
  slope->opt_dynamics = base->opt_dynamics;
  frame *f = &slope->frame[0];
  f->row = NULL;
  if (base->opt_start) {
    status = idm_hypotheses_begin(slope->b, &slope->scratch, &f->h, base->variant, base->opt_start,
                                  opt_error);
    if (status == IDM_OK)
      status = idm_hypotheses_decide(slope->b, &slope->scratch, &f->h, opt_error);
    return status == IDM_OK ? clear_slopes(f, opt_error) : status;
  }
  f->h.variant = base->variant;
  f->h.steps = base->steps;
  f->h.set.apart = false;
  f->h.decided = true;
  idm_belief_set_clear(&f->h.set);
  status = idm_belief_set_add(&f->h.set, 1, base->belief, NULL, base->last, opt_error);
  memcpy(f->h.known, base->known, n.states * sizeof(double));
  memcpy(f->h.set.decision, base->decision, n.actions * sizeof(double));
  memcpy(f->h.set.specification, base->specification, pairs * sizeof(double));
  return status == IDM_OK ? clear_slopes(f, opt_error) : status;
}

static idm_event event_of(const slope_row *r)
{
  return (idm_event){
      .action = r->action, .observation = r->observation, .missed = r->missed, .last = r->last};
}

/* Whether what was seen after a row says nothing: see score.c. */
static bool idle(const slope_row *r, const hypotheses *h, bool checked)
{
  if (!r->leaf) return false;
  if (r->observation == IDM_MISSING) return true;
  return checked && r->action != IDM_MISSING && !h->set.apart;
}

/* --- backward ------------------------------------------------------------------------------- */

/* A choice moves log pi of all that is open. */
static void ask_choice(slope_set *slope, frame *f, const slope_row *r, size_t i, size_t u,
                       double slope_of)
{
  idm_hypotheses_recall(slope->b, &slope->scratch, &f->h, r->open, i, u, slope_of,
                        f->log_decision_slope + i * f->h.set.actions, slope->habit);
}

/* The decision of a row and what it does to the weights: gain[i] = d/d log(w_i f_i) so far. */
static void recall_choice(slope_set *slope, frame *f, const slope_row *r, double own, double shift)
{
  const size_t u = (size_t)r->action;
  const belief_set *set = &f->h.set;
  const bool one = set->count == 1;
  double total = 0;
  for (size_t i = 0; i < set->count; i++)
    total +=
        set->weight[i] *
        (one ? 1 : idm_hypotheses_factor(slope->b, &slope->scratch, &f->h, r->open, i, u, shift));
  for (size_t i = 0; i < set->count; i++) {
    const double factor =
        one ? 1 : idm_hypotheses_factor(slope->b, &slope->scratch, &f->h, r->open, i, u, shift);
    const double gain = slope->gain[i] + own * set->weight[i] * factor / total;
    if (r->decided > 0) ask_choice(slope, f, r, i, u, gain);
    if (set->weight[i] > 0) f->weight_slope[i] += gain / set->weight[i];
  }
}

/* One model's successor z_m' of hypothesis `from`: slopes of z_m', times `scale`, go back to the
 * belief and the dynamics; returns what they come to at z_m' itself. */
static double recall_model(slope_set *slope, frame *f, const recognition *seen, size_t i, size_t m,
                           double scale)
{
  const idm_sizes n = slope->b->theta->sizes;
  double *joint = slope->scratch.posterior;
  double *back = f->belief_slope + i * n.states;
  const double p = idm_recognition_joint(seen, m, joint);
  double own = 0;
  if (!(p > idm_impossible)) return 0;
  for (size_t s = 0; s < n.states; s++) own += slope->slope[s] * (joint[s] / p);
  const idm_world world = idm_recognition_world(seen, m);
  idm_filter_sink sink = {0};
  if (slope->opt_dynamics) sink = idm_recognition_sink(seen, m, slope->opt_dynamics);
  if (world.update.bent)
    sink.belief = back;
  else
    idm_filter_recall(&world, seen->observation, slope->slope, own, scale / p, back);
  if (slope->opt_dynamics || world.update.bent)
    idm_filter_slope(&world, seen->z, seen->observation, slope->slope, scale, 0, &sink,
                     slope->filter);
  return own;
}

/* The recognition behind one origin, whose belief has the slopes slope->slope and whose share, of
 * one model, `gain` by its logarithm. */
static void recall_recognition(slope_set *slope, frame *f, const belief_origin *o, double gain)
{
  const believer *b = slope->b;
  const size_t models = b->theta->models;
  const bool sampled = b->recognition == IDM_RECOGNITION_SAMPLED;
  const bool moves = !b->setting->fully_observed; /* else the belief is what was seen */
  if (!moves && !sampled) return;
  const recognition seen =
      idm_hypotheses_recognition(b, &f->h.set, o->parent, o->action, o->observation);
  double *asked = f->specification_slope + o->parent * f->h.set.pairs + o->action * models;
  double *share = slope->scratch.share;
  double total;
  idm_recognise(&seen, share, slope->scratch.mean, &total, slope->scratch.posterior);
  if (sampled) {
    asked[o->model] += gain / seen.sigma[o->model];
    for (size_t m = 0; m < models; m++)
      if (share[m] > 0) asked[m] -= gain / total;
    if (moves) recall_model(slope, f, &seen, o->parent, o->model, 1);
    return;
  }
  double all = 0;
  for (size_t s = 0; s < f->h.set.states; s++) all += slope->slope[s] * slope->scratch.mean[s];
  for (size_t m = 0; m < models; m++) {
    if (!(share[m] > 0)) continue;
    const double own = recall_model(slope, f, &seen, o->parent, m, share[m] / total);
    asked[m] += (own - all) / total;
  }
}

/* Slopes of what an event made (`after`, nothing where it is a leaf's) go back to what it was made
 * of. */
static void recall_event(slope_set *slope, frame *before, const frame *after, const slope_row *r,
                         bool weighs)
{
  const belief_set *set = &after->h.set;
  const size_t k = set->states;
  const double total = after->made.total;
  double mean = 0;
  for (size_t c = 0; !r->leaf && c < set->count; c++)
    mean += after->weight_slope[c] * set->weight[c];
  for (size_t j = 0; j < set->origins; j++) {
    const belief_origin *o = &set->origin[j];
    const double share = o->weight / total;
    double gain = weighs ? r->count * share : 0;
    if (!r->leaf) {
      gain += share * (after->weight_slope[o->into] - mean);
      const double part = set->weight[o->into] > 0 ? share / set->weight[o->into] : 0;
      for (size_t s = 0; s < k; s++) slope->slope[s] = part * after->belief_slope[o->into * k + s];
    } else {
      memset(slope->slope, 0, k * sizeof *slope->slope);
    }
    recall_recognition(slope, before, o, gain);
    if (r->action != IDM_MISSING) {
      slope->gain[o->parent] += gain;
      continue;
    }
    ask_choice(slope, before, r, o->parent, o->action, gain);
    if (before->h.set.weight[o->parent] > 0)
      before->weight_slope[o->parent] += gain / before->h.set.weight[o->parent];
  }
}

/* A row backward: from what it made to what it was made of. */
static idm_status recall(slope_set *slope, frame *before, const frame *opt_after,
                         const slope_row *r, double shift, idm_error *opt_error)
{
  const idm_status status = reserve_gains(slope, before->h.set.count, opt_error);
  if (status != IDM_OK) return status;
  memset(slope->gain, 0, before->h.set.count * sizeof *slope->gain);
  /* What was seen is weighed where the log leaves anything open; then log T - log D is the row's.
   */
  const bool weighs = opt_after && opt_after->made.weighs;
  if (opt_after) recall_event(slope, before, opt_after, r, weighs);
  if (r->action != IDM_MISSING)
    recall_choice(slope, before, r, r->decided - (weighs ? r->count : 0), shift);
  return IDM_OK;
}

/* The policies at every hypothesis. */
static void ask(slope_set *slope, frame *f, bool fixed)
{
  const belief_set *set = &f->h.set;
  for (size_t i = 0; i < set->count; i++) {
    const idm_policy_slope point = {.variant = f->h.variant,
                                    .steps = f->h.steps,
                                    .belief = set->belief + i * set->states,
                                    .decision = set->decision + i * set->actions,
                                    .log_decision_slope = f->log_decision_slope + i * set->actions,
                                    .specification_slope = f->specification_slope + i * set->pairs,
                                    .opt_belief_slope =
                                        fixed ? NULL : f->belief_slope + i * set->states};
    slope->b->planner->belief->adjoint->point(slope->adjoint, &point);
  }
}

/* Everything that follows the hypotheses on top was gone through. */
static idm_status close_top(slope_set *slope, idm_error *opt_error)
{
  frame *f = &slope->frame[slope->top--];
  ask(slope, f, slope->b->setting->fully_observed);
  return recall(slope, &slope->frame[slope->top], f, f->row, f->made.shift, opt_error);
}

static void add_all(const double *from, double *to, size_t count)
{
  for (size_t i = 0; i < count; i++) to[i] += from[i];
}

static void close_base(slope_set *slope, const slope_base *base)
{
  frame *f = &slope->frame[0];
  if (base->opt_start) {
    ask(slope, f, true);
    return;
  }
  add_all(f->belief_slope, base->belief_slope, f->h.set.states);
  add_all(f->log_decision_slope, base->log_decision_slope, f->h.set.actions);
  add_all(f->specification_slope, base->specification_slope, f->h.set.pairs);
}

/* --- both ----------------------------------------------------------------------------------- */

/* A row forward; a leaf backward too. */
static idm_status take(slope_set *slope, const slope_row *r, bool checked, double *log_likelihood,
                       idm_error *opt_error)
{
  const believer *b = slope->b;
  idm_status status = reach(slope, slope->top + 1, opt_error);
  if (status != IDM_OK) return status;
  frame *before = &slope->frame[slope->top];
  frame *after = &slope->frame[slope->top + 1];
  const idm_event event = event_of(r);
  if (r->decided > 0)
    *log_likelihood += r->decided * idm_hypotheses_log_act(b, &slope->scratch, &before->h, r->open,
                                                           (size_t)r->action);
  if (*log_likelihood == -INFINITY) return IDM_OK;
  if (idle(r, &before->h, checked)) {
    if (r->action == IDM_MISSING) return IDM_OK;
    const double shift = idm_hypotheses_shift(b, &slope->scratch, &before->h, &event, r->open);
    return recall(slope, before, NULL, r, shift, opt_error);
  }
  status = idm_hypotheses_follow(b, &slope->scratch, &before->h, &event, r->open, &after->h,
                                 &after->made, NULL, opt_error);
  if (status != IDM_OK) return status;
  *log_likelihood += r->count * after->made.log_evidence;
  if (*log_likelihood == -INFINITY) return IDM_OK;
  if (r->leaf) return recall(slope, before, after, r, after->made.shift, opt_error);
  after->row = r;
  slope->top++;
  status = idm_hypotheses_decide(b, &slope->scratch, &after->h, opt_error);
  return status == IDM_OK ? clear_slopes(after, opt_error) : status;
}

idm_status idm_slope_set_run(slope_set *slope, const slope_base *base, const slope_row *row,
                             size_t rows, bool checked, double *log_likelihood, size_t *at,
                             idm_error *opt_error)
{
  idm_status status = begin(slope, base, opt_error);
  for (size_t i = 0; i < rows && status == IDM_OK && *log_likelihood > -INFINITY; i++) {
    *at = i;
    while (slope->top + base->depth + 1 > row[i].depth && status == IDM_OK)
      status = close_top(slope, opt_error);
    if (status == IDM_OK) status = take(slope, &row[i], checked, log_likelihood, opt_error);
  }
  while (slope->top > 0 && status == IDM_OK && *log_likelihood > -INFINITY)
    status = close_top(slope, opt_error);
  if (status == IDM_OK && *log_likelihood > -INFINITY) close_base(slope, base);
  return status;
}
