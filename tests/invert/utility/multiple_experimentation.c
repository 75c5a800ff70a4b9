/* Multiple experimentation: ranges always contain the true utilities (optimal actions by value
 * iteration) and shrink with more environments. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "invert/utility/grid_support.h"

/* Three states, two actions; the utilities of c are free, the others are held. */
#define FAMILY                                                                                     \
  "name: family\nstates: [a, b, c]\nactions: [left, right]\nobservations: states\n"                \
  "discount: 0.8\nstart: a\n"                                                                      \
  "environments:\n"                                                                                \
  "  calm:\n    transition:\n"                                                                     \
  "      left: [[1, 0, 0], [1, 0, 0], [0, 1, 0]]\n"                                                \
  "      right: [[0, 1, 0], [0, 0, 1], [0, 0, 1]]\n"                                               \
  "  windy:\n    transition:\n"                                                                    \
  "      left: [[0, 0, 1], [1, 0, 0], [1, 0, 0]]\n"                                                \
  "      right: [[1, 0, 0], [0, 1, 0], [0, 1, 0]]\n"                                               \
  "utility: {left: [0.2, 0, 0.3], right: [0.1, -0.1, 0.4]}\n"                                      \
  "agent: {planner: deterministic-optimal}\n"

static const double truth[] = {0.3, 0.4};

static idm_posterior *fit(const char *csv, double width[2])
{
  idm_problem *problem = support_yaml(FAMILY);
  idm_data *data = support_data(problem, csv);
  check(idm_problem_set_free(problem, "{utility: {entries: [left.c, right.c]}}", &support_error));
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  idm_posterior *p = support_fit("multiple-experimentation", problem, data, &settings);
  assert_true(idm_optimality_certified(p->optimality));
  for (size_t k = 0; k < 2; k++) {
    const double *range = p->optimality->range + 2 * k;
    width[k] = range[1] - range[0];
    assert_true(range[0] <= truth[k] + 1e-9 && truth[k] <= range[1] + 1e-9);
    assert_true(range[0] - 1e-9 <= p->value[k] && p->value[k] <= range[1] + 1e-9);
    for (size_t end = 0; end < 2; end++)
      assert_int_equal(p->optimality->at_box[2 * k + end], fabs(fabs(range[end]) - 1) < 1e-8);
  }
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return p;
}

/* Optimal actions of the true utilities in an environment, by value iteration. */
static void best_in(size_t environment, size_t *action)
{
  idm_problem *problem = support_yaml(FAMILY);
  check(
      idm_problem_set_environment(problem, problem->environment[environment].name, &support_error));
  grid_best(problem, action);
  idm_problem_destroy(problem);
}

static void add_rows(char *csv, size_t size, size_t environment)
{
  static const char *const names[] = {"calm", "windy"}, *const actions[] = {"left", "right"};
  size_t action[3];
  best_in(environment, action);
  for (size_t s = 0; s < 3; s++) {
    const size_t length = strlen(csv);
    snprintf(csv + length, size - length, "%zu,%s,%c,%s\n", 3 * environment + s, names[environment],
             (char)('a' + s), actions[action[s]]);
  }
}

static void test_more_environments_narrow(void **state)
{
  (void)state;
  char csv[1000] = "trajectory,environment,state,action\n";
  double one[2], both[2];
  add_rows(csv, sizeof csv, 0);
  idm_posterior *p = fit(csv, one);
  assert_true(grid_says(p->optimality, "the log has one environment alone"));
  assert_near(p->optimality->objective, 0, 1e-9);
  idm_posterior_destroy(p);
  add_rows(csv, sizeof csv, 1);
  p = fit(csv, both);
  assert_int_equal(p->answer, IDM_SET);
  assert_near(p->optimality->objective, 0, 1e-9);
  for (size_t k = 0; k < 2; k++) assert_true(both[k] <= one[k] + 1e-9);
  assert_true(both[0] + both[1] < 0.6 * (one[0] + one[1]));
  assert_true(both[0] + both[1] > 0.01);
  idm_posterior_destroy(p);
}

/* A potential of a that one environment leaves undetermined is determined by the other, in either
 * order. */
static void test_all_environments_tell(void **state)
{
  (void)state;
  for (size_t seen = 1; seen <= 3; seen++) {
    char csv[1000] = "trajectory,environment,state,action\n";
    for (size_t e = 0; e < 2; e++)
      if (seen >> e & 1) add_rows(csv, sizeof csv, e);
    idm_problem *problem = support_yaml(FAMILY);
    idm_data *data = support_data(problem, csv);
    check(idm_problem_set_free(problem, "{utility: {entries: [left, right.a]}}", &support_error));
    idm_fit_settings settings;
    idm_fit_settings_default(&settings);
    idm_posterior *p = support_fit("multiple-experimentation", problem, data, &settings);
    assert_true(p->optimality->evaluated);
    assert_int_equal(p->optimality->open, seen == 3 ? 0 : 1);
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Any unit of the utilities: ranges scale with the unit. */
static void test_any_unit(void **state)
{
  (void)state;
  static const double unit[] = {1e-12, 1e-8, 1e-4, 1e4, 1e8};
  for (size_t i = 0; i < sizeof unit / sizeof *unit; i++) {
    char csv[1000] = "trajectory,environment,state,action\n";
    add_rows(csv, sizeof csv, 0);
    add_rows(csv, sizeof csv, 1);
    idm_problem *problem = support_yaml(FAMILY);
    idm_data *data = support_data(problem, csv);
    check(idm_problem_set_free(problem, "{utility: {entries: [left.c, right.c, left.a]}}",
                               &support_error));
    idm_fit_settings settings;
    idm_fit_settings_default(&settings);
    grid_in_units(problem, data, "multiple-experimentation", &settings, unit[i]);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

static void test_reference(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(FAMILY);
  idm_data *data = support_data(problem, "trajectory,environment,state,action\n1,calm,a,left\n");
  check(idm_problem_set_free(problem, "utility", &support_error));
  idm_fit_settings settings;
  idm_posterior *posterior;
  idm_fit_settings_default(&settings);
  assert_int_equal(idm_inverse_fit(idm_inverse_find("multiple-experimentation"), problem, data,
                                   &settings, NULL, &posterior, NULL, &support_error),
                   IDM_INPUT);
  assert_null(posterior);
  assert_non_null(strstr(support_error.message, "needs at least two held entries of the utility"));
  /* An unbounded set has no ranges to report. */
  check(idm_problem_set_free(problem, "{utility: {entries: [left]}}", &support_error));
  settings.bound = INFINITY;
  assert_int_equal(idm_inverse_fit(idm_inverse_find("multiple-experimentation"), problem, data,
                                   &settings, NULL, &posterior, NULL, &support_error),
                   IDM_INPUT);
  assert_non_null(strstr(support_error.message, "expected a finite --bound"));
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_more_environments_narrow), cmocka_unit_test(test_all_environments_tell),
      cmocka_unit_test(test_any_unit), cmocka_unit_test(test_reference)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
