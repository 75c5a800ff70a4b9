/* Posterior prediction: trial-by-trial quantities, held-out prediction, and simulation.
 *
 * Contents: trials · predict */
#ifndef IDM_INVERT_PREDICT_H
#define IDM_INVERT_PREDICT_H

#include "base/arguments.h"
#include "idm/explain.h"
#include "idm/extension/posterior.h"
#include "plan/plan.h"

/* === trials ================================================================================= */

/* Trial-by-trial quantities: beliefs, choice probabilities and values of an agent at every row of a
 * log. */

/* Default maximum number of posterior draws. */
enum { IDM_TRIAL_DRAWS = 1000 };

/* Numbers of a row, in order: belief in each state before the row, probability and Q of each
 * action, surprise -log p(x|z,u) of the recorded observation under the agent's models as weighted
 * by the agent (idm_plan_predict), and contribution of the row to the log-likelihood. NaN:
 * undefined. With missing cells they are means over the possible values (of the surprise: mean of
 * the probability). */
typedef struct idm_trials {
  idm_sizes sizes;
  size_t width; /* numbers per row: 2 + states + 2 actions; more in an explanation */
  size_t draws; /* number of posterior draws; 1: a single parameter */
  size_t rows;
  uint32_t *node; /* [row]: index of its numbers; rows with equal histories share them */
  double *mean;   /* [node][width] */
  double *low;    /* [node][width]: 5 % quantile over the draws; NULL if `draws` is 1 */
  double *high;   /* [node][width]: 95 % quantile */
} idm_trials;

/* Quantities for the parameter of a planned workspace. *ret_trials is owned by the caller. */
IDM_CHECKED idm_status idm_trials_create(idm_workspace *workspace, const idm_data *data,
                                         idm_trials **ret_trials, idm_error *opt_error);
/* Means and quantiles over at most IDM_TRIAL_DRAWS evenly spaced draws of a posterior. The problem
 * must be bound to the data. *ret_trials is owned by the caller. */
IDM_CHECKED idm_status idm_posterior_trials(const idm_problem *problem,
                                            const idm_posterior *posterior, const idm_data *data,
                                            idm_trials **ret_trials, idm_error *opt_error);
/* Free the quantities. Accepts NULL. */
IDM_CHECKED void idm_trials_destroy(idm_trials *trials);

/* === predict ================================================================================ */

/* Posterior prediction: of given trajectories, and simulation of new ones. */

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
