/* Tests what several commands share: --set, --where, --draw, utilities of columns, files, JSON.
 *
 * Contents: problems and --set · logs and --where · draws · files and JSON */
#include "cli/common.h"
#include "cli/cli.h"
#include "cli/cli_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const cli_option options[] = {CLI_SET_OPTION, CLI_WHERE_OPTION, CLI_JSON_OPTION, CLI_END};
static const cli_command command = {
    .name = "solve", .arguments = "PROBLEM", .max_arguments = CLI_ANY_NUMBER, .options = options};

#define CALL(call, ...)                                                                            \
  check(cli_parse((call), &command, sizeof((char *[]){__VA_ARGS__}) / sizeof(char *),              \
                  (char *[]){__VA_ARGS__}))

/* Checks the status and that the message contains `words`; frees the call. */
static void expect(cli_call *call, idm_status status, idm_status expected, const char *words)
{
  assert_int_equal(status, expected);
  if (!strstr(call->error.message, words))
    fail_msg("'%s' is not in '%s'", words, call->error.message);
  cli_call_free(call);
}

/* --- problems and --set --------------------------------------------------------------------- */

static void test_set(void **state)
{
  (void)state;
  cli_call call;
  idm_problem *problem;
  CALL(&call, "--set", "agent.alpha=2", "--set", "discount=0.5", "--set", "agent.alpha=3");
  check(cli_read_problem(&call, "example:diag", &problem));
  assert_true(idm_theta_scalar(problem->theta, IDM_ALPHA) == 3);
  assert_true(idm_theta_scalar(problem->theta, IDM_DISCOUNT) == 0.5);
  idm_problem_destroy(problem);
  cli_call_free(&call);
}

/* An error caused by --set is a usage error; an error of the file itself is an input error. */
static void test_set_refused(void **state)
{
  (void)state;
  cli_call call;
  idm_problem *problem;
  CALL(&call, "--set", "agent.aplha=2");
  expect(&call, cli_read_problem(&call, "example:diag", &problem), IDM_USAGE, "aplha");
  assert_null(problem);
  CALL(&call, "--set", "discount=1");
  expect(&call, cli_read_problem(&call, "example:diag", &problem), IDM_USAGE, "discount");
  CALL(&call, "x");
  expect(&call, cli_read_problem(&call, "no/such.yaml", &problem), IDM_INPUT, "no/such.yaml");
}

/* Utilities from columns are refused without a log, replaced by numbers of --set, and restored from
 * the file. */
static void test_columns(void **state)
{
  (void)state;
  cli_call call;
  cli_input input;
  CALL(&call, "example:beads");
  check(cli_input_open(&call, call.argument[0], &input));
  assert_null(input.posterior);
  assert_int_equal(cli_check_utilities(&call, input.problem), IDM_USAGE);
  assert_string_equal(call.error.message,
                      "the utility of 'draw' comes from the data column 'draw_cost'; set a "
                      "number, as in --set utility.draw.high=1");
  cli_input_close(&input);
  cli_call_free(&call);
  CALL(&call, "example:beads", "--set", "utility.draw=-1", "--set", "utility.bet_high=0", "--set",
       "utility.bet_low=[0, 1]");
  check(cli_input_open(&call, call.argument[0], &input));
  check(cli_check_utilities(&call, input.problem));
  assert_int_equal(input.problem->utility_sources, 0);
  assert_true(idm_theta_values(input.problem->theta, IDM_UTILITY, 0)[0] == -1);
  cli_restore_columns(&input);
  assert_int_equal(input.problem->utility_sources, 6);
  assert_string_equal(input.problem->columns.utility.name[0], "draw_cost");
  assert_null(input.utility_source);
  cli_input_close(&input);
  cli_call_free(&call);
}

/* --- logs and --where ----------------------------------------------------------------------- */

static void test_lines(void **state)
{
  (void)state;
  cli_call call;
  idm_request request;
  char text[40];
  CALL(&call, "problem", "a.csv", "b.csv", "--where", "site=x", "--where=age>3");
  check(cli_data_paths(&call, 1, text, sizeof text));
  assert_string_equal(text, "a.csv\nb.csv");
  check(cli_where(&call, text, sizeof text));
  assert_string_equal(text, "site=x\nage>3");
  assert_int_equal(cli_where(&call, text, 9), IDM_USAGE);
  /* --where has precedence over the condition of the run; a note reports a condition taken from the
   * run. */
  idm_request_default(&request);
  strcpy(request.where, "site=y");
  check(cli_run_where(&call, &request, text, sizeof text));
  assert_string_equal(text, "site=x\nage>3");
  assert_int_equal(call.notes.count, 0);
  cli_call_free(&call);
  CALL(&call, "run");
  check(cli_run_where(&call, &request, text, sizeof text));
  assert_string_equal(text, "site=y");
  assert_int_equal(call.notes.count, 1);
  check(cli_run_where(&call, NULL, text, sizeof text));
  assert_string_equal(text, "");
  cli_call_free(&call);
}

#define LOG                                                                                        \
  "agent,trajectory,time,action,observation\n"                                                     \
  "1,t,0,monitor,positive\n1,t,1,declare_healthy,\n1.0,u,0,monitor,negative\n"                     \
  "1.0,u,1,declare_healthy,\n01,v,0,declare_healthy,\nx,w,0,declare_diseased,\n"

static void put(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

/* A log is read by its path and filtered by --where; errors have a line and a column. */
static void test_log(void **state)
{
  (void)state;
  char path[SUPPORT_PATH];
  cli_call call;
  idm_problem *problem;
  idm_data *data;
  support_path(path);
  put(path, LOG);
  CALL(&call, "--where", "agent=x");
  check(cli_read_problem(&call, "example:diag", &problem));
  check(cli_read_data(&call, path, problem, 0, &data));
  assert_int_equal(data->trajectories, 1);
  assert_int_equal(data->rows, 1);
  idm_data_destroy(data);
  check(cli_read_log(&call, path, "", problem, 0, &data));
  assert_int_equal(data->trajectories, 4);
  idm_data_destroy(data);
  put(path, "agent,trajectory,time,action,observation\na,t,0,monitr,positive\n");
  assert_int_equal(cli_read_log(&call, path, "", problem, 0, &data), IDM_INPUT);
  assert_null(data);
  support_expect_place(&call.error, 2, 7, "monitr");
  idm_problem_destroy(problem);
  cli_call_free(&call);
  remove(path);
}

/* Labels that are equal as numbers: the note names the first pair. */
static void test_twins(void **state)
{
  (void)state;
  cli_call call;
  idm_problem *problem = support_diag(0.5, 1, 0);
  idm_data *data = support_data(problem, LOG);
  CALL(&call, "x");
  check(cli_note_equal_labels(&call, data, NULL));
  assert_int_equal(call.notes.count, 1);
  assert_string_equal(call.notes.text[0],
                      "the agents '01' and '1' are equal as numbers but are different labels; "
                      "use one spelling if they are the same");
  cli_call_free(&call);
  idm_data_destroy(data);
  data = support_data(problem, "agent,trajectory,time,action,observation\n"
                               "1,t,0,declare_healthy,\n2,u,0,declare_healthy,\n");
  CALL(&call, "x");
  check(cli_note_equal_labels(&call, data, NULL));
  assert_int_equal(call.notes.count, 0);
  cli_call_free(&call);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- draws ---------------------------------------------------------------------------------- */

/* A posterior of DIAG in log alpha: 2 chains of 2 draws with the values 0, 1, 2, 3. */
static cli_input open_answer(void)
{
  cli_input s = {.problem = support_diag(0.5, INFINITY, 0)};
  idm_parameters *parameters;
  check(idm_problem_set_free(s.problem, "{alpha: {scale: log}}", &support_error));
  check(idm_parameters_create(s.problem, &parameters, &support_error));
  s.posterior = calloc(1, sizeof *s.posterior);
  s.posterior->chains = s.posterior->draws = 2;
  check(idm_labels_copy(idm_parameters_quantities(parameters), &s.posterior->quantity,
                        &support_error));
  check(idm_labels_copy(idm_parameters_coordinates(parameters), &s.posterior->coordinate,
                        &support_error));
  s.posterior->unconstrained = calloc(4, sizeof(double));
  for (size_t i = 0; i < 4; i++) s.posterior->unconstrained[i] = (double)i;
  idm_parameters_destroy(parameters);
  return s;
}

static void test_draw(void **state)
{
  (void)state;
  static const struct {
    const char *draw;
    double log_alpha;
  } rows[] = {{"1", 0}, {"2", 1}, {"3", 2}, {"4", 3}, {"centre", 1.5}};
  static const char *const others[] = {"0", "5", "-1", "", "1.5", "center", "99999999999999999999"};
  cli_input s = open_answer();
  cli_call call;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    CALL(&call, "run");
    check(cli_set_to_draw(&call, &s, rows[i].draw));
    assert_near(idm_theta_scalar(s.problem->theta, IDM_ALPHA), exp(rows[i].log_alpha), 1e-14);
    cli_call_free(&call);
  }
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    CALL(&call, "run");
    expect(&call, cli_set_to_draw(&call, &s, others[i]), IDM_USAGE,
           "expected `centre`, or a number from 1 to 4");
  }
  cli_input_close(&s);
}

/* A problem has neither posterior nor study. After a path that does not exist, closing is safe. */
static void test_shown(void **state)
{
  (void)state;
  cli_call call;
  cli_plot_input shown;
  CALL(&call, "example:diag");
  check(cli_plot_input_open(&call, "example:diag", &shown));
  assert_non_null(shown.input.problem);
  assert_null(shown.input.posterior);
  assert_null(shown.assessment);
  assert_null(shown.study);
  cli_plot_input_close(&shown);
  assert_int_not_equal(cli_plot_input_open(&call, "/nowhere/at/all", &shown), IDM_OK);
  assert_null(shown.input.problem);
  cli_plot_input_close(&shown);
  cli_call_free(&call);
}

/* --- files and JSON ------------------------------------------------------------------------- */

static void test_target(void **state)
{
  (void)state;
  char in[SUPPORT_PATH], out[SUPPORT_PATH], link_to[SUPPORT_PATH + 5];
  cli_call call;
  support_path(in);
  support_path(out);
  snprintf(link_to, sizeof link_to, "%s.link", in);
  assert_int_equal(symlink(in, link_to), 0);
  CALL(&call, in);
  check(cli_check_target(&call, out));
  check(cli_check_target(&call, "-"));
  assert_int_equal(cli_check_target(&call, link_to), IDM_USAGE); /* the same file */
  /* An argument equal to the target is not an input. */
  call.argument[0] = out;
  check(cli_check_target(&call, out));
  cli_call_free(&call);
  CALL(&call, in, "--json");
  expect(&call, cli_check_target(&call, "-"), IDM_USAGE, "--json needs a file to write to");
  remove(link_to);
  remove(in);
  remove(out);
}

static void test_report(void **state)
{
  (void)state;
  cli_call call;
  captured c;
  CALL(&call, "in");
  captured_open(&c, stderr);
  check(cli_report_file(&call, "out.csv"));
  check(cli_report_file(&call, "-"));
  captured_expect(&c, "idm: wrote out.csv\n");
  cli_call_free(&call);
  CALL(&call, "in", "--json");
  idm_notes_add(&call.notes, "one \"note\"");
  captured_open(&c, stdout);
  check(cli_report_file(&call, "out.csv"));
  captured_expect(&c, "{\n \"file\": \"out.csv\",\n \"notes\": [\n  \"one \\\"note\\\"\"\n ]\n}\n");
  captured_open(&c, stdout);
  check(cli_print_json(&call, cli_entry("nuts", "a sampler")));
  check(cli_print_json(&call, cli_entry("nuts", NULL)));
  captured_expect(&c, "{\n \"name\": \"nuts\",\n \"summary\": \"a sampler\"\n}\n"
                      "{\n \"name\": \"nuts\"\n}\n");
  cli_call_free(&call);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_set),     cmocka_unit_test(test_set_refused),
      cmocka_unit_test(test_columns), cmocka_unit_test(test_lines),
      cmocka_unit_test(test_log),     cmocka_unit_test(test_twins),
      cmocka_unit_test(test_draw),    cmocka_unit_test(test_shown),
      cmocka_unit_test(test_target),  cmocka_unit_test(test_report)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
