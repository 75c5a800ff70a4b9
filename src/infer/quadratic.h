/* Quadratic functions of a vector, fitted to values at a few points: what is smooth of them. */
#ifndef IDM_INFER_QUADRATIC_H
#define IDM_INFER_QUADRATIC_H

#include <stddef.h>

#include "idm/status.h"

/* Terms that so many points can tell apart: 1, x_i and x_i x_j, without the last or without the
 * last two where there are fewer points: four a term for products, which bend where points are few,
 * two for the others. */
size_t idm_quadratic_terms(size_t dimension, size_t points);
/* Least squares: coefficient[terms] of values at x[point][dimension], each weighted where
 * opt_weight is given. x is about as wide as a unit. IDM_NUMERICAL where the points do not tell the
 * terms apart, or something is not finite. */
idm_status idm_quadratic_fit(size_t dimension, size_t terms, size_t points, const double *x,
                             const double *value, const double *opt_weight, double *coefficient,
                             idm_error *opt_error);
/* Its value at x[dimension]. */
double idm_quadratic_at(size_t dimension, size_t terms, const double *coefficient, const double *x);

#endif
