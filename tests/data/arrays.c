/* Logs from arrays against the same logs from CSV; views of a log. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idm/plan.h"
#include "support.h"

/* Three people, five trajectories: a decision and two observations are missing. */
enum { ROWS = 12 };
static const int32_t action[ROWS] = {2, 2, 0, 2, IDM_MISSING, 1, 2, 1, 2, 2, 2, 0};
static const int32_t observation[ROWS] = {0, 0, IDM_MISSING, 1,           0, IDM_MISSING,
                                          1, 0, 1,           IDM_MISSING, 0, 1};
static const int64_t trajectory[ROWS] = {7, 7, 7, 8, 8, 8, -1, -1, 7, 7, 7, INT64_MAX};
static const int64_t person[ROWS] = {40, 40, 40, 5, 5, 5, 40, 40, 6, 6, 6, INT64_MIN};
static const char *const site[ROWS] = {"x", "x", "x", "y", "y", "y", "x", "x", "", "", "", NULL};
static const char *const visit[ROWS] = {"1", "2", "3", "1", NULL, "3",
                                        "1", "2", "1", "2", "3",  "1"};

static idm_data_arrays arrays(void)
{
  return (idm_data_arrays){.size = sizeof(idm_data_arrays),
                           .rows = ROWS,
                           .action = action,
                           .observation = observation,
                           .trajectory = trajectory,
                           .opt_agent = person};
}

static idm_data *make(const idm_problem *problem, const idm_data_arrays *a)
{
  idm_data *data;
  check(idm_data_from_arrays(problem, a, &data, &support_error));
  return data;
}

/* The same log as text. */
static const char csv[] = "agent,trajectory,action,observation\n"
                          "40,1,monitor,negative\n40,1,monitor,negative\n40,1,declare_healthy,\n"
                          "5,2,monitor,positive\n5,2,,negative\n5,2,declare_diseased,\n"
                          "40,3,monitor,positive\n40,3,declare_diseased,negative\n"
                          "6,4,monitor,positive\n6,4,monitor,\n6,4,monitor,negative\n"
                          "-9223372036854775808,5,declare_healthy,positive\n";

static void expect_same_views(const idm_data *a, const idm_data *b)
{
  size_t rows, other;
  assert_int_equal(idm_data_rows(a), idm_data_rows(b));
  assert_int_equal(idm_data_trajectories(a), idm_data_trajectories(b));
  assert_int_equal(idm_data_agents(a), idm_data_agents(b));
  const int32_t *x = idm_data_actions(a, &rows), *y = idm_data_actions(b, &other);
  assert_int_equal(rows, other);
  assert_memory_equal(x, y, rows * sizeof *x);
  x = idm_data_observations(a, &rows);
  y = idm_data_observations(b, &other);
  assert_int_equal(rows, other);
  assert_memory_equal(x, y, rows * sizeof *x);
  const size_t *first = idm_data_first_rows(a, &rows), *first_of_b = idm_data_first_rows(b, &other);
  assert_int_equal(rows, other);
  assert_memory_equal(first, first_of_b, rows * sizeof *first);
  const uint32_t *of = idm_data_trajectory_agents(a, &rows),
                 *of_b = idm_data_trajectory_agents(b, &other);
  assert_int_equal(rows, other);
  assert_memory_equal(of, of_b, rows * sizeof *of);
  for (size_t i = 0; i < idm_data_agents(a); i++)
    assert_string_equal(idm_data_agent_name(a, i), idm_data_agent_name(b, i));
}

/* --- the same log --------------------------------------------------------------------------- */

static void arrays_equal_csv(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.1);
  const idm_data_arrays a = arrays();
  idm_data *data = make(problem, &a), *read;
  double agents[4], agents_read[4];
  idm_score score, score_read;
  check(idm_data_parse(problem, csv, strlen(csv), NULL, &read, NULL, &support_error));
  expect_same_views(data, read);
  check(idm_score_log(problem, data, &score, agents, &support_error));
  check(idm_score_log(problem, read, &score_read, agents_read, &support_error));
  assert_true(score.log_likelihood == score_read.log_likelihood);
  assert_true(score.evidence == score_read.evidence && score.evidence != 0);
  assert_int_equal(score.decisions, score_read.decisions);
  assert_int_equal(score.unrecorded, 1);
  assert_memory_equal(agents, agents_read, sizeof agents);
  idm_data_destroy(data);
  idm_data_destroy(read);
  idm_problem_destroy(problem);
}

static void views_of_a_log(void **state)
{
  (void)state;
  static const size_t firsts[] = {0, 3, 6, 8, 11, 12};
  static const uint32_t agents[] = {0, 1, 0, 2, 3};
  static const char *const names[] = {"40", "5", "6", "-9223372036854775808"};
  idm_problem *problem = support_diag(0.5, 1.25, 0.1);
  const idm_data_arrays a = arrays();
  idm_data *data = make(problem, &a);
  size_t length, found;
  char name[32];
  idm_error error = {0};
  assert_int_equal(idm_data_rows(data), ROWS);
  assert_int_equal(idm_data_trajectories(data), 5);
  assert_int_equal(idm_data_agents(data), 4);
  /* Copies, not the arrays. */
  assert_true(idm_data_actions(data, &length) != action);
  assert_int_equal(length, ROWS);
  assert_memory_equal(idm_data_actions(data, NULL), action, sizeof action);
  assert_memory_equal(idm_data_observations(data, &length), observation, sizeof observation);
  assert_int_equal(length, ROWS);
  assert_memory_equal(idm_data_first_rows(data, &length), firsts, sizeof firsts);
  assert_int_equal(length, 6);
  assert_memory_equal(idm_data_trajectory_agents(data, &length), agents, sizeof agents);
  assert_int_equal(length, 5);
  for (size_t i = 0; i < 4; i++) assert_string_equal(idm_data_agent_name(data, i), names[i]);
  assert_null(idm_data_agent_name(data, 4));
  /* Trajectories are numbered, whatever their numbers in the arrays. */
  assert_string_equal(idm_data_trajectory_name(data, 4, name, sizeof name), "5");
  check(idm_data_find_trajectory(data, "3", &found, &support_error));
  assert_int_equal(found, 2);
  assert_int_equal(idm_data_find_trajectory(data, "8", &found, &error), IDM_USAGE);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void nothing_of_no_log(void **state)
{
  (void)state;
  size_t length = 7;
  assert_int_equal(idm_data_rows(NULL) + idm_data_trajectories(NULL) + idm_data_agents(NULL), 0);
  assert_null(idm_data_actions(NULL, &length));
  assert_int_equal(length, 0);
  length = 7;
  assert_null(idm_data_observations(NULL, &length));
  assert_int_equal(length, 0);
  length = 7;
  assert_null(idm_data_first_rows(NULL, &length));
  assert_int_equal(length, 0);
  length = 7;
  assert_null(idm_data_trajectory_agents(NULL, &length));
  assert_int_equal(length, 0);
  assert_null(idm_data_agent_name(NULL, 0));
  assert_null(idm_data_actions(NULL, NULL));
  idm_data_destroy(NULL);
}

/* Without numbers of people, every trajectory has its own. */
static void one_agent_per_trajectory(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.1);
  idm_data_arrays a = arrays();
  a.opt_agent = NULL;
  idm_data *data = make(problem, &a);
  assert_int_equal(idm_data_agents(data), 5);
  for (uint32_t t = 0; t < 5; t++) assert_int_equal(idm_data_trajectory_agents(data, NULL)[t], t);
  assert_string_equal(idm_data_agent_name(data, 0), "1");
  assert_string_equal(idm_data_agent_name(data, 4), "5");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Written as CSV and read back: the same views, the same score. */
static void written_and_read_back(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.1);
  const idm_data_arrays a = arrays();
  idm_data *data = make(problem, &a), *read;
  char path[SUPPORT_PATH];
  idm_score score, score_read;
  support_path(path);
  check(idm_data_write_csv(data, problem, path, &support_error));
  check(idm_data_read(problem, (const char *const[]){path}, 1, NULL, &read, NULL, &support_error));
  assert_int_equal(remove(path), 0);
  expect_same_views(data, read);
  check(idm_score_log(problem, data, &score, NULL, &support_error));
  check(idm_score_log(problem, read, &score_read, NULL, &support_error));
  assert_true(score.log_likelihood == score_read.log_likelihood);
  idm_data_destroy(data);
  idm_data_destroy(read);
  idm_problem_destroy(problem);
}

/* Rewards that a learner learns from, in a problem of observed states. */
static void rewards_and_observed_states(void **state)
{
  (void)state;
  enum { LENGTH = 6 };
  static const char text[] =
      "agent,trajectory,action,observation,reward\n1,1,l,right,1\n1,1,r,left,0\n1,1,l,left,0.25\n"
      "2,2,r,right,0.5\n2,2,r,right,1\n2,2,l,left,-1\n";
  static const int32_t choice[LENGTH] = {0, 1, 0, 1, 1, 0}, next[LENGTH] = {1, 0, 0, 1, 1, 0};
  static const int64_t of[LENGTH] = {1, 1, 1, 2, 2, 2};
  static const double reward[LENGTH] = {1, 0, 0.25, 0.5, 1, -1};
  idm_problem *problem = support_yaml(
      "states: [left, right]\nactions: [l, r]\nobservations: states\nstart: [1, 0]\n"
      "discount: 0.9\ntransition: {l: uniform, r: uniform}\nutility: {l: [1, 0], r: [0, 1]}\n"
      "agent: {planner: td-learner}\ndata: {reward: reward}\n");
  idm_data_arrays a = {.size = sizeof a,
                       .rows = LENGTH,
                       .action = choice,
                       .observation = next,
                       .trajectory = of,
                       .opt_reward = reward};
  idm_data *data = make(problem, &a), *read;
  idm_score score, score_read, score_without;
  check(idm_data_parse(problem, text, strlen(text), NULL, &read, NULL, &support_error));
  expect_same_views(data, read);
  check(idm_score_log(problem, data, &score, NULL, &support_error));
  check(idm_score_log(problem, read, &score_read, NULL, &support_error));
  assert_true(score.log_likelihood == score_read.log_likelihood);
  idm_data_destroy(data);
  idm_data_destroy(read);
  /* The rewards matter, and are read from the arrays while the log is made alone. */
  double other[LENGTH];
  memcpy(other, reward, sizeof other);
  a.opt_reward = other;
  data = make(problem, &a);
  memset(other, 0, sizeof other);
  check(idm_score_log(problem, data, &score_without, NULL, &support_error));
  assert_true(score_without.log_likelihood == score.log_likelihood);
  idm_data_destroy(data);
  data = make(problem, &a);
  check(idm_score_log(problem, data, &score_without, NULL, &support_error));
  assert_true(score_without.log_likelihood != score.log_likelihood);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Covariates are those of the log from CSV that keeps these columns; NULL is an empty cell. */
static void covariates_equal_columns(void **state)
{
  (void)state;
  static const char text[] =
      "agent,trajectory,action,observation,site,visit\n"
      "40,1,monitor,negative,x,1\n40,1,monitor,negative,x,2\n40,1,declare_healthy,,x,3\n"
      "5,2,monitor,positive,y,1\n5,2,,negative,y,\n5,2,declare_diseased,,y,3\n";
  idm_problem *problem = support_diag(0.5, 1.25, 0.1);
  idm_settings *settings;
  idm_data_arrays a = arrays();
  a.rows = 6;
  a.covariates = 2;
  a.covariate = (const char *const[]){"site", "visit"};
  a.level = (const char *const *const[]){site, visit};
  idm_data *data = make(problem, &a), *read;
  check(idm_settings_create(&settings, &support_error));
  check(idm_settings_set(settings, "audit.group", "site=x\nvisit=2", &support_error));
  check(idm_data_parse(problem, text, strlen(text), settings, &read, NULL, &support_error));
  assert_int_equal(data->covariates, 2);
  assert_int_equal(read->covariates, 2);
  for (size_t c = 0; c < 2; c++) {
    assert_string_equal(data->covariate_name.name[c], read->covariate_name.name[c]);
    assert_int_equal(data->covariate_level[c].count, read->covariate_level[c].count);
    for (size_t row = 0; row < 6; row++) {
      const int32_t x = data->covariate[c * 6 + row], y = read->covariate[c * 6 + row];
      assert_int_equal(x == IDM_MISSING, y == IDM_MISSING);
      if (x != IDM_MISSING)
        assert_string_equal(data->covariate_level[c].name[x], read->covariate_level[c].name[y]);
    }
  }
  idm_settings_destroy(settings);
  idm_data_destroy(data);
  idm_data_destroy(read);
  idm_problem_destroy(problem);
}

/* --- refusals ------------------------------------------------------------------------------- */

static void expect_refusal(const idm_problem *problem, const idm_data_arrays *a, idm_status status,
                           const char *words)
{
  idm_error error = {0};
  idm_data *data;
  const idm_status found = idm_data_from_arrays(problem, a, &data, &error);
  if (found != status || !strstr(error.message, words))
    fail_msg("%s '%s', expected %s '%s'", idm_status_name(found), error.message,
             idm_status_name(status), words);
  assert_null(data);
}

static void missing_arrays_are_refused(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.1);
  idm_data_arrays a = arrays();
  idm_error error = {0};
  idm_data *data;
  a.size = 8;
  expect_refusal(problem, &a, IDM_USAGE, "size is 8");
  a.size = 0;
  expect_refusal(problem, &a, IDM_USAGE, "size is 0");
  /* A later version has more fields, which are 0. */
  struct {
    idm_data_arrays arrays;
    double more[3];
  } later = {.arrays = arrays()};
  later.arrays.size = sizeof later;
  check(idm_data_from_arrays(problem, &later.arrays, &data, &support_error));
  idm_data_destroy(data);
  later.more[2] = 1;
  expect_refusal(problem, &later.arrays, IDM_USAGE, "fields of a later version");
#define WITHOUT(field)                                                                             \
  do {                                                                                             \
    a = arrays();                                                                                  \
    a.field = 0;                                                                                   \
    expect_refusal(problem, &a, IDM_USAGE, "a log needs rows");                                    \
  } while (0)
  WITHOUT(rows);
  WITHOUT(action);
  WITHOUT(observation);
  WITHOUT(trajectory);
  a = arrays();
  a.covariates = 2;
  expect_refusal(problem, &a, IDM_USAGE, "covariates need names");
  a.covariate = (const char *const[]){"site", NULL};
  expect_refusal(problem, &a, IDM_USAGE, "covariates need names");
  a.level = (const char *const *const[]){site, visit};
  expect_refusal(problem, &a, IDM_USAGE, "covariate 1 has no name");
  a.covariate = (const char *const[]){"site", "visit"};
  a.level = (const char *const *const[]){NULL, visit};
  expect_refusal(problem, &a, IDM_USAGE, "covariate 0 has no name or no levels");
  a = arrays();
  assert_int_equal(idm_data_from_arrays(NULL, &a, &data, &error), IDM_USAGE);
  assert_int_equal(idm_data_from_arrays(problem, NULL, &data, &error), IDM_USAGE);
  assert_int_equal(idm_data_from_arrays(problem, &a, NULL, &error), IDM_USAGE);
  support_assign(problem, "utility.monitor=fee");
  expect_refusal(problem, &a, IDM_USAGE, "columns of the log");
  idm_problem_destroy(problem);
}

static void bad_indices_are_refused(void **state)
{
  (void)state;
  static const int32_t bad[] = {3, -2, INT32_MAX, INT32_MIN};
  idm_problem *problem = support_diag(0.5, 1.25, 0.1);
  int32_t changed[ROWS];
  int64_t people[ROWS];
  for (size_t i = 0; i < 4; i++)
    for (size_t row = 0; row < ROWS; row += ROWS - 1) {
      idm_data_arrays a = arrays();
      memcpy(changed, action, sizeof changed);
      changed[row] = bad[i];
      a.action = changed;
      expect_refusal(problem, &a, IDM_INPUT, "");
      a = arrays();
      memcpy(changed, observation, sizeof changed);
      changed[row] = bad[i];
      a.observation = changed;
      expect_refusal(problem, &a, IDM_INPUT, "");
    }
  idm_data_arrays a = arrays();
  memcpy(people, person, sizeof people);
  people[4] = 6;
  a.opt_agent = people;
  expect_refusal(problem, &a, IDM_INPUT, "row 4 has agent 6");
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_equal_csv),         cmocka_unit_test(views_of_a_log),
      cmocka_unit_test(nothing_of_no_log),        cmocka_unit_test(one_agent_per_trajectory),
      cmocka_unit_test(written_and_read_back),    cmocka_unit_test(rewards_and_observed_states),
      cmocka_unit_test(covariates_equal_columns), cmocka_unit_test(missing_arrays_are_refused),
      cmocka_unit_test(bad_indices_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
