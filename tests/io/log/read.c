/* Logs from CSV: availability, beliefs, variants, covariates, several files, real data. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "idm/extension/prefix.h"
#include "io/log/log_support.h"

static void test_plain(void **state)
{
  idm_data *data = log_parse(*state, "agent,trajectory,step,action,observation\n"
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

static void test_embedded_lines(void **state)
{
  log_expect_error(*state, "agent,note,action,observation\na,\"two\nlines\",monitor,0\na,x,no,0\n",
                   4, 5, "'no' is no action");
}

static void test_available(void **state)
{
  idm_problem *problem = *state;
  idm_data *data = log_parse(problem, "agent,action,observation,available\n"
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
  log_expect_error(problem, "agent,action,observation,available\na,2,0,0|1\n", 2, 7,
                   "the action taken, 'monitor', is not among those available: 0|1");
  log_expect_error(problem, "agent,action,observation,available\na,2,0,2|wait\n", 2, 7,
                   "'wait' is no action");
  log_expect_error(problem, "agent,action,observation,available\na,2,0,2|\n", 2, 7,
                   "'' is no action");
  log_expect_error(problem, "agent,action,observation,available\na,2,0,|\n", 2, 7,
                   "'' is no action");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_AVAILABLE], "open");
  log_expect_error(problem, "agent,action,observation,available\na,2,0,\n", 1, 1,
                   "no column 'open'");
}

static void test_beliefs(void **state)
{
  idm_problem *problem = *state;
  idm_notes notes = {0};
  idm_data *data = log_parse_keeping(problem,
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
    log_expect_error(problem, text, 2, bad[i].column, bad[i].words);
  }
  log_expect_error(problem, "agent,action,observation,belief.healthy\na,2,0,1\n", 1, 1,
                   "no 'belief.diseased'");
  log_expect_error(problem, "agent,belief.sick,action,observation\na,1,2,0\n", 1, 7,
                   "'sick' is no state; expected one of: healthy, diseased");
  log_expect_error(problem, "agent,action,observation,belief.healthy,belief.0\na,2,0,1,0\n", 1, 41,
                   "'0' is no state; expected one of: healthy, diseased");
  log_expect_error(problem, "agent,action,observation,belief.healthy,belief.healthy\na,2,0,1,0\n",
                   1, 41, "a second column for the belief in 'healthy'");
}

static void test_belief_of_first_in_time(void **state)
{
  idm_data *data =
      log_parse(*state, "agent,time,action,observation,belief.healthy,belief.diseased\n"
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
  idm_data *data = log_parse(problem, "agent,cost,win,action,observation\n"
                                      "a,1,70,2,0\nb,1,7,2,0\na,1.0,7e1,2,0\nc,-0.0,70,2,0\n"
                                      "d,1,70,2,0\ne,0,70,2,0\n");
  assert_int_equal(data->variants, 3);
  assert_int_equal(data->columns, 2);
  const uint32_t variants[] = {0, 1, 2, 0, 2};
  for (size_t i = 0; i < 5; i++) assert_int_equal(data->variant[i], variants[i]);
  const double values[] = {70, 1, 7, 1, 70, 0};
  for (size_t i = 0; i < 6; i++) assert_true(data->variant_value[i] == values[i]);
  idm_data_destroy(data);
  log_expect_error(problem,
                   "agent,cost,win,action,observation\na,1,70,2,0\nb,1,1,2,0\na,1,71,2,0\n", 4, 5,
                   "'win' is 71 here and 70 on line 2 of the same trajectory");
  log_expect_error(problem, "agent,cost,win,action,observation\na,,70,2,0\n", 2, 3,
                   "expected a finite number");
  log_expect_error(problem, "agent,cost,action,observation\na,1,2,0\n", 1, 1,
                   "no column 'win' (a utility)");
}

static void test_covariates(void **state)
{
  idm_problem *problem = *state;
  const char *const keep[] = {"site", "agent"};
  const idm_csv_options options = {.keep = keep, .keep_count = 2};
  idm_data *data = log_parse_keeping(problem,
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
  log_expect_error_with(problem, "agent,site,action,observation\na,north,2,0\n",
                        &(const idm_csv_options){.keep = unknown, .keep_count = 1}, 1, 1,
                        "no column 'ward' (a covariate); the header has: agent, site");
  /* What becomes a name must stand in every output. */
  log_expect_error_with(problem, "agent,site,action,observation\na,caf\xe9,2,0\n", &options, 2, 3,
                        "the value of a covariate is not UTF-8");
  log_expect_error_with(problem, "agent,site,action,observation\na,\"x\ny\",2,0\n", &options, 2, 3,
                        "the value of a covariate is not UTF-8");
}

/* The table of the beads, and its path. */
static FILE *open_beads(const char **ret_path)
{
  *ret_path = support_shared("beads/beads_voi_decisions.csv");
  FILE *stream = fopen(*ret_path, "rb");
  assert_non_null(stream);
  return stream;
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
  const char *path;
  fclose(open_beads(&path));
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
  const char *source;
  FILE *from = open_beads(&source);
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
  idm_problem *problem = log_bandit();
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
  assert_non_null(strstr(error.message, "all rows of a trajectory must be in one file"));
  remove(first);
  remove(second);
  remove(third);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_DIAG(test_plain),
      WITH_DIAG(test_embedded_lines),
      WITH_DIAG(test_available),
      WITH_DIAG(test_beliefs),
      WITH_DIAG(test_belief_of_first_in_time),
      WITH_DIAG(test_variants),
      WITH_DIAG(test_covariates),
      cmocka_unit_test(test_beads),
      cmocka_unit_test(test_beads_with_beliefs),
      cmocka_unit_test(test_several_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
