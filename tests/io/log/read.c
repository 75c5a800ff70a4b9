/* Logs from CSV: columns, labels, order, availability, beliefs, variants, covariates, and
 * every error with its place. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "idm/data.h"
#include "idm/log_file.h"
#include "idm/prefix.h"
#include "support.h"

/* --- helpers -------------------------------------------------------------------------------- */

static idm_data *parse_keeping(const idm_problem *problem, const char *text,
                               const idm_csv_options *options, idm_notes *notes)
{
  idm_data *data;
  idm_error error = {0};
  if (idm_data_parse_csv(text, strlen(text), "log.csv", problem, options, &data, notes, &error) !=
      IDM_OK)
    fail_msg("%ld:%ld: %s", error.line, error.column, error.message);
  assert_int_equal(idm_data_validate(data, problem->setting, &error), IDM_OK);
  return data;
}

static idm_data *parse(const idm_problem *problem, const char *text)
{
  return parse_keeping(problem, text, NULL, NULL);
}

static void expect_error_with(const idm_problem *problem, const char *text,
                              const idm_csv_options *options, long line, long column,
                              const char *words)
{
  idm_data *data;
  idm_error error = {0};
  assert_int_equal(
      idm_data_parse_csv(text, strlen(text), "log.csv", problem, options, &data, NULL, &error),
      IDM_INPUT);
  assert_null(data);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
  if (error.line != line || error.column != column)
    fail_msg("'%s' at %ld:%ld, not %ld:%ld", error.message, error.line, error.column, line, column);
  assert_string_equal(error.file, "log.csv");
}

static void expect_error(const idm_problem *problem, const char *text, long line, long column,
                         const char *words)
{
  expect_error_with(problem, text, NULL, line, column, words);
}

static void expect_rows(const int32_t *values, const int32_t *expected, size_t count)
{
  for (size_t i = 0; i < count; i++) assert_int_equal(values[i], expected[i]);
}

#define EXPECT_ROWS(values, ...)                                                                   \
  expect_rows(values, (const int32_t[]){__VA_ARGS__},                                              \
              sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

/* Give a role a code by a map, "0=loss" a pair. */
static void set_map(idm_problem *problem, idm_column role, const char *const *pairs, size_t count)
{
  idm_codes *codes = &problem->columns.codes[role];
  idm_codes_destroy(codes);
  check(idm_codes_create(codes, 1, &support_error));
  check(idm_labels_create(&codes->code[0].text, count, &support_error));
  check(idm_labels_create(&codes->code[0].means, count, &support_error));
  for (size_t i = 0; i < count; i++) {
    const char *equals = strchr(pairs[i], '=');
    check(idm_labels_set(&codes->code[0].text, i, pairs[i], (size_t)(equals - pairs[i]),
                         &support_error));
    check(idm_labels_set(&codes->code[0].means, i, equals + 1, strlen(equals + 1), &support_error));
  }
}

#define SET_MAP(problem, role, ...)                                                                \
  set_map(problem, role, (const char *const[]){__VA_ARGS__},                                       \
          sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* --- columns -------------------------------------------------------------------------------- */

static void test_plain(void **state)
{
  idm_data *data = parse(*state, "agent,trajectory,step,action,observation\n"
                                 "ann,p1,1, monitor ,positive\n"
                                 "ann,p1,2,2,0\n"
                                 "ann,p1,3,diseased!,\n"
                                 "bob,p1,1,,\" negative \"\n"
                                 "bob,p1,2,,\n");
  assert_int_equal(data->rows, 5);
  assert_int_equal(data->trajectories, 2);
  assert_int_equal(data->agent_name.count, 2);
  assert_string_equal(data->agent_name.name[1], "bob");
  assert_string_equal(data->trajectory_name.name[1], "p1");
  EXPECT_ROWS(data->action, 2, 2, 1, IDM_MISSING, IDM_MISSING);
  EXPECT_ROWS(data->observation, 1, 0, IDM_MISSING, 0, IDM_MISSING);
  assert_int_equal(data->first[1], 3);
  assert_int_equal(data->agent[1], 1);
  assert_int_equal(data->start[0], -1);
  assert_int_equal(data->variants, 1);
  assert_int_equal(data->available_sets, 1);
  for (uint32_t row = 0; row < 5; row++) assert_int_equal(data->line[row], row + 2);
  idm_data_destroy(data);
}

static void test_default_roles(void **state)
{
  /* A subject is an agent; without a trajectory column each agent is one; obs is the observation.
   */
  idm_data *data = parse(*state, "subject,action,obs\na,2,0\nb,2,1\na,0,\n");
  assert_int_equal(data->trajectories, 2);
  assert_string_equal(data->trajectory_name.name[0], "a");
  EXPECT_ROWS(data->action, 2, 0, 2);
  idm_data_destroy(data);
  /* Without an agent column all are one. A step is no time: rows keep their order. */
  data = parse(*state, "trajectory,step,action,observation\nx,2,2,0\nx,1,0,1\n");
  assert_int_equal(data->agent_name.count, 1);
  assert_string_equal(data->agent_name.name[0], "all");
  EXPECT_ROWS(data->action, 2, 0);
  idm_data_destroy(data);
  /* An agent column comes before a subject column. */
  data = parse(*state, "subject,agent,action,observation\na,z,2,0\nb,z,0,1\n");
  assert_int_equal(data->agent_name.count, 1);
  assert_string_equal(data->agent_name.name[0], "z");
  idm_data_destroy(data);
}

static void test_mapped_roles(void **state)
{
  idm_problem *problem = *state;
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_AGENT], "site", "doctor");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_TRAJECTORY], "doctor", "case");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_ACTION], "did");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_OBSERVATION], "saw");
  idm_data *data = parse(problem, "case,doctor,site,did,saw,action\n"
                                  "1,d,north,monitor,0,?\n"
                                  "1,d,south,monitor,0,?\n"
                                  "1/x,d,north,monitor,0,?\n"
                                  "1,d,north,0,0,?\n");
  assert_int_equal(data->trajectories, 3);
  assert_int_equal(data->agent_name.count, 2);
  assert_string_equal(data->agent_name.name[0], "north/d");
  assert_string_equal(data->agent_name.name[1], "south/d");
  assert_string_equal(data->trajectory_name.name[0], "d/1");
  assert_string_equal(data->trajectory_name.name[2], "d/1/x");
  EXPECT_ROWS(data->action, 2, 0, 2, 2);
  idm_data_destroy(data);
  expect_error(problem, "case,doctor,site,did,saw\n1,d/e,north,0,0\n", 2, 3, "holds a '/'");
  expect_error(problem, "case,doctor,site,did\n1,d,north,0\n", 1, 1,
               "no column 'saw' (the observation); the header has: case, doctor, site, did");
}

static void test_joined_ids_stay_apart(void **state)
{
  idm_problem *problem = *state;
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_TRAJECTORY], "run", "trial");
  idm_data *data = parse(problem, "agent,run,trial,action,observation\na,1/2,3,2,0\na,1,3,2,0\n"
                                  "b,1,2/3,2,0\n");
  assert_int_equal(data->trajectories, 3);
  idm_data_destroy(data);
  /* What would be one wherever the ids are written is not taken for two. */
  expect_error(problem, "agent,run,trial,action,observation\na,1/2,3,2,0\na,1,2/3,2,0\n", 3, 3,
               "the id of this trajectory, '1/2/3', is that of another as well");
}

static void test_header_errors(void **state)
{
  idm_problem *problem = *state;
  expect_error(problem, "", 1, 1, "the file is empty");
  expect_error(problem, "\n\n", 1, 1, "the file is empty");
  expect_error(problem, "agent,action,observation\n", 1, 1, "a header and no rows");
  expect_error(problem, "\n\nagent,action,observation\n\n", 3, 1, "a header and no rows");
  expect_error(problem, "x,action,observation\n1,2,0\n", 1, 1, "data: {trajectory: COLUMN}");
  expect_error(problem, "agent,observation\na,0\n", 1, 1, "no column 'action' (the action)");
  expect_error(problem, "agent,action\na,2\n", 1, 1, "no column 'observation'");
  expect_error(problem, "agent,action,observation,action\na,2,0,1\n", 1, 26,
               "a second column named 'action'");
  expect_error(problem, "agent,action,observation\na,2\n", 2, 3,
               "this row has 2 fields; the header has 3");
  expect_error(problem, "agent,action,observation\n,2,0\n", 2, 1, "the id of an agent");
  expect_error(problem, "agent,trajectory,action,observation\na, ,2,0\n", 2, 3,
               "the id of a trajectory");
  idm_data *data;
  idm_error error = {0};
  assert_int_equal(idm_data_read_csv("/nowhere/x.csv", problem, NULL, &data, NULL, &error),
                   IDM_INPUT);
  assert_non_null(strstr(error.message, "cannot open '/nowhere/x.csv'"));
  assert_int_equal(idm_data_read_csv("/", problem, NULL, &data, NULL, &error), IDM_INPUT);
  assert_null(data);
}

/* --- labels --------------------------------------------------------------------------------- */

static void test_label_beats_number(void **state)
{
  (void)state;
  idm_problem *problem = support_labels_problem(2, 3, 2);
  SUPPORT_NAMES(&problem->setting->actions, "2", "1", "x");
  support_codes(problem, "index");
  idm_data *data = parse(problem, "agent,action,observation\na,2,0\na,1,0\na,0,0\na,x,0\n");
  EXPECT_ROWS(data->action, 0, 1, 0, 2);
  idm_data_destroy(data);
  support_codes(problem, "labels");
  expect_error(
      problem, "agent,action,observation\na,2,0\na,0,0\n", 3, 3,
      "'0' is no action; expected one of: 2, 1, x; a number stands for a name only where "
      "the problem file says so: data: {codes: {action: {0: NAME, ...}}}, or codes: index");
  idm_problem_destroy(problem);
}

static void test_label_errors(void **state)
{
  idm_problem *problem = *state;
  expect_error(problem, "agent,action,observation\na,monitor,0\na, Monitor,0\n", 3, 3,
               "'Monitor' is no action; expected one of: healthy!, diseased!, monitor");
  expect_error(problem, "agent,action,observation\na,monitor,none\n", 2, 11,
               "'none' is no observation; expected one of: negative, positive");
  expect_error(problem, "agent,observation,action\na,0,-1\n", 2, 5, "'-1' is no action");
  idm_problem *many = support_labels_problem(2, 12, 2);
  expect_error(many, "agent,action,observation\na,x,0\n", 2, 3, "0, 1, 2, 3, 4, 5, 6, 7, ...");
  idm_problem_destroy(many);
}

static void test_terminal_observation(void **state)
{
  idm_problem *problem = *state;
  problem->setting->terminal[0] = true;
  idm_notes notes = {0};
  idm_data *data = parse_keeping(
      problem, "agent,action,observation\na,2,0\na,0,none\nb,0,positive\n", NULL, &notes);
  EXPECT_ROWS(data->observation, 0, IDM_MISSING, 1);
  assert_int_equal(notes.count, 1);
  assert_non_null(strstr(notes.text[0], "1 row of terminal actions"));
  assert_non_null(strstr(notes.text[0], "line 3"));
  idm_notes_clear(&notes);
  idm_data_destroy(data);
  /* An action that only ends the log recognises what it sees. */
  expect_error(problem, "agent,action,observation\na,1,none\n", 2, 5, "'none' is no observation");
  expect_error(problem, "agent,action,observation\na,,none\n", 2, 4, "'none' is no observation");
}

static void test_seen_nothing(void **state)
{
  (void)state;
  /* A label for "saw nothing" is a label; an empty cell is not recorded. */
  idm_problem *problem = support_labels_problem(2, 2, 2);
  SUPPORT_NAMES(&problem->setting->observations, "seen", "none");
  idm_data *data = parse(problem, "agent,action,observation\na,0,none\na,0,\na,1,seen\n");
  EXPECT_ROWS(data->observation, 1, IDM_MISSING, 0);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void test_factored_observation(void **state)
{
  (void)state;
  idm_problem *problem = support_labels_problem(2, 2, 4);
  SUPPORT_NAMES(&problem->setting->observations, "lo/a", "lo/b", "hi/a", "hi/b");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_OBSERVATION], "cdr", "mri");
  idm_data *data = parse(problem, "agent,action,mri,cdr\na,0, b,hi\na,0,,\na,1,\"a\",lo\n");
  EXPECT_ROWS(data->observation, 3, IDM_MISSING, 0);
  idm_data_destroy(data);
  expect_error(problem, "agent,action,mri,cdr\na,0,b,\n", 2, 7,
               "an empty cell in a label of 2 columns");
  expect_error(problem, "agent,action,mri,cdr\na,0,c,hi\n", 2, 7, "'hi/c' is no observation");
  idm_problem_destroy(problem);
}

/* --- order ---------------------------------------------------------------------------------- */

static void test_interleaved(void **state)
{
  idm_data *data = parse(*state, "agent,trajectory,action,observation\n"
                                 "a,1,2,0\nb,1,2,1\na,2,2,1\na,1,0,1\nb,1,1,\na,2,2,0\n");
  assert_int_equal(data->trajectories, 3);
  EXPECT_ROWS(data->action, 2, 0, 2, 1, 2, 2);
  EXPECT_ROWS(data->observation, 0, 1, 1, IDM_MISSING, 1, 0);
  const uint32_t lines[] = {2, 5, 3, 6, 4, 7};
  for (size_t i = 0; i < 6; i++) assert_int_equal(data->line[i], lines[i]);
  idm_data_destroy(data);
}

static void test_time(void **state)
{
  idm_problem *problem = *state;
  idm_data *data = parse(problem, "agent,time,action,observation\n"
                                  "a,10,2,0\nb,-1e3,2,1\na,9.5,2,1\na,123456789012345678,0,0\n");
  EXPECT_ROWS(data->action, 2, 2, 0, 2);
  EXPECT_ROWS(data->observation, 1, 0, 0, 1);
  assert_int_equal(data->line[0], 4);
  idm_data_destroy(data);
  expect_error(problem, "agent,time,action,observation\na,1,2,0\na,noon,2,0\n", 3, 3,
               "'noon' in column 'time'; expected a finite number");
  expect_error(problem, "agent,time,action,observation\na,,2,0\n", 2, 3,
               "expected a finite number");
  expect_error(problem, "agent,time,action,observation\na,inf,2,0\n", 2, 3, "'inf'");
  expect_error(problem, "agent,time,action,observation\na,nan,2,0\n", 2, 3, "'nan'");
  expect_error(problem, "agent,time,action,observation\na,0x10,2,0\n", 2, 3, "'0x10'");
  expect_error(problem, "agent,time,action,observation\na,1e999,2,0\n", 2, 3, "'1e999'");
  expect_error(problem, "agent,time,action,observation\na,3,2,0\nb,3,2,0\na,1,2,0\na,3.0,2,0\n", 5,
               3, "lines 2 and 5 of one trajectory have the same time");
}

static void test_several_times(void **state)
{
  idm_problem *problem = *state;
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_TIME], "day", "hour");
  idm_data *data = parse(problem, "agent,hour,day,action,observation\n"
                                  "a,1,2,0,0\na,9,1,2,0\na,8,1,2,1\n");
  EXPECT_ROWS(data->action, 2, 2, 0);
  EXPECT_ROWS(data->observation, 1, 0, 0);
  idm_data_destroy(data);
  expect_error(problem, "agent,hour,day,action,observation\na,1,2,2,0\na,1,2,2,0\n", 3, 5,
               "lines 2 and 3");
}

static void test_goes_on(void **state)
{
  idm_problem *problem = *state;
  expect_error(problem, "agent,action,observation\na,2,0\nb,2,1\na,0,0\na,2,0\n", 4, 3,
               "the trajectory goes on (line 5) after 'healthy!', which ends it");
  /* In time the declaration comes last. */
  idm_data_destroy(parse(problem, "agent,time,action,observation\na,2,0,0\na,1,2,0\n"));
  expect_error(problem, "agent,time,action,observation\na,1,0,0\na,2,2,0\n", 2, 5, "goes on");
  problem->setting->ends[0] = problem->setting->ends[1] = false;
  problem->setting->terminal[0] = true;
  expect_error(problem, "agent,action,observation\na,0,0\na,2,0\n", 2, 3, "goes on");
}

static void test_horizon(void **state)
{
  idm_problem *problem = *state;
  problem->setting->horizon = 2;
  idm_data_destroy(parse(problem, "agent,action,observation\na,2,0\na,2,0\n"));
  expect_error(problem, "agent,action,observation\na,2,0\nb,2,0\na,2,0\na,2,0\n", 5, 3,
               "step 3 of a trajectory of 3 steps; the horizon is 2");
}

static void test_embedded_lines(void **state)
{
  expect_error(*state, "agent,note,action,observation\na,\"two\nlines\",monitor,0\na,x,no,0\n", 4,
               5, "'no' is no action");
}

/* --- availability, beliefs, variants, covariates -------------------------------------------- */

static void test_available(void **state)
{
  idm_problem *problem = *state;
  idm_data *data = parse(problem, "agent,action,observation,available\n"
                                  "a,2,0,\n"
                                  "a,2,0,monitor | healthy!\n"
                                  "a,2,0,0|2\n"
                                  "a,2,0,2|1|0\n"
                                  "a,,0,1\n"
                                  "a,1,0,diseased!\n");
  assert_int_equal(data->available_sets, 3);
  const uint32_t sets[] = {0, 1, 1, 0, 2, 2};
  for (size_t i = 0; i < 6; i++) assert_int_equal(data->available[i], sets[i]);
  const bool open[] = {true, true, true, true, false, true, false, true, false};
  assert_memory_equal(data->available_set, open, sizeof open);
  idm_data_destroy(data);
  expect_error(problem, "agent,action,observation,available\na,2,0,0|1\n", 2, 7,
               "the action taken, 'monitor', is not among those available: 0|1");
  expect_error(problem, "agent,action,observation,available\na,2,0,2|wait\n", 2, 7,
               "'wait' is no action");
  expect_error(problem, "agent,action,observation,available\na,2,0,2|\n", 2, 7, "'' is no action");
  expect_error(problem, "agent,action,observation,available\na,2,0,|\n", 2, 7, "'' is no action");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_AVAILABLE], "open");
  expect_error(problem, "agent,action,observation,available\na,2,0,\n", 1, 1, "no column 'open'");
}

static void test_beliefs(void **state)
{
  idm_problem *problem = *state;
  idm_notes notes = {0};
  idm_data *data = parse_keeping(problem,
                                 "agent,action,observation,belief.diseased,belief.healthy\n"
                                 "a,2,0,0.25,0.75\n"
                                 "a,2,0,nonsense,\n"
                                 "b,2,0,,\n"
                                 "c,2,0,0.33333,0.66666\n"
                                 "d,2,0,.25,75e-2\n",
                                 NULL, &notes);
  assert_int_equal(data->starts, 2);
  EXPECT_ROWS(data->start, 0, -1, 1, 0);
  assert_true(data->start_belief[0] == 0.75 && data->start_belief[1] == 0.25);
  assert_true(fabs(data->start_belief[2] + data->start_belief[3] - 1) < 1e-15);
  assert_int_equal(notes.count, 2);
  assert_non_null(strstr(notes.text[1], "only a start can be given"));
  assert_non_null(strstr(notes.text[0], "1 start belief did not sum to 1 exactly"));
  assert_non_null(strstr(notes.text[0], "line 5"));
  idm_notes_clear(&notes);
  idm_data_destroy(data);
  const char head[] = "agent,action,observation,belief.healthy,belief.diseased\n";
  const struct {
    const char *row;
    long column;
    const char *words;
  } bad[] = {
      {"a,2,0,0.5,\n", 11, "an empty belief"},
      {"a,2,0,0.5,x\n", 11, "'x' in column 'belief.diseased'; expected a finite number"},
      {"a,2,0,0.5,0.6\n", 7, "no distribution"},
      {"a,2,0,1.5,-0.5\n", 7, "no distribution"},
      {"a,2,0,0.5,inf\n", 11, "'inf'"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char text[200];
    snprintf(text, sizeof text, "%s%s", head, bad[i].row);
    expect_error(problem, text, 2, bad[i].column, bad[i].words);
  }
  expect_error(problem, "agent,action,observation,belief.healthy\na,2,0,1\n", 1, 1,
               "no 'belief.diseased'");
  expect_error(problem, "agent,belief.sick,action,observation\na,1,2,0\n", 1, 7,
               "'sick' is no state; expected one of: healthy, diseased");
  expect_error(problem, "agent,action,observation,belief.healthy,belief.0\na,2,0,1,0\n", 1, 41,
               "'0' is no state; expected one of: healthy, diseased");
  expect_error(problem, "agent,action,observation,belief.healthy,belief.healthy\na,2,0,1,0\n", 1,
               41, "a second column for the belief in 'healthy'");
}

static void test_belief_of_first_in_time(void **state)
{
  idm_data *data = parse(*state, "agent,time,action,observation,belief.healthy,belief.diseased\n"
                                 "a,2,2,0,0.5,0.5\na,1,2,0,0.1,0.9\na,3,2,0,x,\n"
                                 "b,2,2,0,0.5,0.5\nb,1,2,0,,\n");
  assert_int_equal(data->start[0], 1);
  assert_true(data->start_belief[2] == 0.1);
  assert_int_equal(data->start[1], -1);
  idm_data_destroy(data);
}

static void test_variants(void **state)
{
  idm_problem *problem = *state;
  SUPPORT_NAMES(&problem->columns.utility, "win", "cost");
  idm_data *data = parse(problem, "agent,cost,win,action,observation\n"
                                  "a,1,70,2,0\nb,1,7,2,0\na,1.0,7e1,2,0\nc,-0.0,70,2,0\n"
                                  "d,1,70,2,0\ne,0,70,2,0\n");
  assert_int_equal(data->variants, 3);
  assert_int_equal(data->columns, 2);
  const uint32_t variants[] = {0, 1, 2, 0, 2};
  for (size_t i = 0; i < 5; i++) assert_int_equal(data->variant[i], variants[i]);
  const double values[] = {70, 1, 7, 1, 70, 0};
  for (size_t i = 0; i < 6; i++) assert_true(data->variant_value[i] == values[i]);
  idm_data_destroy(data);
  expect_error(problem, "agent,cost,win,action,observation\na,1,70,2,0\nb,1,1,2,0\na,1,71,2,0\n", 4,
               5, "'win' is 71 here and 70 on line 2 of the same trajectory");
  expect_error(problem, "agent,cost,win,action,observation\na,,70,2,0\n", 2, 3,
               "expected a finite number");
  expect_error(problem, "agent,cost,action,observation\na,1,2,0\n", 1, 1,
               "no column 'win' (a utility)");
}

static void test_covariates(void **state)
{
  idm_problem *problem = *state;
  const char *const keep[] = {"site", "agent"};
  const idm_csv_options options = {.keep = keep, .keep_count = 2};
  idm_data *data = parse_keeping(problem,
                                 "agent,site,action,observation\n"
                                 "a,north,2,0\nb, south,2,0\na,,2,0\na,south,0,0\n",
                                 &options, NULL);
  assert_int_equal(data->covariates, 2);
  assert_string_equal(data->covariate_name.name[0], "site");
  assert_int_equal(data->covariate_level[0].count, 2);
  assert_string_equal(data->covariate_level[0].name[1], "south");
  EXPECT_ROWS(data->covariate, 0, IDM_MISSING, 1, 1, 0, 0, 0, 1);
  idm_data_destroy(data);
  const char *const unknown[] = {"ward"};
  expect_error_with(problem, "agent,site,action,observation\na,north,2,0\n",
                    &(const idm_csv_options){.keep = unknown, .keep_count = 1}, 1, 1,
                    "no column 'ward' (a covariate); the header has: agent, site");
}

/* --- real people ---------------------------------------------------------------------------- */

static FILE *open_beads(char *path, size_t size)
{
  const char *shared = getenv("IDM_SHARED");
  snprintf(path, size, "%s/data/beads/beads_voi_decisions.csv", shared ? shared : "../../shared");
  return fopen(path, "rb");
}

static idm_problem *create_beads(void)
{
  idm_problem *problem = support_labels_problem(2, 3, 2);
  SUPPORT_NAMES(&problem->setting->states, "high", "low");
  SUPPORT_NAMES(&problem->setting->actions, "draw", "bet_high", "bet_low");
  SUPPORT_NAMES(&problem->setting->observations, "high", "low");
  for (size_t u = 1; u < 3; u++) problem->setting->terminal[u] = problem->setting->ends[u] = true;
  problem->setting->horizon = 24;
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_AGENT], "subject");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_TRAJECTORY], "subject", "run", "trial");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_TIME], "step");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_OBSERVATION], "obs");
  SUPPORT_NAMES(&problem->columns.utility, "reward_high", "reward_low", "reward_wrong",
                "draw_cost");
  return problem;
}

static void check_beads(const idm_data *data)
{
  assert_int_equal(data->rows, 7075);
  assert_int_equal(data->trajectories, 3393);
  assert_int_equal(data->agent_name.count, 15);
  assert_int_equal(data->variants, 3);
  size_t draws = 0;
  size_t longest = 0;
  for (size_t row = 0; row < data->rows; row++) draws += data->action[row] == 0;
  for (size_t i = 0; i < data->trajectories; i++)
    if (data->first[i + 1] - data->first[i] > longest)
      longest = data->first[i + 1] - data->first[i];
  assert_int_equal(draws, 3682);
  assert_int_equal(longest, 24);
}

static void test_beads(void **state)
{
  (void)state;
  char path[1000];
  FILE *stream = open_beads(path, sizeof path);
  if (!stream) {
    print_message("no %s: set IDM_SHARED to the shared folder\n", path);
    skip();
  }
  fclose(stream);
  idm_problem *problem = create_beads();
  idm_data *data;
  idm_error error = {0};
  idm_notes notes = {0};
  if (idm_data_read_csv(path, problem, NULL, &data, &notes, &error) != IDM_OK)
    fail_msg("%ld:%ld: %s", error.line, error.column, error.message);
  check_beads(data);
  assert_int_equal(idm_data_validate(data, problem->setting, &error), IDM_OK);
  /* 'none' stands on the row of every bet. */
  assert_int_equal(notes.count, 1);
  assert_non_null(strstr(notes.text[0], "3393 rows of terminal actions"));
  idm_notes_clear(&notes);
  idm_data_destroy(data);
  problem->setting->horizon = 23;
  assert_int_equal(idm_data_read_csv(path, problem, NULL, &data, NULL, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "step 24 of a trajectory of 24 steps"));
  idm_problem_destroy(problem);
}

/* The table with its start beliefs and forced bets in columns that idm reads. */
static void add_columns(FILE *from, FILE *to)
{
  char line[1000];
  assert_non_null(fgets(line, sizeof line, from));
  line[strcspn(line, "\r\n")] = '\0';
  fprintf(to, "%s,available,belief.high,belief.low\n", line);
  while (fgets(line, sizeof line, from)) {
    line[strcspn(line, "\r\n")] = '\0';
    int step;
    int allowed;
    int high;
    int low;
    assert_int_equal(
        sscanf(line, "%*[^,],%*[^,],%*[^,],%*[^,],%d,%d,%d,%d", &step, &allowed, &high, &low), 4);
    const double belief = 1 / (1 + pow(1.5, low - high));
    fprintf(to, "%s,%s,", line, allowed == 1 ? "" : "bet_high|bet_low");
    if (step == 1)
      fprintf(to, "%.17g,%.17g\n", belief, 1 - belief);
    else
      fprintf(to, ",\n");
  }
}

static void test_beads_with_beliefs(void **state)
{
  (void)state;
  char source[1000];
  FILE *from = open_beads(source, sizeof source);
  if (!from) {
    print_message("no %s: set IDM_SHARED to the shared folder\n", source);
    skip();
  }
  char path[] = "/tmp/idm-test-XXXXXX";
  const int descriptor = mkstemp(path);
  FILE *to = fdopen(descriptor, "wb");
  assert_non_null(to);
  add_columns(from, to);
  fclose(from);
  assert_int_equal(fclose(to), 0);
  idm_problem *problem = create_beads();
  idm_data *data;
  idm_error error = {0};
  if (idm_data_read_csv(path, problem, NULL, &data, NULL, &error) != IDM_OK)
    fail_msg("%ld:%ld: %s", error.line, error.column, error.message);
  remove(path);
  check_beads(data);
  assert_int_equal(idm_data_validate(data, problem->setting, &error), IDM_OK);
  assert_int_equal(data->available_sets, 2);
  size_t forced = 0;
  for (size_t row = 0; row < data->rows; row++) forced += data->available[row] == 1;
  assert_int_equal(forced, 1133 + 116);
  /* 15 high and 6 low beads were shown first. */
  assert_int_equal(data->start[0], 0);
  assert_true(fabs(data->start_belief[0] - 1 / (1 + pow(1.5, -9))) < 1e-15);
  idm_prefix_tree *tree;
  assert_int_equal(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &error), IDM_OK);
  assert_int_equal(tree->depth, 24);
  assert_true(tree->nodes < data->rows);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- what cells mean ------------------------------------------------------------------------ */

static idm_problem *bandit(void)
{
  idm_problem *problem = support_labels_problem(2, 2, 2);
  SUPPORT_NAMES(&problem->setting->actions, "left", "right");
  SUPPORT_NAMES(&problem->setting->observations, "win", "loss");
  return problem;
}

/* 0 and 1 mean what the problem says that they mean, and nothing where it says nothing. */
static void test_codes(void **state)
{
  (void)state;
  static const char log[] = "agent,action,observation,available\n"
                            "a,1,0,\na,left,1,1|left\na,0,win,0\n";
  idm_problem *problem = bandit();
  expect_error(problem, log, 2, 3, "'1' is no action");
  SET_MAP(problem, IDM_COLUMN_ACTION, "0=right", "1=left");
  expect_error(problem, log, 2, 5, "'0' is no observation; expected one of: win, loss; a number");
  SET_MAP(problem, IDM_COLUMN_OBSERVATION, "0=loss", "1=win");
  idm_data *data = parse(problem, log);
  EXPECT_ROWS(data->action, 0, 0, 1);
  EXPECT_ROWS(data->observation, 1, 0, 0);
  assert_true(data->available_set[2 * data->available[1]] &&
              !data->available_set[2 * data->available[1] + 1]);
  idm_data_destroy(data);
  support_codes(problem, "index");
  expect_error(problem, "agent,action,observation\na,2,0\n", 2, 3, "'2' is no action");
  idm_problem_destroy(problem);
}

/* Whatever the labels and their codes: a cell is read as its label, else as its code says. */
static void test_codes_at_random(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 61, 0);
  for (int round = 0; round < 200; round++) {
    const size_t count = 2 + (size_t)(idm_random_uniform(&random) * 5);
    idm_problem *problem = support_labels_problem(2, count, 2);
    char pair[8][64], line[160];
    const char *pairs[8];
    const size_t turn = (size_t)(idm_random_uniform(&random) * (double)count);
    for (size_t i = 0; i < count; i++) {
      char name[32];
      snprintf(name, sizeof name, "n%zu", i);
      check(idm_labels_set(&problem->setting->actions, i, name, strlen(name), &support_error));
      snprintf(pair[i], sizeof pair[i], "%zu=n%zu", i, (i + turn) % count);
      pairs[i] = pair[i];
    }
    set_map(problem, IDM_COLUMN_ACTION, pairs, count);
    for (size_t i = 0; i < count; i++) {
      snprintf(line, sizeof line, "agent,action,observation\na,%zu,0\na,n%zu,0\n", i, i);
      idm_data *data = parse(problem, line);
      EXPECT_ROWS(data->action, (int32_t)((i + turn) % count), (int32_t)i);
      idm_data_destroy(data);
    }
    snprintf(line, sizeof line, "agent,action,observation\na,%zu,0\n", count);
    expect_error(problem, line, 2, 3, "is no action");
    idm_problem_destroy(problem);
  }
}

/* A label that is joined from columns: each by codes of its own, or all by index. */
static void test_codes_by_column(void **state)
{
  (void)state;
  static const char log[] = "agent,action,cdr,mri\na,0,1,small\na,0,none,0\na,0,,\n";
  idm_problem *problem = support_labels_problem(2, 1, 4);
  SUPPORT_NAMES(&problem->setting->observations, "none/large", "none/small", "mild/large",
                "mild/small");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_OBSERVATION], "cdr", "mri");
  expect_error(problem, log, 2, 5, "'1/small' is no observation");
  support_codes(problem, "index");
  idm_data *data = parse(problem, log);
  EXPECT_ROWS(data->observation, 3, 0, IDM_MISSING);
  idm_data_destroy(data);
  idm_codes *codes = &problem->columns.codes[IDM_COLUMN_OBSERVATION];
  idm_codes_destroy(codes);
  check(idm_codes_create(codes, 2, &support_error));
  codes->code[0].index = true;
  SUPPORT_NAMES(&codes->code[1].text, "0");
  SUPPORT_NAMES(&codes->code[1].means, "small");
  data = parse(problem, log);
  EXPECT_ROWS(data->observation, 3, 1, IDM_MISSING);
  idm_data_destroy(data);
  expect_error(problem, "agent,action,cdr,mri\na,0,1,1\n", 2, 7,
               "'1' in column 'mri' is neither a level of it nor a code for one");
  idm_problem_destroy(problem);
}

/* NA is a text like any other, unless the problem says that it is none. */
static void test_missing_texts(void **state)
{
  (void)state;
  idm_problem *problem = bandit();
  static const char log[] = "agent,action,observation,note\na,left,NA,NA\na,n/a,win,x\n";
  expect_error(problem, log, 2, 8,
               "'NA' is no observation; expected one of: win, loss; where it means that nothing "
               "was recorded, say data: {missing: [\"NA\"]}");
  SUPPORT_NAMES(&problem->columns.missing, "NA", "n/a");
  const idm_csv_options options = {.keep = (const char *const[]){"note"}, .keep_count = 1};
  idm_data *data = parse_keeping(problem, log, &options, NULL);
  EXPECT_ROWS(data->observation, IDM_MISSING, 0);
  EXPECT_ROWS(data->action, 0, IDM_MISSING);
  EXPECT_ROWS(data->covariate, IDM_MISSING, 0);
  idm_data_destroy(data);
  expect_error(problem, "agent,action,observation\nNA,left,win\n", 2, 1,
               "a cell that says that it is missing (data.missing) in column 'agent'");
  idm_problem_destroy(problem);
}

/* --- which rows ----------------------------------------------------------------------------- */

static size_t rows_where(const idm_problem *problem, const char *const *where, size_t count)
{
  static const char log[] = "agent,block,action,observation,a=b\n"
                            "p,1,left,win,x\np,2.0,left,loss,y\nq,2,right,win,\nr,3,left,,NA\n";
  const idm_csv_options options = {.where = where, .where_count = count};
  idm_notes notes = {0};
  idm_data *data = parse_keeping(problem, log, &options, &notes);
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
  idm_problem *problem = bandit();
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
  idm_problem *problem = bandit();
  idm_data *data;
  idm_error error = {0};
  idm_notes notes = {0};
  const char *where[] = {"block=1"};
  const idm_csv_options options = {.where = where, .where_count = 1};
  expect_error_with(problem, log, &options, 1, 1, "no column 'block' (--where)");
  where[0] = "agent";
  assert_int_equal(
      idm_data_parse_csv(log, strlen(log), "l", problem, &options, &data, NULL, &error), IDM_USAGE);
  where[0] = "agent=z";
  assert_int_equal(
      idm_data_parse_csv(log, strlen(log), "l", problem, &options, &data, NULL, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "none of the 2 rows is left by --where agent=z"));
  /* A trajectory that loses some of its rows is a warning. */
  where[0] = "action!=left";
  idm_data_destroy(parse_keeping(problem, log, &options, &notes));
  assert_int_equal(notes.count, 2);
  assert_non_null(strstr(notes.text[1], "leaves 1 trajectory in part"));
  idm_notes_clear(&notes);
  idm_problem_destroy(problem);
}

/* --- several files -------------------------------------------------------------------------- */

static void put_file(char path[SUPPORT_PATH], const char *text)
{
  support_path(path);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static void test_several_files(void **state)
{
  (void)state;
  char first[SUPPORT_PATH], second[SUPPORT_PATH], third[SUPPORT_PATH];
  idm_problem *problem = bandit();
  put_file(first, "agent,trajectory,action,observation\np,1,left,win\nq,1,left,loss\n");
  put_file(second, "note;observation;action;trajectory;agent\nx;win;right;2;p\nx;win;up;2;r\n");
  put_file(third, "trajectory,action,observation\n9,left,win\n");
  const char *paths[] = {first, second};
  idm_data *data;
  idm_error error = {0};
  /* The error names the file that it is in. */
  assert_int_equal(idm_data_read_files(paths, 2, problem, NULL, &data, NULL, &error), IDM_INPUT);
  assert_string_equal(error.file, second);
  assert_int_equal(error.line, 3);
  put_file(second, "note;observation;action;trajectory;agent\nx;win;right;2;p\nx;win;left;2;r\n");
  paths[1] = second;
  check(idm_data_read_files(paths, 2, problem, NULL, &data, NULL, &support_error));
  assert_int_equal(data->trajectories, 4);
  assert_int_equal(data->agent_name.count, 3); /* p is p */
  EXPECT_ROWS(data->action, 0, 0, 1, 0);
  assert_string_equal(idm_data_file(data, 1), first);
  assert_string_equal(idm_data_file(data, 2), second);
  error = (idm_error){0};
  idm_data_locate(data, 3, &error);
  assert_string_equal(error.file, second);
  assert_int_equal(error.line, 3);
  idm_data_destroy(data);
  /* A file without a column that another has; a trajectory in two files. */
  paths[1] = third;
  assert_int_equal(idm_data_read_files(paths, 2, problem, NULL, &data, NULL, &error), IDM_INPUT);
  assert_string_equal(error.file, third);
  assert_non_null(strstr(error.message, "the column 'agent' is read from one of"));
  paths[1] = first;
  error = (idm_error){0};
  assert_int_equal(idm_data_read_files(paths, 2, problem, NULL, &data, NULL, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "a trajectory stands in one file"));
  remove(first);
  remove(second);
  remove(third);
  idm_problem_destroy(problem);
}

int main(void)
{
#define WITH_DIAG(test) cmocka_unit_test_setup_teardown(test, support_set_up, support_tear_down)
  const struct CMUnitTest tests[] = {
      WITH_DIAG(test_plain),
      WITH_DIAG(test_default_roles),
      WITH_DIAG(test_mapped_roles),
      WITH_DIAG(test_joined_ids_stay_apart),
      WITH_DIAG(test_header_errors),
      cmocka_unit_test(test_label_beats_number),
      WITH_DIAG(test_label_errors),
      WITH_DIAG(test_terminal_observation),
      cmocka_unit_test(test_seen_nothing),
      cmocka_unit_test(test_factored_observation),
      WITH_DIAG(test_interleaved),
      WITH_DIAG(test_time),
      WITH_DIAG(test_several_times),
      WITH_DIAG(test_goes_on),
      WITH_DIAG(test_horizon),
      WITH_DIAG(test_embedded_lines),
      WITH_DIAG(test_available),
      WITH_DIAG(test_beliefs),
      WITH_DIAG(test_belief_of_first_in_time),
      WITH_DIAG(test_variants),
      WITH_DIAG(test_covariates),
      cmocka_unit_test(test_codes),
      cmocka_unit_test(test_codes_at_random),
      cmocka_unit_test(test_codes_by_column),
      cmocka_unit_test(test_missing_texts),
      cmocka_unit_test(test_where),
      cmocka_unit_test(test_where_errors),
      cmocka_unit_test(test_several_files),
      cmocka_unit_test(test_beads),
      cmocka_unit_test(test_beads_with_beliefs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
