/* The joint posterior of learnt dynamics and of the numbers behind decisions, as a target.
 *
 * Its vector holds the log-ratios of the learnt rows (learn/ratio.h), then the numbers w. With
 * observations o and decisions a of cells of the log,
 *
 *     log p(v) = log p(o | dynamics, a) + log Dirichlet(rows) + sum_c log p(a_c | dynamics, x_c(w))
 *                + log p(w),
 *
 * up to a constant. One evaluation filters the observations once and plans once per cell. */
#ifndef IDM_INVERT_JOINT_TARGET_H
#define IDM_INVERT_JOINT_TARGET_H

#include "idm/cut.h"
#include "idm/sampler.h"
#include "invert/matching/fit.h"
#include "invert/matching/halt.h"
#include "learn/iohmm.h"

/* The numbers w, and the free numbers of each cell that follow from them. */
typedef struct joint_numbers {
  size_t count;
  const void *context;
  double (*log_prior)(const void *context, const double *w);
  /* x[free numbers of the problem] of a cell. */
  void (*place)(const void *context, size_t cell, const double *w, double *x);
  /* n[count], an invertible function of w in which the log-likelihood of the decisions is closer to
   * quadratic, and back; NULL: w itself. */
  void (*natural)(const void *context, const double *w, double *n);
  void (*inverse)(const void *context, const double *n, double *w);
  const double *start; /* [count]: n where searches begin */
  const double *unit;  /* [count]: sd of the prior of n, about */
} joint_numbers;

/* Everything that lanes share. */
typedef struct joint {
  const idm_problem *problem;   /* borrowed: its models follow from its environment */
  const idm_cuts *cut;          /* borrowed: draws of the dynamics given the observations */
  const joint_numbers *numbers; /* borrowed */
  const idm_iohmm *learner;     /* borrowed: of the whole log */
  size_t cells;
  const fit *cell; /* [cells]: open */
  idm_halt *halt;  /* borrowed; NULL: not interruptible */
  size_t ratios;
  size_t dimension; /* of the whole vector */
} joint;

/* The scratch of one thread. */
typedef struct joint_lane joint_lane;

idm_status idm_joint_lane_create(const joint *j, joint_lane **ret_lane, idm_error *opt_error);
void idm_joint_lane_destroy(joint_lane *lane);
const joint *idm_joint_of(const joint_lane *lane);
/* Whether the target has a gradient: where all cells have one by their models. */
bool idm_joint_has_gradient(const joint_lane *lane);
/* Plan at v and start every later plan of a cell from its solution there. Until then plans start
 * from nothing; either way the density is a function of v alone. */
idm_status idm_joint_anchor(joint_lane *lane, const double *v, idm_error *opt_error);
/* The same at a mode in natural coordinates, and start plans from the linear surface of the
 * solutions around it; `covariance` of the target scales its steps. */
idm_status idm_joint_surface(joint_lane *lane, const double *mode, const double *covariance,
                             idm_error *opt_error);
/* The log density; into opt_part[parts] the log-likelihoods of the decisions of trajectories, the
 * k-th added to part k modulo `parts`. -inf where something is impossible. */
idm_status idm_joint_evaluate(joint_lane *lane, const double *v, double *log_density,
                              double *opt_part, size_t parts, idm_error *opt_error);
/* The normal approximation of the decisions' log-likelihood at a mode of the target. */
typedef struct joint_peak {
  double log_density;  /* of the target */
  double *mode;        /* [dimension]: with n in place of w, as all that follows */
  double *covariance;  /* [dimension][dimension]: of the target */
  double *slope;       /* [dimension]: of the decisions */
  double *information; /* [dimension][dimension]: of the decisions */
} joint_peak;
idm_status idm_joint_peak_create(size_t dimension, joint_peak *peak, idm_error *opt_error);
void idm_joint_peak_clear(joint_peak *peak);
void idm_joint_peak_copy(size_t dimension, const joint_peak *from, joint_peak *to);
/* v with n in place of w, and back. */
void idm_joint_natural(const joint *j, const double *v, double *natural);
void idm_joint_inverse(const joint *j, const double *natural, double *v);
/* The target, whose surrogate is around a peak. Borrowed: valid while the lane and the peak are. */
idm_target idm_joint_target(joint_lane *lane, const joint_peak *peak);
/* The surrogate of such a target, a lane being its context: the observations, the priors, and the
 * decisions by their approximation at the peak. */
double idm_joint_surrogate(void *lane, const double *v);

#endif
