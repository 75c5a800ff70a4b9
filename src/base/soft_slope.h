/* Derivatives of soft extrema. */
#ifndef IDM_BASE_SOFT_SLOPE_H
#define IDM_BASE_SOFT_SLOPE_H

#include "base/soft_block.h"

/* Derivatives of the value, given it and its p: with respect to 1/T, and with respect to each
 * weight (less what is common to all). Finite at every limit: 0 at T = 0, half the variance and x_j
 * - mean at T = +-inf. A weight of 0 gets 0. */
void idm_soft_slope(double temperature, size_t count, const double *weight, const double *x,
                    double value, const double *p, double *inverse, double *weights);
/* idm_soft_slope for IDM_LANES problems: inverse has one number a lane, weights the layout of x. */
void idm_soft_slope_block(double temperature, size_t count, const double *weight, const double *x,
                          const double *value, const double *p, double *inverse, double *weights);

#endif
