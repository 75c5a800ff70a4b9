/* Where a function over a grid has a height: lines, by marching squares. */
#ifndef IDM_REPORT_CONTOUR_H
#define IDM_REPORT_CONTOUR_H

#include <stddef.h>

#include "idm/status.h"

/* A function over a grid. */
typedef struct idm_heights {
  size_t across;
  size_t up;
  const double *x; /* [across] */
  const double *y; /* [up] */
  const double *z; /* [up][across] */
} idm_heights;

/* Lines one after another with a pair of NaN behind each; a closed one ends where it begins. */
typedef struct idm_contour {
  size_t count;
  double *x; /* [count] */
  double *y;
} idm_contour;

/* Between grid points the function is taken to be straight along the grid's lines. */
idm_status idm_contour_find(const idm_heights *heights, double level, idm_contour *ret_contour,
                            idm_error *opt_error);
void idm_contour_clear(idm_contour *contour);

#endif
