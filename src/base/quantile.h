/* Sorted numbers and their quantiles. */
#ifndef IDM_BASE_QUANTILE_H
#define IDM_BASE_QUANTILE_H

#include "idm/quantile.h"

/* Ascending order, infinities included; x must not contain NaN. */
void idm_sort(double *x, size_t count);

/* idm_quantile of sorted[count], ascending and without NaN; count > 0 and q in [0, 1]. */
double idm_sorted_quantile(const double *sorted, size_t count, double q);

#endif
