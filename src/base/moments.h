/* Means, variances and covariances, with and without weights.
 *
 * Weights are not negative, and their scale has no effect unless a function says otherwise. No
 * numbers, or weights that sum to 0, have the mean NaN. NaN in the numbers or in the weights makes
 * a mean, a variance and the rows of a covariance it enters NaN. */
#ifndef IDM_BASE_MOMENTS_H
#define IDM_BASE_MOMENTS_H

#include <stddef.h>

/* Mean of x[count]: exact if all are equal; infinite numbers have an infinite mean, or NaN if they
 * have both signs. */
double idm_mean(const double *x, size_t count);
/* sum_i (x_i - centre)^2. */
double idm_squares_about(const double *x, size_t count, double centre);

/* Mean and variance of finite numbers. */
typedef struct idm_moments {
  double mean;
  double variance; /* with n - 1; NaN of one number */
} idm_moments;

idm_moments idm_moments_of(const double *x, size_t count);

/* The same, one number at a time (Welford 1962). Zeroed: no numbers so far. */
typedef struct idm_welford {
  size_t count;
  double mean;    /* 0 without numbers */
  double squares; /* sum of squares about the mean */
} idm_welford;

void idm_welford_add(idm_welford *w, double x);
double idm_welford_variance(const idm_welford *w);

/* sum_i w_i x_i / sum_i w_i. */
double idm_weighted_mean(const double *x, const double *weight, size_t count);

/* Effective sample size of weighted draws (Kish 1965), (sum_i w_i)^2 / sum_i w_i^2, between 1 and
 * count; 0 if the sum of the weights is not positive and finite. */
double idm_effective_size(const double *weight, size_t count);

/* Points: number k of point i is x[i * next_point + k * next_number]. */
typedef struct idm_points {
  const double *x;
  size_t count;
  size_t dimension;
  size_t next_point;
  size_t next_number;
  const double *opt_weight; /* [count]; NULL: 1 each */
} idm_points;

/* mean[dimension], and covariance[dimension][dimension] = sum_i w_i (x_i - mean)(x_i - mean)' /
 * (sum_i w_i - lost). `lost` is 0, or 1 for the unbiased estimate by points of weight 1. Points of
 * weight 0 have no effect. */
void idm_covariance(const idm_points *points, double lost, double *mean, double *covariance);

#endif
