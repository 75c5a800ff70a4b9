/* Tests utilities that are linear in features: values, derivatives against differences, and one-hot
 * features against ties. */
#include "setting/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#define SPACES                                                                                     \
  "states: [a, b, c]\nactions: [left, right]\nobservations: states\ndiscount: 0.9\n"               \
  "transition: {left: [[1, 0, 0], [0.9, 0.1, 0], [0, 0.9, 0.1]], "                                 \
  "right: [[0.1, 0.9, 0], [0, 0.1, 0.9], [0, 0, 1]]}\nagent: {alpha: 0.5}\n"
#define OVERLAPPING                                                                                \
  "features: {wet: {\"*\": [1, 0.5, 0]}, far: {left: [0, 1, 2], right: [0, 1, -2]}}\n"             \
  "feature_weights: {wet: -1, far: 0.25}\n"
#define FREE "free: {utility: {prior: {normal: [0, 1]}}}\n"

static void test_values(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(SPACES OVERLAPPING);
  const double expected[] = {-1, -0.25, 0.5, -1, -0.25, -0.5};
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  for (size_t i = 0; i < 6; i++) assert_near(utility[i], expected[i], 1e-15);
  support_assign(problem, "feature_weights.wet=2");
  assert_near(utility[0], 2, 1e-15);
  assert_near(utility[2], 0.5, 1e-15);
  idm_theta *copy = NULL;
  check(idm_theta_copy(problem->theta, &copy, &support_error));
  assert_true(idm_features_same(copy->block[IDM_UTILITY].features,
                                problem->theta->block[IDM_UTILITY].features, 6));
  copy->block[IDM_UTILITY].features->weight[1] = 7;
  assert_false(idm_features_same(copy->block[IDM_UTILITY].features,
                                 problem->theta->block[IDM_UTILITY].features, 6));
  /* Weights are assigned together with the values. */
  idm_theta_assign(copy, problem->theta);
  assert_near(copy->block[IDM_UTILITY].features->weight[1], 0.25, 0);
  idm_theta_destroy(copy);
  idm_problem_destroy(problem);
}

/* The free numbers are the weights; their derivatives equal differences. */
static void test_derivatives(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(SPACES OVERLAPPING FREE);
  idm_parameters *parameters = NULL;
  idm_theta *slope = NULL;
  idm_theta *theta = problem->theta;
  check(idm_parameters_create(problem, &parameters, &support_error));
  check(idm_theta_copy(theta, &slope, &support_error));
  assert_int_equal(idm_parameters_dimension(parameters), 2);
  assert_string_equal(idm_parameters_quantities(parameters)->name[1], "utility[far]");
  double y[2], gradient[2] = {0};
  idm_parameters_get(parameters, theta, y);
  assert_near(y[0], -1, 1e-15);
  assert_near(y[1], 0.25, 1e-15);
  idm_theta_clear(slope);
  double *by = slope->block[IDM_UTILITY].value;
  for (size_t i = 0; i < 6; i++) by[i] = sin(1 + 3 * (double)i);
  idm_parameters_backward(parameters, y, slope, gradient);
  for (size_t k = 0; k < 2; k++) {
    double difference = 0;
    for (int side = -1; side <= 1; side += 2) {
      double at[2] = {y[0], y[1]};
      at[k] += 1e-3 * side;
      idm_parameters_set(parameters, at, theta);
      for (size_t i = 0; i < 6; i++)
        difference += side * by[i] * theta->block[IDM_UTILITY].value[i] / 2e-3;
    }
    assert_near(gradient[k], difference, 1e-11);
  }
  idm_theta_destroy(slope);
  idm_parameters_destroy(parameters);
  idm_problem_destroy(problem);
}

/* Log-likelihood of a log at the weights y, and its gradient. */
static double log_likelihood(const char *text, const idm_data *data, const double *y,
                             double *gradient)
{
  idm_problem *problem = support_yaml(text);
  idm_matching *matching = NULL;
  idm_parameters *parameters = NULL;
  idm_prefix_tree *tree = NULL;
  double value = 0;
  check(idm_parameters_create(problem, &parameters, &support_error));
  check(idm_evidence_tree(problem, data, &tree, &support_error));
  check(idm_matching_create(problem, data, tree, parameters, &matching, &support_error));
  check(idm_matching_log_likelihood(matching, y, &value, gradient, &support_error));
  idm_matching_destroy(matching);
  idm_prefix_tree_destroy(tree);
  idm_parameters_destroy(parameters);
  idm_problem_destroy(problem);
  return value;
}

/* A fixed weight keeps its value and its contribution to every utility. */
static void test_held(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(
      SPACES OVERLAPPING "free: {utility: {entries: [far], prior: {normal: [0, 1]}}}\n");
  idm_parameters *parameters = NULL;
  idm_theta *slope = NULL, *copy = NULL;
  const double y = 2, expected[] = {-1, 1.5, 4, -1, 1.5, -4};
  double gradient = 0, at = 0;
  check(idm_theta_copy(problem->theta, &copy, &support_error));
  check(idm_theta_copy(problem->theta, &slope, &support_error));
  check(idm_parameters_create(problem, &parameters, &support_error));
  assert_int_equal(idm_parameters_dimension(parameters), 1);
  assert_string_equal(idm_parameters_quantities(parameters)->name[0], "utility[far]");
  idm_parameters_get(parameters, copy, &at);
  assert_near(at, 0.25, 1e-15);
  idm_parameters_set(parameters, &y, copy);
  for (size_t i = 0; i < 6; i++) assert_near(copy->block[IDM_UTILITY].value[i], expected[i], 1e-15);
  idm_theta_clear(slope);
  for (size_t i = 0; i < 6; i++) slope->block[IDM_UTILITY].value[i] = (double)(i + 1);
  idm_parameters_backward(parameters, &y, slope, &gradient);
  assert_near(gradient, 2 + 2 * 3 + 5 - 2 * 6, 1e-12);
  idm_parameters_destroy(parameters);
  idm_theta_destroy(slope);
  idm_theta_destroy(copy);
  idm_problem_destroy(problem);
}

/* Features that are each 1 for one group of tied entries are equivalent to ties. */
static void test_one_hot(void **state)
{
  (void)state;
  static const char features[] =
      SPACES "features: {b: {\"*\": [0, 1, 0]}, right_c: {right: [0, 0, 1]}}\n" FREE;
  static const char ties[] =
      SPACES "utility: {\"*\": 0}\nfree: {utility: {prior: {normal: [0, 1]}, entries: {b: [left.b, "
             "right.b], right_c: [right.c]}}}\n";
  idm_problem *problem = support_yaml(ties);
  support_assign(problem, "utility.right.c=1");
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 20, .steps = 5, .seed = 2});
  const double y[] = {0.4, -0.7};
  double a[2], b[2];
  assert_near(log_likelihood(features, data, y, a), log_likelihood(ties, data, y, b), 1e-12);
  for (size_t k = 0; k < 2; k++) assert_near(a[k], b[k], 1e-9);
  assert_true(fabs(a[0]) > 1e-3 && fabs(a[1]) > 1e-3);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_values),
                                     cmocka_unit_test(test_derivatives),
                                     cmocka_unit_test(test_held), cmocka_unit_test(test_one_hot)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
