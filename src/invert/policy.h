/* Policies by state, choice at chance level, and rows of a log.
 *
 * Contents: policy · chance · trials */
#ifndef IDM_INVERT_POLICY_H
#define IDM_INVERT_POLICY_H

#include "idm/data.h"
#include "idm/finding.h"
#include "idm/problem.h"
#include "idm/trials.h"

/* === policy ================================================================================= */

/* Policies by state: what a planner does in every state that may be observed. */

/* Whether a problem has such a policy: states are observed, the planner decides by what it believes
 * of them, and utilities are one, not the log's. */
bool idm_policy_by_state(const idm_problem *problem);
/* The same whether states are observed or not: choices depend on the belief alone. */
bool idm_policy_by_belief(const idm_problem *problem);
/* Whether choices move by leaps from one best action to another: what the planner takes is drawn by
 * no temperature that is above 0, or may become so. */
bool idm_policy_is_discontinuous(const idm_problem *problem);
/* Whether the log names environments of a family and is not in the one that is chosen: no plan can
 * be compared with its decisions. */
bool idm_policy_is_undetermined(const idm_problem *problem, const idm_data *data);
/* policy[state][action] of the problem's planner at theta, at the first step. */
idm_status idm_policy_plan(const idm_problem *problem, const idm_theta *theta, double *policy,
                           idm_error *opt_error);
/* The same into a finding, with the names of states and actions. */
idm_status idm_policy_put(const idm_problem *problem, const idm_theta *theta,
                          idm_optimality *finding, idm_error *opt_error);

/* === chance ================================================================================= */

/* What somebody reaches who knows nothing of what was seen. */

/* Log-likelihoods of the decisions of a log (rows with an action of which more than one was open)
 * under policies that look at nothing. */
typedef struct idm_chance {
  uint64_t decisions;
  double uniform; /* every open action alike */
  double rates;   /* each action in proportion to a weight of its own, at the best weights */
} idm_chance;

/* The log-loss of a decision, nats: never below 0, as a sum of rounded logarithms may be, nor -0.
 */
double idm_log_loss(double log_likelihood, double decisions);
/* The share of a log-loss that a better one takes away (pseudo-R2); NaN where there is none to take
 * away. */
double idm_share_explained(double log_loss, double of);
idm_status idm_chance_measure(const idm_data *data, idm_chance *chance, idm_error *opt_error);

/* === trials ================================================================================= */

/* Trials with a guest: whoever has more to say of a row than idm_trials does by itself. */

/* Adds numbers of its own to those of every row, and may gather what it likes on the way. */
typedef struct trials_visitor {
  void *context;
  size_t width; /* numbers a row, after those of the trials */
  /* Before anything else: the tree whose nodes will be shown, and how many parameters there are. */
  idm_status (*open)(void *context, const idm_data *data, const idm_prefix_tree *tree, size_t draws,
                     idm_error *opt_error);
  /* From now on rows are those of draw `draw`, as planned in the workspace. Called again for the
   * same draw where the rows of one draw come in parts. */
  idm_status (*plan)(void *context, size_t draw, idm_workspace *workspace, idm_error *opt_error);
  /* A row: the memory before its action. Every node is shown once a draw. */
  void (*visit)(void *context, size_t node, const void *memory, double *numbers);
} trials_visitor;

/* idm_trials_create and idm_posterior_trials with a guest, over so many draws at most. */
idm_status idm_trials_create_with(idm_workspace *workspace, const idm_data *data,
                                  const trials_visitor *opt_visitor, idm_trials **ret_trials,
                                  idm_error *opt_error);
idm_status idm_posterior_trials_with(const idm_problem *problem, const idm_posterior *posterior,
                                     size_t max_draws, const idm_data *data,
                                     const trials_visitor *opt_visitor, idm_trials **ret_trials,
                                     idm_error *opt_error);

#endif
