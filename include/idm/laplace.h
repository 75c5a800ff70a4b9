/* Laplace's approximation of a target. */
#ifndef IDM_LAPLACE_H
#define IDM_LAPLACE_H

#include <stdbool.h>

#include "idm/sampler.h"
#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Minus the inverse Hessian at a mode, by central differences of the gradient:
 * covariance[dimension][dimension]. *definite is false, and the covariance is left alone, where the
 * mode is flat or no mode. opt_precision: minus the Hessian itself. */
IDM_API idm_status idm_laplace(const idm_target *target, const double *mode, double *covariance,
                               double *opt_precision, bool *definite, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
