/* The derivative of a believer's log-likelihood, in reverse over the prefix tree and through its
 * planner's fixed point. */
#ifndef IDM_PLAN_BELIEVER_SLOPE_H
#define IDM_PLAN_BELIEVER_SLOPE_H

#include "idm/behavior.h"
#include "plan/believer/believer.h"
#include "plan/habit.h"

/* Their content is a believer. It can be had where the planner's policies have an adjoint. */
extern const idm_slope_ops idm_believer_slope;
/* After a run of such a slope: the derivative by the start of the setting, [state], up to a number
 * common to all states. False where rows that were not recorded leave it open. */
bool idm_believer_start_slope(const void *slope, double *by_start);

/* What the points that an adjoint received are by theta, and what was asked of habits (of
 * perseverance where choices remember the action before). IDM_NUMERICAL where it is not finite. */
idm_status idm_believer_finish(const believer *b, void *adjoint, const habit_slope *asked,
                               bool remembers, idm_theta *theta_slope, idm_error *opt_error);

#endif
