/* Fits that carry the uncertainty of learnt dynamics: a joint posterior of dynamics and free
 * numbers, where the dynamics were learnt from the log that is fitted; else a cut posterior, in
 * which the agent is fitted given each of some draws of the dynamics. */
#ifndef IDM_CUT_H
#define IDM_CUT_H

#include "idm/inverse.h"
#include "idm/learn.h"
#include "idm/posterior.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Draws of dynamics as a posterior, to be diagnosed, written and read as any other; and back, as
 * draws of the problem that they were learnt for. */
IDM_API idm_status idm_dynamics_posterior(const idm_dynamics_draws *draws,
                                          const idm_learn_settings *settings,
                                          idm_posterior **ret_posterior, idm_error *opt_error);
IDM_API idm_status idm_posterior_dynamics(const idm_posterior *posterior,
                                          const idm_problem *problem, idm_dynamics_draws *draws,
                                          idm_error *opt_error);

/* Some of the draws of dynamics, spread evenly over all. */
typedef struct idm_cut_draws {
  const idm_problem *learnt;       /* borrowed: what they were learnt for */
  const idm_dynamics_draws *draws; /* borrowed */
  size_t count;
} idm_cut_draws;

/* Put the dynamics of draw k of them into a problem, whose models must follow from its environment.
 */
IDM_API idm_status idm_cut_apply(const idm_cut_draws *cut, size_t k, idm_problem *problem,
                                 idm_error *opt_error);
/* Fit given each of them, and pool: the same number of chains and draws for each, those of one draw
 * of the dynamics side by side (idm_posterior.cuts). Stopped, it is IDM_UNTRUSTED. */
IDM_API idm_status idm_cut_fit(const idm_problem *problem, const idm_data *data,
                               const idm_inverse *inverse, const idm_fit_settings *settings,
                               const idm_cut_draws *cut, const idm_fit_monitor *opt_monitor,
                               idm_posterior **ret_posterior, idm_notes *opt_notes,
                               idm_error *opt_error);

/* Draw the free numbers and the dynamics together (idm_posterior.dynamics), by the likelihood of
 * decisions and observations of one log. Where the draws of the cut are not of the observations in
 * `data`, or the prior of their rows is not known, *ret_posterior is NULL and the status IDM_OK.
 * Stopped, it is IDM_UNTRUSTED. */
IDM_API idm_status idm_joint_fit(const idm_problem *problem, const idm_data *data,
                                 const idm_fit_settings *settings, const idm_cut_draws *cut,
                                 const idm_fit_monitor *opt_monitor, idm_posterior **ret_posterior,
                                 idm_notes *opt_notes, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
