/* The constrained form of bounded rational control: multipliers for given capacities. */
#ifndef IDM_PLAN_CAPACITY_H
#define IDM_PLAN_CAPACITY_H

#include "base/door.h"
#include "plan/plan.h"

/* Find the multipliers alpha, beta, eta at which the decision, specification and recognition rates
 * equal the capacities of the agent (in nats), write them into theta, and plan for the result.
 * Where a capacity does not bind, its multiplier is the limit 0, with a note. Without capacities it
 * only plans. See docs/method/control.md, 9. IDM_USAGE for a family of several variants, or where
 * the planner does not read a multiplier; IDM_NUMERICAL where the search does not converge. */
IDM_CHECKED idm_status idm_plan_capacity(idm_theta *theta, const idm_agent_options *agent,
                                         const idm_solver *opt_solver, idm_workspace *workspace,
                                         idm_plan_report *opt_report, idm_notes *opt_notes,
                                         idm_error *opt_error);

#endif
