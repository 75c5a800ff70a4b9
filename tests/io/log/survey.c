/* One pass over a table of unknown meaning: columns by name, labels in order, ends of trajectories.
 */
#include "io/log/log.h"

#include <stdio.h>
#include <string.h>

#include "support.h"

static idm_status take(idm_log_schema *s, const char *text, idm_error *error)
{
  idm_csv *csv;
  *s = (idm_log_schema){.file = "t.csv"};
  check(idm_csv_open_memory(text, strlen(text), "t.csv", &csv, &support_error));
  const idm_status status = idm_log_schema_infer(s, csv, error);
  idm_csv_close(csv);
  return status;
}

static idm_log_schema survey(const char *text)
{
  idm_log_schema s;
  check(take(&s, text, &support_error));
  return s;
}

static void expect_error(const char *text, long line, long column, const char *words)
{
  idm_log_schema s;
  idm_error error = {0};
  assert_int_equal(take(&s, text, &error), IDM_INPUT);
  support_expect_place(&error, line, column, words);
  idm_log_schema_clear(&s);
}

/* The columns that a role found, by their place in the header; "-" for none. */
static void expect_columns(const char *header, const char *const expected[5])
{
  static const idm_column roles[] = {IDM_COLUMN_AGENT, IDM_COLUMN_TRAJECTORY, IDM_COLUMN_TIME,
                                     IDM_COLUMN_ACTION, IDM_COLUMN_OBSERVATION};
  char text[400];
  snprintf(text, sizeof text, "%s\n1,1,1,1,1,1\n", header);
  idm_log_schema s = survey(text);
  for (size_t r = 0; r < 5; r++) {
    char found[40] = "";
    const idm_log_role *role = &s.header.role[roles[r]];
    for (size_t i = 0; i < role->count; i++)
      snprintf(found + strlen(found), 8, "%zu", role->column[i]);
    assert_string_equal(*found ? found : "-", expected[r]);
  }
  idm_log_schema_clear(&s);
}

static void test_columns(void **state)
{
  (void)state;
  expect_columns("observation,action,time,trajectory,agent,x",
                 (const char *const[]){"4", "3", "2", "1", "0"});
  /* Guesses are in any case; trials are numbered within runs, in the order of nesting. */
  expect_columns("TRIAL,Subject,Run,x,y,z", (const char *const[]){"1", "20", "-", "-", "-"});
  /* A trajectory that has a name of its own is not guessed from others. */
  expect_columns("trial,trajectory,run,x,y,z", (const char *const[]){"-", "1", "-", "-", "-"});
}

static void expect_sorted(const idm_label_column *column, const char *const *labels, size_t count)
{
  assert_int_equal(column->count, count);
  for (size_t i = 0; i < count; i++) assert_string_equal(column->sorted[i], labels[i]);
}

/* Whole numbers by size, other texts by their letters; what looks missing is none. */
static void test_labels(void **state)
{
  (void)state;
  idm_log_schema s = survey("agent,action,observation\n"
                            "a,10,NA\na,2, x \na,9,\na,2,B\nb,10,b\nb,,NA\n");
  expect_sorted(&s.actions, (const char *const[]){"2", "9", "10"}, 3);
  expect_sorted(&s.observations, (const char *const[]){"B", "b", "x"}, 3);
  assert_int_equal(s.actions.missing, 1);
  assert_int_equal(s.observations.missing, 3);
  assert_int_equal(s.missing.count, 1); /* NA, once */
  assert_int_equal(s.rows, 6);
  assert_int_equal(s.agents.count, 2);
  assert_int_equal(s.division.trajectories.count, 2);
  idm_log_schema_clear(&s);
}

static void expect_endings(const char *text, const char *const *actions, size_t count)
{
  idm_log_schema s = survey(text);
  const char *found[idm_label_limit];
  assert_int_equal(idm_log_schema_endings(&s, found), count);
  for (size_t i = 0; i < count; i++) assert_string_equal(found[i], actions[i]);
  idm_log_schema_clear(&s);
}

/* Actions that nothing follows, in the order of time where there is one, else of the file. */
static void test_endings(void **state)
{
  (void)state;
  expect_endings("trajectory,action\n1,wait\n1,stop\n2,wait\n2,leave\n3,stop\n",
                 (const char *const[]){"leave", "stop"}, 2);
  expect_endings("trajectory,time,action\n1,2,stop\n1,1,wait\n", (const char *const[]){"stop"}, 1);
  expect_endings("trajectory,time,action\n1,1,stop\n1,2,wait\n", (const char *const[]){"wait"}, 1);
  /* The same trajectory of another agent is another. */
  expect_endings("agent,trajectory,action\na,1,stop\nb,1,wait\n",
                 (const char *const[]){"stop", "wait"}, 2);
  /* Parts of ids do not run into each other. */
  expect_endings("session,trial,action\n1,11,stop\n11,1,wait\n",
                 (const char *const[]){"stop", "wait"}, 2);
  /* Of a table that does not tell trajectories apart nothing is said. */
  expect_endings("action\nwait\nstop\n", NULL, 0);
  /* A row without an action after it goes on, too. */
  expect_endings("trajectory,action\n1,stop\n1,\n", NULL, 0);
}

/* A column `trial` with several rows per value names trajectories; with one it numbers rows. */
static void test_trials(void **state)
{
  (void)state;
  idm_log_schema s = survey("subject,trial,action\na,1,go\na,1,stop\na,2,stop\nb,1,stop\n");
  assert_false(s.counts_rows);
  assert_int_equal(s.division.trajectories.count, 3);
  idm_log_schema_clear(&s);
  s = survey("subject,trial,action\na,1,go\na,2,stop\nb,1,go\nb,2,go\nb,3,stop\n");
  assert_true(s.counts_rows);
  assert_int_equal(s.header.role[IDM_COLUMN_TRAJECTORY].count, 0);
  assert_int_equal(s.division.trajectories.count, 2);
  const char *found[idm_label_limit];
  assert_int_equal(idm_log_schema_endings(&s, found), 1);
  assert_string_equal(found[0], "stop");
  idm_log_schema_clear(&s);
  s = survey("subject,session,trial,action\na,1,1,go\na,1,2,stop\na,2,1,stop\n");
  assert_true(s.counts_rows);
  assert_int_equal(s.header.role[IDM_COLUMN_TRAJECTORY].count, 1);
  assert_int_equal(s.division.trajectories.count, 2);
  idm_log_schema_clear(&s);
}

/* More trajectories than there is room for at first. */
static void test_many(void **state)
{
  (void)state;
  enum { count = 500 };
  static char text[count * 24];
  size_t length = (size_t)sprintf(text, "trajectory,action\n");
  for (int i = 0; i < count; i++) length += (size_t)sprintf(text + length, "%d,wait\n", i);
  for (int i = 0; i < count; i++) length += (size_t)sprintf(text + length, "%d,stop\n", i);
  expect_endings(text, (const char *const[]){"stop"}, 1);
}

static void test_refusals(void **state)
{
  (void)state;
  char text[2000] = "action\n";
  expect_error("", 1, 1, "the file is empty");
  expect_error("action\n", 1, 1, "a header and no rows");
  expect_error("action,time\ngo,noon\n", 2, 4, "'noon' in column 'time'; expected a finite number");
  expect_error("action,x\ngo,1\n*,1\n", 3, 1, "'*' as an action");
  expect_error("action,x\ng\xffo,1\n", 2, 1, "not UTF-8");
  expect_error("action,\xff\ngo,1\n", 1, 8, "not UTF-8");
  for (int i = 0; i <= idm_label_limit; i++) sprintf(text + strlen(text), "a%d\n", i);
  expect_error(text, 52, 1, "column 'action' holds more than 50 distinct texts (here 'a50')");
  strcpy(text, "action,observation\ngo,");
  const size_t head = strlen(text);
  memset(text + head, 'x', idm_label_bytes + 1);
  text[head + idm_label_bytes + 1] = '\0';
  expect_error(text, 2, 4, "a text of 101 bytes in column 'observation'");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns), cmocka_unit_test(test_labels),
      cmocka_unit_test(test_endings), cmocka_unit_test(test_trials),
      cmocka_unit_test(test_many),    cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
