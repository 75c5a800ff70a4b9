/* Tests the transitions of a log: complete rows, successors, rewards, and rejected logs. */
#include "plan/tabular/learner.h"

#include <math.h>
#include <string.h>

#include "support.h"

static idm_problem *stairs(void)
{
  return support_yaml("states: [a, b, c]\nactions: [go, stop]\nobservations: states\n"
                      "start: [1, 0, 0]\ndiscount: 0.9\nterminal: [stop]\n"
                      "transition: {go: uniform}\nutility: {go: 1, stop: [2, 3, 4]}\n");
}

static idm_batch *batch_of(const idm_problem *problem, const char *csv, bool rewards)
{
  idm_data *data = support_data(problem, csv);
  idm_batch *batch;
  check(idm_batch_create(problem->setting, data, rewards, &batch, &support_error));
  idm_data_destroy(data);
  return batch;
}

static void expect_row(const idm_batch *b, size_t i, uint32_t state, uint32_t action, uint32_t next)
{
  assert_int_equal(b->state[i], state);
  assert_int_equal(b->action[i], action);
  assert_int_equal(b->next[i], next);
}

/* A trajectory continues from the last observed state; a terminal action ends it; a missing cell
 * removes the row before it and the row after it. */
static void whole_rows_are_transitions(void **state)
{
  (void)state;
  idm_problem *problem = stairs();
  idm_batch *b = batch_of(problem,
                          "trajectory,action,observation\n"
                          "1,go,b\n1,go,c\n1,stop,\n"
                          "2,go,\n2,go,b\n2,,a\n2,go,\n",
                          false);
  assert_int_equal(b->count, 3);
  expect_row(b, 0, 0, 0, 1);
  expect_row(b, 1, 1, 0, 2);
  expect_row(b, 2, 2, 1, IDM_BATCH_END);
  assert_int_equal(b->omitted, 4);
  assert_null(b->reward);
  idm_batch *copy = idm_batch_copy(b);
  assert_non_null(copy);
  assert_int_equal(copy->count, 3);
  assert_memory_equal(copy->next, b->next, 3 * sizeof *b->next);
  assert_ptr_not_equal(copy->next, b->next);
  idm_batch_destroy(copy);
  idm_batch_destroy(b);
  idm_batch_destroy(NULL);
  idm_problem_destroy(problem);
}

/* An unknown start is not used as a state. */
static void starts_come_from_the_log(void **state)
{
  (void)state;
  idm_problem *problem = stairs();
  memcpy(problem->setting->start, (const double[]){0.5, 0.5, 0}, 3 * sizeof(double));
  idm_batch *b = batch_of(problem, "trajectory,action,observation\n1,go,b\n1,go,c\n", false);
  assert_int_equal(b->count, 1);
  expect_row(b, 0, 1, 0, 2);
  idm_batch_destroy(b);
  idm_problem_destroy(problem);
}

static void rewards_are_those_of_the_log(void **state)
{
  (void)state;
  idm_problem *problem = stairs();
  static const char csv[] = "trajectory,action,observation,reward\n1,go,b,0.5\n1,go,c,-7\n";
  const idm_csv_options wanted = {.columns = 1u << IDM_COLUMN_REWARD};
  idm_data *data;
  check(idm_data_parse_csv(csv, strlen(csv), "test.csv", problem, &wanted, &data, NULL,
                           &support_error));
  idm_batch *b;
  check(idm_batch_create(problem->setting, data, true, &b, &support_error));
  assert_true(b->reward[0] == 0.5 && b->reward[1] == -7);
  idm_batch_destroy(b);
  data->number[IDM_COLUMN_REWARD][1] = NAN;
  assert_int_equal(idm_batch_create(problem->setting, data, true, &b, &support_error), IDM_INPUT);
  assert_null(b);
  assert_int_equal(support_error.line, 3);
  assert_non_null(strstr(support_error.message, "no reward"));
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void it_refuses(const idm_problem *problem, const char *csv, bool rewards, const char *words)
{
  idm_data *data = support_data(problem, csv);
  idm_batch *b;
  assert_int_equal(idm_batch_create(problem->setting, data, rewards, &b, &support_error),
                   IDM_INPUT);
  assert_null(b);
  assert_non_null(strstr(support_error.message, words));
  idm_data_destroy(data);
}

static void other_logs_are_refused(void **state)
{
  (void)state;
  idm_problem *problem = stairs();
  it_refuses(problem, "trajectory,action,observation\n1,go,b\n", true, "no column of rewards");
  it_refuses(problem, "trajectory,action,observation\n1,go,\n", false, "nothing to learn from");
  problem->setting->fully_observed = false;
  it_refuses(problem, "trajectory,action,observation\n1,go,b\n", false, "hidden");
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_rows_are_transitions),
      cmocka_unit_test(starts_come_from_the_log),
      cmocka_unit_test(rewards_are_those_of_the_log),
      cmocka_unit_test(other_logs_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
