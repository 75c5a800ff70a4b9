/* Tests the outlier and form checks of an audit's agents, as samples of normal populations. */
#include "invert/audit/estimands.h"

#include <math.h>

#include "invert/audit/nest_support.h"

enum { PEOPLE = 15, DECISIONS = 200 };

/* Agents with log alpha near -1, shifted by x[agent]. */
static nest_case open(const double *x)
{
  double at[PEOPLE];
  for (size_t i = 0; i < PEOPLE; i++) at[i] = -1 + 0.2 * sin(7 * (double)i) + x[i];
  nest_case f = nest_make_at(PEOPLE, at, DECISIONS, 12);
  f.settings.fit.draws = 300;
  return f;
}

/* Agent 5, of the second group, is the outlier. */
static void an_agent_far_off_fails_its_group(void **state)
{
  (void)state;
  for (int far = 0; far < 2; far++) {
    double x[PEOPLE] = {0};
    if (far) x[4] = 3.5;
    nest_case f = open(x);
    nest_run(&f);
    const idm_audit *a = f.audit;
    print_message("  p = %.2g\n", a->checks.of[IDM_CHECK_OUTLIER].value);
    assert_int_equal(a->checks.of[IDM_CHECK_OUTLIER].outcome,
                     far ? IDM_CHECK_MISFIT : IDM_CHECK_PASSED);
    for (size_t g = 0; g < NEST_GROUPS; g++)
      assert_int_equal(support_mentions(&a->group[g].reasons, "is far from the others"),
                       far && g == 1);
    assert_int_equal(a->group[1].verdict == IDM_AUDIT_FAILED, far);
    /* Groups by a column do not overlap. */
    assert_int_equal(a->checks.of[IDM_CHECK_FORM].outcome, IDM_CHECK_NOT_RUN);
    nest_unmake(&f);
  }
}

/* Agents 9 to 15 satisfy the first predicate, every other agent the second; agents who satisfy both
 * differ. */
static void a_product_fails_its_groups(void **state)
{
  (void)state;
  double x[PEOPLE] = {0};
  for (size_t i = 8; i < PEOPLE; i++) x[i] = i % 2 ? 2.5 : 0;
  nest_case f = open(x);
  f.groups->partition = false;
  f.groups->name.count = 2;
  for (size_t t = 0; t < f.data->trajectories; t++) {
    f.groups->member[t] = f.data->agent[t] >= 8;
    f.groups->member[f.data->trajectories + t] = f.data->agent[t] % 2;
  }
  nest_run(&f);
  const idm_audit *a = f.audit;
  print_message("  p = %.2g\n", a->checks.of[IDM_CHECK_FORM].value);
  assert_int_equal(a->checks.of[IDM_CHECK_FORM].outcome, IDM_CHECK_MISFIT);
  for (size_t g = 0; g < 2; g++) {
    assert_true(support_mentions(&a->group[g].reasons, "log_alpha depends on a x b"));
    assert_int_equal(a->group[g].verdict, IDM_AUDIT_FAILED);
  }
  f.groups->name.count = NEST_GROUPS;
  nest_unmake(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_agent_far_off_fails_its_group),
      cmocka_unit_test(a_product_fails_its_groups),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
