/* Tests decision networks: equal to a decision rule without a hidden layer, and fitted to any
 * frequencies with one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

enum { STATES = 3, ACTIONS = 3, NETWORK = IDM_BLOCK_COUNT };

static idm_problem *make(int hidden, uint64_t seed)
{
  idm_random random;
  idm_random_init(&random, seed, 0);
  idm_problem *problem = support_problem((support_shape){STATES, ACTIONS, 2, 2, 5}, &random);
  problem->agent.hidden = hidden;
  check(idm_problem_set_planner(problem, idm_planner_find("decision-network"), &support_error));
  return problem;
}

static void without_a_hidden_layer_it_is_the_rule(void **state)
{
  (void)state;
  idm_problem *problem = make(0, 1);
  idm_random random;
  idm_random_init(&random, 2, 0);
  support_redraw(problem->theta, NETWORK, &random);
  double *weights = problem->theta->block[NETWORK].value;
  assert_int_equal(problem->theta->block[NETWORK].size, ACTIONS * (STATES + 1));
  check(idm_theta_resize(problem->theta, IDM_WEIGHTS, ACTIONS * (STATES + 1), 1, &support_error));
  memcpy(problem->theta->block[IDM_WEIGHTS].value, weights,
         ACTIONS * (STATES + 1) * sizeof *weights);
  idm_workspace *network = support_plan(problem, NULL);
  check(idm_problem_set_planner(problem, idm_planner_find("decision-rule"), &support_error));
  idm_workspace *rule = support_plan(problem, NULL);
  for (int draw = 0; draw < 20; draw++) {
    double z[STATES], a[ACTIONS], b[ACTIONS];
    support_distribution(&random, z, STATES);
    idm_plan_policy(network, 0, z, a, NULL);
    idm_plan_policy(rule, 0, z, b, NULL);
    assert_memory_equal(a, b, sizeof a);
  }
  idm_workspace_destroy(network);
  idm_workspace_destroy(rule);
  idm_problem_destroy(problem);
}

static void scores_by_hand(void **state)
{
  (void)state;
  enum { HIDDEN = 2 };
  idm_problem *problem = make(HIDDEN, 3);
  idm_random random;
  idm_random_init(&random, 4, 0);
  support_redraw(problem->theta, NETWORK, &random);
  const double *v = problem->theta->block[NETWORK].value, *w = v + HIDDEN * (STATES + 1);
  const double *prior = problem->theta->block[IDM_ACTION_PRIOR].value;
  idm_workspace *workspace = support_plan(problem, NULL);
  for (int draw = 0; draw < 20; draw++) {
    double z[STATES], pi[ACTIONS], h[HIDDEN], expected[ACTIONS], total = 0;
    support_distribution(&random, z, STATES);
    for (int i = 0; i < HIDDEN; i++)
      h[i] = tanh(v[i * 4] + v[i * 4 + 1] * z[0] + v[i * 4 + 2] * z[1] + v[i * 4 + 3] * z[2]);
    for (int u = 0; u < ACTIONS; u++)
      total += expected[u] = prior[u] * exp(w[u * 3] + w[u * 3 + 1] * h[0] + w[u * 3 + 2] * h[1]);
    idm_plan_policy(workspace, 0, z, pi, NULL);
    for (int u = 0; u < ACTIONS; u++) assert_near(pi[u], expected[u] / total, 1e-13);
  }
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* --- size and initial values ---------------------------------------------------------------- */

static void width_and_seed_start_it_anew(void **state)
{
  (void)state;
  idm_problem *problem = make(5, 5);
  idm_block *block = &problem->theta->block[NETWORK];
  assert_int_equal(block->size, 5 * 4 + 3 * 6);
  const double first = block->value[1];
  double squares = 0;
  assert_true(first != 0 && block->value[0] == 0); /* constants start at 0 */
  support_assign(problem, "hidden=400");
  assert_int_equal(block->size, 400 * 4 + 3 * 401);
  for (size_t i = 0; i < 400 * 4; i++) squares += block->value[i] * block->value[i];
  assert_true(fabs(squares / 1200 - 1.0 / STATES) < 0.05);
  support_assign(problem, "hidden=5");
  assert_true(block->value[1] == first);
  block->value[1] = 7;
  support_assign(problem, "evaluate=interpolate"); /* does not affect the shape */
  support_assign(problem, "hidden=5");             /* nor does an unchanged value */
  check(idm_problem_set_planner(problem, idm_planner_find("decision-network"), &support_error));
  assert_true(block->value[1] == 7);
  support_assign(problem, "seed=2");
  assert_true(block->value[1] != first && block->value[1] != 7);
  idm_problem_destroy(problem);
}

/* A width changed by a host program without resizing the block is an error. */
static void numbers_must_be_as_many_as_the_width_asks_for(void **state)
{
  (void)state;
  idm_problem *problem = make(5, 6);
  idm_workspace *workspace;
  problem->agent.hidden = 6;
  assert_int_equal(idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                        &workspace, &support_error),
                   IDM_USAGE);
  assert_non_null(strstr(support_error.message, "network has 38 numbers"));
  check(idm_planner_shape(idm_planner_find("decision-network"), &problem->agent, problem->theta,
                          &support_error));
  idm_workspace_destroy(support_plan(problem, NULL));
  idm_problem_destroy(problem);
}

/* Numbers given in a file are kept, whatever the order of the keys. */
static void files_hold_networks(void **state)
{
  (void)state;
  static const char text[] =
      "states: [calm, storm]\nactions: [sail, stay]\nobservations: [sun, rain]\n"
      "start: [0.5, 0.5]\ndiscount: 0.9\n"
      "transition: {\"*\": identity}\nobservation: {\"*\": [[0.8, 0.2], [0.3, 0.7]]}\n"
      "utility: {sail: [1, -1], stay: 0}\n"
      "agent: {network: [1, 2, 3, 4, 5, 6, 7], seed: 9, hidden: 1, planner: decision-network}\n";
  idm_problem *problem, *again;
  char path[SUPPORT_PATH];
  check(idm_problem_parse_yaml(text, strlen(text), "sea", &problem, NULL, &support_error));
  const double expected[] = {1, 2, 3, 4, 5, 6, 7};
  assert_int_equal(problem->theta->block[NETWORK].size, 7);
  assert_memory_equal(problem->theta->block[NETWORK].value, expected, sizeof expected);
  support_path(path);
  check(idm_problem_write_yaml(problem, path, NULL, &support_error));
  check(idm_problem_read(path, &again, NULL, &support_error));
  char difference[200];
  assert_true(idm_problem_compare(problem, again, 0, difference, sizeof difference));
  remove(path);
  idm_problem_destroy(again);
  idm_problem_destroy(problem);
}

/* --- learning ------------------------------------------------------------------------------- */

/* sum n log(n / n_s) over the states and actions of a fully observed log. */
static double log_likelihood_of_frequencies(const idm_data *data)
{
  double n[STATES][ACTIONS] = {{0}}, sum = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t i = data->first[t], s = 0; i < data->first[t + 1]; i++) {
      n[s][data->action[i]]++;
      s = (size_t)data->observation[i];
    }
  for (size_t s = 0; s < STATES; s++) {
    const double total = n[s][0] + n[s][1] + n[s][2];
    for (size_t u = 0; u < ACTIONS; u++)
      if (n[s][u] > 0) sum += n[s][u] * log(n[s][u] / total);
  }
  return sum;
}

/* Maximum likelihood on a fully observed log equals the frequencies, with a hidden layer or
 * without. */
static void it_learns_frequencies(void **state)
{
  (void)state;
  static const char text[] =
      "states: [a, b, c]\nactions: [x, y, z]\nobservations: states\nstart: [1, 0, 0]\n"
      "discount: 0.9\n"
      "transition: {x: [[0.1, 0.6, 0.3], [0.3, 0.3, 0.4], [0.5, 0.2, 0.3]], "
      "y: [[0.4, 0.3, 0.3], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]], z: uniform}\n"
      "utility: {x: [1, 0, -1], y: [0, 1, 0.5], z: [0.3, -1, 1]}\n"
      "agent: {planner: bounded-rational, alpha: 0.8}\n";
  for (int hidden = 0; hidden <= 6; hidden += 6) {
    idm_problem *problem;
    check(idm_problem_parse_yaml(text, strlen(text), "walk", &problem, NULL, &support_error));
    const idm_simulation simulation = {.trajectories = 30, .steps = 30, .seed = 11};
    idm_data *data = support_simulate(problem, simulation);
    idm_fit_settings settings;
    idm_posterior *posterior;
    idm_parameters *parameters;
    idm_projection answer;
    problem->agent.hidden = hidden;
    check(idm_problem_set_planner(problem, idm_planner_find("decision-network"), &support_error));
    check(idm_problem_set_free(problem, "{network: {prior: flat}}", &support_error));
    idm_fit_settings_default(&settings);
    settings.chains = 1;
    settings.threads = 1;
    check(idm_inverse_fit(idm_inverse_find("map"), problem, data, &settings, NULL, &posterior, NULL,
                          &support_error));
    check(idm_parameters_create(problem, &parameters, &support_error));
    check(idm_posterior_theta(posterior, parameters, 0, 0, problem->theta, &support_error));
    check(idm_projection_measure(problem, problem->theta, data, &answer, &support_error));
    const double reached = -answer.log_loss * (double)answer.decisions;
    const double expected = log_likelihood_of_frequencies(data);
    print_message("%d hidden: %.6f; frequencies %.6f\n", hidden, reached, expected);
    assert_true(fabs(reached - expected) < 1e-3);
    idm_parameters_destroy(parameters);
    idm_posterior_destroy(posterior);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Overflowing scores would be indistinguishable: planning fails, and leaves no plan. */
static void overflow_is_said(void **state)
{
  (void)state;
  static const char *const planners[] = {"decision-network", "decision-rule", "prototype"};
  for (size_t i = 0; i < sizeof planners / sizeof planners[0]; i++) {
    idm_problem *problem = make(2, 8);
    check(idm_theta_resize(problem->theta, IDM_WEIGHTS, ACTIONS * (STATES + 1), 1, &support_error));
    check(idm_problem_set_planner(problem, idm_planner_find(planners[i]), &support_error));
    idm_workspace *workspace = support_plan(problem, NULL);
    const double z[STATES] = {0.2, 0.3, 0.5};
    double policy[ACTIONS];
    idm_plan_policy(workspace, 0, z, policy, NULL);
    for (size_t u = 0; u < ACTIONS; u++) assert_true(isfinite(policy[u]));
    idm_block *block = &problem->theta->block[i == 1 ? (size_t)IDM_WEIGHTS : NETWORK];
    for (size_t k = 0; k < block->size; k++) block->value[k] = k % 3 ? 1.5e308 : 1e308;
    assert_int_equal(idm_plan(problem->theta, NULL, workspace, NULL, &support_error),
                     IDM_NUMERICAL);
    assert_non_null(strstr(support_error.message, "would not be finite"));
    assert_non_null(strstr(support_error.message, block->info->name));
    idm_plan_policy(workspace, 0, z, policy, NULL);
    for (size_t u = 0; u < ACTIONS; u++) assert_true(isnan(policy[u]));
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_hidden_layer_it_is_the_rule),
      cmocka_unit_test(scores_by_hand),
      cmocka_unit_test(width_and_seed_start_it_anew),
      cmocka_unit_test(numbers_must_be_as_many_as_the_width_asks_for),
      cmocka_unit_test(files_hold_networks),
      cmocka_unit_test(it_learns_frequencies),
      cmocka_unit_test(overflow_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
