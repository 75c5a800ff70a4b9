/* One sweep of value iteration. */
#ifndef IDM_PLAN_NETWORK_VALUE_ITERATION_SWEEP_H
#define IDM_PLAN_NETWORK_VALUE_ITERATION_SWEEP_H

#include "plan/network/value_iteration_network.h"

/* Q of a sweep at a state, [action], with V of the one before; opt_future: P V alone. */
void idm_sweep_quality(const value_iteration *v, size_t variant, size_t sweep, size_t state,
                       double *quality, double *opt_future);

#endif
