/* Tests the options of planners that search: their limits, the planners that refuse them, and the
 * monitor of the bounds. */
#include "base/system.h"
#include "cli/cli.h"
#include "cli/cli_support.h"
#include "cli/common.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static const cli_option options[] = {CLI_SET_OPTION,
                                     {.name = "gap", .kind = CLI_TEXT, .value = "G"},
                                     {.name = "seconds", .kind = CLI_TEXT, .value = "S"},
                                     {.name = "alpha", .kind = CLI_TEXT, .value = "FILE"},
                                     CLI_JSON_OPTION,
                                     CLI_END};
static const cli_command command = {
    .name = "solve", .arguments = "PROBLEM", .max_arguments = CLI_ANY_NUMBER, .options = options};

/* Seconds already elapsed when a search begins. */
static const double elapsed = 0.5;

/* Begins a search with one option and its value (NULL: none). */
static idm_status begin(const char *planner, char *option, char *value, cli_search *search,
                        idm_error *error)
{
  cli_call call;
  idm_problem *problem;
  check(cli_parse(&call, &command, option ? 2 : 0, (char *[]){option, value}));
  check(idm_problem_read("example:tiger", &problem, NULL, &support_error));
  check(idm_problem_set_planner(problem, idm_planner_find(planner), &support_error));
  const idm_status status = cli_search_begin(&call, problem, idm_seconds() - elapsed, search);
  *error = call.error;
  idm_problem_destroy(problem);
  cli_call_free(&call);
  return status;
}

static void test_options(void **state)
{
  (void)state;
  cli_search search;
  idm_error error;
  check(begin("point-based", NULL, NULL, &search, &error));
  assert_true(search.goal == 1e-3 && search.solver.seconds == 0);
  assert_true(search.solver.opt_monitor == cli_search_watch);
  check(begin("point-based", "--gap", "0.25", &search, &error));
  assert_true(search.goal == 0.25);
  check(begin("point-based", "--seconds", "1.5", &search, &error));
  assert_true(search.solver.seconds > 0 && search.solver.seconds <= 1.5 - elapsed);
  check(begin("point-based", "--seconds", "0.25", &search, &error));
  assert_true(search.solver.seconds > 0 && search.solver.seconds < 1e-9);
  static char *const refused[][2] = {{"--gap", "0"},      {"--gap", "-1"},    {"--gap", "nan"},
                                     {"--gap", "small"},  {"--seconds", "0"}, {"--seconds", "-2"},
                                     {"--seconds", "nan"}};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    assert_int_equal(begin("point-based", refused[i][0], refused[i][1], &search, &error),
                     IDM_USAGE);
    assert_non_null(strstr(error.message, refused[i][0] + 2));
    assert_non_null(strstr(error.message, "expected a finite number above 0"));
  }
}

static void test_others(void **state)
{
  (void)state;
  cli_search search;
  idm_error error;
  static char *const given[][2] = {{"--gap", "1"}, {"--seconds", "1"}, {"--alpha", "x.alpha"}};
  check(begin("rational", NULL, NULL, &search, &error));
  assert_null(search.solver.opt_monitor);
  for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
    assert_int_equal(begin("rational", given[i][0], given[i][1], &search, &error), IDM_USAGE);
    assert_non_null(strstr(error.message, given[i][0]));
    assert_non_null(strstr(error.message, "'rational'"));
  }
}

/* Without a request to stop the search continues; the first gap is the reference for progress. */
static void test_watch(void **state)
{
  (void)state;
  cli_search search;
  idm_error error;
  check(begin("point-based", NULL, NULL, &search, &error));
  assert_false(cli_search_watch(&search, 1, 3));
  assert_false(cli_search_watch(&search, 1.5, 2));
  assert_false(cli_search_watch(&search, 1.75, 1.75));
  assert_true(search.first == 2 && search.lower == 1.75 && search.upper == 1.75);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_options),
      cmocka_unit_test(test_others),
      cmocka_unit_test(test_watch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
