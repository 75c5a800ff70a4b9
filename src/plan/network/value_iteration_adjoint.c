/* The derivative of `value-iteration-network` in reverse: through the policies of the last sweep,
 * then sweep by sweep. */
#include <math.h>

#include "base/memory.h"
#include "base/soft.h"
#include "base/soft_slope.h"
#include "plan/network/value_iteration_adjoint.h"
#include "plan/network/value_iteration_sweep.h"

typedef struct adjoint {
  const value_iteration *v;
  double *by_quality;  /* [variant][state][action]: of the sweep at hand */
  double *by_value;    /* [2][state]: after that sweep, and before */
  double *by_weight;   /* [sweep][SWEEP_WEIGHTS] */
  double *by_utility;  /* [variant][action][state] */
  double *by_prior;    /* [action] */
  double *by_model;    /* [model] */
  double *by_dynamics; /* [model][action][state][next]; NULL: they are not free */
  double *scratch;     /* [4][action] */
  double by_inverse;   /* by 1/alpha */
  double by_discount;
} adjoint;

static void destroy(void *content)
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

static idm_status create(void *content, void **ret_adjoint, idm_error *opt_error)
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
    destroy(a);
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

/* A slope by 1/T of a sweep, on to 1/alpha and to the sweep's own weight of it. */
static void cool(adjoint *a, size_t sweep, double by_inverse)
{
  const value_iteration *v = a->v;
  const size_t at = sweep * SWEEP_WEIGHTS + SWEEP_TEMPERATURE;
  const double weight = v->weight[at];
  if (v->alpha == 0) return; /* a maximum, whatever the weight */
  a->by_inverse += by_inverse / weight;
  a->by_weight[at] -= by_inverse / (weight * weight * v->alpha);
}

static void point(void *content, const idm_policy_slope *at)
{
  adjoint *a = content;
  const value_iteration *v = a->v;
  const size_t k = v->sizes.states, n = v->sizes.actions;
  const double temperature = idm_sweep_temperature(v, v->sweeps - 1);
  const double inverse = fabs(temperature) < 1e-300 ? 0 : 1 / temperature;
  const double *quality = v->quality + at->variant * k * n;
  double total = 0, by_inverse = 0;
  for (size_t u = 0; u < n; u++) total += at->log_decision_slope[u];
  for (size_t u = 0; u < n; u++) {
    const double by_score = at->log_decision_slope[u] - total * at->decision[u];
    if (v->action_prior[u] > 0) a->by_prior[u] += by_score / v->action_prior[u];
    for (size_t m = 0; m < v->models; m++)
      a->by_model[m] += at->specification_slope[u * v->models + m];
    for (size_t s = 0; s < k; s++) {
      by_inverse += by_score * at->belief[s] * quality[s * n + u];
      a->by_quality[(at->variant * k + s) * n + u] += by_score * inverse * at->belief[s];
      if (at->opt_belief_slope) at->opt_belief_slope[s] += by_score * inverse * quality[s * n + u];
    }
  }
  cool(a, v->sweeps - 1, by_inverse);
}

/* Slopes by the models' shares in a row of P, and by their rows. */
static void recall_models(adjoint *a, size_t u, size_t state, double by_future,
                          const double *before)
{
  const value_iteration *v = a->v;
  const size_t k = v->sizes.states;
  for (size_t m = 0; m < v->models; m++) {
    const size_t at = ((m * v->sizes.actions + u) * k + state) * k;
    for (size_t s = 0; s < k; s++) {
      a->by_model[m] += by_future * before[s] * v->dynamics[at + s];
      if (a->by_dynamics) a->by_dynamics[at + s] += by_future * before[s] * v->model_prior[m];
    }
  }
}

/* From Q of a sweep at a state to what it was made of. */
static void recall_quality(adjoint *a, size_t variant, size_t sweep, size_t state,
                           const double *future, const double *by_quality)
{
  const value_iteration *v = a->v;
  const size_t k = v->sizes.states, n = v->sizes.actions;
  const double *weight = v->weight + sweep * SWEEP_WEIGHTS;
  const double *before = v->value + (variant * (v->sweeps + 1) + sweep) * k;
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
    if (v->dynamics) recall_models(a, u, state, by_future, before);
  }
}

/* One sweep of a variant: what follows it has left slopes by its V, or in the last one by its Q. */
static void recall_sweep(adjoint *a, size_t variant, size_t sweep)
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
      idm_soft_slope(temperature, n, v->action_prior, quality, value, p, &by_inverse, by_prior);
      cool(a, sweep, a->by_value[s] * by_inverse);
      for (size_t u = 0; u < n; u++) {
        by_quality[u] = a->by_value[s] * p[u];
        a->by_prior[u] += a->by_value[s] * by_prior[u];
      }
    }
    recall_quality(a, variant, sweep, s, future, by_quality);
  }
  memcpy(a->by_value, a->by_value + k, k * sizeof *a->by_value);
}

static void add(double *to, const double *from, size_t count)
{
  for (size_t i = 0; i < count; i++) to[i] += from[i];
}

static idm_status finish(void *content, idm_theta *slope, idm_error *opt_error)
{
  (void)opt_error;
  adjoint *a = content;
  const value_iteration *v = a->v;
  const size_t pairs = v->sizes.states * v->sizes.actions;
  for (size_t i = 0; i < v->variants; i++)
    for (size_t sweep = v->sweeps; sweep-- > 0;) recall_sweep(a, i, sweep);
  idm_block *utility = &slope->block[IDM_UTILITY];
  for (size_t i = 0; i < v->variants; i++)
    add(utility->value + (i < utility->variants ? i : 0) * pairs, a->by_utility + i * pairs, pairs);
  slope->block[IDM_DISCOUNT].value[0] += a->by_discount;
  slope->block[IDM_ALPHA].value[0] += a->by_inverse;
  add(slope->block[IDM_ACTION_PRIOR].value, a->by_prior, v->sizes.actions);
  add(slope->block[IDM_MODEL_PRIOR].value, a->by_model, v->models);
  if (a->by_dynamics)
    add(slope->block[IDM_TRANSITION].value, a->by_dynamics, slope->block[IDM_TRANSITION].size);
  add(slope->block[IDM_BLOCK_COUNT].value, a->by_weight, v->sweeps * SWEEP_WEIGHTS);
  return IDM_OK;
}

const idm_adjoint_ops idm_value_iteration_adjoint = {.dynamics = true,
                                                     .create = create,
                                                     .destroy = destroy,
                                                     .begin = begin,
                                                     .point = point,
                                                     .finish = finish};
