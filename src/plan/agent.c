/* Solving a problem, agents that act step by step, and logs of the problem's agent. */
#include <stdlib.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "data/log.h"
#include "idm/extension/behavior.h"
#include "idm/extension/prefix.h"
#include "idm/plan.h"
#include "plan/plan.h"
#include "plan/workspace.h"

idm_status idm_solve(const idm_problem *problem, idm_workspace **ret_workspace,
                     idm_error *opt_error)
{
  idm_require(problem, ret_workspace);
  *ret_workspace = NULL;
  idm_workspace *workspace = NULL;
  idm_theta *theta = NULL; /* with the multipliers of capacities */
  idm_status status = idm_problem_validate(problem, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                                  opt_error);
  if (status == IDM_OK)
    status = idm_plan_capacity(theta, &problem->agent, NULL, workspace, NULL, NULL, opt_error);
  idm_theta_destroy(theta);
  if (status == IDM_OK)
    *ret_workspace = workspace;
  else
    idm_workspace_destroy(workspace);
  return status;
}

/* --- agents --------------------------------------------------------------------------------- */

struct idm_agent {
  idm_behavior behavior;
  void *memory;
  idm_random random;
  double *number; /* [actions] probabilities, then [states] belief */
  bool begun;     /* in a trajectory */
};

idm_status idm_agent_create(const idm_workspace *workspace, uint64_t seed, idm_agent **ret_agent,
                            idm_error *opt_error)
{
  idm_require(workspace, ret_agent);
  *ret_agent = NULL;
  idm_agent *agent = idm_new(1, sizeof *agent);
  if (!agent) return idm_fail_memory(opt_error);
  agent->behavior = idm_workspace_behavior(workspace);
  const idm_behavior *b = &agent->behavior;
  idm_random_init(&agent->random, seed, 0);
  agent->number = idm_new(b->sizes.actions + b->sizes.states, sizeof *agent->number);
  idm_status status = agent->number ? b->ops->memory_create(b->content, &agent->memory, opt_error)
                                    : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = b->ops->begin_agent(b->content, agent->memory, opt_error);
  if (status == IDM_OK)
    *ret_agent = agent;
  else
    idm_agent_destroy(agent);
  return status;
}

void idm_agent_destroy(idm_agent *agent)
{
  if (!agent) return;
  if (agent->memory) agent->behavior.ops->memory_destroy(agent->memory);
  free(agent->number);
  free(agent);
}

idm_status idm_agent_begin(idm_agent *agent, const double *opt_start, idm_error *opt_error)
{
  idm_require(agent);
  const idm_behavior *b = &agent->behavior;
  double sum = 0;
  for (size_t s = 0; opt_start && s < b->sizes.states; s++) {
    if (!(opt_start[s] >= 0))
      return idm_fail(opt_error, IDM_USAGE, "the start belief has a number below 0");
    sum += opt_start[s];
  }
  if (opt_start && !(sum > 1 - 1e-6 && sum < 1 + 1e-6))
    return idm_fail(opt_error, IDM_USAGE, "the start belief sums to %g; expected 1", sum);
  const idm_status status =
      b->ops->begin_trajectory(b->content, agent->memory, agent->memory, 0, opt_start, opt_error);
  agent->begun = status == IDM_OK;
  return status;
}

static idm_status check_begun(const idm_agent *agent, idm_error *opt_error)
{
  return agent->begun ? IDM_OK
                      : idm_fail(opt_error, IDM_USAGE,
                                 "the agent is in no trajectory; call "
                                 "idm_agent_begin first");
}

idm_status idm_agent_probabilities(idm_agent *agent, const double **ret_probability,
                                   size_t *ret_length, idm_error *opt_error)
{
  idm_require(agent, ret_probability, ret_length);
  const idm_behavior *b = &agent->behavior;
  idm_status status = check_begun(agent, opt_error);
  if (status == IDM_OK)
    status = b->ops->act(b->content, agent->memory, NULL, agent->number, opt_error);
  *ret_probability = status == IDM_OK ? agent->number : NULL;
  *ret_length = status == IDM_OK ? b->sizes.actions : 0;
  return status;
}

idm_status idm_agent_act(idm_agent *agent, size_t *ret_action, idm_error *opt_error)
{
  idm_require(agent, ret_action);
  const double *probability;
  size_t actions;
  const idm_status status = idm_agent_probabilities(agent, &probability, &actions, opt_error);
  if (status == IDM_OK) *ret_action = idm_random_choice(&agent->random, probability, actions);
  return status;
}

idm_status idm_agent_observe(idm_agent *agent, size_t action, size_t observation, double reward,
                             idm_error *opt_error)
{
  idm_require(agent);
  const idm_behavior *b = &agent->behavior;
  if (action >= b->sizes.actions || observation >= b->sizes.observations)
    return idm_fail(opt_error, IDM_USAGE,
                    "action %zu of %zu, observation %zu of %zu: an index is out of range", action,
                    b->sizes.actions, observation, b->sizes.observations);
  idm_status status = check_begun(agent, opt_error);
  /* Behaviours expect `act` before every event. */
  if (status == IDM_OK)
    status = b->ops->act(b->content, agent->memory, NULL, agent->number, opt_error);
  if (status != IDM_OK) return status;
  const idm_event event = {.action = (int)action,
                           .observation = (int)observation,
                           .reward = reward,
                           .all_recorded = true};
  return b->ops->observe(b->content, agent->memory, agent->memory, &event, NULL, &agent->random,
                         opt_error);
}

idm_status idm_agent_belief(idm_agent *agent, const double **ret_belief, size_t *ret_length,
                            idm_error *opt_error)
{
  idm_require(agent, ret_belief, ret_length);
  const idm_behavior *b = &agent->behavior;
  *ret_belief = NULL;
  *ret_length = 0;
  const idm_status status = check_begun(agent, opt_error);
  if (status != IDM_OK) return status;
  if (!b->ops->belief) return idm_fail(opt_error, IDM_USAGE, "this planner has no belief");
  double *belief = agent->number + b->sizes.actions;
  b->ops->belief(b->content, agent->memory, belief);
  *ret_belief = belief;
  *ret_length = b->sizes.states;
  return IDM_OK;
}

/* --- logs ----------------------------------------------------------------------------------- */

idm_status idm_simulate_log(const idm_problem *problem, size_t trajectories, int steps,
                            uint64_t seed, idm_data **ret_data, idm_error *opt_error)
{
  idm_require(problem, ret_data);
  *ret_data = NULL;
  idm_workspace *workspace = NULL;
  idm_simulation simulation = {.trajectories = trajectories, .steps = steps, .seed = seed};
  if (!trajectories || steps < 0)
    return idm_fail(opt_error, IDM_USAGE,
                    "%zu trajectories of %d steps; expected at least 1, and 0 or more",
                    trajectories, steps);
  if (problem->utility_sources)
    return idm_fail(
        opt_error, IDM_USAGE,
        "the problem has utilities from columns of a log, which a simulation lacks: set "
        "them to numbers");
  idm_status status = idm_solve(problem, &workspace, opt_error);
  if (status == IDM_OK) {
    idm_simulation_adapt(&simulation, problem);
    status = idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation,
                          ret_data, opt_error);
  }
  idm_workspace_destroy(workspace);
  return status;
}

idm_status idm_score_log(const idm_problem *problem, const idm_data *data, idm_score *score,
                         double *opt_agents, idm_error *opt_error)
{
  idm_require(problem, data, score);
  idm_workspace *workspace = NULL;
  idm_prefix_tree *tree = NULL;
  idm_scorer *scorer = NULL;
  idm_status status = idm_evidence_tree(problem, data, &tree, opt_error);
  if (status == IDM_OK) status = idm_solve(problem, &workspace, opt_error);
  if (status == IDM_OK) status = idm_scorer_create(data, tree, &scorer, opt_error);
  if (status == IDM_OK)
    status = idm_scorer_run(scorer, idm_workspace_behavior(workspace), score, opt_error);
  if (status == IDM_OK && opt_agents) idm_scorer_agents(scorer, opt_agents);
  idm_scorer_destroy(scorer);
  idm_workspace_destroy(workspace);
  idm_prefix_tree_destroy(tree);
  return status;
}
