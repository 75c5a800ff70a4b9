/* How heavy a tail is. */
#ifndef IDM_PARETO_H
#define IDM_PARETO_H

#include <stddef.h>

#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The shape k of the generalised Pareto distribution that fits the largest of x[count]: moments
 * above the 1/k-th do not exist, and from .7 on means are not to be relied upon (Vehtari et al.
 * 2024). -inf where the largest are all alike; NaN where there are too few, or one is not finite.
 */
IDM_API idm_status idm_pareto_shape(const double *x, size_t count, double *ret_shape,
                                    idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
