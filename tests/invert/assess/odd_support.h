/* Learners from rewards with carryovers that the planner `td-learner` lacks. */
#ifndef IDM_TESTS_ODD_SUPPORT_H
#define IDM_TESTS_ODD_SUPPORT_H

#include "support.h"

typedef struct odd_learner {
  double lapse;  /* lapse rate after a loss */
  double credit; /* fraction of the update that the action before receives too */
  double habit;  /* weight of an action trace that decays by a factor of .85 per row */
  bool late;     /* rewards are learnt from after the next choice */
} odd_learner;

/* A two-armed bandit with win probabilities of .8 and .2, in hidden states with a single
 * observation, and a `td-learner` with an inverse temperature of 4 and learning rates of .4 and .3.
 */
idm_problem *odd_bandit(void);
/* A log of one such agent with the given carryovers; all 0: a plain `td-learner`. */
idm_data *odd_simulate(const idm_problem *problem, const odd_learner *odd, size_t trajectories,
                       int steps, uint64_t seed);

#endif
