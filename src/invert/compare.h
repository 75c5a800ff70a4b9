/* Compare two agents of one problem: distance of their utilities, and divergence of their policies.
 */
#ifndef IDM_INVERT_COMPARE_H
#define IDM_INVERT_COMPARE_H

#include "base/door.h"
#include "idm/extension/posterior.h"

/* An agent: that of a problem, or one inferred by a run. */
typedef struct idm_compared_agent {
  const idm_problem *problem;
  const idm_posterior *opt_posterior; /* NULL: the parameter of the problem */
} idm_compared_agent;

typedef struct idm_agent_distance {
  double distance; /* distance of the two utilities, at the centre of a run: 0 where they are equal
                      up to shaping, scale and shift, 1 where one is the negative of the other; NaN
                      where a planner has no utility. See docs/method/inverse.md, 6 */
  double kl[2]; /* mean KL(first || second) and KL(second || first), in nats per decision, over the
                   states that the first argument of each visits; policies of a run are means over
                   at most 200 of its draws. NaN where a planner has no policy by state */
  bool has_distance;   /* `distance` is available */
  bool has_divergence; /* `kl` is available */
} idm_agent_distance;

/* Compare two agents into *result. IDM_INPUT where the problems differ in the names of states,
 * actions or observations, in start or end of episodes, in the dynamics of the environment, in the
 * discount or in the action prior: a difference up to shaping is then not defined. */
IDM_CHECKED idm_status idm_compare(const idm_compared_agent *first,
                                   const idm_compared_agent *second, idm_agent_distance *result,
                                   idm_error *opt_error);

#endif
