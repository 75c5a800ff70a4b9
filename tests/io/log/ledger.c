/* The ledger of a log against a list of its rows, which is counted one question at a time. */
#include "io/log/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { ROWS = 900, REASONS = 4, CONDITIONS = 1 };

/* A row as the test knows it. */
typedef struct entry {
  char agent[2][8]; /* cells of the agent's two columns */
  char id[8];
  size_t reason;
  bool missing;
} entry;

static size_t agent_columns[] = {0, 1};
static size_t trajectory_column[] = {2};

static idm_log open_log(const idm_problem *problem, size_t reasons)
{
  static const char *const where[] = {"age>50"};
  idm_log log = {.problem = problem, .where = {.count = CONDITIONS, .text = where}};
  log.header.role[IDM_COLUMN_AGENT] = (idm_log_role){2, agent_columns};
  log.header.role[IDM_COLUMN_TRAJECTORY] = (idm_log_role){1, trajectory_column};
  check(idm_row_counts_create(&log.ledger, reasons, &support_error));
  return log;
}

static void close_log(idm_log *log)
{
  idm_row_counts_clear(&log->ledger);
  idm_intern_clear(&log->missing);
  free(log->scratch);
}

static idm_csv_field cell_of(const char *text)
{
  return (idm_csv_field){.text = text, .length = (uint32_t)strlen(text)};
}

static uint32_t enter(idm_log *log, const entry *row)
{
  const idm_csv_field field[] = {cell_of(row->agent[0]), cell_of(row->agent[1]), cell_of(row->id)};
  uint32_t trajectory;
  check(idm_row_counts_add(log, field, &trajectory, &support_error));
  return trajectory;
}

static idm_problem *problem_with_rules(void)
{
  return support_yaml("states: [a, b]\nactions: [go]\nobservations: [x]\ndiscount: 0.9\n"
                      "transition: {'*': identity}\nobservation: {'*': uniform}\n"
                      "utility: {go: 0}\ndata: {rules: [{require: w}, {keep: 'w>1'}, {least: 2}]}");
}

/* --- counts at random ----------------------------------------------------------------------- */

static bool same_agent(const entry *a, const entry *b)
{
  return !strcmp(a->agent[0], b->agent[0]) && !strcmp(a->agent[1], b->agent[1]);
}

static bool same_trajectory(const entry *a, const entry *b)
{
  return same_agent(a, b) && !strcmp(a->id, b->id);
}

/* Where the last of a unit's rows went: nowhere (REASONS) if one is left. Counted at the unit's
 * first row only. */
static bool fate(const entry *row, size_t at, bool (*same)(const entry *, const entry *),
                 size_t *ret_fate)
{
  *ret_fate = 0;
  for (size_t i = 0; i < at; i++)
    if (same(&row[i], &row[at])) return false;
  for (size_t i = at; i < ROWS; i++)
    if (same(&row[i], &row[at]) && row[i].reason > *ret_fate) *ret_fate = row[i].reason;
  return true;
}

static bool has_row(const entry *row, size_t at, size_t below)
{
  for (size_t i = 0; i < ROWS; i++)
    if (same_trajectory(&row[i], &row[at]) && row[i].reason < below) return true;
  return false;
}

static idm_log_size count_fate(const entry *row, size_t reason)
{
  idm_log_size count = {0};
  size_t end;
  for (size_t i = 0; i < ROWS; i++) {
    count.rows += row[i].reason == reason;
    count.trajectories += fate(row, i, same_trajectory, &end) && end == reason;
    count.agents += fate(row, i, same_agent, &end) && end == reason;
  }
  return count;
}

static void expect_count(idm_log_size found, idm_log_size expected)
{
  assert_int_equal(found.rows, expected.rows);
  assert_int_equal(found.trajectories, expected.trajectories);
  assert_int_equal(found.agents, expected.agents);
}

static void expect_parted(const entry *row, const idm_log_counts *log_counts)
{
  size_t truncated = 0, by_where = 0, end;
  for (size_t i = 0; i < ROWS; i++) {
    if (!fate(row, i, same_trajectory, &end) || end < REASONS) continue;
    truncated += has_row(row, i, REASONS);
    by_where += has_row(row, i, CONDITIONS);
  }
  assert_true(truncated > by_where && by_where > 0);
  assert_int_equal(log_counts->truncated, truncated);
  assert_int_equal(log_counts->truncated_by_where, by_where);
}

/* Whole trajectories mostly share a fate, so that every reason takes some of them. */
static void draw_rows(entry *row, idm_random *random)
{
  for (size_t i = 0; i < ROWS; i++) {
    const unsigned who = (unsigned)(40 * idm_random_uniform(random));
    const unsigned which = (unsigned)(5 * idm_random_uniform(random));
    snprintf(row[i].agent[0], sizeof row[i].agent[0], "%u", who % 6);
    snprintf(row[i].agent[1], sizeof row[i].agent[1], "%u", who);
    snprintf(row[i].id, sizeof row[i].id, "%u", which);
    const unsigned usual = (who * who + (who % 3 ? which : 0)) % (REASONS + 1);
    row[i].reason = idm_random_uniform(random) < 0.9 ? usual : i % (usual + 1);
    row[i].missing = row[i].reason < REASONS && idm_random_uniform(random) < 0.3;
  }
}

static void test_counts(void **state)
{
  (void)state;
  static entry row[ROWS];
  idm_random random;
  idm_random_init(&random, 21, 0);
  idm_problem *problem = problem_with_rules();
  draw_rows(row, &random);
  idm_log log = open_log(problem, REASONS);
  for (size_t i = 0; i < ROWS; i++)
    idm_row_counts_record(&log, enter(&log, &row[i]), row[i].reason, row[i].missing);
  idm_log_counts *log_counts;
  check(idm_row_counts_summarise(&log, 0, &log_counts, &support_error));
  idm_log_size sum = count_fate(row, REASONS);
  expect_count(log_counts->kept, sum);
  for (size_t r = 0; r < REASONS; r++) {
    const idm_log_size lost = count_fate(row, r);
    size_t missing = 0;
    for (size_t i = 0; i < ROWS; i++) missing += row[i].reason == r && row[i].missing;
    assert_true(lost.rows > 0 && lost.trajectories > 0);
    expect_count(log_counts->dropped[r].lost, lost);
    assert_int_equal(log_counts->dropped[r].missing, missing);
    sum.rows += lost.rows;
    sum.trajectories += lost.trajectories;
    sum.agents += lost.agents;
  }
  expect_count(log_counts->read, sum); /* read = kept + dropped */
  expect_parted(row, log_counts);
  idm_log_counts_destroy(log_counts);
  close_log(&log);
  idm_problem_destroy(problem);
}

/* --- names ---------------------------------------------------------------------------------- */

/* Cells are joined so that no two trajectories run into one; a text that means missing is empty. */
static void test_identity(void **state)
{
  (void)state;
  static const entry row[] = {
      {{"a", "bc"}, "d", 0, false}, {{"ab", "c"}, "d", 0, false},   {{"a", "b"}, "cd", 0, false},
      {{"abc", ""}, "d", 0, false}, {{"", "abc"}, "d", 0, false},   {{"NA", "abc"}, "d", 0, false},
      {{"a", "bc"}, "", 0, false},  {{"a ", " bc"}, "d", 0, false},
  };
  static const uint32_t expected[] = {0, 1, 2, 3, 4, 4, 5, 0};
  idm_problem *problem = problem_with_rules();
  idm_log log = open_log(problem, REASONS);
  uint32_t index;
  assert_true(idm_intern_add(&log.missing, "NA", 2, &index));
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
    assert_int_equal(enter(&log, &row[i]), expected[i]);
  assert_int_equal(log.ledger.agents.count, 5);
  close_log(&log);
  idm_problem_destroy(problem);
}

static void test_reasons_in_words(void **state)
{
  (void)state;
  static const char *const words[REASONS] = {"--where age>50", "require w", "keep w>1", "least 2"};
  idm_problem *problem = problem_with_rules();
  idm_log log = open_log(problem, REASONS);
  log.header.role[IDM_COLUMN_TIME].count = 1;
  idm_log_counts *log_counts;
  check(idm_row_counts_summarise(&log, 3, &log_counts, &support_error));
  assert_int_equal(log_counts->reasons, REASONS);
  assert_int_equal(log_counts->cuts, 3);
  assert_true(log_counts->timed);
  for (size_t r = 0; r < REASONS; r++) assert_string_equal(log_counts->dropped[r].reason, words[r]);
  idm_log_counts_destroy(log_counts);
  close_log(&log);
  idm_problem_destroy(problem);
}

/* Where nothing can be dropped nobody is entered, and the log's own rows are what was read. */
static void test_nothing_to_drop(void **state)
{
  (void)state;
  idm_problem *problem = problem_with_rules();
  idm_log log = open_log(problem, 0);
  log.rows = 7;
  log.trajectories.count = 3;
  log.agents.count = 2;
  idm_log_counts *log_counts;
  check(idm_row_counts_summarise(&log, 0, &log_counts, &support_error));
  expect_count(log_counts->read, (idm_log_size){7, 3, 2});
  expect_count(log_counts->kept, (idm_log_size){7, 3, 2});
  assert_int_equal(log_counts->truncated, 0);
  idm_log_counts_destroy(log_counts);
  close_log(&log);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_identity),
      cmocka_unit_test(test_reasons_in_words),
      cmocka_unit_test(test_nothing_to_drop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
