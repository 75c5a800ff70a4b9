/* The table of checks: required fields of every row, and merged results that do not depend on the
 * order of the parts. */
#include "invert/assess.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "invert/assess/context.h"
#include "support.h"

/* Functions of the rows; NULL where the owner records the result. */
static idm_check_function *const function_of[IDM_CHECK_COUNT] = {
#define RUN(id, function, ...) [id] = (function),
#define RECORD(id, ...)        [id] = NULL,
    IDM_CHECK_LIST(RUN, RECORD)
#undef RUN
#undef RECORD
};

static bool is_kebab(const char *name)
{
  for (const char *c = name; *c; c++)
    if (!islower((unsigned char)*c) && *c != '-') return false;
  return islower((unsigned char)name[0]);
}

static void every_row_is_whole(void **state)
{
  (void)state;
  for (size_t i = 0; idm_check_at(i); i++) {
    const idm_check *row = idm_check_at(i);
    char path[300];
    assert_true(is_kebab(row->name));
    for (size_t k = 0; k < i; k++) assert_string_not_equal(row->name, idm_check_at(k)->name);
    assert_int_equal(idm_check_find(row->name), i);
    assert_true(row->measures && row->remedy && row->remedy[0]);
    assert_true(row->sentence && row->sentence[strlen(row->sentence) - 1] == '.');
    assert_true(row->kinds && row->kinds < IDM_CHECK_KINDS);
    assert_true(row->worst >= IDM_CHECK_REMARK && row->worst < IDM_CHECK_OUTCOMES);
    assert_true((function_of[i] != NULL) == (row->owner == NULL));
    if (!row->owner) continue;
    /* The owner is the source file that records the row. */
    snprintf(path, sizeof path, "../src/%s", row->owner);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("%s is recorded by %s, which is not there", row->name, path);
    fclose(file);
  }
  assert_null(idm_check_at(IDM_CHECK_COUNT));
  assert_int_equal(idm_check_find("nothing"), IDM_CHECK_COUNT);
  assert_int_equal(idm_check_find(NULL), IDM_CHECK_COUNT);
  assert_true(isnan(idm_check_threshold(IDM_CHECK_COUNT)));
}

static void words_are_different(void **state)
{
  (void)state;
  for (int i = 0; i < IDM_CHECK_OUTCOMES; i++)
    for (int k = 0; k < i; k++)
      assert_string_not_equal(idm_check_outcome_name((idm_check_outcome)i),
                              idm_check_outcome_name((idm_check_outcome)k));
  assert_null(idm_check_outcome_name(IDM_CHECK_OUTCOMES));
  for (unsigned i = 1; i < IDM_CHECK_KINDS; i <<= 1)
    for (unsigned k = 1; k < i; k <<= 1)
      assert_string_not_equal(idm_check_kind_name((idm_check_kind)i),
                              idm_check_kind_name((idm_check_kind)k));
  assert_null(idm_check_kind_name(IDM_CHECK_KINDS));
  assert_null(idm_check_kind_name((idm_check_kind)0));
}

/* Before any measurement, every applicable row is listed as not run, with a reason. */
static void every_kind_lists_its_rows(void **state)
{
  (void)state;
  for (unsigned kind = 1; kind < IDM_CHECK_KINDS; kind <<= 1) {
    idm_checks checks;
    size_t rows = 0;
    idm_checks_begin(&checks, (idm_check_kind)kind);
    support_check_listed(&checks);
    for (int id = 0; id < IDM_CHECK_COUNT; id++) {
      rows += idm_check_applies(&checks, (idm_check_id)id);
      if (idm_check_applies(&checks, (idm_check_id)id))
        assert_int_equal(checks.of[id].outcome, IDM_CHECK_NOT_RUN);
    }
    assert_true(rows >= 4);
  }
}

/* A value equal to the threshold passes; the next representable number beyond it has the row's
 * consequence. */
static void thresholds_have_a_side(void **state)
{
  (void)state;
  for (int i = 0; i < IDM_CHECK_COUNT; i++) {
    const idm_check_id id = (idm_check_id)i;
    const idm_check *row = idm_check_at((size_t)i);
    const double beyond = nextafter(row->threshold, row->below ? -INFINITY : INFINITY);
    idm_checks checks = {0};
    if (isnan(row->threshold)) {
      assert_false(idm_check_test(&checks, id, 1e300));
      continue;
    }
    assert_false(idm_check_test(&checks, id, row->threshold));
    assert_int_equal(checks.of[i].outcome, IDM_CHECK_PASSED);
    assert_false(idm_check_test_optional(&checks, id, NAN));
    assert_int_equal(checks.of[i].outcome, IDM_CHECK_PASSED);
    assert_true(idm_check_test(&checks, id, beyond));
    assert_int_equal(checks.of[i].outcome, row->worst);
    assert_true(checks.of[i].value == beyond && checks.of[i].threshold == row->threshold);
    /* A later, better value does not replace a worse one. */
    assert_false(idm_check_test(&checks, id, row->threshold));
    assert_true(checks.of[i].value == beyond && checks.of[i].outcome == row->worst);
    assert_true(idm_check_test(&checks, id, NAN));
    assert_true(checks.of[i].value == beyond);
  }
}

static void what_ran_cannot_be_skipped(void **state)
{
  (void)state;
  idm_checks checks;
  idm_checks_begin(&checks, IDM_CHECK_FIT);
  idm_check_skip(&checks, IDM_CHECK_LATTICE, "number %d", 3);
  assert_string_equal(checks.of[IDM_CHECK_LATTICE].why, "number 3");
  idm_check_test(&checks, IDM_CHECK_LATTICE, 0.1);
  assert_string_equal(checks.of[IDM_CHECK_LATTICE].why, "");
  idm_checks_skip_log(&checks, "not at hand");
  assert_int_equal(checks.of[IDM_CHECK_LATTICE].outcome, IDM_CHECK_PASSED);
  assert_string_equal(checks.of[IDM_CHECK_RIDGE].why, "not at hand");
  assert_string_equal(checks.of[IDM_CHECK_RHAT].why, "needs two chains or more");
}

static void notes_go_by_outcome(void **state)
{
  (void)state;
  idm_assessment a = {0};
  assert_ptr_equal(idm_check_note(&a, IDM_CHECK_STEPS, IDM_CHECK_REMARK), &a.remarks);
  assert_ptr_equal(idm_check_note(&a, IDM_CHECK_STEPS, IDM_CHECK_MISFIT), &a.misfits);
  assert_ptr_equal(idm_check_note(&a, IDM_CHECK_RHAT, IDM_CHECK_FAILED), &a.failures);
  assert_int_equal(a.checks.of[IDM_CHECK_STEPS].outcome, IDM_CHECK_MISFIT);
}

/* Results of several people, each with a different set of checks that ran. */
static void make_parts(idm_checks *part, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    idm_checks_begin(&part[i], IDM_CHECK_FIT);
    idm_check_test(&part[i], IDM_CHECK_RHAT, 1 + 0.004 * (double)i);
    idm_check_skip(&part[i], IDM_CHECK_LATTICE, "reason %zu", count - i);
    if (i != 1) idm_check_test(&part[i], IDM_CHECK_CHANCE, i ? 0.001 : 0.5);
    if (i == 1) idm_check_test(&part[i], IDM_CHECK_RIDGE, 0.05);
    if (i == 1)
      idm_check_leave_out(&part[i], IDM_CHECK_IMPORTANCE, 10);
    else
      idm_check_test(&part[i], IDM_CHECK_IMPORTANCE, 0.01);
    if (i == 2) idm_check_leave_out(&part[i], IDM_CHECK_SENSITIVITY, 10);
  }
}

static void parts_merge_in_any_order(void **state)
{
  (void)state;
  enum { PARTS = 4 };
  static const size_t order[][6] = {{0, 1, 2, 3, 3, 0}, {3, 2, 1, 0, 1, 2}, {1, 3, 0, 2, 2, 2}};
  idm_checks part[PARTS], merged[3];
  make_parts(part, PARTS);
  memset(merged, 0, sizeof merged);
  for (size_t k = 0; k < 3; k++) {
    merged[k].kind = IDM_CHECK_SEPARATE;
    for (size_t i = 0; i < 6; i++)
      idm_checks_merge(&merged[k], &part[order[k][i]], IDM_CHECK_REMARK);
    for (int id = 0; id < IDM_CHECK_COUNT; id++) {
      const idm_check_result *a = &merged[0].of[id], *b = &merged[k].of[id];
      assert_int_equal(a->outcome, b->outcome);
      assert_memory_equal(&a->value, &b->value, sizeof a->value);
      assert_memory_equal(&a->threshold, &b->threshold, sizeof a->threshold);
      assert_string_equal(a->why, b->why);
    }
  }
  assert_true(merged[0].of[IDM_CHECK_RHAT].value == part[3].of[IDM_CHECK_RHAT].value);
  assert_int_equal(merged[0].of[IDM_CHECK_RHAT].outcome, IDM_CHECK_FAILED);
  /* A misfit of one person is a remark about all people. */
  assert_int_equal(part[0].of[IDM_CHECK_CHANCE].outcome, IDM_CHECK_MISFIT);
  assert_int_equal(merged[0].of[IDM_CHECK_CHANCE].outcome, IDM_CHECK_REMARK);
  assert_int_equal(merged[0].of[IDM_CHECK_RIDGE].outcome, IDM_CHECK_REMARK);
  assert_string_equal(merged[0].of[IDM_CHECK_LATTICE].why, "reason 1");
  /* Left out for one person, and for all. */
  assert_int_equal(merged[0].of[IDM_CHECK_IMPORTANCE].outcome, IDM_CHECK_PASSED);
  assert_true(idm_check_is_left_out(&merged[0], IDM_CHECK_IMPORTANCE));
  assert_int_equal(merged[0].of[IDM_CHECK_SENSITIVITY].outcome, IDM_CHECK_NOT_RUN);
  assert_string_equal(merged[0].of[IDM_CHECK_SENSITIVITY].why,
                      "left out: --checks fast after 10 s");
  assert_int_equal(idm_checks_left_out(&merged[0]), 2);
}

/* A row that fails without a note leaves no answer trusted: its note comes from the table. */
static void rows_decide_without_notes(void **state)
{
  (void)state;
  static const struct {
    idm_check_id id;
    double value;
    idm_check_outcome outcome;
    const char *words;
  } rows[] = {
      {IDM_CHECK_RHAT, 1.5, IDM_CHECK_FAILED,
       "the check r-hat fails: largest rank-normalised split R-hat is 1.5, expected at most 1.01"},
      {IDM_CHECK_EFFECTIVE, 3, IDM_CHECK_FAILED, "is 3, expected at least 400; raise --draws"},
      {IDM_CHECK_MEAN, NAN, IDM_CHECK_FAILED,
       "the check mean-exists (largest Pareto k of a tail) fails; report quantiles"},
      {IDM_CHECK_INERT, 2, IDM_CHECK_MISFIT, "the check inert"},
      {IDM_CHECK_HEAVY_TAIL, 0.9, IDM_CHECK_REMARK, NULL},
      {IDM_CHECK_RHAT, 1, IDM_CHECK_PASSED, NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    idm_assessment a = {0};
    idm_checks_begin(&a.checks, IDM_CHECK_FIT);
    idm_check_record(&a.checks, rows[i].id, rows[i].outcome, rows[i].value);
    idm_assessment_conclude(&a);
    assert_int_equal(a.trusted, rows[i].words == NULL);
    assert_int_equal(a.failures.count, rows[i].outcome == IDM_CHECK_FAILED);
    assert_int_equal(a.misfits.count, rows[i].outcome == IDM_CHECK_MISFIT);
    const idm_notes *notes = rows[i].outcome == IDM_CHECK_FAILED ? &a.failures : &a.misfits;
    if (rows[i].words && !support_mentions(notes, rows[i].words))
      fail_msg("'%s' is not in '%s'", rows[i].words, notes->text[0]);
    /* A second conclusion adds nothing, and a list with notes stays as it is. */
    idm_assessment_conclude(&a);
    assert_int_equal(a.trusted, rows[i].words == NULL);
    assert_true(a.failures.count + a.misfits.count <= 1);
    idm_notes_clear(&a.failures);
    idm_notes_clear(&a.misfits);
  }
}

/* Parts that ran do not hide a part that was left out. */
static void what_is_left_out_stays_so(void **state)
{
  (void)state;
  idm_checks checks, part;
  idm_checks_begin(&checks, IDM_CHECK_AUDIT);
  idm_checks_begin(&part, IDM_CHECK_AUDIT);
  idm_check_leave_out(&part, IDM_CHECK_DEPENDS, -1);
  idm_checks_merge(&checks, &part, IDM_CHECK_MISFIT);
  assert_false(idm_check_test(&checks, IDM_CHECK_DEPENDS, 0.1));
  assert_int_equal(checks.of[IDM_CHECK_DEPENDS].outcome, IDM_CHECK_PASSED);
  assert_true(idm_check_is_left_out(&checks, IDM_CHECK_DEPENDS));
  assert_true(idm_check_test(&checks, IDM_CHECK_DEPENDS, 2));
  assert_string_equal(checks.of[IDM_CHECK_DEPENDS].why, "left out: --checks none");
  idm_checks_merge(&part, &checks, IDM_CHECK_MISFIT);
  assert_string_equal(part.of[IDM_CHECK_DEPENDS].why, "left out: --checks none");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_left_out_stays_so), cmocka_unit_test(every_row_is_whole),
      cmocka_unit_test(words_are_different),       cmocka_unit_test(every_kind_lists_its_rows),
      cmocka_unit_test(thresholds_have_a_side),    cmocka_unit_test(what_ran_cannot_be_skipped),
      cmocka_unit_test(notes_go_by_outcome),       cmocka_unit_test(parts_merge_in_any_order),
      cmocka_unit_test(rows_decide_without_notes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
