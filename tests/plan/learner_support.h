/* Planners of the test tree: what a registry may hold beside planners over beliefs. */
#ifndef IDM_TESTS_PLAN_LEARNER_SUPPORT_H
#define IDM_TESTS_PLAN_LEARNER_SUPPORT_H

#include "support.h"

/* Keeps a value an action, and learns it from rewards over all of an agent's trajectories. */
extern const idm_planner idm_learner;

/* Planner i of the registry and then of the test tree, or NULL past the last: what every suite of a
 * family runs over. */
const idm_planner *support_planner_at(size_t index);
/* A problem that any of them can plan for: two actions and a state that says which of them pays. It
 * is hidden, unless the planner needs it. */
idm_problem *support_reversal(const idm_planner *planner);
/* A problem of a shape, drawn at random, that any of them can plan for: every block is there. */
idm_problem *support_any(const idm_planner *planner, support_shape shape, idm_random *random);

/* What happened to an agent, step by step. */
enum { SUPPORT_STEPS = 6 };
typedef struct support_history {
  int action[SUPPORT_STEPS];
  int observation[SUPPORT_STEPS];
  double reward[SUPPORT_STEPS];
} support_history;
/* One drawn at random: actions that end nothing, any observation. */
support_history support_happen(const idm_setting *setting, idm_random *random);
/* Let a memory live through a trajectory; [SUPPORT_STEPS][actions]: probabilities at each step. */
void support_live(idm_behavior behavior, void *memory, const support_history *history,
                  size_t actions, double *probability);
/* The same for a new agent with a memory of its own. */
void support_live_alone(idm_behavior behavior, const support_history *history, size_t actions,
                        double *probability);

#endif
