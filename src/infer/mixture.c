/* Defensive mixtures (Hesterberg 1995): weights target/proposal stay bounded where any component
 * covers the target. */
#include "infer/mixture.h"

#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "base/gamma.h"
#include "base/log_sum.h"
#include "base/memory.h"

static const double degrees = 5;

struct idm_mixture {
  size_t dimension;
  size_t most;
  size_t count;
  idm_broad broad;
  double total;   /* of all weights */
  double *weight; /* [1 + most]: the broad one first */
  double *centre; /* [most][dimension] */
  double *factor; /* [most][dimension][dimension]: Cholesky factors of the spreads */
  double *height; /* [most]: log density at the centre */
};

void idm_mixture_destroy(idm_mixture *m)
{
  if (!m) return;
  free(m->weight);
  free(m->centre);
  free(m->factor);
  free(m->height);
  free(m);
}

idm_status idm_mixture_create(size_t dimension, size_t most, idm_broad broad, double weight,
                              idm_mixture **ret_mixture, idm_error *opt_error)
{
  *ret_mixture = NULL;
  idm_mixture *m = idm_new(1, sizeof *m);
  if (!m) return idm_fail_memory(opt_error);
  *m = (idm_mixture){.dimension = dimension, .most = most, .broad = broad, .total = weight};
  m->weight = idm_new(1 + most, sizeof *m->weight);
  m->centre = idm_new(most * dimension, sizeof *m->centre);
  m->factor = idm_new(most * dimension * dimension, sizeof *m->factor);
  m->height = idm_new(most, sizeof *m->height);
  if (!m->weight || !m->centre || !m->factor || !m->height) {
    idm_mixture_destroy(m);
    return idm_fail_memory(opt_error);
  }
  m->weight[0] = weight;
  *ret_mixture = m;
  return IDM_OK;
}

bool idm_mixture_add(idm_mixture *m, double weight, const double *centre, const double *spread)
{
  static const double log_pi = 1.14472988584940017414;
  const size_t d = m->dimension;
  if (m->count == m->most || !(weight > 0)) return false;
  double *factor = m->factor + m->count * d * d;
  for (size_t i = 0; i < d * d; i++) {
    if (!isfinite(spread[i])) return false;
    factor[i] = spread[i];
  }
  if (!idm_cholesky(d, factor)) return false;
  double height = idm_log_gamma(0.5 * (degrees + (double)d)) - idm_log_gamma(0.5 * degrees) -
                  0.5 * (double)d * (log(degrees) + log_pi);
  for (size_t i = 0; i < d; i++) height -= log(factor[i * d + i]);
  memcpy(m->centre + m->count * d, centre, d * sizeof *centre);
  m->height[m->count] = height;
  m->weight[++m->count] = weight;
  m->total += weight;
  return true;
}

void idm_mixture_draw(const idm_mixture *m, idm_random *random, double *x)
{
  const size_t d = m->dimension;
  const size_t k = idm_random_choice(random, m->weight, 1 + m->count);
  if (k == 0) {
    m->broad.draw(m->broad.context, random, x);
    return;
  }
  /* A normal over the root of a chi-square by its degrees: 2 gamma(degrees / 2). */
  const double spread = sqrt(degrees / (2 * idm_random_gamma(random, degrees / 2)));
  for (size_t i = 0; i < d; i++) x[i] = spread * idm_random_normal(random);
  idm_lower_multiply(d, m->factor + (k - 1) * d * d, x);
  for (size_t i = 0; i < d; i++) x[i] += m->centre[(k - 1) * d + i];
}

static double log_component(const idm_mixture *m, size_t k, const double *x, double *work)
{
  const size_t d = m->dimension;
  double square = 0;
  for (size_t i = 0; i < d; i++) work[i] = x[i] - m->centre[k * d + i];
  idm_lower_solve(d, m->factor + k * d * d, work);
  for (size_t i = 0; i < d; i++) square += work[i] * work[i];
  return m->height[k] - 0.5 * (degrees + (double)d) * log1p(square / degrees);
}

double idm_mixture_log_density(const idm_mixture *m, const double *x, double *work)
{
  idm_log_sum sum = idm_log_sum_empty;
  for (size_t k = 0; k <= m->count; k++) {
    if (!(m->weight[k] > 0)) continue;
    const double part = log(m->weight[k]) + (k ? log_component(m, k - 1, x, work)
                                               : m->broad.log_density(m->broad.context, x));
    if (!isnan(part)) idm_log_sum_add(&sum, part);
  }
  return idm_log_sum_value(sum) - log(m->total);
}
