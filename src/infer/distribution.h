/* Distributions and diagnostics of draws.
 *
 * Contents: distribution · density · ess · uniform */
#ifndef IDM_INFER_DISTRIBUTION_H
#define IDM_INFER_DISTRIBUTION_H

#include <stddef.h>

#include "idm/status.h"

/* === distribution =========================================================================== */

/* Functions of distributions that the C library lacks or does not offer to threads. */

/* The number below which a standard normal falls with probability p, to about 1e-15. */
double idm_normal_quantile(double p);
/* c, or the nearest number strictly inside (lower, upper) where it is not; near an end at 0 a
 * normal number, so that its inverse is finite. NaN stays NaN. */
double idm_clamp_interior(double lower, double upper, double c);

/* === density ================================================================================ */

/* Kernel densities of draws.
 *
 * A normal kernel stands on every draw. At a finite end of the support what would lie beyond is
 * reflected, so that the density integrates to 1 over the support and does not fall towards an end
 * where the draws do not. Draws that are not finite are left out. */

/* Ends of a support; infinite where it is open. */
typedef struct idm_density_support {
  double low;
  double high;
} idm_density_support;

/* Silverman's rule (1986, equations 3.31 and 4.14) for densities of one number or of two,
 * 0.9 s n^(-1/5) or s n^(-1/6), s being the smaller of the sd and the interquartile range over
 * 1.34. 0 where all draws are alike, or none is finite. */
idm_status idm_density_bandwidth(const double *draw, size_t count, int dimension,
                                 double *ret_bandwidth, idm_error *opt_error);
/* density[points] at `at`, 0 outside the support. The bandwidth is positive. */
void idm_density_at(const double *draw, size_t count, double bandwidth, idm_density_support support,
                    const double *at, size_t points, double *density);

/* A density of two numbers over a grid. */
typedef struct idm_joint_draws {
  const double *draw[2]; /* [count]: a draw is a pair */
  size_t count;
  double bandwidth[2];
  idm_density_support support[2];
  size_t points[2];
  const double *at[2]; /* [points]: ascending */
} idm_joint_draws;

/* density[points of the second][points of the first]: products of kernels. */
idm_status idm_joint_density(const idm_joint_draws *joint, double *density, idm_error *opt_error);
/* The height above which a share of the draws lies, between grid points by two straight lines; NaN
 * where no draw lies on the grid. */
idm_status idm_joint_level(const idm_joint_draws *joint, const double *density, double share,
                           double *ret_level, idm_error *opt_error);

/* === ess ==================================================================================== */

/* Effective sample size of chains already split. */

/* Room for effective sample sizes of one shape. */
typedef struct idm_ess idm_ess;
idm_status idm_ess_create(size_t chains, size_t draws, idm_ess **ret_ess, idm_error *opt_error);
void idm_ess_destroy(idm_ess *ess);
/* Effective sample size of x[chain][draw], two draws a chain or more: of constant draws their
 * number; NaN where a draw is not finite. */
double idm_ess_of(idm_ess *ess, const double *x);

/* === uniform ================================================================================ */

/* Ranks and counts, and what they are like where everything is equally probable. */

/* Ranks of x[chain][draw] among all of them, counted by chain in equal bins: count[chain][bin]
 * (Vehtari et al. 2021). Numbers that are alike have their mean rank; NaN has none. */
idm_status idm_rank_counts(const double *x, size_t chains, size_t draws, size_t bins, size_t *count,
                           idm_error *opt_error);
/* The least interval of whole numbers beyond either end of which a binomial count of n trials lies
 * with probability (1 - share) / 2 at most. */
void idm_binomial_interval(size_t n, double p, double share, size_t *ret_low, size_t *ret_high);

#endif
