/* Laplace approximation of a target at a mode. Method: docs/method/inference.md, 7. */
#ifndef IDM_INFER_LAPLACE_H
#define IDM_INFER_LAPLACE_H

#include <stdbool.h>

#include "base/door.h"
#include "idm/extension/sampler.h"
#include "idm/status.h"

/* Covariance of the Laplace approximation: the inverse of minus the Hessian of the log density at
 * `mode` [dimension], by central differences of the gradient, into covariance
 * [dimension][dimension]. opt_precision receives minus the Hessian itself, in the same layout.
 * *definite is set to false, and covariance is unchanged, if minus the Hessian is not positive
 * definite. Returns errors of the target. */
IDM_CHECKED idm_status idm_laplace(const idm_target *target, const double *mode, double *covariance,
                                   double *opt_precision, bool *definite, idm_error *opt_error);

#endif
