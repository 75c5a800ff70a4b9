/* Tests the check that effects of overlapping predicates are additive, on groups with and without
 * an interaction. */
#include "invert/audit/estimands.h"

#include <string.h>

#include "invert/audit/audit_support.h"

enum { CASES = 60 };

/* An audit of four sites, the last two of which satisfy the first predicate, and the second and
 * fourth the second predicate. */
static audit_case open(const double *alpha, idm_pool pool)
{
  audit_case c = {.problem = audit_problem(1.5), .settings = audit_settings()};
  c.data = audit_data(c.problem, alpha, 4, CASES);
  c.settings.fit.draws = 250;
  c.settings.pool = pool;
  check(idm_groups_where(c.data, (const char *const[]){"site=a", "site=b"}, 2, &c.groups, NULL,
                         &support_error));
  for (size_t t = 0; t < c.data->trajectories; t++) {
    c.groups->member[t] = t / CASES > 1;
    c.groups->member[c.data->trajectories + t] = t / CASES % 2;
  }
  check(idm_audit_run(c.problem, c.data, c.groups, &c.settings, NULL, NULL, &c.audit,
                      &support_error));
  return c;
}

static void effects_that_add_up_pass(void **state)
{
  (void)state;
  audit_case c = open((const double[]){0.4, 0.8, 0.6, 1.2}, IDM_POOL_PARTIAL);
  const idm_check_result *form = &c.audit->checks.of[IDM_CHECK_FORM];
  assert_int_equal(form->outcome, IDM_CHECK_PASSED);
  assert_true(c.audit->trusted);
  audit_close(&c);
}

/* Only trajectories that satisfy both predicates differ. Without pooling there are no effects to
 * add. */
static void a_product_is_named(void **state)
{
  (void)state;
  for (idm_pool pool = IDM_POOL_PARTIAL; pool <= IDM_POOL_NONE; pool++) {
    audit_case c = open((const double[]){0.4, 0.4, 0.4, 3}, pool);
    const idm_check_result *form = &c.audit->checks.of[IDM_CHECK_FORM];
    const bool pooled = pool == IDM_POOL_PARTIAL;
    print_message("  p = %.2g\n", form->value);
    assert_int_equal(form->outcome, pooled ? IDM_CHECK_MISFIT : IDM_CHECK_NOT_RUN);
    for (size_t g = 0; g < 2 && pooled; g++) {
      assert_int_equal(c.audit->group[g].verdict, IDM_AUDIT_FAILED);
      assert_int_equal(c.audit->contrast[g].verdict, IDM_AUDIT_FAILED);
      assert_true(
          support_mentions(&c.audit->group[g].reasons, "log_alpha depends on 'site=a' x 'site=b'"));
      assert_false(support_mentions(&c.audit->group[g].reasons, "check the prior"));
    }
    if (pooled) assert_false(c.audit->trusted);
    audit_close(&c);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(effects_that_add_up_pass),
      cmocka_unit_test(a_product_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
