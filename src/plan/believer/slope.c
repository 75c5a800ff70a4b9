/* The log-likelihood and its derivative, in reverse over the tree of common prefixes.
 *
 * Contents: what it holds · whether it can be had · making one · forward · backward · both */
#include <math.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/vector.h"
#include "plan/believer/believer.h"
#include "plan/believer/recognise.h"
#include "plan/believer/slope.h"
#include "plan/believer/slope_set.h"
#include "plan/smallest.h"

/* --- what it holds -------------------------------------------------------------------------- */

/* Known beliefs are held at slots: one for every root and every row that others follow. */
static const uint32_t no_slot = UINT32_MAX;
/* What stands for the slot of a node at which several beliefs are possible. */
static const uint32_t several = UINT32_MAX - 1;

/* Rows that follow each other and leave several beliefs possible: below a slot, or a start that is
 * one of several. */
typedef struct thicket {
  size_t first;
  size_t end;
  uint32_t slot; /* no_slot: at a start */
  uint32_t depth;
  uint32_t variant;
  const double *start;
} thicket;

/* A belief of the tree. */
typedef struct place {
  uint32_t variant;
  int steps;
  int last;            /* the last response; IDM_MISSING at a root */
  const double *start; /* of a root; NULL elsewhere */
} place;

typedef struct gradient {
  const idm_data *data;
  const believer *b;
  void *adjoint;
  idm_sizes sizes;
  size_t models;
  size_t rows;
  slope_row *row; /* [rows], in the order of the tree; roots are not rows */
  size_t thickets;
  thicket *thicket; /* [thickets], in the order of the tree */
  slope_set *set;   /* NULL where there are none */
  double *known;    /* [slot][state]: the environment's belief, where there are thickets */
  size_t slots;
  place *slot;                 /* [slots], in the order of the tree */
  double *belief;              /* [slot][state] */
  double *belief_slope;        /* [slot][state] */
  double *decision;            /* [slot][action] */
  double *log_decision_slope;  /* [slot][action] */
  double *specification;       /* [slot][action][model] */
  double *specification_slope; /* [slot][action][model] */
  double *allowed;             /* [slot]: sigma's sum over the models that allowed what was seen */
  double *chosen;              /* [row]: probability of the action among those open */
  double *log_chosen;          /* [action] */
  habit_slope habit;           /* what is asked of habits */
  idm_theta *opt_dynamics;     /* where slopes by what makes beliefs go; NULL: not wanted */
  double *filter;              /* scratch of theirs */
  bool guesses;                /* somewhere the action before was not recorded */
  double *joint;               /* [state] */
  double *mean;                /* [state]: a belief that nothing follows */
  double *scratch;             /* the planner's */
  bool checked;                /* last observations were found possible */
  idm_interruption interruption;
} gradient;

/* --- whether it can be had ------------------------------------------------------------------ */

static const double *start_of(const idm_data *data, const idm_setting *setting, int32_t start)
{
  return start < 0 ? setting->start : data->start_belief + (size_t)start * data->sizes.states;
}

/* In an MDP a start that is no corner leaves several beliefs possible. */
static bool known_start(const idm_setting *setting, const double *start, size_t states)
{
  size_t support = 0;
  for (size_t s = 0; s < states; s++) support += start[s] > 0;
  return !setting->fully_observed || support == 1;
}

/* Whether a row at a known belief leaves that of what follows, or of what was seen last, open. */
static bool opens(const believer *b, const idm_prefix_node *node)
{
  const bool recorded = node->action != IDM_MISSING && node->observation != IDM_MISSING;
  if (node->leaf) return node->action == IDM_MISSING && node->observation != IDM_MISSING;
  return !recorded || b->recognition != IDM_RECOGNITION_MEAN;
}

static bool possible(const void *content, const idm_data *data, const idm_prefix_tree *tree)
{
  (void)data;
  (void)tree;
  const believer *b = content;
  return b->differentiable;
}

/* --- making one ----------------------------------------------------------------------------- */

static void destroy(void *content)
{
  gradient *g = content;
  if (!g) return;
  if (g->adjoint) g->b->planner->belief->adjoint->destroy(g->adjoint);
  idm_slope_set_destroy(g->set);
  void *const owned[] = {g->row,           g->slot,
                         g->thicket,       g->known,
                         g->belief,        g->belief_slope,
                         g->decision,      g->log_decision_slope,
                         g->specification, g->specification_slope,
                         g->chosen,        g->log_chosen,
                         g->joint,         g->mean,
                         g->allowed,       g->scratch,
                         g->filter};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
  free(g);
}

static slope_row row_of(const idm_data *data, const idm_prefix_node *node, uint32_t before,
                        uint32_t after)
{
  const bool decided = node->action != IDM_MISSING && idm_data_open(data, node->available) > 1;
  return (slope_row){
      .before = before < several ? before : no_slot,
      .after = after < several ? after : no_slot,
      .depth = node->depth,
      .first_row = node->first_row,
      .action = node->action,
      .observation = node->observation,
      .missed = node->missed,
      .leaf = node->leaf,
      .last = node->last,
      .open = node->available ? data->available_set + node->available * data->sizes.actions : NULL,
      .count = (double)node->count,
      .decided = decided ? (double)node->count : 0};
}

/* A root: a slot, or where its start is one of several a thicket. */
static uint32_t plant_root(gradient *g, const idm_prefix_tree *tree, const idm_prefix_node *node)
{
  const uint32_t variant = tree->begin_variant[node->begin];
  const double *start = start_of(g->data, g->b->setting, tree->begin_start[node->begin]);
  if (known_start(g->b->setting, start, g->sizes.states)) {
    g->slot[g->slots] = (place){.variant = variant, .last = IDM_MISSING, .start = start};
    return (uint32_t)g->slots++;
  }
  g->thicket[g->thickets++] = (thicket){.first = g->rows,
                                        .end = g->rows,
                                        .slot = no_slot,
                                        .depth = node->depth,
                                        .variant = variant,
                                        .start = start};
  return several;
}

/* A row: its slot, where what follows it is known. */
static uint32_t plant_row(gradient *g, const idm_prefix_node *node, uint32_t before)
{
  if (before != several && opens(g->b, node))
    g->thicket[g->thickets++] =
        (thicket){.first = g->rows, .end = g->rows, .slot = before, .depth = node->depth - 1};
  if (before == several || opens(g->b, node)) {
    g->thicket[g->thickets - 1].end++;
    return several;
  }
  if (node->leaf) return no_slot;
  g->slot[g->slots] = (place){.variant = g->slot[before].variant,
                              .steps = g->slot[before].steps + 1,
                              .last = node->missed ? g->slot[before].last : node->action};
  return (uint32_t)g->slots++;
}

/* Rows, slots and thickets in the order of the tree; at[node] is the slot of a node. */
static void fill_slots(gradient *g, const idm_prefix_tree *tree, uint32_t *at)
{
  for (size_t i = 0; i < tree->nodes; i++) {
    const idm_prefix_node *node = &tree->node[i];
    if (node->begin >= 0) {
      at[i] = plant_root(g, tree, node);
      continue;
    }
    const uint32_t before = at[node->parent];
    if (node->action == IDM_MISSING && !node->leaf) g->guesses = true;
    at[i] = plant_row(g, node, before);
    g->row[g->rows++] = row_of(g->data, node, before, at[i]);
  }
}

static bool lay_out(gradient *g, const idm_prefix_tree *tree)
{
  uint32_t *at = idm_new(tree->nodes, sizeof *at);
  g->row = idm_new(tree->nodes, sizeof *g->row);
  g->slot = idm_new(tree->nodes, sizeof *g->slot);
  g->thicket = idm_new(tree->nodes, sizeof *g->thicket);
  const bool whole = at && g->row && g->slot && g->thicket;
  if (whole) fill_slots(g, tree, at);
  free(at);
  return whole;
}

static bool allocate(gradient *g)
{
  const size_t states = g->sizes.states;
  const size_t actions = g->sizes.actions;
  g->belief = idm_new(idm_times(g->slots, states), sizeof(double));
  g->belief_slope = idm_new(idm_times(g->slots, states), sizeof(double));
  g->decision = idm_new(idm_times(g->slots, actions), sizeof(double));
  g->log_decision_slope = idm_new(idm_times(g->slots, actions), sizeof(double));
  g->specification = idm_new(idm_times(idm_times(g->slots, actions), g->models), sizeof(double));
  g->specification_slope =
      idm_new(idm_times(idm_times(g->slots, actions), g->models), sizeof(double));
  g->allowed = idm_new(g->slots, sizeof(double));
  g->chosen = idm_new(g->rows, sizeof(double));
  g->log_chosen = idm_new(actions, sizeof(double));
  g->joint = idm_new(states, sizeof(double));
  g->mean = idm_new(states, sizeof(double));
  g->filter = idm_new(idm_filter_slope_scratch(states), sizeof(double));
  g->scratch = idm_new(g->b->planner->belief->scratch(g->b->content), sizeof(double));
  return g->belief && g->belief_slope && g->decision && g->log_decision_slope && g->specification &&
         g->specification_slope && g->allowed && g->chosen && g->log_chosen && g->joint &&
         g->mean && g->filter && g->scratch;
}

static idm_event event_of(const slope_row *r)
{
  return (idm_event){
      .action = r->action, .observation = r->observation, .missed = r->missed, .last = r->last};
}

/* What thickets need: hypotheses, and the environment's belief at every slot. */
static idm_status prepare_thickets(gradient *g, idm_error *opt_error)
{
  const size_t k = g->sizes.states;
  if (!g->thickets) return IDM_OK;
  g->known = idm_new(idm_times(g->slots, k), sizeof *g->known);
  if (!g->known) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < g->slots; i++)
    if (g->slot[i].start) memcpy(g->known + i * k, g->slot[i].start, k * sizeof *g->known);
  for (size_t i = 0; i < g->rows; i++) {
    const slope_row *r = &g->row[i];
    const idm_event event = event_of(r);
    if (r->after != no_slot)
      idm_environment_follow(&g->b->environment, &event, r->open, g->known + r->before * k,
                             g->known + r->after * k, g->joint);
  }
  return idm_slope_set_create(g->b, g->adjoint, &g->set, opt_error);
}

static idm_status create(const void *content, const idm_data *data, const idm_prefix_tree *tree,
                         void **ret_slope, idm_error *opt_error)
{
  const believer *b = content;
  *ret_slope = NULL;
  for (size_t i = 0; i < tree->begins; i++)
    if (tree->begin_variant[i] >= idm_theta_variants(b->theta))
      return idm_fail(
          opt_error, IDM_USAGE,
          "variant %u was not planned for: bind the utilities before making a workspace",
          tree->begin_variant[i]);
  gradient *g = idm_new(1, sizeof *g);
  if (!g) return idm_fail_memory(opt_error);
  g->data = data;
  g->b = b;
  g->sizes = b->theta->sizes;
  g->models = b->theta->models;
  idm_status status = lay_out(g, tree) && allocate(g) ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = b->planner->belief->adjoint->create(b->content, &g->adjoint, opt_error);
  if (status == IDM_OK) status = prepare_thickets(g, opt_error);
  if (status != IDM_OK) {
    destroy(g);
    return status;
  }
  *ret_slope = g;
  return IDM_OK;
}

/* --- forward -------------------------------------------------------------------------------- */

static recognition recognition_of(const gradient *g, const slope_row *r)
{
  const size_t u = (size_t)r->action;
  return (recognition){.setting = g->b->setting,
                       .theta = g->b->theta,
                       .z = g->belief + r->before * g->sizes.states,
                       .sigma = g->specification + (r->before * g->sizes.actions + u) * g->models,
                       .action = u,
                       .observation = (size_t)r->observation};
}

/* The policies at a slot whose belief is known. */
static void decide(gradient *g, size_t at)
{
  const believer *b = g->b;
  const size_t actions = g->sizes.actions;
  b->planner->belief->policy(b->content, g->slot[at].variant, g->slot[at].steps,
                             g->belief + at * g->sizes.states, g->decision + at * actions,
                             g->specification + at * actions * g->models, g->scratch);
}

/* A choice whose probability has lost digits, by logarithms; returns the choice's own. Where the
 * policy forbids all that is open, it is shared equally, whatever theta is. */
static double choose_by_logs(gradient *g, const slope_row *r, habit own)
{
  const believer *b = g->b;
  const place *at = &g->slot[r->before];
  const size_t actions = g->sizes.actions;
  double *q = g->log_chosen;
  double open;
  b->planner->belief->log_policy(b->content, at->variant, at->steps,
                                 g->belief + r->before * g->sizes.states, q, g->scratch);
  const bool allowed = idm_habit_tilt_logs(own, actions, q, r->open, at->last, q, &open);
  const double log_p = idm_habit_log_slip(own, q[r->action], open);
  for (size_t u = 0; u < actions; u++) q[u] = exp(q[u]);
  if (allowed)
    idm_habit_recall(own, actions, q, open, at->last, (size_t)r->action, r->decided,
                     g->log_decision_slope + r->before * actions, &g->habit);
  return log_p;
}

/* The choice of a row: its slopes in log pi, its probability into `chosen` or its logarithm
 * returned. */
static double choose(gradient *g, const slope_row *r, double *chosen)
{
  const size_t actions = g->sizes.actions;
  const size_t u = (size_t)r->action;
  const int last = g->slot[r->before].last;
  const double *pi = g->decision + r->before * actions;
  double *slope = g->log_decision_slope + r->before * actions;
  double open;
  *chosen = 1;
  if (r->decided == 0) return 0;
  const habit own = idm_habit_of(g->b->theta);
  if (!r->open && !idm_habit_acts(own) && pi[u] > idm_smallest) { /* log pi itself */
    *chosen = pi[u];
    slope[u] += r->decided;
    if (last >= 0) g->habit.perseverance += r->decided * ((last == (int)u) - pi[last]);
    g->habit.lapse += r->decided * (1 / ((double)actions * pi[u]) - 1);
    return 0;
  }
  if (!idm_habit_tilt(own, actions, pi, r->open, last, g->log_chosen, &open))
    return choose_by_logs(g, r, own);
  const double p = idm_habit_slip(own, g->log_chosen[u], open);
  if (!(p > idm_smallest)) return choose_by_logs(g, r, own);
  *chosen = p;
  idm_habit_recall(own, actions, g->log_chosen, open, last, u, r->decided, slope, &g->habit);
  return 0;
}

static idm_status refuse(const gradient *g, const slope_row *r, idm_error *opt_error)
{
  const idm_event event = event_of(r);
  const idm_status status = idm_hypotheses_unrecognised(g->b, &event, opt_error);
  idm_data_locate(g->data, r->first_row, opt_error);
  return status;
}

/* Policies at roots up to a slot. */
static void decide_roots(gradient *g, size_t *made, size_t slot)
{
  const size_t k = g->sizes.states;
  for (; *made <= slot; ++*made) {
    if (!g->slot[*made].start) continue;
    memcpy(g->belief + *made * k, g->slot[*made].start, k * sizeof *g->belief);
    decide(g, *made);
  }
}

/* A row at a known belief. */
static idm_status take(gradient *g, size_t i, double *sum, idm_error *opt_error)
{
  const slope_row *r = &g->row[i];
  const double log_p = choose(g, r, &g->chosen[i]);
  if (log_p != 0) *sum += r->decided * log_p;
  /* What was seen last is used by no decision, but it must be possible: that is looked at once. */
  const bool leaf = r->after == no_slot;
  if (leaf && (g->checked || r->observation == IDM_MISSING)) return IDM_OK;
  const recognition seen = recognition_of(g, r);
  double allowed;
  idm_recognise(&seen, NULL, leaf ? g->mean : g->belief + r->after * g->sizes.states, &allowed,
                g->joint);
  if (!(allowed > 0)) return refuse(g, r, opt_error);
  if (leaf) return IDM_OK;
  g->allowed[r->after] = allowed;
  decide(g, r->after);
  return IDM_OK;
}

/* Rows that leave several beliefs possible: there and back at once. */
static idm_status cross(gradient *g, const thicket *t, double *sum, idm_error *opt_error)
{
  const size_t k = g->sizes.states;
  const size_t pairs = g->sizes.actions * g->models;
  slope_base base = {.variant = t->variant,
                     .depth = t->depth,
                     .habit = &g->habit,
                     .opt_dynamics = g->opt_dynamics,
                     .opt_start = t->start};
  if (t->slot != no_slot)
    base = (slope_base){.variant = g->slot[t->slot].variant,
                        .steps = g->slot[t->slot].steps,
                        .depth = t->depth,
                        .habit = &g->habit,
                        .opt_dynamics = g->opt_dynamics,
                        .last = g->slot[t->slot].last,
                        .belief = g->belief + t->slot * k,
                        .known = g->known + t->slot * k,
                        .decision = g->decision + t->slot * g->sizes.actions,
                        .specification = g->specification + t->slot * pairs,
                        .belief_slope = g->belief_slope + t->slot * k,
                        .log_decision_slope = g->log_decision_slope + t->slot * g->sizes.actions,
                        .specification_slope = g->specification_slope + t->slot * pairs};
  size_t at = 0;
  for (size_t i = t->first; i < t->end; i++) g->chosen[i] = 1;
  const idm_status status = idm_slope_set_run(g->set, &base, g->row + t->first, t->end - t->first,
                                              g->checked, sum, &at, opt_error);
  if (status == IDM_INPUT && opt_error)
    opt_error->line = (long)g->data->line[g->row[t->first + at].first_row];
  return status;
}

/* Beliefs, policies and the log-likelihood; thickets backward too. */
static idm_status run_forward(gradient *g, double *log_likelihood, idm_error *opt_error)
{
  size_t made = 0;
  double sum = 0;
  const thicket *t = g->thicket;
  const thicket *const end = g->thicket + g->thickets;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < g->rows && status == IDM_OK;) {
    status = idm_interruption_check(&g->interruption, i, opt_error);
    if (status != IDM_OK) break;
    const size_t slot = t < end && i == t->first ? t->slot : g->row[i].before;
    if (slot != no_slot) decide_roots(g, &made, slot);
    if (t < end && i == t->first) {
      status = cross(g, t, &sum, opt_error);
      i = (t++)->end;
    } else {
      status = take(g, i++, &sum, opt_error);
    }
  }
  if (status != IDM_OK) return status;
  idm_vector_log(g->rows, g->chosen, g->chosen);
  for (size_t i = 0; i < g->rows; i++) sum += g->row[i].decided * g->chosen[i];
  g->checked = g->checked || sum > -INFINITY; /* else not all was looked at */
  *log_likelihood = sum;
  return IDM_OK;
}

/* --- backward ------------------------------------------------------------------------------- */

/* One model's share of the recognition z' = sum_m sigma_m z_m' / total: slopes go back to the
 * belief before and to sigma_m. */
static void recall_model(gradient *g, const slope_row *r, const recognition *seen, size_t m)
{
  const size_t k = g->sizes.states;
  const double total = g->allowed[r->after];
  const double *slope_after = g->belief_slope + r->after * k;
  const double *mean = g->belief + r->after * k;
  double *back = g->belief_slope + r->before * k;
  double *asked = g->specification_slope + (seen->sigma - g->specification);
  const double sigma = seen->sigma[m];
  const double p = sigma > 0 ? idm_recognition_joint(seen, m, g->joint) : 0;
  if (!(p > idm_impossible)) return;
  double own = 0, all = 0;
  for (size_t s = 0; s < k; s++) {
    own += slope_after[s] * (g->joint[s] / p);
    all += slope_after[s] * mean[s];
  }
  asked[m] += (own - all) / total;
  const idm_world world = idm_recognition_world(seen, m);
  if (!world.update.bent)
    idm_filter_recall(&world, seen->observation, slope_after, own, sigma / (total * p), back);
}

/* recall(), for two states: only the difference of the slopes counts. */
static void recall_pair(gradient *g, const slope_row *r, const recognition *seen)
{
  const size_t observations = g->sizes.observations;
  const double *t = idm_recognition_transition(seen, 0);
  const double *e = idm_recognition_emission(seen, 0);
  const double *slope_after = g->belief_slope + 2 * (size_t)r->after;
  double *back = g->belief_slope + 2 * (size_t)r->before;
  double *asked = g->specification_slope + (seen->sigma - g->specification);
  const double difference = (slope_after[1] - slope_after[0]) / g->allowed[r->after];
  const double mean = g->belief[2 * (size_t)r->after + 1];
  double first = 0, second = 0;
  for (size_t m = 0; m < g->models; m++) {
    const idm_world_pair pair = idm_world_pair_of(t, e, observations, g->b->setting->emits_before);
    const double a = seen->z[0] * pair.from[0][0] + seen->z[1] * pair.from[1][0];
    const double b = seen->z[0] * pair.from[0][1] + seen->z[1] * pair.from[1][1];
    const bool seeable = a + b > idm_impossible;
    const double inverse = seeable ? 1 / (a + b) : 0;
    asked[m] += seeable ? difference * (b * inverse - mean) : 0;
    const double factor = seen->sigma[m] * difference * inverse;
    const double low = -factor * (b * inverse);
    const double high = factor * (a * inverse);
    first += pair.from[0][0] * low + pair.from[0][1] * high;
    second += pair.from[1][0] * low + pair.from[1][1] * high;
    t += 4 * g->sizes.actions;
    e += 2 * g->sizes.actions * observations;
  }
  back[0] += first;
  back[1] += second;
}

/* What the belief made asks of the dynamics of its models and of how they are taken up; and where
 * that is not Bayes' rule, of the belief before. */
static void recall_filter(gradient *g, const slope_row *r, const recognition *seen)
{
  const size_t k = g->sizes.states;
  for (size_t m = 0; m < g->models; m++) {
    const double sigma = seen->sigma[m];
    if (!(sigma > 0 && idm_recognition_joint(seen, m, g->joint) > idm_impossible)) continue;
    const idm_world world = idm_recognition_world(seen, m);
    idm_filter_sink sink = {0};
    if (g->opt_dynamics) sink = idm_recognition_sink(seen, m, g->opt_dynamics);
    if (world.update.bent) sink.belief = g->belief_slope + r->before * k;
    idm_filter_slope(&world, seen->z, seen->observation, g->belief_slope + r->after * k,
                     sigma / g->allowed[r->after], 0, &sink, g->filter);
  }
}

/* The recognition that made a belief. */
static void recall(gradient *g, const slope_row *r)
{
  /* In an MDP the belief is what was seen, whatever the models say. */
  if (g->b->setting->fully_observed) return;
  const recognition seen = recognition_of(g, r);
  if (g->opt_dynamics || idm_update_of(g->b->theta).bent) recall_filter(g, r, &seen);
  if (idm_recognition_is_pair(&seen)) {
    recall_pair(g, r, &seen);
    return;
  }
  for (size_t m = 0; m < g->models; m++) recall_model(g, r, &seen, m);
}

static void ask(gradient *g, size_t at)
{
  const size_t k = g->sizes.states;
  const size_t actions = g->sizes.actions;
  const double *start = g->slot[at].start;
  const bool own = start && start != g->b->setting->start; /* of the log: it is not learnt */
  const bool fixed = own || g->b->setting->fully_observed;
  const idm_policy_slope point = {.variant = g->slot[at].variant,
                                  .steps = g->slot[at].steps,
                                  .belief = g->belief + at * k,
                                  .decision = g->decision + at * actions,
                                  .log_decision_slope = g->log_decision_slope + at * actions,
                                  .specification_slope =
                                      g->specification_slope + at * actions * g->models,
                                  .opt_belief_slope = fixed ? NULL : g->belief_slope + at * k};
  g->b->planner->belief->adjoint->point(g->adjoint, &point);
}

/* Rows backward: everything that follows a belief is behind it when its turn comes. */
static idm_status run_backward(gradient *g, idm_error *opt_error)
{
  size_t left = g->slots;
  for (size_t i = g->rows; i-- > 0;) {
    const slope_row *r = &g->row[i];
    const idm_status status = idm_interruption_check(&g->interruption, i, opt_error);
    if (status != IDM_OK) return status;
    if (r->after == no_slot) continue;
    while (left > r->after) ask(g, --left); /* roots on the way here, then the row's own */
    recall(g, r);
  }
  while (left > 0) ask(g, --left);
  return IDM_OK;
}

/* --- both ----------------------------------------------------------------------------------- */

static void clear_slopes(gradient *g)
{
  const size_t pairs = g->sizes.actions * g->models;
  memset(g->belief_slope, 0, g->slots * g->sizes.states * sizeof(double));
  memset(g->log_decision_slope, 0, g->slots * g->sizes.actions * sizeof(double));
  memset(g->specification_slope, 0, g->slots * pairs * sizeof(double));
  g->habit = (habit_slope){0};
}

/* What a planner does not read, or clamps, does not move. */
static void keep_read(const idm_planner *planner, const idm_theta *theta, idm_theta *theta_slope)
{
  for (size_t i = 0; i < theta_slope->blocks; i++)
    if (!idm_planner_follows(planner, theta, i))
      memset(theta_slope->block[i].value, 0,
             theta_slope->block[i].size * theta_slope->block[i].variants * sizeof(double));
}

static idm_status check_finite(const idm_theta *theta_slope, idm_error *opt_error)
{
  for (size_t i = 0; i < theta_slope->blocks; i++) {
    const idm_block *block = &theta_slope->block[i];
    for (size_t j = 0; j < block->size * block->variants; j++)
      if (!isfinite(block->value[j]))
        return idm_fail(opt_error, IDM_NUMERICAL, "the derivative with respect to %s is not finite",
                        block->info->name);
  }
  return IDM_OK;
}

idm_status idm_believer_finish(const believer *b, void *adjoint, const habit_slope *asked,
                               bool remembers, idm_theta *theta_slope, idm_error *opt_error)
{
  const idm_status status = b->planner->belief->adjoint->finish(adjoint, theta_slope, opt_error);
  keep_read(b->planner, b->theta, theta_slope);
  if (remembers) theta_slope->block[IDM_PERSEVERANCE].value[0] = asked->perseverance;
  theta_slope->block[IDM_LAPSE].value[0] = asked->lapse;
  return status == IDM_OK ? check_finite(theta_slope, opt_error) : status;
}

static idm_status run(void *content, double *log_likelihood, idm_theta *theta_slope,
                      idm_error *opt_error)
{
  gradient *g = content;
  const idm_adjoint_ops *adjoint = g->b->planner->belief->adjoint;
  if (idm_sensor_may_limit(g->b->setting, g->b->theta))
    return idm_fail(opt_error, IDM_USAGE,
                    "sensor_capacity became finite after the gradient was made: there is none");
  idm_theta_clear(theta_slope);
  clear_slopes(g);
  g->opt_dynamics = idm_update_is_free(g->b->theta) ? theta_slope : NULL;
  adjoint->begin(g->adjoint);
  idm_status status = run_forward(g, log_likelihood, opt_error);
  if (status != IDM_OK || *log_likelihood == -INFINITY) return status;
  status = run_backward(g, opt_error);
  if (status != IDM_OK) return status;
  return idm_believer_finish(g->b, g->adjoint, &g->habit,
                             !g->guesses || idm_habit_remembers(g->b->theta), theta_slope,
                             opt_error);
}

bool idm_believer_start_slope(const void *slope, double *by_start)
{
  const gradient *g = slope;
  const size_t k = g->sizes.states;
  if (g->thickets || g->b->setting->fully_observed) return false;
  memset(by_start, 0, k * sizeof *by_start);
  for (size_t i = 0; i < g->slots; i++)
    for (size_t s = 0; s < k && g->slot[i].start == g->b->setting->start; s++)
      by_start[s] += g->belief_slope[i * k + s];
  return true;
}

static void interrupt(void *content, idm_interrupt opt_interrupt, void *context)
{
  ((gradient *)content)->interruption = (idm_interruption){opt_interrupt, context};
}

const idm_slope_ops idm_believer_slope = {
    .possible = possible, .create = create, .destroy = destroy, .run = run, .interrupt = interrupt};
