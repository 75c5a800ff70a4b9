/* An agent with two hidden states, and its occupancies over beliefs by value iteration,
 * interpolation and sums that share nothing with the library. */
#ifndef IDM_TESTS_INVERT_UTILITY_BELIEF_OCCUPANCY_SUPPORT_H
#define IDM_TESTS_INVERT_UTILITY_BELIEF_OCCUPANCY_SUPPORT_H

#include "support.h"

/* States, actions, observations, and the largest resolution. */
enum { BS = 2, BU = 3, BX = 2, BMOST = 40 };

/* alpha = .4 and a slip of .1, at a resolution; what planner it is, is the rest of the line. */
idm_problem *belief_problem(int resolution, const char *agent, const char *free_blocks);

/* Beliefs by the probability of the second state, at i / resolution. */
typedef struct belief_chain {
  int resolution;
  double p[BMOST + 1][BU][BX];    /* of what is seen */
  double next[BMOST + 1][BU][BX]; /* the belief that follows */
} belief_chain;
void belief_chain_make(int resolution, belief_chain *chain);
/* The policy of bounded rational control at alpha, with slips, under the problem's utility. */
void belief_plan(const belief_chain *chain, double alpha, double lapse, double policy[][BU]);
/* The same under another one, without slips. */
void belief_plan_for(const belief_chain *chain, double utility[BU][BS], double alpha,
                     double policy[][BU]);
/* Its occupancy from the start on. */
void belief_visit(const belief_chain *chain, double policy[][BU], double occupancy[][BU]);
/* The occupancy of the frequencies of a log, decisions shared between neighbours. */
void belief_demonstrate(const belief_chain *chain, const idm_data *data, double occupancy[][BU]);
/* Occupancies of a log and of an agent, whose policy at a point is the mean of its choices at the
 * beliefs of the log around it. Where the log has none, both act as the agent does at the point. */
void belief_compare(const belief_chain *chain, const idm_data *data, double alpha, double lapse,
                    double demonstrated[][BU], double planned[][BU]);
/* The Jensen-Shannon divergence. */
double belief_diverge(const belief_chain *chain, double p[][BU], double q[][BU]);

#endif
