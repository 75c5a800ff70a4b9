/* A plan for a command. */
#ifndef IDM_CLI_PLAN_H
#define IDM_CLI_PLAN_H

#include "cli/common.h"

/* Make a workspace and plan, by capacities where they are given. */
idm_status cli_plan(cli_call *call, idm_problem *problem, const idm_solver *opt_solver,
                    idm_workspace **ret_workspace, idm_plan_report *report);

#endif
