#include "invert/assess/context_support.h"

#include <stdlib.h>
#include <string.h>

void assessed_fit_open(assessed_fit *a, idm_problem *problem, idm_data *data,
                       const char *free_blocks)
{
  *a = (assessed_fit){.problem = problem, .data = data};
  check(idm_problem_set_free(problem, free_blocks, &support_error));
  idm_fit_settings_default(&a->settings);
  a->settings.threads = 1;
  check(idm_inverse_fit(idm_inverse_find("map"), problem, data, &a->settings, NULL, &a->posterior,
                        NULL, &support_error));
  check(idm_assess_draws(a->posterior, &a->assessment, &support_error));
  check(idm_fit_open(&a->f, NULL, problem, data, &a->settings, 1, &support_error));
  a->q = (check_context){
      .f = &a->f, .posterior = a->posterior, .assessment = a->assessment, .among = 1};
}

void assessed_fit_close(assessed_fit *a)
{
  idm_fit_close(&a->f);
  idm_assessment_destroy(a->assessment);
  idm_posterior_destroy(a->posterior);
  idm_data_destroy(a->data);
  idm_problem_destroy(a->problem);
}

void described_fit_open(described_fit *a)
{
  a->problem = support_diag(0.5, 1.25, 0.3);
  a->problem->agent.resolution = 5;
  check(idm_problem_set_free(a->problem, "{alpha: {scale: log}, beta: {scale: inverse}}",
                             &support_error));
  a->data = support_data(a->problem, "trajectory,action,observation\n1,monitor,negative\n");
  idm_fit_settings_default(&a->settings);
  check(idm_fit_open(&a->f, NULL, a->problem, a->data, &a->settings, 1, &support_error));
}

void described_fit_close(described_fit *a)
{
  idm_fit_close(&a->f);
  idm_data_destroy(a->data);
  idm_problem_destroy(a->problem);
}

idm_problem *make_reversal(double alpha)
{
  static const char text[] =
      "states: [left_good, right_good]\n"
      "actions: [left, right]\n"
      "observations: [win, loss]\n"
      "start: [0.5, 0.5]\n"
      "discount: 0.5\n"
      "transition: {'*': [[0.944, 0.056], [0.056, 0.944]]}\n"
      "observation: {left: [[0.84, 0.16], [0.15, 0.85]], right: [[0.15, 0.85], [0.84, 0.16]]}\n"
      "utility: {left: [0.84, 0.15], right: [0.15, 0.84]}\n"
      "agent: {planner: bounded-rational, resolution: 20, evaluate: interpolate}\n";
  idm_problem *problem;
  check(
      idm_problem_parse_yaml(text, strlen(text), "reversal.yaml", &problem, NULL, &support_error));
  idm_theta_set_scalar(problem->theta, IDM_ALPHA, alpha);
  return problem;
}

typedef struct crowd {
  const double *alpha;
  idm_theta *theta;
  idm_workspace *workspace;
} crowd;

static idm_status before(void *context, size_t trajectory, size_t agent, idm_error *opt_error)
{
  (void)trajectory;
  const crowd *c = context;
  idm_theta_set_scalar(c->theta, IDM_ALPHA, c->alpha[agent]);
  return idm_plan(c->theta, NULL, c->workspace, NULL, opt_error);
}

idm_data *simulate_agents(const idm_problem *problem, const double *alpha, size_t agents,
                          size_t trajectories, int steps, uint64_t seed)
{
  crowd c = {.alpha = alpha};
  idm_data *data;
  check(idm_theta_copy(problem->theta, &c.theta, &support_error));
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &c.workspace,
                             &support_error));
  const idm_simulation simulation = {.trajectories = agents * trajectories,
                                     .steps = steps,
                                     .seed = seed,
                                     .agents = agents,
                                     .opt_before = before,
                                     .context = &c};
  check(idm_simulate(problem->setting, idm_workspace_behavior(c.workspace), &simulation, &data,
                     &support_error));
  idm_workspace_destroy(c.workspace);
  idm_theta_destroy(c.theta);
  return data;
}

idm_data *simulate_learners(const idm_problem *problem, size_t agents, size_t trajectories,
                            int steps, uint64_t seed)
{
  idm_workspace *workspace;
  idm_data *data;
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                             &support_error));
  check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
  const idm_simulation simulation = {.trajectories = agents * trajectories,
                                     .steps = steps,
                                     .seed = seed,
                                     .agents = agents,
                                     .opt_reward_theta = problem->theta};
  check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                     &support_error));
  idm_workspace_destroy(workspace);
  return data;
}

void assign_one_agent(idm_data *data)
{
  for (size_t t = 0; t < data->trajectories; t++) data->agent[t] = 0;
  while (data->agent_name.count > 1) free(data->agent_name.name[--data->agent_name.count]);
}
