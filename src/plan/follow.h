/* Following an agent along steps that are known already: what idm_follow reads its path into. */
#ifndef IDM_PLAN_FOLLOW_H
#define IDM_PLAN_FOLLOW_H

#include "idm/follow.h"

/* The start, then the place after each event; `reached` stays empty. opt_start NULL: the setting's
 * own start belief. Errors are those of the behaviour. */
idm_status idm_follow_events(const idm_setting *setting, const idm_workspace *workspace,
                             const double *opt_start, const idm_event *events, size_t count,
                             idm_followed **ret_followed, idm_error *opt_error);

#endif
