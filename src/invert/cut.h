/* Fits that include the uncertainty of learnt dynamics: a joint posterior of dynamics and free
 * numbers, where the dynamics were learnt from the fitted log; else a cut posterior, in which the
 * agent is fitted given each of several draws of the dynamics. */
#ifndef IDM_INVERT_CUT_H
#define IDM_INVERT_CUT_H

#include "base/arguments.h"
#include "idm/extension/inverse.h"
#include "idm/extension/posterior.h"
#include "learn/iohmm.h"

/* Convert draws of dynamics into a posterior, which can be diagnosed, written and read as any
 * other, and back into draws for the problem that they were learnt for. *ret_posterior is the
 * caller's; `draws` is released with idm_dynamics_draws_clear. IDM_USAGE where there are no draws;
 * IDM_INPUT where the posterior is not one of dynamics, or its quantities do not fit the problem.
 */
IDM_CHECKED idm_status idm_dynamics_posterior(const idm_dynamics_draws *draws,
                                              const idm_learn_settings *settings,
                                              idm_posterior **ret_posterior, idm_error *opt_error);
IDM_CHECKED idm_status idm_posterior_dynamics(const idm_posterior *posterior,
                                              const idm_problem *problem, idm_dynamics_draws *draws,
                                              idm_error *opt_error);

/* A subset of the draws of dynamics, spread evenly over all draws. */
typedef struct idm_cut_draws {
  const idm_problem *learnt;       /* borrowed: the problem that they were learnt for */
  const idm_dynamics_draws *draws; /* borrowed */
  size_t count;
} idm_cut_draws;

/* Replace the dynamics of a problem by draw k of the subset. The models of the problem must be
 * derived from its environment. IDM_INPUT where there is no such draw, or as
 * idm_problem_set_dynamics. */
IDM_CHECKED idm_status idm_cut_apply(const idm_cut_draws *cut, size_t k, idm_problem *problem,
                                     idm_error *opt_error);
/* Fit given each draw of the dynamics, and pool the draws of all fits, with the same number of
 * chains and draws for each; the chains of one draw of the dynamics are adjacent
 * (idm_posterior.cuts). *ret_posterior is the caller's. IDM_UNTRUSTED where the monitor stops it;
 * else errors of the inverse planner. */
IDM_CHECKED idm_status idm_cut_fit(const idm_problem *problem, const idm_data *data,
                                   const idm_inverse *inverse, const idm_fit_settings *settings,
                                   const idm_cut_draws *cut, const idm_fit_monitor *opt_monitor,
                                   idm_posterior **ret_posterior, idm_notes *opt_notes,
                                   idm_error *opt_error);

/* Draw the free numbers and the dynamics jointly (idm_posterior.dynamics), by the likelihood of the
 * decisions and observations of one log. *ret_posterior is the caller's; it is NULL with status
 * IDM_OK where the draws of `cut` were not learnt from the observations in `data`, or the prior of
 * their rows is not recorded. IDM_UNTRUSTED where the monitor stops it. */
IDM_CHECKED idm_status idm_joint_fit(const idm_problem *problem, const idm_data *data,
                                     const idm_fit_settings *settings, const idm_cut_draws *cut,
                                     const idm_fit_monitor *opt_monitor,
                                     idm_posterior **ret_posterior, idm_notes *opt_notes,
                                     idm_error *opt_error);

#endif
