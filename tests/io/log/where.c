/* Conditions on rows: which are read, and what is wrong with a condition. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/log/log_support.h"

static size_t rows_where(const idm_problem *problem, const char *const *where, size_t count)
{
  static const char log[] = "agent,block,action,observation,a=b\n"
                            "p,1,left,win,x\np,2.0,left,loss,y\nq,2,right,win,\nr,3,left,,NA\n";
  const idm_csv_options options = {.where = where, .where_count = count};
  idm_notes notes = {0};
  idm_data *data = log_parse_keeping(problem, log, &options, &notes);
  const size_t rows = data->rows;
  assert_true(notes.count >= 1);
  char words[60];
  snprintf(words, sizeof words, "%zu of 4 rows are read, %zu are left out", rows, 4 - rows);
  assert_non_null(strstr(notes.text[0], words));
  idm_notes_clear(&notes);
  idm_data_destroy(data);
  return rows;
}

#define ROWS_WHERE(problem, ...)                                                                   \
  rows_where(problem, (const char *const[]){__VA_ARGS__},                                          \
             sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void test_where(void **state)
{
  (void)state;
  idm_problem *problem = log_bandit();
  assert_int_equal(ROWS_WHERE(problem, "agent=p"), 2);
  assert_int_equal(ROWS_WHERE(problem, "agent!=p"), 2);
  assert_int_equal(ROWS_WHERE(problem, "agent=p", "agent=q"), 3);
  assert_int_equal(ROWS_WHERE(problem, "agent!=p", "agent!=q"), 1);
  assert_int_equal(ROWS_WHERE(problem, "agent=p", "observation=win"), 1);
  assert_int_equal(ROWS_WHERE(problem, "block=2"), 2);
  assert_int_equal(ROWS_WHERE(problem, "block=1e0"), 1);
  assert_int_equal(ROWS_WHERE(problem, "a=b=y"), 1);
  assert_int_equal(ROWS_WHERE(problem, "a=b="), 1);
  assert_int_equal(ROWS_WHERE(problem, "a=b!="), 3);
  SUPPORT_NAMES(&problem->columns.missing, "NA");
  assert_int_equal(ROWS_WHERE(problem, "a=b="), 2);
  idm_problem_destroy(problem);
}

static void test_where_errors(void **state)
{
  (void)state;
  static const char log[] = "agent,action,observation\np,left,win\np,right,win\n";
  idm_problem *problem = log_bandit();
  idm_data *data;
  idm_error error = {0};
  idm_notes notes = {0};
  const char *where[] = {"block=1"};
  const idm_csv_options options = {.where = where, .where_count = 1};
  log_expect_error_with(problem, log, &options, 1, 1, "no column 'block' (--where)");
  where[0] = "agent";
  assert_int_equal(
      idm_data_parse_csv(log, strlen(log), "l", problem, &options, &data, NULL, &error), IDM_USAGE);
  where[0] = "agent=z";
  assert_int_equal(
      idm_data_parse_csv(log, strlen(log), "l", problem, &options, &data, NULL, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "none of the 2 rows is left by --where agent=z"));
  /* A trajectory that loses some of its rows is a warning. */
  where[0] = "action!=left";
  idm_data_destroy(log_parse_keeping(problem, log, &options, &notes));
  assert_int_equal(notes.count, 2);
  assert_non_null(strstr(notes.text[1], "leaves 1 trajectory in part"));
  idm_notes_clear(&notes);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_where),
      cmocka_unit_test(test_where_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
