/* Means, variances and weighted moments of numbers.
 *
 * Weights are not negative, and their scale has no effect. NaN in the numbers or in the weights
 * makes moments NaN. */
#ifndef IDM_BASE_MOMENTS_H
#define IDM_BASE_MOMENTS_H

#include <stddef.h>

typedef struct idm_moments {
  double mean;
  double variance; /* with n - 1; NaN of one number */
} idm_moments;

/* In one pass (Welford 1962). */
idm_moments idm_moments_of(const double *x, size_t count);

/* sum_i w_i x_i / sum_i w_i; NaN if the weights sum to 0. */
double idm_weighted_mean(const double *x, const double *weight, size_t count);

/* Effective sample size of weighted draws (Kish 1965), (sum_i w_i)^2 / sum_i w_i^2, between 1 and
 * count; 0 if the sum of the weights is not positive and finite. */
double idm_effective_size(const double *weight, size_t count);

#endif
