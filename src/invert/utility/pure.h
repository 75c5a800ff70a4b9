/* The policy of one action a state whose occupancy comes nearest to a given one.
 *
 * Such policies are corners of the set of occupancies: to find the nearest is a choice among
 * finitely many, and how near the nearest of all policies comes bounds it from below. */
#ifndef IDM_INVERT_UTILITY_PURE_H
#define IDM_INVERT_UTILITY_PURE_H

#include "invert/utility/closest.h"

/* What is known of it beside the policy itself. */
typedef struct idm_pure {
  size_t branches; /* that were looked at */
  bool rivals;     /* another such policy comes as near */
  size_t tied;     /* states that it does not come to in which several actions are as good */
} idm_pure;

/* As idm_closest_create, with `gap` what the nearest can be nearer by, at most. In states that it
 * does not come to the policy is what fallback[state][action] does most; where several are done
 * alike, all of them by the action prior. IDM_INPUT where the divergence is infinite for all. */
idm_status idm_pure_create(const idm_mdp *world, const idm_setting *setting, const double *target,
                           const double *fallback, idm_divergence divergence, double lambda,
                           idm_halt *opt_halt, idm_pure *pure, idm_closest **ret_closest,
                           idm_error *opt_error);

#endif
