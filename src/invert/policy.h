/* Policies by state, log-likelihoods at chance level, and per-row quantities of a log.
 *
 * Contents: policy · chance · trials */
#ifndef IDM_INVERT_POLICY_H
#define IDM_INVERT_POLICY_H

#include "idm/extension/data.h"
#include "idm/extension/optimality.h"
#include "idm/extension/problem.h"
#include "invert/predict.h"

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
/* Stores that policy in a finding, with the names of states and actions. */
idm_status idm_policy_put(const idm_problem *problem, const idm_theta *theta,
                          idm_optimality *finding, idm_error *opt_error);

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
