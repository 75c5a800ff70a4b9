/* States of a log, where they are observed. */

#include "io/log/log_support.h"

/* Three states that are seen; any may follow any. */
static idm_problem *observed(void)
{
  return support_yaml("states: [a, b, c]\nactions: [stay, go]\nobservations: states\n"
                      "transition: {\"*\": uniform}\nutility: {\"*\": 0}\n");
}

static int set_up(void **state)
{
  *state = observed();
  return 0;
}

static const double *start_of(const idm_data *data, size_t trajectory)
{
  assert_true(data->start[trajectory] >= 0);
  return data->start_belief + (size_t)data->start[trajectory] * data->sizes.states;
}

/* The state on a row is what was seen on the one before; the first says where a trajectory starts.
 */
static void test_states_alone(void **state)
{
  idm_data *data = log_parse(*state, "trajectory,state,action\n"
                                     "1,a,go\n2,c,stay\n1,b,stay\n1,c,go\n2,,go\n2,a,stay\n");
  EXPECT_ROWS(data->action, 1, 0, 1, 0, 1, 0);
  EXPECT_ROWS(data->state, 0, 1, 2, 2, IDM_MISSING, 0);
  EXPECT_ROWS(data->observation, 1, 2, IDM_MISSING, IDM_MISSING, 0, IDM_MISSING);
  assert_true(start_of(data, 0)[0] == 1);
  assert_true(start_of(data, 1)[2] == 1);
  assert_int_equal(data->log_counts->final_rows, 0);
  idm_data_destroy(data);
}

/* A last row without an action is no decision; what goes with the others stays with them. */
static void test_closing(void **state)
{
  static const char *const keep[] = {"ward"};
  const idm_csv_options options = {
      .keep = keep, .keep_count = 1, .columns = 1u << IDM_COLUMN_REWARD};
  idm_data *data = log_parse_keeping(*state,
                                     "trajectory,state,action,reward,ward\n"
                                     "1,a,go,1,x\n1,b,,,y\n2,c,stay,2,z\n2,c,go,3,x\n3,b,go,4,y\n"
                                     "3,a,,5,z\n",
                                     &options, NULL);
  assert_int_equal(data->rows, 4);
  assert_int_equal(data->log_counts->kept.rows, 6);
  assert_int_equal(data->log_counts->final_rows, 2);
  EXPECT_ROWS(data->observation, 1, 2, IDM_MISSING, 0);
  const uint32_t lines[] = {2, 4, 5, 6};
  static const char *const wards[] = {"x", "z", "x", "y"};
  for (size_t row = 0; row < 4; row++) {
    assert_true(data->number[IDM_COLUMN_REWARD][row] == (double)row + 1);
    assert_int_equal(data->line[row], lines[row]);
    assert_string_equal(data->covariate_level[0].name[data->covariate[row]], wards[row]);
  }
  idm_data_destroy(data);
  log_expect_error(*state, "trajectory,state,action\n1,a,\n", 2, 5,
                   "a state and no action on the only row");
  const idm_csv_options rewards = {.columns = 1u << IDM_COLUMN_REWARD};
  log_expect_error_with(*state, "trajectory,state,action,reward\n1,a,,\n1,a,go,1\n", &rewards, 2, 5,
                        "an empty cell for the reward");
  log_expect_error_with(*state, "trajectory,state,action,reward\n1,a,go,\n1,a,go,1\n", &rewards, 2,
                        8, "'' for the reward");
}

/* Given both, they must agree, and either fills what the other lacks. */
static void test_both(void **state)
{
  idm_data *data = log_parse(*state, "trajectory,state,action,observation\n"
                                     "1,a,go,b\n1,,stay,c\n1,c,go,\n1,b,go,a\n");
  EXPECT_ROWS(data->observation, 1, 2, 1, 0);
  idm_data_destroy(data);
  log_expect_error(*state, "trajectory,state,action,observation\n1,a,go,b\n1,c,go,a\n", 3, 5,
                   "the state is 'c' here, and what was seen on line 2 before it is 'b'");
}

static void test_start_belief(void **state)
{
  idm_data *data = log_parse(*state, "trajectory,state,action,belief.a,belief.b,belief.c\n"
                                     "1,a,go,.5,.5,0\n2,,go,.5,.5,0\n");
  assert_true(start_of(data, 0)[0] == 1);
  assert_true(start_of(data, 1)[1] == 0.5);
  idm_data_destroy(data);
  log_expect_error(*state, "trajectory,state,action,belief.a,belief.b,belief.c\n1,c,go,.5,.5,0\n",
                   2, 5, "the first state is 'c', which the start belief on the same row excludes");
}

static void test_labels(void **state)
{
  idm_problem *problem = *state;
  log_expect_error(problem, "trajectory,state,action\n1,d,go\n", 2, 3,
                   "'d' is no state; expected one of: a, b, c");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_STATE], "place");
  idm_data_destroy(log_parse(problem, "trajectory,place,action\n1,b,go\n"));
  log_expect_error(problem, "trajectory,state,action\n1,a,go\n", 1, 1, "no column 'place'");
}

/* A column of hidden states is nobody's to read. */
static void test_hidden(void **state)
{
  (void)state;
  idm_problem *problem = support_labels_problem(2, 3, 2);
  idm_data *data = log_parse(problem, "agent,state,action,observation\na,nonsense,2,0\n");
  assert_null(data->state);
  idm_data_destroy(data);
  log_expect_error(problem, "agent,state,action\na,x,2\n", 1, 1, "no column 'observation'");
  idm_problem_destroy(problem);
}

/* A missed response on the last row is no row that only says where a trajectory went. */
static void test_missed(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(
      "states: [a, b, c]\nactions: [stay, go]\nobservations: states\n"
      "transition: {\"*\": uniform}\nutility: {\"*\": 0}\nagent: {planner: td-learner}\n"
      "data: {missed: late}\n");
  idm_data *data = log_parse(problem, "trajectory,state,action,reward\n"
                                      "1,a,go,1\n1,b,late,\n1,c,late,\n2,b,late,2\n2,a,,\n");
  EXPECT_ROWS(data->missed, IDM_MISSING, 0, 0, 0);
  EXPECT_ROWS(data->action, 1, IDM_MISSING, IDM_MISSING, IDM_MISSING);
  EXPECT_ROWS(data->observation, 1, 2, IDM_MISSING, 0);
  assert_int_equal(data->log_counts->final_rows, 1);
  for (size_t row = 0; row < 4; row++)
    assert_near(data->number[IDM_COLUMN_REWARD][row], row == 0 ? 1 : row == 3 ? 2 : 0, 0);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

#define OBSERVED(test) cmocka_unit_test_setup_teardown(test, set_up, support_tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      OBSERVED(test_states_alone),   OBSERVED(test_closing), OBSERVED(test_both),
      OBSERVED(test_start_belief),   OBSERVED(test_labels),  cmocka_unit_test(test_hidden),
      cmocka_unit_test(test_missed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
