/* Likelihood of a log under a behaviour, and its derivative. See docs/method/likelihood.md. */
#ifndef IDM_PLAN_SCORE_H
#define IDM_PLAN_SCORE_H

#include "base/door.h"
#include "idm/extension/behavior.h"
#include "idm/extension/prefix.h"
#include "idm/plan.h"

typedef struct idm_scorer idm_scorer;
/* Create a scorer with the scratch memory for one tree. Data and tree are borrowed. *ret_scorer is
 * owned by the caller. */
IDM_CHECKED idm_status idm_scorer_create(const idm_data *data, const idm_prefix_tree *tree,
                                         idm_scorer **ret_scorer, idm_error *opt_error);
/* Free a scorer. Accepts NULL. */
IDM_CHECKED void idm_scorer_destroy(idm_scorer *scorer);
/* Compute the log-likelihood of the data under a behaviour. Memories are reused between runs of the
 * same behaviour, so its workspace must outlive the scorer. IDM_INPUT with the line for an
 * observation that is impossible for the agent; IDM_UNTRUSTED if interrupted. */
IDM_CHECKED idm_status idm_scorer_run(idm_scorer *scorer, idm_behavior behavior, idm_score *score,
                                      idm_error *opt_error);
/* Callback for every row of the tree: its node, the memory before its action, and the probabilities
 * of all actions (valid during the call). */
typedef void (*idm_scorer_visitor)(void *context, size_t node, const void *memory,
                                   const double *probability);
/* Set the callback of later runs; `context` is its first argument. NULL: none. */
IDM_CHECKED void idm_scorer_set_visitor(idm_scorer *scorer, idm_scorer_visitor opt_visitor,
                                        void *context);
/* Set a callback that is called every few milliseconds in later runs; if it returns true, the run
 * ends with IDM_UNTRUSTED. NULL: none. */
IDM_CHECKED void idm_scorer_interrupt(idm_scorer *scorer, idm_interrupt opt_interrupt,
                                      void *context);
/* After a run: contribution of one row of the tree to the log-likelihood. NaN if out of range. */
IDM_CHECKED double idm_scorer_row(const idm_scorer *scorer, size_t node);
/* After a run: log-likelihood summed by agent, into log_likelihood [agents]. */
IDM_CHECKED void idm_scorer_agents(const idm_scorer *scorer, double *log_likelihood);
/* After a run: log-likelihood of one trajectory. */
IDM_CHECKED double idm_scorer_trajectory(const idm_scorer *scorer, size_t trajectory);
/* After a run: log-probability of the decision of each row of a trajectory, into log_probability
 * [rows of the trajectory]; 0 if the row has no decision. */
IDM_CHECKED void idm_scorer_decisions(const idm_scorer *scorer, size_t trajectory,
                                      double *log_probability);
/* After a run: contribution of each row of a trajectory apart from its decision, into log_evidence
 * [rows of the trajectory]. Both sums together are the log-likelihood of the trajectory. */
IDM_CHECKED void idm_scorer_evidence(const idm_scorer *scorer, size_t trajectory,
                                     double *log_evidence);

/* --- gradient ------------------------------------------------------------------------------- */

/* Log-likelihood with its derivative, from the derivative of the behaviour. See
 * docs/method/likelihood.md, 7. */
typedef struct idm_gradient idm_gradient;

/* True if the derivative is available: the behaviour has one, and it supports the data. */
IDM_CHECKED bool idm_gradient_possible(const idm_data *data, const idm_prefix_tree *tree,
                                       const idm_workspace *workspace);
/* Allocate scratch memory for one tree and one workspace; data, tree and workspace are borrowed.
 * *ret_gradient is owned by the caller. */
IDM_CHECKED idm_status idm_gradient_create(const idm_data *data, const idm_prefix_tree *tree,
                                           idm_workspace *workspace, idm_gradient **ret_gradient,
                                           idm_error *opt_error);
/* Free the scratch memory. Accepts NULL. */
IDM_CHECKED void idm_gradient_destroy(idm_gradient *gradient);
/* After idm_plan: the log-likelihood, and into `derivative` (a theta of the same form) its
 * derivative with respect to every number of the blocks that the planner uses. It is 0 for all
 * other numbers and for: belief_prior, if it was fixed when the workspace was created; certainty,
 * except a free award; the pieces of belief_utility; perseverance, if it is fixed at 0 and actions
 * are missing; numbers of a learner's values that are not free in `derivative`; and the parameters
 * of beliefs (the models' dynamics, prior_weight and evidence_weight), unless one of them was free
 * when the workspace was created. For `reciprocal` blocks it is the derivative with respect to the
 * INVERSE, which is smooth at infinity. For distributions it holds along the simplex: it is
 * determined up to a constant common to all entries. Allocates no memory if everything was
 * recorded, otherwise only for more hypotheses than in earlier calls. A decision with probability 0
 * gives -inf and derivatives of 0. IDM_INPUT as idm_scorer_run. */
IDM_CHECKED idm_status idm_gradient_run(idm_gradient *gradient, double *log_likelihood,
                                        idm_theta *derivative, idm_error *opt_error);
/* Set a callback as idm_scorer_interrupt; effective if the derivative of the behaviour can be
 * interrupted. */
IDM_CHECKED void idm_gradient_interrupt(idm_gradient *gradient, idm_interrupt opt_interrupt,
                                        void *context);

#endif
