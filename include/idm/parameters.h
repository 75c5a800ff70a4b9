/* The free part of theta as a vector. */
#ifndef IDM_PARAMETERS_H
#define IDM_PARAMETERS_H

#include "idm/problem.h"
#include "idm/random.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Free blocks of a problem as unconstrained numbers y, with their prior. The prior of a block is
 * stated in the coordinate c of its scale; y is c with its support opened to the whole line. */
typedef struct idm_parameters idm_parameters;

/* Fails with IDM_INPUT where nothing is free, or a free block is one that the planner does not
 * read. */
IDM_API idm_status idm_parameters_create(const idm_problem *problem,
                                         idm_parameters **ret_parameters, idm_error *opt_error);
IDM_API void idm_parameters_destroy(idm_parameters *parameters);
/* Unconstrained numbers, and their names: one a number, and one for all numbers of an opaque block.
 * Opaque blocks come last. */
IDM_API size_t idm_parameters_dimension(const idm_parameters *parameters);
IDM_API const idm_labels *idm_parameters_coordinates(const idm_parameters *parameters);
/* Quantities reported: every free number in its natural unit and, for a scale `inverse` or
 * `signed-log`, on which it need not have a mean, its coordinate as well ("inverse_beta",
 * "signed_log_eta"), which is the one to summarise. */
IDM_API const idm_labels *idm_parameters_quantities(const idm_parameters *parameters);
/* Numbers reported: one a quantity, and all of an opaque block, which come last. */
IDM_API size_t idm_parameters_numbers(const idm_parameters *parameters);
IDM_API bool idm_parameters_summarised(const idm_parameters *parameters, size_t quantity);
/* Write the free numbers into theta; the rest of theta is left alone. */
IDM_API void idm_parameters_set(const idm_parameters *parameters, const double *y,
                                idm_theta *theta);
/* [numbers]: what is reported at y. */
IDM_API void idm_parameters_report(const idm_parameters *parameters, const double *y,
                                   double *number);
/* y of the values that theta holds; where one lies outside its support, the nearest inside. */
IDM_API void idm_parameters_get(const idm_parameters *parameters, const idm_theta *theta,
                                double *y);
/* log prior density of y (with the Jacobian), and its gradient. */
IDM_API double idm_parameters_log_prior(const idm_parameters *parameters, const double *y,
                                        double *opt_gradient);
/* gradient[dimension] += d/dy of a function whose derivatives with respect to theta's numbers are
 * in `slope` (see idm_gradient_run). */
IDM_API void idm_parameters_backward(const idm_parameters *parameters, const double *y,
                                     const idm_theta *theta_gradient, double *gradient);
/* Whether every prior is proper, and a draw from it. */
IDM_API bool idm_parameters_proper(const idm_parameters *parameters);
IDM_API void idm_parameters_draw(const idm_parameters *parameters, idm_random *random, double *y);

/* A quantity as a person calls it: "1/beta" where files say inverse_beta, "log alpha" for
 * log_alpha, "signed-log eta" for signed_log_eta. Into buffer, which is returned. */
IDM_API const char *idm_quantity_label(const char *quantity, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
