/* Panels of what a planned agent does, wherever the agent comes from. */
#ifndef IDM_REPORT_POLICY_H
#define IDM_REPORT_POLICY_H

#include "idm/figure.h"
#include "idm/follow.h"

/* pi(u|z) along the beliefs between two states, with marks where the belief stands along a path; or
 * pi(u|s), where states are observed. */
idm_status idm_policy_add(idm_figure *figure, const idm_setting *setting, idm_workspace *workspace,
                          const char *title, const idm_followed *opt_path, idm_error *opt_error);

#endif
