/* Solving V = B*V with a certified bound. */
#ifndef IDM_PLAN_CONTROL_SOLVE_H
#define IDM_PLAN_CONTROL_SOLVE_H

#include "plan/control/control.h"

idm_status idm_control_solve(control *c, const idm_solver *solver, idm_plan_report *report,
                             idm_error *opt_error);

#endif
