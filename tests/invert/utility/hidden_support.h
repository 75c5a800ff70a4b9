/* Small problems whose states are hidden, and slow references: every belief that any actions lead
 * to, and values on them by plain sweeps. */
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
/* There, as the best policy does: listens until it is as sure as the number it is given. */
size_t hidden_listen(void *sure, const double *z);
/* The 1-d maze of Cassandra's collection, begun anywhere but at its goal, s3: u0 goes west, u1
 * east. At the goal both are as good. */
hidden hidden_maze(void);

/* Home, s0, is where u0 stays; u1 goes out, to s1 or s2, which look alike, then from s1 to s2 and
 * from there home again. It is good to be at home, and so nobody ever goes. */
hidden hidden_home(void);

/* As a problem of the planner deterministic-optimal, with states, actions and observations listed
 * in the order given (NULL: as they are). */
idm_problem *hidden_problem(const hidden *h, const size_t *opt_place, const size_t *opt_turn,
                            const size_t *opt_sign);

/* The same with states that are observed, whatever the emissions say. */
idm_problem *hidden_observed(const hidden *h);

/* Every belief that actions can lead to from the start; those that agree to 1e-9 are one. */
typedef struct hidden_beliefs {
  size_t count;
  double z[HIDDEN_MOST][HIDDEN_STATES];
  size_t next[HIDDEN_MOST][HIDDEN_ACTIONS][HIDDEN_SEEN];
  double p[HIDDEN_MOST][HIDDEN_ACTIONS][HIDDEN_SEEN];
} hidden_beliefs;

void hidden_reach(const hidden *h, hidden_beliefs *b);
/* What is best under utility[action][state], without gaps, at every belief: of actions that are as
 * good to 1e-9 the first. Returns the value at the start. */
double hidden_best(const hidden *h, const hidden_beliefs *b, const double *utility, size_t *action);
/* Q(z,u) with what is best afterwards, for every belief: [belief][action]. */
void hidden_quality(const hidden *h, const hidden_beliefs *b, const double *utility,
                    double (*quality)[HIDDEN_ACTIONS]);
/* What a policy is worth at the start. */
double hidden_worth(const hidden *h, const hidden_beliefs *b, const double *utility,
                    const size_t *action);
/* A log of the policy in the world, drawn here. */
idm_data *hidden_log(const hidden *h, const hidden_beliefs *b, const size_t *action,
                     const idm_problem *problem, size_t trajectories, size_t steps, uint64_t seed);

#endif
