/* Tests that a check that exceeds its time limit is recorded as not run and changes nothing else.
 */
#include "invert/assess/context.h"

#include <math.h>
#include <string.h>

#include "base/system.h"
#include "context_support.h"

static const char fast[] = "left out: --checks fast after 0.001 s";

static idm_status note(const check_context *q)
{
  idm_notes_add(idm_check_note(q->assessment, IDM_CHECK_IMPORTANCE, IDM_CHECK_FAILED), "off");
  idm_notes_add(&q->assessment->remarks, "looked");
  return IDM_OK;
}

static idm_status check_at_once(const check_context *q, idm_error *opt_error)
{
  (void)opt_error;
  return note(q);
}

/* A check that runs until it is cancelled, and one that returns IDM_OK after its cancellation. */
static idm_status check_forever(const check_context *q, idm_error *opt_error)
{
  (void)note(q);
  while (idm_cancel_check(q->opt_time_limit->cancel, opt_error) == IDM_OK) continue;
  return IDM_UNTRUSTED;
}

static idm_status check_late(const check_context *q, idm_error *opt_error)
{
  (void)check_forever(q, opt_error);
  return IDM_OK;
}

static idm_status check_by_parts(const check_context *q, idm_error *opt_error)
{
  (void)check_forever(q, opt_error);
  assert_true(idm_check_time_skip(q, IDM_CHECK_EXTENSIONS));
  assert_false(idm_check_time_skip(q, IDM_CHECK_CHANCE));
  return idm_cancel_check(q->opt_time_limit->cancel, opt_error);
}

typedef struct limited {
  idm_posterior posterior;
  idm_assessment assessment;
  idm_cancel cancel;
  check_time_limit limit;
  check_context q;
} limited;

static void open_limited(limited *l, double seconds)
{
  *l = (limited){.posterior.answer = IDM_POSTERIOR};
  idm_checks_begin(&l->assessment.checks, IDM_CHECK_FIT);
  idm_cancel_init(&l->cancel, NULL, "checking");
  l->limit = idm_check_time_begin(seconds, &l->cancel);
  l->q = (check_context){
      .posterior = &l->posterior, .assessment = &l->assessment, .opt_time_limit = &l->limit};
}

static void close_limited(limited *l)
{
  idm_notes_clear(&l->assessment.failures);
  idm_notes_clear(&l->assessment.remarks);
}

static void in_time_a_check_is_what_it_is(void **state)
{
  (void)state;
  static const double seconds[] = {0, 0.001, 1e6};
  for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
    limited l;
    open_limited(&l, seconds[i]);
    check(idm_check_time_run(&l.q, IDM_CHECK_IMPORTANCE, check_at_once, &support_error));
    assert_int_equal(l.assessment.checks.of[IDM_CHECK_IMPORTANCE].outcome, IDM_CHECK_FAILED);
    assert_int_equal(l.assessment.failures.count, 1);
    assert_int_equal(idm_checks_left_out(&l.assessment.checks), 0);
    close_limited(&l);
  }
}

static void a_late_check_leaves_nothing_but_its_rows(void **state)
{
  (void)state;
  idm_check_function *const late[] = {check_forever, check_late};
  for (size_t i = 0; i < 2; i++) {
    limited l;
    open_limited(&l, 0.001);
    idm_notes_add(&l.assessment.remarks, "before");
    const double began = idm_seconds();
    check(idm_check_time_run(&l.q, IDM_CHECK_IMPORTANCE, late[i], &support_error));
    assert_true(idm_seconds() - began > 0.9); /* every check has at least one second */
    const idm_check_result *of = l.assessment.checks.of;
    assert_int_equal(of[IDM_CHECK_IMPORTANCE].outcome, IDM_CHECK_NOT_RUN);
    assert_true(isnan(of[IDM_CHECK_IMPORTANCE].value));
    assert_string_equal(of[IDM_CHECK_IMPORTANCE].why, fast);
    assert_string_equal(of[IDM_CHECK_MODES].why, fast); /* recorded by the same check */
    assert_int_equal(idm_checks_left_out(&l.assessment.checks), 2);
    assert_int_equal(l.assessment.failures.count, 0);
    assert_int_equal(l.assessment.remarks.count, 1);
    assert_false(l.cancel.stop); /* the next check can run */
    check(idm_check_time_run(&l.q, IDM_CHECK_LATTICE, check_at_once, &support_error));
    assert_int_equal(l.assessment.failures.count, 1);
    close_limited(&l);
  }
}

static void a_part_is_left_out_alone(void **state)
{
  (void)state;
  limited l;
  open_limited(&l, 0.001);
  check(idm_check_time_run(&l.q, IDM_CHECK_CHANCE, check_by_parts, &support_error));
  assert_int_equal(idm_checks_left_out(&l.assessment.checks), 1);
  assert_true(idm_check_is_left_out(&l.assessment.checks, IDM_CHECK_EXTENSIONS));
  assert_int_equal(l.assessment.failures.count, 1);
  close_limited(&l);
}

/* Rows that the audit records stay when the tests of the model are left out. */
static void rows_of_others_stay(void **state)
{
  (void)state;
  limited l;
  open_limited(&l, -1);
  idm_checks_begin(&l.assessment.checks, IDM_CHECK_AUDIT);
  check(idm_check_time_run(&l.q, IDM_CHECK_CHANCE, check_at_once, &support_error));
  assert_true(idm_check_is_left_out(&l.assessment.checks, IDM_CHECK_CHANCE));
  assert_true(idm_check_is_left_out(&l.assessment.checks, IDM_CHECK_ENVIRONMENT));
  assert_false(idm_check_is_left_out(&l.assessment.checks, IDM_CHECK_PRIOR_EXCLUSION));
  assert_int_equal(l.assessment.failures.count, 0);
  close_limited(&l);
}

/* Without intervals the prior checks would pass untested, so they are left out too. */
static void what_reads_intervals_is_left_out_with_them(void **state)
{
  (void)state;
  limited l;
  open_limited(&l, 0.001);
  check(idm_check_time_run(&l.q, IDM_CHECK_IDENTIFICATION, check_forever, &support_error));
  check(idm_check_time_run(&l.q, IDM_CHECK_PRIOR_GAP, check_at_once, &support_error));
  assert_string_equal(l.assessment.checks.of[IDM_CHECK_PRIOR_GAP].why, fast);
  assert_int_equal(l.assessment.failures.count, 0);
  close_limited(&l);
}

/* With --checks none, the checks of the draws run and those that read the log are left out. */
static void none_leaves_all_of_the_log_out(void **state)
{
  (void)state;
  const double alpha = 1;
  idm_problem *problem = make_reversal(alpha);
  idm_data *data = simulate_agents(problem, &alpha, 1, 4, 20, 1);
  assessed_fit a;
  assessed_fit_open(&a, problem, data, "alpha");
  const idm_fit_monitor watch = {.check_seconds = -1};
  idm_assessment *none = NULL;
  check(idm_assess_monitored(a.problem, a.data, a.posterior, 1, &watch, &none, &support_error));
  for (int i = 0; i < IDM_CHECK_COUNT; i++) {
    const idm_check_id id = (idm_check_id)i;
    const idm_check *row = idm_check_at((size_t)i);
    if (!idm_check_applies(&none->checks, id)) continue;
    const bool left = row->log && !row->draws;
    if (idm_check_is_left_out(&none->checks, id) != left) fail_msg("%s", row->name);
    if (left) assert_string_equal(none->checks.of[i].why, "left out: --checks none");
  }
  assert_int_equal(none->checks.of[IDM_CHECK_FINITE].outcome, IDM_CHECK_PASSED);
  assert_true(none->trusted);
  assert_non_null(strstr(none->remarks.text[none->remarks.count - 1], "unchecked: identification"));
  idm_assessment_destroy(none);
  assessed_fit_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(in_time_a_check_is_what_it_is),
                                     cmocka_unit_test(a_late_check_leaves_nothing_but_its_rows),
                                     cmocka_unit_test(a_part_is_left_out_alone),
                                     cmocka_unit_test(rows_of_others_stay),
                                     cmocka_unit_test(what_reads_intervals_is_left_out_with_them),
                                     cmocka_unit_test(none_leaves_all_of_the_log_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
