/* Kernel densities of draws.
 *
 * A normal kernel stands on every draw. At a finite end of the support what would lie beyond is
 * reflected, so that the density integrates to 1 over the support and does not fall towards an end
 * where the draws do not. Draws that are not finite are left out. */
#ifndef IDM_INFER_DENSITY_H
#define IDM_INFER_DENSITY_H

#include <stddef.h>

#include "idm/status.h"

/* Ends of a support; infinite where it is open. */
typedef struct idm_span {
  double low;
  double high;
} idm_span;

/* Silverman's rule (1986, equations 3.31 and 4.14) for densities of one number or of two,
 * 0.9 s n^(-1/5) or s n^(-1/6), s being the smaller of the sd and the interquartile range over
 * 1.34. 0 where all draws are alike, or none is finite. */
idm_status idm_density_bandwidth(const double *draw, size_t count, int dimension,
                                 double *ret_bandwidth, idm_error *opt_error);
/* density[points] at `at`, 0 outside the support. The bandwidth is positive. */
void idm_density_at(const double *draw, size_t count, double bandwidth, idm_span support,
                    const double *at, size_t points, double *density);

/* A density of two numbers over a grid. */
typedef struct idm_joint {
  const double *draw[2]; /* [count]: a draw is a pair */
  size_t count;
  double bandwidth[2];
  idm_span support[2];
  size_t points[2];
  const double *at[2]; /* [points]: ascending */
} idm_joint;

/* density[points of the second][points of the first]: products of kernels. */
idm_status idm_joint_density(const idm_joint *joint, double *density, idm_error *opt_error);
/* The height above which a share of the draws lies, between grid points by two straight lines; NaN
 * where no draw lies on the grid. */
idm_status idm_joint_level(const idm_joint *joint, const double *density, double share,
                           double *ret_level, idm_error *opt_error);

#endif
