/* Means, variances and covariances: see the header. */
#include "base/moments.h"

#include <math.h>
#include <string.h>

/* --- numbers -------------------------------------------------------------------------------- */

double idm_mean(const double *x, size_t count)
{
  if (count == 0) return NAN;
  const double shift = isfinite(x[0]) ? x[0] : 0;
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += x[i] - shift;
  return shift + sum / (double)count;
}

double idm_squares_about(const double *x, size_t count, double centre)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += (x[i] - centre) * (x[i] - centre);
  return sum;
}

void idm_welford_add(idm_welford *w, double x)
{
  const double step = x - w->mean;
  w->mean += step / (double)++w->count;
  w->squares += step * (x - w->mean);
}

double idm_welford_variance(const idm_welford *w)
{
  return w->count > 1 ? w->squares / (double)(w->count - 1) : NAN;
}

idm_moments idm_moments_of(const double *x, size_t count)
{
  idm_welford w = {0};
  for (size_t i = 0; i < count; i++) idm_welford_add(&w, x[i]);
  return (idm_moments){count ? w.mean : NAN, idm_welford_variance(&w)};
}

/* --- weighted numbers ----------------------------------------------------------------------- */

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

/* --- points --------------------------------------------------------------------------------- */

static double weight_of(const idm_points *p, size_t i)
{
  return p->opt_weight ? p->opt_weight[i] : 1;
}

/* Means into mean[dimension]; returns the sum of the weights. */
static double find_means(const idm_points *p, double *mean)
{
  double total = 0;
  memset(mean, 0, p->dimension * sizeof *mean);
  for (size_t i = 0; i < p->count; i++) {
    const double weight = weight_of(p, i);
    total += weight;
    if (weight == 0) continue;
    for (size_t k = 0; k < p->dimension; k++)
      mean[k] += weight * p->x[i * p->next_point + k * p->next_number];
  }
  for (size_t k = 0; k < p->dimension; k++) mean[k] /= total;
  return total;
}

void idm_covariance(const idm_points *points, double lost, double *mean, double *covariance)
{
  const idm_points *p = points;
  const size_t d = p->dimension;
  const double total = find_means(p, mean);
  memset(covariance, 0, d * d * sizeof *covariance);
  for (size_t i = 0; i < p->count; i++) {
    const double weight = weight_of(p, i);
    const double *x = p->x + i * p->next_point;
    if (weight == 0) continue;
    for (size_t k = 0; k < d; k++) {
      const double off = weight * (x[k * p->next_number] - mean[k]);
      for (size_t j = 0; j <= k; j++)
        covariance[k * d + j] += off * (x[j * p->next_number] - mean[j]);
    }
  }
  for (size_t k = 0; k < d; k++)
    for (size_t j = 0; j <= k; j++)
      covariance[j * d + k] = covariance[k * d + j] = covariance[k * d + j] / (total - lost);
}
