/* The planner `point-based`: bounds on the value from both sides, for any number of states
 * (docs/method/control.md, 10).
 *
 * Every belief is stored once (graph.c), with bounds that are updated by the vectors and points
 * that are new since they were last read. The upper bound of an action is recomputed only while it
 * is the largest (these bounds only decrease). Models are outcomes: with beta = inf several models
 * form one sparse kernel (kernel.c). Over at most 6 states the upper bound is the hull, by the
 * simplex method (sawtooth.c), which takes 57 trials where the sawtooth takes 738 (three states,
 * beliefs that never repeat). Every plan starts from the initial bounds.
 *
 * Trials alone close a fraction 1 - discount of the gap each (44,000 for Tiger at .9999). Policy
 * iteration (newton.c) therefore raises vectors to the values of their plans from time to time, and
 * lowers points to backups by the mixtures that bound their successors (6 trials at any discount).
 * In a fit of utilities or the discount, gaps are relative, so that the unit of utility does not
 * affect the plan. No differences with respect to these parameters are computed, because the
 * policies are step functions of them. */
#include "plan/point/search.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/soft.h"
#include "base/system.h"
#include "plan/point/bounds.h"
#include "setting/model.h"

/* --- creation and planning ------------------------------------------------------------------- */

static void drop_bounds(bounds *b, size_t variants)
{
  for (size_t v = 0; b && v < variants; v++) idm_bounds_free(&b[v]);
  free(b);
}

static void destroy(void *content)
{
  point_based *p = content;
  if (!p) return;
  idm_kernel_destroy(p->kernel);
  drop_bounds(p->bounds, p->variants);
  free(p->action_prior);
  free(p->model_prior);
  free(p->utility);
  idm_theta_destroy(p->planned);
  free(p);
}

/* IDM_INPUT if a weight is free that is supported at 0 alone. */
static idm_status check_free_blocks(const idm_theta *theta, idm_error *opt_error)
{
  const int32_t *entropy = theta->block[IDM_BELIEF_UTILITY].coordinate;
  bool entropy_free = theta->block[IDM_CERTAINTY].role == IDM_DESCRIPTIVE;
  for (size_t u = 0; entropy && u < theta->sizes.actions; u++)
    entropy_free = entropy_free || entropy[u] >= 0;
  if (!entropy_free) return IDM_OK;
  return idm_fail(
      opt_error, IDM_INPUT,
      "planner 'point-based' cannot plan for an award for certainty nor for a belief_utility of "
      "the entropy, but one of them is free: its bounds require the utility of a belief to be the "
      "maximum of finitely many linear pieces; 'rational' can");
}

static idm_status create(const idm_setting *setting, const idm_theta *theta,
                         const idm_agent_options *agent, void **ret_content, idm_error *opt_error)
{
  *ret_content = NULL;
  if (setting->fully_observed)
    return idm_fail(opt_error, IDM_INPUT,
                    "planner 'point-based' requires hidden states, but this problem is fully "
                    "observed: 'rational' solves it exactly");
  if (agent->discounting != IDM_EXPONENTIAL)
    return idm_fail(opt_error, IDM_INPUT,
                    "planner 'point-based' does not support discounting by delay; 'rational' does");
  for (size_t id = 0; id < theta->blocks; id++)
    if (id != IDM_UTILITY && theta->block[id].variants > 1)
      return idm_fail(opt_error, IDM_USAGE, "%s cannot differ between variants; only utility can",
                      theta->block[id].info->name);
  const idm_status free_status = check_free_blocks(theta, opt_error);
  if (free_status != IDM_OK) return free_status;
  point_based *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  p->setting = setting;
  p->sizes = theta->sizes;
  p->models = theta->models;
  p->variants = idm_theta_variants(theta);
  p->gap = agent->gap;
  p->max_cells = idm_kernel_max_cells(theta);
  p->action_prior = idm_new(p->sizes.actions, sizeof *p->action_prior);
  p->model_prior = idm_new(p->models, sizeof *p->model_prior);
  p->utility = idm_new(p->variants * p->sizes.actions * p->sizes.states, sizeof *p->utility);
  idm_status status = p->action_prior && p->model_prior && p->utility
                          ? idm_theta_copy(theta, &p->planned, opt_error)
                          : idm_fail_memory(opt_error);
  if (status != IDM_OK) {
    destroy(p);
    return status;
  }
  (void)idm_piecewise_reward_of(p->planned, &p->piecewise_reward);
  *ret_content = p;
  return IDM_OK;
}

static point_problem problem_of(const point_based *p, const idm_theta *theta, const kernel *k,
                                size_t variant)
{
  piecewise_reward belief_reward;
  (void)idm_piecewise_reward_of(theta, &belief_reward);
  return (point_problem){.kernel = k,
                         .piecewise_reward = belief_reward,
                         .reward = idm_theta_values(theta, IDM_UTILITY, variant),
                         .prior = idm_theta_values(theta, IDM_ACTION_PRIOR, 0),
                         .terminal = p->setting->terminal,
                         .start = p->setting->start,
                         .discount = idm_theta_scalar(theta, IDM_DISCOUNT),
                         .horizon = p->setting->horizon};
}

/* Whether the scale of the value is free in a fit. */
static bool is_scaled(const idm_theta *theta)
{
  return theta->block[IDM_UTILITY].role == IDM_DESCRIPTIVE ||
         theta->block[IDM_DISCOUNT].role == IDM_DESCRIPTIVE;
}

/* Unit of the gap in that case: this fraction of the range of the utilities per step. */
static const double gap_share = 0.1;

/* Gap to reach, in units of utility. If the scale of the value is free it is relative to that
 * scale: else the unit of utility, or a discount near 1, would determine the accuracy of the plan.
 */
static double gap_of(const point_based *p, const idm_theta *theta, size_t variant)
{
  if (!is_scaled(theta)) return p->gap;
  const double one_minus_discount = 1 - idm_theta_scalar(theta, IDM_DISCOUNT);
  const double steps = p->setting->horizon > 0 ? p->setting->horizon : 1 / one_minus_discount;
  return gap_share * p->gap * idm_variant_utility_range(theta, variant) * steps;
}

/* IDM_NUMERICAL if the discount is so near 1 that rounding accumulates to more than such a gap. */
static idm_status check_discount(const point_based *p, const idm_theta *theta, idm_error *opt_error)
{
  const double discount = idm_theta_scalar(theta, IDM_DISCOUNT);
  if (p->setting->horizon > 0 || !is_scaled(theta) ||
      DBL_EPSILON < gap_share * p->gap * (1 - discount))
    return IDM_OK;
  return idm_fail(opt_error, IDM_NUMERICAL,
                  "a discount of %.17g is too near 1 for bounds on the value to converge: "
                  "accumulated rounding exceeds their gap",
                  discount);
}

/* Whether to stop the computation of initial bounds: time is up, or the callback requests it. */
typedef struct setup_check {
  const search_goal *goal;
  double lower; /* bounds on every value, for the callback */
  double upper;
  double last_check; /* when the callback was last called */
  bool stopped;
} setup_check;

static bool setup_must_stop(void *context)
{
  static const double check_seconds = 0.1; /* seconds between calls of the callback */
  setup_check *s = context;
  const search_goal *goal = s->goal;
  if (s->stopped || !(goal->seconds > 0 || goal->opt_monitor)) return s->stopped;
  const double now = idm_seconds();
  s->stopped = goal->seconds > 0 && now - goal->start_time >= goal->seconds;
  if (!s->stopped && goal->opt_monitor && now - s->last_check > check_seconds) {
    s->stopped = goal->opt_monitor(goal->context, s->lower, s->upper);
    s->last_check = idm_seconds();
  }
  return s->stopped;
}

/* Bounds on all values of a problem, from its smallest and largest utilities alone. */
static void bound_by_rewards(const point_problem *problem, setup_check *s)
{
  const size_t states = problem->kernel->states;
  const double steps = problem->horizon > 0 ? problem->horizon : 1 / (1 - problem->discount);
  double low = INFINITY, high = -INFINITY, smallest_piece = 0;
  for (size_t i = 0; i < problem->kernel->actions * states; i++) {
    const double belief_reward =
        problem->reward[i] +
        idm_piecewise_reward_corner(&problem->piecewise_reward, i / states, i % states);
    low = fmin(low, problem->reward[i]);
    high = fmax(high, belief_reward);
  }
  for (size_t i = 0;
       i < problem->piecewise_reward.pieces * problem->piecewise_reward.actions * states; i++)
    smallest_piece = fmin(smallest_piece, problem->piecewise_reward.piece[i]);
  low += smallest_piece;
  s->lower = fmin(low, low * steps);
  s->upper = fmax(high, high * steps);
}

/* Solves every variant from the initial bounds, so that the result is a function of theta alone. */
static idm_status solve(const point_based *p, const idm_theta *theta, const kernel *k,
                        const idm_solver *solver, double start_time, bounds *b,
                        idm_plan_report *report, idm_error *opt_error)
{
  search_goal goal = {.seconds = solver->seconds,
                      .start_time = start_time,
                      .bytes = solver->bytes,
                      .opt_monitor = solver->opt_monitor,
                      .context = solver->monitor_context};
  *report = (idm_plan_report){.stop = IDM_STOP_BOUND};
  idm_status status = IDM_OK;
  for (size_t v = 0; v < p->variants && status == IDM_OK; v++) {
    point_problem problem = problem_of(p, theta, k, v);
    setup_check setup = {.goal = &goal, .last_check = start_time};
    bound_by_rewards(&problem, &setup);
    problem.opt_stop = setup_must_stop;
    problem.stop_context = &setup;
    search_result result;
    goal.gap = solver->tolerance > 0 ? solver->tolerance : gap_of(p, theta, v);
    status =
        idm_bounds_create(&problem, 0.01 * (1 - problem.discount) * goal.gap, &b[v], opt_error);
    if (status == IDM_OK) status = idm_search(&problem, &goal, &b[v], &result, opt_error);
    if (status != IDM_OK) break;
    report->bound = fmax(report->bound, result.upper - result.lower);
    report->iterations += result.trials;
    report->sweeps += result.backups;
    if (result.stop != IDM_STOP_BOUND) report->stop = result.stop;
  }
  return status;
}

/* Stores what policies need besides the bounds; owns kernel and bounds from then on. */
static void store_plan(point_based *p, const idm_theta *theta, kernel *k, bounds *b)
{
  const size_t pairs = p->sizes.actions * p->sizes.states;
  idm_kernel_destroy(p->kernel);
  drop_bounds(p->bounds, p->variants);
  p->kernel = k;
  p->bounds = b;
  p->discount = idm_theta_scalar(theta, IDM_DISCOUNT);
  memcpy(p->action_prior, idm_theta_values(theta, IDM_ACTION_PRIOR, 0),
         p->sizes.actions * sizeof *p->action_prior);
  memcpy(p->model_prior, idm_theta_values(theta, IDM_MODEL_PRIOR, 0),
         p->models * sizeof *p->model_prior);
  for (size_t v = 0; v < p->variants; v++)
    memcpy(p->utility + v * pairs, idm_theta_values(theta, IDM_UTILITY, v),
           pairs * sizeof *p->utility);
}

/* IDM_INPUT if the utility of beliefs is not piecewise linear and convex, as both bounds require.
 */
static idm_status check_piecewise_reward(const idm_theta *theta, idm_error *opt_error)
{
  if (idm_piecewise_reward_of(theta, &(piecewise_reward){0})) return IDM_OK;
  return idm_fail(
      opt_error, IDM_INPUT,
      "planner 'point-based' cannot plan for an award for certainty, nor for a belief_utility of "
      "the entropy or with a negative guess: its bounds require the utility of a belief to be the "
      "maximum of finitely many linear pieces; 'rational' can");
}

/* Whether theta differs in perseverance and lapse alone from that of the last search, to the same
 * gap. */
static bool is_cached(const point_based *p, const idm_theta *theta, double gap)
{
  if (p->planned_gap != gap) return false;
  for (size_t id = 0; id < theta->blocks; id++) {
    const idm_block *now = &theta->block[id], *then = &p->planned->block[id];
    if (now->info->choice_bias) continue;
    if (memcmp(now->value, then->value, now->size * now->variants * sizeof *now->value) != 0)
      return false;
  }
  return true;
}

/* Stores the report of a search; a plan can be reused if its search reached the gap. */
static void cache_report(point_based *p, const idm_theta *theta, double gap,
                         const idm_plan_report *report)
{
  idm_theta_assign(p->planned, theta);
  p->planned_gap = report->stop == IDM_STOP_BOUND ? gap : 0;
  p->report = *report;
}

static idm_status plan(void *content, const idm_theta *theta, const idm_solver *solver,
                       idm_plan_report *report, idm_error *opt_error)
{
  point_based *p = content;
  idm_status status = check_piecewise_reward(theta, opt_error);
  if (status == IDM_OK) status = check_discount(p, theta, opt_error);
  if (status != IDM_OK) return status;
  const double gap = solver->tolerance > 0 ? solver->tolerance : p->gap;
  if (is_cached(p, theta, gap)) {
    *report = p->report;
    return IDM_OK;
  }
  const double start_time = idm_seconds();
  kernel *k;
  status = idm_kernel_create(p->setting, theta, &k, opt_error);
  if (status != IDM_OK) return status;
  bounds *b = idm_new(p->variants, sizeof *b);
  status =
      b ? solve(p, theta, k, solver, start_time, b, report, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    store_plan(p, theta, k, b);
    cache_report(p, theta, gap, report);
  } else {
    drop_bounds(b, p->variants);
    idm_kernel_destroy(k);
  }
  return status;
}

/* --- policies ------------------------------------------------------------------------------- */

static size_t scratch_size(const void *content)
{
  const point_based *p = content;
  return p->sizes.actions + p->max_cells + 2 * p->sizes.states;
}

/* Stage after `steps` steps; past the horizon the last stage remains in effect. */
static size_t stage_after(const point_based *p, int steps)
{
  if (p->setting->horizon <= 0) return 0;
  return steps < p->setting->horizon ? (size_t)(p->setting->horizon - steps) - 1 : 0;
}

/* Expected lower bound after action u, over its outcomes: one step of lookahead. */
static double future(const point_based *p, const alphas *lower, const double *z, size_t u,
                     double *joint)
{
  const kernel *k = p->kernel;
  const size_t first = kernel_first_cell(k, u);
  double *mass = joint + p->max_cells;
  uint32_t *state = (uint32_t *)(void *)(mass + k->states);
  memset(joint, 0, kernel_cells(k, u) * sizeof *joint);
  for (size_t s = 0; s < k->states; s++)
    for (size_t e = k->entry[u * k->states + s]; z[s] > 0 && e < k->entry[u * k->states + s + 1];
         e++)
      joint[k->at[e]] += z[s] * k->value[e];
  double sum = 0;
  for (size_t o = k->outcome[u]; o < k->outcome[u + 1]; o++) {
    sparse_belief b = {.state = state, .mass = mass};
    for (size_t c = k->cell[o]; c < k->cell[o + 1]; c++) {
      if (!(joint[c - first] > 0)) continue;
      mass[b.count] = joint[c - first];
      state[b.count++] = k->state[c];
    }
    if (b.count) sum += idm_alphas_best(lower, &b, 0, (alpha_choice){0, -INFINITY}).value;
  }
  return sum;
}

/* Sparse form of a belief, in the scratch arrays mass and state, [state]. */
static sparse_belief sparse(const double *z, size_t states, double *mass, uint32_t *state)
{
  sparse_belief b = {.state = state, .mass = mass};
  for (size_t s = 0; s < states; s++) {
    if (!(z[s] > 0)) continue;
    mass[b.count] = z[s];
    state[b.count++] = (uint32_t)s;
    b.support_mask |= belief_bit((uint32_t)s);
  }
  return b;
}

static void quality(const void *content, size_t variant, int steps, const double *z, double *q,
                    double *scratch)
{
  const point_based *p = content;
  const idm_sizes n = p->sizes;
  double *mass = scratch + n.actions + p->max_cells;
  const sparse_belief b = sparse(z, n.states, mass, (uint32_t *)(void *)(mass + n.states));
  const size_t stage = stage_after(p, steps);
  const bool last = p->setting->horizon > 0 && stage == 0;
  const double *utility = p->utility + variant * n.actions * n.states;
  /* First, because its scratch is overwritten below. */
  for (size_t u = 0; u < n.actions; u++)
    q[u] = p->bounds ? idm_piecewise_reward_at(&p->piecewise_reward, u, &b) : NAN;
  for (size_t u = 0; u < n.actions; u++) {
    for (size_t s = 0; s < n.states; s++) q[u] += z[s] * utility[u * n.states + s];
    if (last || p->setting->terminal[u] || !p->bounds) continue;
    const size_t after = p->setting->horizon > 0 ? stage - 1 : stage;
    q[u] +=
        p->discount * future(p, &p->bounds[variant].stage[after].lower, z, u, scratch + n.actions);
  }
}

static void policy(const void *content, size_t variant, int steps, const double *z,
                   double *decision, double *opt_specification, double *scratch)
{
  const point_based *p = content;
  quality(content, variant, steps, z, scratch, scratch);
  idm_soft(0, p->sizes.actions, p->action_prior, scratch, decision);
  for (size_t u = 0; opt_specification && u < p->sizes.actions; u++)
    memcpy(opt_specification + u * p->models, p->model_prior, p->models * sizeof *p->model_prior);
}

static void log_policy(const void *content, size_t variant, int steps, const double *z,
                       double *log_decision, double *scratch)
{
  const point_based *p = content;
  quality(content, variant, steps, z, scratch, scratch);
  idm_soft_logs(0, p->sizes.actions, p->action_prior, scratch, log_decision);
}

static double value(const void *content, size_t variant, int steps, const double *z,
                    double *scratch)
{
  const point_based *p = content;
  if (!p->bounds) return NAN; /* nothing is planned */
  quality(content, variant, steps, z, scratch, scratch);
  return idm_soft(0, p->sizes.actions, p->action_prior, scratch, NULL);
}

/* --- bounds --------------------------------------------------------------------------------- */

static void bound(const void *content, size_t variant, int steps, const double *z, double *lower,
                  double *upper, double *scratch)
{
  const point_based *p = content;
  const size_t states = p->sizes.states;
  double *dense = scratch + p->sizes.actions;
  double *mass = dense + p->max_cells;
  uint32_t *state = (uint32_t *)(void *)(mass + states);
  *lower = *upper = value(content, variant, steps, z, scratch);
  if (!p->bounds) return;
  const bounds_pair *now = &p->bounds[variant].stage[stage_after(p, steps)];
  const sparse_belief b = sparse(z, states, mass, state);
  memset(dense, 0, states * sizeof *dense);
  double multiplier[HULL_MOST];
  /* If both have converged, one step of lookahead may be above the upper bound by rounding. */
  *upper = fmax(*lower, idm_sawtooth_at(&now->upper, &b, 0, INFINITY, multiplier, dense));
}

static bool vector_at(const void *content, size_t variant, size_t index, double *vector,
                      size_t *action)
{
  const point_based *p = content;
  if (!p->bounds) return false;
  const bounds *b = &p->bounds[variant];
  const alphas *lower = &b->stage[b->stages - 1].lower;
  if (index >= lower->count) return false;
  *action = lower->action[index];
  for (size_t s = 0; s < lower->states; s++) vector[s] = alpha_at(lower, index, s);
  return true;
}

/* --- table of operations --------------------------------------------------------------------- */

static const idm_belief_ops belief_operations = {.scratch = scratch_size,
                                                 .policy = policy,
                                                 .log_policy = log_policy,
                                                 .value = value,
                                                 .quality = quality};

static const idm_search_ops search_operations = {.bounds = bound, .vector = vector_at};

static const idm_block_id reads[] = {IDM_UTILITY,         IDM_CERTAINTY,   IDM_BELIEF_UTILITY,
                                     IDM_DISCOUNT,        IDM_TRANSITION,  IDM_EMISSION,
                                     IDM_ALPHA,           IDM_BETA,        IDM_ETA,
                                     IDM_ACTION_PRIOR,    IDM_MODEL_PRIOR, IDM_PRIOR_WEIGHT,
                                     IDM_EVIDENCE_WEIGHT, IDM_BLOCK_COUNT};

static const idm_clamp clamps[] = {{IDM_ALPHA, IDM_CLAMP_VALUE, 0},
                                   {IDM_BETA, IDM_CLAMP_VALUE, INFINITY},
                                   {IDM_ETA, IDM_CLAMP_VALUE, 0},
                                   /* Values are convex only under Bayes' rule. */
                                   {IDM_PRIOR_WEIGHT, IDM_CLAMP_VALUE, 1},
                                   {IDM_EVIDENCE_WEIGHT, IDM_CLAMP_VALUE, 1}};

const idm_planner idm_point_based = {
    .name = "point-based",
    .summary = "the rational agent by bounds from both sides, for any number of states",
    .row = "Model-based POMDP planner",
    .keys = (const char *const[]){"recognition", "gap", NULL},
    .reads = reads,
    .clamp = clamps,
    .clamps = sizeof clamps / sizeof clamps[0],
    .needs = IDM_NEEDS_MODEL,
    .supports = IDM_SUPPORTS_STATIONARY | IDM_SUPPORTS_HORIZON | IDM_SUPPORTS_NO_GRADIENT |
                IDM_SUPPORTS_SPARSE_HIDDEN,
    .create = create,
    .plan = plan,
    .destroy = destroy,
    .belief = &belief_operations,
    .search = &search_operations,
};
