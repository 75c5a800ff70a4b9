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
IDM_API double idm_scale_transform(idm_scale scale, double value);
IDM_API double idm_scale_inverse(idm_scale scale, double coordinate);

/* A number c in (lower, upper), either end may be infinite, as a function of y in R: identity, an
 * exponential, or a logistic. `opt_derivative` is dc/dy, `opt_log_jacobian` its logarithm, and
 * opt_log_jacobian_grad the derivative of that. */
IDM_API double idm_constrain(double lower, double upper, double y, double *opt_derivative,
                             double *opt_log_jacobian, double *opt_log_jacobian_grad);
IDM_API double idm_unconstrain(double lower, double upper, double c);

/* A distribution over `count` outcomes as a function of count - 1 numbers, by stick-breaking as in
 * Stan's reference manual; returns the log Jacobian. */
IDM_API double idm_simplex_constrain(size_t count, const double *y, double *p);
IDM_API void idm_simplex_unconstrain(size_t count, const double *p, double *y);
/* slope[count - 1] = d/dy (f(p(y)) + log Jacobian), given df/dp [count]. */
IDM_API void idm_simplex_backward(size_t count, const double *y, const double *gradient_p,
                                  double *gradient);

#ifdef __cplusplus
}
#endif
#endif
