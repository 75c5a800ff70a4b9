/* Provides the registry extended by the planners of the test tree, and histories for their
 * behaviour. */
#ifndef IDM_TESTS_PLAN_LEARNER_SUPPORT_H
#define IDM_TESTS_PLAN_LEARNER_SUPPORT_H

#include "support.h"

/* Keeps one value per action and updates it from rewards over all trajectories of an agent. */
extern const idm_planner idm_learner;

/* Returns planner i of the registry followed by the test tree, or NULL after the last; every
 * conformance suite iterates over it. */
const idm_planner *support_planner_at(size_t index);
/* Returns a problem for which any planner can plan: two actions and a state that determines which
 * of them pays. The state is hidden unless the planner needs it observed. */
idm_problem *support_reversal(const idm_planner *planner);
/* Returns a random problem of a shape for which any planner can plan; every block is present. */
idm_problem *support_any(const idm_planner *planner, support_shape shape, idm_random *random);

/* The history of an agent, step by step. */
enum { SUPPORT_STEPS = 6 };
typedef struct support_history {
  int action[SUPPORT_STEPS];
  int observation[SUPPORT_STEPS];
  double reward[SUPPORT_STEPS];
} support_history;
/* Draws a random history: actions that do not end the trajectory, any observations. */
support_history support_happen(const idm_setting *setting, idm_random *random);
/* Passes a trajectory to a memory. Returns the probabilities at each step in
 * [SUPPORT_STEPS][actions]. */
void support_live(idm_behavior behavior, void *memory, const support_history *history,
                  size_t actions, double *probability);
/* The same for a new agent with a new memory. */
void support_live_alone(idm_behavior behavior, const support_history *history, size_t actions,
                        double *probability);

#endif
