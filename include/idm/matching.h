/* Soft policy matching: the log-likelihood of a log as a function of the free numbers. */
#ifndef IDM_MATCHING_H
#define IDM_MATCHING_H

#include "idm/parameters.h"
#include "idm/sampler.h"
#include "idm/score.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The log-likelihood of a log as a function of the free numbers. One thread's own; problem, data,
 * tree and parameters are borrowed and shared. */
typedef struct idm_matching idm_matching;

IDM_API idm_status idm_matching_create(const idm_problem *problem, const idm_data *data,
                                       const idm_prefix_tree *tree,
                                       const idm_parameters *parameters,
                                       idm_matching **ret_matching, idm_error *opt_error);
IDM_API void idm_matching_destroy(idm_matching *matching);
/* log-likelihood at y and its gradient (by central differences where the data leave beliefs
 * unknown). -inf where the planner cannot plan, or the data are impossible. */
IDM_API idm_status idm_matching_log_likelihood(idm_matching *matching, const double *y,
                                               double *log_likelihood, double *opt_gradient,
                                               idm_error *opt_error);
/* Plan at y and let every later plan start from there. Until then every plan starts from nothing:
 * either way the log-likelihood is a function of y alone. */
IDM_API idm_status idm_matching_fix_start(idm_matching *matching, const double *y,
                                          idm_error *opt_error);
/* log posterior density of y. Borrowed: valid while the matching is. */
IDM_API idm_target idm_matching_target(idm_matching *matching);
/* After an evaluation: the scorer with each trajectory's part, and the planned workspace. */
IDM_API const idm_scorer *idm_matching_scorer(const idm_matching *matching);
IDM_API idm_workspace *idm_matching_workspace(idm_matching *matching);
/* After an evaluation with a gradient: the derivative with respect to every number of theta (see
 * idm_gradient_run); NULL where it is not to be had. */
IDM_API const idm_theta *idm_matching_theta_grad(const idm_matching *matching);

#ifdef __cplusplus
}
#endif
#endif
