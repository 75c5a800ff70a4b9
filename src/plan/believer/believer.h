/* A behaviour whose internal state is a belief, or a weighted set of beliefs where we cannot tell
 * which. */
#ifndef IDM_PLAN_BELIEVER_H
#define IDM_PLAN_BELIEVER_H

#include "idm/behavior.h"

typedef struct believer believer;

/* Everything is borrowed: the planner's content gives the policies, theta the candidate models. */
idm_status idm_believer_create(const idm_planner *planner, const void *content,
                               const idm_setting *setting, const idm_theta *theta,
                               const idm_agent *agent, believer **ret_believer,
                               idm_error *opt_error);
void idm_believer_destroy(believer *b);
idm_behavior idm_believer_behavior(const believer *b);

#endif
