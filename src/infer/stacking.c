/* Stacking of predictive distributions (Yao, Vehtari, Simpson and Gelman 2018). See
 * docs/method/comparison.md, 2.
 *
 * The objective f(w) = sum_i log sum_k w_k p_ik over the simplex is that of the weights of a
 * mixture with known components. It is maximised by a primal-dual interior-point method on w >= 0
 * alone: maximisers of f(w) / n - sum_k w_k sum to 1 (Kim, Carbonetto, Stephens and Anitescu 2020).
 * With g = grad f / n, concavity gives f(v) - f(w) <= n (max_k g_k - 1) for every v of the simplex,
 * which certifies the answer. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "infer/comparison.h"

typedef struct stacking {
  size_t units;
  size_t models;
  double *density; /* [unit][model], the largest of a unit is 1 */
  double *weight;  /* [model] */
  double *dual;    /* [model]: multipliers of weight >= 0 */
  double *gradient;
  double *step;    /* of the weights */
  double *hessian; /* [model][model]: minus that of f / n */
} stacking;

/* Log predictive densities as densities relative to the largest of each unit. */
static idm_status read_densities(stacking *s, const double *elpd, idm_error *opt_error)
{
  for (size_t i = 0; i < s->units; i++) {
    const double *row = elpd + i * s->models;
    double largest = -INFINITY;
    for (size_t k = 0; k < s->models; k++) {
      if (!(row[k] < INFINITY))
        return idm_fail(opt_error, IDM_INPUT,
                        "the log predictive density of unit %zu under model %zu is %g; expected a "
                        "number below infinity",
                        i + 1, k + 1, row[k]);
      largest = fmax(largest, row[k]);
    }
    if (largest == -INFINITY)
      return idm_fail(opt_error, IDM_INPUT, "every model gives density 0 to unit %zu", i + 1);
    for (size_t k = 0; k < s->models; k++) s->density[i * s->models + k] = exp(row[k] - largest);
  }
  return IDM_OK;
}

/* Gradient and Hessian of f / n at the weights. */
static void differentiate(stacking *s)
{
  const size_t models = s->models;
  memset(s->gradient, 0, models * sizeof *s->gradient);
  memset(s->hessian, 0, models * models * sizeof *s->hessian);
  for (size_t i = 0; i < s->units; i++) {
    const double *p = s->density + i * models;
    double mixture = 0;
    for (size_t k = 0; k < models; k++) mixture += s->weight[k] * p[k];
    for (size_t k = 0; k < models; k++) {
      const double share = p[k] / mixture / (double)s->units;
      s->gradient[k] += share;
      for (size_t j = 0; j <= k; j++) s->hessian[k * models + j] += share * (p[j] / mixture);
    }
  }
}

/* Newton step of the optimality conditions grad f / n - 1 + dual = 0 and weight dual = centring. */
static bool find_step(stacking *s, double centring)
{
  const size_t models = s->models;
  for (size_t k = 0; k < models; k++) {
    s->hessian[k * models + k] += s->dual[k] / s->weight[k];
    s->step[k] = s->gradient[k] - 1 + centring / s->weight[k];
    for (size_t j = 0; j < k; j++) s->hessian[j * models + k] = s->hessian[k * models + j];
  }
  if (!idm_cholesky(models, s->hessian)) return false;
  idm_lower_solve(models, s->hessian, s->step);
  idm_lower_solve_transposed(models, s->hessian, s->step);
  return true;
}

/* Step of a multiplier that belongs to the step of its weight. */
static double dual_step(const stacking *s, size_t k, double centring)
{
  return (centring - s->dual[k] * s->step[k]) / s->weight[k] - s->dual[k];
}

/* Largest step length up to `length` that leaves x a hundredth of its value. */
static double admissible(double length, double x, double step)
{
  return step < 0 ? fmin(length, -0.99 * x / step) : length;
}

/* Barrier function f / n - sum w + centring sum log w at weight + length * step, which a step
 * increases if it is short enough. */
static double barrier_at(const stacking *s, double length, double centring)
{
  double value = 0;
  for (size_t i = 0; i < s->units; i++) {
    double mixture = 0;
    for (size_t k = 0; k < s->models; k++)
      mixture += (s->weight[k] + length * s->step[k]) * s->density[i * s->models + k];
    value += (mixture > 0 ? log(mixture) : -INFINITY) / (double)s->units;
  }
  for (size_t k = 0; k < s->models; k++) {
    const double weight = s->weight[k] + length * s->step[k];
    value += centring * log(weight) - weight;
  }
  return value;
}

static void take_step(stacking *s, double centring)
{
  const double rounding = 1e-14, before = barrier_at(s, 0, centring);
  double length = 1;
  for (size_t k = 0; k < s->models; k++) {
    length = admissible(length, s->weight[k], s->step[k]);
    length = admissible(length, s->dual[k], dual_step(s, k, centring));
  }
  while (length > rounding && barrier_at(s, length, centring) < before - rounding) length /= 2;
  for (size_t k = 0; k < s->models; k++) {
    const double change = length * dual_step(s, k, centring);
    s->weight[k] += length * s->step[k];
    s->dual[k] += change;
  }
}

/* Bound on the distance of f from its maximum at the weights, normalised, and a tenth of the mean
 * product of weights and multipliers. */
static double gap_of(const stacking *s, double *ret_total, double *ret_centring)
{
  double total = 0, product = 0, largest = 0;
  for (size_t k = 0; k < s->models; k++) {
    total += s->weight[k];
    product += s->weight[k] * s->dual[k];
    largest = fmax(largest, s->gradient[k]);
  }
  *ret_total = total;
  *ret_centring = 0.1 * product / (double)s->models;
  return fmax(0, (double)s->units * (largest * total - 1));
}

/* Iterate until the gap is below the tolerance; weight receives the weights of the least gap. */
static void maximise(stacking *s, double tolerance, double *weight, idm_stacking *result)
{
  enum { max_iterations = 200 };
  *result = (idm_stacking){.gap = INFINITY};
  for (size_t k = 0; k < s->models; k++) s->weight[k] = s->dual[k] = 1 / (double)s->models;
  while (result->iterations < max_iterations && result->gap > tolerance) {
    double total, centring;
    differentiate(s);
    const double gap = gap_of(s, &total, &centring);
    for (size_t k = 0; gap < result->gap && k < s->models; k++) weight[k] = s->weight[k] / total;
    result->gap = fmin(result->gap, gap);
    result->iterations++;
    if (!find_step(s, centring)) return;
    take_step(s, centring);
  }
}

static double objective_at(const double *elpd, size_t units, size_t models, const double *weight)
{
  double sum = 0;
  for (size_t i = 0; i < units; i++) {
    idm_log_sum mixture = idm_log_sum_empty;
    for (size_t k = 0; k < models; k++)
      if (weight[k] > 0) idm_log_sum_add(&mixture, log(weight[k]) + elpd[i * models + k]);
    sum += idm_log_sum_value(mixture);
  }
  return sum;
}

static idm_status allocate(stacking *s, idm_error *opt_error)
{
  s->density = idm_new(idm_times(s->units, s->models), sizeof *s->density);
  s->weight = idm_new(idm_times(s->models, s->models + 4), sizeof *s->weight);
  if (!s->density || !s->weight) return idm_fail_memory(opt_error);
  s->dual = s->weight + s->models;
  s->gradient = s->dual + s->models;
  s->step = s->gradient + s->models;
  s->hessian = s->step + s->models;
  return IDM_OK;
}

idm_status idm_stacking_weights(const double *elpd, size_t units, size_t models, double *weight,
                                idm_stacking *ret_stacking, idm_error *opt_error)
{
  static const double tolerance = 1e-10;
  if (!units || !models) return idm_fail(opt_error, IDM_USAGE, "there is nothing to stack");
  stacking s = {.units = units, .models = models};
  idm_status status = allocate(&s, opt_error);
  if (status == IDM_OK) status = read_densities(&s, elpd, opt_error);
  if (status == IDM_OK) {
    maximise(&s, tolerance, weight, ret_stacking);
    ret_stacking->objective = objective_at(elpd, units, models, weight);
    if (!(ret_stacking->gap <= tolerance * (double)units))
      status = idm_fail(opt_error, IDM_NUMERICAL,
                        "stacking weights did not converge: the objective is within %g of its "
                        "maximum",
                        ret_stacking->gap);
  }
  free(s.density);
  free(s.weight);
  return status;
}
