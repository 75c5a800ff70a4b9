/* Evidence written as CSV comes back as the same evidence. */
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
#include "io/log_file.h"
#include "support.h"

static idm_data *parse(const idm_problem *problem, const char *text)
{
  idm_data *data;
  idm_error error = {0};
  if (idm_data_parse_csv(text, strlen(text), "log.csv", problem, NULL, &data, NULL, &error) !=
      IDM_OK)
    fail_msg("%ld:%ld: %s", error.line, error.column, error.message);
  return data;
}

static void write_and_read(const idm_data *data, const idm_problem *problem, idm_data **ret_data,
                           char *head, size_t size)
{
  char path[SUPPORT_PATH];
  support_path(path);
  idm_error error = {0};
  if (idm_data_write_csv(data, problem, path, &error) != IDM_OK) fail_msg("%s", error.message);
  if (idm_data_read_csv(path, problem, NULL, ret_data, NULL, &error) != IDM_OK)
    fail_msg("%ld:%ld: %s", error.line, error.column, error.message);
  FILE *stream = fopen(path, "rb");
  assert_non_null(stream);
  assert_non_null(fgets(head, (int)size, stream));
  fclose(stream);
  remove(path);
}

static void expect_same(const idm_data *a, const idm_data *b)
{
  assert_int_equal(a->rows, b->rows);
  assert_int_equal(a->trajectories, b->trajectories);
  assert_memory_equal(a->action, b->action, a->rows * sizeof *a->action);
  assert_memory_equal(a->observation, b->observation, a->rows * sizeof *a->observation);
  assert_memory_equal(a->available, b->available, a->rows * sizeof *a->available);
  assert_memory_equal(a->first, b->first, (a->trajectories + 1) * sizeof *a->first);
  assert_memory_equal(a->agent, b->agent, a->trajectories * sizeof *a->agent);
  assert_memory_equal(a->start, b->start, a->trajectories * sizeof *a->start);
  assert_int_equal(a->available_sets, b->available_sets);
  assert_memory_equal(a->available_set, b->available_set, a->available_sets * a->sizes.actions);
  assert_int_equal(a->starts, b->starts);
  assert_memory_equal(a->start_belief, b->start_belief,
                      a->starts * a->sizes.states * sizeof *a->start_belief);
  for (size_t i = 0; i < a->agent_name.count; i++)
    assert_string_equal(a->agent_name.name[i], b->agent_name.name[i]);
  for (size_t i = 0; i < a->trajectory_name.count; i++)
    assert_string_equal(a->trajectory_name.name[i], b->trajectory_name.name[i]);
}

static void test_plain(void **state)
{
  idm_data *data = parse(*state, "agent,trajectory,action,observation\n"
                                 "\"a,b\",\"say \"\"x\"\"\",2,0\n\"a,b\",2,2,\nc,2,,1\nc,2,1,1\n");
  idm_data *again;
  char head[200];
  write_and_read(data, *state, &again, head, sizeof head);
  assert_string_equal(head, "agent,trajectory,step,action,observation\n");
  expect_same(data, again);
  idm_data_destroy(data);
  idm_data_destroy(again);
}

static void test_everything(void **state)
{
  (void)state;
  idm_problem *problem = support_labels_problem(2, 4, 2);
  SUPPORT_NAMES(&problem->setting->states, "a,b", "c\"d");
  SUPPORT_NAMES(&problem->setting->actions, "x|y", " blank", "a,\"b\"", "line\nend");
  support_codes(problem, "index");
  idm_data *data = parse(problem, "agent,action,observation,\"belief.a,b\",\"belief.c\"\"d\","
                                  "available\n"
                                  "u,0,0,0.1,0.9,0|2\nu,1,0,,,1\nu,2,0,,,\nu,3,1,,,2|3\n"
                                  "v,0,,,,\nw,0,,0.12345678901234567,0.87654321098765433,\n");
  /* Labels that no cell can hold go by their numbers, whatever numbers mean otherwise. */
  support_codes(problem, "labels");
  idm_data *again;
  char head[200];
  write_and_read(data, problem, &again, head, sizeof head);
  assert_string_equal(head, "agent,trajectory,step,action,observation,\"belief.a,b\","
                            "\"belief.c\"\"d\",available\n");
  expect_same(data, again);
  idm_data_destroy(data);
  idm_data_destroy(again);
  idm_problem_destroy(problem);
}

static void test_numbered(void **state)
{
  /* Without names trajectories are numbered from 1; the setting's own start needs no column. */
  idm_data *data = parse(*state, "agent,trajectory,action,observation,belief.healthy,"
                                 "belief.diseased\na,x,2,0,0.5,0.5\na,y,2,0,,\n");
  assert_int_equal(data->starts, 1);
  idm_labels_destroy(&data->trajectory_name);
  idm_data *again;
  char head[200];
  write_and_read(data, *state, &again, head, sizeof head);
  assert_string_equal(head, "agent,trajectory,step,action,observation\n");
  assert_string_equal(again->trajectory_name.name[1], "2");
  assert_int_equal(again->start[0], -1);
  idm_data_destroy(data);
  idm_data_destroy(again);
}

/* Missed responses by their own texts, without a column of availability on their account. */
static void test_missed(void **state)
{
  idm_problem *problem = *state;
  SUPPORT_NAMES(&problem->columns.missed, "late", "NA");
  SUPPORT_NAMES(&problem->columns.missing, "NA");
  problem->columns.missed_action = 3;
  idm_data *data = parse(problem, "agent,trajectory,action,observation\n"
                                  "a,1,2,0\na,1,late,1\na,1,NA,\na,1,,0\na,1,0,\n");
  idm_data *again;
  char head[200];
  write_and_read(data, problem, &again, head, sizeof head);
  assert_string_equal(head, "agent,trajectory,step,action,observation\n");
  expect_same(data, again);
  assert_memory_equal(data->missed, again->missed, 5 * sizeof *data->missed);
  assert_int_equal(again->missed[2], 1);
  idm_labels_destroy(&problem->columns.missed);
  assert_int_equal(idm_data_write_csv(data, problem, "/tmp/idm-test-unused.csv", &support_error),
                   IDM_INPUT);
  assert_non_null(strstr(support_error.message, "data.missed of the problem has 0 texts"));
  idm_data_destroy(data);
  idm_data_destroy(again);
}

static void test_errors(void **state)
{
  idm_data *data = parse(*state, "agent,action,observation\na,2,0\n");
  idm_error error = {0};
  const idm_problem *problem = *state;
  assert_int_equal(idm_data_write_csv(data, problem, "/nowhere/x.csv", &error), IDM_SYSTEM);
  idm_data_destroy(data);
  /* A label that a reader would trim, and whose number is another's label. */
  idm_problem *odd = support_labels_problem(2, 2, 2);
  SUPPORT_NAMES(&odd->setting->actions, " x", "0");
  data = parse(odd, "agent,action,observation\na,0,0\n");
  assert_int_equal(idm_data_write_csv(data, odd, "/tmp/idm-test-unused.csv", &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "' x' cannot be written"));
  idm_data_destroy(data);
  idm_problem_destroy(odd);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_plain, support_set_up, support_tear_down),
      cmocka_unit_test(test_everything),
      cmocka_unit_test_setup_teardown(test_numbered, support_set_up, support_tear_down),
      cmocka_unit_test_setup_teardown(test_missed, support_set_up, support_tear_down),
      cmocka_unit_test_setup_teardown(test_errors, support_set_up, support_tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
