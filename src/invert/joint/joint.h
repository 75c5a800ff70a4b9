/* The joint posterior of learnt dynamics and decisions.
 *
 * Contents: target · learner · joint · approach · verdict */
#ifndef IDM_INVERT_JOINT_JOINT_H
#define IDM_INVERT_JOINT_JOINT_H

#include "idm/assess.h"
#include "idm/chains.h"
#include "idm/cut.h"
#include "idm/sampler.h"
#include "invert/matching/fit.h"
#include "invert/matching/halt.h"
#include "learn/learn.h"

/* === target ================================================================================= */

/* The joint posterior of learnt dynamics and of the numbers behind decisions, as a target.
 *
 * Its vector holds the log-ratios of the learnt rows (learn/learn.h), then the numbers w. With
 * observations o and decisions a of cells of the log,
 *
 *     log p(v) = log p(o | dynamics, a) + log Dirichlet(rows) + sum_c log p(a_c | dynamics, x_c(w))
 *                + log p(w),
 *
 * up to a constant. One evaluation filters the observations once and plans once per cell. */

/* The numbers w, and the free numbers of each cell that follow from them. */
typedef struct joint_parameters {
  size_t count;
  const void *context;
  double (*log_prior)(const void *context, const double *w);
  /* x[free numbers of the problem] of a cell. */
  void (*cell_parameters)(const void *context, size_t cell, const double *w, double *x);
  /* n[count], an invertible function of w in which the log-likelihood of the decisions is closer to
   * quadratic, and back; NULL: w itself. */
  void (*natural)(const void *context, const double *w, double *n);
  void (*inverse)(const void *context, const double *n, double *w);
  const double *start; /* [count]: n where searches begin */
  const double *unit;  /* [count]: sd of the prior of n, about */
} joint_parameters;

/* Everything that lanes share. */
typedef struct joint_target {
  const idm_problem *problem;      /* borrowed: its models follow from its environment */
  const idm_cut_draws *cut;        /* borrowed: draws of the dynamics given the observations */
  const joint_parameters *numbers; /* borrowed */
  const idm_iohmm *learner;        /* borrowed: of the whole log */
  size_t cells;
  const fit_context *cell; /* [cells]: open */
  idm_cancel *cancel;      /* borrowed; NULL: not interruptible */
  size_t ratios;
  size_t dimension; /* of the whole vector */
} joint_target;

/* The scratch of one thread. */
typedef struct joint_worker joint_worker;

idm_status idm_joint_worker_create(const joint_target *j, joint_worker **ret_worker,
                                   idm_error *opt_error);
void idm_joint_worker_destroy(joint_worker *worker);
const joint_target *idm_joint_worker_target(const joint_worker *worker);
/* Whether the target has a gradient: where all cells have one by their models. */
bool idm_joint_has_gradient(const joint_worker *worker);
/* Plan at v and start every later plan of a cell from its solution there. Until then plans start
 * from nothing; either way the density is a function of v alone. */
idm_status idm_joint_anchor(joint_worker *worker, const double *v, idm_error *opt_error);
/* The same at a mode in natural coordinates, and start plans from the linear surface of the
 * solutions around it; `covariance` of the target scales its steps. */
idm_status idm_joint_surface(joint_worker *worker, const double *mode, const double *covariance,
                             idm_error *opt_error);
/* The log density; into opt_group[parts] the log-likelihoods of the decisions of trajectories, the
 * k-th added to part k modulo `parts`. -inf where something is impossible. */
idm_status idm_joint_evaluate(joint_worker *worker, const double *v, double *log_density,
                              double *opt_group, size_t groups, idm_error *opt_error);
/* The normal approximation of the decisions' log-likelihood at a mode of the target. */
typedef struct joint_normal {
  double log_density;  /* of the target */
  double *mode;        /* [dimension]: with n in place of w, as all that follows */
  double *covariance;  /* [dimension][dimension]: of the target */
  double *score;       /* [dimension]: of the decisions */
  double *information; /* [dimension][dimension]: of the decisions */
} joint_normal;
idm_status idm_joint_normal_create(size_t dimension, joint_normal *normal, idm_error *opt_error);
void idm_joint_normal_clear(joint_normal *normal);
void idm_joint_normal_copy(size_t dimension, const joint_normal *from, joint_normal *to);
/* v with n in place of w, and back. */
void idm_joint_natural(const joint_target *j, const double *v, double *natural);
void idm_joint_inverse(const joint_target *j, const double *natural, double *v);
/* The target, whose surrogate is around a peak. Borrowed: valid while the lane and the peak are. */
idm_target idm_joint_target(joint_worker *worker, const joint_normal *normal);
/* The surrogate of such a target, a lane being its context: the observations, the priors, and the
 * decisions by their approximation at the peak. */
double idm_joint_surrogate(void *worker, const double *v);

/* === learner ================================================================================ */

/* Whether dynamics can be drawn together with the decisions of a log. */

/* Whether the draws of a cut are of the observations in `data`, so that dynamics and decisions can
 * be drawn together: then the model of the observations, to be destroyed; else NULL. The draws and
 * the log give the same log-likelihood, the same rows are learnt, the prior of the rows is known,
 * and the models of the problem follow from its environment. */
idm_status idm_joint_learner(const idm_problem *problem, const idm_cut_draws *cut,
                             const idm_data *data, idm_iohmm **ret_learner, idm_error *opt_error);

/* The mean of learnt dynamics, as draws of which there is one: of those that were drawn with the
 * decisions, else of the draws of the cut. */
idm_status idm_dynamics_mean(const idm_cut_draws *cut, const idm_joint_dynamics *opt_drawn,
                             idm_dynamics_draws *mean, idm_error *opt_error);

/* === joint ================================================================================== */

/* Draws of learnt dynamics and of the numbers behind decisions, together. */

/* Draws of the whole vector, by as many chains as the settings have. Every chain climbs from a draw
 * of the dynamics of its own, and all but the first from numbers of their own, to a mode; a mode
 * that is hopelessly lower than another is left for it. Chains start dispersed around their modes.
 * The sampler is nuts in more than 20 dimensions with a gradient, else pcn, unless the settings
 * have another.
 * IDM_UNTRUSTED where the watch stops it; from the checkpoint of its work the same request goes on,
 * bit for bit. The same at any thread count. */
idm_status idm_joint_draw(joint_target *j, const idm_fit_settings *settings, uint64_t key,
                          const idm_fit_monitor *opt_monitor, idm_chains **ret_chains,
                          idm_joint_dynamics **ret_dynamics, idm_error *opt_error);

/* === approach =============================================================================== */

/* The mode of a joint posterior, and the normal approximation there. */

/* Precision of the natural coordinates without the decisions, [dimension][dimension]: of the
 * log-ratios by the covariance of the draws of the cut, of the numbers by their units. */
idm_status idm_joint_precision(const joint_target *j, double *precision, idm_error *opt_error);
/* Where lane `lane` of `lanes` begins to climb, in natural coordinates: a draw of the cut, those of
 * different lanes spread evenly, and the numbers where they start. */
idm_status idm_joint_start(const joint_target *j, size_t worker, size_t workers, double *natural,
                           idm_error *opt_error);
/* Climb from the peak's mode, in place, by Gauss-Newton steps: `precision` as above and the outer
 * products of the scores of trajectories, by central differences. The rest of the peak is filled in
 * there. The lane is left anchored. IDM_NUMERICAL where the density is 0 where it begins. */
idm_status idm_joint_find_mode(joint_worker *worker, const double *precision, joint_normal *normal,
                               idm_error *opt_error);

/* === verdict ================================================================================ */

/* The verdict on answers over learnt dynamics. */

/* Record how well chains agree about the dynamics drawn, with a remark, and a failure where they do
 * not: then *trusted becomes false. */
void idm_joint_check(const idm_joint_dynamics *dynamics, idm_checks *checks, idm_notes *remarks,
                     idm_notes *failures, bool *trusted);

/* Assess a posterior over learnt dynamics by a fit of `problem`, which has one set of
 * them (invert/assess/inquiry.h). IDM_UNTRUSTED where the watch stops it. */
idm_status idm_joint_assess(const idm_problem *problem, const idm_data *data,
                            const idm_inverse *inverse, const idm_fit_settings *settings,
                            const idm_posterior *posterior, const idm_fit_monitor *opt_monitor,
                            idm_assessment **ret_assessment, idm_error *opt_error);

#endif
