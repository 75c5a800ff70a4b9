/* Means, variances and weighted moments: see the header. */
#include "base/moments.h"

#include <math.h>

idm_moments idm_moments_of(const double *x, size_t count)
{
  double mean = 0;
  double square = 0;
  for (size_t i = 0; i < count; i++) {
    const double step = x[i] - mean;
    mean += step / (double)(i + 1);
    square += step * (x[i] - mean);
  }
  return (idm_moments){mean, count > 1 ? square / (double)(count - 1) : NAN};
}

static double sum_of(const double *x, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += x[i];
  return sum;
}

double idm_weighted_mean(const double *x, const double *weight, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += weight[i] * x[i];
  return sum / sum_of(weight, count);
}

double idm_effective_size(const double *weight, size_t count)
{
  const double sum = sum_of(weight, count);
  double square = 0;
  if (!(sum > 0 && isfinite(sum))) return 0;
  for (size_t i = 0; i < count; i++) square += weight[i] / sum * (weight[i] / sum);
  return 1 / square;
}
