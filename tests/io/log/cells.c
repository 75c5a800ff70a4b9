/* Cells of logs: labels, numbers and codes that stand for them, factors, texts that mean nothing.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/log/log_support.h"

/* Give a role a code by a map, "0=loss" a pair. */
static void set_map(idm_problem *problem, idm_column role, const char *const *pairs, size_t count)
{
  idm_codes *codes = &problem->columns.codes[role];
  idm_codes_destroy(codes);
  check(idm_codes_create(codes, 1, &support_error));
  check(idm_labels_create(&codes->code[0].text, count, &support_error));
  check(idm_labels_create(&codes->code[0].target_label, count, &support_error));
  for (size_t i = 0; i < count; i++) {
    const char *equals = strchr(pairs[i], '=');
    check(idm_labels_set(&codes->code[0].text, i, pairs[i], (size_t)(equals - pairs[i]),
                         &support_error));
    check(idm_labels_set(&codes->code[0].target_label, i, equals + 1, strlen(equals + 1),
                         &support_error));
  }
}

#define SET_MAP(problem, role, ...)                                                                \
  set_map(problem, role, (const char *const[]){__VA_ARGS__},                                       \
          sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void test_label_beats_number(void **state)
{
  (void)state;
  idm_problem *problem = support_labels_problem(2, 3, 2);
  SUPPORT_NAMES(&problem->setting->actions, "2", "1", "x");
  support_codes(problem, "index");
  idm_data *data = log_parse(problem, "agent,action,observation\na,2,0\na,1,0\na,0,0\na,x,0\n");
  EXPECT_ROWS(data->action, 0, 1, 0, 2);
  idm_data_destroy(data);
  support_codes(problem, "labels");
  log_expect_error(
      problem, "agent,action,observation\na,2,0\na,0,0\n", 3, 3,
      "'0' is no action; expected one of: 2, 1, x; a number is accepted in place of a name "
      "only if the problem file maps it: data: {codes: {action: {0: NAME, ...}}}, or codes: index");
  idm_problem_destroy(problem);
}

static void test_label_errors(void **state)
{
  idm_problem *problem = *state;
  log_expect_error(problem, "agent,action,observation\na,monitor,0\na, Monitor,0\n", 3, 3,
                   "'Monitor' is no action; expected one of: healthy!, diseased!, monitor");
  log_expect_error(problem, "agent,action,observation\na,monitor,none\n", 2, 11,
                   "'none' is no observation; expected one of: negative, positive");
  log_expect_error(problem, "agent,observation,action\na,0,-1\n", 2, 5, "'-1' is no action");
  idm_problem *many = support_labels_problem(2, 12, 2);
  log_expect_error(many, "agent,action,observation\na,x,0\n", 2, 3, "0, 1, 2, 3, 4, 5, 6, 7, ...");
  idm_problem_destroy(many);
}

static void test_terminal_observation(void **state)
{
  idm_problem *problem = *state;
  problem->setting->terminal[0] = true;
  idm_notes notes = {0};
  idm_data *data = log_parse_keeping(
      problem, "agent,action,observation\na,2,0\na,0,none\nb,0,positive\n", NULL, &notes);
  EXPECT_ROWS(data->observation, 0, IDM_MISSING, 1);
  assert_int_equal(notes.count, 1);
  assert_non_null(strstr(notes.text[0], "1 row of terminal actions"));
  assert_non_null(strstr(notes.text[0], "line 3"));
  idm_notes_clear(&notes);
  idm_data_destroy(data);
  /* An action that only ends the log recognises what it sees. */
  log_expect_error(problem, "agent,action,observation\na,1,none\n", 2, 5,
                   "'none' is no observation");
  log_expect_error(problem, "agent,action,observation\na,,none\n", 2, 4,
                   "'none' is no observation");
}

static void test_seen_nothing(void **state)
{
  (void)state;
  /* A label for "saw nothing" is a label; an empty cell is not recorded. */
  idm_problem *problem = support_labels_problem(2, 2, 2);
  SUPPORT_NAMES(&problem->setting->observations, "seen", "none");
  idm_data *data = log_parse(problem, "agent,action,observation\na,0,none\na,0,\na,1,seen\n");
  EXPECT_ROWS(data->observation, 1, IDM_MISSING, 0);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void test_factored_observation(void **state)
{
  (void)state;
  idm_problem *problem = support_labels_problem(2, 2, 4);
  SUPPORT_NAMES(&problem->setting->observations, "lo/a", "lo/b", "hi/a", "hi/b");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_OBSERVATION], "cdr", "mri");
  idm_data *data = log_parse(problem, "agent,action,mri,cdr\na,0, b,hi\na,0,,\na,1,\"a\",lo\n");
  EXPECT_ROWS(data->observation, 3, IDM_MISSING, 0);
  idm_data_destroy(data);
  log_expect_error(problem, "agent,action,mri,cdr\na,0,b,\n", 2, 7,
                   "an empty cell in a label of 2 columns");
  log_expect_error(problem, "agent,action,mri,cdr\na,0,c,hi\n", 2, 7, "'hi/c' is no observation");
  idm_problem_destroy(problem);
}

/* 0 and 1 mean what the problem says that they mean, and nothing where it says nothing. */
static void test_codes(void **state)
{
  (void)state;
  static const char log[] = "agent,action,observation,available\n"
                            "a,1,0,\na,left,1,1|left\na,0,win,0\n";
  idm_problem *problem = log_bandit();
  log_expect_error(problem, log, 2, 3, "'1' is no action");
  SET_MAP(problem, IDM_COLUMN_ACTION, "0=right", "1=left");
  log_expect_error(problem, log, 2, 5,
                   "'0' is no observation; expected one of: win, loss; a number");
  SET_MAP(problem, IDM_COLUMN_OBSERVATION, "0=loss", "1=win");
  idm_data *data = log_parse(problem, log);
  EXPECT_ROWS(data->action, 0, 0, 1);
  EXPECT_ROWS(data->observation, 1, 0, 0);
  assert_true(data->available_set[2 * data->available[1]] &&
              !data->available_set[2 * data->available[1] + 1]);
  idm_data_destroy(data);
  support_codes(problem, "index");
  log_expect_error(problem, "agent,action,observation\na,2,0\n", 2, 3, "'2' is no action");
  idm_problem_destroy(problem);
}

/* Whatever the labels and their codes: a cell is read as its label, else as its code says. */
static void test_codes_at_random(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 61, 0);
  for (int round = 0; round < 200; round++) {
    const size_t count = 2 + (size_t)(idm_random_uniform(&random) * 5);
    idm_problem *problem = support_labels_problem(2, count, 2);
    char pair[8][64], line[160];
    const char *pairs[8];
    const size_t turn = (size_t)(idm_random_uniform(&random) * (double)count);
    for (size_t i = 0; i < count; i++) {
      char name[32];
      snprintf(name, sizeof name, "n%zu", i);
      check(idm_labels_set(&problem->setting->actions, i, name, strlen(name), &support_error));
      snprintf(pair[i], sizeof pair[i], "%zu=n%zu", i, (i + turn) % count);
      pairs[i] = pair[i];
    }
    set_map(problem, IDM_COLUMN_ACTION, pairs, count);
    for (size_t i = 0; i < count; i++) {
      snprintf(line, sizeof line, "agent,action,observation\na,%zu,0\na,n%zu,0\n", i, i);
      idm_data *data = log_parse(problem, line);
      EXPECT_ROWS(data->action, (int32_t)((i + turn) % count), (int32_t)i);
      idm_data_destroy(data);
    }
    snprintf(line, sizeof line, "agent,action,observation\na,%zu,0\n", count);
    log_expect_error(problem, line, 2, 3, "is no action");
    idm_problem_destroy(problem);
  }
}

/* A label that is joined from columns: each by codes of its own, or all by index. */
static void test_codes_by_column(void **state)
{
  (void)state;
  static const char log[] = "agent,action,cdr,mri\na,0,1,small\na,0,none,0\na,0,,\n";
  idm_problem *problem = support_labels_problem(2, 1, 4);
  SUPPORT_NAMES(&problem->setting->observations, "none/large", "none/small", "mild/large",
                "mild/small");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_OBSERVATION], "cdr", "mri");
  log_expect_error(problem, log, 2, 5, "'1/small' is no observation");
  support_codes(problem, "index");
  idm_data *data = log_parse(problem, log);
  EXPECT_ROWS(data->observation, 3, 0, IDM_MISSING);
  idm_data_destroy(data);
  idm_codes *codes = &problem->columns.codes[IDM_COLUMN_OBSERVATION];
  idm_codes_destroy(codes);
  check(idm_codes_create(codes, 2, &support_error));
  codes->code[0].index = true;
  SUPPORT_NAMES(&codes->code[1].text, "0");
  SUPPORT_NAMES(&codes->code[1].target_label, "small");
  data = log_parse(problem, log);
  EXPECT_ROWS(data->observation, 3, 1, IDM_MISSING);
  idm_data_destroy(data);
  log_expect_error(problem, "agent,action,cdr,mri\na,0,1,1\n", 2, 7,
                   "'1' in column 'mri' is neither a level of it nor a code for one");
  idm_problem_destroy(problem);
}

/* NA is a text like any other, unless the problem says that it is none. */
static void test_missing_texts(void **state)
{
  (void)state;
  idm_problem *problem = log_bandit();
  static const char log[] = "agent,action,observation,note\na,left,NA,NA\na,n/a,win,x\n";
  log_expect_error(problem, log, 2, 8,
                   "'NA' is no observation; expected one of: win, loss; if it marks a missing "
                   "value, add data: {missing: [\"NA\"]} to the problem file");
  SUPPORT_NAMES(&problem->columns.missing, "NA", "n/a");
  const idm_csv_options options = {.keep = (const char *const[]){"note"}, .keep_count = 1};
  idm_data *data = log_parse_keeping(problem, log, &options, NULL);
  EXPECT_ROWS(data->observation, IDM_MISSING, 0);
  EXPECT_ROWS(data->action, 0, IDM_MISSING);
  EXPECT_ROWS(data->covariate, IDM_MISSING, 0);
  idm_data_destroy(data);
  log_expect_error(problem, "agent,action,observation\nNA,left,win\n", 2, 1,
                   "a cell marked as missing (data.missing) in column 'agent'");
  idm_problem_destroy(problem);
}

/* A text of data.missed in the action's column, and nowhere else, is a missed response. */
static void test_missed_responses(void **state)
{
  (void)state;
  idm_problem *problem = log_bandit();
  static const char log[] = "agent,action,observation,available\n"
                            "a,left,win,\na, late,loss,left|right\na,NA,win,right\na,,loss,\n";
  SUPPORT_NAMES(&problem->columns.missed, "late", "NA");
  SUPPORT_NAMES(&problem->columns.missing, "NA");
  log_expect_error(
      problem, log, 3, 3,
      "'late' is a missed response, and the problem does not define what happens then: "
      "the planner 'bounded-rational' needs an action; expected data: {missed: "
      "{values: [...], action: ACTION}} in the problem file");
  problem->columns.missed_action = 2;
  idm_data *data = log_parse(problem, log);
  EXPECT_ROWS(data->action, 0, 1, 1, IDM_MISSING);
  EXPECT_ROWS(data->missed, IDM_MISSING, 0, 1, IDM_MISSING);
  EXPECT_ROWS(data->observation, 0, 1, 0, 1);
  for (size_t row = 0; row < 4; row++)
    assert_int_equal(idm_data_available_count(data, data->available[row]),
                     row == 1 || row == 2 ? 1 : 2);
  idm_data_destroy(data);
  log_expect_error(problem, "agent,action,observation\na,left,late\n", 2, 8,
                   "'late' is no observation");
  data = log_parse(problem, "agent,action,observation\na,left,win\n");
  assert_null(data->missed);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* An action in two columns is missed where both cells are. */
static void test_missed_in_columns(void **state)
{
  (void)state;
  idm_problem *problem = support_labels_problem(2, 2, 2);
  SUPPORT_NAMES(&problem->setting->actions, "a/b", "a/c");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_ACTION], "first", "second");
  SUPPORT_NAMES(&problem->columns.missed, "late", "never");
  problem->columns.missed_action = 1;
  idm_data *data =
      log_parse(problem, "agent,first,second,observation\na,a,c,0\na,never,late,0\na,a,b,0\n");
  EXPECT_ROWS(data->action, 1, 0, 0);
  EXPECT_ROWS(data->missed, IDM_MISSING, 1, IDM_MISSING);
  idm_data_destroy(data);
  log_expect_error(problem, "agent,first,second,observation\na,late,b,0\n", 2, 3,
                   "'late/b' is no action");
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_label_beats_number),   WITH_DIAG(test_label_errors),
      WITH_DIAG(test_terminal_observation),        cmocka_unit_test(test_seen_nothing),
      cmocka_unit_test(test_factored_observation), cmocka_unit_test(test_codes),
      cmocka_unit_test(test_codes_at_random),      cmocka_unit_test(test_codes_by_column),
      cmocka_unit_test(test_missing_texts),        cmocka_unit_test(test_missed_responses),
      cmocka_unit_test(test_missed_in_columns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
