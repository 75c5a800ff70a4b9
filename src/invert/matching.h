/* Soft policy matching: the log-likelihood of a log, and the lattice resolution that it requires.
 *
 * Contents: matching · refine */
#ifndef IDM_INVERT_MATCHING_H
#define IDM_INVERT_MATCHING_H

#include "base/arguments.h"
#include "idm/extension/data.h"
#include "idm/extension/parameters.h"
#include "idm/extension/sampler.h"
#include "idm/extension/settings.h"
#include "plan/plan.h"

/* === matching =============================================================================== */

/* Soft policy matching: log-likelihood of a log as a function of the free numbers. Method:
 * docs/method/inverse.md, 1. */

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

/* === refine ================================================================================= */

/* Choice of the lattice resolution for `resolution: auto`. See docs/method/control.md, 7. */

/* Comparison of one lattice with a finer one. */
typedef struct idm_refinement_step {
  int resolution;
  int finer;
  double shift; /* largest shift of a posterior mean, in posterior standard deviations, extrapolated
                   to a doubling of the resolution */
  double share; /* effective sample size of the importance weights, relative to the number of
                   points; minimum over the two lattices */
} idm_refinement_step;

enum { IDM_REFINEMENTS = 12 };
typedef struct idm_refinement {
  int resolution; /* chosen resolution; 0: no lattice to choose */
  bool converged; /* no posterior mean shifts by 0.1 posterior sd on a finer lattice */
  size_t steps;   /* 0 if the resolution is given, or nothing is to be refined */
  idm_refinement_step step[IDM_REFINEMENTS];
} idm_refinement;

/* Choose the lattice resolution for a fit of a problem with resolution 0 (auto): the default, or
 * the first finer one whose doubling shifts no posterior mean by 0.1 posterior sd. Points are drawn
 * around the mode on the default lattice or, if that is large, from the posterior on a lattice a
 * third as fine. They are reweighted by the posterior on each lattice in turn, and drawn again from
 * the result if the weights become uneven, so a fine lattice needs some tens of plans. If no
 * feasible lattice is fine enough, the first that shifts no mean by 0.25 is chosen, else the
 * default; the verdict then reports the error. The result is a function of the arguments. */
IDM_CHECKED idm_status idm_refine(const idm_problem *problem, const idm_data *data,
                                  const idm_fit_settings *settings,
                                  const idm_fit_monitor *opt_monitor, idm_refinement *refinement,
                                  idm_error *opt_error);
/* Add a note about the choice and its cost. */
IDM_CHECKED void idm_refinement_note(const idm_refinement *refinement, idm_notes *notes);

#endif
