/* Backward induction where what comes later counts by its delay, 1/(1 + kappa t), which no discount
 * a step can do: selves at different times disagree. */
#ifndef IDM_PLAN_CONTROL_DELAY_H
#define IDM_PLAN_CONTROL_DELAY_H

#include "plan/control/control.h"

/* By what the values that follow a decision are multiplied in it: see control->follow. */
double idm_control_delay_step(const control *c);
/* All layers of a variant; returns the largest value. */
double idm_control_solve_delayed(control *c, size_t variant, idm_plan_report *report);

#endif
