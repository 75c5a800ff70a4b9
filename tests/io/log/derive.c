/* Cells that a problem makes from those of a log: cuts, recodings, products, the next visit. */
#include <math.h>

#include "io/log/coding_support.h"

static void test_cuts_in_deviations(void **state)
{
  (void)state;
  idm_problem *problem = problem_with(coding);
  idm_data *data = read_log(problem, table);
  assert_int_equal(data->log_counts->cuts, 1);
  const idm_breakpoints *cut = &data->log_counts->cut[0];
  assert_int_equal(cut->rows, 5);
  assert_near(cut->mean, 30, 1e-12);
  assert_near(cut->sd, sqrt(250), 1e-12);
  assert_near(cut->at[0], 30, 1e-12);
  /* Volumes 10 and 30 are not above the cut; ratings 1 and 3 are below and above theirs. */
  assert_string_equal(problem->setting->observations.name[data->observation[0]], "low/no");
  assert_string_equal(problem->setting->observations.name[data->observation[1]], "high/no");
  assert_int_equal(data->action[0], 0);
  assert_int_equal(data->line[0], 3);
  assert_int_equal(data->line[1], 2);
  /* Frozen: another log is cut at the same place, and a problem that is written holds it. */
  check(idm_problem_set_breaks(problem, data->log_counts, &support_error));
  assert_near(problem->columns.derived[2].at[0], 30, 1e-12);
  idm_data *other = read_log(problem, "id,month,age,site,rating,volume,dx\n1,0,60,u,1,31,well\n"
                                      "1,6,60,u,1,1000,well\n");
  assert_int_equal(other->log_counts->cuts, 0);
  assert_string_equal(problem->setting->observations.name[other->observation[0]], "low/yes");
  idm_data_destroy(other);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void expect_labels(const char *section, const char *log, const char *const *labels)
{
  idm_problem *problem = problem_with(section);
  idm_data *data = read_log(problem, log);
  for (size_t row = 0; row < data->rows; row++) {
    const int32_t seen = data->observation[row];
    assert_string_equal(seen < 0 ? "" : problem->setting->observations.name[seen], labels[row]);
  }
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void test_derivations(void **state)
{
  (void)state;
  /* Points belong to the interval below them, or above. */
  static const char *const right[] = {"low/no", "low/yes", "high/none", "low/no"};
  expect_labels("{trajectory: id, action: u, observation: both, derive: {\n"
                " cdr: {cut: x, at: [2], labels: [low, high]},\n"
                " scan: {recode: s, labels: {1: 'no', two: 'yes'}, missing: none},\n"
                " both: {product: [cdr, scan]}}}",
                "id,u,x,s\n1,test,1,1\n1,test,2,two\n1,wait,2.5,\n1,wait,-1e3,1.0\n", right);
  static const char *const left[] = {"low/no", "high/no"};
  expect_labels("{trajectory: id, action: u, observation: [cdr, scan], derive: {\n"
                " cdr: {cut: x, at: [2], closed: left, labels: [low, high]}}}",
                "id,u,x,scan\n1,test,1,no\n1,test,2,no\n", left);
  /* The next visit is the next row that is kept, in the order of time; the last has none. */
  static const char *const next[] = {"high/no", "low/yes", ""};
  expect_labels(
      "{trajectory: id, time: t, action: u, observation: after, derive: {after: {next: o}},"
      " rules: [{require: u}]}",
      "id,t,u,o\n1,3,test,low/yes\n1,1,test,low/none\n1,2,,high/none\n1,1.5,wait,high/no\n", next);
  static const char *const filled[] = {"low/yes", "low/none"};
  expect_labels(
      "{trajectory: id, action: u, observation: after, derive: {after: {next: o, missing: "
      "low/none}}}",
      "id,u,o\n1,test,low/no\n1,test,low/yes\n", filled);
}

/* Points belong to the interval below them or above, at every point of several; texts that are one
 * number stand for each other. */
static void test_ends_of_intervals(void **state)
{
  (void)state;
  static const char *const below[] = {"low/no", "low/no", "low/yes", "low/yes", "low/none"};
  static const char *const above[] = {"low/no", "low/yes", "low/yes", "low/none", "low/none"};
  static const char log[] = "id,u,x,c\n1,test,0,a\n1,test,1,a\n1,test,1.5,a\n1,test,2.0,a\n"
                            "1,test,2e1,a\n";
  for (int left = 0; left < 2; left++) {
    char section[400];
    snprintf(section, sizeof section,
             "{trajectory: id, action: u, observation: [cdr, scan], derive: {\n"
             " scan: {cut: x, at: [1, 2], labels: [no, yes, none]%s},\n"
             " cdr: {recode: c, labels: {a: low}}}}",
             left ? ", closed: left" : "");
    expect_labels(section, log, left ? above : below);
  }
}

/* One part of a product that is missing is an error at its place, unless it has a label. */
static void test_holes(void **state)
{
  (void)state;
  static const char log[] = "id,u,c,s\n1,test,,no\n1,test,low,\n1,test,,\n";
  expect_fault("{trajectory: id, action: u, observation: o, derive: {o: {product: [c, s]}}}", log,
               NULL, 2, "'c' is missing here and the other columns of data.derive.o are not");
  static const char *const filled[] = {"low/none", "low/none", "low/none"};
  expect_labels("{trajectory: id, action: u, observation: o, derive: {o: {product: [c, s], "
                "missing: low/none}}}",
                log, filled);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cuts_in_deviations),
      cmocka_unit_test(test_derivations),
      cmocka_unit_test(test_ends_of_intervals),
      cmocka_unit_test(test_holes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
