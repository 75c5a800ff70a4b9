/* Coordinates: scales of values, and constrained numbers and distributions as functions of R^n. */
#ifndef IDM_TRANSFORM_H
#define IDM_TRANSFORM_H

#include <stddef.h>

#include "idm/status.h"
#include "idm/theta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The coordinate of a scale: identity c = v, log c = log v, inverse c = 1/v, signed-log c =
 * sign(v) log(1 + |v|), logit c = log(v / (1 - v)); and back. */
IDM_API double idm_scale_to(idm_scale scale, double value);
IDM_API double idm_scale_from(idm_scale scale, double coordinate);

/* A number c in (lower, upper), either end may be infinite, as a function of y in R: identity, an
 * exponential, or a logistic. `opt_slope` is dc/dy, `opt_log_slope` its logarithm, and
 * opt_log_slope_slope the derivative of that. */
IDM_API double idm_constrain(double lower, double upper, double y, double *opt_slope,
                             double *opt_log_slope, double *opt_log_slope_slope);
IDM_API double idm_unconstrain(double lower, double upper, double c);

/* A distribution over `count` outcomes as a function of count - 1 numbers, by stick-breaking as in
 * Stan's reference manual; returns the log Jacobian. */
IDM_API double idm_simplex_constrain(size_t count, const double *y, double *p);
IDM_API void idm_simplex_unconstrain(size_t count, const double *p, double *y);
/* slope[count - 1] = d/dy (f(p(y)) + log Jacobian), given df/dp [count]. */
IDM_API void idm_simplex_pull(size_t count, const double *y, const double *slope_p, double *slope);

#ifdef __cplusplus
}
#endif
#endif
