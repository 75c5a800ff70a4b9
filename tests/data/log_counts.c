/* Tests the counts of rows read from a log, and the cut points that are stored in a problem. */
#include "data/log.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

static void test_create(void **state)
{
  (void)state;
  idm_log_counts *log_counts;
  check(idm_log_counts_create(2, 1, &log_counts, &support_error));
  assert_int_equal(log_counts->reasons, 2);
  assert_int_equal(log_counts->cuts, 1);
  assert_true(!log_counts->dropped[1].reason && !log_counts->dropped[1].lost.rows &&
              !log_counts->cut[0].at);
  log_counts->dropped[1].reason = strdup("require age");
  log_counts->cut[0].at = malloc(sizeof(double));
  idm_log_counts_destroy(log_counts);
  check(idm_log_counts_create(0, 0, &log_counts, &support_error));
  idm_log_counts_destroy(log_counts);
  idm_log_counts_destroy(NULL);
}

/* Two columns cut into intervals; the second by standard deviations, which a log converts into
 * numbers. */
static idm_problem *cut_problem(void)
{
  return support_yaml("states: [s]\nactions: [u]\nobservations: [low, high]\ndiscount: 0.5\n"
                      "transition: identity\nobservation: uniform\nutility: {u: 0}\n"
                      "data:\n  observation: level\n  derive:\n"
                      "    side: {cut: weight, at: [70], labels: [light, heavy]}\n"
                      "    level: {cut: dose, sd: [0], labels: [low, high]}\n");
}

static void test_freeze(void **state)
{
  (void)state;
  idm_problem *problem = cut_problem();
  idm_log_counts *log_counts;
  assert_int_equal(problem->columns.derived_count, 2);
  assert_null(problem->columns.derived[1].at);
  check(idm_log_counts_create(0, 1, &log_counts, &support_error));
  log_counts->cut[0] = (idm_breakpoints){.derived = 1, .count = 1, .at = malloc(sizeof(double))};
  log_counts->cut[0].at[0] = 2.5;
  check(idm_problem_set_breaks(problem, log_counts, &support_error));
  assert_true(problem->columns.derived[1].at[0] == 2.5);
  assert_true(problem->columns.derived[0].at[0] == 70);
  log_counts->cut[0].at[0] = 3; /* the problem has a copy, so that it is not affected */
  assert_true(problem->columns.derived[1].at[0] == 2.5);
  check(idm_problem_set_breaks(problem, log_counts, &support_error));
  assert_true(problem->columns.derived[1].at[0] == 3);
  idm_log_counts_destroy(log_counts);
  idm_problem_destroy(problem);
}

static void test_others(void **state)
{
  (void)state;
  idm_problem *problem = cut_problem();
  idm_log_counts *log_counts;
  idm_error error = {0};
  check(idm_log_counts_create(0, 1, &log_counts, &support_error));
  log_counts->cut[0] = (idm_breakpoints){.derived = 2, .count = 1, .at = calloc(2, sizeof(double))};
  assert_int_equal(idm_problem_set_breaks(problem, log_counts, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "of another problem's columns"));
  log_counts->cut[0].derived = 1;
  log_counts->cut[0].count = 2;
  assert_int_equal(idm_problem_set_breaks(problem, log_counts, &error), IDM_USAGE);
  assert_null(problem->columns.derived[1].at);
  idm_log_counts_destroy(log_counts);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_create), cmocka_unit_test(test_freeze),
                                     cmocka_unit_test(test_others)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
