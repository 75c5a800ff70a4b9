/* Distributions and coordinates: transformations to R^n, priors, and tail probabilities.
 *
 * Contents: transform · prior · distribution */
#ifndef IDM_INFER_DISTRIBUTION_H
#define IDM_INFER_DISTRIBUTION_H

#include <stddef.h>

#include "base/arguments.h"
#include "idm/extension/random.h"
#include "idm/extension/theta.h"
#include "idm/status.h"

/* === transform ============================================================================== */

/* Coordinates: scales of parameters, and transformations of constrained numbers and distributions
 * to R^n. See docs/method/inference.md, 1. */

/* Coordinate c of a value v on a scale: identity c = v, log c = log v, inverse c = 1/v, signed-log
 * c = sign(v) log(1 + |v|), logit c = log(v / (1 - v)). */
IDM_CHECKED double idm_scale_transform(idm_scale scale, double value);
/* Value of a coordinate on a scale: the inverse of idm_scale_transform. */
IDM_CHECKED double idm_scale_inverse(idm_scale scale, double coordinate);

/* A number c in (lower, upper), whose ends may be infinite, as an increasing function of y in R:
 * identity, exponential or logistic. opt_derivative receives dc/dy, opt_log_jacobian its logarithm,
 * and opt_log_jacobian_grad the derivative of that logarithm. */
IDM_CHECKED double idm_constrain(double lower, double upper, double y, double *opt_derivative,
                                 double *opt_log_jacobian, double *opt_log_jacobian_grad);
/* Inverse of idm_constrain. */
IDM_CHECKED double idm_unconstrain(double lower, double upper, double c);

/* A distribution p [count] as a function of y [count - 1] by stick-breaking, as in the Stan
 * reference manual. Returns the log Jacobian. */
IDM_CHECKED double idm_simplex_constrain(size_t count, const double *y, double *p);
/* Inverse of idm_simplex_constrain. */
IDM_CHECKED void idm_simplex_unconstrain(size_t count, const double *p, double *y);
/* Gradient in y: gradient [count - 1] = d/dy (f(p(y)) + log Jacobian), given gradient_p = df/dp
 * [count]. */
IDM_CHECKED void idm_simplex_backward(size_t count, const double *y, const double *gradient_p,
                                      double *gradient);

/* === prior ================================================================================== */

/* Univariate priors and the Dirichlet distribution. See docs/method/inference.md, 2. */

/* Normalised log density of a univariate prior at c (0 for flat), and its derivative. -inf outside
 * the support. For Dirichlet see idm_dirichlet_log_density. */
IDM_CHECKED double idm_prior_log_density(const idm_prior *prior, double c, double *opt_derivative);
/* A random draw; NaN for a flat prior. */
IDM_CHECKED double idm_prior_draw(const idm_prior *prior, idm_random *random);
/* Ends of the support; infinite if unbounded. */
IDM_CHECKED void idm_prior_support(const idm_prior *prior, double *lower, double *upper);
/* Standard deviation of the prior; infinite for flat. */
IDM_CHECKED double idm_prior_sd(const idm_prior *prior);
/* Mean of the prior; NaN for flat. */
IDM_CHECKED double idm_prior_mean(const idm_prior *prior);
/* Log density of a Dirichlet distribution at p [count], and its derivative with respect to p, into
 * opt_derivative [count]. */
IDM_CHECKED double idm_dirichlet_log_density(size_t count, const double *concentration,
                                             const double *p, double *opt_derivative);
/* Draw p [count] from a Dirichlet distribution. */
IDM_CHECKED void idm_dirichlet_draw(size_t count, const double *concentration, idm_random *random,
                                    double *p);

/* === distribution =========================================================================== */

/* Tail probabilities of distributions. */

/* Upper tail probability of a chi-square distribution with `degrees` degrees of freedom (may be
 * fractional): 1 for x <= 0; NaN where an argument is NaN, or the degrees are negative or infinite.
 */
IDM_CHECKED double idm_chi_square_tail(double x, double degrees);

/* --- within the library ----------------------------------------------------------------------- */

/* === distribution =========================================================================== */

/* Distribution functions that the C library lacks or that are not thread-safe there. */

/* Quantile of the standard normal distribution at probability p, accurate to about 1e-15. NaN
 * outside [0, 1]. */
double idm_normal_quantile(double p);
/* Gamma distribution with scale 1 at x > 0: probability of values up to x, and density of the
 * logarithm of the variable, x^shape e^-x / Gamma(shape). */
double idm_gamma_probability(double shape, double x);
double idm_gamma_density_of_log(double shape, double x);
/* c, or the nearest number strictly inside (lower, upper). Near an end at 0 a normal (not
 * subnormal) number, so that its reciprocal is finite. NaN stays NaN. */
double idm_clamp_interior(double lower, double upper, double c);

/* === density ================================================================================ */

/* Kernel density estimates of draws, with a normal kernel. At a finite end of the support the mass
 * beyond the end is reflected, so the density integrates to 1 over the support and has no boundary
 * bias towards 0. Non-finite draws are omitted. */

/* Ends of a support; infinite if unbounded. */
typedef struct idm_density_support {
  double low;
  double high;
} idm_density_support;

/* Silverman's rule (1986, equations 3.31 and 4.14) for univariate (dimension 1) or bivariate
 * densities, 0.9 s n^(-1/5) or s n^(-1/6), where s is the smaller of the sd and the interquartile
 * range / 1.34. 0 if all draws are equal, or none is finite. */
idm_status idm_density_bandwidth(const double *draw, size_t count, int dimension,
                                 double *ret_bandwidth, idm_error *opt_error);
/* Density at at[points], into density [points]; 0 outside the support. The bandwidth must be
 * positive. */
void idm_density_at(const double *draw, size_t count, double bandwidth, idm_density_support support,
                    const double *at, size_t points, double *density);

/* Draws and grid of a bivariate density. */
typedef struct idm_joint_draws {
  const double *draw[2]; /* [count]: coordinates of the draws */
  size_t count;
  double bandwidth[2];
  idm_density_support support[2];
  size_t points[2];
  const double *at[2]; /* [points]: ascending */
} idm_joint_draws;

/* Bivariate density on the grid by product kernels, into density [points[1]][points[0]]. */
idm_status idm_joint_density(const idm_joint_draws *joint, double *density, idm_error *opt_error);
/* Level of the highest density region that contains a share of the draws, with bilinear
 * interpolation between grid points; NaN if there are no finite draws. */
idm_status idm_joint_level(const idm_joint_draws *joint, const double *density, double share,
                           double *ret_level, idm_error *opt_error);

/* === ess ==================================================================================== */

/* Effective sample size of chains that are already split. */

/* Scratch memory for effective sample sizes of one shape. */
typedef struct idm_ess idm_ess;
idm_status idm_ess_create(size_t chains, size_t draws, idm_ess **ret_ess, idm_error *opt_error);
void idm_ess_destroy(idm_ess *ess);
/* Effective sample size of x[chain][draw], with at least two draws per chain. Constant draws: their
 * number; NaN if a draw is not finite. */
double idm_ess_of(idm_ess *ess, const double *x);
/* Split x[chain][draw] into halves[2 * chain][draw / 2]; an odd chain omits its middle draw. */
void idm_split_chains(const double *x, size_t chains, size_t draws, double *halves);

/* === uniform ================================================================================ */

/* Rank counts, and their distribution under uniformity. */

/* Rank histogram (Vehtari et al. 2021): ranks of x[chain][draw] among all draws, counted in equal
 * bins: count[chain][bin]. Ties get the mean rank; NaN has no rank. */
idm_status idm_rank_counts(const double *x, size_t chains, size_t draws, size_t bins, size_t *count,
                           idm_error *opt_error);
/* Central interval [*ret_low, *ret_high] of a binomial count of n trials: each tail outside has
 * probability at most (1 - share) / 2. */
void idm_binomial_interval(size_t n, double p, double share, size_t *ret_low, size_t *ret_high);
/* P(X >= count) for a binomial variable X of n trials with probability p. */
double idm_binomial_tail(size_t n, double p, size_t count);

#endif
