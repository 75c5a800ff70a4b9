/* The free part of theta as an unconstrained vector, with its prior. See docs/method/inference.md,
 * 1 and 2. */
#ifndef IDM_EXTENSION_PARAMETERS_H
#define IDM_EXTENSION_PARAMETERS_H

#include "idm/extension/problem.h"
#include "idm/extension/random.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Free blocks of a problem as unconstrained numbers y. The prior of a block is a density of the
 * coordinate c of its scale; y is the transformation of c from its support to the real line. */
typedef struct idm_parameters idm_parameters;

/* Create the parametrisation of a problem. *ret_parameters is owned by the caller. IDM_INPUT if no
 * block is free, or a free block is not used by the planner. */
IDM_API idm_status idm_parameters_create(const idm_problem *problem,
                                         idm_parameters **ret_parameters, idm_error *opt_error);
/* Free the parametrisation. Accepts NULL. */
IDM_API void idm_parameters_destroy(idm_parameters *parameters);
/* Number of unconstrained numbers (length of y). */
IDM_API size_t idm_parameters_dimension(const idm_parameters *parameters);
/* Names of the unconstrained numbers: one per number, but one for all numbers of an opaque block.
 * Opaque blocks come last. Borrowed. */
IDM_API const idm_labels *idm_parameters_coordinates(const idm_parameters *parameters);
/* Names of the reported quantities: every free number in its natural unit and, for the scales
 * `inverse` and `signed-log`, whose natural unit need not have a mean, its coordinate as well
 * ("inverse_beta", "signed_log_eta"), which is the one to summarise. Borrowed. */
IDM_API const idm_labels *idm_parameters_quantities(const idm_parameters *parameters);
/* Length of a report: one number per quantity, all numbers per opaque block, which come last. */
IDM_API size_t idm_parameters_numbers(const idm_parameters *parameters);
/* True if a quantity has a mean and is to be summarised; false if `quantity` is out of range. */
IDM_API bool idm_parameters_summarised(const idm_parameters *parameters, size_t quantity);
/* Write the free numbers of y into theta. All other numbers of theta are unchanged. */
IDM_API void idm_parameters_set(const idm_parameters *parameters, const double *y,
                                idm_theta *theta);
/* Reported quantities at y, into number [idm_parameters_numbers]. */
IDM_API void idm_parameters_report(const idm_parameters *parameters, const double *y,
                                   double *number);
/* y of the values in theta. A value outside its support is moved to the nearest value inside. */
IDM_API void idm_parameters_get(const idm_parameters *parameters, const idm_theta *theta,
                                double *y);
/* Log prior density of y, including the Jacobian of the transformation, and its gradient
 * [dimension]. NaN for NULL arguments. */
IDM_API double idm_parameters_log_prior(const idm_parameters *parameters, const double *y,
                                        double *opt_gradient);
/* gradient [dimension] += derivative with respect to y of a function whose derivatives with respect
 * to the numbers of theta are in `theta_gradient` (see idm_gradient_run). */
IDM_API void idm_parameters_backward(const idm_parameters *parameters, const double *y,
                                     const idm_theta *theta_gradient, double *gradient);
/* True if every prior is proper. */
IDM_API bool idm_parameters_proper(const idm_parameters *parameters);
/* Draw y [dimension] from the prior, which must be proper. */
IDM_API void idm_parameters_draw(const idm_parameters *parameters, idm_random *random, double *y);

#ifdef __cplusplus
}
#endif
#endif
