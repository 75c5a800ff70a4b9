/* Tests the repeated checks of an audit's model: the draw of the dynamics in which the fewest
 * groups fail determines the result. */
#include "invert/audit/estimands.h"

#include <math.h>

#include "invert/assess.h"
#include "invert/audit/audit_support.h"
#include "invert/audit/model.h"
#include "invert/cut.h"

enum { WAYS = 8 };

/* Change the probability that a test is right from .7 to .9 in all draws, except those of two
 * audited draws if `spare`. */
static void spoil(idm_dynamics_draws *draws, bool spare)
{
  const size_t all = draws->chains * draws->draws;
  for (size_t i = 0; i < draws->numbers * all; i++) {
    const size_t at = i % all;
    const bool kept = at == all / (2 * WAYS) || at == 9 * all / (2 * WAYS);
    double *p = &draws->value[i];
    if (spare && kept) continue;
    if (fabs(*p - 0.7) < 0.1) *p = 0.9;
    if (fabs(*p - 0.3) < 0.1) *p = 0.1;
  }
}

static size_t count_unfit(bool spare)
{
  audit_case c = audit_open(1.5, 0.5, 0.5, 150, "site");
  const idm_model_rule rule = {.perturb = {0, 0.1}};
  idm_dynamics_draws draws;
  check(idm_problem_apply_rule(c.problem, &rule, &support_error));
  idm_data *seen =
      support_simulate(c.problem, (idm_simulation){.trajectories = 20000, .steps = 20, .seed = 3});
  check(idm_audit_learn_dynamics(c.problem, seen, true, 5, &draws, &support_error));
  spoil(&draws, spare);
  const idm_cut_draws cuts = {c.problem, &draws, WAYS};
  c.settings.fit.draws = 150;
  check(idm_audit_run(c.problem, c.data, c.groups, &c.settings, &cuts, NULL, &c.audit,
                      &support_error));
  const size_t model_misfit = idm_audit_count_unfit(c.audit);
  for (size_t g = 0; g < c.audit->sides; g++)
    assert_int_equal(c.audit->group[g].model_misfit, c.audit->group[g].misfits.count > 0);
  idm_data_destroy(seen);
  idm_dynamics_draws_clear(&draws);
  audit_close(&c);
  return model_misfit;
}

static void the_draw_in_which_fewest_fail_counts(void **state)
{
  (void)state;
  assert_int_equal(count_unfit(true), 0);
  assert_true(count_unfit(false) > 0);
}

/* Checks that leave a test out do not replace checks that ran it, even if fewer sides fail. */
static void a_look_with_fewer_tests_does_not_count(void **state)
{
  (void)state;
  idm_checks whole, short_of_one;
  idm_checks_begin(&whole, IDM_CHECK_AUDIT);
  idm_checks_begin(&short_of_one, IDM_CHECK_AUDIT);
  idm_check_leave_out(&short_of_one, IDM_CHECK_DEPENDS, 10);
  assert_int_equal(idm_checks_left_out(&short_of_one), 1);
  assert_true(idm_audit_reassess_better(2, &whole, 1, &whole));
  assert_false(idm_audit_reassess_better(2, &whole, 2, &whole));
  assert_false(idm_audit_reassess_better(2, &whole, 0, &short_of_one));
  assert_true(idm_audit_reassess_better(2, &short_of_one, 1, &short_of_one));
  assert_true(idm_audit_reassess_better(2, &short_of_one, 1, &whole));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_draw_in_which_fewest_fail_counts),
      cmocka_unit_test(a_look_with_fewer_tests_does_not_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
