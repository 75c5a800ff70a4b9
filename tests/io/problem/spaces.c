/* Spaces of a problem file: states, actions and observations; labels, counts and factors. */
#include "io/problem/reader.h"

#include <time.h>

#include "io/problem/problem_support.h"

static void test_spaces(void **state)
{
  (void)state;
  idm_problem *p =
      parse("states: 2\nactions: 1\nobservations: 3\ndiscount: 0\ntransition: identity\n"
            "observation: uniform\nutility: {0: [1, 2]}\nstart: 1\n",
            NULL);
  assert_string_equal(p->setting->states.name[1], "1");
  assert_int_equal(p->setting->observations.count, 3);
  expect_numbers(p->setting->emission, (double[]){1.0 / 3, 1.0 / 3, 1.0 / 3}, 3);
  expect_numbers(p->setting->start, (double[]){0, 1}, 2);
  idm_problem_destroy(p);
  p = parse(with("start: b"), NULL);
  expect_numbers(p->setting->start, (double[]){0, 1}, 2);
  idm_problem_destroy(p);
  p = parse(with("start: uniform"), NULL);
  expect_numbers(p->setting->start, (double[]){.5, .5}, 2);
  idm_problem_destroy(p);
  p = parse(with("start:"), NULL);
  expect_numbers(p->setting->start, (double[]){.5, .5}, 2);
  idm_problem_destroy(p);
}

static void test_bad_spaces(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"states:", 1, 1, "the key 'states' is missing"},
      {"actions:", 1, 1, "the key 'actions' is missing"},
      {"observations:", 1, 1, "the key 'observations' is missing"},
      {"states: ", 2, 8, "states is empty; expected a list of labels or their number"},
      {"states: []", 2, 9, "states is a list of 0; expected a list of labels"},
      {"states: many", 2, 9, "states is 'many'; expected a list of labels or their number"},
      {"states: 0", 2, 9, "states is '0'; expected an integer from 1"},
      {"states: 1.5", 2, 9, "states is '1.5'; expected an integer"},
      {"states: -2", 2, 9, "states is '-2'; expected an integer"},
      {"states: nan", 2, 9, "states is 'nan'; expected an integer"},
      {"states: {a: 1}", 2, 9, "states is a mapping of 1; expected a list"},
      {"states: [a, [b]]", 2, 13, "a state is a list of 1; expected a label"},
      {"states: [a, \"\"]", 2, 13, "a state is empty; expected a label"},
      {"states: [a, b, c, a]", 2, 19, "state 'a' is named twice"},
      {"actions: [stay, go, stop, go]", 3, 27, "action 'go' is named twice"},
      {"actions: [stay, go, stop, \"*\"]", 3, 27, "an action is called '*'"},
      {"observations: [x, x]", 4, 19, "observation 'x' is named twice"},
      {"observations: {}", 4, 15, "observations is a mapping of 0; expected 1 to 16 factors"},
      {"observations: {p: [n, n], q: [a, b]}", 4, 15, "observation 'n/a' is named twice"},
      {"observations: {p: [n/a, n], q: [b, a/b]}", 4, 15, "observation 'n/a/b' is named twice"},
      {"observations: {p: yes}", 4, 19, "observations.p is 'yes'; expected a list"},
      {"observations: {p: 1e1}", 4, 19,
       "observations.p is '1e1'; expected a number in plain digits"},
      {"observations: {p: [[1]]}", 4, 20, "an observation is a list of 1; expected a label"},
  };
  EXPECT_BAD(cases);
}

/* One state: nothing to see, and nowhere to go. */
static void test_one_state(void **state)
{
  (void)state;
  idm_problem *p = parse("states: [here]\nactions: [left, right]\nutility: {\"*\": 0}\n", NULL);
  assert_true(p->setting->fully_observed);
  assert_int_equal(p->setting->observations.count, 1);
  for (size_t u = 0; u < 2; u++) assert_true(p->setting->transition[u] == 1);
  expect_round_trip(p);
  idm_problem_destroy(p);
  p = parse("states: 1\nactions: 2\nobservations: [win, lose]\nobservation: uniform\n", NULL);
  assert_false(p->setting->fully_observed);
  assert_true(p->setting->transition[1] == 1);
  idm_problem_destroy(p);
  expect_error("states: 2\nactions: 2\n", 1, 1, "the key 'observations' is missing");
}

static double seconds(void)
{
  return (double)clock() / CLOCKS_PER_SEC;
}

static void test_million_states(void **state)
{
  (void)state;
  const size_t count = 1000000;
  char *text = malloc(count * 3 + 200);
  assert_non_null(text);
  size_t length = (size_t)sprintf(text, "actions: 1\nobservations: 2\nstates: [");
  for (size_t i = 0; i < count; i++) length += (size_t)sprintf(text + length, "s,");
  sprintf(text + length, "s]\n");
  const double before = seconds();
  expect_error(text, 3, 9,
               "1000001 states, 1 actions, 2 observations and 1 models make matrices of");
  /* Twice through libyaml, under a sanitizer: seconds, where pairwise work would take hours. */
  assert_true(seconds() - before < 60);
  free(text);
  expect_error("states: 1000000000\nactions: 1000000000\nobservations: 1000000000\n", 1, 9,
               "expected at most 1 GiB");
  expect_error(
      "states: 1\nactions: 1\nobservations: {a: 1000000000, b: 1000000000, c: 1000000000}\n", 1, 9,
      "expected at most 1 GiB");
  expect_error(
      "states: 3000\nactions: 2\nobservations: 2\ntransition: identity\nobservation: uniform\n"
      "models: [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}]\n",
      1, 9, "and 10 models make matrices of");
}

/* Many actions: labels are looked up by search, not one by one. */
static void test_many_actions(void **state)
{
  (void)state;
  const size_t count = 30000;
  char *text = malloc(count * 30 + 200);
  assert_non_null(text);
  size_t length =
      (size_t)sprintf(text, "states: 1\nobservations: 1\ndiscount: 0\ntransition: identity\n"
                            "observation: identity\nactions: [");
  for (size_t i = 0; i < count; i++) length += (size_t)sprintf(text + length, "u%zu, ", i);
  length += (size_t)sprintf(text + length, "]\nutility: {");
  for (size_t i = 0; i < count; i++) length += (size_t)sprintf(text + length, "u%zu: c%zu, ", i, i);
  sprintf(text + length, "}\n");
  const double before = seconds();
  idm_problem *p = parse(text, NULL);
  assert_true(seconds() - before < 30);
  assert_int_equal(p->columns.utility.count, count);
  assert_string_equal(p->columns.utility.name[count - 1], "c29999");
  idm_problem_destroy(p);
  free(text);
}

static void test_odd_text(void **state)
{
  (void)state;
  idm_problem *p =
      parse("{\"states\": [\"\\u00e9t\\u00e9\", \"x y: z\"], \"actions\": [\"yes\"], "
            "\"observations\": 1, \"discount\": \"0.5\", \"transition\": \"identity\", "
            "\"observation\": \"uniform\", \"utility\": {\"yes\": \"-1e0\"}, "
            "\"agent\": {\"beta\": \"-inf\"}}",
            NULL);
  assert_string_equal(p->setting->states.name[0], "\xc3\xa9t\xc3\xa9");
  assert_true(idm_theta_scalar(p->theta, IDM_BETA) == -INFINITY);
  assert_true(block(p, IDM_UTILITY)[1] == -1);
  idm_problem_destroy(p);
  char text[2000] = "states: [";
  memset(text + 9, 'x', 1001);
  strcpy(text + 1010, "]\nactions: 1\nobservations: 1\n");
  expect_error(text, 1, 10, "a state has 1001 bytes; expected at most 1000");
  expect_error("states: [a, a]\nactions: 1\nobservations: 1\n", 1, 13, "state 'a' is named twice");
  /* Labels that some output or some table could not hold. */
  expect_error("states: [\"a\\nb\\e\"]\nactions: 1\nobservations: 1\n", 1, 10,
               "a state is 'a?b?'; expected a label in UTF-8 without control characters");
  expect_error("states: 1\nactions: [\"a\\x85\"]\nobservations: 1\n", 2, 11,
               "expected a label in UTF-8 without control characters");
  expect_error("states: 1\nactions: 1\nobservations: [a, \" b\"]\n", 3, 19,
               "expected a label without blanks at its ends");
  expect_error("states: 1\nactions: 1\nobservations: {a: [\"b \"]}\n", 3, 20,
               "expected a label without blanks at its ends");
  expect_error("states: 1\nactions: [a, \"b|c\"]\nobservations: 1\n", 2, 14,
               "an action is 'b|c'; expected a label without '|'");
}

/* Names of states stand for their numbers, and factors for their products, once written and read.
 */
static void test_round_trip(void **state)
{
  (void)state;
  static const char *const texts[] = {
      "states: 2\nactions: 2\nobservations: 3\ndiscount: 0\ntransition: identity\n"
      "observation: uniform\nutility: {\"*\": 1}\n",
      "states: [\"1\", \"0\"]\nactions: [\"null\", \"~\"]\nobservations: {p: [n, y], q: 2}\n"
      "discount: 0.5\ntransition: uniform\nobservation: {p: identity, q: uniform}\n"
      "utility: {\"*\": 0}\n",
      "states: [low, high]\nactions: [up, rest]\nobservations: states\ndiscount: 0.5\n"
      "transition: {up: [[0, 1], [0, 1]], rest: identity}\nutility: {\"*\": [0, 1]}\n"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    idm_problem *p = parse(texts[i], NULL);
    expect_round_trip(p);
    idm_problem_destroy(p);
  }
}

/* Labels of products, the first factor slowest. */
static void test_factors(void **state)
{
  (void)state;
  static const char *const expected[] = {"n/0/a", "n/0/b", "n/1/a", "n/1/b", "n/2/a", "n/2/b",
                                         "y/0/a", "y/0/b", "y/1/a", "y/1/b", "y/2/a", "y/2/b"};
  idm_problem *p =
      parse("states: 2\nactions: 1\nobservations: {p: [n, y], q: 3, r: [a, b]}\ndiscount: 0\n"
            "transition: identity\nobservation: uniform\nutility: {\"*\": 0}\n",
            NULL);
  assert_int_equal(p->setting->observations.count, 12);
  for (size_t x = 0; x < 12; x++)
    assert_string_equal(p->setting->observations.name[x], expected[x]);
  idm_problem_destroy(p);
  char line[200] = "observations: {";
  for (int i = 0; i < 17; i++) snprintf(line + strlen(line), 20, "f%d: 1, ", i);
  strcat(line, "}");
  expect_error(with(line), 4, 15, "observations is a mapping of 17; expected 1 to 16 factors");
}

/* As long as a label may be, and as a product of labels may. */
static void test_long_labels(void **state)
{
  (void)state;
  char text[3000] = "states: [";
  memset(text + 9, 'x', 1000);
  strcpy(text + 1009, "]\nactions: 1\nobservations: 1\ndiscount: 0\ntransition: identity\n"
                      "observation: uniform\nutility: {\"*\": 0}\n");
  idm_problem *p = parse(text, NULL);
  assert_int_equal(strlen(p->setting->states.name[0]), 1000);
  idm_problem_destroy(p);
  strcpy(text, "states: 1\nactions: 1\nobservations: {p: [");
  const size_t head = strlen(text);
  memset(text + head, 'x', 999);
  strcpy(text + head + 999, "], q: 1}\n");
  expect_error(text, 3, 15, "has 1001 bytes; expected at most 1000");
}

/* A text that a label cannot be: what is expected in its place. */
static void test_label_fault(void **state)
{
  (void)state;
  assert_null(idm_yaml_label_fault("go on", true));
  assert_null(idm_yaml_label_fault("a|b", false));
  assert_non_null(strstr(idm_yaml_label_fault("a|b", true), "without '|'"));
  assert_non_null(strstr(idm_yaml_label_fault(" a", false), "blanks at its ends"));
  assert_non_null(strstr(idm_yaml_label_fault("a ", false), "blanks at its ends"));
  assert_non_null(strstr(idm_yaml_label_fault("a\nb", false), "control characters"));
  assert_non_null(strstr(idm_yaml_label_fault("\xff", false), "UTF-8"));
}

/* Weights are divided by their sum, but what sums to 1 already stays bit for bit. */
static void test_weights(void **state)
{
  (void)state;
  double weights[] = {1, 2, 5}, tenths[] = {0.1, 0.2, 0.7}, none[] = {0, 0};
  double huge[] = {1e308, 1e308};
  assert_true(idm_yaml_scale_weights(weights, 3));
  expect_numbers(weights, (double[]){0.125, 0.25, 0.625}, 3);
  assert_true(idm_yaml_scale_weights(tenths, 3));
  expect_numbers(tenths, (double[]){0.1, 0.2, 0.7}, 3);
  assert_false(idm_yaml_scale_weights(none, 2));
  assert_false(idm_yaml_scale_weights(huge, 2));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_spaces),         cmocka_unit_test(test_bad_spaces),
      cmocka_unit_test(test_million_states), cmocka_unit_test(test_many_actions),
      cmocka_unit_test(test_odd_text),       cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_factors),        cmocka_unit_test(test_long_labels),
      cmocka_unit_test(test_label_fault),    cmocka_unit_test(test_weights),
      cmocka_unit_test(test_one_state)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
