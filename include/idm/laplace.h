/* Laplace approximation of a target at a mode. Method: docs/method/inference.md, 7. */
#ifndef IDM_LAPLACE_H
#define IDM_LAPLACE_H

#include <stdbool.h>

#include "idm/sampler.h"
#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Covariance of the Laplace approximation: the inverse of minus the Hessian of the log density at
 * `mode` [dimension], by central differences of the gradient, into covariance
 * [dimension][dimension]. opt_precision receives minus the Hessian itself, in the same layout.
 * *definite is set to false, and covariance is unchanged, if minus the Hessian is not positive
 * definite. Returns errors of the target. */
IDM_API idm_status idm_laplace(const idm_target *target, const double *mode, double *covariance,
                               double *opt_precision, bool *definite, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
