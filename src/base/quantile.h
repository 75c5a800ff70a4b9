/* Sample quantiles. */
#ifndef IDM_BASE_QUANTILE_H
#define IDM_BASE_QUANTILE_H

#include <stddef.h>

#include "base/door.h"
#include "idm/status.h"

/* Quantile q of x[count], which is sorted in place; linear interpolation between order statistics
 * (type 7 in R). NaN if count is 0, a value is NaN, or q is outside [0, 1]. */
IDM_CHECKED double idm_quantile(double *x, size_t count, double q);

#endif
