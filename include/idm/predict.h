/* Prediction by a posterior: of trajectories that are given, and of new ones. */
#ifndef IDM_PREDICT_H
#define IDM_PREDICT_H

#include "idm/posterior.h"
#include "idm/score.h"
#include "idm/simulate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Held-out prediction: for each trajectory the log of its probability's mean over the draws (1,000
 * of them, spread evenly, where there are more). Counts and line of an impossible decision in
 * `score`; its log_likelihood is the sum, of which no evidence is told apart. */
IDM_API idm_status idm_posterior_predict(const idm_problem *problem, const idm_posterior *posterior,
                                         const idm_data *data, double *log_likelihood,
                                         idm_score *score, idm_error *opt_error);
/* The draws of one of several people as an answer of its own, for whatever takes one; `person` is a
 * place along the axis of that name. IDM_INPUT where people vary within themselves, or a free
 * number is a distribution. */
IDM_API idm_status idm_posterior_person(const idm_problem *problem, const idm_posterior *posterior,
                                        size_t person, idm_posterior **ret_posterior,
                                        idm_error *opt_error);
/* Held-out prediction of people, each by their own draws: `by` says whose a trajectory is, as in
 * the fit. IDM_INPUT where somebody is not among them. Several at a time. */
IDM_API idm_status idm_people_predict(const idm_problem *problem, const idm_posterior *posterior,
                                      const idm_data *data, const char *by, int threads,
                                      double *log_likelihood, idm_score *score,
                                      idm_error *opt_error);
/* Posterior predictive data: trajectory i acts by draw i * draws / trajectories of the posterior;
 * where a memory outlives the trajectory, agent i by draw i * draws / agents. */
IDM_API idm_status idm_posterior_simulate(const idm_problem *problem,
                                          const idm_posterior *posterior,
                                          const idm_simulation *simulation, idm_data **ret_data,
                                          idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
