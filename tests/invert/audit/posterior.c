/* Tests the conversion of an audit to a posterior: names, axes and draws of every quantity. */
#include <math.h>
#include <string.h>

#include "invert/audit/audit_support.h"

static void numbers_lie_along_groups_and_contrasts(void **state)
{
  (void)state;
  audit_case c = audit_open(1.5, 0.5, 0.8, 20, "site");
  idm_posterior *p;
  c.settings.fit.draws = 30;
  check(idm_audit_run(c.problem, c.data, c.groups, &c.settings, NULL, NULL, &c.audit,
                      &support_error));
  check(idm_audit_posterior(c.audit, &p, &support_error));
  static const char *const names[] = {"log_alpha[a]",   "log_alpha[b]",
                                      "log_alpha[all]", "log_alpha_contrast[b - a]",
                                      "log_alpha_mean", "log_alpha_sd"};
  const double *const draw[] = {c.audit->group[0].number[0].draw,
                                c.audit->group[1].number[0].draw,
                                c.audit->group[2].number[0].draw,
                                c.audit->contrast[0].number[0].draw,
                                c.audit->mean[0].draw,
                                c.audit->sd[0].draw};
  const size_t all = p->chains * p->draws;
  assert_int_equal(p->quantity.count, 6);
  assert_int_equal(p->draws, 30);
  assert_int_equal(p->cuts, 0);
  for (size_t i = 0; i < 6; i++) {
    assert_string_equal(p->quantity.name[i], names[i]);
    assert_memory_equal(p->value + i * all, draw[i], all * sizeof(double));
    assert_true(p->summarised[i]);
  }
  /* The blocks of an audit have no density, acceptance or count of steps: files omit these. */
  for (size_t i = 0; i < all; i++)
    assert_true(isnan(p->statistics[i].log_density) && isnan(p->statistics[i].acceptance) &&
                p->statistics[i].evaluations == -1);
  assert_int_equal(p->series_count, 2);
  assert_string_equal(p->axis[p->series[1].axis].name, "contrast");
  idm_posterior_destroy(p);
  audit_close(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_lie_along_groups_and_contrasts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
