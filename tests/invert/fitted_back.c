/* Every planner of the registry, fitted to its own simulated log with each readable block free in
 * turn: the maximum has at least the log density of the truth. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/learner_support.h"

/* A reversal task; for hidden states, two models that differ in the observations of `right`.
 * Budgets of planners that learn or search are small, because a fit plans at every value it tries.
 */
static idm_problem *reversal(const idm_planner *planner)
{
  static const char *const seen[] = {
      "observations: [loss, win]\n"
      "observation: {left: [[0.2, 0.8], [0.8, 0.2]], right: [[0.8, 0.2], [0.2, 0.8]]}\n"
      "models: [{weight: 1, observation: {left: [[0.2, 0.8], [0.8, 0.2]], right: uniform}}, "
      "{weight: 2}]\n",
      "observations: states\n"};
  char text[1200];
  snprintf(text, sizeof text,
           "states: [left_pays, right_pays]\nactions: [left, right]\n%s"
           "start: [0.6, 0.4]\ndiscount: 0.9\n"
           "transition: {\"*\": [[0.9, 0.1], [0.1, 0.9]]}\n"
           "utility: {left: [1, -0.8], right: [-0.7, 1.3]}\n"
           "agent: {alpha: 0.7, beta: -1.5, eta: 0.2, resolution: 8, gap: 0.5, budget: 300, "
           "nodes: 2, hidden: 2, layer: 2, sweeps: 3, lapse: 0.1, "
           "weights: {left: [0.5, 1, -1], right: [-0.5, -1, 2]}}\n"
           "action_prior: [0.4, 0.6]\n",
           seen[(planner->needs & IDM_NEEDS_STATES) != 0]);
  idm_problem *problem = support_yaml(text);
  check(idm_problem_set_planner(problem, planner, &support_error));
  return problem;
}

/* A problem whose agent reads that block; NULL if it does not, or if the block has no free
 * parameters. */
static idm_problem *problem_of(const idm_planner *planner, size_t id)
{
  idm_problem *problem = reversal(planner);
  if (id == IDM_DELAY_RATE && planner->supports & IDM_SUPPORTS_HORIZON) {
    problem->agent.discounting = IDM_NAIVE;
    problem->setting->horizon = 3;
    idm_theta_set_scalar(problem->theta, IDM_DELAY_RATE, 0.5);
  }
  const idm_block *block = &problem->theta->block[id];
  /* These blocks are refused when free, which tests/plan/point/point_based.c and
   * tests/invert/inverse.c test. */
  const bool refused = (strcmp(planner->name, "point-based") == 0 &&
                        (id == IDM_CERTAINTY || id == IDM_BELIEF_UTILITY)) ||
                       (planner->transitions && (id == IDM_UTILITY || id == IDM_DISCOUNT));
  if (!refused && idm_agent_reads(&problem->agent, id) && block->info->scales && block->size)
    return problem;
  idm_problem_destroy(problem);
  return NULL;
}

static const char *freedom(const idm_problem *problem, size_t id)
{
  if (id == IDM_TRANSITION) return "{transition: {hazard: [[a, b], [b, a]]}}";
  if (id == IDM_EMISSION) return "{emission: {acuity: {left: [[a, b], [b, a]]}}}";
  return problem->theta->block[id].info->name;
}

/* log p(data | theta) + log p(theta) at the values in theta. */
static double density(const idm_problem *problem, const idm_data *data)
{
  idm_parameters *parameters;
  check(idm_parameters_create(problem, &parameters, &support_error));
  double *y = calloc(idm_parameters_dimension(parameters), sizeof *y);
  assert_non_null(y);
  idm_parameters_get(parameters, problem->theta, y);
  idm_workspace *workspace = support_plan(problem, NULL);
  const double sum = support_score(workspace, data) + idm_parameters_log_prior(parameters, y, NULL);
  idm_workspace_destroy(workspace);
  idm_parameters_destroy(parameters);
  free(y);
  return sum;
}

/* Replace the truth by a draw from the prior as the starting value. (Not for utilities: the
 * likelihood of a deterministic best action is piecewise constant in them, and an ascent may stop
 * on a step.) */
static void move_away(idm_problem *problem)
{
  idm_parameters *parameters;
  idm_random random;
  check(idm_parameters_create(problem, &parameters, &support_error));
  double *y = calloc(idm_parameters_dimension(parameters), sizeof *y);
  assert_non_null(y);
  idm_random_init(&random, 5, 0);
  idm_parameters_draw(parameters, &random, y);
  idm_parameters_set(parameters, y, problem->theta);
  idm_parameters_destroy(parameters);
  free(y);
}

static void fit_back(const idm_planner *planner, idm_problem *problem, size_t id)
{
  const idm_simulation simulation = {.trajectories = 8, .steps = 6, .seed = 4, .agents = 2};
  idm_data *data = support_simulate(problem, simulation);
  check(idm_problem_set_free(problem, freedom(problem, id), &support_error));
  const double truth = density(problem, data);
  if (id != IDM_UTILITY) move_away(problem);
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  settings.chains = 1;
  settings.prior_draws = 10;
  idm_posterior *posterior;
  if (idm_inverse_fit(idm_inverse_find("map"), problem, data, &settings, NULL, &posterior, NULL,
                      &support_error) != IDM_OK)
    fail_msg("%s of '%s': %s", problem->theta->block[id].info->name, planner->name,
             support_error.message);
  const double found = posterior->statistics[0].log_density;
  if (!(found > truth - 1e-6))
    fail_msg("%s of '%s': %g at the answer, %g at the truth", problem->theta->block[id].info->name,
             planner->name, found, truth);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
}

static void every_planner_is_fitted_to_its_own_log(void **state)
{
  (void)state;
  size_t fitted = 0;
  for (size_t i = 0; support_planner_at(i); i++) {
    const idm_planner *planner = support_planner_at(i);
    size_t own = 0;
    for (size_t id = 0; id < IDM_BLOCK_COUNT + planner->own_count; id++) {
      idm_problem *problem = problem_of(planner, id);
      if (!problem) continue;
      fit_back(planner, problem, id);
      own++;
      idm_problem_destroy(problem);
    }
    assert_true(own > 0); /* at least the perseverance block */
    fitted += own;
  }
  print_message("%zu fits\n", fitted);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_planner_is_fitted_to_its_own_log)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
