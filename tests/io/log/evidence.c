/* Evidence by column: rewards, scores, batches, environments; when they are read, what is refused,
 * and written again. */
#include "plan/learner_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- fixtures ------------------------------------------------------------------------------- */

static const char rich[] = "agent,trajectory,action,observation,reward,score,batch,environment\n"
                           "a,1,left,win,1,0.5,1,home\n"
                           "a,1,right,loss,-0.25,0.5,1,home\n"
                           "b,2,left,win,1e3,-2,2,abroad\n"
                           "a,3,left,loss,0,7,1,home\n";

static const unsigned all_columns = (1u << IDM_COLUMN_COUNT) - 1;

static idm_data *parse(const idm_problem *problem, const char *text, unsigned columns)
{
  const idm_csv_options options = {.columns = columns};
  idm_data *data;
  check(idm_data_parse_csv(text, strlen(text), "log.csv", problem, &options, &data, NULL,
                           &support_error));
  return data;
}

static void refused(const idm_problem *problem, const char *text, long line, long column,
                    const char *words)
{
  const idm_csv_options options = {.columns = all_columns};
  idm_data *data;
  idm_error error = {0};
  assert_int_equal(
      idm_data_parse_csv(text, strlen(text), "log.csv", problem, &options, &data, NULL, &error),
      IDM_INPUT);
  assert_null(data);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
  if (error.line != line || error.column != column)
    fail_msg("'%s' at %ld:%ld, expected %ld:%ld", error.message, error.line, error.column, line,
             column);
}

static idm_problem *plain_problem(void)
{
  return support_reversal(idm_planner_at(0));
}

static bool has(const idm_data *data, idm_column column)
{
  return data->number[column] || data->label[column];
}

static void check_rich(const idm_data *data)
{
  const double reward[] = {1, -0.25, 1e3, 0}, score[] = {0.5, -2, 7}, batch[] = {1, 2, 1};
  const int32_t environment[] = {0, 1, 0};
  assert_int_equal(data->rows, 4);
  assert_int_equal(data->trajectories, 3);
  assert_memory_equal(data->number[IDM_COLUMN_REWARD], reward, sizeof reward);
  assert_memory_equal(data->number[IDM_COLUMN_SCORE], score, sizeof score);
  assert_memory_equal(data->number[IDM_COLUMN_BATCH], batch, sizeof batch);
  assert_memory_equal(data->label[IDM_COLUMN_ENVIRONMENT], environment, sizeof environment);
  assert_int_equal(data->label_name[IDM_COLUMN_ENVIRONMENT].count, 2);
  assert_string_equal(data->label_name[IDM_COLUMN_ENVIRONMENT].name[0], "home");
  assert_string_equal(data->label_name[IDM_COLUMN_ENVIRONMENT].name[1], "abroad");
}

/* --- when it is read ------------------------------------------------------------------------ */

/* Columns of these names may be there for other reasons: nothing is read until somebody asks. */
static void nothing_is_read_unasked(void **state)
{
  (void)state;
  idm_problem *problem = plain_problem();
  idm_data *data = parse(problem, rich, 0);
  for (int c = 0; c < IDM_COLUMN_COUNT; c++)
    if (idm_column_describe((idm_column)c)->evidence) assert_false(has(data, (idm_column)c));
  idm_data_destroy(data);
  /* Not even looked at. */
  data = parse(problem, "agent,action,observation,reward\na,left,win,plenty\n", 0);
  assert_false(has(data, IDM_COLUMN_REWARD));
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void callers_ask_column_by_column(void **state)
{
  (void)state;
  idm_problem *problem = plain_problem();
  idm_data *data = parse(problem, rich, all_columns);
  check_rich(data);
  idm_data_destroy(data);
  for (int column = 0; column < IDM_COLUMN_COUNT; column++) {
    data = parse(problem, rich, 1u << column);
    for (int c = 0; c < IDM_COLUMN_COUNT; c++)
      assert_int_equal(has(data, (idm_column)c),
                       c == column && idm_column_describe((idm_column)c)->evidence);
    idm_data_destroy(data);
  }
  /* A requested column that is absent is no error. */
  data = parse(problem, "agent,action,observation\na,left,win\n", all_columns);
  assert_false(has(data, IDM_COLUMN_REWARD));
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void planners_ask_for_rewards(void **state)
{
  (void)state;
  for (size_t i = 0; support_planner_at(i); i++) {
    idm_problem *problem = support_reversal(support_planner_at(i));
    idm_data *data = parse(problem, rich, 0);
    assert_int_equal(has(data, IDM_COLUMN_REWARD),
                     (support_planner_at(i)->needs & IDM_NEEDS_REWARDS) != 0);
    assert_false(has(data, IDM_COLUMN_SCORE));
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Mapped under `data:`, a column is read under any name, and must be there. */
static void problems_map_columns(void **state)
{
  (void)state;
  idm_problem *problem = plain_problem();
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_REWARD], "paid");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_ENVIRONMENT], "ward");
  idm_data *data = parse(problem,
                         "agent,action,observation,paid,reward,ward\n"
                         "a,left,win,2,x,\"east, upper\"\na,left,win,3,y,\"east, upper\"\n",
                         0);
  assert_near(data->number[IDM_COLUMN_REWARD][1], 3, 0);
  assert_string_equal(data->label_name[IDM_COLUMN_ENVIRONMENT].name[0], "east, upper");
  idm_data_destroy(data);
  refused(problem, "agent,action,observation,reward,ward\na,left,win,2,x\n", 1, 1,
          "no column 'paid' (the reward)");
  idm_problem_destroy(problem);
  problem = plain_problem();
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_REWARD], "paid", "tip");
  idm_error error = {0};
  static const char text[] = "agent,action,observation,paid,tip\na,left,win,1,2\n";
  assert_int_equal(
      idm_data_parse_csv(text, strlen(text), "log.csv", problem, NULL, &data, NULL, &error),
      IDM_INPUT);
  assert_non_null(strstr(error.message, "data.reward names 2 columns"));
  idm_problem_destroy(problem);
}

static void problem_files_name_columns(void **state)
{
  (void)state;
  static const char text[] = "states: [a, b]\nactions: [left, right]\nobservations: [loss, win]\n"
                             "transition: {\"*\": identity}\nobservation: {\"*\": uniform}\n"
                             "utility: {\"*\": 0}\n"
                             "data: {reward: paid, score: marks, batch: wave, environment: ward}\n";
  idm_problem *problem;
  check(idm_problem_parse_yaml(text, strlen(text), "p.yaml", &problem, NULL, &support_error));
  assert_string_equal(problem->columns.role[IDM_COLUMN_REWARD].name[0], "paid");
  idm_problem *none;
  static const char two[] =
      "states: 2\nactions: 1\nobservations: 1\ntransition: {\"*\": identity}\n"
      "observation: {\"*\": uniform}\ndata: {reward: [paid, tip]}\n";
  idm_error refusal = {0};
  assert_int_equal(idm_problem_parse_yaml(two, strlen(two), "p.yaml", &none, NULL, &refusal),
                   IDM_INPUT);
  assert_int_equal(refusal.line, 6);
  assert_int_equal(refusal.column, 16);
  assert_non_null(strstr(refusal.message, "expected one column"));
  idm_data *data =
      parse(problem, "agent,action,observation,paid,marks,wave,ward\na,left,win,1,2,3,w\n", 0);
  assert_near(data->number[IDM_COLUMN_REWARD][0], 1, 0);
  assert_near(data->number[IDM_COLUMN_SCORE][0], 2, 0);
  assert_near(data->number[IDM_COLUMN_BATCH][0], 3, 0);
  assert_int_equal(data->label[IDM_COLUMN_ENVIRONMENT][0], 0);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- what is refused ------------------------------------------------------------------------ */

static void bad_cells_are_refused(void **state)
{
  (void)state;
  static const struct {
    const char *column;
    const char *cell;
    const char *words;
  } cases[] = {{"reward", "plenty", "'plenty' for the reward; expected a finite number"},
               {"reward", "", "for the reward; expected a finite number"},
               {"reward", "nan", "for the reward"},
               {"reward", "inf", "for the reward"},
               {"reward", "1e999", "for the reward"},
               {"score", "high", "the score of a trajectory; expected a finite number"},
               {"batch", "1.5", "'1.5' for the batch; expected a whole number of at least 1"},
               {"batch", "0", "'0' for the batch"},
               {"batch", "-3", "'-3' for the batch"},
               {"environment", "", "the environment; expected a label"},
               {"environment", "caf\xe9", "the environment is not UTF-8"}};
  idm_problem *problem = plain_problem();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[200];
    snprintf(text, sizeof text,
             "agent,action,observation,%s\na,left,win,1\na,left,win,1\nb,left,win,%s\n",
             cases[i].column, cases[i].cell);
    refused(problem, text, 4, 12, cases[i].words);
  }
  idm_problem_destroy(problem);
}

/* What is of a trajectory may not vary within it; what is of a row may. */
static void trajectories_have_one_value(void **state)
{
  (void)state;
  idm_problem *problem = plain_problem();
  for (int c = 0; c < IDM_COLUMN_COUNT; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    if (!info->evidence) continue;
    char text[200];
    snprintf(text, sizeof text,
             "agent,trajectory,%s,action,observation\na,x,1,left,win\na,y,2,left,win\n"
             "a,x,1,left,win\na,x,2,left,win\n",
             info->key);
    if (info->by_trajectory) {
      refused(problem, text, 5, 5, "differs from line 2 of the same trajectory");
      continue;
    }
    idm_data *data = parse(problem, text, all_columns);
    assert_near(data->number[c][2], 2, 0);
    idm_data_destroy(data);
  }
  idm_problem_destroy(problem);
}

/* --- order, and writing --------------------------------------------------------------------- */

/* Rows out of order in the file carry their evidence with them. */
static void evidence_follows_its_rows(void **state)
{
  (void)state;
  idm_problem *problem = plain_problem();
  idm_data *data = parse(problem,
                         "agent,trajectory,time,action,observation,reward,score\n"
                         "a,1,3,left,win,30,5\na,2,1,right,win,100,6\na,1,1,right,loss,10,5\n"
                         "a,1,2,left,loss,20,5\n",
                         all_columns);
  const double reward[] = {10, 20, 30, 100}, score[] = {5, 6};
  assert_memory_equal(data->number[IDM_COLUMN_REWARD], reward, sizeof reward);
  assert_memory_equal(data->number[IDM_COLUMN_SCORE], score, sizeof score);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void written_and_read_back(void **state)
{
  (void)state;
  idm_problem *problem = plain_problem();
  idm_data *data = parse(problem, rich, all_columns), *again;
  const idm_csv_options options = {.columns = all_columns};
  char path[SUPPORT_PATH];
  support_path(path);
  data->number[IDM_COLUMN_REWARD][1] = 0.1 + 0.2; /* all its digits */
  check(idm_data_write_csv(data, problem, path, &support_error));
  check(idm_data_read_csv(path, problem, &options, &again, NULL, &support_error));
  unlink(path);
  assert_true(again->number[IDM_COLUMN_REWARD][1] == 0.1 + 0.2);
  again->number[IDM_COLUMN_REWARD][1] = -0.25;
  check_rich(again);
  idm_data_destroy(data);
  idm_data_destroy(again);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_read_unasked),     cmocka_unit_test(callers_ask_column_by_column),
      cmocka_unit_test(planners_ask_for_rewards),    cmocka_unit_test(problems_map_columns),
      cmocka_unit_test(problem_files_name_columns),  cmocka_unit_test(bad_cells_are_refused),
      cmocka_unit_test(trajectories_have_one_value), cmocka_unit_test(evidence_follows_its_rows),
      cmocka_unit_test(written_and_read_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
