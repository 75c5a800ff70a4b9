/* Results of checks in summary.json: written and read back, of an older run, of another version. */
#include "io/run/folder.h"

#include <math.h>
#include <string.h>

#include "invert/assess.h"
#include "io/run/run_support.h"

static const char *const names[] = {"inverse_beta", "beta"};

static void same_results(const idm_checks *a, const idm_checks *b)
{
  assert_int_equal(a->kind, b->kind);
  for (int id = 0; id < IDM_CHECK_COUNT; id++) {
    const idm_check_result *x = &a->of[id], *y = &b->of[id];
    assert_int_equal(x->outcome, y->outcome);
    assert_true(x->value == y->value || (isnan(x->value) && isnan(y->value)));
    assert_true(x->threshold == y->threshold || (isnan(x->threshold) && isnan(y->threshold)));
    assert_string_equal(x->why, y->why);
  }
}

/* One of everything. */
static void fill(idm_checks *checks)
{
  idm_checks_begin(checks, IDM_CHECK_FIT);
  idm_check_test(checks, IDM_CHECK_RHAT, 1.5);
  idm_check_test(checks, IDM_CHECK_EFFECTIVE, INFINITY);
  idm_check_record(checks, IDM_CHECK_STEPS, IDM_CHECK_REMARK, 0.001);
  checks->of[IDM_CHECK_STEPS].threshold = 0.002;
  idm_check_test(checks, IDM_CHECK_INERT, 2);
  idm_check_skip(checks, IDM_CHECK_LATTICE, "a \"reason\"");
}

static void test_there_and_back(void **state)
{
  (void)state;
  idm_checks checks, back;
  fill(&checks);
  json_t *array = idm_checks_array(&checks);
  assert_true(json_array_size(array) > 10);
  idm_checks_begin(&back, IDM_CHECK_FIT);
  idm_checks_read(array, &back);
  same_results(&checks, &back);
  /* A row that ran since stays where it was not run then, and where it fails now. */
  idm_check_test(&back, IDM_CHECK_LATTICE, 0.1);
  idm_check_test(&back, IDM_CHECK_EFFECTIVE, 3);
  idm_check_test(&back, IDM_CHECK_RHAT, 7);
  back.of[IDM_CHECK_STEPS].outcome = IDM_CHECK_PASSED;
  idm_checks_read(array, &back);
  assert_int_equal(back.of[IDM_CHECK_LATTICE].outcome, IDM_CHECK_PASSED);
  assert_int_equal(back.of[IDM_CHECK_EFFECTIVE].outcome, IDM_CHECK_FAILED);
  assert_int_equal(back.of[IDM_CHECK_STEPS].outcome, IDM_CHECK_REMARK);
  json_decref(array);
}

/* Rows that this version does not have are passed over, and those that it has are not recorded. */
static void test_other_versions(void **state)
{
  (void)state;
  static const char *const texts[] = {
      "[{\"name\": \"later\", \"outcome\": \"passed\", \"value\": 1}]",
      "[{\"name\": \"r-hat\", \"outcome\": \"excellent\", \"value\": \"much\"}]",
      "[{\"name\": \"r-hat\"}, {\"name\": 3}, 7, null, [], \"r-hat\"]",
      "[]",
      "{}",
      "3"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    idm_checks checks;
    json_t *array = json_loads(texts[i], JSON_DECODE_ANY, NULL);
    assert_non_null(array);
    idm_checks_begin(&checks, IDM_CHECK_FIT);
    idm_checks_read(array, &checks);
    for (int id = 0; id < IDM_CHECK_COUNT; id++)
      assert_int_equal(checks.of[id].outcome, IDM_CHECK_UNRECORDED);
    json_decref(array);
  }
}

/* A summary of a run, with its array of checks and, as an older version wrote it, without. */
static void test_runs(void **state)
{
  const folder *f = *state;
  idm_posterior *p = made_up(2, 50, names, 2, true);
  idm_assessment *a, *back;
  check(idm_assess_draws(p, &a, &support_error));
  idm_check_test(&a->checks, IDM_CHECK_LATTICE, 0.25);
  check(idm_posterior_write_summary(p, a, NULL, f->file, &support_error));
  check(idm_assess_draws(p, &back, &support_error));
  check(idm_summary_read(f->file, p, back, &support_error));
  same_results(&a->checks, &back->checks);
  idm_assessment_destroy(back);
  json_error_t where;
  json_t *summary = json_load_file(f->file, 0, &where);
  assert_int_equal(json_object_del(summary, "checks"), 0);
  assert_int_equal(json_dump_file(summary, f->file, 0), 0);
  json_decref(summary);
  check(idm_assess_draws(p, &back, &support_error));
  check(idm_summary_read(f->file, p, back, &support_error));
  assert_int_equal(back->trusted, a->trusted);
  assert_int_equal(back->failures.count, a->failures.count);
  for (int id = 0; id < IDM_CHECK_COUNT; id++)
    assert_int_equal(back->checks.of[id].outcome, IDM_CHECK_UNRECORDED);
  idm_assessment_destroy(back);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
}

/* A file whose verdict contradicts its rows: the rows count. */
static void test_rows_decide(void **state)
{
  const folder *f = *state;
  idm_posterior *p = made_up(2, 2000, names, 2, true);
  idm_assessment *a, *back;
  check(idm_assess_draws(p, &a, &support_error));
  idm_notes_clear(&a->failures);
  idm_checks_begin(&a->checks, IDM_CHECK_FIT);
  a->trusted = true;
  for (int failed = 0; failed < 2; failed++) {
    if (failed) idm_check_test(&a->checks, IDM_CHECK_LATTICE, 7);
    check(idm_posterior_write_summary(p, a, NULL, f->file, &support_error));
    back = calloc(1, sizeof *back);
    assert_non_null(back);
    back->trusted = true;
    idm_checks_begin(&back->checks, IDM_CHECK_FIT);
    check(idm_summary_read(f->file, p, back, &support_error));
    assert_int_equal(back->trusted, !failed);
    assert_int_equal(support_mentions(&back->failures, "the check lattice fails"), failed);
    idm_assessment_destroy(back);
  }
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
}

/* What was not measured is not there. */
static void test_depends(void **state)
{
  (void)state;
  static const idm_check_outcome outcome[] = {IDM_CHECK_NOT_RUN, IDM_CHECK_PASSED,
                                              IDM_CHECK_REMARK};
  for (size_t i = 0; i < 3; i++)
    for (int also = 0; also < 2; also++) {
      idm_checks checks = {.kind = IDM_CHECK_AUDIT};
      json_t *verdict = json_object();
      checks.of[IDM_CHECK_DEPENDS].outcome = outcome[i];
      idm_checks_put_depends(&verdict, &checks, also);
      const json_t *depends = json_object_get(verdict, "depends_on_dynamics");
      assert_int_equal(depends != NULL, i > 0 || also);
      assert_int_equal(json_is_true(depends), i == 2 || also);
      json_decref(verdict);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_other_versions),
      cmocka_unit_test(test_depends),
      cmocka_unit_test_setup_teardown(test_runs, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_rows_decide, make_folder, remove_folder)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
