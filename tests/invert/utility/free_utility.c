/* Free, tied and held entries of a utility: filling, gradients and units against values by hand. */
#include "invert/utility/mdp.h"

#include <math.h>

#include "invert/utility/walk.h"
#include "support.h"

static void test_all_free(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  check(idm_problem_set_free(problem, "utility", &support_error));
  idm_free_utility *free_utility;
  check(idm_free_utility_create(problem, &free_utility, &support_error));
  assert_int_equal(free_utility->count, 6);
  const double x[] = {1, 2, 3, 4, 5, 6};
  double utility[6];
  idm_free_utility_fill(free_utility, x, utility);
  assert_memory_equal(utility, x, sizeof x);
  idm_free_utility_destroy(free_utility);
  idm_problem_destroy(problem);
}

static void test_ties(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  check(idm_problem_set_free(
      problem, "{utility: {entries: {far: [left.c, right.c], near: [left.a]}}}", &support_error));
  idm_free_utility *free_utility;
  check(idm_free_utility_create(problem, &free_utility, &support_error));
  assert_int_equal(free_utility->count, 2);
  const double x[] = {7, 9};
  const double slope[] = {1, 2, 4, 8, 16, 32};
  const double expected[] = {9, -1, 7, 3, -0.25, 7};
  double utility[6], gradient[2];
  idm_free_utility_fill(free_utility, x, utility);
  for (size_t i = 0; i < 6; i++) assert_near(utility[i], expected[i], 0);
  idm_free_utility_backward(free_utility, slope, gradient);
  assert_near(gradient[0], 4 + 32, 0);
  assert_near(gradient[1], 1, 0);
  idm_free_utility_destroy(free_utility);
  idm_problem_destroy(problem);
}

/* Rescaling changes no bit of held entries; the unit includes free entries only on request. */
static void test_units(void **state)
{
  (void)state;
  static const double size[] = {0, 1e-300, 0.7, 3e5, INFINITY};
  for (size_t i = 0; i < sizeof size / sizeof *size; i++)
    for (int include_free = 0; include_free < 2; include_free++) {
      idm_problem *problem = support_yaml(WALK);
      check(idm_problem_set_free(problem, "{utility: {entries: [right]}}", &support_error));
      idm_free_utility *free_utility;
      check(idm_free_utility_create(problem, &free_utility, &support_error));
      idm_free_utility_rescale(free_utility, include_free, size[i]);
      /* The largest absolute value is 2 for left, and 3 for right. */
      const double most = fmax(isfinite(size[i]) ? size[i] : 0, include_free ? 3 : 2);
      assert_true(free_utility->unit <= most && most < 2 * free_utility->unit);
      for (size_t e = 0; e < free_utility->entries; e++)
        assert_true(free_utility->held[e] * free_utility->unit ==
                    problem->theta->block[IDM_UTILITY].value[e]);
      idm_free_utility_destroy(free_utility);
      idm_problem_destroy(problem);
    }
}

/* With features: filling is linear in the weights, and the gradient is its transpose. */
static void test_features(void **state)
{
  (void)state;
  idm_problem *problem =
      support_yaml("states: [a, b]\nactions: [left, right]\nobservations: states\ndiscount: 0.9\n"
                   "transition: {\"*\": identity}\nfree: [utility]\n"
                   "features: {x: {\"*\": [1, 0.5]}, y: {left: [0, -2], right: [3, 1]}}\n");
  idm_free_utility *free_utility = NULL;
  check(idm_free_utility_create(problem, &free_utility, &support_error));
  assert_int_equal(free_utility->count, 2);
  const double weight[] = {0.25, -1.5}, slope[] = {0.1, -0.7, 2, 0.4};
  double utility[4], pushed[4], pulled[2], there = 0;
  idm_free_utility_fill(free_utility, weight, utility);
  idm_free_utility_apply(free_utility, weight, pushed);
  idm_free_utility_backward(free_utility, slope, pulled);
  const double expected[] = {0.25, 3.125, -4.25, -1.375};
  for (size_t i = 0; i < 4; i++) {
    assert_near(utility[i], expected[i], 1e-15);
    assert_near(pushed[i], expected[i], 1e-15);
    there += slope[i] * utility[i];
  }
  assert_near(there, weight[0] * pulled[0] + weight[1] * pulled[1], 1e-14);
  idm_free_utility_destroy(free_utility);
  idm_problem_destroy(problem);
}

/* On beliefs: entries by action and belief are means of the entries by state, including held ones.
 */
static void test_beliefs(void **state)
{
  (void)state;
  enum { STATES = 2, ACTIONS = 2, BELIEFS = 3 };
  static const double belief[BELIEFS][STATES] = {{1, 0}, {0.25, 0.75}, {0, 1}};
  int32_t number[] = {0, -1, 1, 0};
  double held[] = {5, -3, 5, 5}, x[] = {0.5, 2}, change[] = {1, -1};
  double utility[ACTIONS * STATES], mixed[ACTIONS * BELIEFS], slope[ACTIONS * BELIEFS];
  const idm_free_utility free_utility = {
      .entries = 4, .count = 2, .number = number, .held = held, .unit = 1};
  idm_free_utility *on;
  check(idm_belief_utility_create(&free_utility, ACTIONS, STATES, BELIEFS, &belief[0][0], &on,
                                  &support_error));
  for (int pushed = 0; pushed < 2; pushed++) {
    (pushed ? idm_free_utility_apply : idm_free_utility_fill)(&free_utility, pushed ? change : x,
                                                              utility);
    (pushed ? idm_free_utility_apply : idm_free_utility_fill)(on, pushed ? change : x, mixed);
    for (int e = 0; e < ACTIONS * BELIEFS; e++) {
      const double *z = belief[e % BELIEFS], *u = utility + e / BELIEFS * STATES;
      assert_near(mixed[e], z[0] * u[0] + z[1] * u[1], 1e-15);
    }
  }
  /* The gradient is the transpose of the linear map. */
  double gradient[2], sum = 0;
  for (int e = 0; e < ACTIONS * BELIEFS; e++) slope[e] = 1 + e * e;
  idm_free_utility_backward(on, slope, gradient);
  for (int e = 0; e < ACTIONS * BELIEFS; e++) sum += slope[e] * mixed[e];
  assert_near(gradient[0] - gradient[1], sum, 1e-12);
  idm_free_utility_destroy(on);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_features),
                                     cmocka_unit_test(test_all_free), cmocka_unit_test(test_ties),
                                     cmocka_unit_test(test_units), cmocka_unit_test(test_beliefs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
