#include "invert/assess/crowd_support.h"

#include <math.h>
#include <string.h>

#include "invert/people.h"
#include "invert/people/people.h"

void population_open(population *p, idm_problem *problem, idm_data *data, const char *free_blocks,
                     long draws)
{
  const idm_design_request by = {.by = "agent"};
  *p = (population){.problem = problem, .data = data};
  check(idm_problem_set_free(problem, free_blocks, &support_error));
  idm_fit_settings_default(&p->settings);
  p->settings.threads = 1;
  p->settings.chains = 2;
  p->settings.warmup = 200;
  p->settings.draws = draws;
  check(idm_design_create(problem, data, &by, &p->design, NULL, &support_error));
  check(idm_people_fit(problem, data, p->design, &p->settings, NULL, &p->people, NULL,
                       &support_error));
  check(idm_people_posterior(problem, p->design, p->people, &p->settings, &p->posterior,
                             &support_error));
  check(idm_assess_draws(p->posterior, &p->assessment, &support_error));
  check(idm_fit_open(&p->f, NULL, problem, data, &p->settings, 1, &support_error));
  check(idm_strata_divide(&p->strata, problem, data, p->design, p->people, &support_error));
  p->q = (check_context){.f = &p->f,
                         .posterior = p->posterior,
                         .assessment = p->assessment,
                         .among = 1,
                         .people = &p->strata};
}

void population_close(population *p)
{
  idm_strata_close(&p->strata);
  idm_fit_close(&p->f);
  idm_assessment_destroy(p->assessment);
  idm_posterior_destroy(p->posterior);
  idm_people_destroy(p->people);
  idm_design_destroy(p->design);
  idm_data_destroy(p->data);
  idm_problem_destroy(p->problem);
}

idm_problem *population_bandit(void)
{
  static const char text[] =
      "states: [a_good, b_good]\n"
      "actions: [a, b]\n"
      "observations: [win, loss]\n"
      "start: uniform\n"
      "discount: 0\n"
      "transition: {'*': [[0.944, 0.056], [0.056, 0.944]]}\n"
      "observation_from: before\n"
      "observation: {a: [[0.84, 0.16], [0.15, 0.85]], b: [[0.15, 0.85], [0.84, 0.16]]}\n"
      "utility: {a: [1, -1], b: [-1, 1]}\n"
      "agent: {planner: td-learner, inverse_temperature: 3, learning_rate_gain: 0.5,\n"
      "        learning_rate_loss: 0.5}\n";
  idm_problem *problem;
  check(idm_problem_parse_yaml(text, strlen(text), "bandit.yaml", &problem, NULL, &support_error));
  return problem;
}

typedef struct acting {
  idm_random random;
  idm_theta *theta;
  idm_workspace *workspace;
  double temperature; /* median of the agents' temperatures */
  size_t last;
} acting;

static idm_status become(void *context, size_t trajectory, size_t agent, idm_error *opt_error)
{
  (void)trajectory;
  acting *a = context;
  if (a->last == agent) return IDM_OK;
  a->last = agent;
  const double rate = 1 / (1 + exp(-0.5 * idm_random_normal(&a->random)));
  const int temperature = idm_theta_find(a->theta, "inverse_temperature");
  const int gain = idm_theta_find(a->theta, "learning_rate_gain");
  a->theta->block[temperature].value[0] = a->temperature * exp(0.4 * idm_random_normal(&a->random));
  a->theta->block[gain].value[0] = rate;
  return idm_plan(a->theta, NULL, a->workspace, NULL, opt_error);
}

idm_data *population_learners(const idm_problem *problem, size_t people, size_t trajectories,
                              double lapse, uint64_t seed)
{
  const int temperature = idm_theta_find(problem->theta, "inverse_temperature");
  acting a = {.temperature = problem->theta->block[temperature].value[0], .last = SIZE_MAX};
  idm_data *data;
  idm_random_init(&a.random, seed, 7);
  check(idm_theta_copy(problem->theta, &a.theta, &support_error));
  idm_theta_set_scalar(a.theta, IDM_LAPSE, lapse);
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &a.workspace,
                             &support_error));
  const idm_simulation simulation = {.trajectories = people * trajectories,
                                     .steps = 50,
                                     .seed = seed,
                                     .agents = people,
                                     .opt_reward_theta = problem->theta,
                                     .opt_before = become,
                                     .context = &a};
  check(idm_simulate(problem->setting, idm_workspace_behavior(a.workspace), &simulation, &data,
                     &support_error));
  idm_workspace_destroy(a.workspace);
  idm_theta_destroy(a.theta);
  return data;
}
