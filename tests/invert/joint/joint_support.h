/* A problem with one learnt probability and one free parameter, whose joint posterior is known by
 * quadrature. */
#ifndef IDM_TESTS_INVERT_JOINT_SUPPORT_H
#define IDM_TESTS_INVERT_JOINT_SUPPORT_H

#include "support.h"

typedef struct joint_scene {
  idm_problem *problem; /* log alpha is free, normal(0, 1) */
  idm_data *data;
  idm_iohmm *learner;
  idm_learn_settings settings;
  idm_dynamics_draws draws; /* of observation[*,healthy,negative] and the other entry of its row */
} joint_scene;
joint_scene joint_open(size_t trajectories);
void joint_close(joint_scene *s);
/* joint_parameters of the free parameter: the prior normal(0, 1), and the same value in every cell.
 */
double joint_prior(const void *context, const double *w);
void joint_same(const void *context, size_t cell, const double *w, double *x);
/* Another log of the same problem. */
idm_data *joint_other_log(const joint_scene *s);

/* Log-likelihoods over a grid of the log-ratio of the learnt row and of log alpha: of the
 * observations, by the forward recursion of a textbook, and of the decisions of the members of a
 * set, each by a plan from a cold start. */
enum { JOINT_RATIOS = 61, JOINT_ALPHAS = 61 };
typedef struct joint_grid {
  double ratio[JOINT_RATIOS];
  double alpha[JOINT_ALPHAS];    /* log alpha */
  double observed[JOINT_RATIOS]; /* with Dirichlet(prior) and the Jacobian */
  double decided[JOINT_RATIOS][JOINT_ALPHAS];
} joint_grid;
void joint_tabulate(const joint_scene *s, const bool *opt_member, joint_grid *grid);

/* Weighted mean and sd. */
typedef struct joint_moments {
  double weight;
  double first;
  double second;
} joint_moments;
void joint_add(joint_moments *m, double weight, double x);
double joint_mean(const joint_moments *m);
double joint_sd(const joint_moments *m);
/* Checks draws against moments by quadrature: within five standard errors of mean and sd; the
 * standard error of the mean must be below a tenth of the sd. */
void joint_compare(const double *draw, size_t chains, size_t draws, const joint_moments *expected);

#endif
