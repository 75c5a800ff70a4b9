/* Tests an agent in the environment of another problem against a problem that is created with both.
 */
#include "setting/model.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

#define SPACES "states: [a, b, c]\nactions: [left, right]\nobservations: states\ndiscount: 0.9\n"
#define AGENT                                                                                      \
  "utility: {left: [0, 0.3, -1], right: [0, 0.2, 2]}\n"                                            \
  "agent: {planner: bounded-rational, alpha: 0.4}\nfree: [alpha]\n"
#define CALM                                                                                       \
  "transition: {left: [[1, 0, 0], [0.9, 0.1, 0], [0, 0.9, 0.1]], "                                 \
  "right: [[0.1, 0.9, 0], [0, 0.1, 0.9], [0, 0, 1]]}\n"
#define WINDY_ROWS                                                                                 \
  "transition: {left: {a: a, b: {a: 0.4, b: 0.6}, c: {b: 0.4, c: 0.6}}, "                          \
  "right: {a: {a: 0.7, b: 0.3}, b: c, c: a}}\nstart: b\nhorizon: 7\n"
#define WINDY                                                                                      \
  "transition: {left: [[1, 0, 0], [0.4, 0.6, 0], [0, 0.4, 0.6]], "                                 \
  "right: [[0.7, 0.3, 0], [0, 0, 1], [1, 0, 0]]}\nstart: b\nhorizon: 7\n"

/* Values at every state after two steps of the horizon. */
static void values_of(const idm_problem *problem, double *value)
{
  const size_t states = problem->setting->states.count;
  double *corner = calloc(states, sizeof *corner);
  idm_workspace *workspace = support_plan(problem, NULL);
  for (size_t s = 0; s < states; s++) {
    corner[s] = 1;
    value[s] = idm_plan_value_after(workspace, 0, 2, corner);
    corner[s] = 0;
  }
  idm_workspace_destroy(workspace);
  free(corner);
}

/* Checks that the agent of `from` in the environment of `to` plans as `whole` does. */
static void expect_same(const char *from, const char *to, const char *whole)
{
  idm_problem *problem = support_yaml(from);
  idm_problem *other = support_yaml(to);
  idm_problem *expected = support_yaml(whole);
  double value[3], wanted[3];
  check(idm_problem_transfer(problem, other, &support_error));
  idm_problem_destroy(other);
  values_of(problem, value);
  values_of(expected, wanted);
  for (size_t s = 0; s < 3; s++) assert_near(value[s], wanted[s], 1e-12);
  assert_int_equal(problem->theta->block[IDM_ALPHA].role, IDM_DESCRIPTIVE);
  assert_memory_equal(problem->setting->start, expected->setting->start, sizeof value);
  idm_problem_destroy(expected);
  idm_problem_destroy(problem);
}

/* Dynamics, start and horizon come from the other problem, utility and alpha from the problem
 * itself. Dense and sparse transitions replace each other. */
static void test_worlds(void **state)
{
  (void)state;
  expect_same(SPACES CALM AGENT, SPACES WINDY "utility: {\"*\": 7}\nagent: {alpha: 3}\n",
              SPACES WINDY AGENT);
  expect_same(SPACES CALM AGENT, SPACES WINDY_ROWS "utility: {\"*\": 7}\n", SPACES WINDY AGENT);
  expect_same(SPACES WINDY_ROWS AGENT, SPACES CALM "start: b\nhorizon: 7\n",
              SPACES CALM "start: b\nhorizon: 7\n" AGENT);
}

#define HIDDEN                                                                                     \
  "states: [good, bad]\nactions: [wait, act]\nobservations: [low, high]\ndiscount: 0.8\n"          \
  "utility: {wait: [1, -1], act: 0}\n"

/* Models that follow a rule are derived from the new environment. */
static void test_rules(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(
      HIDDEN
      "transition: {\"*\": [[0.9, 0.1], [0.2, 0.8]]}\n"
      "observation: {\"*\": [[0.7, 0.3], [0.4, 0.6]]}\nmodels: {perturb: {observation: 0.1}}\n");
  idm_problem *other = support_yaml(HIDDEN "transition: {\"*\": [[0.5, 0.5], [0.5, 0.5]]}\n"
                                           "observation: {\"*\": [[0.8, 0.2], [0.3, 0.7]]}\n");
  check(idm_problem_transfer(problem, other, &support_error));
  assert_int_equal(problem->theta->models, 3);
  const double *emission = problem->theta->block[IDM_EMISSION].value;
  assert_near(emission[0], 0.7, 1e-15); /* the most probable outcome of the first row, minus 0.1 */
  assert_near(emission[8], 0.8, 1e-15);
  assert_near(emission[16], 0.9, 1e-15);
  idm_problem_destroy(other);
  idm_problem_destroy(problem);
}

/* Fields of the other problem that the agent does not use are named. */
static void expect_unused(const char *from, const char *to, const char *expected)
{
  char found[120];
  idm_problem *problem = support_yaml(from);
  idm_problem *other = support_yaml(to);
  check(idm_problem_transfer(problem, other, &support_error));
  idm_problem_name_unused(problem, other, found, sizeof found);
  assert_string_equal(found, expected);
  idm_problem_destroy(other);
  idm_problem_destroy(problem);
}

#define FEATURES "features: {wet: {\"*\": [1, 0, 0]}, step: {left: 1}}\n"

static void test_unused(void **state)
{
  (void)state;
  static const char utility[] = SPACES CALM AGENT;
  static const char features[] = SPACES CALM FEATURES "feature_weights: {wet: 2}\n";
  static const char other_features[] =
      SPACES WINDY "features: {wet: {\"*\": [0, 1, 0]}, step: {left: 1}}\n";
  expect_unused(utility, utility, "");
  expect_unused(utility, SPACES WINDY, ""); /* the other problem contains no utility */
  expect_unused(utility, SPACES WINDY "utility: {\"*\": 7}\n", "utility");
  expect_unused(utility, SPACES WINDY "utility: {left: cost, right: 0}\n", "utility");
  expect_unused(utility,
                "states: [a, b, c]\nactions: [left, right]\nobservations: states\n"
                "discount: 0.5\nutility: {\"*\": 7}\n" CALM,
                "utility, discount (0.5; here 0.9)");
  expect_unused(utility, features, "features");
  expect_unused(features, features, "");
  expect_unused(features, SPACES WINDY FEATURES, "");
  expect_unused(features, SPACES WINDY FEATURES "feature_weights: {wet: 3}\n", "feature_weights");
  expect_unused(features, other_features, "features");
  expect_unused(features, utility, "utility");
}

static void expect_refusal(const char *from, const char *to, const char *words)
{
  idm_problem *problem = support_yaml(from);
  idm_problem *other = support_yaml(to);
  idm_error error = {0};
  assert_int_equal(idm_problem_transfer(problem, other, &error), IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
  /* After a rejected transfer the problem is unchanged. */
  check(idm_problem_validate(problem, &support_error));
  idm_problem_destroy(other);
  idm_problem_destroy(problem);
}

static void test_refusals(void **state)
{
  (void)state;
  static const char mdp[] = SPACES CALM AGENT;
  expect_refusal(mdp,
                 "states: [a, b]\nactions: [left, right]\nobservations: states\n"
                 "transition: {\"*\": identity}\n",
                 "has 2 states; expected 3");
  expect_refusal(mdp,
                 "states: [a, x, c]\nactions: [left, right]\nobservations: states\n"
                 "transition: {\"*\": identity}\n",
                 "state 2 of the other problem is 'x'; expected 'b'");
  expect_refusal(mdp,
                 "states: [a, b, c]\nactions: [left, up]\nobservations: states\n"
                 "transition: {\"*\": identity}\n",
                 "action 2 of the other problem is 'up'; expected 'right'");
#define SEEN HIDDEN "transition: {\"*\": uniform}\nobservation: {\"*\": [[0.7, 0.3], [0.4, 0.6]]}\n"
  static const char other[] = "states: [good, bad]\nactions: [wait, act]\nobservations: [x, high]\n"
                              "transition: {\"*\": uniform}\nobservation: {\"*\": uniform}\n";
  expect_refusal(SEEN, other, "observation 1 of the other problem is 'x'; expected 'low'");
  expect_refusal(SEEN "models: [{weight: 1, observation: {\"*\": uniform}}]\n", SEEN,
                 "an explicit list of models");
  expect_refusal(SEEN "free: [emission]\n", SEEN, "emission is free");
  expect_refusal(SPACES CALM FEATURES, SPACES CALM "features: {wet: {left: 1}, dry: {left: 1}}\n",
                 "feature 2 of the other problem is 'dry'; expected 'step'");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_worlds), cmocka_unit_test(test_rules),
                                     cmocka_unit_test(test_unused),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
