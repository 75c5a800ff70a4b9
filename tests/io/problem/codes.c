/* What cells of a log mean: `codes`, `missing` and `missed` of a problem file. */
#include "io/problem/reader.h"

#include "io/problem/problem_support.h"

static void test_bad_codes(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"data: {codes: names}", 11, 15, "data.codes.action is 'names'; expected"},
      {"data: {codes: [index]}", 11, 15, "data.codes is a list of 1; expected index, or a mapping"},
      {"data: {codes: {state: index}}", 11, 16, "in data.codes, the key 'state' is unknown"},
      {"data: {codes: {action: {0: walk}}}", 11, 28, "data.codes.action"},
      {"data: {codes: {action: {go: stay}}}", 11, 25,
       "'go' is the name of an action itself and cannot be a code of 'stay'"},
      {"data: {codes: {action: {0: stay, 0: go}}}", 11, 34, "'0' is given twice"},
      {"data: {codes: {action: {0: [stay]}}}", 11, 28, "expected a label for every text"},
      {"data: {codes: {action: {}}}", 11, 24, "expected index, labels or a map"},
      {"data: {codes: {action: [index, index]}}", 11, 24,
       "data.codes.action lists 2 codes for 1 column; expected one per column"},
      {"data: {action: [a, b], codes: {action: [index, index]}}", 11, 40,
       "the label 'stay' does not have 2 parts joined by '/'"},
      {"data: {action: [a, b], codes: index}", 11, 31, "does not have 2 parts"},
      {"data: {missing: [NA, go]}", 11, 22, "data.missing: 'go' is an action, an observation or"},
      {"data: {missing: NA, codes: {action: {NA: go}}}", 11, 17, "data.missing: 'NA' is an action"},
      {"data: {codes: {action: [index]}}", 11, 24, "data.codes.action lists 1 code for 1 column;"},
      {"data: {missing: x}", 11, 17, "data.missing: 'x' is an action, an observation or a code"},
      {"data: {missing: []}", 11, 17, "data.missing is a list of 0"},
      {"data: {missed: [late, go]}", 11, 23, "data.missed: 'go' is an action or a code of one;"},
      {"data: {missed: go}", 11, 16, "data.missed: 'go' is an action or a code of one; expected a"},
      {"data: {missed: 9, codes: {action: {9: go}}}", 11, 16, "data.missed: '9' is an action or"},
      {"data: {missed: 1, codes: {action: index}}", 11, 16, "data.missed: '1' is an action or"},
      {"data: {missed: []}", 11, 16, "data.missed is a list of 0"},
      {"data: {missed: {action: stay}}", 11, 16, "expected {values: [TEXT, ...], action: ACTION}"},
      {"data: {missed: {values: late, acton: stay}}", 11, 31, "the key 'acton' is unknown"},
      {"data: {missed: {values: late, action: walk}}", 11, 39, "in data.missed.action, the action"},
      {"data: {missed: {values: late, action: stop}}", 11, 39,
       "data.missed.action: 'stop' ends a trajectory; expected an action after which it continues"},
  };
  EXPECT_BAD(cases);
}

static const idm_code *code_of(const idm_problem *p, idm_column role, size_t column)
{
  return &p->columns.codes[role].code[column];
}

static void test_words(void **state)
{
  (void)state;
  idm_problem *p = parse(with("data: {codes: index}"), NULL);
  assert_true(code_of(p, IDM_COLUMN_ACTION, 0)->index);
  assert_true(code_of(p, IDM_COLUMN_OBSERVATION, 0)->index);
  expect_round_trip(p);
  idm_problem_destroy(p);
  p = parse(with("data: {codes: {observation: index, action: labels}}"), NULL);
  assert_false(code_of(p, IDM_COLUMN_ACTION, 0)->index);
  assert_true(code_of(p, IDM_COLUMN_OBSERVATION, 0)->index);
  expect_round_trip(p);
  idm_problem_destroy(p);
}

static void test_map(void **state)
{
  (void)state;
  idm_problem *p = parse(with("data: {codes: {action: {0: stay, 1: go, x: go, stop: stop}}, "
                              "missing: [NA, \"\\u2013\"]}"),
                         NULL);
  const idm_code *code = code_of(p, IDM_COLUMN_ACTION, 0);
  static const char *const expected[][2] = {
      {"0", "stay"}, {"1", "go"}, {"x", "go"}, {"stop", "stop"}};
  assert_int_equal(code->text.count, 4);
  for (size_t i = 0; i < 4; i++) {
    assert_string_equal(code->text.name[i], expected[i][0]);
    assert_string_equal(code->target_label.name[i], expected[i][1]);
  }
  assert_int_equal(p->columns.missing.count, 2);
  assert_string_equal(p->columns.missing.name[1], "\xe2\x80\x93");
  expect_round_trip(p);
  idm_problem_destroy(p);
  expect_error(with("data: {codes: {action: {\"\": go}}}"), 11, 25,
               "an empty cell is not recorded; expected a text");
}

static void test_missed(void **state)
{
  (void)state;
  idm_problem *p = parse(with("data: {missing: NA, missed: [NA, late]}"), NULL);
  assert_int_equal(p->columns.missed.count, 2);
  assert_string_equal(p->columns.missed.name[1], "late");
  assert_int_equal(p->columns.missed_action, 0);
  expect_round_trip(p);
  idm_problem_destroy(p);
  p = parse(with("data: {missed: {values: late, action: go}}"), NULL);
  assert_string_equal(p->setting->actions.name[p->columns.missed_action - 1], "go");
  expect_round_trip(p);
  idm_problem *other = parse(with("data: {missed: {values: late, action: stay}}"), NULL);
  char difference[200];
  assert_false(idm_problem_compare(p, other, 0, difference, sizeof difference));
  assert_string_equal(difference, "the action of missed responses");
  idm_problem_destroy(other);
  idm_problem_destroy(p);
}

/* One entry a column, each of its own part of the label. */
static void test_by_column(void **state)
{
  (void)state;
#define FACTORS                                                                                    \
  "states: [s, t]\nactions: [u]\nobservations: {p: [no, yes], q: [low, high]}\ndiscount: 0.5\n"    \
  "transition: identity\nobservation: {p: identity, q: uniform}\nutility: {\"*\": 0}\n"
  idm_problem *p = parse(FACTORS "data: {observation: [test, scan], codes: {observation: [{0: no, "
                                 "1: yes}, index]}}\n",
                         NULL);
  assert_int_equal(p->columns.codes[IDM_COLUMN_OBSERVATION].count, 2);
  assert_string_equal(code_of(p, IDM_COLUMN_OBSERVATION, 0)->target_label.name[1], "yes");
  assert_true(code_of(p, IDM_COLUMN_OBSERVATION, 1)->index);
  expect_round_trip(p);
  idm_problem_destroy(p);
  p = parse(FACTORS "data: {observation: [test, scan], codes: {observation: [labels, {1: low, 2: "
                    "high}]}}\n",
            NULL);
  assert_string_equal(code_of(p, IDM_COLUMN_OBSERVATION, 1)->target_label.name[1], "high");
  expect_round_trip(p);
  idm_problem_destroy(p);
  expect_error(FACTORS
               "data: {observation: [test, scan], codes: {observation: [{0: low}, index]}}\n",
               8, 61, "data.codes.observation");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bad_codes), cmocka_unit_test(test_words),
                                     cmocka_unit_test(test_map), cmocka_unit_test(test_missed),
                                     cmocka_unit_test(test_by_column)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
