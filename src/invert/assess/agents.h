/* Whether agents are alike enough to share numbers.
 *
 * At the pooled answer the score s_a of each agent has mean 0 and variance I_a where all agents
 * have the same numbers; where they differ with covariance D, its variance is I_a + I_a D I_a. The
 * test is of the sum over agents of s_a' V^-1 s_a, V = sum I_a: the score test against small
 * differences (Liang 1987, Biometrika 74), a comparison of the two forms of the information (White
 * 1982), and as trace(J H^-1) the effective number of parameters (Takeuchi 1976): that of the free
 * numbers where agents are alike. A model that misses what makes an agent's decisions hang together
 * fails it too. */
#ifndef IDM_INVERT_ASSESS_AGENTS_H
#define IDM_INVERT_ASSESS_AGENTS_H

#include "invert/assess/residual.h"

typedef struct agents_check {
  const residual *r;
  size_t agents;
  double *information; /* [agent][dimension][dimension] */
  double *score;       /* [agent][dimension] of the answers taken last */
} agents_check;

/* Nothing to look at (agents 0) with one agent, where people have numbers of their own, or where no
 * score is to be had. */
idm_status idm_agents_open(agents_check *c, const residual *r, idm_error *opt_error);
void idm_agents_close(agents_check *c);
/* The statistic of some answers, whose shift has been found. */
double idm_agents_take(agents_check *c, const double *taken, const double *shift);
/* After that: the sd between agents of each coordinate, about: [dimension]. By moments, as if
 * coordinates were alone: E s_a^2 = I_a + I_a^2 D. */
void idm_agents_between(const agents_check *c, double *between);

#endif
