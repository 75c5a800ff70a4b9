/* Tests the remarks on an audit about the variance between draws of dynamics, and about jointly
 * drawn dynamics. */
#include "invert/audit/estimands.h"

#include <math.h>

#include "invert/assess.h"
#include "support.h"

/* An audit of one group, `all`, one contrast and one parameter, without draws. */
static void remark(idm_joint_dynamics *opt_joint, size_t cuts, double between, idm_audit *a)
{
  static char *names[] = {"log_alpha"};
  static idm_audit_quantity number[3];
  static idm_audit_group group[2];
  static idm_audit_contrast contrast;
  for (size_t i = 0; i < 3; i++) number[i] = (idm_audit_quantity){.between = between};
  group[0] = (idm_audit_group){.name = "a", .number = &number[0]};
  group[1] = (idm_audit_group){.name = "all", .number = &number[1]};
  contrast = (idm_audit_contrast){.number = &number[2]};
  *a = (idm_audit){.cuts = cuts,
                   .groups = 2,
                   .sides = 2,
                   .group = group,
                   .contrasts = 1,
                   .contrast = &contrast,
                   .coordinate = {1, names},
                   .joint = opt_joint,
                   .trusted = true};
  idm_checks_begin(&a->checks, IDM_CHECK_AUDIT);
  idm_audit_remark(a);
  support_check_listed(&a->checks);
}

static void clear(idm_audit *a)
{
  idm_notes_clear(&a->remarks);
  idm_notes_clear(&a->failures);
}

static void test_cuts(void **state)
{
  (void)state;
  idm_audit a;
  remark(NULL, 10, 0.97, &a);
  assert_true(support_mentions(&a.remarks, "up to 97 % of the variance"));
  assert_true(support_mentions(&a.remarks, "take more --dynamics-draws"));
  assert_true(a.trusted);
  clear(&a);
  remark(NULL, 1, NAN, &a);
  assert_int_equal(a.remarks.count, 0);
  clear(&a);
}

static void test_joint(void **state)
{
  (void)state;
  idm_audit a;
  idm_joint_dynamics d = {.rhat = 1.01, .effective = 500};
  remark(&d, 1, NAN, &a);
  assert_true(support_mentions(&a.remarks, "drawn together"));
  assert_true(a.trusted);
  clear(&a);
  d.rhat = 1.3;
  remark(&d, 1, NAN, &a);
  assert_false(a.trusted);
  assert_true(support_mentions(&a.failures, "disagree about the dynamics"));
  clear(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cuts), cmocka_unit_test(test_joint)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
