/* The planner `value-iteration-network`: see the header. */
#include "plan/network/value_iteration_network.h"

#include <math.h>

#include "base/memory.h"
#include "base/soft.h"
#include "plan/network/value_iteration_adjoint.h"
#include "plan/network/value_iteration_sweep.h"

/* --- making one ----------------------------------------------------------------------------- */

static const idm_block_info own[] = {
    {.name = "sweep_weights",
     .summary = "weights of utility, future and temperature, sweep after sweep",
     .opaque = true,
     .support = IDM_POSITIVE,
     .standard = 1,
     .scales = IDM_SCALES_ALL,
     .scale = IDM_SCALE_LOG,
     .spread = 20, /* the prior of each is centred at 1 */
     .form = IDM_FORM_NUMBERS,
     .of_agent = true}};

static size_t shape(const idm_agent *agent, idm_sizes sizes, size_t block, double *opt_value)
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
  idm_moves_destroy(v->mean);
  free(v->value);
  free(v->quality);
  free(v);
}

/* P: where the setting has no moves, room for every next state. */
static idm_status make_moves(value_iteration *v, idm_error *opt_error)
{
  const size_t k = v->sizes.states, rows = v->sizes.actions * k;
  v->moves = v->setting->moves;
  if (v->moves) return IDM_OK;
  v->dynamics = idm_new(idm_times(v->models, idm_times(rows, k)), sizeof *v->dynamics);
  if (!v->dynamics) return idm_fail_memory(opt_error);
  const idm_status status = idm_moves_create(rows, rows * k, &v->mean, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i <= rows; i++) v->mean->first[i] = i * k;
  for (size_t i = 0; i < rows * k; i++) v->mean->next[i] = (uint32_t)(i % k);
  v->moves = v->mean;
  return IDM_OK;
}

static idm_status create(const idm_setting *setting, const idm_theta *theta, const idm_agent *agent,
                         void **ret_content, idm_error *opt_error)
{
  *ret_content = NULL;
  if (agent->alpha_unit != IDM_ALPHA_ABSOLUTE)
    return idm_fail(opt_error, IDM_INPUT,
                    "the planner 'value-iteration-network' has alpha in units of the utility; "
                    "expected alpha_unit: absolute");
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
  const bool whole =
      v->weight && v->utility && v->action_prior && v->model_prior && v->value && v->quality;
  const idm_status status = whole ? make_moves(v, opt_error) : idm_fail_memory(opt_error);
  if (status != IDM_OK) {
    destroy(v);
    return status;
  }
  *ret_content = v;
  return IDM_OK;
}

/* --- planning ------------------------------------------------------------------------------- */

static void take_in(value_iteration *v, const idm_theta *theta)
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

/* Every sweep of a variant; Q of each stands where that of the last stays. */
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
  take_in(v, theta);
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

/* --- deciding ------------------------------------------------------------------------------- */

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

/* --- the table ------------------------------------------------------------------------------ */

static const idm_belief_ops belief = {.scratch = scratch,
                                      .policy = policy,
                                      .log_policy = log_policy,
                                      .value = value,
                                      .quality = quality,
                                      .adjoint = &idm_value_iteration_adjoint};

static const idm_block_id reads[] = {IDM_UTILITY,      IDM_DISCOUNT,    IDM_ALPHA,
                                     IDM_ACTION_PRIOR, IDM_MODEL_PRIOR, IDM_TRANSITION,
                                     IDM_EMISSION,     IDM_BLOCK_COUNT};

const idm_planner idm_value_iteration_network = {
    .name = "value-iteration-network",
    .summary = "sweeps of value iteration, each with weights of its own; at 1 a horizon",
    .row = "Differentiable MDP planner",
    .keys = (const char *const[]){"recognition", "alpha_unit", "sweeps", NULL},
    .reads = reads,
    .own = own,
    .owns = 1,
    .shape = shape,
    .needs = IDM_NEEDS_MODEL,
    .gives = IDM_GIVES_STATIONARY | IDM_GIVES_MOVES,
    .create = create,
    .plan = plan,
    .destroy = destroy,
    .belief = &belief,
};
