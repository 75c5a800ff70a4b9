/* Quantiles of numbers. */
#ifndef IDM_QUANTILE_H
#define IDM_QUANTILE_H

#include <stddef.h>

#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Quantile q of x[count] (sorted in place), linear between order statistics as in R's type 7. NaN
 * without numbers, if one of them is NaN, or if q is outside [0, 1]. */
IDM_API double idm_quantile(double *x, size_t count, double q);

#ifdef __cplusplus
}
#endif
#endif
