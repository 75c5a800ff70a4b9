/* From rows as they came to evidence: grouped by trajectory, ordered in time, checked. */
#include "io/log/log.h"

#include "io/log/log_support.h"

static void test_interleaved(void **state)
{
  idm_data *data = log_parse(*state, "agent,trajectory,action,observation\n"
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
  idm_data *data =
      log_parse(problem, "agent,time,action,observation\n"
                         "a,10,2,0\nb,-1e3,2,1\na,9.5,2,1\na,123456789012345678,0,0\n");
  EXPECT_ROWS(data->action, 2, 2, 0, 2);
  EXPECT_ROWS(data->observation, 1, 0, 0, 1);
  assert_int_equal(data->line[0], 4);
  idm_data_destroy(data);
  log_expect_error(problem, "agent,time,action,observation\na,1,2,0\na,noon,2,0\n", 3, 3,
                   "'noon' in column 'time'; expected a finite number");
  log_expect_error(problem, "agent,time,action,observation\na,,2,0\n", 2, 3,
                   "expected a finite number");
  log_expect_error(problem, "agent,time,action,observation\na,inf,2,0\n", 2, 3, "'inf'");
  log_expect_error(problem, "agent,time,action,observation\na,nan,2,0\n", 2, 3, "'nan'");
  log_expect_error(problem, "agent,time,action,observation\na,0x10,2,0\n", 2, 3, "'0x10'");
  log_expect_error(problem, "agent,time,action,observation\na,1e999,2,0\n", 2, 3, "'1e999'");
  log_expect_error(problem, "agent,time,action,observation\na,3,2,0\nb,3,2,0\na,1,2,0\na,3.0,2,0\n",
                   5, 3, "lines 2 and 5 of one trajectory have the same time");
}

static void test_several_times(void **state)
{
  idm_problem *problem = *state;
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_TIME], "day", "hour");
  idm_data *data = log_parse(problem, "agent,hour,day,action,observation\n"
                                      "a,1,2,0,0\na,9,1,2,0\na,8,1,2,1\n");
  EXPECT_ROWS(data->action, 2, 2, 0);
  EXPECT_ROWS(data->observation, 1, 0, 0);
  idm_data_destroy(data);
  log_expect_error(problem, "agent,hour,day,action,observation\na,1,2,2,0\na,1,2,2,0\n", 3, 5,
                   "lines 2 and 3");
}

static void test_goes_on(void **state)
{
  idm_problem *problem = *state;
  log_expect_error(problem, "agent,action,observation\na,2,0\nb,2,1\na,0,0\na,2,0\n", 4, 3,
                   "the trajectory goes on (line 5) after 'healthy!', which ends it");
  /* In time the declaration comes last. */
  idm_data_destroy(log_parse(problem, "agent,time,action,observation\na,2,0,0\na,1,2,0\n"));
  log_expect_error(problem, "agent,time,action,observation\na,1,0,0\na,2,2,0\n", 2, 5, "goes on");
  problem->setting->ends[0] = problem->setting->ends[1] = false;
  problem->setting->terminal[0] = true;
  log_expect_error(problem, "agent,action,observation\na,0,0\na,2,0\n", 2, 3, "goes on");
}

static void test_horizon(void **state)
{
  idm_problem *problem = *state;
  problem->setting->horizon = 2;
  idm_data_destroy(log_parse(problem, "agent,action,observation\na,2,0\na,2,0\n"));
  log_expect_error(problem, "agent,action,observation\na,2,0\nb,2,0\na,2,0\na,2,0\n", 5, 3,
                   "step 3 of a trajectory of 3 steps; the horizon is 2");
}

/* Ids in parts are joined by '/', agents that differ have trajectories of their own, and columns
 * that are kept go with their rows. */
static void test_names_and_covariates(void **state)
{
  idm_problem *problem = *state;
  static const char *const keep[] = {"ward"};
  const idm_csv_options options = {.keep = keep, .keep_count = 1};
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_TRAJECTORY], "day", "bed");
  idm_data *data = log_parse_keeping(problem,
                                     "agent,day,bed,time,ward,action,observation\n"
                                     "ann,1,a,2,north,2,0\nbob,1,a,1,south,2,1\n"
                                     "ann,1,a,1,east,2,1\nann,1,b,1,north,2,0\n",
                                     &options, NULL);
  assert_int_equal(data->trajectories, 3);
  assert_string_equal(data->trajectory_name.name[0], "1/a");
  assert_string_equal(data->trajectory_name.name[1], "1/a");
  assert_string_equal(data->trajectory_name.name[2], "1/b");
  const uint32_t agents[] = {0, 1, 0};
  for (size_t i = 0; i < 3; i++) assert_int_equal(data->agent[i], agents[i]);
  static const char *const wards[] = {"east", "north", "south", "north"};
  for (size_t row = 0; row < 4; row++)
    assert_string_equal(data->covariate_level[0].name[data->covariate[row]], wards[row]);
  const uint32_t lines[] = {4, 2, 3, 5};
  for (size_t row = 0; row < 4; row++) assert_int_equal(data->line[row], lines[row]);
  idm_data_destroy(data);
}

/* Trajectories whose rows did not stand in the order of time are counted. */
static void test_unsorted(void **state)
{
  idm_problem *problem = *state;
  idm_data *data = log_parse(problem, "agent,time,action,observation\n"
                                      "a,1,2,0\nb,2,2,0\na,2,2,0\nb,1,2,1\n");
  assert_int_equal(data->log_counts->unsorted, 1);
  EXPECT_ROWS(data->observation, 0, 0, 1, 0);
  idm_data_destroy(data);
  log_expect_error(problem, "agent,time,action,observation\n", 1, 1, "a header and no rows");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_DIAG(test_interleaved), WITH_DIAG(test_time),    WITH_DIAG(test_several_times),
      WITH_DIAG(test_goes_on),     WITH_DIAG(test_horizon), WITH_DIAG(test_names_and_covariates),
      WITH_DIAG(test_unsorted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
