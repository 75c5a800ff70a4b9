/* Mixture and quadratic approximations of a density.
 *
 * Contents: mixture · quadratic */
#ifndef IDM_INFER_MIXTURE_H
#define IDM_INFER_MIXTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "idm/extension/sampler.h"
#include "idm/status.h"

/* === mixture ================================================================================ */

/* Proposal mixtures that cover a target: multivariate t components at known modes and tails, and a
 * broad defensive component (a prior) for the rest. */

/* Distribution with draws and a normalised log density. */
typedef struct idm_defensive_component {
  const void *context;
  void (*draw)(const void *context, idm_random *random, double *x);
  double (*log_density)(const void *context, const double *x);
} idm_defensive_component;

/* Create a mixture of the defensive component with `weight` and up to `capacity` t components, none
 * at first. Weights are relative; they are normalised on use. */
idm_status idm_mixture_create(size_t dimension, size_t capacity, idm_defensive_component defensive,
                              double weight, idm_mixture **ret_mixture, idm_error *opt_error);
void idm_mixture_destroy(idm_mixture *mixture);
/* Add a multivariate t component with five degrees of freedom, a centre and a scale matrix
 * [dimension][dimension]. Returns false, without effect, if the scale matrix is not positive
 * definite, the weight is not positive, or the capacity is reached. */
bool idm_mixture_add(idm_mixture *mixture, double weight, const double *centre,
                     const double *scale);
/* Draw x [dimension] from the mixture, and its normalised log density at x; work [dimension]. */
void idm_mixture_draw(const idm_mixture *mixture, idm_random *random, double *x);
double idm_mixture_log_density(const idm_mixture *mixture, const double *x, double *work);

/* === quadratic ============================================================================== */

/* Quadratic functions of a vector, fitted to values at a few points. */

/* Number of terms that this many points determine: all of 1, x_i and x_i x_j; without the products
 * if there are fewer than four points per term, since they overfit; only the constant if there are
 * fewer than two per linear term. */
size_t idm_quadratic_terms(size_t dimension, size_t points);
/* Least squares fit: coefficient [terms] for value [points] at x [points][dimension], with weights
 * opt_weight [points]. x should have scale 1. IDM_NUMERICAL if the points do not determine the
 * terms, or a coefficient is not finite. */
idm_status idm_quadratic_fit(size_t dimension, size_t terms, size_t points, const double *x,
                             const double *value, const double *opt_weight, double *coefficient,
                             idm_error *opt_error);
/* Value of the function at x [dimension]. */
double idm_quadratic_at(size_t dimension, size_t terms, const double *coefficient, const double *x);

#endif
