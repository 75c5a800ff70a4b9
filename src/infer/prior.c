/* Priors of one number, and the Dirichlet. */
#include "idm/prior.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "base/gamma.h"
#include "base/log_sum.h"
#include "infer/distribution.h"

static const double log_two_pi = 1.83787706640934548356;
static const double two_over_pi = 0.63661977236758134308;

/* --- densities ------------------------------------------------------------------------------ */

/* exponent * log(x), and its slope in x. At x = 0 only the exponent 0 is finite; a density that
 * grows without bound there is counted as outside, so that no search ends at the corner. */
static double log_power(double exponent, double x, double *slope)
{
  *slope = 0;
  if (exponent == 0) return 0;
  if (!(x > 0)) return -INFINITY;
  *slope = exponent / x;
  return exponent * log(x);
}

static double normal_log_density(double mean, double sd, double c, double *slope)
{
  const double z = (c - mean) / sd;
  *slope = -z / sd;
  return -0.5 * z * z - log(sd) - 0.5 * log_two_pi;
}

static double lognormal_log_density(double mean, double sd, double c, double *slope)
{
  if (!(c > 0)) return -INFINITY;
  const double at = log(c);
  const double value = normal_log_density(mean, sd, at, slope) - at;
  *slope = (*slope - 1) / c;
  return value;
}

static double exponential_log_density(double rate, double c, double *slope)
{
  *slope = -rate;
  return log(rate) - rate * c;
}

static double gamma_log_density(double shape, double rate, double c, double *slope)
{
  const double power = log_power(shape - 1, c, slope);
  *slope -= rate;
  return shape * log(rate) - idm_log_gamma(shape) + power - rate * c;
}

static double beta_log_density(double a, double b, double c, double *slope)
{
  double left, right;
  const double powers = log_power(a - 1, c, &left) + log_power(b - 1, 1 - c, &right);
  *slope = left - right;
  return idm_log_gamma(a + b) - idm_log_gamma(a) - idm_log_gamma(b) + powers;
}

/* The density within the closed support. */
static double inner_log_density(const idm_prior *prior, double c, double *slope)
{
  const double *argument = prior->argument;
  switch (prior->kind) {
  case IDM_PRIOR_FLAT:
    return 0;
  case IDM_PRIOR_NORMAL:
    return normal_log_density(argument[0], argument[1], c, slope);
  case IDM_PRIOR_LOGNORMAL:
    return lognormal_log_density(argument[0], argument[1], c, slope);
  case IDM_PRIOR_HALFNORMAL:
    return log(2) + normal_log_density(0, argument[0], c, slope);
  case IDM_PRIOR_UNIFORM:
    return -log(argument[1] - argument[0]);
  case IDM_PRIOR_EXPONENTIAL:
    return exponential_log_density(argument[0], c, slope);
  case IDM_PRIOR_GAMMA:
    return gamma_log_density(argument[0], argument[1], c, slope);
  case IDM_PRIOR_BETA:
    return beta_log_density(argument[0], argument[1], c, slope);
  case IDM_PRIOR_DIRICHLET:
    break;
  }
  return NAN;
}

double idm_prior_log_density(const idm_prior *prior, double c, double *opt_slope)
{
  if (!prior) return NAN;
  double lower, upper, slope = 0, value = -INFINITY;
  idm_prior_support(prior, &lower, &upper);
  const bool inside = c >= lower && c <= upper;
  if (inside && (isfinite(c) || prior->kind == IDM_PRIOR_FLAT))
    value = inner_log_density(prior, c, &slope);
  if (opt_slope) *opt_slope = isfinite(value) ? slope : 0;
  return value;
}

/* --- support and moments -------------------------------------------------------------------- */

void idm_prior_support(const idm_prior *prior, double *lower, double *upper)
{
  if (!prior || !lower || !upper) return;
  *lower = 0;
  *upper = INFINITY;
  switch (prior->kind) {
  case IDM_PRIOR_FLAT:
  case IDM_PRIOR_NORMAL:
    *lower = -INFINITY;
    break;
  case IDM_PRIOR_LOGNORMAL:
  case IDM_PRIOR_HALFNORMAL:
  case IDM_PRIOR_EXPONENTIAL:
  case IDM_PRIOR_GAMMA:
    break;
  case IDM_PRIOR_UNIFORM:
    *lower = prior->argument[0];
    *upper = prior->argument[1];
    break;
  case IDM_PRIOR_BETA:
  case IDM_PRIOR_DIRICHLET:
    *upper = 1;
    break;
  }
}

double idm_prior_mean(const idm_prior *prior)
{
  if (!prior) return NAN;
  const double *argument = prior->argument;
  switch (prior->kind) {
  case IDM_PRIOR_NORMAL:
    return argument[0];
  case IDM_PRIOR_LOGNORMAL:
    return exp(argument[0] + 0.5 * argument[1] * argument[1]);
  case IDM_PRIOR_HALFNORMAL:
    return argument[0] * sqrt(two_over_pi);
  case IDM_PRIOR_UNIFORM:
    return 0.5 * (argument[0] + argument[1]);
  case IDM_PRIOR_EXPONENTIAL:
    return 1 / argument[0];
  case IDM_PRIOR_GAMMA:
    return argument[0] / argument[1];
  case IDM_PRIOR_BETA:
    return argument[0] / (argument[0] + argument[1]);
  case IDM_PRIOR_FLAT:
  case IDM_PRIOR_DIRICHLET:
    break;
  }
  return NAN;
}

static double beta_sd(double a, double b)
{
  const double total = a + b;
  return sqrt(a / total * (b / total) / (total + 1));
}

double idm_prior_sd(const idm_prior *prior)
{
  if (!prior) return NAN;
  const double *argument = prior->argument;
  switch (prior->kind) {
  case IDM_PRIOR_FLAT:
    return INFINITY;
  case IDM_PRIOR_NORMAL:
    return argument[1];
  case IDM_PRIOR_LOGNORMAL:
    return idm_prior_mean(prior) * sqrt(expm1(argument[1] * argument[1]));
  case IDM_PRIOR_HALFNORMAL:
    return argument[0] * sqrt(1 - two_over_pi);
  case IDM_PRIOR_UNIFORM:
    return (argument[1] - argument[0]) / sqrt(12);
  case IDM_PRIOR_EXPONENTIAL:
    return 1 / argument[0];
  case IDM_PRIOR_GAMMA:
    return sqrt(argument[0]) / argument[1];
  case IDM_PRIOR_BETA:
    return beta_sd(argument[0], argument[1]);
  case IDM_PRIOR_DIRICHLET:
    break;
  }
  return NAN;
}

/* --- draws ---------------------------------------------------------------------------------- */

/* The logarithm of a gamma draw: those of small shapes underflow, and a share of two zeros would be
 * no number. */
static double log_gamma_draw(idm_random *random, double shape)
{
  if (shape >= 1) return log(idm_random_gamma(random, shape));
  const double above = log(idm_random_gamma(random, shape + 1));
  return above + log(idm_random_uniform(random)) / shape;
}

static double beta_draw(double a, double b, idm_random *random)
{
  const double x = log_gamma_draw(random, a);
  const double y = log_gamma_draw(random, b);
  return 1 / (1 + exp(y - x));
}

static double raw_draw(const idm_prior *prior, idm_random *random)
{
  const double *argument = prior->argument;
  switch (prior->kind) {
  case IDM_PRIOR_NORMAL:
    return argument[0] + argument[1] * idm_random_normal(random);
  case IDM_PRIOR_LOGNORMAL:
    return exp(argument[0] + argument[1] * idm_random_normal(random));
  case IDM_PRIOR_HALFNORMAL:
    return argument[0] * fabs(idm_random_normal(random));
  case IDM_PRIOR_UNIFORM:
    return argument[0] + (argument[1] - argument[0]) * idm_random_uniform(random);
  case IDM_PRIOR_EXPONENTIAL:
    return -log(idm_random_uniform(random)) / argument[0];
  case IDM_PRIOR_GAMMA:
    return exp(log_gamma_draw(random, argument[0])) / argument[1];
  case IDM_PRIOR_BETA:
    return beta_draw(argument[0], argument[1], random);
  case IDM_PRIOR_FLAT:
  case IDM_PRIOR_DIRICHLET:
    break;
  }
  return NAN;
}

double idm_prior_draw(const idm_prior *prior, idm_random *random)
{
  if (!prior || !random) return NAN;
  double lower, upper;
  idm_prior_support(prior, &lower, &upper);
  /* Strictly inside, where the density is finite, also where a draw was rounded to an end. */
  return idm_inside(lower, upper, raw_draw(prior, random));
}

/* --- Dirichlet ------------------------------------------------------------------------------ */

double idm_dirichlet_log_density(size_t count, const double *concentration, const double *p,
                                 double *opt_slope)
{
  if (!concentration || !p) return NAN;
  double total = 0, value = 0;
  for (size_t i = 0; i < count; i++) {
    double slope;
    total += concentration[i];
    value += log_power(concentration[i] - 1, p[i], &slope) - idm_log_gamma(concentration[i]);
    if (opt_slope) opt_slope[i] = slope;
  }
  return value + idm_log_gamma(total);
}

void idm_dirichlet_draw(size_t count, const double *concentration, idm_random *random, double *p)
{
  if (!concentration || !random || !p) return;
  for (size_t i = 0; i < count; i++) p[i] = log_gamma_draw(random, concentration[i]);
  idm_softmax(p, count, p);
  for (size_t i = 0; i < count; i++) p[i] = fmax(p[i], DBL_MIN);
}
