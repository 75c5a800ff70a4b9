/* Answers of inverse planners that do not go by the likelihood. */
#ifndef IDM_INVERT_UTILITY_ANSWER_H
#define IDM_INVERT_UTILITY_ANSWER_H

#include "idm/chains.h"
#include "idm/inverse.h"
#include "invert/utility/sought.h"

/* The answer at theta, whose free numbers are what was found; `method` is what found them. It takes
 * the finding, which is destroyed on failure, and adds to it the planner's policy there, where
 * states are observed, and a sentence on what the data leave open. */
idm_status idm_answer_create(const idm_inverse *inverse, const idm_problem *problem,
                             const idm_fit_settings *settings, const idm_theta *theta,
                             const char *method, idm_finding *finding,
                             idm_posterior **ret_posterior, idm_error *opt_error);
/* The same with the free numbers of the utility at x, in units of what is sought. */
idm_status idm_answer_utility(const idm_inverse *inverse, const idm_problem *problem,
                              const idm_fit_settings *settings, const idm_sought *sought,
                              const double *x, const char *method, idm_finding *finding,
                              idm_posterior **ret_posterior, idm_error *opt_error);
/* Where a share from 0 to 1 is free as well, the last number of all: open directions of the utility
 * as directions of all free numbers, words and faults. share_open: the share is open, too. */
idm_status idm_answer_widen(const idm_finding *narrow, bool share_open, idm_finding *finding,
                            idm_error *opt_error);
/* That share as it is: coordinates that start a search keep off the ends of an interval, which it
 * may be at. IDM_INPUT where its prior leaves it out; `what` begins the message. */
idm_status idm_answer_put_share(const idm_problem *problem, const char *what, double share,
                                idm_posterior *posterior, idm_error *opt_error);
/* The same of the first draws of every chain, with the policy at their centre. */
idm_status idm_answer_draws(const idm_inverse *inverse, const idm_problem *problem,
                            const idm_fit_settings *settings, const idm_parameters *parameters,
                            const idm_chains *chains, size_t draws, idm_finding *finding,
                            idm_posterior **ret_posterior, idm_error *opt_error);

#endif
