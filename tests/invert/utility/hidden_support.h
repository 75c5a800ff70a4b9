/* Small problems with hidden states, and slow reference computations: all reachable beliefs, and
 * values on them by sweeps. */
#ifndef IDM_TESTS_INVERT_UTILITY_HIDDEN_SUPPORT_H
#define IDM_TESTS_INVERT_UTILITY_HIDDEN_SUPPORT_H

#include "support.h"

enum { HIDDEN_STATES = 4, HIDDEN_ACTIONS = 3, HIDDEN_SEEN = 4, HIDDEN_MOST = 64 };

/* Tables in natural order; actions are called u0, u1, ..., states s0, ..., observations x0, ... */
typedef struct hidden {
  size_t states;
  size_t actions;
  size_t observations;
  double discount;
  double start[HIDDEN_STATES];
  double transition[HIDDEN_ACTIONS][HIDDEN_STATES][HIDDEN_STATES];
  double emission[HIDDEN_ACTIONS][HIDDEN_STATES][HIDDEN_SEEN];
  double utility[HIDDEN_ACTIONS][HIDDEN_STATES];
} hidden;

/* Tiger (Kaelbling, Littman and Cassandra 1998): u0 listens, u1 opens the left door and u2 the
 * right one; s0 is the tiger behind the left one. */
hidden hidden_tiger(void);
/* Listens until one side has a probability above the given number, as the best policy of Tiger
 * does. */
size_t hidden_listen(void *sure, const double *z);
/* The 1-d maze of Cassandra's collection, started anywhere but at its goal, s3: u0 goes west, u1
 * east. At the goal both have the same effect. */
hidden hidden_maze(void);

/* s0 is home, where u0 stays; u1 goes out to s1 or s2, which have the same observation, then from
 * s1 to s2, and from s2 home. Only home has utility, so the optimal policy never leaves. */
hidden hidden_home(void);

/* A problem of the planner deterministic-optimal, with states, actions and observations in the
 * given order (NULL: natural order). */
idm_problem *hidden_problem(const hidden *h, const size_t *opt_place, const size_t *opt_turn,
                            const size_t *opt_sign);

/* The same with observed states; emissions are ignored. */
idm_problem *hidden_observed(const hidden *h);

/* All beliefs reachable from the start; beliefs that agree to 1e-9 are merged. */
typedef struct hidden_beliefs {
  size_t count;
  double z[HIDDEN_MOST][HIDDEN_STATES];
  size_t next[HIDDEN_MOST][HIDDEN_ACTIONS][HIDDEN_SEEN];
  double p[HIDDEN_MOST][HIDDEN_ACTIONS][HIDDEN_SEEN];
} hidden_beliefs;

void hidden_reach(const hidden *h, hidden_beliefs *b);
/* Optimal actions under utility[action][state] at every belief; of actions equal to 1e-9 the first.
 * Returns the value at the start. */
double hidden_best(const hidden *h, const hidden_beliefs *b, const double *utility, size_t *action);
/* Optimal action values Q(z,u) at every belief: [belief][action]. */
void hidden_quality(const hidden *h, const hidden_beliefs *b, const double *utility,
                    double (*quality)[HIDDEN_ACTIONS]);
/* Value of a policy at the start. */
double hidden_worth(const hidden *h, const hidden_beliefs *b, const double *utility,
                    const size_t *action);
/* A log of the policy, simulated here. */
idm_data *hidden_log(const hidden *h, const hidden_beliefs *b, const size_t *action,
                     const idm_problem *problem, size_t trajectories, size_t steps, uint64_t seed);

#endif
