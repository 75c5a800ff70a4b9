/* The planner `value-iteration-network` (docs/method/learners.md, 3).
 *
 * Contents: value iteration sweep · value iteration network · value iteration adjoint */
#include "plan/network/network.h"

#include <math.h>

#include "base/memory.h"
#include "base/soft.h"
#include "setting/model.h"

/* === value iteration sweep ==================================================================== */

/* One sweep of `value-iteration-network`. */

void idm_sweep_quality(const value_iteration *v, size_t variant, size_t sweep, size_t state,
                       double *quality, double *opt_future)
{
  const size_t k = v->sizes.states, n = v->sizes.actions;
  const double *weight = v->weight + sweep * SWEEP_WEIGHTS;
  const double *previous_value = v->value + (variant * (v->sweeps + 1) + sweep) * k;
  for (size_t u = 0; u < n; u++) {
    const size_t *row = v->moves->first + u * k + state;
    double future = 0;
    for (size_t i = row[0]; !v->setting->terminal[u] && i < row[1]; i++)
      future += v->moves->probability[i] * previous_value[v->moves->next[i]];
    if (opt_future) opt_future[u] = future;
    quality[u] = weight[SWEEP_UTILITY] * v->utility[(variant * n + u) * k + state] +
                 weight[SWEEP_FUTURE] * v->discount * future;
  }
}

/* === value iteration network ================================================================== */

/* --- creation -------------------------------------------------------------------------------- */

static const idm_block_info own[] = {
    {.name = "sweep_weights",
     .summary = "weights of utility, future and temperature, for each sweep",
     .opaque = true,
     .support = IDM_POSITIVE,
     .default_number = 1,
     .scales = IDM_SCALES_ALL,
     .scale = IDM_SCALE_LOG,
     .spread = 20, /* the prior of each is centred at 1 */
     .form = IDM_FORM_NUMBERS,
     .of_agent = true}};

static size_t shape(const idm_agent_options *agent, idm_sizes sizes, size_t block,
                    double *opt_value)
{
  (void)sizes;
  (void)block;
  const size_t count = (size_t)agent->sweeps * SWEEP_WEIGHTS;
  for (size_t i = 0; opt_value && i < count; i++) opt_value[i] = 1;
  return count;
}

static void destroy(void *content)
{
  value_iteration *v = content;
  if (!v) return;
  free(v->weight);
  free(v->utility);
  free(v->action_prior);
  free(v->model_prior);
  free(v->dynamics);
  idm_sparse_rows_destroy(v->mean);
  free(v->value);
  free(v->quality);
  free(v);
}

/* P: if the setting has no sparse transitions, allocates an entry for every next state. */
static idm_status make_moves(value_iteration *v, idm_error *opt_error)
{
  const size_t k = v->sizes.states, rows = v->sizes.actions * k;
  v->moves = v->setting->moves;
  if (v->moves) return IDM_OK;
  v->dynamics = idm_new(idm_times(v->models, idm_times(rows, k)), sizeof *v->dynamics);
  if (!v->dynamics) return idm_fail_memory(opt_error);
  const idm_status status = idm_sparse_rows_create(rows, rows * k, &v->mean, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i <= rows; i++) v->mean->first[i] = i * k;
  for (size_t i = 0; i < rows * k; i++) v->mean->next[i] = (uint32_t)(i % k);
  v->moves = v->mean;
  return IDM_OK;
}

static idm_status create(const idm_setting *setting, const idm_theta *theta,
                         const idm_agent_options *agent, void **ret_content, idm_error *opt_error)
{
  *ret_content = NULL;
  if (agent->alpha_unit != IDM_ALPHA_ABSOLUTE)
    return idm_fail(opt_error, IDM_INPUT,
                    "the planner 'value-iteration-network' supports alpha in units of the utility "
                    "only; expected alpha_unit: absolute");
  value_iteration *v = idm_new(1, sizeof *v);
  if (!v) return idm_fail_memory(opt_error);
  *v = (value_iteration){.setting = setting,
                         .sizes = theta->sizes,
                         .models = theta->models,
                         .variants = idm_theta_variants(theta),
                         .sweeps = (size_t)agent->sweeps,
                         .free_dynamics = theta->block[IDM_TRANSITION].role == IDM_DESCRIPTIVE};
  const size_t k = v->sizes.states, pairs = v->sizes.actions * k;
  v->weight = idm_new(v->sweeps * SWEEP_WEIGHTS, sizeof *v->weight);
  v->utility = idm_new(idm_times(v->variants, pairs), sizeof *v->utility);
  v->action_prior = idm_new(v->sizes.actions, sizeof *v->action_prior);
  v->model_prior = idm_new(v->models, sizeof *v->model_prior);
  v->value = idm_new(idm_times(v->variants * (v->sweeps + 1), k), sizeof *v->value);
  v->quality = idm_new(idm_times(v->variants, pairs), sizeof *v->quality);
  const bool allocated =
      v->weight && v->utility && v->action_prior && v->model_prior && v->value && v->quality;
  const idm_status status = allocated ? make_moves(v, opt_error) : idm_fail_memory(opt_error);
  if (status != IDM_OK) {
    destroy(v);
    return status;
  }
  *ret_content = v;
  return IDM_OK;
}

/* --- planning ------------------------------------------------------------------------------- */

static void copy_theta(value_iteration *v, const idm_theta *theta)
{
  const size_t k = v->sizes.states, pairs = v->sizes.actions * k;
  v->discount = idm_theta_scalar(theta, IDM_DISCOUNT);
  v->alpha = idm_theta_scalar(theta, IDM_ALPHA);
  memcpy(v->weight, idm_theta_values(theta, IDM_BLOCK_COUNT, 0),
         v->sweeps * SWEEP_WEIGHTS * sizeof *v->weight);
  memcpy(v->action_prior, idm_theta_values(theta, IDM_ACTION_PRIOR, 0),
         v->sizes.actions * sizeof *v->action_prior);
  memcpy(v->model_prior, idm_theta_values(theta, IDM_MODEL_PRIOR, 0),
         v->models * sizeof *v->model_prior);
  for (size_t i = 0; i < v->variants; i++)
    memcpy(v->utility + i * pairs, idm_theta_values(theta, IDM_UTILITY, i),
           pairs * sizeof *v->utility);
  if (!v->mean) return;
  memcpy(v->dynamics, idm_theta_values(theta, IDM_TRANSITION, 0),
         v->models * pairs * k * sizeof *v->dynamics);
  memset(v->mean->probability, 0, pairs * k * sizeof *v->mean->probability);
  for (size_t m = 0; m < v->models; m++)
    for (size_t i = 0; i < pairs * k; i++)
      v->mean->probability[i] += v->model_prior[m] * v->dynamics[m * pairs * k + i];
}

/* All sweeps of a variant; v->quality contains Q of the last one. */
static void sweep_variant(value_iteration *v, size_t variant)
{
  const size_t k = v->sizes.states, n = v->sizes.actions;
  double *value = v->value + variant * (v->sweeps + 1) * k;
  memset(value, 0, k * sizeof *value);
  for (size_t i = 0; i < v->sweeps; i++)
    for (size_t s = 0; s < k; s++) {
      double *quality = v->quality + (variant * k + s) * n;
      idm_sweep_quality(v, variant, i, s, quality, NULL);
      value[(i + 1) * k + s] =
          idm_soft(idm_sweep_temperature(v, i), n, v->action_prior, quality, NULL);
    }
}

static idm_status plan(void *content, const idm_theta *theta, const idm_solver *solver,
                       idm_plan_report *report, idm_error *opt_error)
{
  (void)solver;
  value_iteration *v = content;
  const size_t k = v->sizes.states;
  copy_theta(v, theta);
  for (size_t i = 0; i < v->variants; i++) {
    sweep_variant(v, i);
    for (size_t s = 0; s < k; s++)
      if (!isfinite(v->value[(i * (v->sweeps + 1) + v->sweeps) * k + s]))
        return idm_fail(opt_error, IDM_NUMERICAL,
                        "value iteration overflows: its sweep_weights are too large");
  }
  *report = (idm_plan_report){.stop = IDM_STOP_HORIZON,
                              .iterations = (long)v->sweeps,
                              .sweeps = (long)(v->sweeps * v->variants)};
  return IDM_OK;
}

/* --- choice ---------------------------------------------------------------------------------- */

static size_t scratch(const void *content)
{
  return ((const value_iteration *)content)->sizes.actions;
}

static void quality(const void *content, size_t variant, int steps, const double *z,
                    double *quality, double *scratch_numbers)
{
  (void)steps;
  (void)scratch_numbers;
  const value_iteration *v = content;
  const size_t k = v->sizes.states, n = v->sizes.actions;
  memset(quality, 0, n * sizeof *quality);
  for (size_t s = 0; s < k; s++)
    for (size_t u = 0; z[s] != 0 && u < n; u++)
      quality[u] += z[s] * v->quality[(variant * k + s) * n + u];
}

static void policy(const void *content, size_t variant, int steps, const double *z,
                   double *decision, double *opt_specification, double *score)
{
  const value_iteration *v = content;
  quality(v, variant, steps, z, score, NULL);
  idm_soft(idm_sweep_temperature(v, v->sweeps - 1), v->sizes.actions, v->action_prior, score,
           decision);
  for (size_t u = 0; opt_specification && u < v->sizes.actions; u++)
    memcpy(opt_specification + u * v->models, v->model_prior, v->models * sizeof(double));
}

static void log_policy(const void *content, size_t variant, int steps, const double *z,
                       double *log_decision, double *score)
{
  const value_iteration *v = content;
  quality(v, variant, steps, z, score, NULL);
  idm_soft_logs(idm_sweep_temperature(v, v->sweeps - 1), v->sizes.actions, v->action_prior, score,
                log_decision);
}

static double value(const void *content, size_t variant, int steps, const double *z, double *score)
{
  const value_iteration *v = content;
  quality(v, variant, steps, z, score, NULL);
  return idm_soft(idm_sweep_temperature(v, v->sweeps - 1), v->sizes.actions, v->action_prior, score,
                  NULL);
}

/* --- table of operations --------------------------------------------------------------------- */

/* Defined at the end of this file. */
static const idm_adjoint_ops adjoint_operations;

static const idm_belief_ops belief = {.scratch = scratch,
                                      .policy = policy,
                                      .log_policy = log_policy,
                                      .value = value,
                                      .quality = quality,
                                      .adjoint = &adjoint_operations};

static const idm_block_id reads[] = {IDM_UTILITY,      IDM_DISCOUNT,    IDM_ALPHA,
                                     IDM_ACTION_PRIOR, IDM_MODEL_PRIOR, IDM_TRANSITION,
                                     IDM_EMISSION,     IDM_BLOCK_COUNT};

const idm_planner idm_value_iteration_network = {
    .name = "value-iteration-network",
    .summary =
        "sweeps of value iteration, each with its own weights; with weights of 1 a finite horizon",
    .row = "Differentiable MDP planner",
    .keys = (const char *const[]){"recognition", "alpha_unit", "sweeps", NULL},
    .reads = reads,
    .own = own,
    .own_count = 1,
    .shape = shape,
    .needs = IDM_NEEDS_MODEL,
    .supports = IDM_SUPPORTS_STATIONARY | IDM_SUPPORTS_SPARSE,
    .create = create,
    .plan = plan,
    .destroy = destroy,
    .belief = &belief,
};

/* === value iteration adjoint ================================================================== */

/* Reverse-mode derivative of `value-iteration-network`: through the policies of the last sweep,
 * then sweep by sweep. */

typedef struct adjoint {
  const value_iteration *v;
  double *by_quality;  /* [variant][state][action]: of the current sweep */
  double *by_value;    /* [2][state]: after that sweep, and before */
  double *by_weight;   /* [sweep][SWEEP_WEIGHTS] */
  double *by_utility;  /* [variant][action][state] */
  double *by_prior;    /* [action] */
  double *by_model;    /* [model] */
  double *by_dynamics; /* [model][action][state][next]; NULL: not free */
  double *scratch;     /* [4][action] */
  double by_inverse;   /* with respect to 1/alpha */
  double by_discount;
} adjoint;

static void destroy_adjoint(void *content)
{
  adjoint *a = content;
  if (!a) return;
  free(a->by_quality);
  free(a->by_value);
  free(a->by_weight);
  free(a->by_utility);
  free(a->by_prior);
  free(a->by_model);
  free(a->by_dynamics);
  free(a->scratch);
  free(a);
}

static idm_status create_adjoint(void *content, void **ret_adjoint, idm_error *opt_error)
{
  const value_iteration *v = content;
  const size_t k = v->sizes.states, n = v->sizes.actions;
  *ret_adjoint = NULL;
  adjoint *a = idm_new(1, sizeof *a);
  if (!a) return idm_fail_memory(opt_error);
  a->v = v;
  a->by_quality = idm_new(v->variants * k * n, sizeof *a->by_quality);
  a->by_value = idm_new(2 * k, sizeof *a->by_value);
  a->by_weight = idm_new(v->sweeps * SWEEP_WEIGHTS, sizeof *a->by_weight);
  a->by_utility = idm_new(v->variants * k * n, sizeof *a->by_utility);
  a->by_prior = idm_new(n, sizeof *a->by_prior);
  a->by_model = idm_new(v->models, sizeof *a->by_model);
  if (v->free_dynamics) a->by_dynamics = idm_new(v->models * n * k * k, sizeof *a->by_dynamics);
  a->scratch = idm_new(4 * n, sizeof *a->scratch);
  if (!a->by_quality || !a->by_value || !a->by_weight || !a->by_utility || !a->by_prior ||
      !a->by_model || (v->free_dynamics && !a->by_dynamics) || !a->scratch) {
    destroy_adjoint(a);
    return idm_fail_memory(opt_error);
  }
  *ret_adjoint = a;
  return IDM_OK;
}

static void begin(void *content)
{
  adjoint *a = content;
  const value_iteration *v = a->v;
  const size_t pairs = v->variants * v->sizes.states * v->sizes.actions;
  memset(a->by_quality, 0, pairs * sizeof *a->by_quality);
  memset(a->by_weight, 0, v->sweeps * SWEEP_WEIGHTS * sizeof *a->by_weight);
  memset(a->by_utility, 0, pairs * sizeof *a->by_utility);
  memset(a->by_prior, 0, v->sizes.actions * sizeof *a->by_prior);
  memset(a->by_model, 0, v->models * sizeof *a->by_model);
  if (a->by_dynamics)
    memset(a->by_dynamics, 0,
           v->models * v->sizes.actions * v->sizes.states * v->sizes.states *
               sizeof *a->by_dynamics);
  a->by_inverse = a->by_discount = 0;
}

/* Propagates the derivative with respect to 1/T of a sweep to 1/alpha and to the sweep's weight of
 * the temperature. */
static void temperature_backward(adjoint *a, size_t sweep, double by_inverse)
{
  const value_iteration *v = a->v;
  const size_t at = sweep * SWEEP_WEIGHTS + SWEEP_TEMPERATURE;
  const double weight = v->weight[at];
  if (v->alpha == 0) return; /* a maximum, for any weight */
  a->by_inverse += by_inverse / weight;
  a->by_weight[at] -= by_inverse / (weight * weight * v->alpha);
}

static void point(void *content, const idm_policy_adjoint *at)
{
  adjoint *a = content;
  const value_iteration *v = a->v;
  const size_t k = v->sizes.states, n = v->sizes.actions;
  const double temperature = idm_sweep_temperature(v, v->sweeps - 1);
  const double inverse = fabs(temperature) < 1e-300 ? 0 : 1 / temperature;
  const double *quality = v->quality + at->variant * k * n;
  double total = 0, by_inverse = 0;
  for (size_t u = 0; u < n; u++) total += at->log_decision_gradient[u];
  for (size_t u = 0; u < n; u++) {
    const double by_score = at->log_decision_gradient[u] - total * at->decision[u];
    if (v->action_prior[u] > 0) a->by_prior[u] += by_score / v->action_prior[u];
    for (size_t m = 0; m < v->models; m++)
      a->by_model[m] += at->specification_gradient[u * v->models + m];
    for (size_t s = 0; s < k; s++) {
      by_inverse += by_score * at->belief[s] * quality[s * n + u];
      a->by_quality[(at->variant * k + s) * n + u] += by_score * inverse * at->belief[s];
      if (at->opt_belief_gradient)
        at->opt_belief_gradient[s] += by_score * inverse * quality[s * n + u];
    }
  }
  temperature_backward(a, v->sweeps - 1, by_inverse);
}

/* Derivatives with respect to the models' shares in a row of P, and to their rows. */
static void models_backward(adjoint *a, size_t u, size_t state, double by_future,
                            const double *previous_value)
{
  const value_iteration *v = a->v;
  const size_t k = v->sizes.states;
  for (size_t m = 0; m < v->models; m++) {
    const size_t at = ((m * v->sizes.actions + u) * k + state) * k;
    for (size_t s = 0; s < k; s++) {
      a->by_model[m] += by_future * previous_value[s] * v->dynamics[at + s];
      if (a->by_dynamics)
        a->by_dynamics[at + s] += by_future * previous_value[s] * v->model_prior[m];
    }
  }
}

/* Backward pass of Q of a sweep at a state. */
static void quality_backward(adjoint *a, size_t variant, size_t sweep, size_t state,
                             const double *future, const double *by_quality)
{
  const value_iteration *v = a->v;
  const size_t k = v->sizes.states, n = v->sizes.actions;
  const double *weight = v->weight + sweep * SWEEP_WEIGHTS;
  const double *previous_value = v->value + (variant * (v->sweeps + 1) + sweep) * k;
  double *by_weight = a->by_weight + sweep * SWEEP_WEIGHTS;
  for (size_t u = 0; u < n; u++) {
    const size_t at = (variant * n + u) * k + state;
    const size_t *row = v->moves->first + u * k + state;
    const double by_future = by_quality[u] * weight[SWEEP_FUTURE] * v->discount;
    by_weight[SWEEP_UTILITY] += by_quality[u] * v->utility[at];
    a->by_utility[at] += by_quality[u] * weight[SWEEP_UTILITY];
    by_weight[SWEEP_FUTURE] += by_quality[u] * v->discount * future[u];
    a->by_discount += by_quality[u] * weight[SWEEP_FUTURE] * future[u];
    if (v->setting->terminal[u]) continue;
    for (size_t i = row[0]; i < row[1]; i++)
      a->by_value[k + v->moves->next[i]] += by_future * v->moves->probability[i];
    if (v->dynamics) models_backward(a, u, state, by_future, previous_value);
  }
}

/* Backward pass of one sweep of a variant, given the derivatives with respect to its V; for the
 * last sweep, with respect to its Q. */
static void sweep_backward(adjoint *a, size_t variant, size_t sweep)
{
  const value_iteration *v = a->v;
  const size_t k = v->sizes.states, n = v->sizes.actions;
  const double temperature = idm_sweep_temperature(v, sweep);
  double *quality = a->scratch, *future = quality + n, *p = future + n, *by_prior = p + n;
  memset(a->by_value + k, 0, k * sizeof *a->by_value);
  for (size_t s = 0; s < k; s++) {
    double *by_quality = a->by_quality + (variant * k + s) * n;
    idm_sweep_quality(v, variant, sweep, s, quality, future);
    if (sweep + 1 < v->sweeps) {
      double by_inverse;
      const double value = idm_soft(temperature, n, v->action_prior, quality, p);
      idm_soft_derivative(temperature, n, v->action_prior, quality, value, p, &by_inverse,
                          by_prior);
      temperature_backward(a, sweep, a->by_value[s] * by_inverse);
      for (size_t u = 0; u < n; u++) {
        by_quality[u] = a->by_value[s] * p[u];
        a->by_prior[u] += a->by_value[s] * by_prior[u];
      }
    }
    quality_backward(a, variant, sweep, s, future, by_quality);
  }
  memcpy(a->by_value, a->by_value + k, k * sizeof *a->by_value);
}

static void add(double *to, const double *from, size_t count)
{
  for (size_t i = 0; i < count; i++) to[i] += from[i];
}

static idm_status finish(void *content, idm_theta *derivative, idm_error *opt_error)
{
  (void)opt_error;
  adjoint *a = content;
  const value_iteration *v = a->v;
  const size_t pairs = v->sizes.states * v->sizes.actions;
  for (size_t i = 0; i < v->variants; i++)
    for (size_t sweep = v->sweeps; sweep-- > 0;) sweep_backward(a, i, sweep);
  idm_block *utility = &derivative->block[IDM_UTILITY];
  for (size_t i = 0; i < v->variants; i++)
    add(utility->value + (i < utility->variants ? i : 0) * pairs, a->by_utility + i * pairs, pairs);
  derivative->block[IDM_DISCOUNT].value[0] += a->by_discount;
  derivative->block[IDM_ALPHA].value[0] += a->by_inverse;
  add(derivative->block[IDM_ACTION_PRIOR].value, a->by_prior, v->sizes.actions);
  add(derivative->block[IDM_MODEL_PRIOR].value, a->by_model, v->models);
  if (a->by_dynamics)
    add(derivative->block[IDM_TRANSITION].value, a->by_dynamics,
        derivative->block[IDM_TRANSITION].size);
  add(derivative->block[IDM_BLOCK_COUNT].value, a->by_weight, v->sweeps * SWEEP_WEIGHTS);
  return IDM_OK;
}

static const idm_adjoint_ops adjoint_operations = {.dynamics = true,
                                                   .create = create_adjoint,
                                                   .destroy = destroy_adjoint,
                                                   .begin = begin,
                                                   .point = point,
                                                   .finish = finish};
