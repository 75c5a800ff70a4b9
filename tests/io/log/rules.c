/* Rules that leave rows out, against plain code that judges one row at a time, on logs and lists of
 * rules drawn at random. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { MOST_ROWS = 40, TRAJECTORIES = 5, LOGS = 400, KEPT = 100 };

typedef struct row {
  int id;
  int month;
  int age;   /* -1: missing */
  char site; /* 'x', 'y', or 0: missing */
  char dx;   /* 'w', 's', 'o' */
  int reason;
} row;

typedef enum kind {
  require_site,
  keep_old,
  drop_x,
  first_twin,
  last_twin,
  truncate_6,
  ends_w,
  least_2,
  kinds
} kind;

static const char *const text_of[kinds] = {
    [require_site] = "{require: site}",
    [keep_old] = "{keep: 'age>=50'}",
    [drop_x] = "{drop: site=x}",
    [first_twin] = "{duplicates: first}",
    [last_twin] = "{duplicates: last}",
    [truncate_6] = "{truncate: {column: month, every: 6}}",
    [ends_w] = "{ends: {column: dx, in: [w, s]}}",
    [least_2] = "{least: 2}",
};

typedef struct list {
  kind rule[kinds];
  int count;
} list;

static int below(idm_random *random, int bound)
{
  return (int)(bound * idm_random_uniform(random));
}

/* --- what is expected ----------------------------------------------------------------------- */

static bool row_falls(const row *r, kind rule)
{
  switch (rule) {
  case require_site:
    return !r->site;
  case keep_old:
    return r->age < 50; /* missing too */
  case drop_x:
    return r->site == 'x';
  default:
    return false;
  }
}

/* The next row of a trajectory in time that is still there; -1: none. */
static int next_row(const row *r, int rows, int id, int after)
{
  int best = -1;
  for (int i = 0; i < rows; i++)
    if (r[i].id == id && r[i].reason == KEPT && r[i].month > after &&
        (best < 0 || r[i].month < r[best].month))
      best = i;
  return best;
}

static void fall_from(row *r, int rows, int id, int month, int reason)
{
  for (int i = 0; i < rows; i++)
    if (r[i].id == id && r[i].reason == KEPT && r[i].month >= month) r[i].reason = reason;
}

static void judge_trajectory(row *r, int rows, int id, kind rule, int reason)
{
  int count = 0;
  int last = -1;
  for (int i = next_row(r, rows, id, -1); i >= 0; i = next_row(r, rows, id, r[i].month)) {
    if (rule == truncate_6 && last >= 0 && r[i].month != r[last].month + 6) {
      fall_from(r, rows, id, r[i].month, reason);
      return;
    }
    last = i;
    count++;
  }
  const bool falls =
      (rule == ends_w && count && r[last].dx == 'o') || (rule == least_2 && count && count < 2);
  if (falls) fall_from(r, rows, id, 0, reason);
}

static void judge_twins(row *r, int rows, bool keep_last, int reason)
{
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < rows; k++)
      if (r[i].reason == KEPT && k != i && (r[k].reason == KEPT || r[k].reason == reason) &&
          r[k].id == r[i].id && r[k].month == r[i].month && (keep_last ? k > i : k < i))
        r[i].reason = reason;
}

static void judge(row *r, int rows, const list *rules)
{
  for (int k = 0; k < rules->count; k++) {
    const kind rule = rules->rule[k];
    if (rule == first_twin || rule == last_twin) judge_twins(r, rows, rule == last_twin, k);
    for (int i = 0; i < rows && rule < first_twin; i++)
      if (r[i].reason == KEPT && row_falls(&r[i], rule)) r[i].reason = k;
    for (int id = 0; id < TRAJECTORIES && rule > last_twin; id++)
      judge_trajectory(r, rows, id, rule, k);
  }
}

/* --- logs and rules at random --------------------------------------------------------------- */

/* Some of the rules from `first` to `last`, in any order. */
static void draw_rules(list *rules, kind first, kind last, idm_random *random)
{
  const int before = rules->count;
  for (kind k = first; k <= last; k++) {
    if (below(random, 3) == 0) continue;
    const int at = before + below(random, rules->count - before + 1);
    memmove(&rules->rule[at + 1], &rules->rule[at],
            (size_t)(rules->count - at) * sizeof rules->rule[0]);
    rules->rule[at] = k;
    rules->count++;
  }
}

static bool taken(const row *r, int count, int id, int month)
{
  for (int i = 0; i < count; i++)
    if (r[i].id == id && r[i].month == month) return true;
  return false;
}

static int draw_rows(row *r, bool twins, idm_random *random)
{
  int count = 0;
  for (int i = 0; i < MOST_ROWS; i++) {
    const int id = below(random, TRAJECTORIES);
    const int month = 6 * below(random, 9);
    if (!twins && taken(r, count, id, month)) continue;
    r[count++] = (row){.id = id,
                       .month = month,
                       .age = below(random, 8) ? 48 + below(random, 12) : -1,
                       .site = "yyyyyx\0"[below(random, 7)],
                       .dx = "wso"[below(random, 3)],
                       .reason = KEPT};
  }
  return count;
}

static void write_log(const row *r, int rows, char *text, size_t size)
{
  size_t used = (size_t)snprintf(text, size, "trajectory,month,age,site,dx,action,observation\n");
  for (int i = 0; i < rows; i++) {
    char age[16] = "";
    if (r[i].age >= 0) snprintf(age, sizeof age, "%d", r[i].age);
    used += (size_t)snprintf(text + used, size - used, "%d,%d,%s,%.1s,%c,go,\n", r[i].id,
                             r[i].month, age, &r[i].site, r[i].dx);
  }
}

static idm_problem *problem_with(const list *rules)
{
  char text[1200];
  size_t used = (size_t)snprintf(
      text, sizeof text,
      "states: [a, b]\nactions: [go]\nobservations: [x]\ndiscount: 0.9\nutility: {go: 0}\n"
      "transition: {'*': identity}\nobservation: {'*': uniform}\ndata: {time: month, rules: [");
  for (int k = 0; k < rules->count; k++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", k ? ", " : "",
                             text_of[rules->rule[k]]);
  snprintf(text + used, sizeof text - used, "]}\n");
  return support_yaml(text);
}

/* Rows that are kept, by the line of the file that they stand in, and how many each rule took. */
static void compare(const row *r, int rows, const list *rules, const idm_data *data)
{
  size_t kept = 0;
  for (int i = 0; i < rows; i++) {
    bool found = false;
    for (size_t k = 0; k < data->rows; k++) found |= data->line[k] == (uint32_t)i + 2;
    assert_int_equal(found, r[i].reason == KEPT);
    kept += found;
  }
  assert_int_equal(data->rows, kept);
  for (int k = 0; k < rules->count; k++) {
    size_t taken_by = 0;
    for (int i = 0; i < rows; i++) taken_by += r[i].reason == k;
    assert_int_equal(data->log_counts->dropped[k].lost.rows, taken_by);
  }
}

static void test_against_plain_code(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 4, 0);
  int compared = 0;
  size_t took[kinds] = {0};
  for (int i = 0; i < LOGS; i++) {
    row r[MOST_ROWS];
    list rules = {.count = 0};
    char text[4000];
    draw_rules(&rules, require_site, drop_x, &random);
    const bool twins = below(&random, 2);
    if (twins) rules.rule[rules.count++] = below(&random, 2) ? first_twin : last_twin;
    draw_rules(&rules, truncate_6, least_2, &random);
    const int rows = draw_rows(r, twins, &random);
    write_log(r, rows, text, sizeof text);
    judge(r, rows, &rules);
    bool any = false;
    for (int k = 0; k < rows; k++) any |= r[k].reason == KEPT;
    if (!any || !rules.count) continue; /* a log without rows is refused */
    for (int k = 0; k < rows; k++)
      if (r[k].reason != KEPT) took[rules.rule[r[k].reason]]++;
    idm_problem *problem = problem_with(&rules);
    idm_data *data = support_data(problem, text);
    compare(r, rows, &rules, data);
    compared++;
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
  assert_true(compared > LOGS / 2);
  for (kind k = 0; k < kinds; k++) assert_true(took[k] > 50); /* every rule was at work */
}

/* --- what is refused ------------------------------------------------------------------------ */

static void expect_refused(kind rule, const char *log, long line, const char *words)
{
  idm_problem *problem = problem_with(&(const list){{rule}, 1});
  idm_data *data;
  idm_error error = {0};
  assert_int_equal(
      idm_data_parse_csv(log, strlen(log), "t.csv", problem, NULL, &data, NULL, &error), IDM_INPUT);
  assert_null(data);
  support_expect_place(&error, line, error.column, words);
  idm_problem_destroy(problem);
}

static void test_refused(void **state)
{
  (void)state;
  expect_refused(keep_old, "trajectory,month,age,action,observation\n1,0,60,go,\n1,6,old,go,\n", 3,
                 "old");
  expect_refused(require_site, "trajectory,month,action,observation\n1,0,go,\n", 1, "site");
  expect_refused(least_2, "trajectory,month,action,observation\n1,0,go,\n1,0,go,\n", 3, "time");
  expect_refused(least_2, "trajectory,month,action,observation\n1,0,go,\n1,soon,go,\n", 3, "soon");
  expect_refused(least_2, "trajectory,month,action,observation\n1,0,go,\n2,0,go,\n", 1,
                 "none of the 2 rows is left by least 2 (2)");
}

/* A step that is not a whole number is met up to rounding: 0.1 + 0.2 is not 0.3. */
static void test_steps_with_rounding(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(
      "states: [a, b]\nactions: [go]\nobservations: [x]\ndiscount: 0.9\nutility: {go: 0}\n"
      "transition: {'*': identity}\nobservation: {'*': uniform}\n"
      "data: {time: year, rules: [{truncate: {column: year, every: 0.1}}]}\n");
  idm_data *data =
      support_data(problem, "trajectory,year,action,observation\n1,0.1,go,\n1,0.2,go,\n1,0.3,go,\n"
                            "1,0.4,go,\n1,0.7,go,\n1,0.8,go,\n");
  assert_int_equal(data->rows, 4);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_plain_code),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_steps_with_rounding),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
