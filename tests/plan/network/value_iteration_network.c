/* Tests value iteration networks: planning with a horizon at weights of 1, hand computations
 * otherwise. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

enum { STATES = 4, ACTIONS = 3, SWEEPS = 6, WEIGHTS = IDM_BLOCK_COUNT };

/* A random fully observed problem, with a terminal action if requested. */
static idm_problem *make(uint64_t seed, bool terminal, double alpha)
{
  idm_random random;
  idm_random_init(&random, seed, 0);
  idm_problem *problem = support_problem((support_shape){STATES, ACTIONS, STATES, 1, 1}, &random);
  idm_theta *theta = problem->theta;
  problem->setting->fully_observed = true;
  for (size_t i = 0; i < ACTIONS * STATES * STATES; i++)
    problem->setting->emission[i] = theta->block[IDM_EMISSION].value[i] =
        i % STATES == i / STATES % STATES;
  if (terminal) problem->setting->terminal[1] = problem->setting->ends[1] = true;
  support_set(problem, alpha, INFINITY, 0);
  problem->agent.sweeps = SWEEPS;
  return problem;
}

static idm_workspace *plan_by(idm_problem *problem, const char *name, int horizon)
{
  problem->setting->horizon = horizon;
  check(idm_problem_set_planner(problem, idm_planner_find(name), &support_error));
  return support_plan(problem, NULL);
}

static void weights_of_one_are_a_horizon(void **state)
{
  (void)state;
  static const double alphas[] = {0.7, 0, INFINITY, -0.5, 1e-3};
  for (size_t i = 0; i < sizeof alphas / sizeof alphas[0]; i++)
    for (int terminal = 0; terminal < 2; terminal++) {
      idm_problem *problem = make(10 + i, terminal, alphas[i]);
      idm_workspace *network = plan_by(problem, "value-iteration-network", 0);
      idm_problem *same = make(10 + i, terminal, alphas[i]);
      idm_workspace *control = plan_by(same, "bounded-rational", SWEEPS);
      for (size_t s = 0; s < STATES; s++) {
        double z[STATES] = {0}, a[ACTIONS], b[ACTIONS], q[ACTIONS], expected[ACTIONS];
        z[s] = 1;
        idm_plan_policy(network, 0, z, a, NULL);
        idm_plan_policy(control, 0, z, b, NULL);
        idm_plan_quality(network, 0, 0, z, q);
        idm_plan_quality(control, 0, 0, z, expected);
        for (size_t u = 0; u < ACTIONS; u++) {
          assert_near(a[u], b[u], 1e-11);
          assert_near(q[u], expected[u], 1e-12);
        }
        assert_near(idm_plan_value(network, 0, z), idm_plan_value(control, 0, z), 1e-12);
      }
      idm_workspace_destroy(network);
      idm_workspace_destroy(control);
      idm_problem_destroy(problem);
      idm_problem_destroy(same);
    }
}

/* Two sweeps, by the definition. */
static void weights_by_hand(void **state)
{
  (void)state;
  const double w[6] = {0.8, 1.3, 0.6, 1.2, 0.7, 1.9};
  idm_problem *problem = make(3, false, 0.9);
  problem->agent.sweeps = 2;
  check(idm_problem_set_planner(problem, idm_planner_find("value-iteration-network"),
                                &support_error));
  memcpy(problem->theta->block[WEIGHTS].value, w, sizeof w);
  idm_workspace *workspace = support_plan(problem, NULL);
  const double *P = problem->theta->block[IDM_TRANSITION].value;
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  const double *prior = problem->theta->block[IDM_ACTION_PRIOR].value;
  double V[STATES] = {0}, Q[STATES][ACTIONS];
  for (int k = 0; k < 2; k++) {
    double next[STATES];
    for (size_t s = 0; s < STATES; s++) {
      double sum = 0;
      for (size_t u = 0; u < ACTIONS; u++) {
        Q[s][u] = w[3 * k] * utility[u * STATES + s];
        for (size_t t = 0; t < STATES; t++)
          Q[s][u] += w[3 * k + 1] * 0.95 * P[(u * STATES + s) * STATES + t] * V[t];
        sum += prior[u] * exp(Q[s][u] / (w[3 * k + 2] * 0.9));
      }
      next[s] = w[3 * k + 2] * 0.9 * log(sum);
    }
    memcpy(V, next, sizeof V);
  }
  for (size_t s = 0; s < STATES; s++) {
    double z[STATES] = {0}, pi[ACTIONS], total = 0;
    z[s] = 1;
    for (size_t u = 0; u < ACTIONS; u++) total += prior[u] * exp(Q[s][u] / (1.9 * 0.9));
    idm_plan_policy(workspace, 0, z, pi, NULL);
    assert_near(idm_plan_value(workspace, 0, z), V[s], 1e-12);
    for (size_t u = 0; u < ACTIONS; u++)
      assert_near(pi[u], prior[u] * exp(Q[s][u] / (1.9 * 0.9)) / total, 1e-12);
  }
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Sparse transitions give the same plan and derivatives as dense ones. */
static void rows_are_as_good_as_matrices(void **state)
{
  (void)state;
  static const char *const transitions[] = {
      "{go: [[0.1, 0.9, 0], [0, 0.2, 0.8], [1, 0, 0]], stay: [[1, 0, 0], [0, 1, 0], [0, 0.5, "
      "0.5]]}",
      "{go: {a: {a: 0.1, b: 0.9}, b: {b: 0.2, c: 0.8}, c: a}, "
      "stay: {a: a, b: b, c: {b: 0.5, c: 0.5}}}"};
  double log_likelihood[2], found[2][16];
  for (int k = 0; k < 2; k++) {
    char text[800];
    snprintf(text, sizeof text,
             "states: [a, b, c]\nactions: [go, stay]\nobservations: states\nstart: [1, 0, 0]\n"
             "discount: 0.9\nutility: {go: [-1, 0, 2], stay: [0, 0.5, 0]}\ntransition: %s\n"
             "agent: {planner: value-iteration-network, sweeps: 3, alpha: 0.8}\n",
             transitions[k]);
    idm_problem *problem;
    check(idm_problem_parse_yaml(text, strlen(text), "ring", &problem, NULL, &support_error));
    assert_int_equal(problem->setting->moves != NULL, k);
    idm_data *data =
        support_simulate(problem, (idm_simulation){.trajectories = 20, .steps = 10, .seed = 6});
    idm_workspace *workspace = support_plan(problem, NULL);
    idm_prefix_tree *tree;
    idm_gradient *gradient;
    idm_theta *derivative;
    check(idm_evidence_tree(problem, data, &tree, &support_error));
    check(idm_gradient_create(data, tree, workspace, &gradient, &support_error));
    check(idm_theta_copy(problem->theta, &derivative, &support_error));
    check(idm_gradient_run(gradient, &log_likelihood[k], derivative, &support_error));
    memcpy(found[k], derivative->block[WEIGHTS].value, 9 * sizeof(double));
    memcpy(found[k] + 9, derivative->block[IDM_UTILITY].value, 6 * sizeof(double));
    found[k][15] = derivative->block[IDM_DISCOUNT].value[0];
    idm_theta_destroy(derivative);
    idm_gradient_destroy(gradient);
    idm_prefix_tree_destroy(tree);
    idm_workspace_destroy(workspace);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
  assert_near(log_likelihood[0], log_likelihood[1], 1e-13);
  for (size_t i = 0; i < 16; i++) assert_near(found[0][i], found[1][i], 1e-12);
}

/* Alpha and weights are fitted to decisions in a fully observed problem. */
static void it_is_fitted(void **state)
{
  (void)state;
  idm_problem *problem = make(5, false, 2);
  problem->setting->start[0] = 1;
  for (size_t s = 1; s < STATES; s++) problem->setting->start[s] = 0;
  problem->agent.sweeps = 5;
  check(idm_problem_set_planner(problem, idm_planner_find("value-iteration-network"),
                                &support_error));
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 300, .steps = 20, .seed = 6});
  idm_fit_settings settings;
  idm_posterior *posterior;
  idm_parameters *parameters;
  idm_theta *theta;
  idm_projection truth, answer;
  check(idm_problem_set_free(problem, "alpha, sweep_weights", &support_error));
  idm_fit_settings_default(&settings);
  settings.chains = 1;
  settings.threads = 1;
  check(idm_inverse_fit(idm_inverse_find("map"), problem, data, &settings, NULL, &posterior, NULL,
                        &support_error));
  check(idm_parameters_create(problem, &parameters, &support_error));
  check(idm_theta_copy(problem->theta, &theta, &support_error));
  check(idm_posterior_theta(posterior, parameters, 0, 0, theta, &support_error));
  check(idm_projection_measure(problem, problem->theta, data, &truth, &support_error));
  check(idm_projection_measure(problem, theta, data, &answer, &support_error));
  print_message("log-loss: truth %.4f, answer %.4f\n", truth.log_loss, answer.log_loss);
  assert_true(answer.log_loss < truth.log_loss && answer.log_loss > truth.log_loss - 0.01);
  idm_theta_destroy(theta);
  idm_parameters_destroy(parameters);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void what_it_refuses(void **state)
{
  (void)state;
  idm_problem *problem = make(7, false, 0.5);
  idm_workspace *workspace = plan_by(problem, "value-iteration-network", 0);
  idm_block *block = &problem->theta->block[WEIGHTS];
  for (size_t i = 0; i < block->size; i++) block->value[i] = 1e200;
  assert_int_equal(idm_plan(problem->theta, NULL, workspace, NULL, &support_error), IDM_NUMERICAL);
  assert_non_null(strstr(support_error.message, "too large"));
  idm_workspace_destroy(workspace);
  problem->agent.alpha_unit = IDM_ALPHA_RANGE;
  assert_int_equal(idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                        &workspace, &support_error),
                   IDM_INPUT);
  assert_non_null(strstr(support_error.message, "alpha_unit"));
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_of_one_are_a_horizon),
      cmocka_unit_test(weights_by_hand),
      cmocka_unit_test(rows_are_as_good_as_matrices),
      cmocka_unit_test(it_is_fitted),
      cmocka_unit_test(what_it_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
