/* Posterior prediction: mean probabilities over draws against a plan per draw, and logs simulated
 * by draws. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* --- fixtures ------------------------------------------------------------------------------- */

static idm_problem *make_problem(void)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 20;
  problem->agent.tolerance = 1e-12;
  check(idm_problem_set_free(problem, "{alpha: {scale: log}}", &support_error));
  return problem;
}

static idm_data *simulate(const idm_problem *problem, size_t trajectories, uint64_t seed)
{
  const idm_simulation simulation = {.trajectories = trajectories, .steps = 10, .seed = seed};
  return support_simulate(problem, simulation);
}

/* A posterior of alpha with the given draws, with the fields that prediction reads. */
static idm_posterior *make_posterior(const double *log_alpha, size_t chains, size_t draws)
{
  idm_posterior *p = calloc(1, sizeof *p);
  assert_non_null(p);
  p->answer = IDM_POSTERIOR;
  p->chains = chains;
  p->draws = draws;
  p->unconstrained = calloc(chains * draws, sizeof(double));
  assert_non_null(p->unconstrained);
  memcpy(p->unconstrained, log_alpha, chains * draws * sizeof(double));
  support_names(&p->coordinate, (const char *const[]){"alpha"}, 1);
  support_names(&p->quantity, (const char *const[]){"alpha"}, 1);
  return p;
}

/* --- given trajectories --------------------------------------------------------------------- */

/* Adds the weighted probability of each trajectory at one draw, with its own plan. */
static void add_probabilities(idm_problem *problem, const idm_data *data, double log_alpha,
                              double weight, double *probability)
{
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_score score;
  idm_theta_set_scalar(problem->theta, IDM_ALPHA, exp(log_alpha));
  idm_workspace *workspace = support_plan(problem, NULL);
  check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &support_error));
  check(idm_scorer_create(data, tree, &scorer, &support_error));
  check(idm_scorer_run(scorer, idm_workspace_behavior(workspace), &score, &support_error));
  for (size_t t = 0; t < data->trajectories; t++)
    probability[t] += weight * exp(idm_scorer_trajectory(scorer, t));
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
  idm_workspace_destroy(workspace);
}

static void test_mean_probability(void **state)
{
  (void)state;
  enum { TRAJECTORIES = 30, DRAWS = 8 };
  idm_problem *problem = make_problem();
  idm_data *data = simulate(problem, TRAJECTORIES, 7);
  const double draws[DRAWS] = {-1, 0.5, -0.2, -3, 2, 0, 0.1, -0.7};
  double probability[TRAJECTORIES] = {0}, predicted[TRAJECTORIES], sum = 0;
  for (size_t i = 0; i < DRAWS; i++)
    add_probabilities(problem, data, draws[i], 1.0 / DRAWS, probability);
  idm_posterior *p = make_posterior(draws, 2, 4);
  idm_score score;
  check(idm_posterior_predict(problem, p, data, predicted, &score, &support_error));
  for (size_t t = 0; t < TRAJECTORIES; t++) {
    assert_near(predicted[t], log(probability[t]), 1e-9);
    sum += predicted[t];
  }
  assert_near(score.log_likelihood, sum, 1e-12);
  assert_int_equal(score.decisions, data->rows);
  assert_int_equal(score.impossible_line, 0);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Of 2,500 draws 1,000 are used, evenly spaced: draw k * 2.5. */
static void test_many_draws(void **state)
{
  (void)state;
  enum { DRAWS = 2500 };
  static double draws[DRAWS];
  idm_problem *problem = make_problem();
  problem->agent.resolution = 5;
  idm_data *data = simulate(problem, 2, 7);
  double probability[2] = {0}, predicted[2];
  for (size_t i = 0; i < DRAWS; i++) draws[i] = i % 5 == 0 ? -1 : i % 5 == 2 ? 1 : 4;
  add_probabilities(problem, data, -1, 0.5, probability);
  add_probabilities(problem, data, 1, 0.5, probability);
  idm_posterior *p = make_posterior(draws, 1, DRAWS);
  idm_score score;
  check(idm_posterior_predict(problem, p, data, predicted, &score, &support_error));
  for (size_t t = 0; t < 2; t++) assert_near(predicted[t], log(probability[t]), 1e-9);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A mixture has positive probability where one of its draws has. exp(-2000) is 0: the best action
 * only. */
static void test_impossible(void **state)
{
  (void)state;
  idm_problem *problem = make_problem();
  support_set(problem, 0.5, INFINITY, 0);
  idm_data *data =
      support_data(problem, "trajectory,action,observation\n1,declare_healthy,negative\n"
                            "2,monitor,negative\n");
  const double draws[2] = {-2000, 2000};
  double predicted[2];
  idm_score score;
  idm_posterior *p = make_posterior(draws, 1, 2);
  check(idm_posterior_predict(problem, p, data, predicted, &score, &support_error));
  assert_near(predicted[0], log(0.5 * (0 + 1.0 / 3)), 1e-12);
  assert_near(predicted[1], log(0.5 * (1 + 1.0 / 3)), 1e-12);
  assert_int_equal(score.impossible_line, 0);
  idm_posterior_destroy(p);
  p = make_posterior(draws, 1, 1);
  check(idm_posterior_predict(problem, p, data, predicted, &score, &support_error));
  assert_true(predicted[0] == -INFINITY && score.log_likelihood == -INFINITY);
  assert_near(predicted[1], 0, 1e-12);
  assert_int_equal(score.impossible_line, 2);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- new trajectories ----------------------------------------------------------------------- */

static void same_rows(const idm_data *a, const idm_data *b, size_t from, size_t to)
{
  assert_int_equal(a->trajectories, b->trajectories);
  for (size_t t = from; t < to; t++) {
    const size_t rows = a->first[t + 1] - a->first[t];
    assert_int_equal(rows, b->first[t + 1] - b->first[t]);
    assert_memory_equal(a->action + a->first[t], b->action + b->first[t], rows * sizeof(int32_t));
    assert_memory_equal(a->observation + a->first[t], b->observation + b->first[t],
                        rows * sizeof(int32_t));
  }
}

static idm_data *simulate_by(const idm_problem *problem, const idm_posterior *p,
                             size_t trajectories)
{
  const idm_simulation simulation = {.trajectories = trajectories, .steps = 10, .seed = 9};
  idm_data *data;
  check(idm_posterior_simulate(problem, p, &simulation, &data, &support_error));
  return data;
}

/* Identical draws act as one agent. */
static void test_equal_draws(void **state)
{
  (void)state;
  idm_problem *problem = make_problem();
  idm_theta_set_scalar(problem->theta, IDM_ALPHA, exp(0.25));
  idm_data *plain = simulate(problem, 40, 9);
  const double draws[6] = {0.25, 0.25, 0.25, 0.25, 0.25, 0.25};
  idm_posterior *p = make_posterior(draws, 2, 3);
  idm_data *data = simulate_by(problem, p, 40);
  same_rows(plain, data, 0, 40);
  idm_data_destroy(data);
  idm_data_destroy(plain);
  idm_posterior_destroy(p);
  idm_problem_destroy(problem);
}

/* Trajectory i uses draw i * draws / trajectories: with 49 of each the map is one to one, in spite
 * of rounding such as 1 / 49 * 49 < 1. */
static void test_draws_in_turn(void **state)
{
  (void)state;
  enum { COUNT = 49 };
  idm_problem *problem = make_problem();
  problem->agent.resolution = 10;
  double draws[COUNT];
  for (size_t i = 0; i < COUNT; i++) draws[i] = i % 2 ? -1 : 2000;
  idm_theta_set_scalar(problem->theta, IDM_ALPHA, INFINITY);
  idm_data *even = simulate(problem, COUNT, 9);
  idm_theta_set_scalar(problem->theta, IDM_ALPHA, exp(-1));
  idm_data *odd = simulate(problem, COUNT, 9);
  idm_posterior *p = make_posterior(draws, 1, COUNT);
  idm_data *data = simulate_by(problem, p, COUNT);
  for (size_t t = 0; t < COUNT; t++) same_rows(t % 2 ? odd : even, data, t, t + 1);
  idm_data_destroy(data);
  idm_data_destroy(even);
  idm_data_destroy(odd);
  idm_posterior_destroy(p);
  idm_problem_destroy(problem);
}

static void test_other_parameters(void **state)
{
  (void)state;
  idm_problem *problem = make_problem();
  idm_data *data = simulate(problem, 2, 1), *none = data;
  const double draw = 0;
  double predicted[2];
  idm_score score;
  idm_posterior *p = make_posterior(&draw, 1, 1);
  check(idm_problem_set_free(problem, "beta", &support_error));
  const idm_simulation simulation = {.trajectories = 2, .seed = 1};
  assert_int_equal(idm_posterior_predict(problem, p, data, predicted, &score, NULL), IDM_INPUT);
  assert_int_equal(idm_posterior_simulate(problem, p, &simulation, &none, NULL), IDM_INPUT);
  assert_null(none);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mean_probability), cmocka_unit_test(test_many_draws),
      cmocka_unit_test(test_impossible),       cmocka_unit_test(test_equal_draws),
      cmocka_unit_test(test_draws_in_turn),    cmocka_unit_test(test_other_parameters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
