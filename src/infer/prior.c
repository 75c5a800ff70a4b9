/* Prior distributions, and transformations of parameters to R^n.
 *
 * Contents: prior · transform */
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "base/statistics.h"
#include "infer/distribution.h"

/* === prior ================================================================================== */

/* Univariate priors, and the Dirichlet distribution. */

static const double log_two_pi = 1.83787706640934548356;
static const double two_over_pi = 0.63661977236758134308;

/* --- densities ------------------------------------------------------------------------------ */

/* exponent * log(x), and its derivative in x. At x = 0 only the exponent 0 is finite; an unbounded
 * density is treated as outside the support, so that no search ends at the corner. */
static double log_power(double exponent, double x, double *derivative)
{
  *derivative = 0;
  if (exponent == 0) return 0;
  if (!(x > 0)) return -INFINITY;
  *derivative = exponent / x;
  return exponent * log(x);
}

static double normal_log_density(double mean, double sd, double c, double *derivative)
{
  const double z = (c - mean) / sd;
  *derivative = -z / sd;
  return -0.5 * z * z - log(sd) - 0.5 * log_two_pi;
}

static double lognormal_log_density(double mean, double sd, double c, double *derivative)
{
  if (!(c > 0)) return -INFINITY;
  const double at = log(c);
  const double value = normal_log_density(mean, sd, at, derivative) - at;
  *derivative = (*derivative - 1) / c;
  return value;
}

static double exponential_log_density(double rate, double c, double *derivative)
{
  *derivative = -rate;
  return log(rate) - rate * c;
}

static double gamma_log_density(double shape, double rate, double c, double *derivative)
{
  const double power = log_power(shape - 1, c, derivative);
  *derivative -= rate;
  return shape * log(rate) - idm_log_gamma(shape) + power - rate * c;
}

static double beta_log_density(double a, double b, double c, double *derivative)
{
  double left, right;
  const double powers = log_power(a - 1, c, &left) + log_power(b - 1, 1 - c, &right);
  *derivative = left - right;
  return idm_log_gamma(a + b) - idm_log_gamma(a) - idm_log_gamma(b) + powers;
}

/* Log density within the closed support. */
static double inner_log_density(const idm_prior *prior, double c, double *derivative)
{
  const double *argument = prior->argument;
  switch (prior->kind) {
  case IDM_PRIOR_FLAT:
    return 0;
  case IDM_PRIOR_NORMAL:
    return normal_log_density(argument[0], argument[1], c, derivative);
  case IDM_PRIOR_LOGNORMAL:
    return lognormal_log_density(argument[0], argument[1], c, derivative);
  case IDM_PRIOR_HALFNORMAL:
    return log(2) + normal_log_density(0, argument[0], c, derivative);
  case IDM_PRIOR_UNIFORM:
    return -log(argument[1] - argument[0]);
  case IDM_PRIOR_EXPONENTIAL:
    return exponential_log_density(argument[0], c, derivative);
  case IDM_PRIOR_GAMMA:
    return gamma_log_density(argument[0], argument[1], c, derivative);
  case IDM_PRIOR_BETA:
    return beta_log_density(argument[0], argument[1], c, derivative);
  case IDM_PRIOR_DIRICHLET:
    break;
  }
  return NAN;
}

double idm_prior_log_density(const idm_prior *prior, double c, double *opt_derivative)
{
  if (!prior) return NAN;
  double lower, upper, derivative = 0, value = -INFINITY;
  idm_prior_support(prior, &lower, &upper);
  const bool inside = c >= lower && c <= upper;
  if (inside && (isfinite(c) || prior->kind == IDM_PRIOR_FLAT))
    value = inner_log_density(prior, c, &derivative);
  if (opt_derivative) *opt_derivative = isfinite(value) ? derivative : 0;
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

/* Logarithm of a gamma draw: draws of small shapes underflow, and a ratio of two zeros would be
 * NaN. */
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
  /* Strictly inside the support, where the density is finite, even if a draw was rounded. */
  return idm_clamp_interior(lower, upper, raw_draw(prior, random));
}

/* --- Dirichlet ------------------------------------------------------------------------------ */

double idm_dirichlet_log_density(size_t count, const double *concentration, const double *p,
                                 double *opt_derivative)
{
  if (!concentration || !p) return NAN;
  double total = 0, value = 0;
  for (size_t i = 0; i < count; i++) {
    double derivative;
    total += concentration[i];
    value += log_power(concentration[i] - 1, p[i], &derivative) - idm_log_gamma(concentration[i]);
    if (opt_derivative) opt_derivative[i] = derivative;
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

/* === transform ============================================================================== */

/* Scales of values, and transformations of constrained numbers and distributions to R^n. */

/* --- scales --------------------------------------------------------------------------------- */

double idm_scale_transform(idm_scale scale, double value)
{
  switch (scale) {
  case IDM_SCALE_IDENTITY:
    return value;
  case IDM_SCALE_LOG:
    return log(value);
  case IDM_SCALE_INVERSE:
    return 1 / value; /* infinities become signed zeros, and back */
  case IDM_SCALE_SIGNED_LOG:
    return copysign(log1p(fabs(value)), value);
  case IDM_SCALE_LOGIT:
    return log(value) - log1p(-value);
  }
  return NAN;
}

double idm_scale_inverse(idm_scale scale, double coordinate)
{
  switch (scale) {
  case IDM_SCALE_IDENTITY:
    return coordinate;
  case IDM_SCALE_LOG:
    return exp(coordinate);
  case IDM_SCALE_INVERSE:
    return 1 / coordinate;
  case IDM_SCALE_SIGNED_LOG:
    return copysign(expm1(fabs(coordinate)), coordinate);
  case IDM_SCALE_LOGIT: /* in both branches the exponential is at most 1 */
    return coordinate < 0 ? exp(coordinate) / (1 + exp(coordinate)) : 1 / (1 + exp(-coordinate));
  }
  return NAN;
}

/* --- intervals ------------------------------------------------------------------------------ */

/* A value, its derivative, the logarithm of the absolute derivative, and the derivative of that. */
typedef struct mapped_point {
  double c;
  double derivative;
  double log_jacobian;
  double log_jacobian_grad;
} mapped_point;

static mapped_point logistic_point(double lower, double upper, double y)
{
  /* Computed from the nearer end, so that the distance to it keeps its relative accuracy. */
  const double small = exp(-fabs(y));
  const double share = small / (1 + small);
  const double width = upper - lower;
  return (mapped_point){.c = y < 0 ? lower + width * share : upper - width * share,
                        .derivative = width * share / (1 + small),
                        .log_jacobian = log(width) - fabs(y) - 2 * log1p(small),
                        .log_jacobian_grad = -tanh(0.5 * y)};
}

static mapped_point map_point(double lower, double upper, double y)
{
  if (isinf(lower) && isinf(upper)) return (mapped_point){.c = y, .derivative = 1};
  if (isinf(upper))
    return (mapped_point){
        .c = lower + exp(y), .derivative = exp(y), .log_jacobian = y, .log_jacobian_grad = 1};
  if (isinf(lower))
    return (mapped_point){
        .c = upper - exp(-y), .derivative = exp(-y), .log_jacobian = -y, .log_jacobian_grad = -1};
  return logistic_point(lower, upper, y);
}

double idm_constrain(double lower, double upper, double y, double *opt_derivative,
                     double *opt_log_jacobian, double *opt_log_jacobian_grad)
{
  const mapped_point at = map_point(lower, upper, y);
  if (opt_derivative) *opt_derivative = at.derivative;
  if (opt_log_jacobian) *opt_log_jacobian = at.log_jacobian;
  if (opt_log_jacobian_grad) *opt_log_jacobian_grad = at.log_jacobian_grad;
  /* Strictly inside, even if rounding reached an end, where a density need not be finite. */
  return idm_clamp_interior(lower, upper, at.c);
}

double idm_unconstrain(double lower, double upper, double c)
{
  if (isinf(lower) && isinf(upper)) return c;
  if (isinf(upper)) return log(c - lower);
  if (isinf(lower)) return -log(upper - c);
  return log(c - lower) - log(upper - c);
}

/* --- distributions -------------------------------------------------------------------------- */

/* Stick-breaking (Stan Reference Manual, "Unit simplex"): outcome i takes the fraction z_i =
 * logistic(u_i) of the remaining probability, u_i = y_i - log(number of outcomes after it), so that
 * y = 0 is uniform. */
typedef struct simplex_split {
  double share;              /* z */
  double remainder;          /* 1 - z */
  double log_split_jacobian; /* log z + log(1 - z) */
  double log_remainder;      /* log(1 - z) */
} simplex_split;

static simplex_split split_remainder(size_t after, double y)
{
  const double u = y - log((double)after);
  const double small = exp(-fabs(u));
  const double less = small / (1 + small), more = 1 / (1 + small);
  const double log_more = -log1p(small), log_less = log_more - fabs(u);
  return u < 0 ? (simplex_split){less, more, log_less + log_more, log_more}
               : (simplex_split){more, less, log_less + log_more, log_less};
}

double idm_simplex_constrain(size_t count, const double *y, double *p)
{
  if (!y || !p) return NAN;
  double left = 1, log_left = 0, log_jacobian = 0;
  for (size_t i = 0; i + 1 < count; i++) {
    const simplex_split s = split_remainder(count - 1 - i, y[i]);
    p[i] = left * s.share;
    log_jacobian += s.log_split_jacobian + log_left;
    left *= s.remainder;
    log_left += s.log_remainder;
  }
  if (count > 0) p[count - 1] = left;
  return log_jacobian;
}

void idm_simplex_unconstrain(size_t count, const double *p, double *y)
{
  if (!p || !y) return;
  double after = count > 0 ? p[count - 1] : 0;
  for (size_t i = count > 0 ? count - 1 : 0; i-- > 0;) {
    y[i] = log(p[i]) - log(after) + log((double)(count - 1 - i));
    after += p[i];
  }
}

void idm_simplex_backward(size_t count, const double *y, const double *gradient_p,
                          double *derivative)
{
  if (!y || !gradient_p || !derivative) return;
  if (count < 2) return;
  double left = 1;
  for (size_t i = 0; i + 1 < count; i++) {
    const simplex_split s = split_remainder(count - 1 - i, y[i]);
    derivative[i] = left * s.share; /* p_i, for the reverse pass */
    left *= s.remainder;
  }
  /* dp_i/dy_i = p_i (1 - z_i) and dp_j/dy_i = -p_j z_i for later j; of the log Jacobian, z_i and
   * 1 - z_i give 1 - 2 z_i, and each later outcome but the last -z_i. */
  double after = left * gradient_p[count - 1];
  for (size_t i = count - 1; i-- > 0;) {
    const simplex_split s = split_remainder(count - 1 - i, y[i]);
    const double weighted_gradient = derivative[i] * gradient_p[i];
    derivative[i] =
        s.remainder * weighted_gradient - s.share * after + 1 - s.share * (double)(count - i);
    after += weighted_gradient;
  }
}
