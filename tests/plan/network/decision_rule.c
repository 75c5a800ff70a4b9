/* Tests decision rules, the softmax of linear scores, against hand computations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static const double guard = -12345.5;

static const idm_planner *rule(void)
{
  return idm_planner_find("decision-rule");
}

static idm_problem *ruled(const double *weights, const double *prior)
{
  idm_random random;
  idm_random_init(&random, 61, 0);
  idm_problem *problem = support_problem((support_shape){2, 3, 2, 2, 5}, &random);
  check(idm_theta_resize(problem->theta, IDM_WEIGHTS, 9, 1, &support_error));
  memcpy(problem->theta->block[IDM_WEIGHTS].value, weights, 9 * sizeof *weights);
  if (prior) memcpy(problem->theta->block[IDM_ACTION_PRIOR].value, prior, 3 * sizeof *prior);
  return problem;
}

static void *content_of(const idm_problem *problem)
{
  void *content;
  idm_plan_report report;
  check(
      rule()->create(problem->setting, problem->theta, &problem->agent, &content, &support_error));
  check(rule()->plan(content, problem->theta, NULL, &report, &support_error));
  assert_int_equal(report.stop, IDM_STOP_UNPLANNED);
  assert_int_equal(report.iterations, 0);
  assert_true(isnan(report.bound)); /* there is no value to bound */
  return content;
}

/* pi and log pi at (1 - p, p). */
static void ask(const void *content, double p, double *pi, double *sigma, double *log_pi)
{
  const double z[2] = {1 - p, p};
  const size_t count = rule()->belief->scratch(content);
  double *scratch = malloc((count + 1) * sizeof *scratch);
  assert_non_null(scratch);
  scratch[count] = guard;
  rule()->belief->policy(content, 0, 0, z, pi, sigma, scratch);
  rule()->belief->log_policy(content, 0, 0, z, log_pi, scratch);
  double later[3]; /* neither variant nor step has an effect */
  rule()->belief->policy(content, 1, 9, z, later, NULL, scratch);
  assert_memory_equal(later, pi, sizeof later);
  assert_true(scratch[count] == guard);
  free(scratch);
}

static void scores_are_linear_in_the_belief(void **state)
{
  (void)state;
  const double weights[9] = {0.5, 1, -1, -0.5, -1, 2, 0, 0.3, 0.3};
  const double prior[3] = {0.2, 0.3, 0.5};
  idm_problem *problem = ruled(weights, prior);
  void *content = content_of(problem);
  for (double p = 0; p <= 1; p += 0.125) {
    double pi[3], sigma[6], log_pi[3];
    ask(content, p, pi, sigma, log_pi);
    const double a = 0.2 * exp(0.5 + (1 - p) - p);
    const double b = 0.3 * exp(-0.5 - (1 - p) + 2 * p);
    const double c = 0.5 * exp(0.3);
    const double by_hand[3] = {a / (a + b + c), b / (a + b + c), c / (a + b + c)};
    for (int u = 0; u < 3; u++) {
      assert_near(pi[u], by_hand[u], 1e-14);
      assert_near(log_pi[u], log(by_hand[u]), 1e-14);
      /* sigma is the model prior. */
      for (int m = 0; m < 2; m++)
        assert_true(sigma[2 * u + m] == problem->theta->block[IDM_MODEL_PRIOR].value[m]);
    }
  }
  rule()->destroy(content);
  idm_problem_destroy(problem);
}

/* Planning copies the numbers: later changes of theta have no effect until the next plan. */
static void planning_takes_the_numbers_in(void **state)
{
  (void)state;
  const double weights[9] = {0};
  idm_problem *problem = ruled(weights, (double[]){0.25, 0.25, 0.5});
  void *content = content_of(problem);
  double pi[3], log_pi[3];
  idm_plan_report report;
  problem->theta->block[IDM_WEIGHTS].value[3] = log(2); /* constant of action 1 */
  ask(content, 0.5, pi, NULL, log_pi);
  assert_near(pi[1], 0.25, 1e-15);
  check(rule()->plan(content, problem->theta, NULL, &report, &support_error));
  ask(content, 0.5, pi, NULL, log_pi);
  assert_near(pi[0], 0.2, 1e-15);
  assert_near(pi[1], 0.4, 1e-15);
  assert_near(pi[2], 0.4, 1e-15);
  memcpy(problem->theta->block[IDM_ACTION_PRIOR].value, (double[]){0.5, 0.5, 0},
         3 * sizeof(double));
  check(rule()->plan(content, problem->theta, NULL, &report, &support_error));
  ask(content, 0.5, pi, NULL, log_pi);
  assert_near(pi[0], 1.0 / 3, 1e-15);
  assert_true(pi[2] == 0 && log_pi[2] == -INFINITY);
  rule()->destroy(content);
  idm_problem_destroy(problem);
}

/* choice: best. The largest score among actions of positive prior, the prior among ties, and no
 * derivative by the weights of the scores. */
static void the_best_is_taken(void **state)
{
  (void)state;
  const double weights[9] = {0.5, 1, -1, -0.5, -1, 2, 0, 0.3, 0.3};
  const double prior[3] = {0.2, 0.3, 0.5};
  idm_problem *problem = ruled(weights, prior);
  problem->agent.choice = IDM_CHOICE_BEST;
  void *content = content_of(problem);
  double pi[3], log_pi[3];
  /* Scores 1.5, -1.5 and .3; at the other corner -.5, 1.5 and .3. */
  ask(content, 0, pi, NULL, log_pi);
  assert_true(pi[0] == 1 && pi[1] == 0 && pi[2] == 0);
  assert_true(log_pi[0] == 0 && log_pi[1] == -INFINITY);
  ask(content, 1, pi, NULL, log_pi);
  assert_true(pi[1] == 1 && log_pi[1] == 0);
  /* 1.5 - 2p and -1.5 + 3p are equal at p = .6, and equal to .3. */
  ask(content, 0.6, pi, NULL, log_pi);
  for (int u = 0; u < 3; u++) {
    assert_near(pi[u], prior[u], 1e-14);
    assert_near(log_pi[u], log(pi[u]), 1e-14);
  }
  rule()->destroy(content);
  memcpy(problem->theta->block[IDM_ACTION_PRIOR].value, (double[]){0, 0.3, 0.7},
         3 * sizeof(double));
  content = content_of(problem);
  ask(content, 0, pi, NULL, log_pi);
  assert_true(pi[2] == 1 && log_pi[0] == -INFINITY);
  rule()->destroy(content);
  idm_problem_destroy(problem);
}

static void weights_are_needed(void **state)
{
  (void)state;
  const double weights[9] = {0};
  idm_problem *problem = ruled(weights, NULL);
  for (size_t size = 0; size <= 12; size += 4) { /* none, too few, too many */
    check(idm_theta_resize(problem->theta, IDM_WEIGHTS, size, 1, &support_error));
    void *content = &problem;
    idm_error error = {0};
    assert_int_equal(
        rule()->create(problem->setting, problem->theta, &problem->agent, &content, &error),
        IDM_INPUT);
    assert_null(content);
    assert_non_null(strstr(error.message, "agent.weights"));
  }
  rule()->destroy(NULL);
  idm_problem_destroy(problem);
}

/* --- identified weights --------------------------------------------------------------------- */

/* Number of identified directions: the rank of the Jacobian of log pi at some beliefs in the free
 * numbers, by elimination with full pivoting. */
static size_t identified(idm_problem *problem, size_t *ret_free)
{
  enum { most = 12, points = 7 };
  const size_t k = problem->theta->sizes.states, actions = problem->theta->sizes.actions;
  double jacobian[points * 3][most] = {{0}};
  idm_parameters *parameters;
  check(idm_parameters_create(problem, &parameters, &support_error));
  const size_t free_numbers = idm_parameters_dimension(parameters);
  assert_true(free_numbers <= most && actions <= 3 && k <= 3);
  double y[most];
  idm_parameters_get(parameters, problem->theta, y);
  for (size_t j = 0; j < free_numbers; j++)
    for (int side = -1; side <= 1; side += 2) {
      const double kept = y[j];
      y[j] += side * 1e-5;
      idm_parameters_set(parameters, y, problem->theta);
      y[j] = kept;
      idm_workspace *workspace = support_plan(problem, NULL);
      for (size_t i = 0; i < points; i++) {
        double z[3] = {0.1 + 0.1 * (double)i, 0, 0}, pi[3];
        z[1] = k == 2 ? 1 - z[0] : 0.3 * (1 - z[0]) * (double)(i % 3);
        if (k == 3) z[2] = 1 - z[0] - z[1];
        idm_plan_policy(workspace, 0, z, pi, NULL);
        for (size_t u = 0; u < actions; u++) jacobian[i * 3 + u][j] += side * log(pi[u]) / 2e-5;
      }
      idm_workspace_destroy(workspace);
    }
  idm_parameters_destroy(parameters);
  *ret_free = free_numbers;
  size_t rank = 0;
  for (; rank < free_numbers; rank++) {
    size_t row = rank, column = rank;
    for (size_t i = rank; i < points * 3; i++)
      for (size_t j = rank; j < free_numbers; j++)
        if (fabs(jacobian[i][j]) > fabs(jacobian[row][column])) {
          row = i;
          column = j;
        }
    if (fabs(jacobian[row][column]) < 1e-6) break;
    for (size_t j = 0; j < most; j++) {
      const double swapped = jacobian[row][j];
      jacobian[row][j] = jacobian[rank][j];
      jacobian[rank][j] = swapped;
    }
    for (size_t i = 0; i < points * 3; i++) {
      const double swapped = jacobian[i][column];
      jacobian[i][column] = jacobian[i][rank];
      jacobian[i][rank] = swapped;
    }
    for (size_t i = rank + 1; i < points * 3; i++) {
      const double factor = jacobian[i][rank] / jacobian[rank][rank];
      for (size_t j = rank; j < free_numbers; j++) jacobian[i][j] -= factor * jacobian[rank][j];
    }
  }
  return rank;
}

/* With a reference, the number of free weights equals the number of identified directions; without,
 * it is larger. */
static void free_weights_are_those_that_can_be_told(void **state)
{
  (void)state;
  for (size_t k = 2; k <= 3; k++)
    for (size_t actions = 2; actions <= 3; actions++) {
      idm_random random;
      idm_random_init(&random, 62, k * actions);
      idm_problem *problem = support_problem((support_shape){k, actions, 2, 1, 5}, &random);
      check(idm_problem_set_planner(problem, rule(), &support_error));
      support_redraw(problem->theta, IDM_WEIGHTS, &random);
      const char *const choices[] = {"weights", "{weights: {reference: 1}}",
                                     "{weights: {reference: none}}"};
      for (int i = 0; i < 3; i++) {
        size_t free_numbers;
        check(idm_problem_set_free(problem, choices[i], &support_error));
        assert_int_equal(identified(problem, &free_numbers), (actions - 1) * k);
        assert_int_equal(free_numbers, i < 2 ? (actions - 1) * k : actions * (k + 1));
      }
      idm_problem_destroy(problem);
    }
}

/* The reference: the first action whose weights are zero, the first, or the given one. */
static void references(void **state)
{
  (void)state;
  const double weights[9] = {1, 2, 3, 0, 0, 0, 4, 5, 6};
  idm_problem *problem = ruled(weights, NULL);
  check(idm_problem_set_planner(problem, rule(), &support_error));
  check(idm_problem_set_free(problem, "weights", &support_error));
  const idm_block *block = &problem->theta->block[IDM_WEIGHTS];
  const int32_t second[9] = {-1, 0, 1, -1, -1, -1, -1, 2, 3};
  assert_memory_equal(block->coordinate, second, sizeof second);
  check(idm_problem_set_free(problem, "{weights: {reference: 2}}", &support_error));
  block = &problem->theta->block[IDM_WEIGHTS];
  const int32_t third[9] = {-1, 0, 1, -1, 2, 3, -1, -1, -1};
  assert_memory_equal(block->coordinate, third, sizeof third);
  idm_error error = {0};
  assert_int_equal(idm_problem_set_free(problem, "{weights: {reference: fly}}", &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "expected an action, or none"));
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scores_are_linear_in_the_belief),
      cmocka_unit_test(planning_takes_the_numbers_in),
      cmocka_unit_test(the_best_is_taken),
      cmocka_unit_test(weights_are_needed),
      cmocka_unit_test(free_weights_are_those_that_can_be_told),
      cmocka_unit_test(references),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
