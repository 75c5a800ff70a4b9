/* The mean of the worst share: conditional value at risk of finitely many alternatives. */
#ifndef IDM_BASE_TAIL_H
#define IDM_BASE_TAIL_H

#include <stddef.h>

/* min { sum_j p_j x_j : 0 <= p_j <= w_j / level, sum p = 1 }, w a distribution and the level in [0,
 * 1]: 1 is the mean under w, 0 the least of the alternatives with w > 0. opt_p receives the
 * minimiser; alternatives that tie (within IDM_TIE) share what is left in proportion to w, while
 * the value is as exact as the sum. */
double idm_tail(double level, size_t count, const double *weight, const double *x, double *opt_p);

#endif
