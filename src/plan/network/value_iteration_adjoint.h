/* Derivatives of value iteration, unrolled. */
#ifndef IDM_PLAN_NETWORK_VALUE_ITERATION_ADJOINT_H
#define IDM_PLAN_NETWORK_VALUE_ITERATION_ADJOINT_H

#include "plan/network/value_iteration_network.h"

/* The content is a value_iteration. */
extern const idm_adjoint_ops idm_value_iteration_adjoint;

#endif
