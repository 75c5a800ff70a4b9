/* The derivative of a believer's log-likelihood, in reverse over the prefix tree and through its
 * planner's fixed point. */
#ifndef IDM_PLAN_BELIEVER_SLOPE_H
#define IDM_PLAN_BELIEVER_SLOPE_H

#include "idm/behavior.h"

/* Their content is a believer. It can be had where the planner's policies have an adjoint. */
extern const idm_slope_ops idm_believer_slope;

#endif
