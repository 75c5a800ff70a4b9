/* The log-likelihood and its derivative, in reverse over the tree of common prefixes.
 *
 * Contents: what it holds · whether it can be had · making one · forward · backward · both */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "belief/filter.h"
#include "idm/behavior.h"
#include "plan/workspace.h"

/* --- what it holds -------------------------------------------------------------------------- */

/* A row of the tree. Beliefs are held at slots: one for every root and every row that others
 * follow. */
typedef struct row {
  uint32_t before; /* slot of the belief decided at */
  uint32_t after;  /* slot of the belief made; none for a leaf */
  int32_t action;  /* IDM_MISSING: nothing to score */
  int32_t observation;
  const bool *open;   /* [action]; NULL: all */
  double count;       /* trajectories through this row; 0 where the action was forced */
  uint32_t first_row; /* for messages */
} row;

static const uint32_t no_slot = UINT32_MAX;

/* A belief of the tree. */
typedef struct slot {
  uint32_t variant;
  int steps;
  const double *start; /* of a root; NULL elsewhere */
} slot;

struct idm_gradient {
  const idm_data *data;
  idm_workspace *workspace;
  void *adjoint;
  idm_sizes sizes;
  size_t models;
  size_t rows;
  row *row; /* [rows], in the order of the tree; roots are not rows */
  size_t slots;
  slot *slot;                  /* [slots], in the order of the tree */
  double *belief;              /* [slot][state] */
  double *belief_slope;        /* [slot][state] */
  double *decision;            /* [slot][action] */
  double *log_decision_slope;  /* [slot][action] */
  double *specification;       /* [slot][action][model] */
  double *specification_slope; /* [slot][action][model] */
  double *allowed;             /* [slot]: sigma's sum over the models that allowed what was seen */
  double *chosen;              /* [row]: probability of the action among those open */
  double *log_chosen;          /* [action] */
  double *joint;               /* [state] */
  double *mean;                /* [state]: a belief that nothing follows */
  double *scratch;             /* the planner's */
  bool checked;                /* last observations were found possible */
};

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

bool idm_gradient_possible(const idm_data *data, const idm_prefix_tree *tree,
                           const idm_workspace *workspace)
{
  if (!workspace->planner->adjoint_create) return false;
  if (workspace->recognition != IDM_RECOGNITION_MEAN) return false;
  for (size_t r = 0; r < tree->roots; r++)
    if (!known_start(workspace->setting, start_of(data, workspace->setting, tree->root_start[r]),
                     data->sizes.states))
      return false;
  for (size_t i = 0; i < tree->nodes; i++) {
    const idm_prefix_node *node = &tree->node[i];
    if (node->parent < 0 || node->leaf) continue;
    if (node->action == IDM_MISSING || node->observation == IDM_MISSING) return false;
  }
  return true;
}

/* --- making one ----------------------------------------------------------------------------- */

void idm_gradient_destroy(idm_gradient *gradient)
{
  if (!gradient) return;
  if (gradient->adjoint) gradient->workspace->planner->adjoint_destroy(gradient->adjoint);
  void *const owned[] = {gradient->row,           gradient->slot,
                         gradient->belief,        gradient->belief_slope,
                         gradient->decision,      gradient->log_decision_slope,
                         gradient->specification, gradient->specification_slope,
                         gradient->chosen,        gradient->log_chosen,
                         gradient->joint,         gradient->mean,
                         gradient->allowed,       gradient->scratch};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
  free(gradient);
}

/* How many of the actions open at a row there are. */
static size_t open_count(const idm_data *data, uint32_t set)
{
  size_t open = 0;
  for (size_t u = 0; u < data->sizes.actions; u++)
    open += data->available_set[set * data->sizes.actions + u];
  return open;
}

static row row_of(const idm_data *data, const idm_prefix_node *node, uint32_t before,
                  uint32_t after)
{
  const bool scored = node->action != IDM_MISSING && open_count(data, node->available) > 1;
  return (row){.before = before,
               .after = after,
               .action = node->action,
               .observation = node->observation,
               .open = node->available ? data->available_set + node->available * data->sizes.actions
                                       : NULL,
               .count = scored ? (double)node->count : 0,
               .first_row = node->first_row};
}

/* Rows and slots in the order of the tree; place[node] is the slot of a node. Roots are numbered as
 * they were made, which need not be the order in which they stand. */
static void fill_slots(idm_gradient *g, const idm_prefix_tree *tree, uint32_t *place)
{
  for (size_t r = 0; r < tree->roots; r++) place[tree->root[r]] = (uint32_t)r;
  for (size_t i = 0; i < tree->nodes; i++) {
    const idm_prefix_node *node = &tree->node[i];
    slot *made = &g->slot[g->slots];
    if (node->parent < 0) {
      const size_t root = place[i];
      *made = (slot){.variant = tree->root_variant[root],
                     .start = start_of(g->data, g->workspace->setting, tree->root_start[root])};
      place[i] = (uint32_t)g->slots++;
      continue;
    }
    const uint32_t before = place[node->parent];
    place[i] = node->leaf ? no_slot : (uint32_t)g->slots;
    g->row[g->rows++] = row_of(g->data, node, before, place[i]);
    if (node->leaf) continue;
    *made = (slot){.variant = g->slot[before].variant, .steps = g->slot[before].steps + 1};
    g->slots++;
  }
}

static bool lay_out(idm_gradient *g, const idm_prefix_tree *tree)
{
  uint32_t *place = idm_new(tree->nodes, sizeof *place);
  g->row = idm_new(tree->nodes, sizeof *g->row);
  g->slot = idm_new(tree->nodes, sizeof *g->slot);
  const bool whole = place && g->row && g->slot;
  if (whole) fill_slots(g, tree, place);
  free(place);
  return whole;
}

static bool allocate(idm_gradient *g)
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
  g->scratch = idm_new(g->workspace->planner->scratch(g->workspace->content), sizeof(double));
  return g->belief && g->belief_slope && g->decision && g->log_decision_slope && g->specification &&
         g->specification_slope && g->allowed && g->chosen && g->log_chosen && g->joint &&
         g->mean && g->scratch;
}

idm_status idm_gradient_create(const idm_data *data, const idm_prefix_tree *tree,
                               idm_workspace *workspace, idm_gradient **ret_gradient,
                               idm_error *opt_error)
{
  *ret_gradient = NULL;
  if (!idm_gradient_possible(data, tree, workspace))
    return idm_fail(opt_error, IDM_USAGE, "these data and this agent have no gradient");
  for (size_t r = 0; r < tree->roots; r++)
    if (tree->root_variant[r] >= idm_theta_variants(workspace->theta))
      return idm_fail(
          opt_error, IDM_USAGE,
          "variant %u was not planned for: bind the utilities before making a workspace",
          tree->root_variant[r]);
  idm_gradient *g = idm_new(1, sizeof *g);
  if (!g) return idm_fail_memory(opt_error);
  g->data = data;
  g->workspace = workspace;
  g->sizes = workspace->theta->sizes;
  g->models = workspace->theta->models;
  idm_status status = lay_out(g, tree) && allocate(g) ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = workspace->planner->adjoint_create(workspace->content, &g->adjoint, opt_error);
  if (status != IDM_OK) {
    idm_gradient_destroy(g);
    return status;
  }
  *ret_gradient = g;
  return IDM_OK;
}

/* --- forward -------------------------------------------------------------------------------- */

/* p(s', x | z, u) under one model into g->joint; returns p(x). */
static inline double joint_of(const idm_gradient *g, size_t model, const double *z, size_t u,
                              size_t x)
{
  const idm_theta *theta = g->workspace->theta;
  const size_t k = g->sizes.states;
  const size_t at = model * g->sizes.actions + u;
  const double *transition = theta->block[IDM_TRANSITION].value + at * k * k;
  const double *emission = theta->block[IDM_EMISSION].value + at * k * g->sizes.observations;
  if (!g->workspace->setting->fully_observed)
    return idm_filter_joint(k, g->sizes.observations, transition, emission, z, x, g->joint);
  memset(g->joint, 0, k * sizeof *g->joint);
  for (size_t s = 0; s < k; s++) g->joint[x] += z[s] * transition[s * k + x];
  return g->joint[x];
}

/* Below this an observation cannot be seen, to all purposes: the believer says the same. */
static const double impossible = 1e-300;

/* Where the numbers of (action, observation) start, for two states. */
typedef struct pair_view {
  const double *transition; /* of the first model; the next is 4 * actions on */
  const double *emission;   /* the next is 2 * actions * observations on */
  const double *sigma;      /* [model] */
  double z0, z1;
} pair_view;

static inline pair_view view_of(const idm_gradient *g, const row *r)
{
  const idm_theta *theta = g->workspace->theta;
  const size_t u = (size_t)r->action;
  const size_t observations = g->sizes.observations;
  return (pair_view){.transition = theta->block[IDM_TRANSITION].value + 4 * u,
                     .emission =
                         theta->block[IDM_EMISSION].value + 2 * u * observations + r->observation,
                     .sigma = g->specification + (r->before * g->sizes.actions + u) * g->models,
                     .z0 = g->belief[2 * (size_t)r->before],
                     .z1 = g->belief[2 * (size_t)r->before + 1]};
}

/* recognise(), for two states: the same with everything in registers. */
static double recognise_pair(const idm_gradient *g, const row *r, double *mean)
{
  pair_view at = view_of(g, r);
  const size_t observations = g->sizes.observations;
  double total = 0, first = 0, second = 0;
  for (size_t m = 0; m < g->models; m++) {
    const double a = (at.z0 * at.transition[0] + at.z1 * at.transition[2]) * at.emission[0];
    const double b =
        (at.z0 * at.transition[1] + at.z1 * at.transition[3]) * at.emission[observations];
    const double share = a + b > impossible ? at.sigma[m] : 0;
    const double weight = a + b > impossible ? share / (a + b) : 0;
    total += share;
    first += weight * a;
    second += weight * b;
    at.transition += 4 * g->sizes.actions;
    at.emission += 2 * g->sizes.actions * observations;
  }
  const double scale = total > 0 ? 1 / total : 0;
  mean[0] = first * scale;
  mean[1] = second * scale;
  return total;
}

static inline bool is_pair(const idm_gradient *g)
{
  return g->sizes.states == 2 && !g->workspace->setting->fully_observed;
}

/* The mean of the models' successors; returns sigma's sum over the models that allow x. */
static double recognise(const idm_gradient *g, const row *r, double *mean)
{
  if (is_pair(g)) return recognise_pair(g, r, mean);
  const size_t k = g->sizes.states;
  const size_t u = (size_t)r->action;
  const double *z = g->belief + r->before * k;
  const double *sigma = g->specification + (r->before * g->sizes.actions + u) * g->models;
  double total = 0;
  for (size_t s = 0; s < k; s++) mean[s] = 0;
  for (size_t m = 0; m < g->models; m++) {
    const double p = sigma[m] > 0 ? joint_of(g, m, z, u, (size_t)r->observation) : 0;
    if (!(p > impossible)) continue;
    total += sigma[m];
    const double weight = sigma[m] / p;
    for (size_t s = 0; s < k; s++) mean[s] += weight * g->joint[s];
  }
  const double scale = total > 0 ? 1 / total : 0;
  for (size_t s = 0; s < k; s++) mean[s] *= scale;
  return total;
}

/* The policies at a slot whose belief is known. */
static void decide(idm_gradient *g, size_t at)
{
  const idm_workspace *w = g->workspace;
  const size_t actions = g->sizes.actions;
  w->planner->policy(w->content, g->slot[at].variant, g->slot[at].steps,
                     g->belief + at * g->sizes.states, g->decision + at * actions,
                     g->specification + at * actions * g->models, g->scratch);
}

/* A choice whose probability has lost digits, by logarithms; returns the choice's own. Where the
 * policy forbids all that is open, it is shared equally, whatever theta is. */
static double choose_by_logs(idm_gradient *g, const row *r)
{
  const idm_workspace *w = g->workspace;
  const size_t actions = g->sizes.actions;
  double *slope = g->log_decision_slope + r->before * actions;
  double *log_pi = g->log_chosen;
  w->planner->log_policy(w->content, g->slot[r->before].variant, g->slot[r->before].steps,
                         g->belief + r->before * g->sizes.states, log_pi, g->scratch);
  double most = -INFINITY;
  double open = 0;
  for (size_t u = 0; u < actions; u++) {
    if (r->open && !r->open[u]) continue;
    most = fmax(most, log_pi[u]);
    open++;
  }
  if (most == -INFINITY) return -log(open);
  double sum = 0;
  for (size_t u = 0; u < actions; u++)
    if (!r->open || r->open[u]) sum += exp(log_pi[u] - most);
  slope[r->action] += r->count;
  for (size_t u = 0; u < actions; u++)
    if (!r->open || r->open[u]) slope[u] -= r->count * exp(log_pi[u] - most) / sum;
  return log_pi[r->action] - most - log(sum > 1 ? sum : 1); /* the largest term is 1 */
}

/* Below this a probability has lost digits. */
static const double smallest = 1e-290;

/* The choice of a row: its slopes in log pi, its probability into `chosen` or its logarithm
 * returned. */
static double choose(idm_gradient *g, const row *r, double *chosen)
{
  const size_t actions = g->sizes.actions;
  const double *pi = g->decision + r->before * actions;
  double *slope = g->log_decision_slope + r->before * actions;
  *chosen = 1;
  if (r->count == 0) return 0;
  double total = r->open ? 0 : 1;
  for (size_t u = 0; r->open && u < actions; u++) total += r->open[u] ? pi[u] : 0;
  if (!(total > smallest) || !(pi[r->action] / total > smallest)) return choose_by_logs(g, r);
  *chosen = pi[r->action] / total;
  slope[r->action] += r->count;
  for (size_t u = 0; r->open && u < actions; u++)
    if (r->open[u]) slope[u] -= r->count * pi[u] / total;
  return 0;
}

static idm_status refuse(const idm_gradient *g, const row *r, idm_error *opt_error)
{
  const idm_setting *s = g->workspace->setting;
  const idm_status status =
      idm_fail(opt_error, IDM_INPUT,
               "observation '%s' after '%s' is impossible under every model of the agent",
               s->observations.name[r->observation], s->actions.name[r->action]);
  if (opt_error) opt_error->line = (long)g->data->line[r->first_row];
  return status;
}

/* Beliefs, policies and the log-likelihood. */
static idm_status run_forward(idm_gradient *g, double *log_likelihood, idm_error *opt_error)
{
  const size_t k = g->sizes.states;
  size_t made = 0;
  double sum = 0;
  for (size_t i = 0; i < g->rows; i++) {
    const row *r = &g->row[i];
    for (; made <= r->before; made++) { /* roots on the way here */
      if (!g->slot[made].start) continue;
      memcpy(g->belief + made * k, g->slot[made].start, k * sizeof *g->belief);
      decide(g, made);
    }
    const double log_p = choose(g, r, &g->chosen[i]);
    if (log_p != 0) sum += r->count * log_p;
    /* What was seen last is used by no decision, but it must be possible: that is looked at once.
     */
    const bool leaf = r->after == no_slot;
    if (leaf && (g->checked || r->observation == IDM_MISSING || r->action == IDM_MISSING)) continue;
    const double allowed = recognise(g, r, leaf ? g->mean : g->belief + r->after * k);
    if (!(allowed > 0)) return refuse(g, r, opt_error);
    if (leaf) continue;
    g->allowed[r->after] = allowed;
    decide(g, r->after);
  }
  idm_vector_log(g->rows, g->chosen, g->chosen);
  for (size_t i = 0; i < g->rows; i++) sum += g->row[i].count * g->chosen[i];
  g->checked = true;
  *log_likelihood = sum;
  return IDM_OK;
}

/* --- backward ------------------------------------------------------------------------------- */

/* One model's share of the recognition z' = sum_m sigma_m z_m' / total: slopes go back to the
 * belief before and to sigma_m. */
static void recall_model(idm_gradient *g, const row *r, size_t m, double total)
{
  const idm_theta *theta = g->workspace->theta;
  const size_t k = g->sizes.states;
  const size_t observations = g->sizes.observations;
  const size_t u = (size_t)r->action;
  const size_t x = (size_t)r->observation;
  const size_t pair = (r->before * g->sizes.actions + u) * g->models + m;
  const double *slope = g->belief_slope + r->after * k;
  const double *mean = g->belief + r->after * k;
  double *back = g->belief_slope + r->before * k;
  const double sigma = g->specification[pair];
  const double p = sigma > 0 ? joint_of(g, m, g->belief + r->before * k, u, x) : 0;
  if (!(p > impossible)) return;
  double own = 0, all = 0;
  for (size_t s = 0; s < k; s++) {
    own += slope[s] * (g->joint[s] / p);
    all += slope[s] * mean[s];
  }
  g->specification_slope[pair] += (own - all) / total;
  const size_t at = m * g->sizes.actions + u;
  const double *transition = theta->block[IDM_TRANSITION].value + at * k * k;
  const double *emission = theta->block[IDM_EMISSION].value + at * k * observations + x;
  const double factor = sigma / (total * p);
  for (size_t t = 0; t < k; t++) {
    const double next = factor * (slope[t] - own) * emission[t * observations];
    for (size_t s = 0; s < k; s++) back[s] += transition[s * k + t] * next;
  }
}

/* recall(), for two states: only the difference of the slopes counts. */
static void recall_pair(idm_gradient *g, const row *r)
{
  pair_view at = view_of(g, r);
  const size_t observations = g->sizes.observations;
  const double *slope = g->belief_slope + 2 * (size_t)r->after;
  double *back = g->belief_slope + 2 * (size_t)r->before;
  double *asked = g->specification_slope + (at.sigma - g->specification);
  const double difference = (slope[1] - slope[0]) / g->allowed[r->after];
  const double mean = g->belief[2 * (size_t)r->after + 1];
  double first = 0, second = 0;
  for (size_t m = 0; m < g->models; m++) {
    const double *t = at.transition;
    const double a = (at.z0 * t[0] + at.z1 * t[2]) * at.emission[0];
    const double b = (at.z0 * t[1] + at.z1 * t[3]) * at.emission[observations];
    const bool possible = a + b > impossible;
    const double inverse = possible ? 1 / (a + b) : 0;
    asked[m] += possible ? difference * (b * inverse - mean) : 0;
    const double factor = at.sigma[m] * difference * inverse;
    const double low = -factor * (b * inverse) * at.emission[0];
    const double high = factor * (a * inverse) * at.emission[observations];
    first += t[0] * low + t[1] * high;
    second += t[2] * low + t[3] * high;
    at.transition += 4 * g->sizes.actions;
    at.emission += 2 * g->sizes.actions * observations;
  }
  back[0] += first;
  back[1] += second;
}

/* The recognition that made a belief. */
static void recall(idm_gradient *g, const row *r)
{
  /* In an MDP the belief is what was seen, whatever the models say. */
  if (g->workspace->setting->fully_observed) return;
  if (is_pair(g)) {
    recall_pair(g, r);
    return;
  }
  for (size_t m = 0; m < g->models; m++) recall_model(g, r, m, g->allowed[r->after]);
}

static void ask(idm_gradient *g, size_t at)
{
  const size_t k = g->sizes.states;
  const size_t actions = g->sizes.actions;
  const bool fixed = g->slot[at].start || g->workspace->setting->fully_observed;
  const idm_policy_slope point = {.variant = g->slot[at].variant,
                                  .steps = g->slot[at].steps,
                                  .belief = g->belief + at * k,
                                  .decision = g->decision + at * actions,
                                  .log_decision_slope = g->log_decision_slope + at * actions,
                                  .specification_slope =
                                      g->specification_slope + at * actions * g->models,
                                  .opt_belief_slope = fixed ? NULL : g->belief_slope + at * k};
  g->workspace->planner->adjoint_point(g->adjoint, &point);
}

/* Rows backward: everything that follows a belief is behind it when its turn comes. */
static void run_backward(idm_gradient *g)
{
  size_t left = g->slots;
  for (size_t i = g->rows; i-- > 0;) {
    const row *r = &g->row[i];
    if (r->after == no_slot) continue;
    while (left > r->after) ask(g, --left); /* roots on the way here, then the row's own */
    recall(g, r);
  }
  while (left > 0) ask(g, --left);
}

/* --- both ----------------------------------------------------------------------------------- */

static void clear_slopes(idm_gradient *g)
{
  const size_t pairs = g->sizes.actions * g->models;
  memset(g->belief_slope, 0, g->slots * g->sizes.states * sizeof(double));
  memset(g->log_decision_slope, 0, g->slots * g->sizes.actions * sizeof(double));
  memset(g->specification_slope, 0, g->slots * pairs * sizeof(double));
}

static void clear_theta(idm_theta *slope, unsigned kept)
{
  for (int i = 0; i < IDM_BLOCK_COUNT; i++)
    if (!(kept & 1u << i))
      memset(slope->block[i].value, 0,
             slope->block[i].size * slope->block[i].variants * sizeof(double));
}

static idm_status check_finite(const idm_theta *slope, idm_error *opt_error)
{
  for (int i = 0; i < IDM_BLOCK_COUNT; i++)
    for (size_t j = 0; j < slope->block[i].size * slope->block[i].variants; j++)
      if (!isfinite(slope->block[i].value[j]))
        return idm_fail(opt_error, IDM_NUMERICAL, "the derivative with respect to %s is not finite",
                        idm_block_name((idm_block_id)i));
  return IDM_OK;
}

idm_status idm_gradient_run(idm_gradient *gradient, double *log_likelihood, idm_theta *slope,
                            idm_error *opt_error)
{
  const idm_planner *planner = gradient->workspace->planner;
  clear_theta(slope, 0);
  clear_slopes(gradient);
  idm_status status = run_forward(gradient, log_likelihood, opt_error);
  if (status != IDM_OK || *log_likelihood == -INFINITY) return status;
  planner->adjoint_begin(gradient->adjoint);
  run_backward(gradient);
  status = planner->adjoint_finish(gradient->adjoint, slope, opt_error);
  clear_theta(slope, planner->reads); /* what an agent clamps does not move */
  return status == IDM_OK ? check_finite(slope, opt_error) : status;
}
