/* Tail index of a sample. */
#ifndef IDM_INFER_PARETO_H
#define IDM_INFER_PARETO_H

#include <stddef.h>

#include "base/door.h"
#include "idm/status.h"

/* Shape k of a generalised Pareto distribution fitted to the upper tail of x[count], into
 * *ret_shape. Moments of order above 1/k do not exist; from k = 0.7 on, sample means are unreliable
 * (Vehtari et al. 2024). The tail consists of the largest min(count / 5, 3 sqrt(count)) values,
 * rounded up. -inf if they all equal the next smaller value. NaN if a quarter of them do, if there
 * are fewer than five, or if a value of x is not finite. The result does not depend on location and
 * scale of x. */
IDM_CHECKED idm_status idm_pareto_shape(const double *x, size_t count, double *ret_shape,
                                        idm_error *opt_error);

#endif
