/* Derivative of the log-likelihood where several hypotheses are possible
 * (docs/method/likelihood.md, 4 and 7).
 *
 * Hypotheses have weights w_i that sum to 1. An event maps them to successors j with weights v_j =
 * w_i f_i p_j s_j, where f_i is the agent's choice probability, p_j the environment's probability
 * of the observation, and s_j the share of a model if recognition is sampled. Equal successors are
 * merged: w'_c = sum v_j / T. In reverse, with G_c the derivative with respect to w'_c and L the
 * terms of the row itself,
 *
 *   d/d log v_j = v_j/T (G_c - sum G w') + dL/d log v_j,
 *
 * which is summed over j to give the derivatives with respect to log f_i, log s_j and log w_i. A
 * belief receives the derivative of the hypothesis that it was merged into, in proportion to v_j.
 * This is exact if equal beliefs are the same function of theta, and of first order if they
 * coincide at one theta only. The forward and the backward pass of a subtree alternate, so that
 * memory is proportional to the depth of the tree and not to its size.
 *
 * Contents: state · forward · backward · run */
#include "plan/believer/believer.h"

#include <math.h>

#include "base/memory.h"

/* --- state ----------------------------------------------------------------------------------- */

/* Hypotheses on the current branch, and derivatives with respect to them. */
typedef struct frame {
  hypotheses h;
  const gradient_row *row; /* row of the event that led to them; NULL at the base */
  update_result made;
  size_t row_capacity;            /* hypotheses allocated in the arrays below */
  double *weight_gradient;        /* [hypothesis] */
  double *belief_gradient;        /* [hypothesis][state] */
  double *log_decision_gradient;  /* [hypothesis][action] */
  double *specification_gradient; /* [hypothesis][action][model] */
} frame;

struct gradient_set {
  const belief_agent *b;
  void *adjoint;
  step_scratch scratch;
  frame *frame; /* [frames]: by depth below the base */
  size_t frames;
  size_t top;                  /* index of the last frame in use */
  double *log_weight_gradient; /* [gradient_capacity]: d/d log f_i of a recorded action */
  size_t gradient_capacity;
  double *derivative;                /* [state]: with respect to one belief */
  double *filter;                    /* scratch of derivatives with respect to the dynamics */
  choice_bias_gradient *choice_bias; /* of the base */
  idm_theta *opt_dynamics;
};

static void free_frame(frame *f)
{
  idm_hypotheses_free(&f->h);
  free(f->weight_gradient);
  free(f->belief_gradient);
  free(f->log_decision_gradient);
  free(f->specification_gradient);
}

void idm_gradient_set_destroy(gradient_set *derivative)
{
  if (!derivative) return;
  for (size_t i = 0; i < derivative->frames; i++) free_frame(&derivative->frame[i]);
  idm_step_scratch_free(&derivative->scratch);
  free(derivative->frame);
  free(derivative->log_weight_gradient);
  free(derivative->derivative);
  free(derivative->filter);
  free(derivative);
}

idm_status idm_gradient_set_create(const belief_agent *b, void *adjoint,
                                   gradient_set **ret_gradient, idm_error *opt_error)
{
  *ret_gradient = NULL;
  gradient_set *derivative = idm_new(1, sizeof *derivative);
  if (!derivative) return idm_fail_memory(opt_error);
  derivative->b = b;
  derivative->adjoint = adjoint;
  derivative->derivative = idm_new(b->theta->sizes.states, sizeof *derivative->derivative);
  derivative->filter =
      idm_new(idm_filter_backward_scratch(b->theta->sizes.states), sizeof *derivative->filter);
  const idm_status status = derivative->derivative && derivative->filter
                                ? idm_step_scratch_init(b, &derivative->scratch, opt_error)
                                : idm_fail_memory(opt_error);
  if (status != IDM_OK) {
    idm_gradient_set_destroy(derivative);
    return status;
  }
  *ret_gradient = derivative;
  return IDM_OK;
}

/* Allocates frames up to `depth` below the base; existing frames may move. */
static idm_status reserve_frames(gradient_set *derivative, size_t depth, idm_error *opt_error)
{
  if (depth < derivative->frames) return IDM_OK;
  frame *larger = realloc(derivative->frame, 2 * (depth + 1) * sizeof *larger);
  if (!larger) return idm_fail_memory(opt_error);
  derivative->frame = larger;
  while (derivative->frames < 2 * (depth + 1)) {
    frame *f = &derivative->frame[derivative->frames++];
    *f = (frame){0};
    const idm_status status = idm_hypotheses_init(derivative->b, &f->h, opt_error);
    if (status != IDM_OK) return status;
    f->h.set.keeps_origins = true;
  }
  return IDM_OK;
}

/* Sets the derivatives of every hypothesis of a frame to 0. */
static idm_status clear_gradients(frame *f, idm_error *opt_error)
{
  const belief_set *set = &f->h.set;
  if (set->count > f->row_capacity) {
    struct {
      double **array;
      size_t width;
    } const parts[] = {{&f->weight_gradient, 1},
                       {&f->belief_gradient, set->states},
                       {&f->log_decision_gradient, set->actions},
                       {&f->specification_gradient, set->pairs}};
    const size_t row_capacity = set->capacity;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
      double *larger = realloc(*parts[i].array, row_capacity * parts[i].width * sizeof *larger);
      if (!larger) return idm_fail_memory(opt_error);
      *parts[i].array = larger;
    }
    f->row_capacity = row_capacity;
  }
  memset(f->weight_gradient, 0, set->count * sizeof(double));
  memset(f->belief_gradient, 0, set->count * set->states * sizeof(double));
  memset(f->log_decision_gradient, 0, set->count * set->actions * sizeof(double));
  memset(f->specification_gradient, 0, set->count * set->pairs * sizeof(double));
  return IDM_OK;
}

static idm_status reserve_gradients(gradient_set *derivative, size_t count, idm_error *opt_error)
{
  if (count <= derivative->gradient_capacity) return IDM_OK;
  double *larger = realloc(derivative->log_weight_gradient, 2 * count * sizeof *larger);
  if (!larger) return idm_fail_memory(opt_error);
  derivative->log_weight_gradient = larger;
  derivative->gradient_capacity = 2 * count;
  return IDM_OK;
}

/* --- forward -------------------------------------------------------------------------------- */

/* Initialises the hypotheses at the base. */
static idm_status begin(gradient_set *derivative, const gradient_base *base, idm_error *opt_error)
{
  const idm_sizes n = derivative->b->theta->sizes;
  const size_t pairs = n.actions * derivative->b->theta->models;
  idm_status status = reserve_frames(derivative, 0, opt_error);
  if (status != IDM_OK) return status;
  derivative->top = 0;
  derivative->choice_bias = base->choice_bias;
  derivative->opt_dynamics = base->opt_dynamics;
  frame *f = &derivative->frame[0];
  f->row = NULL;
  if (base->opt_start) {
    status = idm_hypotheses_begin(derivative->b, &derivative->scratch, &f->h, base->variant,
                                  base->opt_start, opt_error);
    if (status == IDM_OK)
      status = idm_hypotheses_decide(derivative->b, &derivative->scratch, &f->h, opt_error);
    return status == IDM_OK ? clear_gradients(f, opt_error) : status;
  }
  f->h.variant = base->variant;
  f->h.steps = base->steps;
  f->h.set.tracks_environment = false;
  f->h.decided = true;
  idm_belief_set_clear(&f->h.set);
  status = idm_belief_set_add(&f->h.set, 1, base->belief, NULL, base->last, opt_error);
  memcpy(f->h.known, base->known, n.states * sizeof(double));
  memcpy(f->h.set.decision, base->decision, n.actions * sizeof(double));
  memcpy(f->h.set.specification, base->specification, pairs * sizeof(double));
  return status == IDM_OK ? clear_gradients(f, opt_error) : status;
}

static idm_event event_of(const gradient_row *r)
{
  return (idm_event){
      .action = r->action, .observation = r->observation, .missed = r->missed, .last = r->last};
}

/* Whether the observation after a row can be skipped: see observation_unused() in score.c. */
static bool observation_unused(const gradient_row *r, const hypotheses *h, bool checked)
{
  if (!r->leaf) return false;
  if (r->observation == IDM_MISSING) return true;
  return checked && r->action != IDM_MISSING && !h->set.tracks_environment;
}

/* --- backward ------------------------------------------------------------------------------- */

/* Backward pass of a choice: derivatives with respect to log pi of all open actions. */
static void add_choice_gradient(gradient_set *derivative, frame *f, const gradient_row *r, size_t i,
                                size_t u, double choice_gradient)
{
  idm_hypotheses_backward(derivative->b, &derivative->scratch, &f->h, r->open, i, u,
                          choice_gradient, f->log_decision_gradient + i * f->h.set.actions,
                          derivative->choice_bias);
}

/* Backward pass of a row's decision to the weights, where log_weight_gradient[i] is d/d log(w_i
 * f_i) so far. */
static void choice_backward(gradient_set *derivative, frame *f, const gradient_row *r, double own,
                            double shift)
{
  const size_t u = (size_t)r->action;
  const belief_set *set = &f->h.set;
  const bool one = set->count == 1;
  double total = 0;
  for (size_t i = 0; i < set->count; i++)
    total += set->weight[i] * (one ? 1
                                   : idm_hypotheses_factor(derivative->b, &derivative->scratch,
                                                           &f->h, r->open, i, u, shift));
  for (size_t i = 0; i < set->count; i++) {
    const double factor = one ? 1
                              : idm_hypotheses_factor(derivative->b, &derivative->scratch, &f->h,
                                                      r->open, i, u, shift);
    const double log_weight_gradient =
        derivative->log_weight_gradient[i] + own * set->weight[i] * factor / total;
    if (r->decided > 0) add_choice_gradient(derivative, f, r, i, u, log_weight_gradient);
    if (set->weight[i] > 0) f->weight_gradient[i] += log_weight_gradient / set->weight[i];
  }
}

/* Backward pass of model m's posterior z_m' of hypothesis i: the derivatives with respect to z_m',
 * times `scale`, are propagated to the belief and the dynamics. Returns their inner product with
 * z_m'. */
static double model_backward(gradient_set *derivative, frame *f, const recognition *seen, size_t i,
                             size_t m, double scale)
{
  const idm_sizes n = derivative->b->theta->sizes;
  double *joint = derivative->scratch.posterior;
  double *back = f->belief_gradient + i * n.states;
  const double p = idm_recognition_joint(seen, m, joint);
  double own = 0;
  if (!(p > idm_zero_probability)) return 0;
  for (size_t s = 0; s < n.states; s++) own += derivative->derivative[s] * (joint[s] / p);
  const idm_action_model env_belief = idm_recognition_model(seen, m);
  idm_filter_gradient sink = {0};
  if (derivative->opt_dynamics) sink = idm_recognition_gradient(seen, m, derivative->opt_dynamics);
  if (env_belief.update.distorted)
    sink.belief = back;
  else
    idm_filter_joint_backward(&env_belief, seen->observation, derivative->derivative, own,
                              scale / p, back);
  if (derivative->opt_dynamics || env_belief.update.distorted)
    idm_filter_backward(&env_belief, seen->z, seen->observation, derivative->derivative, scale, 0,
                        &sink, derivative->filter);
  return own;
}

/* Backward pass of the recognition of one origin. derivative->derivative is the derivative with
 * respect to its belief, log_weight_gradient that with respect to the log weight of the origin,
 * which includes the share of its model if recognition is sampled. */
static void recognition_backward(gradient_set *derivative, frame *f, const belief_origin *o,
                                 double log_weight_gradient)
{
  const belief_agent *b = derivative->b;
  const size_t models = b->theta->models;
  const bool sampled = b->recognition == IDM_RECOGNITION_SAMPLED;
  const bool moves = !b->setting->fully_observed; /* else the belief is the observed state */
  if (!moves && !sampled) return;
  const recognition seen =
      idm_hypotheses_recognition(b, &f->h.set, o->parent, o->action, o->observation);
  double *sigma_gradient =
      f->specification_gradient + o->parent * f->h.set.pairs + o->action * models;
  double *share = derivative->scratch.share;
  double total;
  idm_recognise(&seen, share, derivative->scratch.mean, &total, derivative->scratch.posterior);
  if (sampled) {
    sigma_gradient[o->model] += log_weight_gradient / seen.sigma[o->model];
    for (size_t m = 0; m < models; m++)
      if (share[m] > 0) sigma_gradient[m] -= log_weight_gradient / total;
    if (moves) model_backward(derivative, f, &seen, o->parent, o->model, 1);
    return;
  }
  double all = 0;
  for (size_t s = 0; s < f->h.set.states; s++)
    all += derivative->derivative[s] * derivative->scratch.mean[s];
  for (size_t m = 0; m < models; m++) {
    if (!(share[m] > 0)) continue;
    const double own = model_backward(derivative, f, &seen, o->parent, m, share[m] / total);
    sigma_gradient[m] += (own - all) / total;
  }
}

/* Backward pass of an event, from the hypotheses `after` it to those `before`. After a leaf no
 * derivatives with respect to beliefs and weights exist. */
static void event_backward(gradient_set *derivative, frame *before, const frame *after,
                           const gradient_row *r, bool env_weighted)
{
  const belief_set *set = &after->h.set;
  const size_t k = set->states;
  const double total = after->made.total;
  double mean = 0;
  for (size_t c = 0; !r->leaf && c < set->count; c++)
    mean += after->weight_gradient[c] * set->weight[c];
  for (size_t j = 0; j < set->origins; j++) {
    const belief_origin *o = &set->origin[j];
    const double share = o->weight / total;
    double log_weight_gradient = env_weighted ? r->count * share : 0;
    if (!r->leaf) {
      log_weight_gradient += share * (after->weight_gradient[o->target] - mean);
      const double part = set->weight[o->target] > 0 ? share / set->weight[o->target] : 0;
      for (size_t s = 0; s < k; s++)
        derivative->derivative[s] = part * after->belief_gradient[o->target * k + s];
    } else {
      memset(derivative->derivative, 0, k * sizeof *derivative->derivative);
    }
    recognition_backward(derivative, before, o, log_weight_gradient);
    if (r->action != IDM_MISSING) {
      derivative->log_weight_gradient[o->parent] += log_weight_gradient;
      continue;
    }
    add_choice_gradient(derivative, before, r, o->parent, o->action, log_weight_gradient);
    if (before->h.set.weight[o->parent] > 0)
      before->weight_gradient[o->parent] += log_weight_gradient / before->h.set.weight[o->parent];
  }
}

/* Backward pass of a row: the event, then the decision. */
static idm_status row_backward(gradient_set *derivative, frame *before, const frame *opt_after,
                               const gradient_row *r, double shift, idm_error *opt_error)
{
  const idm_status status = reserve_gradients(derivative, before->h.set.count, opt_error);
  if (status != IDM_OK) return status;
  memset(derivative->log_weight_gradient, 0,
         before->h.set.count * sizeof *derivative->log_weight_gradient);
  /* If the log leaves cells open, the observation is weighted by the environment, and the row adds
   * log T - log D, where D is `decided`. */
  const bool env_weighted = opt_after && opt_after->made.env_weighted;
  if (opt_after) event_backward(derivative, before, opt_after, r, env_weighted);
  if (r->action != IDM_MISSING)
    choice_backward(derivative, before, r, r->decided - (env_weighted ? r->count : 0), shift);
  return IDM_OK;
}

/* Adds the policies at every hypothesis to the adjoint. */
static void add_adjoint_point(gradient_set *derivative, frame *f, bool fixed)
{
  const belief_set *set = &f->h.set;
  for (size_t i = 0; i < set->count; i++) {
    const idm_policy_adjoint point = {
        .variant = f->h.variant,
        .steps = f->h.steps,
        .belief = set->belief + i * set->states,
        .decision = set->decision + i * set->actions,
        .log_decision_gradient = f->log_decision_gradient + i * set->actions,
        .specification_gradient = f->specification_gradient + i * set->pairs,
        .opt_belief_gradient = fixed ? NULL : f->belief_gradient + i * set->states};
    derivative->b->planner->belief->adjoint->point(derivative->adjoint, &point);
  }
}

/* Backward pass of the top frame, after all rows below it. */
static idm_status pop_frame(gradient_set *derivative, idm_error *opt_error)
{
  frame *f = &derivative->frame[derivative->top--];
  add_adjoint_point(derivative, f, derivative->b->setting->fully_observed);
  return row_backward(derivative, &derivative->frame[derivative->top], f, f->row, f->made.shift,
                      opt_error);
}

static void add_all(const double *from, double *to, size_t count)
{
  for (size_t i = 0; i < count; i++) to[i] += from[i];
}

static void finish_base(gradient_set *derivative, const gradient_base *base)
{
  frame *f = &derivative->frame[0];
  if (base->opt_start) {
    add_adjoint_point(derivative, f, true);
    return;
  }
  add_all(f->belief_gradient, base->belief_gradient, f->h.set.states);
  add_all(f->log_decision_gradient, base->log_decision_gradient, f->h.set.actions);
  add_all(f->specification_gradient, base->specification_gradient, f->h.set.pairs);
}

/* --- run ------------------------------------------------------------------------------------- */

/* Forward pass of a row; for a leaf also the backward pass. */
static idm_status row_forward(gradient_set *derivative, const gradient_row *r, bool checked,
                              double *log_likelihood, idm_error *opt_error)
{
  const belief_agent *b = derivative->b;
  idm_status status = reserve_frames(derivative, derivative->top + 1, opt_error);
  if (status != IDM_OK) return status;
  frame *before = &derivative->frame[derivative->top];
  frame *after = &derivative->frame[derivative->top + 1];
  const idm_event event = event_of(r);
  if (r->decided > 0)
    *log_likelihood += r->decided * idm_hypotheses_log_act(b, &derivative->scratch, &before->h,
                                                           r->open, (size_t)r->action);
  if (*log_likelihood == -INFINITY) return IDM_OK;
  if (observation_unused(r, &before->h, checked)) {
    if (r->action == IDM_MISSING) return IDM_OK;
    const double shift = idm_hypotheses_shift(b, &derivative->scratch, &before->h, &event, r->open);
    return row_backward(derivative, before, NULL, r, shift, opt_error);
  }
  status = idm_hypotheses_update(b, &derivative->scratch, &before->h, &event, r->open, &after->h,
                                 &after->made, NULL, opt_error);
  if (status != IDM_OK) return status;
  *log_likelihood += r->count * after->made.log_evidence;
  if (*log_likelihood == -INFINITY) return IDM_OK;
  if (r->leaf) return row_backward(derivative, before, after, r, after->made.shift, opt_error);
  after->row = r;
  derivative->top++;
  status = idm_hypotheses_decide(b, &derivative->scratch, &after->h, opt_error);
  return status == IDM_OK ? clear_gradients(after, opt_error) : status;
}

idm_status idm_gradient_set_run(gradient_set *derivative, const gradient_base *base,
                                const gradient_row *row, size_t rows, bool checked,
                                double *log_likelihood, size_t *at, idm_error *opt_error)
{
  idm_status status = begin(derivative, base, opt_error);
  for (size_t i = 0; i < rows && status == IDM_OK && *log_likelihood > -INFINITY; i++) {
    *at = i;
    while (derivative->top + base->depth + 1 > row[i].depth && status == IDM_OK)
      status = pop_frame(derivative, opt_error);
    if (status == IDM_OK)
      status = row_forward(derivative, &row[i], checked, log_likelihood, opt_error);
  }
  while (derivative->top > 0 && status == IDM_OK && *log_likelihood > -INFINITY)
    status = pop_frame(derivative, opt_error);
  if (status == IDM_OK && *log_likelihood > -INFINITY) finish_base(derivative, base);
  return status;
}
