/* Provides the planners of the test tree, and a problem for which every planner can plan. */
#include "plan/learner_support.h"

#include <string.h>

const idm_planner *support_planner_at(size_t index)
{
  size_t registered = 0;
  while (idm_planner_at(registered)) registered++;
  if (index < registered) return idm_planner_at(index);
  return index == registered ? &idm_learner : NULL;
}

/* Limits the budget of planners that learn by sampling. */
static void hurry(idm_problem *problem)
{
  problem->agent.budget = 2000;
}

/* Makes the states of a problem observed. */
static void reveal(idm_problem *problem)
{
  const idm_sizes n = idm_setting_sizes(problem->setting);
  assert_int_equal(n.observations, n.states);
  problem->setting->fully_observed = true;
  for (size_t m = 0; m < problem->theta->models; m++)
    for (size_t i = 0; i < n.actions * n.states * n.states; i++)
      problem->setting->emission[i] =
          problem->theta->block[IDM_EMISSION].value[m * n.actions * n.states * n.states + i] =
              i / n.states % n.states == i % n.states;
}

idm_problem *support_reversal(const idm_planner *planner)
{
  static const char text[] =
      "states: [left_pays, right_pays]\n"
      "actions: [left, right]\n"
      "observations: [loss, win]\n"
      "discount: 0.9\n"
      "transition: {\"*\": [[0.9, 0.1], [0.1, 0.9]]}\n"
      "observation: {left: [[0.2, 0.8], [0.8, 0.2]], right: [[0.8, 0.2], [0.2, 0.8]]}\n"
      "utility: {left: [1, -1], right: [-1, 1]}\n"
      "models: [{weight: 1, observation: {\"*\": [[0.3, 0.7], [0.6, 0.4]]}}, {weight: 2}]\n"
      "agent: {alpha: 0.7, beta: -1.5, eta: 0.2, resolution: 30, weights: {left: [0.5, 1, -1], "
      "right: [-0.5, -1, 2]}}\n"
      "action_prior: [0.4, 0.6]\n";
  idm_problem *problem;
  check(idm_problem_parse_yaml(text, strlen(text), "reversal", &problem, NULL, &support_error));
  hurry(problem);
  if (planner->needs & IDM_NEEDS_STATES) reveal(problem);
  check(idm_problem_set_planner(problem, planner, &support_error));
  return problem;
}

idm_problem *support_any(const idm_planner *planner, support_shape shape, idm_random *random)
{
  const bool seen = planner->needs & IDM_NEEDS_STATES;
  if (seen) shape.observations = shape.states;
  idm_problem *problem = support_problem(shape, random);
  hurry(problem);
  if (seen) reveal(problem);
  support_redraw(problem->theta, IDM_WEIGHTS, random);
  support_redraw(problem->theta, IDM_BELIEF_PRIOR, random);
  /* Signs that every planner of the registry accepts. */
  support_set(problem, 0.7, -1.5, 0.2);
  /* Networks small enough for differences. */
  problem->agent.hidden = 3;
  problem->agent.layer = 2;
  problem->agent.sweeps = 4;
  check(idm_problem_set_planner(problem, planner, &support_error));
  /* Equal rows would hide dependence on them, so rows are redrawn. */
  for (size_t i = IDM_BLOCK_COUNT; i < problem->theta->blocks; i++)
    if (problem->theta->block[i].info->support == IDM_DISTRIBUTION)
      support_redraw(problem->theta, i, random);
  return problem;
}

/* --- histories ------------------------------------------------------------------------------ */

support_history support_happen(const idm_setting *setting, idm_random *random)
{
  const idm_sizes n = idm_setting_sizes(setting);
  support_history history;
  for (size_t t = 0; t < SUPPORT_STEPS; t++) {
    do history.action[t] = (int)(idm_random_uniform(random) * (double)n.actions);
    while (setting->ends[history.action[t]]);
    history.observation[t] = (int)(idm_random_uniform(random) * (double)n.observations);
    history.reward[t] = 2 * idm_random_uniform(random) - 1;
  }
  return history;
}

void support_live(idm_behavior behavior, void *memory, const support_history *history,
                  size_t actions, double *probability)
{
  const idm_behavior_ops *ops = behavior.ops;
  const void *content = behavior.content;
  check(ops->begin_trajectory(content, memory, memory, 0, NULL, &support_error));
  for (size_t t = 0; t < SUPPORT_STEPS; t++) {
    check(ops->act(content, memory, NULL, probability + t * actions, &support_error));
    support_observe(behavior, memory, memory,
                    (idm_event){.action = history->action[t],
                                .observation = history->observation[t],
                                .reward = history->reward[t],
                                .last = t + 1 == SUPPORT_STEPS});
  }
}

void support_live_alone(idm_behavior behavior, const support_history *history, size_t actions,
                        double *probability)
{
  void *memory;
  check(behavior.ops->memory_create(behavior.content, &memory, &support_error));
  check(behavior.ops->begin_agent(behavior.content, memory, &support_error));
  support_live(behavior, memory, history, actions, probability);
  behavior.ops->memory_destroy(memory);
}
