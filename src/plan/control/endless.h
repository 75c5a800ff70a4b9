/* A discount of 1 without a horizon, where states are observed: episodes that end by themselves. */
#ifndef IDM_PLAN_CONTROL_ENDLESS_H
#define IDM_PLAN_CONTROL_ENDLESS_H

#include "plan/control/control.h"

/* Mark the states in which everything is over (control->ended), and check that the variant selected
 * has a value: from everywhere some policy ends, and one that does not loses for ever. IDM_INPUT
 * with the reason where it has none, or where that cannot be told. */
idm_status idm_control_check_endless(control *c, idm_error *opt_error);
/* V = B*V of the variant selected, in scratch of the control. The bound is known where every step
 * before the end costs something, else infinite. */
const double *idm_control_solve_endless(control *c, const idm_solver *solver,
                                        idm_plan_report *report);

#endif
