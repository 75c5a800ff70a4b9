/* Tests the prior-data conflict check of audits under priors that agree or disagree with the
 * groups. */
#include "invert/audit/estimands.h"

#include "invert/audit/audit_support.h"

static audit_case open(const char *free_blocks, idm_pool pool)
{
  audit_case c = audit_open(1.5, 0.3, 0.5, 30, "site");
  check(idm_problem_set_free(c.problem, free_blocks, &support_error));
  c.settings.fit.draws = 400;
  c.settings.pool = pool;
  check(idm_audit_run(c.problem, c.data, c.groups, &c.settings, NULL, NULL, &c.audit,
                      &support_error));
  print_message("  prior-pull %.3g\n", c.audit->checks.of[IDM_CHECK_PRIOR_PULL].value);
  return c;
}

/* Narrow and wide priors around the parameters, and a distant prior that hardly shifts them. */
static void priors_that_agree_pass(void **state)
{
  (void)state;
  static const char *const prior[] = {"{alpha: {scale: log, prior: {normal: [-1, 0.3]}}}",
                                      "{alpha: {scale: log, prior: {normal: [0, 1.5]}}}",
                                      "{alpha: {scale: log, prior: {normal: [4, 2]}}}"};
  for (size_t i = 0; i < 3; i++)
    for (idm_pool pool = IDM_POOL_PARTIAL; pool <= IDM_POOL_NONE; pool++) {
      audit_case c = open(prior[i], pool);
      assert_int_equal(c.audit->checks.of[IDM_CHECK_PRIOR_PULL].outcome, IDM_CHECK_PASSED);
      audit_close(&c);
    }
}

/* A prior about 10 of its sds away: the groups fail or, if they are pooled, their distribution. */
static void priors_that_are_off_fail(void **state)
{
  (void)state;
  for (idm_pool pool = IDM_POOL_PARTIAL; pool <= IDM_POOL_NONE; pool++) {
    audit_case c = open("{alpha: {scale: log, prior: {normal: [1.5, 0.25]}}}", pool);
    const idm_audit *a = c.audit;
    static const char words[] = "contradicts the decisions, and shifts the posterior";
    assert_int_equal(a->checks.of[IDM_CHECK_PRIOR_PULL].outcome, IDM_CHECK_MISFIT);
    assert_false(a->trusted);
    assert_int_equal(support_mentions(&a->failures, words), pool == IDM_POOL_PARTIAL);
    for (size_t g = 0; g < 2; g++) {
      assert_int_equal(support_mentions(&a->group[g].reasons, words), pool == IDM_POOL_NONE);
      assert_int_equal(a->group[g].verdict, IDM_AUDIT_FAILED);
    }
    assert_string_equal(idm_contrast_verdict_text(&a->contrast[0]), "failed");
    audit_close(&c);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(priors_that_agree_pass),
      cmocka_unit_test(priors_that_are_off_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
