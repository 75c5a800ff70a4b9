/* Likelihood of a log under a behaviour, and its derivative. */
#ifndef IDM_SCORE_H
#define IDM_SCORE_H

#include "idm/workspace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Causally conditioned log-likelihood over the prefix tree, of the rows that are scored (see
 * idm_data.history). */
typedef struct idm_score {
  double log_likelihood; /* of the decisions, and the evidence */
  double evidence; /* the part of it that is of no decision: where something was not recorded, what
                      was recorded speaks of it (idm_behavior_ops.observe) */
  double brier;    /* sum of sum_v (pi(v|z) - 1{v = u})^2 over the decisions; NaN where some rows
                      are not scored */
  uint64_t decisions;          /* rows with an action of which more than one was open */
  uint64_t forced;             /* rows with one open action */
  uint64_t missed;             /* missed responses */
  uint64_t unrecorded;         /* other rows without an action */
  long impossible_line;        /* line of a decision of probability 0; 0 where there is none */
  const char *impossible_file; /* where that line stands; borrowed from the data */
} idm_score;

typedef struct idm_scorer idm_scorer;
/* A scorer keeps the scratch for one tree; data and tree are borrowed. */
IDM_API idm_status idm_scorer_create(const idm_data *data, const idm_prefix_tree *tree,
                                     idm_scorer **ret_scorer, idm_error *opt_error);
IDM_API void idm_scorer_destroy(idm_scorer *scorer);
/* Score the data. Memories are kept between runs of the same behaviour, so its workspace must live
 * as long as the scorer. An observation that the agent holds impossible is IDM_INPUT, with the
 * line. */
IDM_API idm_status idm_scorer_run(idm_scorer *scorer, idm_behavior behavior, idm_score *score,
                                  idm_error *opt_error);
/* From now on a run shows what each row of the tree was decided by: its node, the memory before its
 * action, and the probabilities of all actions there (valid during the call). NULL: no longer. */
typedef void (*idm_scorer_visitor)(void *context, size_t node, const void *memory,
                                   const double *probability);
IDM_API void idm_scorer_set_visitor(idm_scorer *scorer, idm_scorer_visitor opt_visitor,
                                    void *context);
/* From now on a run asks every few milliseconds whether to give up, and then ends with
 * IDM_UNTRUSTED. NULL: it no longer asks. */
IDM_API void idm_scorer_interrupt(idm_scorer *scorer, idm_interrupt opt_interrupt, void *context);
/* After a run: what one row of the tree adds to the log-likelihood. */
IDM_API double idm_scorer_row(const idm_scorer *scorer, size_t node);
/* After a run: log-likelihood of each trajectory, summed by agent into [agents]. */
IDM_API void idm_scorer_agents(const idm_scorer *scorer, double *log_likelihood);
/* After a run: log-likelihood of one trajectory. */
IDM_API double idm_scorer_trajectory(const idm_scorer *scorer, size_t trajectory);
/* After a run: log-probability of the decision of each row of a trajectory; 0 where nothing was
 * decided. */
IDM_API void idm_scorer_decisions(const idm_scorer *scorer, size_t trajectory,
                                  double *log_probability);
/* After a run: what each row of a trajectory adds beside its decision. The two of all rows sum to
 * the log-likelihood of the trajectory. */
IDM_API void idm_scorer_evidence(const idm_scorer *scorer, size_t trajectory, double *log_evidence);

/* --- gradient ------------------------------------------------------------------------------- */

/* The log-likelihood with its derivatives: the behaviour's slope. */
typedef struct idm_gradient idm_gradient;

/* Whether it can be had: the behaviour has a slope, and that can deal with the data. */
IDM_API bool idm_gradient_possible(const idm_data *data, const idm_prefix_tree *tree,
                                   const idm_workspace *workspace);
/* Scratch for one tree and one workspace; all three are borrowed. */
IDM_API idm_status idm_gradient_create(const idm_data *data, const idm_prefix_tree *tree,
                                       idm_workspace *workspace, idm_gradient **ret_gradient,
                                       idm_error *opt_error);
IDM_API void idm_gradient_destroy(idm_gradient *gradient);
/* After idm_plan: the log-likelihood, and into `slope` (a theta of the same form) its derivative
 * with respect to every number of the blocks that the planner reads; 0 elsewhere, for a
 * belief_prior that was held when the workspace was made, of certainty for all but an award that is
 * free, of belief_utility for pieces, for a perseverance that is held at
 * 0 where actions were not recorded, for numbers of what a learner's values depend on that are not
 * free in `slope`, and for what makes beliefs (the models' dynamics, prior_weight and
 * evidence_weight) unless some of it was free when the workspace was made. Those of `reciprocal`
 * blocks are with respect to the INVERSE, which is smooth through the limit of infinity. Those of
 * distributions hold along the simplex: a number common to all entries is undetermined. Allocates
 * nothing where everything was recorded, and elsewhere only for more hypotheses than there were
 * before. A decision of probability 0 gives -inf and slopes of 0.
 */
IDM_API idm_status idm_gradient_run(idm_gradient *gradient, double *log_likelihood,
                                    idm_theta *derivative, idm_error *opt_error);
/* As for a scorer, where the behaviour's slope can be interrupted. */
IDM_API void idm_gradient_interrupt(idm_gradient *gradient, idm_interrupt opt_interrupt,
                                    void *context);

#ifdef __cplusplus
}
#endif
#endif
