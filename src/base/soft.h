/* Soft extrema, several at once, and their derivatives.
 *
 * Contents: soft · soft block · soft slope */
#ifndef IDM_BASE_SOFT_H
#define IDM_BASE_SOFT_H

#include <stddef.h>

#include "idm/status.h"

/* === soft =================================================================================== */

/* Soft extrema: T log sum_j w_j exp(x_j / T), for every real temperature T and every limit.
 *
 * T = 0 is the maximum over the support of w (-0.0: the minimum), T = +-inf the mean under w; a
 * negative T is the soft minimum. The value is accurate to a few rounding errors of max|x| at any
 * T. */

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

/* === soft block ============================================================================= */

/* Soft extrema of problems side by side. */

/* Lanes handled side by side by the vectorised form. */
enum { IDM_LANES = 32 };

/* The same for IDM_LANES problems side by side: x[j*IDM_LANES + i] is alternative j of lane i; p
 * has the layout of x (NULL: not wanted) and must not overlap it. */
void idm_soft_block(double temperature, size_t count, const double *weight, const double *x,
                    double *value, double *opt_p);

/* === soft slope ============================================================================= */

/* Derivatives of soft extrema. */

/* Derivatives of the value, given it and its p: with respect to 1/T, and with respect to each
 * weight (less what is common to all). Finite at every limit: 0 at T = 0, half the variance and x_j
 * - mean at T = +-inf. A weight of 0 gets 0. */
void idm_soft_derivative(double temperature, size_t count, const double *weight, const double *x,
                         double value, const double *p, double *inverse, double *weights);
/* idm_soft_derivative for IDM_LANES problems: inverse has one number a lane, weights the layout of
 * x. */
void idm_soft_derivative_block(double temperature, size_t count, const double *weight,
                               const double *x, const double *value, const double *p,
                               double *inverse, double *weights);

#endif
