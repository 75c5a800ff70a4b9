/* Tests entering an environment: dynamics and start change, names do not. */
#include <stdlib.h>
#include <string.h>

#include "support.h"

static void give_environment(idm_problem *problem, const char *name)
{
  problem->environment = calloc(1, sizeof *problem->environment);
  assert_non_null(problem->environment);
  problem->environments = 1;
  problem->environment[0].name = strdup(name);
  check(idm_setting_copy(problem->setting, &problem->environment[0].setting, &support_error));
}

static void test_entering(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 4, 0);
  idm_problem *problem = support_problem(
      (support_shape){.states = 3, .actions = 2, .observations = 2, .models = 1}, &random);
  give_environment(problem, "other");
  idm_setting *other = problem->environment[0].setting;
  support_distribution(&random, other->transition, 3);
  support_distribution(&random, other->start, 3);
  const char *label = problem->setting->states.name[0];
  const idm_setting *before = problem->setting;
  check(idm_problem_set_environment(problem, "other", &support_error));
  assert_int_equal(problem->current_environment, 1);
  assert_ptr_equal(problem->setting, before);
  assert_ptr_equal(problem->setting->states.name[0], label);
  assert_memory_equal(problem->setting->transition, other->transition, 3 * sizeof(double));
  assert_memory_equal(problem->setting->start, other->start, 3 * sizeof(double));
  idm_error error = {0};
  assert_int_equal(idm_problem_set_environment(problem, "none", &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "expected one of other"));
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_entering)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
