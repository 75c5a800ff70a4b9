/* A first problem file from a table: it loads, holds the labels found, and reads the table it came
 * from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "idm/extension/data.h"
#include "io/file.h"
#include "io/log_file.h"
#include "io/problem_file.h"
#include "support.h"

typedef struct fixture {
  char data[SUPPORT_PATH];
  char problem[SUPPORT_PATH];
  idm_notes notes;
  char *text; /* of the problem file */
} fixture;

static int set_up(void **state)
{
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  support_path(f->data);
  support_path(f->problem);
  *state = f;
  return 0;
}

static int tear_down(void **state)
{
  fixture *f = *state;
  remove(f->data);
  remove(f->problem);
  idm_notes_clear(&f->notes);
  free(f->text);
  free(f);
  return 0;
}

static void put_table(const fixture *f, const char *table)
{
  FILE *stream = fopen(f->data, "wb");
  assert_non_null(stream);
  fputs(table, stream);
  assert_int_equal(fclose(stream), 0);
}

/* Put `with` in place of the first `what` from *at on; moves *at behind it. False past the last. */
static bool replace(char *text, size_t size, char **at, const char *what, const char *with)
{
  char *found = strstr(*at, what);
  if (!found) return false;
  char *rest = strdup(found + strlen(what));
  assert_non_null(rest);
  const size_t room = size - (size_t)(found - text);
  assert_true(strlen(with) + strlen(rest) < room);
  snprintf(found, room, "%s%s", with, rest);
  *at = found + strlen(with);
  free(rest);
  return true;
}

/* What a person might fill in. */
static char *fill_in(const char *text)
{
  static const char *const pairs[][2] = {{"states: FILL_IN", "states: [s, t]"},
                                         {"start: FILL_IN", "start: uniform"},
                                         {"discount: FILL_IN", "discount: 0.95"},
                                         {"\"*\": FILL_IN}", "\"*\": uniform}"},
                                         {"actions: FILL_IN", "actions: [u, v]"},
                                         {"observations: FILL_IN", "observations: [x]"},
                                         {"trajectory: FILL_IN", "trajectory: w"},
                                         {"  action: FILL_IN", "  action: u"},
                                         {"  observation: FILL_IN", "  observation: v"},
                                         {": FILL_IN\n", ": 0\n"}};
  const size_t size = 2 * strlen(text) + 100;
  char *filled = calloc(size, 1);
  assert_non_null(filled);
  memcpy(filled, text, strlen(text));
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    for (char *at = filled; replace(filled, size, &at, pairs[i][0], pairs[i][1]);) continue;
  return filled;
}

/* Every placeholder of a file is named by its line. */
static void expect_blanks(const char *text)
{
  idm_problem *problem;
  idm_error error = {0};
  assert_int_equal(idm_problem_parse_yaml(text, strlen(text), "p.yaml", &problem, NULL, &error),
                   IDM_INPUT);
  assert_null(problem);
  assert_non_null(strstr(
      error.message, "(FILL_IN) that `idm init` or `idm learn` left are still to be filled in"));
  long line = 1;
  for (const char *at = text; (at = strchr(at, '\n')); at++) {
    line++;
    const size_t length = strcspn(at + 1, "\n");
    const char *blank = strstr(at + 1, "FILL_IN");
    if (!blank || blank > at + 1 + length || at[1] == '#') continue;
    char number[24];
    snprintf(number, sizeof number, "%ld", line);
    const char *lines = strstr(error.message, "on lines ");
    assert_non_null(lines);
    /* By itself, or within a range. */
    bool named = false;
    for (const char *c = lines + strlen("on lines "); *c && !named;) {
      char *end;
      const long from = strtol(c, &end, 10);
      const long to = strncmp(end, " to ", 4) == 0 ? strtol(end + 4, &end, 10) : from;
      named = from <= line && line <= to;
      c = end + strcspn(end, "0123456789");
    }
    if (!named) fail_msg("line %ld is not named in '%s'", line, error.message);
  }
}

/* Write the problem file of a table, fill it in, and load it again. */
static idm_problem *init_from(fixture *f, const char *path)
{
  idm_error error = {0};
  if (idm_init_write(path, f->problem, &f->notes, &error) != IDM_OK)
    fail_msg("%ld:%ld: %s", error.line, error.column, error.message);
  size_t length;
  free(f->text);
  f->text = NULL;
  assert_int_equal(idm_file_read(f->problem, 1 << 20, &f->text, &length, &error), IDM_OK);
  idm_problem *problem;
  expect_blanks(f->text);
  char *filled = fill_in(f->text);
  if (idm_problem_parse_yaml(filled, strlen(filled), "p.yaml", &problem, NULL, &error) != IDM_OK ||
      idm_problem_validate(problem, &error) != IDM_OK)
    fail_msg("%ld:%ld: %s\n%s", error.line, error.column, error.message, filled);
  free(filled);
  return problem;
}

static idm_problem *init(fixture *f, const char *table)
{
  put_table(f, table);
  return init_from(f, f->data);
}

static void read_back(const fixture *f, const idm_problem *problem, size_t rows,
                      size_t trajectories)
{
  idm_data *data;
  idm_error error = {0};
  if (idm_data_read_csv(f->data, problem, NULL, &data, NULL, &error) != IDM_OK)
    fail_msg("%ld:%ld: %s", error.line, error.column, error.message);
  assert_int_equal(data->rows, rows);
  assert_int_equal(data->trajectories, trajectories);
  idm_data_destroy(data);
}

static bool has_note(const fixture *f, const char *words)
{
  for (size_t i = 0; i < f->notes.count; i++)
    if (strstr(f->notes.text[i], words)) return true;
  return false;
}

static void expect_names(const idm_labels *labels, const char *const *names, size_t count)
{
  assert_int_equal(labels->count, count);
  for (size_t i = 0; i < count; i++) assert_string_equal(labels->name[i], names[i]);
}

static void expect_error(fixture *f, const char *table, long line, long column, const char *words)
{
  put_table(f, table);
  idm_error error = {0};
  remove(f->problem);
  assert_int_equal(idm_init_write(f->data, f->problem, &f->notes, &error), IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
  assert_int_equal(error.line, line);
  assert_int_equal(error.column, column);
  assert_string_equal(error.file, f->data);
  assert_int_equal(f->notes.count, 0);
  /* Nothing is left behind. */
  assert_int_not_equal(access(f->problem, F_OK), 0);
}

static void test_default_names(void **state)
{
  fixture *f = *state;
  idm_problem *problem = init(f, "agent,trajectory,action,observation\n"
                                 "a,1,wait,neg\na,1,treat,pos\nb,1,wait,\nb,1,wait,pos\n"
                                 "b,2,stop,\nb,2,,pos\n");
  expect_names(&problem->setting->actions, (const char *const[]){"stop", "treat", "wait"}, 3);
  expect_names(&problem->setting->observations, (const char *const[]){"neg", "pos"}, 2);
  assert_int_equal(problem->setting->states.count, 2);
  /* 'treat' stands on a last row only; 'stop' is followed by a row. */
  assert_false(problem->setting->ends[0]);
  assert_true(problem->setting->ends[1]);
  assert_false(problem->setting->ends[2]);
  read_back(f, problem, 6, 3);
  assert_true(has_note(f, "rows: 6, trajectories: 3, agents: 2; empty cells: 1 of the action, 2 "
                          "of the observation"));
  assert_false(has_note(f, "guess"));
  assert_non_null(strstr(f->text, "\n# FILL IN: "));
  assert_non_null(strstr(f->text, "free: {alpha: {scale: log, prior: {normal: [0, 2]}}}"));
  idm_problem_destroy(problem);
}

static void test_guessed_names(void **state)
{
  fixture *f = *state;
  idm_problem *problem =
      init(f, "Participant,Run,Trial,Choice,Outcome\np,1,1,x,0\np,1,1,y,1\np,1,2,y,1\np,2,1,x,0\n");
  read_back(f, problem, 4, 3);
  assert_true(has_note(f, "column 'Participant' is taken for the agent (a guess: check it)"));
  assert_true(has_note(f, "column 'Trial' is taken for the trajectory (a guess: check it)"));
  assert_true(has_note(f, "column 'Choice' is taken for the action (a guess: check it)"));
  assert_int_equal(problem->columns.role[IDM_COLUMN_TRAJECTORY].count, 2);
  idm_problem_destroy(problem);
}

/* A trial per row is no trajectory: a learner's memory would begin anew on every row. */
static void test_numbered_rows(void **state)
{
  fixture *f = *state;
  idm_problem *problem =
      init(f, "subject,trial,choice,outcome\na,1,x,0\na,2,y,1\na,3,x,0\nb,1,x,1\nb,2,y,0\n");
  read_back(f, problem, 5, 2);
  assert_true(has_note(f, "column 'trial' changes on every row"));
  assert_int_equal(problem->columns.role[IDM_COLUMN_TRAJECTORY].count, 0);
  idm_problem_destroy(problem);
}

/* Blocks whose column has another name: trials that begin anew in each number rows too. Two rows of
 * one trial, or a time column by which rows are sorted, show trajectories. */
static void test_numbered_rows_of_blocks(void **state)
{
  fixture *f = *state;
  idm_problem *problem = init(f, "subject,block,trial,choice,outcome\na,1,1,x,0\na,1,2,y,1\n"
                                 "a,2,1,x,0\na,2,2,x,1\nb,1,1,y,0\n");
  read_back(f, problem, 5, 2);
  assert_true(has_note(f, "column 'trial' changes on every row"));
  idm_problem_destroy(problem);
  problem = init(f, "subject,trial,choice,outcome\na,1,x,0\na,1,y,1\na,2,x,0\nb,1,y,0\n");
  read_back(f, problem, 4, 3);
  idm_problem_destroy(problem);
  problem = init(f, "subject,trial,time,choice,outcome\na,1,1,x,0\na,2,1,y,1\na,1,2,x,0\n"
                    "a,2,2,y,0\n");
  read_back(f, problem, 4, 2);
  idm_problem_destroy(problem);
}

static void test_nothing_found(void **state)
{
  fixture *f = *state;
  idm_problem *problem = init(f, "u,v\n1,2\n3,4\n");
  assert_int_equal(problem->setting->actions.count, 2);
  assert_true(has_note(f, "no column looks like the action"));
  assert_true(has_note(f, "no column looks like the observation"));
  assert_true(has_note(f, "no column assigns rows to trajectories"));
  idm_problem_destroy(problem);
}

static void test_odd_labels(void **state)
{
  fixture *f = *state;
  idm_problem *problem = init(f, "agent,action,observation\n"
                                 "a,no,1\na,a: b,10\na,\"x,y]\",2\na,# c,1\na,\"say \"\"q\"\"\",1\n"
                                 "a,\xc3\xa9t\xc3\xa9,1\na,back\\slash,1\n"
                                 "a,**,1\na,null,1\na,~,1\na,-,1\na,'q',1\n");
  expect_names(&problem->setting->actions,
               (const char *const[]){"# c", "'q'", "**", "-", "a: b", "back\\slash", "no", "null",
                                     "say \"q\"", "x,y]", "~", "\xc3\xa9t\xc3\xa9"},
               12);
  /* Whole numbers by size. */
  expect_names(&problem->setting->observations, (const char *const[]){"1", "2", "10"}, 3);
  read_back(f, problem, 12, 1);
  idm_problem_destroy(problem);
}

/* Numbers and texts for what is missing are read as they are, and better ways are suggested. */
static void test_codes_and_missing(void **state)
{
  fixture *f = *state;
  idm_problem *problem = init(f, "agent\taction\tobservation\na\t0\tNA\na\t1\twin\na\tn/a\t.\n");
  expect_names(&problem->setting->actions, (const char *const[]){"0", "1"}, 2);
  expect_names(&problem->setting->observations, (const char *const[]){"win"}, 1);
  expect_names(&problem->columns.missing, (const char *const[]){"NA", "n/a", "."}, 3);
  assert_non_null(strstr(f->text, "# codes: {action: {0: NAME, 1: NAME}}"));
  assert_null(strstr(f->text, "# codes: {observation"));
  assert_true(has_note(f, "'NA' is taken for what was not recorded"));
  read_back(f, problem, 3, 1);
  idm_problem_destroy(problem);
}

static void test_ends_in_time(void **state)
{
  fixture *f = *state;
  idm_problem *problem = init(f, "agent,time,action,observation\na,3,stop,0\na,1,go,0\na,2,go,0\n");
  assert_int_equal(problem->columns.role[IDM_COLUMN_TIME].count, 1);
  assert_false(problem->setting->ends[0]);
  assert_true(problem->setting->ends[1]);
  read_back(f, problem, 3, 1);
  idm_problem_destroy(problem);
}

static void test_errors(void **state)
{
  fixture *f = *state;
  expect_error(f, "", 1, 1, "the file is empty");
  expect_error(f, "agent,action,observation\n", 1, 1, "a header and no rows");
  expect_error(f, "agent,action,observation\na,x,1\na,y\n", 3, 3, "this row has 2 fields");
  expect_error(f, "agent,action,observation\na,*,1\n", 2, 3, "'*' as an action");
  expect_error(f, "agent,time,action,observation\na,x,y,1\n", 2, 3, "expected a finite number");
  expect_error(f, "agent,action,observation\na,\xe9t\xe9,1\n", 2, 3, "not UTF-8");
  expect_error(f, "agent,action,observation,\xff\na,x,1,\n", 1, 26, "not UTF-8");
  expect_error(f, "agent,action,observation\na,\xed\xa0\x80,1\n", 2, 3, "not UTF-8");
  expect_error(f, "agent,action,observation\na,\"two\nlines\",1\n", 2, 3, "without control");
  expect_error(f, "agent,action,observation\na,\xc2\x85,1\n", 2, 3, "without control");
  char wide[300];
  snprintf(wide, sizeof wide, "agent,action,observation\na,x,%0120d\n", 7);
  expect_error(f, wide, 2, 5, "a text of 120 bytes in column 'observation'");
  char table[4000] = "agent,action,observation\n";
  for (int i = 0; i < 51; i++)
    snprintf(table + strlen(table), sizeof table - strlen(table), "a,%d.5,1\n", i);
  expect_error(f, table, 52, 3, "column 'action' holds more than 50 distinct texts (here '50.5')");
  idm_error error = {0};
  assert_int_equal(idm_init_write("/nowhere/x.csv", f->problem, NULL, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "cannot open"));
  put_table(f, "agent,action,observation\na,x,1\n");
  assert_int_equal(idm_init_write(f->data, "/nowhere/x.yaml", NULL, &error), IDM_SYSTEM);
}

static void test_beads(void **state)
{
  fixture *f = *state;
  const char *path = support_shared("beads/beads_voi_decisions.csv");
  idm_problem *problem = init_from(f, path);
  assert_true(has_note(f, "rows: 7075, trajectories: 3393, agents: 15"));
  assert_true(problem->setting->ends[0] && problem->setting->ends[1] && !problem->setting->ends[2]);
  idm_problem_destroy(problem);
}

int main(void)
{
#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      WITH_FILES(test_default_names), WITH_FILES(test_guessed_names),
      WITH_FILES(test_numbered_rows), WITH_FILES(test_numbered_rows_of_blocks),
      WITH_FILES(test_nothing_found), WITH_FILES(test_odd_labels),
      WITH_FILES(test_ends_in_time),  WITH_FILES(test_codes_and_missing),
      WITH_FILES(test_errors),        WITH_FILES(test_beads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
