/* Coordinates: scales of parameters, and transformations of constrained numbers and distributions
 * to R^n. See docs/method/inference.md, 1. */
#ifndef IDM_INFER_TRANSFORM_H
#define IDM_INFER_TRANSFORM_H

#include <stddef.h>

#include "base/door.h"
#include "idm/extension/theta.h"
#include "idm/status.h"

/* Coordinate c of a value v on a scale: identity c = v, log c = log v, inverse c = 1/v, signed-log
 * c = sign(v) log(1 + |v|), logit c = log(v / (1 - v)). */
IDM_CHECKED double idm_scale_transform(idm_scale scale, double value);
/* Value of a coordinate on a scale: the inverse of idm_scale_transform. */
IDM_CHECKED double idm_scale_inverse(idm_scale scale, double coordinate);

/* A number c in (lower, upper), whose ends may be infinite, as a function of y in R: identity,
 * exponential or logistic. opt_derivative receives dc/dy, opt_log_jacobian its logarithm, and
 * opt_log_jacobian_grad the derivative of that logarithm. */
IDM_CHECKED double idm_constrain(double lower, double upper, double y, double *opt_derivative,
                                 double *opt_log_jacobian, double *opt_log_jacobian_grad);
/* Inverse of idm_constrain. */
IDM_CHECKED double idm_unconstrain(double lower, double upper, double c);

/* A distribution p [count] as a function of y [count - 1] by stick-breaking, as in the Stan
 * reference manual. Returns the log Jacobian. */
IDM_CHECKED double idm_simplex_constrain(size_t count, const double *y, double *p);
/* Inverse of idm_simplex_constrain. */
IDM_CHECKED void idm_simplex_unconstrain(size_t count, const double *p, double *y);
/* Gradient in y: gradient [count - 1] = d/dy (f(p(y)) + log Jacobian), given gradient_p = df/dp
 * [count]. */
IDM_CHECKED void idm_simplex_backward(size_t count, const double *y, const double *gradient_p,
                                      double *gradient);

#endif
