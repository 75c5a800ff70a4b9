/* Parameters of the population: factor of the covariance, prior density under half-normal sds and
 * LKJ correlations (docs/method/people.md, 1 and 2). */
#include "invert/hierarchy/hierarchy.h"

#include <math.h>

#include "base/memory.h"
#include "base/statistics.h"

static const double log_two_pi = 1.8378770664093454836;
static const double log_two = 0.69314718055994530942;

idm_status idm_population_create(const idm_design *design, population *p, idm_error *opt_error)
{
  const size_t q = design->effects;
  const bool uncorrelated = design->independent || design->held || design->fixed;
  *p = (population){
      .effects = q, .pairs = uncorrelated ? 0 : q * (q - 1) / 2, .spreads = design->pooled ? q : 0};
  p->first = idm_new(q + 1, sizeof *p->first);
  if (!p->first) return idm_fail_memory(opt_error);
  for (size_t j = 0; j < q; j++) p->first[j + 1] = p->first[j] + design->coefficients[j];
  p->coefficients = p->first[q];
  p->numbers = p->coefficients + q + p->pairs + p->spreads + q * q;
  p->number = idm_new(p->numbers, sizeof *p->number);
  if (!p->number) {
    idm_population_destroy(p);
    return idm_fail_memory(opt_error);
  }
  p->b = p->number;
  p->root = p->b + p->coefficients;
  p->partial = p->root + q;
  p->spread = p->partial + p->pairs;
  p->factor = p->spread + p->spreads;
  return IDM_OK;
}

void idm_population_destroy(population *p)
{
  free(p->first);
  free(p->number);
  *p = (population){0};
}

void idm_population_assign(population *to, const population *from)
{
  memcpy(to->number, from->number, from->numbers * sizeof *to->number);
}

/* Row j of the correlation's Cholesky factor has length 1; each partial correlation takes its share
 * of what is left. */
void idm_population_set_factor(population *p)
{
  const size_t q = p->effects;
  for (size_t j = 0; j < q; j++) {
    double *row = p->factor + j * q;
    const double sd = fabs(p->root[j]);
    double remaining_sd = sd; /* sd times the root of 1 - sum of squares so far */
    memset(row, 0, q * sizeof *row);
    for (size_t k = 0; k < j && p->pairs; k++) {
      const double y = p->partial[j * (j - 1) / 2 + k];
      row[k] = remaining_sd * tanh(y);
      remaining_sd /= cosh(y);
    }
    row[j] = remaining_sd;
  }
}

double idm_population_log_det(const population *p)
{
  double sum = 0;
  for (size_t j = 0; j < p->effects; j++) sum += log(p->factor[j * p->effects + j]);
  return sum;
}

void idm_population_correlations(const population *p, double *correlation)
{
  const size_t q = p->effects;
  for (size_t j = 0; j < q && p->pairs; j++)
    for (size_t k = 0; k < j; k++) {
      double sum = 0;
      for (size_t l = 0; l <= k; l++) sum += p->factor[j * q + l] * p->factor[k * q + l];
      correlation[j * (j - 1) / 2 + k] = sum / fabs(p->root[j]) / fabs(p->root[k]);
    }
}

void idm_population_mean(const idm_design *design, const population *p, size_t person, double *mean)
{
  for (size_t j = 0; j < p->effects; j++) {
    const size_t n = design->coefficients[j];
    const double *w = design->regressor[j] + person * n;
    const double *b = p->b + p->first[j];
    double sum = 0;
    for (size_t a = 0; a < n; a++) sum += w[a] * b[a];
    mean[j] = sum;
  }
}

static bool is_pooled(const idm_design *design, size_t j, size_t a)
{
  return a + design->pooled >= design->coefficients[j];
}

double idm_population_coefficient_sd(const idm_design *design, const population *p, size_t j,
                                     size_t a)
{
  return is_pooled(design, j, a) ? fabs(p->spread[j]) : design->coefficient_sd[j][a];
}

void idm_population_set_spread(const idm_design *design, population *p, size_t effect,
                               double spread)
{
  const double ratio = spread / p->spread[effect];
  for (size_t i = 0; i < design->pooled; i++) p->b[p->first[effect + 1] - 1 - i] *= ratio;
  p->spread[effect] = spread;
}

/* log cosh y, without overflow of cosh. */
static double log_cosh(double y)
{
  return idm_log_add_exp(y, -y) - log_two;
}

double idm_population_pair_shape(const idm_design *design, size_t k)
{
  return design->correlation + 0.5 * (double)(design->effects - 2 - k);
}

double idm_population_log_prior(const idm_design *design, const population *p)
{
  double sum = 0;
  for (size_t j = 0; j < p->effects; j++) {
    for (size_t a = 0; a < design->coefficients[j]; a++) {
      const double t = (p->b[p->first[j] + a] - design->coefficient_mean[j][a]) /
                       idm_population_coefficient_sd(design, p, j, a);
      sum -= 0.5 * t * t;
    }
    const double t = design->fixed ? 0 : p->root[j] / design->sd_scale[j];
    const double s = p->spreads ? p->spread[j] / design->spread_scale[j] : 0;
    sum -= 0.5 * t * t + 0.5 * s * s;
    /* (1 - p^2)^(shape - 1), times the derivative 1 - p^2 of tanh; 1 - tanh^2 = 1 / cosh^2. */
    for (size_t k = 0; k < j && p->pairs; k++)
      sum -= 2 * idm_population_pair_shape(design, k) * log_cosh(p->partial[j * (j - 1) / 2 + k]);
  }
  return sum;
}

/* Log of the integral of det(C)^(shape - 1) over correlation matrices (Lewandowski et al. 2009, eq.
 * 16). */
static double lkj_log_mass(const idm_design *design)
{
  double sum = 0;
  for (size_t k = 0; k + 1 < design->effects; k++) {
    const double a = idm_population_pair_shape(design, k);
    const double log_beta = 2 * lgamma(a) - lgamma(2 * a);
    const double pair_count = (double)(design->effects - 1 - k);
    sum += pair_count * (log_beta + (2 * a - 1) * log_two);
  }
  return sum;
}

/* Log density of a half-normal distribution at |x|. */
static double half_normal(double x, double scale)
{
  const double t = x / scale;
  return log_two - 0.5 * t * t - log(scale) - 0.5 * log_two_pi;
}

double idm_population_log_density(const idm_design *design, const population *p)
{
  double sum = 0;
  for (size_t j = 0; j < p->effects; j++) {
    for (size_t a = 0; a < design->coefficients[j]; a++) {
      const double sd = idm_population_coefficient_sd(design, p, j, a);
      const double t = (p->b[p->first[j] + a] - design->coefficient_mean[j][a]) / sd;
      sum -= 0.5 * t * t + log(sd) + 0.5 * log_two_pi;
    }
    if (!design->fixed) sum += half_normal(p->root[j], design->sd_scale[j]);
    if (p->spreads) sum += half_normal(p->spread[j], design->spread_scale[j]);
    /* det C is the product of 1 - p^2. */
    for (size_t k = 0; k < j && p->pairs; k++)
      sum -= 2 * (design->correlation - 1) * log_cosh(p->partial[j * (j - 1) / 2 + k]);
  }
  return p->pairs ? sum - lkj_log_mass(design) : sum;
}
