/* The constrained form: multipliers that use up given capacities. */
#ifndef IDM_CAPACITY_H
#define IDM_CAPACITY_H

#include "idm/workspace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Find alpha, beta, eta that use up the capacities the agent asks for (nats), writing them into
 * theta. Where a capacity does not bind, its multiplier is the limit 0, and the notes say so. Plans
 * for the result. */
IDM_API idm_status idm_plan_capacity(idm_theta *theta, const idm_agent_options *agent,
                                     const idm_solver *opt_solver, idm_workspace *workspace,
                                     idm_plan_report *opt_report, idm_notes *opt_notes,
                                     idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
