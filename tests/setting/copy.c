/* Tests that a copy of a problem is equal and shares nothing. */
#include <stdio.h>

#include "support.h"

/* A problem with every part that a copy has to follow: families, sources of utilities, codes,
 * derived columns and rules. */
static const char whole[] =
    "states: [well, ill]\nactions: [wait, treat]\nobservations: [low, high]\ndiscount: 0.9\n"
    "transition: {wait: [[0.9, 0.1], [0.2, 0.8]], treat: [[1, 0], [0.7, 0.3]]}\n"
    "observation: {\"*\": [[0.8, 0.2], [0.3, 0.7]]}\n"
    "utility: {wait: [pay, -3], treat: -1}\n"
    "environments: {ward: {transition: {wait: [[0.5, 0.5], [0.5, 0.5]], treat: uniform}, "
    "observation: {\"*\": [[0.8, 0.2], [0.3, 0.7]]}}}\n"
    "data:\n  action: [a]\n  observation: [level]\n  missing: [NA]\n"
    "  derive: {level: {cut: dose, at: [2.5], labels: [low, high], missing: low}}\n"
    "  rules: [{drop: site=none}, {least: 2}]\n"
    "agent: {alpha: 2}\n"
    "free: [alpha, beta]\n";

static void expect_equal(const idm_problem *a, const idm_problem *b)
{
  char difference[400] = "";
  if (!idm_problem_compare(a, b, 0, difference, sizeof difference)) fail_msg("%s", difference);
  for (size_t i = 0; i < a->columns.derived_count; i++)
    assert_true(idm_derived_same(&a->columns.derived[i], &b->columns.derived[i]));
  for (size_t i = 0; i < a->columns.rules; i++)
    assert_true(idm_rule_same(&a->columns.rule[i], &b->columns.rule[i]));
}

/* Equal to the original, also after the original is changed and destroyed. */
static void copies_share_nothing(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(whole), *copy, *expected = support_yaml(whole);
  assert_int_equal(problem->environments, 1);
  assert_int_equal(problem->utility_sources, 1);
  assert_int_equal(problem->columns.derived_count, 1);
  assert_int_equal(problem->columns.rules, 2);
  check(idm_problem_copy(problem, &copy, &support_error));
  expect_equal(problem, copy);
  check(idm_problem_set(problem, "alpha=9", &support_error));
  check(idm_problem_set(problem, "utility.wait=4", &support_error));
  check(idm_problem_set(problem, "environment=ward", &support_error));
  check(idm_problem_set_free(problem, "eta", &support_error));
  idm_problem_destroy(problem);
  expect_equal(expected, copy);
  check(idm_problem_validate(copy, &support_error));
  check(idm_problem_set(copy, "environment=ward", &support_error));
  idm_problem_destroy(copy);
  idm_problem_destroy(expected);
}

static void examples_and_null(void **state)
{
  (void)state;
  idm_problem *problem, *copy;
  idm_error error = {0};
  char name[80];
  for (size_t i = 0; idm_example_name(i); i++) {
    snprintf(name, sizeof name, "example:%s", idm_example_name(i));
    check(idm_problem_read(name, &problem, NULL, &support_error));
    check(idm_problem_copy(problem, &copy, &support_error));
    expect_equal(problem, copy);
    idm_problem_destroy(problem);
    idm_problem_destroy(copy);
  }
  assert_int_equal(idm_problem_copy(NULL, &copy, &error), IDM_USAGE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_share_nothing),
      cmocka_unit_test(examples_and_null),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
