/* Soft extrema: T log sum_j w_j exp(x_j / T), for every real temperature T and every limit.
 *
 * T = 0 is the maximum over the support of w (-0.0: the minimum), T = +-inf the mean under w; a
 * negative T is the soft minimum. The value is accurate to a few rounding errors of max|x| at any
 * T. */
#ifndef IDM_BASE_SOFT_H
#define IDM_BASE_SOFT_H

#include <stddef.h>

#include "idm/status.h"

/* At T = 0 alternatives within this of the best, relative to max(1, |best|), are ties. */
#define IDM_TIE 1e-12

/* Value; opt_p[j] receives the weights p_j proportional to w_j exp(x_j/T) (ties at T = 0 are shared
 * in proportion to w). Weights are non-negative and sum to 1. */
double idm_soft(double temperature, size_t count, const double *weight, const double *x,
                double *opt_p);

/* KL(p || w) in nats of the p that idm_soft gives: sum_j w_j (l e^l - expm1 l) with l =
 * log(p_j/w_j), which loses nothing as T grows. */
double idm_soft_divergence(double temperature, size_t count, const double *weight, const double *x);

/* log p_j of the same p, for every j, without underflow. -inf outside the support. */
void idm_soft_logs(double temperature, size_t count, const double *weight, const double *x,
                   double *log_p);

#endif
