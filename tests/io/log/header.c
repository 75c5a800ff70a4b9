/* Headers of logs: which column plays which role, by default and as mapped. */
#include <string.h>

#include "io/log/log_support.h"

static void test_default_roles(void **state)
{
  /* A subject is an agent; without a trajectory column each agent is one; obs is the observation.
   */
  idm_data *data = log_parse(*state, "subject,action,obs\na,2,0\nb,2,1\na,0,\n");
  assert_int_equal(data->trajectories, 2);
  assert_string_equal(data->trajectory_name.name[0], "a");
  EXPECT_ROWS(data->action, 2, 0, 2);
  idm_data_destroy(data);
  /* Without an agent column all are one. A step is no time: rows keep their order. */
  data = log_parse(*state, "trajectory,step,action,observation\nx,2,2,0\nx,1,0,1\n");
  assert_int_equal(data->agent_name.count, 1);
  assert_string_equal(data->agent_name.name[0], "all");
  EXPECT_ROWS(data->action, 2, 0);
  idm_data_destroy(data);
  /* An agent column comes before a subject column. */
  data = log_parse(*state, "subject,agent,action,observation\na,z,2,0\nb,z,0,1\n");
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
  idm_data *data = log_parse(problem, "case,doctor,site,did,saw,action\n"
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
  log_expect_error(problem, "case,doctor,site,did,saw\n1,d/e,north,0,0\n", 2, 3, "holds a '/'");
  log_expect_error(problem, "case,doctor,site,did\n1,d,north,0\n", 1, 1,
                   "no column 'saw' (the observation); the header has: case, doctor, site, did");
}

static void test_joined_ids_stay_apart(void **state)
{
  idm_problem *problem = *state;
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_TRAJECTORY], "run", "trial");
  idm_data *data = log_parse(problem, "agent,run,trial,action,observation\na,1/2,3,2,0\na,1,3,2,0\n"
                                      "b,1,2/3,2,0\n");
  assert_int_equal(data->trajectories, 3);
  idm_data_destroy(data);
  /* What would be one wherever the ids are written is not taken for two. */
  log_expect_error(problem, "agent,run,trial,action,observation\na,1/2,3,2,0\na,1,2/3,2,0\n", 3, 3,
                   "the id of this trajectory, '1/2/3', is that of another as well");
}

static void test_header_errors(void **state)
{
  idm_problem *problem = *state;
  log_expect_error(problem, "", 1, 1, "the file is empty");
  log_expect_error(problem, "\n\n", 1, 1, "the file is empty");
  log_expect_error(problem, "agent,action,observation\n", 1, 1, "a header and no rows");
  log_expect_error(problem, "\n\nagent,action,observation\n\n", 3, 1, "a header and no rows");
  log_expect_error(problem, "x,action,observation\n1,2,0\n", 1, 1, "data: {trajectory: COLUMN}");
  log_expect_error(problem, "agent,observation\na,0\n", 1, 1, "no column 'action' (the action)");
  log_expect_error(problem, "agent,action\na,2\n", 1, 1, "no column 'observation'");
  log_expect_error(problem, "agent,action,observation,action\na,2,0,1\n", 1, 26,
                   "a second column named 'action'");
  log_expect_error(problem, "agent,action,observation\na,2\n", 2, 3,
                   "this row has 2 fields; the header has 3");
  log_expect_error(problem, "agent,action,observation\n,2,0\n", 2, 1, "the id of an agent");
  log_expect_error(problem, "agent,trajectory,action,observation\na, ,2,0\n", 2, 3,
                   "the id of a trajectory");
  idm_data *data;
  idm_error error = {0};
  assert_int_equal(idm_data_read_csv("/nowhere/x.csv", problem, NULL, &data, NULL, &error),
                   IDM_INPUT);
  assert_non_null(strstr(error.message, "cannot open '/nowhere/x.csv'"));
  assert_int_equal(idm_data_read_csv("/", problem, NULL, &data, NULL, &error), IDM_INPUT);
  assert_null(data);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_DIAG(test_default_roles),
      WITH_DIAG(test_mapped_roles),
      WITH_DIAG(test_joined_ids_stay_apart),
      WITH_DIAG(test_header_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
