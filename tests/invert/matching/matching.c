/* Soft policy matching: log-likelihoods against the scorer, gradients against finite differences,
 * and evaluations that depend on the free parameters only. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/matching/fit.h"
#include "support.h"

enum { MOST = 16 };

/* --- fixtures ------------------------------------------------------------------------------- */

typedef struct match {
  idm_problem *problem;
  idm_data *data;
  idm_prefix_tree *tree;
  idm_parameters *parameters;
  idm_matching *matching;
} match;

static match open_with(idm_problem *problem, idm_data *data)
{
  match m = {.problem = problem, .data = data};
  check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &m.tree, &support_error));
  check(idm_parameters_create(problem, &m.parameters, &support_error));
  check(idm_matching_create(problem, data, m.tree, m.parameters, &m.matching, &support_error));
  assert_true(idm_parameters_dimension(m.parameters) <= MOST);
  return m;
}

static void close_match(match *m)
{
  idm_matching_destroy(m->matching);
  idm_parameters_destroy(m->parameters);
  idm_prefix_tree_destroy(m->tree);
  idm_data_destroy(m->data);
  idm_problem_destroy(m->problem);
}

/* A coarse DIAG problem with lookahead policies, and a log of an agent with other parameters than
 * those evaluated. */
static match open_match(const char *free_blocks, size_t trajectories)
{
  idm_problem *problem = support_diag(0.8, 4, 0.3);
  problem->agent.resolution = 20;
  problem->agent.evaluate = IDM_LOOKAHEAD;
  problem->agent.tolerance = 1e-12;
  check(idm_problem_set_free(problem, free_blocks, &support_error));
  const idm_simulation simulation = {.trajectories = trajectories, .steps = 12, .seed = 3};
  idm_data *data = support_simulate(problem, simulation);
  return open_with(problem, data);
}

static double log_likelihood(match *m, const double *y)
{
  double value;
  check(idm_matching_log_likelihood(m->matching, y, &value, NULL, &support_error));
  return value;
}

/* Log-likelihood by planning and scoring directly. */
static double plain_log_likelihood(const match *m, const double *y)
{
  idm_theta *theta;
  idm_workspace *workspace;
  const idm_problem *problem = m->problem;
  check(idm_theta_copy(problem->theta, &theta, &support_error));
  idm_parameters_set(m->parameters, y, theta);
  check(idm_workspace_create(problem->setting, theta, &problem->agent, &workspace, &support_error));
  check(idm_plan(theta, NULL, workspace, NULL, &support_error));
  const double value = support_score(workspace, m->data);
  idm_workspace_destroy(workspace);
  idm_theta_destroy(theta);
  return value;
}

static void nudge(const match *m, idm_random *random, double *y)
{
  idm_parameters_get(m->parameters, m->problem->theta, y);
  for (size_t i = 0; i < idm_parameters_dimension(m->parameters); i++)
    y[i] += 0.3 * idm_random_normal(random);
}

/* --- values --------------------------------------------------------------------------------- */

static const char multipliers[] = "{alpha: {scale: log}, beta: {scale: inverse}, eta: }";
static const char everything[] =
    "{alpha: {scale: log}, beta: {scale: inverse}, eta: {scale: identity}, discount: , "
    "utility: {entries: {correct: [declare_healthy.healthy, declare_diseased.diseased], "
    "wait: monitor}}, action_prior: , model_prior: }";

static void test_equals_planning_and_scoring(void **state)
{
  (void)state;
  match m = open_match(everything, 40);
  idm_random random;
  idm_random_init(&random, 1, 0);
  for (int k = 0; k < 5; k++) {
    double y[MOST];
    nudge(&m, &random, y);
    const double value = log_likelihood(&m, y);
    assert_near(value, plain_log_likelihood(&m, y), 1e-12);
    double sum = 0;
    for (size_t t = 0; t < m.data->trajectories; t++)
      sum += idm_scorer_trajectory(idm_matching_scorer(m.matching), t);
    assert_near(sum, value, 1e-12);
  }
  close_match(&m);
}

/* The target adds the log prior and its gradient. */
static void test_target(void **state)
{
  (void)state;
  match m = open_match(multipliers, 40);
  const idm_target target = idm_matching_target(m.matching);
  double y[3], whole[3], part[3], prior[3], density, value;
  idm_random random;
  idm_random_init(&random, 2, 0);
  nudge(&m, &random, y);
  assert_int_equal(target.dimension, 3);
  assert_true(target.gradient);
  check(target.evaluate(target.context, y, &density, whole, &support_error));
  check(idm_matching_log_likelihood(m.matching, y, &value, part, &support_error));
  assert_near(density, value + idm_parameters_log_prior(m.parameters, y, prior), 1e-14);
  for (size_t i = 0; i < 3; i++) assert_near(whole[i], part[i] + prior[i], 1e-14);
  close_match(&m);
}

/* --- gradients ------------------------------------------------------------------------------ */

/* Richardson extrapolation of two central differences: the error is of fourth order in the step. */
static double difference(match *m, double *y, size_t i, double h)
{
  const double at = y[i];
  double side[4];
  const double steps[4] = {-2 * h, -h, h, 2 * h};
  for (size_t k = 0; k < 4; k++) {
    y[i] = at + steps[k];
    side[k] = log_likelihood(m, y);
  }
  y[i] = at;
  return (8 * (side[2] - side[1]) - (side[3] - side[0])) / (12 * h);
}

static void check_gradient(const char *free_blocks, double h, double tolerance)
{
  match m = open_match(free_blocks, 40);
  const size_t d = idm_parameters_dimension(m.parameters);
  idm_random random;
  idm_random_init(&random, 4, 0);
  assert_non_null(idm_matching_theta_grad(m.matching));
  for (int k = 0; k < 3; k++) {
    double y[MOST], gradient[MOST], value;
    nudge(&m, &random, y);
    check(idm_matching_log_likelihood(m.matching, y, &value, gradient, &support_error));
    assert_near(value, log_likelihood(&m, y), 1e-12);
    for (size_t i = 0; i < d; i++) assert_near(gradient[i], difference(&m, y, i, h), tolerance);
  }
  close_match(&m);
}

static void test_gradient(void **state)
{
  (void)state;
  check_gradient(everything, 1e-4, 1e-6);
  check_gradient("{alpha: {scale: inverse}, beta: {scale: log}, eta: {scale: signed-log}}", 1e-4,
                 1e-6);
  check_gradient("{alpha: {scale: identity, prior: {uniform: [0.1, 5]}}, beta: {scale: signed-log},"
                 " discount: {prior: {uniform: [0.3, 0.99]}}}",
                 1e-4, 1e-6);
}

/* With deterministic best actions the log-likelihood is piecewise constant in utilities and
 * discount, where the gradient is 0; its derivative with respect to the lapse equals a finite
 * difference. */
static void test_steps(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("example:tiger", &problem, NULL, &support_error));
  check(idm_problem_set_planner(problem, idm_planner_find("point-based"), &support_error));
  support_assign(problem, "lapse=0.1");
  check(idm_problem_set_free(problem, "utility, discount, lapse", &support_error));
  const idm_simulation simulation = {.trajectories = 20, .steps = 12, .seed = 3};
  match m = open_with(problem, support_simulate(problem, simulation));
  double y[MOST], gradient[MOST], value, sum = 0;
  idm_parameters_get(m.parameters, problem->theta, y);
  check(idm_matching_log_likelihood(m.matching, y, &value, gradient, &support_error));
  const size_t last = idm_parameters_dimension(m.parameters) - 1;
  assert_int_equal(last, 7); /* six utilities and the discount come first */
  for (size_t i = 0; i < last; i++) sum += fabs(gradient[i]);
  assert_true(sum == 0);
  double side[2];
  for (int k = 0; k < 2; k++) {
    y[last] += k ? 2e-4 : -1e-4;
    side[k] = plain_log_likelihood(&m, y);
  }
  assert_true(fabs(gradient[last]) > 1);
  assert_near(gradient[last], (side[1] - side[0]) / 2e-4, 1e-5 * fabs(gradient[last]));
  close_match(&m);
}

/* Missing observations make beliefs uncertain; the gradient takes this into account. */
static void test_missing_observations(void **state)
{
  (void)state;
  match full = open_match(multipliers, 40);
  idm_data *data = full.data;
  for (size_t r = 0; r < data->rows; r += 3) data->observation[r] = IDM_MISSING;
  idm_problem *problem = full.problem;
  full.data = NULL;
  full.problem = NULL;
  close_match(&full);
  match m = open_with(problem, data);
  double y[3], gradient[3], value;
  idm_random random;
  idm_random_init(&random, 5, 0);
  assert_non_null(idm_matching_theta_grad(m.matching));
  nudge(&m, &random, y);
  check(idm_matching_log_likelihood(m.matching, y, &value, gradient, &support_error));
  assert_near(value, plain_log_likelihood(&m, y), 1e-10);
  for (size_t i = 0; i < 3; i++) assert_near(gradient[i], difference(&m, y, i, 1e-5), 1e-6);
  close_match(&m);
}

/* --- a function of y ------------------------------------------------------------------------ */

static void test_same_bits_whatever_came_before(void **state)
{
  (void)state;
  match m = open_match(multipliers, 40);
  const idm_target target = idm_matching_target(m.matching);
  const double a[3] = {0, 0.2, 0.1}, b[3] = {-2, -0.5, 3};
  for (int anchored = 0; anchored < 2; anchored++) {
    if (anchored) check(idm_matching_fix_start(m.matching, a, &support_error));
    double first, second, third, before[3], after[3], elsewhere;
    check(target.evaluate(target.context, a, &first, before, &support_error));
    check(target.evaluate(target.context, b, &elsewhere, NULL, &support_error));
    check(target.evaluate(target.context, a, &second, NULL, &support_error));
    check(target.evaluate(target.context, b, &elsewhere, after, &support_error));
    check(target.evaluate(target.context, a, &third, after, &support_error));
    assert_near(first, second,
                1e-12); /* the sum computed along with the gradient may round differently */
    assert_memory_equal(&first, &third, sizeof first);
    assert_memory_equal(before, after, sizeof before);
    check(target.evaluate(target.context, a, &third, NULL, &support_error));
    assert_memory_equal(&second, &third, sizeof second);
  }
  close_match(&m);
}

/* A fixed starting solution changes values by rounding error only. */
static void test_anchor_changes_nothing_else(void **state)
{
  (void)state;
  match m = open_match(multipliers, 40);
  const double a[3] = {0, 0.2, 0.1}, b[3] = {-1, -0.1, 1};
  const double cold = log_likelihood(&m, b);
  check(idm_matching_fix_start(m.matching, a, &support_error));
  assert_near(log_likelihood(&m, b), cold, 1e-9);
  close_match(&m);
}

/* --- nothing to plan, nothing to explain ---------------------------------------------------- */

static void test_impossible_is_no_error(void **state)
{
  (void)state;
  match m = open_match(multipliers, 10);
  const idm_target target = idm_matching_target(m.matching);
  double y[3] = {0, NAN, 0}, value = 0, gradient[3] = {1, 1, 1};
  check(target.evaluate(target.context, y, &value, gradient, &support_error));
  assert_true(value == -INFINITY);
  y[1] = INFINITY;
  check(idm_matching_log_likelihood(m.matching, y, &value, gradient, &support_error));
  assert_true(value == -INFINITY);
  for (size_t i = 0; i < 3; i++) assert_true(gradient[i] == 0);
  /* exp(2000) overflows to alpha = inf, for which planning is defined: all actions are equally
   * probable. */
  const double flat[3] = {2000, 0, 0};
  size_t decisions = m.data->rows;
  assert_near(log_likelihood(&m, flat), -(double)decisions * log(3), 1e-12);
  /* Later evaluations are unaffected. */
  const double a[3] = {0, 0.2, 0.1};
  assert_near(log_likelihood(&m, a), plain_log_likelihood(&m, a), 1e-12);
  close_match(&m);
}

/* An agent without errors, alpha = 0, and a log with an error. */
static void test_a_decision_that_cannot_be(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0, INFINITY, 0);
  check(idm_problem_set_free(problem, "eta", &support_error));
  match m = open_with(problem, support_data(problem, "trajectory,action,observation\n"
                                                     "1,declare_healthy,negative\n"));
  double value = 0, gradient = 1;
  const double y = 0;
  check(idm_matching_log_likelihood(m.matching, &y, &value, &gradient, &support_error));
  assert_true(value == -INFINITY);
  assert_true(gradient == 0);
  check(idm_matching_log_likelihood(m.matching, &y, &value, NULL, &support_error));
  assert_true(value == -INFINITY);
  close_match(&m);
}

/* --- numbers held at a limit ---------------------------------------------------------------- */

static double at_value(const match *m, idm_block_id block, double value)
{
  const double before = idm_theta_scalar(m->problem->theta, block);
  idm_theta_set_scalar(m->problem->theta, block, value);
  idm_workspace *workspace = support_plan(m->problem, NULL);
  const double sum = support_score(workspace, m->data);
  idm_workspace_destroy(workspace);
  idm_theta_set_scalar(m->problem->theta, block, before);
  return sum;
}

static void test_held_at_a_limit(void **state)
{
  (void)state;
  match m = open_match(multipliers, 40);
  double y[3];
  idm_parameters_get(m.parameters, m.problem->theta, y);
  const double free_value = log_likelihood(&m, y);
  const struct {
    size_t item;
    idm_block_id block;
    double value;
  } cases[] = {{0, IDM_ALPHA, INFINITY}, {0, IDM_ALPHA, 0.2}, {1, IDM_BETA, INFINITY},
               {1, IDM_BETA, 0.0},       {1, IDM_BETA, -0.0}, {1, IDM_BETA, -INFINITY},
               {2, IDM_ETA, 0},          {2, IDM_ETA, 1e6}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const parameter *item = &m.parameters->item[cases[i].item];
    assert_int_equal(item->block, cases[i].block);
    idm_matching_fix(m.matching, item, cases[i].value);
    const double held = log_likelihood(&m, y);
    assert_near(held, at_value(&m, cases[i].block, cases[i].value), 1e-9);
    /* The coordinate in y has no effect on a fixed parameter. */
    const double at = y[cases[i].item];
    y[cases[i].item] = at + 0.5;
    assert_true(log_likelihood(&m, y) == held);
    y[cases[i].item] = at;
  }
  /* Most optimistic and most pessimistic beliefs are two limits of one parameter. */
  idm_matching_fix(m.matching, &m.parameters->item[1], 0.0);
  const double optimist = log_likelihood(&m, y);
  idm_matching_fix(m.matching, &m.parameters->item[1], -0.0);
  assert_true(fabs(log_likelihood(&m, y) - optimist) > 1);
  /* alpha = 0 is the best action: a log with an error has probability 0. */
  idm_matching_fix(m.matching, &m.parameters->item[0], 0);
  assert_true(log_likelihood(&m, y) == -INFINITY);
  idm_matching_fix(m.matching, NULL, 0);
  assert_true(log_likelihood(&m, y) == free_value);
  close_match(&m);
}

/* Log-likelihood of a learner at a value of a fixed parameter, and optionally its derivative. */
static double learner_at(double held, double *opt_derivative)
{
  static const char text[] =
      "states: [left, right]\nactions: [left, right]\nobservations: [nothing]\nstart: uniform\n"
      "discount: 0\ntransition: {'*': uniform}\nobservation: uniform\n"
      "utility: {left: [1, -1], right: [-1, 1]}\n"
      "agent: {planner: td-learner, inverse_temperature: 2, learning_rate_gain: 0.4}\n"
      "free: {inverse_temperature: }\n";
  idm_problem *problem = support_yaml(text);
  idm_simulation simulation = {.trajectories = 3, .agents = 3, .steps = 20, .seed = 4};
  idm_simulation_adapt(&simulation, problem);
  match m = {.problem = problem, .data = support_simulate(problem, simulation)};
  support_assign(problem, "learning_rate_loss=0.3");
  const long id = idm_theta_find(problem->theta, "learning_rate_gain");
  assert_true(id >= 0);
  idm_theta_set_scalar(problem->theta, (size_t)id, held);
  check(idm_evidence_tree(problem, m.data, &m.tree, &support_error));
  check(idm_parameters_create(problem, &m.parameters, &support_error));
  check(idm_matching_create(problem, m.data, m.tree, m.parameters, &m.matching, &support_error));
  double log_likelihood, gradient;
  const double y = 0.5;
  check(idm_matching_log_likelihood(m.matching, &y, &log_likelihood, &gradient, &support_error));
  if (opt_derivative) *opt_derivative = idm_matching_theta_grad(m.matching)->block[id].value[0];
  close_match(&m);
  return log_likelihood;
}

/* The gradient contains derivatives with respect to fixed parameters, for reports on dependence. */
static void test_slopes_by_held_numbers(void **state)
{
  (void)state;
  const double h = 1e-5;
  double slope;
  (void)learner_at(0.4, &slope);
  assert_true(fabs(slope) > 0.1);
  assert_near(slope, (learner_at(0.4 + h, NULL) - learner_at(0.4 - h, NULL)) / (2 * h), 1e-5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equals_planning_and_scoring),
      cmocka_unit_test(test_target),
      cmocka_unit_test(test_gradient),
      cmocka_unit_test(test_steps),
      cmocka_unit_test(test_missing_observations),
      cmocka_unit_test(test_same_bits_whatever_came_before),
      cmocka_unit_test(test_anchor_changes_nothing_else),
      cmocka_unit_test(test_impossible_is_no_error),
      cmocka_unit_test(test_a_decision_that_cannot_be),
      cmocka_unit_test(test_held_at_a_limit),
      cmocka_unit_test(test_slopes_by_held_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
