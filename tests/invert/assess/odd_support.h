/* Learners from rewards that carry over what the planner `td-learner` does not. */
#ifndef IDM_TESTS_ODD_SUPPORT_H
#define IDM_TESTS_ODD_SUPPORT_H

#include "support.h"

typedef struct odd_learner {
  double lapse;  /* share of slips after a loss */
  double credit; /* share of its error that the action before is credited with */
  double habit;  /* weight of a trace of actions, of which a row keeps .85 */
  bool late;     /* a reward is learnt from after the next choice */
} odd_learner;

/* A bandit of two arms that wins with .8 and .2, in states that one observation never shows, and
 * `td-learner`s with an inverse temperature of 4 and rates of .4 and .3. */
idm_problem *odd_bandit(void);
/* A log of one agent with these numbers that is odd; not odd: all 0. */
idm_data *odd_simulate(const idm_problem *problem, const odd_learner *odd, size_t trajectories,
                       int steps, uint64_t seed);

#endif
