/* Predictions: trial-by-trial quantities, held-out prediction, simulation, policies by state, and
 * log-likelihoods at chance level.
 *
 * Contents: trials · predict · policy · chance */
#ifndef IDM_INVERT_PREDICT_H
#define IDM_INVERT_PREDICT_H

#include "base/arguments.h"
#include "idm/explain.h"
#include "idm/extension/data.h"
#include "idm/extension/optimality.h"
#include "idm/extension/posterior.h"
#include "idm/extension/problem.h"
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

/* === policy ================================================================================= */

/* Policies by state: action probabilities of a planner in every observable state. */

/* true if the problem has a policy by state: states are observed, the planner decides by its
 * belief, and there is one utility that does not come from the log. */
bool idm_policy_by_state(const idm_problem *problem);
/* The same for observed or hidden states: true if choices depend on the belief alone. */
bool idm_policy_by_belief(const idm_problem *problem);
/* true if choices are discontinuous in the parameters (the best action changes by jumps): the
 * planner has no positive temperature, fixed or free. */
bool idm_policy_is_discontinuous(const idm_problem *problem);
/* true if the log names environments of a family and none is selected, or the log covers several:
 * no single plan applies to its decisions. */
bool idm_policy_is_undetermined(const idm_problem *problem, const idm_data *data);
/* Computes policy[state][action] of the problem's planner at theta, at the first step. */
idm_status idm_policy_plan(const idm_problem *problem, const idm_theta *theta, double *policy,
                           idm_error *opt_error);
/* Stores that policy in an optimality record, with the names of states and actions. */
idm_status idm_policy_put(const idm_problem *problem, const idm_theta *theta,
                          idm_optimality *optimality, idm_error *opt_error);

/* === chance ================================================================================= */

/* Chance level: log-likelihoods of policies that ignore the observations. */

/* Log-likelihoods of the decisions of a log (rows with an action of which more than one was
 * available) under policies that ignore the observations. */
typedef struct idm_chance {
  uint64_t decisions;
  double uniform; /* every available action equally likely */
  double rates;   /* each action in proportion to one weight per action, at the maximum-likelihood
                     weights */
} idm_chance;

/* Log-loss per decision, in nats. Never negative and never -0, unlike a sum of rounded logarithms.
 */
double idm_log_loss(double log_likelihood, double decisions);
/* Share of the log-loss `of` that the smaller `log_loss` removes (pseudo-R2); NaN if `of` is 0. */
double idm_share_explained(double log_loss, double of);
idm_status idm_chance_measure(const idm_data *data, idm_chance *chance, idm_error *opt_error);

/* === trials ================================================================================= */

/* Trials with a visitor, which computes numbers per row beyond those of idm_trials. */

/* Appends its own numbers to those of every row, and may collect other quantities during the walk.
 */
typedef struct trials_visitor {
  void *context;
  size_t width; /* numbers per row, after those of the trials */
  /* Called first, with the tree whose nodes will be visited and the number of parameter draws. */
  idm_status (*open)(void *context, const idm_data *data, const idm_prefix_tree *tree, size_t draws,
                     idm_error *opt_error);
  /* Subsequent rows belong to draw `draw`, as planned in the workspace. Called again for the same
   * draw if its rows are processed in parts. */
  idm_status (*plan)(void *context, size_t draw, idm_workspace *workspace, idm_error *opt_error);
  /* One row: the memory before its action. Every node is visited once per draw. */
  void (*visit)(void *context, size_t node, const void *memory, double *numbers);
} trials_visitor;

/* idm_trials_create and idm_posterior_trials with a visitor, over max_draws draws at most. */
idm_status idm_trials_create_with(idm_workspace *workspace, const idm_data *data,
                                  const trials_visitor *opt_visitor, idm_trials **ret_trials,
                                  idm_error *opt_error);
idm_status idm_posterior_trials_with(const idm_problem *problem, const idm_posterior *posterior,
                                     size_t max_draws, const idm_data *data,
                                     const trials_visitor *opt_visitor, idm_trials **ret_trials,
                                     idm_error *opt_error);

#endif
