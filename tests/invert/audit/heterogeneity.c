/* Tests the largest contrast between groups on draws of known mean and sd, and the rules for
 * average models. */
#include "invert/audit/estimands.h"

#include <math.h>

#include "invert/assess.h"
#include "invert/audit/audit_support.h"

/* Two cells whose draws have means 0 and `apart` and sd 1, as square waves. */
static audit_max_contrast between(double apart)
{
  enum { all = 40 };
  double x[2 * all];
  const double sign[] = {1, -1};
  linear_combination contrast = {.cell = (double[]){-1, 1}, .effect = (double[]){0, 0}};
  const audit_estimands plan = {
      .model = {.dimension = 1, .cells = 2, .effects = 2}, .contrasts = 1, .contrast = &contrast};
  for (size_t i = 0; i < all; i++) {
    x[i] = sign[i % 2];
    x[all + i] = apart + sign[i / 2 % 2];
  }
  const audit_draws draws = {.chains = 4, .draws = all / 4, .cell = x, .effect = x};
  audit_max_contrast found;
  check(idm_audit_max_contrast(&plan, &draws, &found, &support_error));
  assert_near(found.mean, apart, 1e-12);
  assert_near(found.sds, apart / sqrt(2), 0.05 * apart);
  return found;
}

/* A contrast of two sds is not significant, one of five is. */
static void sds_are_those_of_the_contrast(void **state)
{
  (void)state;
  assert_true(between(2 * sqrt(2)).p > 0.04);
  assert_true(between(5 * sqrt(2)).p < 1e-5);
}

/* Observations that contradict the environment are not explained by heterogeneity between groups.
 */
static void rows_that_groups_cannot_explain(void **state)
{
  (void)state;
  idm_checks checks;
  idm_checks_begin(&checks, IDM_CHECK_AUDIT);
  idm_check_record(&checks, IDM_CHECK_HOMOGENEITY, IDM_CHECK_MISFIT, 0.001);
  assert_true(idm_audit_is_heterogeneity(&checks));
  idm_check_record(&checks, IDM_CHECK_ENVIRONMENT, IDM_CHECK_MISFIT, 0.001);
  assert_false(idm_audit_is_heterogeneity(&checks));
}

/* Misfits of agents or trajectories that differ, and no other, are those of an average over groups.
 */
static void unlike_agents_or_trajectories(void **state)
{
  (void)state;
  for (int both = 0; both < 2; both++) {
    idm_checks checks;
    idm_checks_begin(&checks, IDM_CHECK_AUDIT);
    assert_false(idm_audit_only_unlike(&checks));
    if (both) idm_check_record(&checks, IDM_CHECK_HOMOGENEITY, IDM_CHECK_MISFIT, 0.001);
    idm_check_record(&checks, IDM_CHECK_TRAJECTORIES, IDM_CHECK_MISFIT, 0.001);
    assert_true(idm_audit_only_unlike(&checks));
    idm_check_record(&checks, IDM_CHECK_STEPS, IDM_CHECK_MISFIT, 0.001);
    assert_false(idm_audit_only_unlike(&checks));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sds_are_those_of_the_contrast),
      cmocka_unit_test(rows_that_groups_cannot_explain),
      cmocka_unit_test(unlike_agents_or_trajectories),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
