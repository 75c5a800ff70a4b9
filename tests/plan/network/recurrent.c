/* Tests the planner `recurrent` against a direct loop over the log, and tasks it can learn. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/network/lstm_support.h"
#include "plan/network/parity_support.h"
#include "support.h"

enum { NETWORK = IDM_BLOCK_COUNT };

static idm_problem *make(const char *observations, int hidden, int layer)
{
  char text[900];
  snprintf(text, sizeof text,
           "states: [a, b]\nactions: [x, y, z]\nobservations: %s\nstart: [0, 1]\n"
           "discount: 0.9\nends: [z]\n"
           "transition: {\"*\": [[0.6, 0.4], [0.3, 0.7]]}\n%s"
           "utility: {x: [1, 0], y: [0, 1], z: -1}\n"
           "agent: {hidden: %d, layer: %d, seed: 7, planner: recurrent}\n",
           observations,
           strcmp(observations, "states") == 0 ? ""
                                               : "observation: {\"*\": [[0.7, 0.3], [0.2, 0.8]]}\n",
           hidden, layer);
  idm_problem *problem;
  check(idm_problem_parse_yaml(text, strlen(text), "memory", &problem, NULL, &support_error));
  return problem;
}

static double score_of(const idm_problem *problem, const idm_data *data, size_t *opt_nodes)
{
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_score score;
  check(idm_evidence_tree(problem, data, &tree, &support_error));
  check(idm_scorer_create(data, tree, &scorer, &support_error));
  check(idm_scorer_run(scorer, idm_workspace_behavior(workspace), &score, &support_error));
  if (opt_nodes) *opt_nodes = tree->nodes;
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
  idm_workspace_destroy(workspace);
  return score.log_likelihood;
}

/* The log-likelihood by its definition: row by row, trajectory by trajectory. */
static double plain_log_likelihood(const idm_problem *problem, const idm_data *data, bool observed)
{
  const double perseverance = idm_theta_scalar(problem->theta, IDM_PERSEVERANCE);
  const double lapse = idm_theta_scalar(problem->theta, IDM_LAPSE);
  double sum = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    plain_lstm plain = {.actions = 3,
                        .observations = 2,
                        .units = (size_t)problem->agent.hidden,
                        .layer = (size_t)problem->agent.layer,
                        .weights = problem->theta->block[NETWORK].value};
    int last = -1;
    plain_read(&plain, -1, observed ? 1 : -1); /* it starts in b */
    for (size_t i = data->first[t]; i < data->first[t + 1]; i++) {
      double score[3], total = 0;
      plain_score(&plain, score);
      for (int u = 0; u < 3; u++) total += exp(score[u] += u == last ? perseverance : 0);
      sum += log((1 - lapse) * exp(score[data->action[i]]) / total + lapse / 3);
      plain_read(&plain, last = data->action[i], data->observation[i]);
    }
  }
  return sum;
}

static void scores_are_those_of_a_plain_loop(void **state)
{
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    const bool observed = kind % 2;
    idm_problem *problem = make(observed ? "states" : "[p, q]", 11, 6);
    const idm_simulation simulation = {.trajectories = 50, .steps = 15, .seed = 3};
    if (kind / 2) {
      idm_theta_set_scalar(problem->theta, IDM_PERSEVERANCE, 0.7);
      idm_theta_set_scalar(problem->theta, IDM_LAPSE, 0.05);
    }
    idm_data *data = support_simulate(problem, simulation);
    for (size_t t = 0; t < 5; t++) /* a last observation is not needed */
      data->observation[data->first[t + 1] - 1] = IDM_MISSING;
    size_t nodes;
    const double expected = plain_log_likelihood(problem, data, observed);
    assert_near(score_of(problem, data, &nodes), expected, 1e-12);
    assert_true(nodes < data->rows + 1); /* shared histories are processed once */
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* --- rejected input ------------------------------------------------------------------------- */

/* A log with a gap is rejected at its row, whether an action or an observation is missing. */
static void everything_must_be_recorded(void **state)
{
  (void)state;
  static const struct {
    const char *csv, *words;
  } cases[] = {
      {"trajectory,action,observation\n1,x,p\n1,,q\n1,y,p\n", "action was not recorded"},
      {"trajectory,action,observation\n1,x,p\n1,y,\n1,y,p\n", "observation was not recorded"}};
  for (size_t i = 0; i < 2; i++) {
    idm_problem *problem = make("[p, q]", 3, 2);
    idm_data *data = support_data(problem, cases[i].csv);
    idm_workspace *workspace = support_plan(problem, NULL);
    idm_prefix_tree *tree;
    idm_scorer *scorer;
    idm_score score;
    check(idm_evidence_tree(problem, data, &tree, &support_error));
    assert_false(idm_gradient_possible(data, tree, workspace));
    check(idm_scorer_create(data, tree, &scorer, &support_error));
    assert_int_equal(
        idm_scorer_run(scorer, idm_workspace_behavior(workspace), &score, &support_error),
        IDM_INPUT);
    support_expect_place(&support_error, 3, 0, cases[i].words);
    idm_scorer_destroy(scorer);
    idm_prefix_tree_destroy(tree);
    idm_workspace_destroy(workspace);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

static void it_needs_a_memory(void **state)
{
  (void)state;
  idm_problem *problem = make("[p, q]", 0, 2);
  idm_workspace *workspace;
  assert_int_equal(idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                        &workspace, &support_error),
                   IDM_INPUT);
  assert_non_null(strstr(support_error.message, "hidden: 0"));
  idm_problem_destroy(problem);
}

/* Overflowing scores are an error. */
static void overflow_is_said(void **state)
{
  (void)state;
  idm_problem *problem = make("[p, q]", 4, 3);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 5, .steps = 5, .seed = 1});
  idm_block *block = &problem->theta->block[NETWORK];
  for (size_t i = 0; i < block->size; i++) block->value[i] = copysign(1e308, block->value[i]);
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_gradient *gradient;
  idm_score score;
  idm_theta *derivative;
  double log_likelihood;
  check(idm_evidence_tree(problem, data, &tree, &support_error));
  check(idm_scorer_create(data, tree, &scorer, &support_error));
  assert_int_equal(
      idm_scorer_run(scorer, idm_workspace_behavior(workspace), &score, &support_error),
      IDM_NUMERICAL);
  assert_non_null(strstr(support_error.message, "weights are too large"));
  check(idm_gradient_create(data, tree, workspace, &gradient, &support_error));
  check(idm_theta_copy(problem->theta, &derivative, &support_error));
  assert_int_equal(idm_gradient_run(gradient, &log_likelihood, derivative, &support_error),
                   IDM_NUMERICAL);
  assert_non_null(strstr(support_error.message, "weights are too large"));
  idm_theta_destroy(derivative);
  idm_gradient_destroy(gradient);
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
  idm_workspace_destroy(workspace);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- learning ------------------------------------------------------------------------------- */

static void it_learns_a_parity(void **state)
{
  (void)state;
  static const char text[] =
      "states: [s]\nactions: [even, odd]\nobservations: [p, q]\nstart: [1]\ndiscount: 0.9\n"
      "transition: {\"*\": identity}\nobservation: {\"*\": [[0.5, 0.5]]}\n"
      "utility: {even: 0, odd: 0}\n"
      "agent: {planner: recurrent, hidden: 8, layer: 8}\n"
      "free: {network: {prior: {normal: [0, 0.3]}}}\n";
  idm_problem *problem;
  idm_fit_settings settings;
  idm_posterior *posterior;
  idm_parameters *parameters;
  double truth;
  check(idm_problem_parse_yaml(text, strlen(text), "parity", &problem, NULL, &support_error));
  idm_data *log = support_parity(problem, 100, 1, NULL),
           *cv_result = support_parity(problem, 500, 2, &truth);
  idm_fit_settings_default(&settings);
  settings.chains = 1;
  settings.threads = 1;
  check(idm_inverse_fit(idm_inverse_find("map"), problem, log, &settings, NULL, &posterior, NULL,
                        &support_error));
  check(idm_parameters_create(problem, &parameters, &support_error));
  check(idm_posterior_theta(posterior, parameters, 0, 0, problem->theta, &support_error));
  const double reached = score_of(problem, cv_result, NULL) / (double)cv_result->rows;
  print_message("cross-entropy on held-out decisions: %.4f; of the rule itself %.4f\n", -reached,
                -truth / (double)cv_result->rows);
  assert_true(fabs(reached - truth / (double)cv_result->rows) < 0.01);
  idm_parameters_destroy(parameters);
  idm_posterior_destroy(posterior);
  idm_data_destroy(log);
  idm_data_destroy(cv_result);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scores_are_those_of_a_plain_loop),
      cmocka_unit_test(everything_must_be_recorded),
      cmocka_unit_test(it_needs_a_memory),
      cmocka_unit_test(overflow_is_said),
      cmocka_unit_test(it_learns_a_parity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
