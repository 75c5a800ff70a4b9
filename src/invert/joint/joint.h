/* Joint posterior of learnt dynamics and decisions.
 *
 * Contents: target · learner · joint · mode · verdict */
#ifndef IDM_INVERT_JOINT_JOINT_H
#define IDM_INVERT_JOINT_JOINT_H

#include "idm/extension/sampler.h"
#include "infer/chains.h"
#include "invert/assess.h"
#include "invert/cancel.h"
#include "invert/cut.h"
#include "invert/matching/fit.h"
#include "learn/learn.h"

/* === target ================================================================================= */

/* Joint posterior of learnt dynamics and of the numbers w of decisions, as a target.
 *
 * Its vector v holds the log-ratios of the learnt rows (learn/learn.h), then w. With observations o
 * and decisions a of the cells c of the log,
 *
 *     log p(v) = log p(o | dynamics, a) + log Dirichlet(rows) + sum_c log p(a_c | dynamics, x_c(w))
 *                + log p(w),
 *
 * up to a constant. One evaluation filters the observations once and plans once per cell. */

/* The numbers w, and the free numbers of each cell as functions of them. */
typedef struct joint_parameters {
  size_t count;
  const void *context;
  double (*log_prior)(const void *context, const double *w);
  /* Computes x[free numbers of the problem] of a cell. */
  void (*cell_parameters)(const void *context, size_t cell, const double *w, double *x);
  /* natural computes n[count], an invertible function of w in which the log-likelihood of the
   * decisions is closer to quadratic; inverse computes w from n. NULL: n is w. */
  void (*natural)(const void *context, const double *w, double *n);
  void (*inverse)(const void *context, const double *n, double *w);
  const double *start; /* [count]: n at which searches start */
  const double *unit;  /* [count]: approximate prior sd of n */
} joint_parameters;

/* Data shared by all workers. */
typedef struct joint_target {
  const idm_problem *problem;      /* borrowed: its models follow from its environment */
  const idm_cut_draws *cut;        /* borrowed: draws of the dynamics given the observations */
  const joint_parameters *numbers; /* borrowed */
  const idm_iohmm *learner;        /* borrowed: model of the observations of the whole log */
  size_t cells;
  const fit_context *cell; /* [cells]: open */
  idm_cancel *cancel;      /* borrowed; NULL: not interruptible */
  size_t ratios;
  size_t dimension; /* length of v */
} joint_target;

/* Worker: workspace of one thread. */
typedef struct joint_worker joint_worker;

idm_status idm_joint_worker_create(const joint_target *j, joint_worker **ret_worker,
                                   idm_error *opt_error);
void idm_joint_worker_destroy(joint_worker *worker);
const joint_target *idm_joint_worker_target(const joint_worker *worker);
/* Whether the target has a gradient: if all cells have one with respect to their models. */
bool idm_joint_has_gradient(const joint_worker *worker);
/* Plan at v and start every later plan of a cell from its solution there. Before, plans start cold;
 * in both cases the density is a function of v alone. */
idm_status idm_joint_anchor(joint_worker *worker, const double *v, idm_error *opt_error);
/* The same at a mode in natural coordinates; plans then start from the linear surface of the
 * solutions around it. `covariance` of the target scales the steps of the surface. */
idm_status idm_joint_surface(joint_worker *worker, const double *mode, const double *covariance,
                             idm_error *opt_error);
/* Compute the log density; -inf if something is impossible. opt_group[groups] receives the
 * log-likelihoods of the decisions of trajectories, the k-th added to group k modulo `groups`. */
idm_status idm_joint_evaluate(joint_worker *worker, const double *v, double *log_density,
                              double *opt_group, size_t groups, idm_error *opt_error);
/* The normal approximation of the decisions' log-likelihood at a mode of the target. */
typedef struct joint_normal {
  double log_density; /* of the target */
  double *mode; /* [dimension]: natural coordinates (n in place of w), as in all that follows */
  double *covariance;  /* [dimension][dimension]: of the target */
  double *score;       /* [dimension]: of the decisions */
  double *information; /* [dimension][dimension]: of the decisions */
} joint_normal;
idm_status idm_joint_normal_create(size_t dimension, joint_normal *normal, idm_error *opt_error);
void idm_joint_normal_clear(joint_normal *normal);
void idm_joint_normal_copy(size_t dimension, const joint_normal *from, joint_normal *to);
/* Convert natural coordinates (n in place of w) to v. */
void idm_joint_inverse(const joint_target *j, const double *natural, double *v);
/* The target with a surrogate around a mode. Borrows worker and normal, which must outlive it. */
idm_target idm_joint_target(joint_worker *worker, const joint_normal *normal);
/* Surrogate log density of such a target, with the worker as context: observations and priors
 * exactly, the decisions by their approximation at the mode. */
double idm_joint_surrogate(void *worker, const double *v);

/* === learner ================================================================================ */

/* Whether dynamics can be drawn together with the decisions of a log. */

/* If the draws of a cut are of the observations in `data`, so that dynamics and decisions can be
 * drawn together, *ret_learner is the model of the observations, owned by the caller; else NULL.
 * Required: draws and log give the same log-likelihood and learn the same rows, the prior of the
 * rows is known, and the models of the problem follow from its environment. */
idm_status idm_joint_learner(const idm_problem *problem, const idm_cut_draws *cut,
                             const idm_data *data, idm_iohmm **ret_learner, idm_error *opt_error);

/* Mean of learnt dynamics, as a set with one draw: of the dynamics drawn with the decisions, else
 * of the draws of the cut. */
idm_status idm_dynamics_mean(const idm_cut_draws *cut, const idm_joint_dynamics *opt_drawn,
                             idm_dynamics_draws *mean, idm_error *opt_error);

/* === joint ================================================================================== */

/* Joint draws of learnt dynamics and of the numbers of decisions. */

/* Draw the whole vector, with as many chains as in the settings. Every chain searches for a mode
 * from its own draw of the dynamics, and all but the first from their own numbers; a mode with
 * negligible mass is replaced by the highest one. Chains start dispersed around their modes. The
 * sampler is hmc in more than 20 dimensions with a gradient, else pcn, unless the settings name
 * one. Returns IDM_UNTRUSTED if the monitor stops it; from the checkpoint, the same request
 * continues bit for bit. Results do not depend on the number of threads. */
idm_status idm_joint_draw(joint_target *j, const idm_fit_settings *settings, uint64_t key,
                          const idm_fit_monitor *opt_monitor, idm_chains **ret_chains,
                          idm_joint_dynamics **ret_dynamics, idm_error *opt_error);

/* === mode =================================================================================== */

/* Mode of a joint posterior, and the normal approximation there. */

/* Compute the precision of the natural coordinates without the decisions, [dimension][dimension]:
 * of the log-ratios from the covariance of the draws of the cut, of the numbers from their units.
 */
idm_status idm_joint_precision(const joint_target *j, double *precision, idm_error *opt_error);
/* Starting point of the search of worker `worker` of `workers`, in natural coordinates: a draw of
 * the cut, those of different workers spread evenly, and the starting values of the numbers. */
idm_status idm_joint_start(const joint_target *j, size_t worker, size_t workers, double *natural,
                           idm_error *opt_error);
/* Search from normal->mode, in place, by Gauss-Newton steps: the Hessian is `precision` as above
 * plus the outer products of the scores of trajectories, by finite differences. The other members
 * of normal are computed at the mode, at which the worker is left anchored. Returns IDM_NUMERICAL
 * if the density is 0 at the start. */
idm_status idm_joint_find_mode(joint_worker *worker, const double *precision, joint_normal *normal,
                               idm_error *opt_error);

/* === verdict ================================================================================ */

/* Verdict on answers over learnt dynamics. */

/* Record R-hat of the drawn dynamics and the loss in likelihood of the observations, with a remark,
 * and with a failure if a check fails: *trusted becomes false. */
void idm_joint_check(const idm_joint_dynamics *dynamics, idm_checks *checks, idm_notes *remarks,
                     idm_notes *failures, bool *trusted);

/* Assess a posterior over learnt dynamics by a fit of `problem`, which has one set of them
 * (invert/assess/context.h). Returns IDM_UNTRUSTED if the monitor stops it. */
idm_status idm_joint_assess(const idm_problem *problem, const idm_data *data,
                            const idm_inverse *inverse, const idm_fit_settings *settings,
                            const idm_posterior *posterior, const idm_fit_monitor *opt_monitor,
                            idm_assessment **ret_assessment, idm_error *opt_error);

#endif
