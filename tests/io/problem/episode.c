/* Course of an episode in a problem file: start, discount, horizon, actions that end it. */
#include "io/problem/reader.h"

#include "io/problem/problem_support.h"

static void test_episode(void **state)
{
  (void)state;
  idm_problem *p = parse(with("discount: 1\nhorizon: 23\nends: [go]"), NULL);
  assert_int_equal(p->setting->horizon, 23);
  assert_true(p->setting->ends[1] && !p->setting->terminal[1] && p->setting->ends[2]);
  idm_problem_destroy(p);
  /* Where every action is terminal no dynamics are needed. */
  p = parse("states: 2\nactions: [a, b]\nobservations: 2\nterminal: [a, b]\ndiscount: 0\nutility: "
            "{a: 1, b: [0, 3]}\n",
            NULL);
  expect_numbers(p->setting->transition, (double[]){1, 0, 0, 1}, 4);
  expect_numbers(block(p, IDM_EMISSION) + 4, (double[]){.5, .5, .5, .5}, 4);
  idm_problem_destroy(p);
}

static void test_bad_episode(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"start: [0.5, 0.4]", 5, 8, "start sums to 0.9; expected probabilities that sum to 1"},
      {"start: [0.5]", 5, 8, "start is a list of 1; expected a list of 2 numbers"},
      {"start: [-1, 2]", 5, 9, "start is '-1'; expected a number of at least 0"},
      {"start: [x, 2]", 5, 9, "start is 'x'; expected a finite number"},
      {"start: [inf, 0]", 5, 9, "start is 'inf'; expected a finite number"},
      {"start: c", 5, 8, "in start, the state 'c' is unknown; expected one of a, b"},
      {"start: {a: 1}", 5, 8, "start is a mapping of 1; expected a list of probabilities, a state"},
      {"discount: 1", 6, 11, "discount is 1 and there is no horizon"},
      {"discount: 1.01", 6, 11, "discount is '1.01'; expected a number in [0, 1)"},
      {"discount: -0.1", 6, 11, "discount is '-0.1'"},
      {"discount: 0x1", 6, 11, "discount is '0x1'; expected a finite number"},
      {"discount: [1]", 6, 11, "discount is a list of 1"},
      {"horizon: 0", 11, 10, "horizon is '0'; expected an integer from 1"},
      {"horizon: 2.5", 11, 10, "horizon is '2.5'"},
      {"horizon: 99999999999", 11, 10, "horizon is '99999999999'"},
      {"ends: stay", 11, 7, "ends is 'stay'; expected a list of actions"},
      {"ends: [stya]", 11, 8, "in ends, the action 'stya' is unknown; did you mean 'stay'?"},
      {"terminal: [[stay]]", 7, 12, "in terminal, the action is a list of 1; expected a label"},
  };
  EXPECT_BAD(cases);
}

static void test_start(void **state)
{
  (void)state;
  idm_notes notes = {0};
  idm_problem *p = parse(with("start: [0.333333, 0.666666]"), &notes);
  expect_near(p->setting->start, (double[]){1. / 3, 2. / 3}, 2);
  assert_int_equal(notes.count, 1);
  assert_string_equal(notes.text[0], "start sums to 0.999999 and was normalised");
  idm_notes_clear(&notes);
  idm_problem_destroy(p);
  p = parse("states: 3\nactions: 1\nobservations: 1\ndiscount: 0.5\nstart: uniform\n"
            "transition: identity\nobservation: uniform\nutility: {\"*\": 0}\n",
            NULL);
  expect_numbers(p->setting->start, (double[]){1. / 3, 1. / 3, 1. / 3}, 3);
  idm_problem_destroy(p);
  /* A state that happens to be called uniform is that state. */
  p = parse("states: [uniform, b]\nactions: 1\nobservations: 1\ndiscount: 0.5\nstart: uniform\n"
            "transition: identity\nobservation: uniform\nutility: {\"*\": 0}\n",
            NULL);
  expect_numbers(p->setting->start, (double[]){1, 0}, 2);
  idm_problem_destroy(p);
}

static void test_round_trip(void **state)
{
  (void)state;
  static const char *const lines[] = {"start: [0.1, 0.9]",
                                      "start: b",
                                      "discount: 0",
                                      "discount: 0.123456789012345678",
                                      "discount: 1\nhorizon: 23",
                                      "ends: [go]",
                                      "ends: [stay, go, stop]"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) expect_line_round_trip(lines[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_episode), cmocka_unit_test(test_bad_episode),
      cmocka_unit_test(test_start), cmocka_unit_test(test_round_trip)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
