/* The population of a problem file: read, kept, refused. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static idm_problem *read(const char *population, idm_error *error)
{
  char text[2000];
  idm_problem *problem = NULL;
  snprintf(text, sizeof text,
           "states: [h, d]\nactions: [a, b]\nobservations: [n, p]\nstart: uniform\n"
           "transition: {\"*\": identity}\nobservation: {\"*\": [[0.7, 0.3], [0.3, 0.7]]}\n"
           "utility: {a: 1, b: [2, -3]}\nfree: [alpha, beta]\n%s\n",
           population);
  idm_problem_parse_yaml(text, strlen(text), "p.yaml", &problem, NULL, error);
  return problem;
}

static void scales_are_for_all_blocks_or_by_block(void **state)
{
  (void)state;
  idm_problem *p =
      read("population: {sd: 0.5, coefficient: {beta: 2}, correlation: 4}", &support_error);
  if (!p) fail_msg("%s", support_error.message);
  assert_near(p->theta->block[IDM_ALPHA].population.sd, 0.5, 0);
  assert_near(p->theta->block[IDM_ETA].population.sd, 0.5, 0);
  assert_near(p->theta->block[IDM_ALPHA].population.coefficient, 0, 0);
  assert_near(p->theta->block[IDM_BETA].population.coefficient, 2, 0);
  assert_near(p->correlation, 4, 0);
  char path[SUPPORT_PATH];
  support_path(path);
  check(idm_problem_write_yaml(p, path, NULL, &support_error));
  idm_problem *back = NULL;
  check(idm_problem_read(path, &back, NULL, &support_error));
  char difference[200];
  assert_true(idm_problem_compare(p, back, 0, difference, sizeof difference));
  back->correlation = 3;
  assert_false(idm_problem_compare(p, back, 0, difference, sizeof difference));
  assert_non_null(strstr(difference, "population.correlation"));
  remove(path);
  idm_problem_destroy(back);
  idm_problem_destroy(p);
}

static void what_is_no_population_is_refused_at_its_place(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"population: {sd: 0}", "population.sd is '0'; expected a positive number"},
      {"population: {sd: {alfa: 1}}", "'alfa' is unknown; did you mean 'alpha'?"},
      {"population: {coefficient: [1]}", "population.coefficient is a list of 1"},
      {"population: {correlation: -1}", "expected a positive number"},
      {"population: {mean: 1}", "the key 'mean' is unknown"},
      {"population: 3", "expected a mapping"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    idm_error error = {0};
    assert_null(read(cases[i][0], &error));
    assert_int_equal(error.line, 9);
    if (!strstr(error.message, cases[i][1])) fail_msg("%s: %s", cases[i][0], error.message);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scales_are_for_all_blocks_or_by_block),
      cmocka_unit_test(what_is_no_population_is_refused_at_its_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
