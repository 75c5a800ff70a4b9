/* The policy whose occupancy comes nearest to a given one. */
#ifndef IDM_INVERT_UTILITY_CLOSEST_H
#define IDM_INVERT_UTILITY_CLOSEST_H

#include "invert/matching/halt.h"
#include "invert/utility/mdp.h"

typedef struct idm_closest {
  double objective;
  double gap;        /* to the least, at most */
  double *policy;    /* [state][action] */
  double *occupancy; /* [state][action] */
  size_t zeros; /* probabilities of 0 in states that are come to, of actions that may be taken */
} idm_closest;

/* Of target[state][action] under a divergence, less `entropy` times that of the policy, among
 * policies of what opt_allowed[state][action] leaves. In states that it does not come to the policy
 * is fallback[state][action]. IDM_INPUT where the divergence is infinite for every policy. */
idm_status idm_closest_create(const idm_mdp *world, const idm_setting *setting,
                              const double *target, const double *fallback, const bool *opt_allowed,
                              idm_divergence divergence, double lambda, double entropy,
                              idm_halt *opt_halt, idm_closest **ret_closest, idm_error *opt_error);
void idm_closest_destroy(idm_closest *closest);

#endif
