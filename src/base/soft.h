/* Soft extrema T log sum_j w_j exp(x_j / T), for one problem or many lanes, and their derivatives.
 *
 * Contents: soft · soft block · soft slope */
#ifndef IDM_BASE_SOFT_H
#define IDM_BASE_SOFT_H

#include <stddef.h>

#include "idm/status.h"

/* === soft =================================================================================== */

/* Soft extrema T log sum_j w_j exp(x_j / T) for every real temperature T and every limit.
 *
 * T = 0 gives the maximum over the support of w (-0.0: the minimum), T = +-inf the mean under w; a
 * negative T gives the soft minimum. The error of the value is a few rounding errors of max|x| at
 * any T. */

/* At T = 0, alternatives within this distance of the best, relative to max(1, |best|), are ties. */
#define IDM_TIE 1e-12

/* The soft extremum of x[count] under weight[count], which is non-negative and sums to 1.
 * opt_p[count] receives the weights p_j proportional to w_j exp(x_j/T); ties at T = 0 share in
 * proportion to w. */
double idm_soft(double temperature, size_t count, const double *weight, const double *x,
                double *opt_p);

/* KL(p || w) in nats for the p of idm_soft: sum_j w_j (l e^l - expm1 l) with l = log(p_j/w_j),
 * which keeps its accuracy as T grows. */
double idm_soft_divergence(double temperature, size_t count, const double *weight, const double *x);

/* log_p[count] of the p of idm_soft, without underflow; -inf outside the support of w. */
void idm_soft_logs(double temperature, size_t count, const double *weight, const double *x,
                   double *log_p);

/* === soft block ============================================================================= */

/* Soft extrema of many problems at once. */

/* Number of problems that the vectorised functions process at once. */
enum { IDM_LANES = 32 };

/* idm_soft for IDM_LANES problems with common weights: x[j*IDM_LANES + i] is alternative j of lane
 * i; value[IDM_LANES]; opt_p has the layout of x and must not overlap it (NULL: not computed). */
void idm_soft_block(double temperature, size_t count, const double *weight, const double *x,
                    double *value, double *opt_p);

/* === soft slope ============================================================================= */

/* Derivatives of soft extrema. */

/* Derivatives of the value, given the value and p: *inverse with respect to 1/T, and weights[count]
 * with respect to each weight, less a constant common to all. Finite at every limit: 0 at T = 0,
 * half the variance and x_j - mean at T = +-inf. The derivative of a weight of 0 is set to 0. */
void idm_soft_derivative(double temperature, size_t count, const double *weight, const double *x,
                         double value, const double *p, double *inverse, double *weights);
/* idm_soft_derivative for IDM_LANES problems: inverse[IDM_LANES]; weights has the layout of x. */
void idm_soft_derivative_block(double temperature, size_t count, const double *weight,
                               const double *x, const double *value, const double *p,
                               double *inverse, double *weights);

#endif
