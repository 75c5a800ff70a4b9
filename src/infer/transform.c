/* Coordinates: scales of values, and constrained numbers and distributions as functions of R^n. */
#include "idm/transform.h"

#include <math.h>

#include "infer/distribution.h"

/* --- scales --------------------------------------------------------------------------------- */

double idm_scale_to(idm_scale scale, double value)
{
  switch (scale) {
  case IDM_SCALE_IDENTITY:
    return value;
  case IDM_SCALE_LOG:
    return log(value);
  case IDM_SCALE_INVERSE:
    return 1 / value; /* infinities become zeros of their sign, and back */
  case IDM_SCALE_SIGNED_LOG:
    return copysign(log1p(fabs(value)), value);
  case IDM_SCALE_LOGIT:
    return log(value) - log1p(-value);
  }
  return NAN;
}

double idm_scale_from(idm_scale scale, double coordinate)
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
  case IDM_SCALE_LOGIT: /* either way no more than 1 is divided by */
    return coordinate < 0 ? exp(coordinate) / (1 + exp(coordinate)) : 1 / (1 + exp(-coordinate));
  }
  return NAN;
}

/* --- intervals ------------------------------------------------------------------------------ */

/* A point, its slope, the logarithm of the slope's size, and the derivative of that. */
typedef struct point {
  double c;
  double slope;
  double log_slope;
  double log_slope_slope;
} point;

static point logistic_point(double lower, double upper, double y)
{
  /* From the nearer end, so that the distance to it keeps its digits. */
  const double small = exp(-fabs(y));
  const double share = small / (1 + small);
  const double width = upper - lower;
  return (point){.c = y < 0 ? lower + width * share : upper - width * share,
                 .slope = width * share / (1 + small),
                 .log_slope = log(width) - fabs(y) - 2 * log1p(small),
                 .log_slope_slope = -tanh(0.5 * y)};
}

static point point_of(double lower, double upper, double y)
{
  if (isinf(lower) && isinf(upper)) return (point){.c = y, .slope = 1};
  if (isinf(upper))
    return (point){.c = lower + exp(y), .slope = exp(y), .log_slope = y, .log_slope_slope = 1};
  if (isinf(lower))
    return (point){.c = upper - exp(y), .slope = -exp(y), .log_slope = y, .log_slope_slope = 1};
  return logistic_point(lower, upper, y);
}

double idm_constrain(double lower, double upper, double y, double *opt_slope, double *opt_log_slope,
                     double *opt_log_slope_slope)
{
  const point at = point_of(lower, upper, y);
  if (opt_slope) *opt_slope = at.slope;
  if (opt_log_slope) *opt_log_slope = at.log_slope;
  if (opt_log_slope_slope) *opt_log_slope_slope = at.log_slope_slope;
  /* Strictly inside, also where rounding reached an end: a density need not be finite there. */
  return idm_inside(lower, upper, at.c);
}

double idm_unconstrain(double lower, double upper, double c)
{
  if (isinf(lower) && isinf(upper)) return c;
  if (isinf(upper)) return log(c - lower);
  if (isinf(lower)) return log(upper - c);
  return log(c - lower) - log(upper - c);
}

/* --- distributions -------------------------------------------------------------------------- */

/* Stick-breaking (Stan Reference Manual, "Unit simplex"): outcome i takes the share z_i =
 * logistic(u_i) of what outcomes before it left, u_i = y_i - log(outcomes after it), so that y = 0
 * is uniform. */
typedef struct stick {
  double share;      /* z */
  double rest;       /* 1 - z */
  double log_spread; /* log z + log(1 - z) */
  double log_rest;   /* log(1 - z) */
} stick;

static stick break_stick(size_t after, double y)
{
  const double u = y - log((double)after);
  const double small = exp(-fabs(u));
  const double less = small / (1 + small), more = 1 / (1 + small);
  const double log_more = -log1p(small), log_less = log_more - fabs(u);
  return u < 0 ? (stick){less, more, log_less + log_more, log_more}
               : (stick){more, less, log_less + log_more, log_less};
}

double idm_simplex_constrain(size_t count, const double *y, double *p)
{
  if (!y || !p) return NAN;
  double left = 1, log_left = 0, log_jacobian = 0;
  for (size_t i = 0; i + 1 < count; i++) {
    const stick s = break_stick(count - 1 - i, y[i]);
    p[i] = left * s.share;
    log_jacobian += s.log_spread + log_left;
    left *= s.rest;
    log_left += s.log_rest;
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

void idm_simplex_pull(size_t count, const double *y, const double *slope_p, double *slope)
{
  if (!y || !slope_p || !slope) return;
  if (count < 2) return;
  double left = 1;
  for (size_t i = 0; i + 1 < count; i++) {
    const stick s = break_stick(count - 1 - i, y[i]);
    slope[i] = left * s.share; /* p_i, for the way back */
    left *= s.rest;
  }
  /* dp_i/dy_i = p_i (1 - z_i) and dp_j/dy_i = -p_j z_i for later j; of the log Jacobian, z_i and
   * 1 - z_i give 1 - 2 z_i, and each later outcome but the last -z_i. */
  double after = left * slope_p[count - 1];
  for (size_t i = count - 1; i-- > 0;) {
    const stick s = break_stick(count - 1 - i, y[i]);
    const double here = slope[i] * slope_p[i];
    slope[i] = s.rest * here - s.share * after + 1 - s.share * (double)(count - i);
    after += here;
  }
}
