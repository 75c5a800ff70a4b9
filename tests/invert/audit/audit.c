/* Tests whole audits: rejected requests, interruption and resumption, and dynamics by group. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/audit/audit_support.h"

static void words_are_as_in_files(void **state)
{
  (void)state;
  assert_string_equal(idm_pool_name(IDM_POOL_HOLM), "holm");
  assert_null(idm_pool_name((idm_pool)7));
  assert_string_equal(idm_audit_dynamics_name(IDM_AUDIT_BY_GROUP), "group");
  assert_string_equal(idm_audit_verdict_name(IDM_AUDIT_PRIOR_DRIVEN), "prior-driven");
}

static bool stop_at_once(void *context, const idm_progress_state *work)
{
  double *done = context;
  assert_true(work->done >= *done && work->done <= 1);
  *done = work->done;
  return work->done > 0.1;
}

static void a_watch_stops_it(void **state)
{
  (void)state;
  audit_case c = audit_open(1.5, 0.5, 0.8, 30, "site");
  double done = 0;
  const idm_fit_monitor watch = {.progress = stop_at_once, .context = &done};
  c.settings.fit.draws = 20000;
  assert_int_equal(idm_audit_run(c.problem, c.data, c.groups, &c.settings, NULL, &watch, &c.audit,
                                 &support_error),
                   IDM_UNTRUSTED);
  assert_null(c.audit);
  audit_close(&c);
}

static void expect_same(const idm_audit *a, const idm_audit *b)
{
  const size_t all = a->chains * a->draws, d = a->coordinate.count;
  for (size_t i = 0; i < a->sides * d; i++) {
    const idm_audit_quantity *x = &a->group[i / d].number[i % d],
                             *y = &b->group[i / d].number[i % d];
    assert_memory_equal(x->draw, y->draw, all * sizeof(double));
    assert_true(x->prior_shift == y->prior_shift);
    assert_true(x->alone == y->alone || (isnan(x->alone) && isnan(y->alone)));
  }
  for (size_t i = 0; i < a->contrasts * d; i++)
    assert_memory_equal(a->contrast[i / d].number[i % d].draw,
                        b->contrast[i / d].number[i % d].draw, all * sizeof(double));
  assert_int_equal(a->trusted, b->trusted);
  assert_int_equal(a->remarks.count, b->remarks.count);
}

/* An audit that is interrupted and resumed several times equals an uninterrupted one. A checkpoint
 * of another request is rejected. */
static void expect_to_go_on(audit_case *c)
{
  static const double when[] = {0, 0.1, 0.5, 0.61, 0.75, 0.88, 0.95};
  char *bytes = NULL;
  size_t length = 0;
  idm_audit *gone_on = NULL;
  check(idm_audit_run(c->problem, c->data, c->groups, &c->settings, NULL, NULL, &c->audit,
                      &support_error));
  for (size_t k = 0; k <= sizeof when / sizeof *when && !gone_on; k++) {
    const bool last = k == sizeof when / sizeof *when;
    support_stopping s = {.at = last ? 2 : when[k]};
    const idm_fit_monitor watch = {.progress = support_stop,
                                   .context = &s,
                                   .checkpoint = bytes,
                                   .checkpoint_length = length,
                                   .label = 9};
    const idm_status status = idm_audit_run(c->problem, c->data, c->groups, &c->settings, NULL,
                                            &watch, &gone_on, &support_error);
    assert_true(status == IDM_OK || (status == IDM_UNTRUSTED && s.bytes));
    if (!s.bytes) continue;
    free(bytes);
    bytes = s.bytes;
    length = s.length;
  }
  assert_non_null(gone_on);
  expect_same(c->audit, gone_on);
  idm_audit_destroy(gone_on);
  const idm_fit_monitor other = {.checkpoint = bytes, .checkpoint_length = length, .label = 8};
  assert_int_equal(idm_audit_run(c->problem, c->data, c->groups, &c->settings, NULL, &other,
                                 &gone_on, &support_error),
                   IDM_INPUT);
  assert_null(gone_on);
  free(bytes);
}

static void what_is_stopped_goes_on(void **state)
{
  (void)state;
  audit_case c = audit_open(1.5, 0.5, 0.8, 30, "site");
  c.settings.fit.draws = 200;
  expect_to_go_on(&c);
  idm_audit_destroy(c.audit);
  c.settings.pool = IDM_POOL_NONE;
  expect_to_go_on(&c);
  audit_close(&c);
  c = audit_open(1.5, 0.5, 1.5, 30, "site");
  const idm_model_rule rule = {.perturb = {0, 0.1}};
  check(idm_problem_apply_rule(c.problem, &rule, &support_error));
  c.settings.fit.draws = 100;
  c.settings.dynamics = IDM_AUDIT_BY_GROUP;
  c.settings.cuts = 2;
  expect_to_go_on(&c);
  audit_close(&c);
}

static void expect_refusal(audit_case *c, const char *words)
{
  idm_error error = {0};
  assert_int_equal(
      idm_audit_run(c->problem, c->data, c->groups, &c->settings, NULL, NULL, &c->audit, &error),
      IDM_INPUT);
  assert_non_null(strstr(error.message, words));
}

static void other_priors_are_refused(void **state)
{
  (void)state;
  audit_case c = audit_open(1.5, 0.5, 0.8, 5, "site");
  check(idm_problem_set_free(c.problem, "{alpha: {scale: log, prior: {uniform: [-2, 2]}}}",
                             &support_error));
  expect_refusal(&c, "the free block 'alpha' (prior uniform)");
  /* Models given as a list do not follow changed dynamics. */
  c.settings.dynamics = IDM_AUDIT_BY_GROUP;
  c.settings.fit.draws = 20;
  check(idm_problem_set_free(c.problem, "{alpha: {scale: log, prior: {normal: [0, 1]}}}",
                             &support_error));
  expect_refusal(&c, "models");
  audit_close(&c);
}

/* Results with both dynamics are reported: the shift is the difference of the two means. */
static void dynamics_of_each_group_are_compared_with_those_of_all(void **state)
{
  (void)state;
  audit_case own = audit_open(1.5, 0.5, 1.5, 60, "site");
  const idm_model_rule rule = {.perturb = {0, 0.1}};
  check(idm_problem_apply_rule(own.problem, &rule, &support_error));
  own.settings.fit.draws = 100;
  own.settings.dynamics = IDM_AUDIT_BY_GROUP;
  check(idm_audit_run(own.problem, own.data, own.groups, &own.settings, NULL, NULL, &own.audit,
                      &support_error));
  const idm_audit_contrast *c = &own.audit->contrast[0];
  assert_int_equal(own.audit->dynamics, IDM_AUDIT_BY_GROUP);
  assert_non_null(c->pooled);
  assert_near(c->number[0].shift, c->number[0].diagnosis.mean - c->pooled[0].diagnosis.mean, 1e-12);
  assert_true(fabs(c->number[0].shift) > 1e-6);
  const bool turned = c->number[0].diagnosis.mean * c->pooled[0].diagnosis.mean < 0;
  if (turned || c->number[0].significant != c->pooled[0].significant) assert_true(c->depends);
  assert_true(isfinite(own.audit->group[0].number[0].shift));
  audit_close(&own);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_are_as_in_files),
      cmocka_unit_test(a_watch_stops_it),
      cmocka_unit_test(what_is_stopped_goes_on),
      cmocka_unit_test(other_priors_are_refused),
      cmocka_unit_test(dynamics_of_each_group_are_compared_with_those_of_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
