/* Posterior prediction: of given trajectories, and simulation of new ones. */
#ifndef IDM_INVERT_PREDICT_H
#define IDM_INVERT_PREDICT_H

#include "base/door.h"
#include "idm/extension/posterior.h"
#include "plan/score.h"
#include "plan/simulate.h"

/* Held-out prediction: log of the mean probability of each trajectory over the draws (at most
 * 1,000, evenly spaced), into log_likelihood [trajectory]. `score` receives counts and the line of
 * an impossible decision; its log_likelihood is the sum, and its evidence is not separated.
 * IDM_INPUT if posterior and problem do not match. */
IDM_CHECKED idm_status idm_posterior_predict(const idm_problem *problem,
                                             const idm_posterior *posterior, const idm_data *data,
                                             double *log_likelihood, idm_score *score,
                                             idm_error *opt_error);
/* Extract the draws of one person as a separate result; `person` is an index on the axis `person`.
 * *ret_posterior is owned by the caller. IDM_INPUT if parameters vary within people, or a free
 * number is a distribution. */
IDM_CHECKED idm_status idm_posterior_person(const idm_problem *problem,
                                            const idm_posterior *posterior, size_t person,
                                            idm_posterior **ret_posterior, idm_error *opt_error);
/* Held-out prediction of people, each by their own draws. The column `by` identifies the person of
 * a trajectory, as in the fit. Runs on `threads` threads. IDM_INPUT if a person is not in the
 * posterior. */
IDM_CHECKED idm_status idm_people_predict(const idm_problem *problem,
                                          const idm_posterior *posterior, const idm_data *data,
                                          const char *by, int threads, double *log_likelihood,
                                          idm_score *score, idm_error *opt_error);
/* Posterior predictive data: trajectory i is simulated with draw i * draws / trajectories; if
 * memory persists across trajectories, agent i with draw i * draws / agents. *ret_data is owned by
 * the caller. */
IDM_CHECKED idm_status idm_posterior_simulate(const idm_problem *problem,
                                              const idm_posterior *posterior,
                                              const idm_simulation *simulation, idm_data **ret_data,
                                              idm_error *opt_error);

#endif
