/* Whether soft plans attain a demonstrator's occupancy at utilities that are finite. */
#ifndef IDM_INVERT_UTILITY_ATTAINED_H
#define IDM_INVERT_UTILITY_ATTAINED_H

#include "invert/utility/asked.h"

/* Without a price on utilities, share E V_soft(u(x)) - <mu, u(x)> has a minimum if and only if no
 * direction of the free numbers makes the demonstrator optimal and some other policy worse: along
 * such a direction it falls for ever. demonstrated[action][state] is mu, the occupancy of a policy.
 * IDM_INPUT, with the states in which an action that is never taken grows worse without limit,
 * where there is such a direction. */
idm_status idm_attained_check(idm_asked *asked, const double *demonstrated, idm_error *opt_error);

#endif
