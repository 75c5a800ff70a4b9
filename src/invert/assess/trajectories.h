/* Whether an agent's trajectories are alike enough to share numbers.
 *
 * Where number j of a trajectory is its own, with variance D between trajectories, the scores of
 * its decisions hang together: E s_k s_l = v_k v_l D for k < l, where v is the variance of a score.
 * So the score of D at 0 is, but for the squares of single scores, which have no information on D,
 *
 *     Q_j = sum over rows l of s_l,j S_l,j,   S_l = sum of s_k over the rows k < l of the
 * trajectory.
 *
 * S_l is a function of what was recorded before row l, so that Q_j is a sum of martingale
 * differences, and a residual like the others (residual.h): its mean is 0 and its variance known
 * where the model is right, however the lengths of trajectories depend on what was decided. The sum
 * of squared scores that agents are compared by (agents.h) has the same mean, but another variance
 * over short trajectories that a decision ends. What the scores of all decisions explain is taken
 * out. The test is of the largest Q_j in its standard deviations, to one side, since a variance is
 * not negative. Agents who differ fail it too. */
#ifndef IDM_INVERT_ASSESS_TRAJECTORIES_H
#define IDM_INVERT_ASSESS_TRAJECTORIES_H

#include "invert/assess/residual.h"

typedef struct trajectories_check {
  const residual *r;
  size_t trajectories; /* 0: nothing to look at */
  double *before;      /* [question][dimension]: S */
  double *cross;       /* [dimension][dimension]: Cov(Q_j, S_k) of all decisions */
  double *sd;          /* [dimension] of Q; 0 where it has no variance of its own */
  double *rise;        /* [dimension]: of the mean of Q_j with D */
  double *sum;         /* [dimension]: Q of the answers taken last */
} trajectories_check;

/* Nothing to look at where each agent has one trajectory, or where no score is to be had. */
idm_status idm_trajectories_open(trajectories_check *c, const residual *r, idm_error *opt_error);
void idm_trajectories_close(trajectories_check *c);
/* The statistic of some answers, whose shift has been found. Rows before keep those of the log. */
double idm_trajectories_take(trajectories_check *c, const double *taken, const double *shift);
/* After that: the sd between trajectories of each coordinate, about: [dimension]. By moments, as if
 * coordinates were alone. */
void idm_trajectories_between(const trajectories_check *c, double *between);

#endif
