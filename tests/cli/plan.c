/* Tests the plan of a command against the plan of the library, plans from a log, and the notes on
 * them. */
#include "cli/cli.h"
#include "cli/cli_support.h"
#include "cli/common.h"

#include <stdio.h>
#include <string.h>

static const cli_option options[] = {CLI_SET_OPTION, CLI_BATCH_OPTIONS, CLI_END};
static const cli_command command = {
    .name = "solve", .arguments = "PROBLEM", .max_arguments = CLI_ANY_NUMBER, .options = options};

#define CALL(call, ...)                                                                            \
  check(cli_parse((call), &command, sizeof((char *[]){__VA_ARGS__}) / sizeof(char *),              \
                  (char *[]){__VA_ARGS__}))

static void test_plan(void **state)
{
  (void)state;
  cli_call call;
  idm_problem *problem;
  idm_workspace *workspace;
  idm_plan_report report;
  CALL(&call, "--set", "agent.resolution=15");
  check(cli_read_problem(&call, "example:diag", &problem));
  check(cli_plan(&call, problem, NULL, &workspace, &report));
  idm_workspace *plain = support_plan(problem, NULL);
  assert_int_equal(report.stop, IDM_STOP_BOUND);
  assert_int_equal(call.notes.count, 0);
  assert_true(idm_plan_value(workspace, 0, problem->setting->start) ==
              idm_plan_value(plain, 0, problem->setting->start));
  idm_workspace_destroy(plain);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
  cli_call_free(&call);
}

/* At the iteration limit, a plan is returned with a note on its accuracy. */
static void test_limit(void **state)
{
  (void)state;
  cli_call call;
  idm_problem *problem;
  idm_workspace *workspace;
  idm_plan_report report;
  idm_solver solver;
  idm_solver_default(&solver);
  solver.limit = 1;
  CALL(&call, "--set", "agent.resolution=15");
  check(cli_read_problem(&call, "example:diag", &problem));
  check(cli_plan(&call, problem, &solver, &workspace, &report));
  assert_int_equal(report.stop, IDM_STOP_LIMIT);
  assert_int_equal(call.notes.count, 1);
  assert_non_null(strstr(call.notes.text[0], "stopped at its iteration limit"));
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
  cli_call_free(&call);
}

/* `swap` in `b` leads to the state in which `stay` has a reward. The log contains `swap` in `b` but
 * never in `a`, so only the former is learnt. One row of the log is not a transition. */
static const char pair[] =
    "states: [a, b]\nactions: [stay, swap]\nobservations: states\nstart: [1, 0]\ndiscount: 0.5\n"
    "transition: {stay: identity, swap: [[0, 1], [1, 0]]}\n"
    "utility: {stay: [1, 0], swap: 0}\nagent: {planner: q-learning}\n";
static const char log_of_pair[] = "trajectory,step,state,action,observation\n"
                                  "1,1,a,stay,a\n1,2,a,stay,a\n"
                                  "2,1,b,stay,b\n2,2,b,swap,a\n2,3,a,,a\n2,4,a,stay,a\n";

static void test_batch(void **state)
{
  (void)state;
  cli_call call;
  idm_workspace *workspace;
  idm_plan_report report;
  char path[SUPPORT_PATH];
  support_path(path);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(log_of_pair, file) >= 0 && fclose(file) == 0);
  idm_problem *problem = support_yaml(pair);
  CALL(&call, "--batch", path);
  check(cli_plan(&call, problem, NULL, &workspace, &report));
  assert_true(report.stop == IDM_STOP_BUDGET);
  assert_int_equal(call.notes.count, 2);
  assert_non_null(strstr(call.notes.text[0], "the log never takes 'swap' in 'a': "));
  assert_non_null(strstr(call.notes.text[1], "1 rows of "));
  double pi[2];
  idm_plan_policy(workspace, 0, (const double[]){1, 0}, pi, NULL);
  assert_true(pi[0] == 1);
  idm_plan_policy(workspace, 0, (const double[]){0, 1}, pi, NULL);
  assert_true(pi[1] == 1);
  assert_int_equal(remove(path), 0);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
  cli_call_free(&call);
}

static void test_refused(void **state)
{
  (void)state;
  cli_call call;
  idm_workspace *workspace = NULL;
  idm_plan_report report;
  idm_problem *problem = support_yaml(pair);
  CALL(&call, "--rewards");
  assert_int_equal(cli_plan(&call, problem, NULL, &workspace, &report), IDM_USAGE);
  assert_non_null(strstr(call.error.message, "give it by --batch"));
  cli_call_free(&call);
  CALL(&call, "--batch", "no/such.csv");
  assert_int_equal(cli_plan(&call, problem, NULL, &workspace, &report), IDM_INPUT);
  assert_non_null(strstr(call.error.message, "no/such.csv"));
  assert_null(workspace);
  cli_call_free(&call);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plan),
      cmocka_unit_test(test_limit),
      cmocka_unit_test(test_batch),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
