/* Rules, and rows that are held until they are coded: what each rule takes, and what is refused. */
#include "io/log/log.h"

#include "io/log/coding_support.h"

static void test_rules_are_counted(void **state)
{
  (void)state;
  idm_problem *problem = problem_with(coding);
  idm_data *data = read_log(problem, table);
  const idm_log_counts *log_counts = data->log_counts;
  assert_int_equal(log_counts->reasons, 6);
  expect_count(log_counts->read, 12, 6);
  expect_count(log_counts->dropped[0].lost, 2, 1);
  expect_count(log_counts->dropped[1].lost, 2, 1);
  expect_count(log_counts->dropped[2].lost, 1, 0);
  expect_count(log_counts->dropped[3].lost, 1, 0);
  expect_count(log_counts->dropped[4].lost, 2, 1);
  expect_count(log_counts->dropped[5].lost, 2, 2);
  expect_count(log_counts->kept, 2, 1);
  assert_int_equal(log_counts->dropped[0].missing, 2);
  assert_int_equal(log_counts->dropped[1].missing, 1);
  assert_int_equal(log_counts->dropped[2].missing, 0);
  assert_string_equal(log_counts->dropped[1].reason, "keep age>=50");
  assert_int_equal(log_counts->truncated, 1);
  assert_int_equal(log_counts->truncated_by_where, 0);
  assert_int_equal(log_counts->unsorted, 1);
  assert_true(log_counts->timed);
  assert_false(log_counts->coded);
  size_t agents = log_counts->kept.agents;
  for (size_t i = 0; i < log_counts->reasons; i++) agents += log_counts->dropped[i].lost.agents;
  assert_int_equal(agents, log_counts->read.agents);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A part of a log is coded as the whole. */
static void test_where_leaves_cuts_alone(void **state)
{
  (void)state;
  idm_problem *problem = problem_with(coding);
  const char *where = "id=1";
  const idm_csv_options options = {.where = &where, .where_count = 1};
  idm_data *data;
  check(idm_data_parse_csv(table, strlen(table), "t.csv", problem, &options, &data, NULL,
                           &support_error));
  assert_near(data->log_counts->cut[0].mean, 30, 1e-12);
  expect_count(data->log_counts->dropped[0].lost, 9, 5);
  expect_count(data->log_counts->kept, 2, 1);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void test_duplicates(void **state)
{
  (void)state;
  static const char log[] = "id,t,u,o\n1,0,test,low/no\n1,6,test,low/no\n1,0,wait,high/no\n"
                            "1,6,wait,high/yes\n1,0,wait,high/yes\n";
  static const char *const sections[] = {
      "{trajectory: id, time: t, action: u, observation: o, rules: [{duplicates: first}]}",
      "{trajectory: id, time: t, action: u, observation: o, rules: [{duplicates: last}]}"};
  static const char *const labels[] = {"low/no", "high/yes"};
  for (size_t i = 0; i < 2; i++) {
    idm_problem *problem = problem_with(sections[i]);
    idm_data *data = read_log(problem, log);
    assert_int_equal(data->rows, 2);
    assert_int_equal(data->log_counts->dropped[0].lost.rows, 3);
    for (size_t row = 0; row < 2; row++)
      assert_string_equal(problem->setting->observations.name[data->observation[row]], labels[i]);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
  /* Without the rule they are an error, with rules or not, and a rule does not hide them. */
  expect_fault("{trajectory: id, time: t, action: u, observation: o}", log, NULL, 4,
               "lines 2 and 4 of one trajectory have the same time; remove one");
  expect_fault(
      "{trajectory: id, time: t, action: u, observation: o, rules: [{truncate: {column: t, "
      "every: 6}}]}",
      log, NULL, 4, "lines 2 and 4 of one trajectory have the same time; remove one");
  expect_fault("{trajectory: id, action: u, observation: o, rules: [{duplicates: first}]}",
               "id,u,o\n1,test,low/no\n", NULL, 1, "needs a time");
}

static void test_faults(void **state)
{
  (void)state;
  static const char header[] = "id,month,age,site,rating,volume,dx\n";
  char log[300];
  snprintf(log, sizeof log, "%s1,0,60,u,\"1,5\",2,well\n", header);
  expect_fault(coding, log, NULL, 2,
               "'1,5' in column 'rating'; expected a finite number (with a "
               "decimal point)");
  snprintf(log, sizeof log, "%s1,0,old,u,1,2,well\n", header);
  expect_fault(coding, log, NULL, 2,
               "'old' is no number, and the rule keep age>=50 compares numbers");
  snprintf(log, sizeof log, "%s1,0,60,u,1,2,well\n1,6,60,u,1,2,well\n", header);
  expect_fault(coding, log, NULL, 1, "cuts 'volume' in standard deviations");
  snprintf(log, sizeof log, "%s1,0,60,u,1,2,ill\n1,6,60,u,1,3,ill\n", header);
  expect_fault(coding, log, NULL, 1, "none of the 2 rows is left by ends dx in sick, well (2)");
  expect_fault(coding, table, "scan=no", 1, "computed only after all rows are read");
  expect_fault(coding, "id,month,age,site,rating,dx\n1,0,60,u,1,well\n", NULL, 1,
               "no column 'volume' (data.derive.act)");
  expect_fault("{trajectory: id, action: u, observation: o, rules: [{require: dx}]}",
               "id,u,o\n1,test,low/no\n", NULL, 1, "no column 'dx' (rule: require dx)");
  expect_fault("{trajectory: id, action: u, observation: o, derive: {u: {recode: x, labels: {1: "
               "test}}}}",
               "id,x,o\n1,1,low/no\n1,2,low/no\n", NULL, 3,
               "'2' in column 'x' is none of the texts of data.derive.u (1); add it to its labels");
  expect_fault("{trajectory: id, action: u, observation: o, derive: {o: {product: [c, s]}}}",
               "id,u,c,s\n1,test,low,\n", NULL, 2, "'s' is missing here");
  expect_fault("{trajectory: id, action: u, observation: o, derive: {u: {recode: x, else: test}}}",
               "id,x,u,o\n1,1,test,low/no\n", NULL, 1, "a column 'u', which data.derive computes");
}

/* A row that a rule leaves out need not make sense. */
static void test_dropped_rows_are_not_coded(void **state)
{
  (void)state;
  idm_problem *problem = problem_with(
      "{trajectory: id, action: u, observation: o, derive: {u: {recode: x, labels: {1: "
      "test}}}, rules: [{drop: x=unknown}]}");
  idm_data *data = read_log(problem, "id,x,o\n1,1,low/no\n1,unknown,nonsense\n");
  assert_int_equal(data->rows, 1);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* What `simulate` writes holds the derived columns, and is read as it stands. */
static void test_coded_logs(void **state)
{
  (void)state;
  idm_problem *problem = problem_with(coding);
  idm_notes notes = {0};
  idm_data *data;
  static const char log[] = "id,month,act,cdr,scan\n1,0,test,low,no\n1,1,wait,high,none\n";
  check(
      idm_data_parse_csv(log, strlen(log), "t.csv", problem, NULL, &data, &notes, &support_error));
  assert_true(data->log_counts->coded);
  expect_count(data->log_counts->read, 2, 1);
  expect_count(data->log_counts->kept, 2, 1);
  assert_int_equal(notes.count, 1);
  assert_non_null(strstr(notes.text[0], "read unchanged"));
  idm_notes_clear(&notes);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Rows that cannot be read are all found, and the first is the error. */
static void test_all_faults(void **state)
{
  (void)state;
  idm_problem *problem = problem_with("{trajectory: id, action: u, observation: o}");
  idm_error shown[2];
  idm_read_errors faults = {.room = 2, .shown = shown};
  const idm_csv_options options = {.opt_faults = &faults};
  idm_error error = {0};
  idm_data *data;
  static const char log[] = "id,u,o\n1,test,low/no\n1,tset,low/no\n1,test,lo/no\n,test,low/no\n";
  assert_int_equal(
      idm_data_parse_csv(log, strlen(log), "t.csv", problem, &options, &data, NULL, &error),
      IDM_INPUT);
  assert_int_equal(faults.count, 3);
  assert_int_equal(shown[0].line, 3);
  assert_int_equal(shown[1].line, 4);
  assert_int_equal(error.line, 3);
  assert_non_null(strstr(error.message, "'tset' is no action; expected one of: test, wait"));
  assert_non_null(strstr(error.message, "did you mean 'test'?"));
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rules_are_counted),
      cmocka_unit_test(test_where_leaves_cuts_alone),
      cmocka_unit_test(test_duplicates),
      cmocka_unit_test(test_faults),
      cmocka_unit_test(test_dropped_rows_are_not_coded),
      cmocka_unit_test(test_coded_logs),
      cmocka_unit_test(test_all_faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
