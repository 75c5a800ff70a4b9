/* How heavy a tail is: the shape of the generalised Pareto distribution that fits the largest of
 * some numbers (Zhang and Stephens 2009, with the prior of Vehtari, Simpson, Gelman, Yao and Gabry
 * 2024). */
#include "idm/pareto.h"

#include <math.h>
#include <stdlib.h>

#include "base/door.h"
#include "base/log_sum.h"
#include "base/memory.h"
#include "base/moments.h"
#include "base/quantile.h"

/* Shape at a rate theta: the mean of log(1 - theta x). */
static double shape_at(double theta, const double *excess, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += log1p(-theta * excess[i]);
  return sum / (double)count;
}

/* The posterior mean of theta over a grid of `rates`, weighted by the profile likelihood. */
static double mean_rate(const double *excess, size_t count, size_t rates, double *rate,
                        double *weight)
{
  const double quartile = excess[(size_t)((double)count / 4 + 0.5) - 1];
  for (size_t j = 0; j < rates; j++) {
    rate[j] =
        1 / excess[count - 1] + (1 - sqrt((double)rates / ((double)j + 0.5))) / (3 * quartile);
    const double shape = shape_at(rate[j], excess, count);
    const double likelihood = (double)count * (log(-rate[j] / shape) - shape - 1);
    weight[j] = isnan(likelihood) ? -INFINITY : likelihood;
  }
  idm_softmax(weight, rates, weight);
  return idm_weighted_mean(rate, weight, rates);
}

static double fit_shape(const double *excess, size_t count, double *scratch, size_t rates)
{
  const double n = (double)count;
  if (!(excess[count - 1] > 0)) return -INFINITY;
  size_t zeros = 0;
  while (!(excess[zeros] > 0)) zeros++;
  if (zeros >= count / 4) return NAN; /* many alike: no tail to speak of */
  const double rate = mean_rate(excess, count, rates, scratch, scratch + rates);
  const double shape = shape_at(rate, excess, count);
  return (shape * n + 0.5 * 10) / (n + 10);
}

idm_status idm_pareto_shape(const double *x, size_t count, double *ret_shape, idm_error *opt_error)
{
  idm_require(x, ret_shape);
  const double most = fmin(0.2 * (double)count, 3 * sqrt((double)count));
  const size_t tail = (size_t)ceil(most);
  const size_t rates = 30 + (size_t)sqrt(most);
  *ret_shape = NAN;
  if (tail < 5) return IDM_OK;
  for (size_t i = 0; i < count; i++)
    if (!isfinite(x[i])) return IDM_OK;
  double *sorted = idm_duplicate(x, count, sizeof *sorted);
  double *scratch = idm_new(2 * rates, sizeof *scratch);
  if (!sorted || !scratch) {
    free(sorted);
    free(scratch);
    return idm_fail_memory(opt_error);
  }
  idm_sort(sorted, count);
  double *excess = sorted + count - tail;
  const double threshold = sorted[count - tail - 1];
  for (size_t i = 0; i < tail; i++) excess[i] -= threshold;
  *ret_shape = fit_shape(excess, tail, scratch, rates);
  free(scratch);
  free(sorted);
  return IDM_OK;
}
