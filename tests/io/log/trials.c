/* Trials as CSV: names quoted, cells without a number empty, quantiles beside their mean. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

static void expect_lines(const idm_trials *trials, const idm_data *data, const idm_setting *setting,
                         const char *const *expected, size_t count)
{
  char path[SUPPORT_PATH], line[400];
  support_path(path);
  check(idm_trials_write_csv(trials, data, setting, path, &support_error));
  FILE *stream = fopen(path, "r");
  assert_non_null(stream);
  for (size_t i = 0; i < count; i++) {
    assert_non_null(fgets(line, sizeof line, stream));
    assert_string_equal(line, expected[i]);
  }
  assert_null(fgets(line, sizeof line, stream));
  fclose(stream);
  remove(path);
}

static void cells_and_names(void **state)
{
  (void)state;
  idm_problem *problem = support_labels_problem(2, 2, 2);
  SUPPORT_NAMES(&problem->setting->states, "a,b", "c");
  SUPPORT_NAMES(&problem->setting->actions, "go \"on\"", "stop");
  idm_data *data = support_data(problem, "agent,action,observation\n\"x;y\",stop,\n");
  uint32_t node[] = {0};
  double mean[] = {0.25, 0.75, 0.5, 0.5, NAN, NAN, NAN, -INFINITY};
  double low[] = {0, 1, 2, 3, NAN, NAN, NAN, 7};
  idm_trials trials = {.sizes = {2, 2, 2}, .width = 8, .draws = 1, .rows = 1};
  trials.node = node;
  trials.mean = mean;
  const char *const plain[] = {
      "agent,trajectory,step,line,action,observation,\"belief.a,b\",belief.c,"
      "\"probability.go \"\"on\"\"\",probability.stop,\"q.go \"\"on\"\"\",q.stop,surprise,"
      "log_likelihood\n",
      "\"x;y\",\"x;y\",1,2,stop,,0.25,0.75,0.5,0.5,,,,-inf\n"};
  expect_lines(&trials, data, problem->setting, plain, 2);
  trials.low = trials.high = low;
  const char *const summed[] = {
      "agent,trajectory,step,line,action,observation,\"belief.a,b\",\"belief.a,b.q5\","
      "\"belief.a,b.q95\",belief.c,belief.c.q5,belief.c.q95,\"probability.go \"\"on\"\"\","
      "\"probability.go \"\"on\"\".q5\",\"probability.go \"\"on\"\".q95\",probability.stop,"
      "probability.stop.q5,probability.stop.q95,\"q.go \"\"on\"\"\",\"q.go \"\"on\"\".q5\","
      "\"q.go \"\"on\"\".q95\",q.stop,q.stop.q5,q.stop.q95,surprise,surprise.q5,surprise.q95,",
  };
  char path[SUPPORT_PATH], head[800];
  support_path(path);
  check(idm_trials_write_csv(&trials, data, problem->setting, path, &support_error));
  FILE *stream = fopen(path, "r");
  assert_non_null(stream);
  assert_non_null(fgets(head, sizeof head, stream));
  assert_memory_equal(head, summed[0], strlen(summed[0]));
  fclose(stream);
  remove(path);
  assert_int_equal(
      idm_trials_write_csv(&trials, data, problem->setting, "/nowhere/t.csv", &support_error),
      IDM_SYSTEM);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(cells_and_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
