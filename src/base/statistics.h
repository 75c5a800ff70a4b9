/* Statistics: log-gamma, sums of exponentials, moments, quantiles, saddlepoint tails and
 * conditional value at risk.
 *
 * Contents: gamma · log sum · moments · quantile · saddlepoint · tail */
#ifndef IDM_BASE_STATISTICS_H
#define IDM_BASE_STATISTICS_H

#include <math.h>
#include <stddef.h>

#include "base/arguments.h"
#include "idm/status.h"

/* === gamma ================================================================================== */

/* The logarithm of the gamma function and its derivatives. */

static const double idm_half_log_two_pi = 0.91893853320467274178;

/* log Gamma(x) for x > 0, with an error of about 1e-14 of max(1, |log Gamma|). lgamma of the C
 * library writes the global signgam, which is not thread-safe. */
double idm_log_gamma(double x);
/* The derivative of log Gamma at x > 0: the recurrence up to 8, then the asymptotic series, whose
 * first omitted term is below 1e-14 there (Abramowitz and Stegun 6.3.18). */
double idm_digamma(double x);
/* Its derivative at x > 0, likewise (ibid. 6.4.12). */
double idm_trigamma(double x);
/* log Gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2) for x >= 10, by Stirling's series
 * (Abramowitz and Stegun 6.1.41); the first omitted term is at most 3e-17. */
double idm_stirling_correction(double x);

/* === log sum ================================================================================ */

/* Sums of exponentials in logarithms, and weights proportional to exponentials.
 *
 * The same rules hold for every function. A term of -inf adds nothing. A sum without terms, or with
 * terms of -inf only, is -inf. A term of +inf makes the sum +inf. A term of NaN makes the sum NaN,
 * even together with +inf. No other terms overflow or underflow to such a sum. */

/* log(exp(a) + exp(b)). */
double idm_log_add_exp(double a, double b);

/* log sum_i exp(x_i). */
double idm_log_sum_exp(const double *x, size_t count);

/* The same sum, one term at a time; the sum so far is scale * exp(largest). Start from
 * idm_log_sum_empty. */
typedef struct idm_log_sum {
  double largest;
  double scale;
} idm_log_sum;

static const idm_log_sum idm_log_sum_empty = {-INFINITY, 0};

void idm_log_sum_add(idm_log_sum *sum, double term);
double idm_log_sum_value(idm_log_sum sum);

/* Softmax p_i = exp(x_i) / sum_j exp(x_j) of x[count]; p may be x. Returns log sum_j exp(x_j). If
 * that is not finite, no such p exists, and every p_i is 0. */
double idm_softmax(const double *x, size_t count, double *p);

/* Replace x[count] by its softmax, with every exp(x_i) raised to at least `floor` times the
 * largest, 0 < floor <= 1. A term of NaN counts as -inf. If the largest x_i is infinite, all
 * weights are equal. */
void idm_softmax_floor(double *x, size_t count, double floor);

/* === moments ================================================================================ */

/* Means, variances and covariances, with and without weights.
 *
 * Weights are non-negative; their scale has no effect unless a function states otherwise. The mean
 * of no numbers, or under weights that sum to 0, is NaN. NaN in a number or a weight makes the
 * mean, the variance and the rows of a covariance that it enters NaN. */

/* Mean of x[count], exact if all are equal. Infinite numbers have an infinite mean, or NaN if they
 * have both signs. */
double idm_mean(const double *x, size_t count);
/* sum_i (x_i - centre)^2. */
double idm_squares_about(const double *x, size_t count, double centre);

/* Mean and variance of finite numbers. */
typedef struct idm_moments {
  double mean;
  double variance; /* with denominator n - 1; NaN for one number */
} idm_moments;

idm_moments idm_moments_of(const double *x, size_t count);

/* Mean and variance, one number at a time (Welford 1962). Zero-initialise. */
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

/* A set of points: coordinate k of point i is x[i * point_stride + k * number_stride]. */
typedef struct idm_points {
  const double *x;
  size_t count;
  size_t dimension;
  size_t point_stride;
  size_t number_stride;
  const double *opt_weight; /* [count]; NULL: all 1 */
} idm_points;

/* mean[dimension], and covariance[dimension][dimension] = sum_i w_i (x_i - mean)(x_i - mean)' /
 * (sum_i w_i - ddof). `ddof` is 0, or 1 for the unbiased estimate from points of weight 1. Points
 * of weight 0 have no effect. */
void idm_covariance(const idm_points *points, double ddof, double *mean, double *covariance);

/* === quantile =============================================================================== */

/* Sorted numbers and their quantiles. */

/* Quantile q of x[count], which is sorted in place; linear interpolation between order statistics
 * (type 7 in R). NaN if count is 0, a value is NaN, or q is outside [0, 1]. */
IDM_CHECKED double idm_quantile(double *x, size_t count, double q);

/* Ascending order, infinities included; x must not contain NaN. */
void idm_sort(double *x, size_t count);

/* A number and its index. */
typedef struct idm_indexed {
  double value;
  size_t index;
} idm_indexed;

/* Ascending order of the numbers, equal ones in the order of their indices. */
void idm_sort_indexed(idm_indexed *x, size_t count);
/* x[count] in that order; NULL where memory runs out. The caller frees it. */
idm_indexed *idm_sort_order(const double *x, size_t count);

/* Quantile q in [0, 1] of sorted[count], ascending and without NaN, count > 0: definition 7 of
 * Hyndman and Fan (1996). */
double idm_sorted_quantile(const double *sorted, size_t count, double q);

/* === saddlepoint ============================================================================ */

/* Tail probability of a sum of independent discrete variables by a saddlepoint approximation
 * (Lugannani and Rice 1980). */

typedef struct idm_discrete_sum {
  size_t terms;
  size_t width;              /* number of outcomes of a term */
  const double *probability; /* [term][outcome] */
  const double *value;       /* [term][outcome] */
  const double *copies;      /* [term]: number of independent copies of the term */
} idm_discrete_sum;

/* P(sum >= x) for x above the mean, P(sum <= x) for x below it. The correction for a lattice
 * (Daniels 1987) takes the mean range of a term, weighted by its variance, as spacing: where
 * outcomes are rare and the sum takes few values, it keeps the approximation from being too small;
 * where there is no lattice, the approximation is too large, by less the more terms there are.
 * Never above the Chernoff bound, which is exact at either end of the support. Returns 1 where the
 * sum does not vary. */
double idm_saddlepoint_tail(const idm_discrete_sum *sum, double x);
/* Two-sided p of x for a sum of mean 0 and variance `variance`: twice the saddlepoint tail; within
 * two sds of the mean, where the correction for a lattice is large, that of a normal distribution.
 */
double idm_saddlepoint_two_sided(const idm_discrete_sum *sum, double x, double variance);

/* === tail =================================================================================== */

/* Conditional value at risk: the mean of the worst share of finitely many alternatives. */

/* Conditional value at risk min { sum_j p_j x_j : 0 <= p_j <= w_j / level, sum p = 1 } of x[count]
 * under the distribution weight[count], level in [0, 1]: 1 gives the mean under w, 0 the smallest
 * alternative with w > 0. opt_p[count] receives a minimiser in which ties (within IDM_TIE) share
 * the last of the mass in proportion to w; the value is computed without this tolerance. */
double idm_cvar(double level, size_t count, const double *weight, const double *x, double *opt_p);

#endif
