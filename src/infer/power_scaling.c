/* Sensitivity of a posterior to power scaling of its prior or likelihood (Kallioinen, Paananen,
 * Buerkner and Vehtari 2024), as in arviz-stats 1.3. See docs/method/comparison.md, 6. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "infer/approximation.h"
#include "infer/chains.h"
#include "infer/comparison.h"

/* --- weights --------------------------------------------------------------------------------- */

/* Number of smoothed ratios. The efficiency is that of the tails of the log densities, taken as one
 * chain. */
static idm_status find_tail(const double *log_density, size_t count, size_t *ret_tail,
                            idm_error *opt_error)
{
  idm_diagnosis d;
  const idm_status status = idm_diagnose(log_density, 1, count, 0, 1, &d, opt_error);
  if (status == IDM_OK)
    *ret_tail = idm_pareto_tail(count, d.ess_tail / (double)(count - count % 2));
  return status;
}

static idm_status check_densities(const double *log_density, size_t count, idm_error *opt_error)
{
  if (!count) return idm_fail(opt_error, IDM_USAGE, "there is no draw to weight");
  for (size_t i = 0; i < count; i++)
    if (!isfinite(log_density[i]))
      return idm_fail(opt_error, IDM_INPUT, "draw %zu has log density %g; expected a finite number",
                      i + 1, log_density[i]);
  return IDM_OK;
}

idm_status idm_power_weights(const double *log_density, size_t count, double power, double *weight,
                             idm_error *opt_error)
{
  size_t tail;
  double shape;
  idm_status status = check_densities(log_density, count, opt_error);
  if (status == IDM_OK) status = find_tail(log_density, count, &tail, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < count; i++) weight[i] = (power - 1) * log_density[i];
  status = idm_psis(weight, count, tail, weight, &shape, opt_error);
  for (size_t i = 0; status == IDM_OK && i < count; i++) weight[i] = exp(weight[i]);
  return status;
}

/* --- distance -------------------------------------------------------------------------------- */

/* p log2(p / m) - (p - m) / log 2, which is not negative, for the mean m of p and q. */
static double divergence(double p, double q)
{
  const double mean = 0.5 * (p + q);
  return p > 0 ? (p * log(p / mean) - (p - mean)) / log(2) : mean / log(2);
}

/* Distance of the distribution functions of the draws in this order: [p] with equal weights, [q]
 * with `weight`. `sign` -1 reverses the order. */
static double distance_of(const idm_indexed *order, const double *weight, size_t count, int sign)
{
  double q = 0, sum = 0, bound = 0, total = 0;
  for (size_t i = 0; i < count; i++) total += weight[i];
  for (size_t i = 0; i + 1 < count; i++) {
    const size_t at = sign > 0 ? i : count - 1 - i;
    const size_t next = sign > 0 ? i + 1 : at - 1;
    const double width = fabs(order[next].value - order[at].value);
    const double p = (double)(i + 1) / (double)count;
    q += weight[order[at].index] / total;
    sum += width * (divergence(p, q) + divergence(q, p));
    bound += width * (p + q);
  }
  return bound > 0 ? sqrt(fmax(0, sum) / bound) : 0;
}

static idm_status check_weights(const double *x, const double *weight, size_t count,
                                idm_error *opt_error)
{
  double total = 0;
  if (!count) return idm_fail(opt_error, IDM_USAGE, "there is no draw to compare");
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(x[i]) || !(weight[i] >= 0 && isfinite(weight[i])))
      return idm_fail(opt_error, IDM_INPUT, "draw %zu is %g with weight %g", i + 1, x[i],
                      weight[i]);
    total += weight[i];
  }
  return total > 0 ? IDM_OK : idm_fail(opt_error, IDM_INPUT, "the weights of all draws are 0");
}

idm_status idm_cumulative_distance(const double *x, const double *weight, size_t count,
                                   double *ret_distance, idm_error *opt_error)
{
  const idm_status status = check_weights(x, weight, count, opt_error);
  if (status != IDM_OK) return status;
  idm_indexed *order = idm_sort_order(x, count);
  if (!order) return idm_fail_memory(opt_error);
  *ret_distance = fmax(distance_of(order, weight, count, 1), distance_of(order, weight, count, -1));
  free(order);
  return IDM_OK;
}

/* --- sensitivity ----------------------------------------------------------------------------- */

idm_status idm_power_sensitivity(const double *log_density, const double *quantity, size_t count,
                                 double *ret_sensitivity, idm_error *opt_error)
{
  static const double power[2] = {0.99, 1.01};
  double *weight = idm_new(count, sizeof *weight);
  double sum = 0;
  idm_status status = weight ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < 2 && status == IDM_OK; i++) {
    double distance;
    status = idm_power_weights(log_density, count, power[i], weight, opt_error);
    if (status == IDM_OK)
      status = idm_cumulative_distance(quantity, weight, count, &distance, opt_error);
    if (status == IDM_OK) sum += distance / fabs(log2(power[i]));
  }
  *ret_sensitivity = sum / 2;
  free(weight);
  return status;
}
