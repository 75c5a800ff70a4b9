/* Utility of a problem file: numbers, lists by state, columns of the log. */
#include "io/problem/reader.h"

#include "io/problem/problem_support.h"

static void test_utility_columns(void **state)
{
  (void)state;
  idm_problem *p = parse(with("utility: {stop: [pay, -fee], stay: -fee, go: [\"5\", pay]}"), NULL);
  assert_int_equal(p->columns.utility.count, 2);
  /* Columns in order of action and state, not of the file. */
  assert_string_equal(p->columns.utility.name[0], "fee");
  assert_string_equal(p->columns.utility.name[1], "pay");
  static const idm_utility_source expected[] = {
      {0, 0, 0, -1}, {0, 1, 0, -1}, {1, 1, 1, 1}, {2, 0, 1, 1}, {2, 1, 0, -1}};
  assert_int_equal(p->utility_sources, 5);
  for (size_t i = 0; i < 5; i++) {
    assert_int_equal(p->utility_source[i].action, expected[i].action);
    assert_int_equal(p->utility_source[i].state, expected[i].state);
    assert_int_equal(p->utility_source[i].column, expected[i].column);
    assert_true(p->utility_source[i].scale == expected[i].scale);
  }
  expect_numbers(block(p, IDM_UTILITY), (double[]){0, 0, 5, 0, 0, 0}, 6);
  assert_int_equal(idm_problem_bind(p, 1, (double[]){2, 7}, NULL), IDM_OK);
  expect_numbers(block(p, IDM_UTILITY), (double[]){-2, -2, 5, 7, 7, -2}, 6);
  idm_problem_destroy(p);
}

/* By state, the star standing for those that are not named. */
static void test_by_state(void **state)
{
  (void)state;
  idm_problem *named =
      parse(with("utility: {stop: {b: 4, a: 3}, \"*\": {a: 1, \"*\": fee}}"), NULL);
  assert_int_equal(named->utility_sources, 2);
  expect_numbers(block(named, IDM_UTILITY), (double[]){1, 0, 1, 0, 3, 4}, 6);
  idm_problem_destroy(named);
}

static void test_bad_utility(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"utility: 1", 10, 10, "utility is '1'; expected a mapping of actions"},
      {"utility: {stay: 1, go: 2}", 10, 10, "utility lacks the action 'stop'"},
      {"utility: {stay: 1, go: 2, stp: 1}", 10, 27,
       "the action 'stp' is unknown; did you mean 'stop'?"},
      {"utility: {stay: [1], \"*\": 0}", 10, 17,
       "utility.stay is a list of 1; expected a list of 2 entries"},
      {"utility: {stay: [1, [2]], \"*\": 0}", 10, 21,
       "utility.stay is a list of 1; expected a finite number or the name"},
      {"utility: {stay: inf, \"*\": 0}", 10, 17, "utility.stay is 'inf'; expected a finite number"},
      {"utility: {stay: [0, nan], \"*\": 0}", 10, 21, "utility.stay is 'nan'"},
      {"utility: {stay: {a: 1}, \"*\": 0}", 10, 17,
       "utility.stay lacks the state 'b'; expected an entry for it"},
      {"utility: {stay: {c: 1}, \"*\": 0}", 10, 18, "the state 'c' is unknown"},
      {"utility: {stay: {a: {b: 1}, b: 0}, \"*\": 0}", 10, 21, "expected a finite number"},
      {"utility: {stay: , \"*\": 0}", 10, 17, "utility.stay is empty"},
      {"utility: {stay: \"-\", \"*\": 0}", 10, 17, "utility.stay is '-'"},
      {"utility: {stay: \"pay\\nday\", \"*\": 0}", 10, 17, "without control characters"},
      {"utility: {stay: \"- pay\", \"*\": 0}", 10, 17, "without blanks at its ends"},
      {"utility: {stay: 0x10, \"*\": 0}", 10, 17, "utility.stay is '0x10'"},
  };
  EXPECT_BAD(cases);
}

static void test_none(void **state)
{
  (void)state;
  idm_notes notes = {0};
  idm_problem *p = parse(with("utility:"), &notes);
  expect_numbers(block(p, IDM_UTILITY), (double[]){0, 0, 0, 0, 0, 0}, 6);
  assert_int_equal(notes.count, 1);
  assert_string_equal(notes.text[0], "no utility is given: all utilities are 0");
  idm_notes_clear(&notes);
  idm_problem_destroy(p);
}

/* The name of a column may be long, but not without end. */
static void test_long_name(void **state)
{
  (void)state;
  char line[1200] = "utility: {\"*\": ";
  const size_t head = strlen(line);
  memset(line + head, 'x', 1000);
  strcpy(line + head + 1000, "}");
  idm_problem *p = parse(with(line), NULL);
  assert_int_equal(strlen(p->columns.utility.name[0]), 1000);
  idm_problem_destroy(p);
  memset(line + head, 'x', 1001);
  strcpy(line + head + 1001, "}");
  expect_error(with(line), 10, 16, "expected a finite number or the name of a data column");
}

/* References by entry, columns by their first appearance; none takes the columns away. */
static void test_references(void **state)
{
  (void)state;
  idm_problem *p = parse(with("utility: {stay: fee, go: [1, 2], stop: 0}"), NULL);
  idm_yaml_references references = {0};
  for (size_t i = 0; i < 40; i++) /* more than there is room for at first */
    check(idm_yaml_add_reference(&references,
                                 (idm_yaml_reference){2 - i % 3, i / 3 % 2, 1, i % 3 ? "b" : "a"},
                                 &support_error));
  references.count = 6;
  check(idm_yaml_store_references(p, &references, &support_error));
  assert_int_equal(p->utility_sources, 6);
  assert_int_equal(p->columns.utility.count, 2);
  assert_string_equal(p->columns.utility.name[0], "b"); /* of action 0 */
  for (size_t i = 0; i < 6; i++) {
    assert_int_equal(p->utility_source[i].action, i / 2);
    assert_int_equal(p->utility_source[i].state, i % 2);
    assert_int_equal(p->utility_source[i].column, i / 2 == 2);
  }
  references.count = 0;
  check(idm_yaml_store_references(p, &references, &support_error));
  assert_int_equal(p->utility_sources, 0);
  assert_int_equal(p->columns.utility.count, 0);
  free(references.item);
  idm_problem_destroy(p);
}

/* Entries of terminal states that are not used have one note; a number for every state, and 0, have
 * none. */
static void test_terminal(void **state)
{
  (void)state;
#define SPACES                                                                                     \
  "states: [a, end]\nactions: [stay, go]\nobservations: states\ndiscount: 0.9\nterminal: [end]\n"  \
  "transition: {\"*\": identity}\nstart: a\n"
  static const struct {
    const char *text, *words;
  } cases[] = {
      {SPACES "utility: {stay: -1, go: [2, 5]}\n", "utility: 1 entry of terminal states"},
      {SPACES "utility: {\"*\": {a: 0, end: 5}}\n", "2 entries of terminal states (as 'end')"},
      {SPACES "utility: {stay: 0, go: [0, prize]}\n", "1 entry of terminal states"},
      {SPACES "utility: {stay: -1, go: [2, 0]}\n", NULL},
      {SPACES "utility: {stay: -1, go: {a: 2, \"*\": 1}}\n", NULL},
      {SPACES "features: {home: {\"*\": [0, 1]}, step: {\"*\": 1}}\n",
       "the feature 'home' differs from 0 in terminal states only"},
      {SPACES "features: {step: {\"*\": 1}}\n", NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_notes notes = {0};
    idm_problem_destroy(parse(cases[i].text, &notes));
    assert_int_equal(notes.count, cases[i].words ? 1 : 0);
    if (cases[i].words && !strstr(notes.text[0], cases[i].words))
      fail_msg("'%s' lacks '%s'", notes.text[0], cases[i].words);
    idm_notes_clear(&notes);
  }
  idm_problem *p = parse(cases[3].text, NULL);
  idm_error error = {0};
  assert_int_equal(idm_problem_set(p, "utility.go.end=1", &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "'end' is terminal"));
  assert_int_equal(idm_problem_set(p, "utility.go.end=prize", NULL), IDM_USAGE);
  check(idm_problem_set(p, "utility.go.end=0", &support_error));
  check(idm_problem_set(p, "utility.go=3", &support_error));
  expect_numbers(block(p, IDM_UTILITY), (double[]){-1, 0, 3, 0}, 4);
  idm_problem_destroy(p);
}

static void test_round_trip(void **state)
{
  (void)state;
  static const char *const lines[] = {
      "utility: {stop: [pay, -fee], stay: -fee, go: [\"5\", pay]}",
      "utility: {stay: 1e-320, go: [-0.0, 0.1], stop: 1.7976931348623157e308}",
      "utility: {\"*\": [0.30000000000000004, -2]}", "utility: {\"*\": \"yes no\"}"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) expect_line_round_trip(lines[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_utility_columns), cmocka_unit_test(test_bad_utility),
      cmocka_unit_test(test_by_state),        cmocka_unit_test(test_none),
      cmocka_unit_test(test_long_name),       cmocka_unit_test(test_references),
      cmocka_unit_test(test_terminal),        cmocka_unit_test(test_round_trip)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
