/* The density of a quantity along its axis, which is logarithmic where its scale is and its draws
 * span powers of ten: then it is the density of the logarithm. */
#ifndef IDM_REPORT_CURVE_H
#define IDM_REPORT_CURVE_H

#include "report/shown.h"

typedef struct idm_curve {
  bool logarithmic;
  bool varies;      /* false: all draws are alike, or none can be drawn; there are no points */
  size_t count;     /* of draws */
  double *draw;     /* [count] along the axis: logarithms where it is logarithmic */
  idm_span support; /* the same */
  idm_span range;   /* the same: what is drawn */
  double bandwidth;
  size_t points;
  double *along;  /* [points]: the same, evenly over the range */
  double *at;     /* [points]: in the unit of the quantity */
  double *height; /* [points] */
  double mean;    /* in the unit of the quantity, of what is finite */
  double mode;    /* where the density is highest */
} idm_curve;

/* With the bandwidth for densities of so many numbers. */
idm_status idm_curve_create(const idm_shown_one *one, size_t points, int dimension,
                            idm_curve *ret_curve, idm_error *opt_error);
/* The density of other draws at the same points: height[points]. All 0 where they are all alike. */
idm_status idm_curve_compare(const idm_curve *curve, const double *draw, size_t count,
                             double *height, idm_error *opt_error);
void idm_curve_clear(idm_curve *curve);
/* A number along the axis back in the unit of the quantity. */
double idm_curve_natural(const idm_curve *curve, double along);

#endif
