/* Preferences of somebody whose utility is known: what `preferred` is the likelihood of. */
#ifndef IDM_INVERT_UTILITY_PREFER_H
#define IDM_INVERT_UTILITY_PREFER_H

#include "idm/data.h"
#include "idm/problem.h"
#include "idm/random.h"

/* Give data preferences between `pairs` pairs of trajectories, each pair drawn from all: of two, b
 * is preferred to w with the probability logistic(R_b - R_w) under the utility of theta, whose held
 * entries are the problem's. As what `who` cannot do where idm_preferred_create fails; IDM_INPUT
 * where there is but one trajectory. */
idm_status idm_prefer(const idm_problem *problem, const idm_theta *theta, size_t pairs,
                      const char *who, idm_random *random, idm_data *data, idm_error *opt_error);
/* sum log logistic(R_better - R_worse) of the preferences in data under the utility of theta. */
idm_status idm_prefer_log_likelihood(const idm_problem *problem, const idm_data *data,
                                     const idm_theta *theta, const char *who,
                                     double *log_likelihood, idm_error *opt_error);

#endif
