/* An agent with two hidden states, and its occupancies over beliefs by value iteration,
 * interpolation and sums, independent of the library. */
#ifndef IDM_TESTS_INVERT_UTILITY_BELIEF_OCCUPANCY_SUPPORT_H
#define IDM_TESTS_INVERT_UTILITY_BELIEF_OCCUPANCY_SUPPORT_H

#include "support.h"

/* States, actions, observations, and the largest resolution. */
enum { BS = 2, BU = 3, BX = 2, BMOST = 40 };

/* A problem with the given resolution; `agent` is the rest of its agent's line, with the planner,
 * such as alpha = 0.4 and a lapse of 0.1. */
idm_problem *belief_problem(int resolution, const char *agent, const char *free_blocks);

/* Beliefs by the probability i / resolution of the second state. */
typedef struct belief_chain {
  int resolution;
  double p[BMOST + 1][BU][BX];    /* of the observation */
  double next[BMOST + 1][BU][BX]; /* the next belief */
} belief_chain;
void belief_chain_make(int resolution, belief_chain *chain);
/* The policy of bounded rational control at alpha, with lapses, under the problem's utility. */
void belief_plan(const belief_chain *chain, double alpha, double lapse, double policy[][BU]);
/* The same under another utility, without lapses. */
void belief_plan_for(const belief_chain *chain, double utility[BU][BS], double alpha,
                     double policy[][BU]);
/* Discounted occupancy of a policy from the start. */
void belief_visit(const belief_chain *chain, double policy[][BU], double occupancy[][BU]);
/* Occupancy of the choice frequencies of a log, with decisions shared between neighbouring points.
 */
void belief_demonstrate(const belief_chain *chain, const idm_data *data, double occupancy[][BU]);
/* Occupancies of a log and of an agent, whose policy at a point is the mean of its choices at the
 * beliefs of the log around it. At points without decisions both use the agent's policy at the
 * point. */
void belief_compare(const belief_chain *chain, const idm_data *data, double alpha, double lapse,
                    double demonstrated[][BU], double planned[][BU]);
/* The Jensen-Shannon divergence. */
double belief_diverge(const belief_chain *chain, double p[][BU], double q[][BU]);

#endif
