/* Projections (F o G): distance between the behaviour of an answer and a log. See
 * docs/method/inverse.md, 6. */
#ifndef IDM_INVERT_PROJECT_H
#define IDM_INVERT_PROJECT_H

#include "base/door.h"
#include "idm/extension/inverse.h"
#include "idm/fit.h"

/* Measure the distance of the behaviour of `theta` from the data. All numbers are NaN if the data
 * come from several environments, since a policy is planned for one. */
IDM_CHECKED idm_status idm_projection_measure(const idm_problem *problem, const idm_theta *theta,
                                              const idm_data *data, idm_projection *projection,
                                              idm_error *opt_error);
/* The same for the mean of the policies over the draws of a posterior, at most 1,000. If utilities
 * and beliefs are not identified separately, no single parameter represents all draws, and the
 * centre may represent none. With a single draw, the centre. */
IDM_CHECKED idm_status idm_projection_draws(const idm_problem *problem,
                                            const idm_posterior *posterior, const idm_data *data,
                                            idm_projection *projection, idm_error *opt_error);
/* F o G: fit with an inverse planner, then measure the behaviour at the centre of the result.
 * *ret_posterior is owned by the caller. Errors as idm_inverse_fit. */
IDM_CHECKED idm_status idm_project(const idm_problem *problem, const idm_data *data,
                                   const idm_inverse *inverse, const idm_fit_settings *settings,
                                   const idm_fit_monitor *opt_monitor,
                                   idm_posterior **ret_posterior, idm_projection *projection,
                                   idm_notes *opt_notes, idm_error *opt_error);

#endif
