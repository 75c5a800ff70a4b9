/* Soft policy matching: log-likelihood of a log as a function of the free numbers. Method:
 * docs/method/inverse.md, 1. */
#ifndef IDM_INVERT_MATCHING_H
#define IDM_INVERT_MATCHING_H

#include "base/door.h"
#include "idm/extension/parameters.h"
#include "idm/extension/sampler.h"
#include "plan/score.h"

/* Log-likelihood of a log as a function of the free numbers. An object belongs to one thread;
 * problem, data, tree and parameters are borrowed and may be shared. */
typedef struct idm_matching idm_matching;

/* Create the function for a problem and its data; `tree` is the tree of histories of the data.
 * *ret_matching is owned by the caller. */
IDM_CHECKED idm_status idm_matching_create(const idm_problem *problem, const idm_data *data,
                                           const idm_prefix_tree *tree,
                                           const idm_parameters *parameters,
                                           idm_matching **ret_matching, idm_error *opt_error);
/* Free the object. Accepts NULL. */
IDM_CHECKED void idm_matching_destroy(idm_matching *matching);
/* Log-likelihood at y [dimension] and its gradient [dimension] (central differences if the
 * behaviour has no derivative for these data). -inf if planning fails or data are impossible. */
IDM_CHECKED idm_status idm_matching_log_likelihood(idm_matching *matching, const double *y,
                                                   double *log_likelihood, double *opt_gradient,
                                                   idm_error *opt_error);
/* Plan at y and start every later plan from that solution. Before the first call every plan is a
 * cold start. In both cases the log-likelihood is a function of y alone. */
IDM_CHECKED idm_status idm_matching_fix_start(idm_matching *matching, const double *y,
                                              idm_error *opt_error);
/* Log posterior density as a target. The target borrows the object. */
IDM_CHECKED idm_target idm_matching_target(idm_matching *matching);
/* Scorer of the last evaluation, with the contribution of each trajectory. Borrowed. */
IDM_CHECKED const idm_scorer *idm_matching_scorer(const idm_matching *matching);
/* Workspace that was planned in the last evaluation. Borrowed. */
IDM_CHECKED idm_workspace *idm_matching_workspace(idm_matching *matching);
/* After an evaluation with a gradient: derivative with respect to every number of theta (see
 * idm_gradient_run). Borrowed; NULL if the behaviour has no derivative. */
IDM_CHECKED const idm_theta *idm_matching_theta_grad(const idm_matching *matching);

#endif
