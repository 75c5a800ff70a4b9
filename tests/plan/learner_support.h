/* Planners of the test tree: what a registry may hold beside planners over beliefs. */
#ifndef IDM_TESTS_PLAN_LEARNER_SUPPORT_H
#define IDM_TESTS_PLAN_LEARNER_SUPPORT_H

#include "support.h"

/* Keeps a value an action, and learns it from rewards over all of an agent's trajectories. */
extern const idm_planner idm_learner;

/* Planner i of the registry and then of the test tree, or NULL past the last: what every suite of a
 * family runs over. */
const idm_planner *support_planner_at(size_t index);
/* A problem that any of them can plan for: two actions and a state that says which of them pays. */
idm_problem *support_reversal(const idm_planner *planner);

#endif
