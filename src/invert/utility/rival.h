/* Who could do better than a demonstrator: a policy that is as good as can be under a utility, and
 * how good any policy can be. */
#ifndef IDM_INVERT_UTILITY_RIVAL_H
#define IDM_INVERT_UTILITY_RIVAL_H

#include "invert/utility/policy_graph.h"

typedef struct idm_rival {
  double value;  /* what the policy found is worth at the start */
  double upper;  /* and what no policy's worth exceeds there */
  double *count; /* [action][state]: of the policy, as idm_policy_graph_counts has it; of the
                    caller's */
} idm_rival;

/* Bounds on the value are brought as close as `gap` where the search gets so far; the policy is
 * kept on at most so many beliefs. */
idm_status idm_rival_find(const idm_mind *mind, const double *utility, double gap, size_t most,
                          idm_rival *rival, idm_halt *halt, idm_error *opt_error);

#endif
