/* Utilities under which a demonstrator who plans for the worst share of its models is better than
 * others by as much as can be, by state. */
#ifndef IDM_INVERT_UTILITY_RISK_MARGIN_H
#define IDM_INVERT_UTILITY_RISK_MARGIN_H

#include "invert/utility/asked.h"

/* Whether that is how the problem's agent plans: it has a risk level. */
bool idm_risk_margin_is_asked(const idm_problem *problem);
/* max sum over visited s of min_{u != u_s} (Q(s,u_s) - Q(s,u)) - penalty |utility|_1, Q the
 * demonstrator's under the nested mean of the worst share of its models,
 * at the agent's risk level or, where that is free, at each of a grid. `asked` has its
 * demonstrator. */
idm_status idm_risk_margin_fit(idm_asked *asked, idm_posterior **ret_posterior,
                               idm_error *opt_error);

#endif
