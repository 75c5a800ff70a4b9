/* Tests whether a theta requires new learning. */
#include "plan/tabular/learner.h"

#include <math.h>

#include "support.h"

static void only_what_was_asked_before_is_known(void **state)
{
  (void)state;
  idm_problem *problem;
  learning_cache l = {0};
  check(idm_problem_read("example:maintenance", &problem, NULL, &support_error));
  assert_true(idm_learning_cache_create(&l, problem->theta));
  assert_true(idm_learning_cache_update(&l, problem->theta));
  assert_false(idm_learning_cache_update(&l, problem->theta));
  static const char *const asks[] = {"discount=0.5", "alpha=3", "utility.run.broken=1"};
  for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++) {
    support_assign(problem, asks[i]);
    assert_true(idm_learning_cache_update(&l, problem->theta));
    assert_false(idm_learning_cache_update(&l, problem->theta));
  }
  support_assign(problem, "lapse=0.1");
  support_assign(problem, "perseverance=1");
  assert_false(idm_learning_cache_update(&l, problem->theta));
  idm_learning_cache_destroy(&l);
  idm_problem_destroy(problem);
}

static void reports_certify_nothing(void **state)
{
  (void)state;
  const learning_cache l = {.learnt_report = {.transitions = 7, .residual = 0.5, .value = NAN}};
  const idm_plan_report report = idm_learning_cache_report(&l);
  assert_true(isinf(report.bound) && report.stop == IDM_STOP_BUDGET);
  assert_true(report.iterations == 7 && report.learning.residual == 0.5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(only_what_was_asked_before_is_known),
                                     cmocka_unit_test(reports_certify_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
