/* Clamps: what makes one planner of another, as data. */
#ifndef IDM_PLAN_CLAMP_H
#define IDM_PLAN_CLAMP_H

#include "idm/planner.h"

/* Hold what a planner's clamps hold, and check what they ask for. */
idm_status idm_clamp_apply(const idm_planner *planner, const idm_setting *setting, idm_theta *theta,
                           idm_error *opt_error);

#endif
