/* Roles of the columns of a log: `data` of a problem file. */

#include "io/problem/problem_support.h"

static void test_bad_columns(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"data: {agnet: who}", 11, 8, "the key 'agnet' is unknown; did you mean 'agent'?"},
      {"data: {agent: []}", 11, 15, "data.agent is a list of 0; expected a list of names"},
      {"data: {agent: \"\"}", 11, 15, "data.agent is empty"},
      {"data: {agent: [a, b, a]}", 11, 22, "data.agent 'a' is named twice"},
      {"data: {agent: {a: b}}", 11, 15, "data.agent is a mapping of 1"},
  };
  EXPECT_BAD(cases);
}

/* Every role of a log has its key, by which it is read and written. */
static void test_roles(void **state)
{
  (void)state;
  for (size_t i = 0; i < IDM_COLUMN_COUNT; i++) {
    const idm_column_info *info = idm_column_describe((idm_column)i);
    if (info->of_state) continue;
    char line[200];
    snprintf(line, sizeof line, "data: {%s: \"a column\"}", info->key);
    idm_problem *p = parse(with(line), NULL);
    for (size_t k = 0; k < IDM_COLUMN_COUNT; k++)
      assert_int_equal(p->columns.role[k].count, k == i);
    assert_string_equal(p->columns.role[i].name[0], "a column");
    expect_round_trip(p);
    idm_problem_destroy(p);
    /* What is said by joining columns is a label; evidence is one column's. */
    snprintf(line, sizeof line, "data: {%s: [a, b]}", info->key);
    if (info->evidence) {
      char words[80];
      snprintf(words, sizeof words, "data.%s is a list of 2; expected one column", info->key);
      expect_error(with(line), 11, 10 + (long)strlen(info->key), words);
    } else {
      p = parse(with(line), NULL);
      assert_int_equal(p->columns.role[i].count, 2);
      expect_round_trip(p);
      idm_problem_destroy(p);
    }
  }
}

/* A column of states where they are seen, and only there. */
static void test_states(void **state)
{
  (void)state;
  expect_error(with("data: {state: place}"), 11, 15,
               "data.state names a column of states, which are hidden in this problem");
  idm_problem *p =
      support_yaml("states: [a, b]\nactions: [stay]\nobservations: states\n"
                   "transition: {stay: identity}\nutility: {stay: 0}\ndata: {state: [x, y]}\n");
  assert_int_equal(p->columns.role[IDM_COLUMN_STATE].count, 2);
  expect_round_trip(p);
  idm_problem_destroy(p);
}

static void test_none(void **state)
{
  (void)state;
  idm_problem *p = parse(with(NULL), NULL);
  for (size_t k = 0; k < IDM_COLUMN_COUNT; k++) assert_int_equal(p->columns.role[k].count, 0);
  idm_problem_destroy(p);
  expect_error(with("data: action"), 11, 7, "data is 'action'; expected a mapping");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bad_columns),
                                     cmocka_unit_test(test_roles), cmocka_unit_test(test_states),
                                     cmocka_unit_test(test_none)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
