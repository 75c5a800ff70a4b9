/* Tests an audit with held dynamics: true ones pass, wrong ones fail every group and their average,
 * and shifts of contrasts against those of the groups. */
#include "invert/audit/estimands.h"

#include <math.h>
#include <string.h>

#include "invert/audit/audit_support.h"

/* Set the probability that a test is right, in the environment and around it in the models. */
static void set_right(idm_problem *problem, double right)
{
  for (size_t i = 0; i < 12; i++)
    for (size_t m = 0; m < 4; m++) {
      const double p = right + (m == 3 ? 0 : 0.1 * ((double)m - 1));
      double *at =
          m == 3 ? problem->setting->emission : problem->theta->block[IDM_EMISSION].value + 12 * m;
      at[i] = i % 4 == 0 || i % 4 == 3 ? p : 1 - p;
    }
}

/* Audit two groups of 400 patients whose tests are right with probability .70, with a file that
 * gives `given`. */
static audit_case run(double given)
{
  audit_case c = audit_open(1.5, 0.5, 0.5, 400, "site");
  set_right(c.problem, given);
  check(idm_audit_run(c.problem, c.data, c.groups, &c.settings, NULL, NULL, &c.audit,
                      &support_error));
  return c;
}

static bool fails(const idm_audit_group *group)
{
  return support_mentions(&group->misfits, "contradict the environment");
}

static void right_dynamics_pass(void **state)
{
  (void)state;
  audit_case c = run(0.7);
  assert_int_equal(c.audit->checks.of[IDM_CHECK_ENVIRONMENT].outcome, IDM_CHECK_PASSED);
  for (size_t g = 0; g < 3; g++) {
    assert_false(fails(&c.audit->group[g]));
    assert_true(c.audit->group[g].number[0].dynamics_shift > 0);
  }
  audit_close(&c);
}

static void wrong_dynamics_fail(void **state)
{
  (void)state;
  audit_case c = run(0.8);
  assert_int_equal(c.audit->checks.of[IDM_CHECK_ENVIRONMENT].outcome, IDM_CHECK_MISFIT);
  for (size_t g = 0; g < 3; g++) {
    assert_true(fails(&c.audit->group[g]));
    assert_int_equal(c.audit->group[g].verdict, IDM_AUDIT_FAILED);
  }
  assert_true(support_mentions(&c.audit->group[2].misfits, "observations after `monitor`"));
  assert_false(c.audit->trusted);
  assert_string_equal(idm_contrast_verdict_text(&c.audit->contrast[0]), "failed");
  audit_close(&c);
}

/* The shift of a contrast between cells with independent environments, and its effect on the
 * verdict. */
static void contrasts_add_up(void **state)
{
  (void)state;
  audit_case c = run(0.7);
  idm_audit *a = c.audit;
  double sum = 0;
  for (size_t g = 0; g < 2; g++) {
    const idm_audit_quantity *n = &a->group[g].number[0];
    sum += pow(n->dynamics_shift * n->diagnosis.sd, 2);
  }
  idm_audit_quantity *n = &a->contrast[0].number[0];
  assert_near(n->dynamics_shift * n->diagnosis.sd, sqrt(sum), 1e-9);
  /* Flag dependence for other shifts: in units of the coordinate before, in sds after. */
  for (int beyond = 0; beyond < 2; beyond++) {
    for (size_t g = 0; g < a->sides; g++) a->group[g].number[0].dynamics_shift = 0;
    a->contrast[0].verdict = IDM_AUDIT_IDENTIFIED;
    a->contrast[0].depends = false;
    n->dynamics_shift = (beyond ? 1.1 : 0.9) * n->diagnosis.sd;
    idm_audit_flag_dependence(a);
    assert_near(n->dynamics_shift, beyond ? 1.1 : 0.9, 1e-12);
    assert_int_equal(a->contrast[0].depends, beyond);
    assert_string_equal(idm_contrast_verdict_text(&a->contrast[0]),
                        beyond ? "depends on dynamics" : "identified");
  }
  /* A group depends on dynamics too, unless its verdict is worse. */
  idm_audit_group *group = &a->group[0];
  for (int worse = 0; worse < 2; worse++) {
    for (size_t g = 0; g < a->sides; g++) a->group[g].number[0].dynamics_shift = 0;
    n->dynamics_shift = 0;
    group->verdict = worse ? IDM_AUDIT_PRIOR_DRIVEN : IDM_AUDIT_IDENTIFIED;
    group->depends = false;
    group->number[0].dynamics_shift = 1.1 * group->number[0].diagnosis.sd;
    idm_audit_flag_dependence(a);
    assert_string_equal(idm_group_verdict_text(group),
                        worse ? "prior-driven" : "depends on dynamics");
  }
  audit_close(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(right_dynamics_pass),
      cmocka_unit_test(wrong_dynamics_fail),
      cmocka_unit_test(contrasts_add_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
