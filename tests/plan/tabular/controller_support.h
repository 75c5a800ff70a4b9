/* Provides problems planned by `controller`, and the learnt controller. */
#ifndef IDM_TESTS_PLAN_TABULAR_CONTROLLER_SUPPORT_H
#define IDM_TESTS_PLAN_TABULAR_CONTROLLER_SUPPORT_H

#include "plan/tabular/learner.h"
#include "support.h"

/* Reads an example and applies one optional assignment. */
static inline idm_problem *controller_read(const char *name, const char *opt_setting)
{
  idm_problem *problem;
  check(idm_problem_read(name, &problem, NULL, &support_error));
  support_assign(problem, "planner=controller");
  if (opt_setting) support_assign(problem, opt_setting);
  return problem;
}

static inline const controller *controller_of(const idm_workspace *workspace)
{
  return idm_workspace_behavior(workspace).content;
}

#endif
