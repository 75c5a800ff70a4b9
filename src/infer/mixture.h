/* Approximations of a density: mixtures and quadratic functions.
 *
 * Contents: mixture · quadratic */
#ifndef IDM_INFER_MIXTURE_H
#define IDM_INFER_MIXTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "idm/sampler.h"
#include "idm/status.h"

/* === mixture ================================================================================ */

/* Proposals that reach all of a target: multivariate t components around what is known of it, and a
 * broad component (a prior) for what is not. */

/* A distribution that can be drawn from, with its log density, normalised. */
typedef struct idm_defensive_component {
  const void *context;
  void (*draw)(const void *context, idm_random *random, double *x);
  double (*log_density)(const void *context, const double *x);
} idm_defensive_component;

/* A mixture of `weight` times the broad component and at most `most` others, none so far: weights
 * are relative, and normalised when used. */
idm_status idm_mixture_create(size_t dimension, size_t capacity, idm_defensive_component defensive,
                              double weight, idm_mixture **ret_mixture, idm_error *opt_error);
void idm_mixture_destroy(idm_mixture *mixture);
/* Add a t of five degrees with a centre and a spread[dimension][dimension]. False, and nothing is
 * added, where the spread is not positive definite or there is no room. */
bool idm_mixture_add(idm_mixture *mixture, double weight, const double *centre,
                     const double *scale);
/* A draw, and the log density; work[dimension]. */
void idm_mixture_draw(const idm_mixture *mixture, idm_random *random, double *x);
double idm_mixture_log_density(const idm_mixture *mixture, const double *x, double *work);

/* === quadratic ============================================================================== */

/* Quadratic functions of a vector, fitted to values at a few points: what is smooth of them. */

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
