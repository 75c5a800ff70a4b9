/* Provides a task that requires a memory of two steps. */
#ifndef IDM_TESTS_PLAN_NETWORK_PARITY_SUPPORT_H
#define IDM_TESTS_PLAN_NETWORK_PARITY_SUPPORT_H

#include "support.h"

/* A log in which the action is the parity of the last two observations, except for an error in one
 * of ten. opt_truth receives the log-likelihood of that rule. */
idm_data *support_parity(const idm_problem *problem, size_t trajectories, uint64_t seed,
                         double *opt_truth);

#endif
