/* Planners of the test tree, and a problem that every planner can plan for. */
#include "plan/learner_support.h"

#include <string.h>

const idm_planner *support_planner_at(size_t index)
{
  size_t registered = 0;
  while (idm_planner_at(registered)) registered++;
  if (index < registered) return idm_planner_at(index);
  return index == registered ? &idm_learner : NULL;
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
  check(idm_problem_plan_by(problem, planner, &support_error));
  return problem;
}
