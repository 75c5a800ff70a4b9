/* Quadratic interpolation of anything smooth, from points around a mode. */
#ifndef IDM_INVERT_MATCHING_SURFACE_H
#define IDM_INVERT_MATCHING_SURFACE_H

#include "idm/status.h"

typedef struct idm_surface idm_surface;
/* NULL, and no error, where the dimension is too large for it to pay or the covariance is not
 * positive definite. */
idm_status idm_surface_create(size_t dimension, const double *mode, const double *covariance,
                              idm_surface **ret_surface, idm_error *opt_error);
void idm_surface_destroy(idm_surface *surface);
size_t idm_surface_points(const idm_surface *surface);
/* Point k of the design; the first is the mode. */
const double *idm_surface_point(const idm_surface *surface, size_t k);
/* Weights of the points' values that give the value at y; the nearest part of the design's region
 * where y lies outside. Kept until the next call. */
const double *idm_surface_weights(idm_surface *surface, const double *y);

#endif
