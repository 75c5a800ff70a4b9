/* Comparing two agents of one problem: what they want, and what they do. */
#ifndef IDM_COMPARE_H
#define IDM_COMPARE_H

#include "idm/posterior.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An agent: the problem's own, or what a run found for it. */
typedef struct idm_compared_agent {
  const idm_problem *problem;
  const idm_posterior *opt_posterior; /* NULL: the problem's own parameter */
} idm_compared_agent;

typedef struct idm_agent_distance {
  double distance;   /* of the two utilities, of a run that of its centre: 0 where they are the same
                        but for shaping, scale and shift, 1 where one is the other's opposite; NaN
                        where a planner has no utility */
  double kl[2];      /* mean KL(first || second) and KL(second || first), in nats a decision, each
                        over the states that the one before the bars comes to; policies of a run are
                        means over up to 200 of its draws. NaN where there is no policy by state */
  bool has_distance; /* there is a distance */
  bool has_divergence; /* there are divergences */
} idm_agent_distance;

/* IDM_INPUT where the two problems differ in the names of states, actions or observations, in
 * where episodes start or end, in the environment's dynamics, in the discount or in the action
 * prior: then nothing is the same but for shaping in both. */
IDM_API idm_status idm_compare(const idm_compared_agent *first, const idm_compared_agent *second,
                               idm_agent_distance *result, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
