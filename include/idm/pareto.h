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
 * 2024). The tail is the largest min(count / 5, 3 sqrt(count)), rounded up. -inf if its numbers all
 * equal the next smaller one; NaN if a quarter of them do, if there are fewer than five, or if a
 * number of x is not finite. Shift and scale of x have no effect. */
IDM_API idm_status idm_pareto_shape(const double *x, size_t count, double *ret_shape,
                                    idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
