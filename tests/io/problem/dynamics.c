/* Matrices of a problem file: words, rows, factors, whose state is seen, and which stand for
 * several actions. */
#include "io/problem/reader.h"

#include "io/problem/problem_support.h"

static void test_base(void **state)
{
  (void)state;
  idm_problem *p = parse(with(NULL), NULL);
  /* A terminal action that is not named stays where it is; its observation is given by "*". */
  expect_numbers(p->setting->transition + 8, (double[]){1, 0, 0, 1}, 4);
  expect_numbers(p->setting->emission + 8, (double[]){.8, .2, .3, .7}, 4);
  assert_true(p->setting->terminal[2] && p->setting->ends[2]);
  assert_int_equal(p->theta->models, 1);
  expect_numbers(block(p, IDM_MODEL_PRIOR), (double[]){1}, 1);
  expect_numbers(block(p, IDM_TRANSITION), p->setting->transition, 12);
  expect_numbers(block(p, IDM_EMISSION), p->setting->emission, 12);
  idm_problem_destroy(p);
  p = parse(with("observation: {stay: [[0.8, 0.2], [0.3, 0.7]], go: identity}"), NULL);
  expect_numbers(p->setting->emission + 4, (double[]){1, 0, 0, 1}, 4);
  expect_numbers(p->setting->emission + 8, (double[]){.5, .5, .5, .5}, 4);
  idm_problem_destroy(p);
}

static void test_fully_observed(void **state)
{
  (void)state;
  idm_problem *p =
      parse("states: [low, high]\nactions: [up, rest]\nobservations: states\nstart: low\n"
            "discount: 0.5\ntransition: {up: [[0, 1], [0, 1]], rest: identity}\n"
            "utility: {\"*\": [0, 1]}\nmodels: [{transition: {up: uniform}}]\n",
            NULL);
  assert_true(p->setting->fully_observed);
  assert_string_equal(p->setting->observations.name[1], "high");
  expect_numbers(p->setting->emission, (double[]){1, 0, 0, 1, 1, 0, 0, 1}, 8);
  expect_numbers(block(p, IDM_EMISSION), p->setting->emission, 8);
  /* An action that a model does not name keeps the environment's matrix. */
  expect_numbers(block(p, IDM_TRANSITION), (double[]){.5, .5, .5, .5, 1, 0, 0, 1}, 8);
  expect_numbers(block(p, IDM_UTILITY), (double[]){0, 1, 0, 1}, 4);
  idm_problem_destroy(p);
}

static void test_factored(void **state)
{
  (void)state;
  static const char head[] = "states: [s, t]\nactions: [u, v]\nobservations: {p: [n, y], q: 3}\n"
                             "discount: 0.5\ntransition: identity\nutility: {\"*\": 0}\n";
  char text[1000];
  snprintf(text, sizeof text,
           "%sobservation:\n  u: {p: [[0.75, 0.25], [0, 1]], q: uniform}\n"
           "  v: {q: [[1, 0, 0], [0, 0.5, 0.5]], p: identity}\n",
           head);
  idm_problem *p = parse(text, NULL);
  assert_int_equal(p->setting->observations.count, 6);
  assert_string_equal(p->setting->observations.name[0], "n/0");
  assert_string_equal(p->setting->observations.name[4], "y/1");
  const double u[] = {.75 / 3, .75 / 3, .75 / 3, .25 / 3, .25 / 3, .25 / 3,
                      0,       0,       0,       1. / 3,  1. / 3,  1. / 3};
  const double v[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, .5, .5};
  expect_near(p->setting->emission, u, 12);
  expect_numbers(p->setting->emission + 12, v, 12);
  idm_problem_destroy(p);
  /* One mapping of factors for all actions, and a whole matrix for one. */
  snprintf(text, sizeof text, "%sobservation: {p: identity, q: uniform}\n", head);
  p = parse(text, NULL);
  expect_near(p->setting->emission + 12, (double[]){1. / 3, 1. / 3, 1. / 3, 0, 0, 0}, 6);
  idm_problem_destroy(p);
  snprintf(text, sizeof text, "%sobservation: {u: uniform, \"*\": {p: identity, q: uniform}}\n",
           head);
  p = parse(text, NULL);
  expect_near(p->setting->emission + 12, (double[]){1. / 3, 1. / 3, 1. / 3, 0, 0, 0}, 6);
  expect_numbers(p->setting->emission, (double[]){1. / 6}, 1);
  idm_problem_destroy(p);
}

static void test_bad_dynamics(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"transition: {stay: identity}", 8, 13, "transition lacks the action 'go'"},
      {"transition: {stay: identity, gon: uniform}", 8, 30,
       "the action 'gon' is unknown; did you mean 'go'?"},
      {"transition: {stay: identity, \"0\": uniform}", 8, 30, "the action 'stay' is given twice"},
      {"transition: sticky", 8, 13,
       "transition.stay is 'sticky'; expected a matrix, identity or uniform"},
      {"transition: [[1, 0]]", 8, 13, "transition.stay is a list of 1; expected a list of 2 rows"},
      {"transition: [[1, 0], [0, 1], [0, 1]]", 8, 13,
       "transition.stay is a list of 3; expected a list of 2 rows"},
      {"transition: [[1, 0], [0, 1, 0]]", 8, 22,
       "row 2 ('b') of transition.stay is a list of 3; expected a list of 2"},
      {"transition: [[1, 0], [0.5, 0.4]]", 8, 22,
       "row 2 ('b') of transition.stay sums to 0.9; expected"},
      {"transition: [[1, 0], [1.5, -0.5]]", 8, 28,
       "row 2 ('b') of transition.stay is '-0.5'; expected a number of at least 0"},
      {"transition: [[1, 0], [.nan, 1]]", 8, 23, "is '.nan'; expected a finite number"},
      {"transition: [[1, 0], 7]", 8, 22, "row 2 ('b') of transition.stay is '7'"},
      {"transition: {go: {a: 1}, stay: identity}", 8, 18, "transition.go is a mapping of 1"},
      {"transition:", 1, 1, "the key 'transition' is missing; expected it here, or in every model"},
      {"observation:", 1, 1, "the key 'observation' is missing"},
      {"observation: {stay: uniform}", 9, 14, "observation lacks the action 'go'"},
      {"observation: {\"*\": [[0.5, 0.5]]}", 9, 20, "observation.stay is a list of 1"},
      {"observations: states", 9, 14, "observation is identity; expected no matrices"},
      {"observation_from: [before]", 11, 19, "observation_from is a list of 1; expected after or"},
      {"observation_from: befor", 11, 19, "observation_from"},
  };
  EXPECT_BAD(cases);
  static const char head[] = "states: [s, t]\nactions: [u, v]\nobservations: {p: [n, y], q: 3}\n"
                             "discount: 0.5\ntransition: identity\nutility: {\"*\": 0}\n";
  static const bad_line factored[] = {
      {"observation: {p: identity}", 7, 14, "observation.u.q is missing"},
      {"observation: {u: {p: identity, r: uniform}, v: uniform}", 7, 32, "the key 'r' is unknown"},
      {"observation: {u: {p: identity, q: identity}, v: uniform}", 7, 35,
       "observation.u.q is identity with 2 rows and 3 columns; expected a square matrix"},
      {"observation: {r: identity}", 7, 15, "the action 'r' is unknown"},
      {"observation: {u: {p: identity, q: [[1, 0, 0], [0, 1]]}, v: uniform}", 7, 47,
       "row 2 ('t') of observation.u.q is a list of 2; expected a list of 3"},
  };
  for (size_t i = 0; i < sizeof factored / sizeof factored[0]; i++) {
    char text[1000];
    snprintf(text, sizeof text, "%s%s\n", head, factored[i].line);
    expect_error(text, factored[i].at_line, factored[i].at_column, factored[i].words);
  }
}

static void test_emitter(void **state)
{
  (void)state;
  idm_problem *p = parse(with("observation_from: before"), NULL);
  assert_true(p->setting->emits_before);
  expect_round_trip(p);
  idm_problem_destroy(p);
  p = parse(with("observation_from: after"), NULL);
  assert_false(p->setting->emits_before);
  idm_problem_destroy(p);
  expect_error("states: [a]\nactions: [u]\nobservations: states\nobservation_from: before\n"
               "discount: 0.5\ntransition: identity\nutility: {u: 0}\n",
               4, 19, "observations are the states, which are seen after the action");
}

/* A matrix that the file gives for several actions is one, also where another reads the same. */
static void test_shared(void **state)
{
  (void)state;
  idm_problem *p = parse(with("transition: {go: [[0.5, 0.5], [0.5, 0.5]], \"*\": uniform}"), NULL);
  const bool *shared = p->setting->transition_shared;
  assert_true(shared[0] && !shared[1] && shared[2]);
  assert_true(p->setting->emission_shared[0] && p->setting->emission_shared[1]);
  expect_round_trip(p);
  idm_problem_destroy(p);
}

/* Rows that miss a sum of 1 by little are mended: one note a kind. */
static void test_mended(void **state)
{
  (void)state;
  idm_notes notes = {0};
  idm_problem *p = parse(with("observation: {\"*\": [[0.33333, 0.66666], [0.3, 0.7]]}"), &notes);
  expect_near(p->setting->emission, (double[]){1. / 3, 2. / 3}, 2);
  assert_int_equal(notes.count, 1);
  assert_string_equal(notes.text[0],
                      "observation: 1 row missed a sum of 1, by at most 1e-05, and was normalised");
  idm_notes_clear(&notes);
  idm_problem_destroy(p);
}

static void test_round_trip(void **state)
{
  (void)state;
  static const char *const lines[] = {
      "transition: identity", "transition: uniform", "transition: [[1, 0], [0.1, 0.9]]",
      "transition: {\"*\": [[0.25, 0.75], [1e-300, 1]], stay: identity}",
      "observation: {stay: [[0.1, 0.9], [0.7, 0.3]], go: identity}"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) expect_line_round_trip(lines[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_base),     cmocka_unit_test(test_fully_observed),
      cmocka_unit_test(test_factored), cmocka_unit_test(test_bad_dynamics),
      cmocka_unit_test(test_emitter),  cmocka_unit_test(test_shared),
      cmocka_unit_test(test_mended),   cmocka_unit_test(test_round_trip)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
