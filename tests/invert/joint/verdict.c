/* The verdict on dynamics that were drawn with the decisions. */
#include "invert/joint/verdict.h"

#include "invert/check.h"
#include "support.h"

static void test_verdict(void **state)
{
  (void)state;
  for (int i = 0; i < 2; i++) {
    const idm_joint_dynamics d = {.rhat = i ? 1.2 : 1.02, .effective = 300};
    idm_checks checks;
    idm_notes remarks = {0}, failures = {0};
    bool trusted = true;
    idm_checks_begin(&checks, IDM_CHECK_FIT);
    idm_joint_judge(&d, &checks, &remarks, &failures, &trusted);
    assert_int_equal(trusted, !i);
    assert_int_equal(failures.count, i);
    assert_int_equal(checks.of[IDM_CHECK_JOINT_RHAT].outcome,
                     i ? IDM_CHECK_FAILED : IDM_CHECK_PASSED);
    assert_true(support_mentions(&remarks, "drawn together"));
    idm_notes_clear(&remarks);
    idm_notes_clear(&failures);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdict)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
