/* Blocks of theta in a problem file: each form read to exact numbers, and refused at its place. */
#include "idm/extension/planner.h"
#include "io/problem/problem_support.h"
#include "plan/learner_support.h"

/* --- forms ---------------------------------------------------------------------------------- */

static void numbers(void **state)
{
  (void)state;
  static const struct {
    const char *line;
    idm_block_id id;
    double value;
  } cases[] = {
      {"agent: {alpha: -0.25}", IDM_ALPHA, -0.25},     {"agent: {alpha: inf}", IDM_ALPHA, INFINITY},
      {"agent: {beta: -.inf}", IDM_BETA, -INFINITY},   {"agent: {eta: 1e-3}", IDM_ETA, 1e-3},
      {"agent: {temperature: 0}", IDM_TEMPERATURE, 0}, {"discount: 0", IDM_DISCOUNT, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem = parse(with(cases[i].line), NULL);
    assert_true(*block(problem, cases[i].id) == cases[i].value);
    idm_problem_destroy(problem);
  }
}

static void weights(void **state)
{
  (void)state;
  const double expected[] = {0.25, 0.5, 0.25};
  static const char *const lines[] = {"action_prior: [1, 2, 1]",
                                      "action_prior: {go: 2, stay: 1, stop: 1}",
                                      "action_prior: {\"*\": 3, go: 6}"};
  for (size_t i = 0; i < 3; i++) {
    idm_problem *problem = parse(with(lines[i]), NULL);
    expect_near(block(problem, IDM_ACTION_PRIOR), expected, 3);
    idm_problem_destroy(problem);
  }
}

static void fields(void **state)
{
  (void)state;
  idm_problem *problem = parse(with("certainty: {award: -2, above: 0.9}"), NULL);
  expect_numbers(block(problem, IDM_CERTAINTY), (const double[]){0.9, -2, 0}, 3);
  idm_problem_destroy(problem);
}

/* Rows by state beside the fields, in every form; what is left out is 0. */
static void pieces(void **state)
{
  (void)state;
  static const struct {
    const char *line;
    size_t size;
    double values[24];
  } cases[] = {{"belief_utility: {entropy: 0.5}", 6, {0.5, 0.5, 0.5, 0, 0, 0}},
               {"belief_utility: {guess: -2}", 6, {0, 0, 0, -2, -2, -2}},
               {"belief_utility: {pieces: [[1, 2], 3]}",
                18,
                {0, 0, 0, 0, 0, 0, 1, 2, 1, 2, 1, 2, 3, 3, 3, 3, 3, 3}},
               {"belief_utility: {pieces: [{b: 2, a: -1}, {\"*\": 7}, {a: 1, \"*\": 0}], guess: 4}",
                24,
                {0, 0, 0, 4, 4, 4, -1, 2, -1, 2, -1, 2, 7, 7, 7, 7, 7, 7, 1, 0, 1, 0, 1, 0}}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem = parse(with(cases[i].line), NULL);
    assert_int_equal(problem->theta->block[IDM_BELIEF_UTILITY].size, cases[i].size);
    expect_numbers(block(problem, IDM_BELIEF_UTILITY), cases[i].values, cases[i].size);
    idm_problem_destroy(problem);
  }
}

static void dirichlet(void **state)
{
  (void)state;
  idm_problem *problem = parse(with(NULL), NULL);
  assert_int_equal(problem->theta->block[IDM_BELIEF_PRIOR].size, 0);
  idm_problem_destroy(problem);
  problem = parse(with("belief_prior: {dirichlet: [0.5, 3]}"), NULL);
  assert_int_equal(problem->theta->block[IDM_BELIEF_PRIOR].size, 2);
  expect_numbers(block(problem, IDM_BELIEF_PRIOR), (const double[]){0.5, 3}, 2);
  idm_problem_destroy(problem);
}

/* Where states are observed: weights by state, normalised. */
static void state_weights(void **state)
{
  (void)state;
  static const char head[] = "states: [a, b]\nactions: [u]\nobservations: states\ndiscount: 0.5\n"
                             "transition: uniform\nutility: {u: 0}\n";
  static const char *const good[] = {"belief_prior: [3, 1]", "belief_prior: {a: 3, \"*\": 1}"};
  static const struct {
    const char *line;
    long column;
    const char *words;
  } bad[] = {{"belief_prior: [1, 0]", 19, "belief_prior is '0'; expected a finite number above 0"},
             {"belief_prior: {a: -1, b: 1}", 19, "belief_prior is '-1'"},
             {"belief_prior: [1]", 15, "belief_prior is a list of 1"},
             {"belief_prior: {dirichlet: [1, 1]}", 16, "the state 'dirichlet' is unknown"},
             {"belief_prior: [1, 1]\nfree: {belief_prior: {reference: z}}", 0, "a state"}};
  char text[400];
  for (size_t i = 0; i < 2; i++) {
    snprintf(text, sizeof text, "%s%s\nfree: {belief_prior: {reference: b}}\n", head, good[i]);
    idm_problem *problem = parse(text, NULL);
    expect_near(block(problem, IDM_BELIEF_PRIOR), (const double[]){3, 1}, 2);
    assert_int_equal(problem->theta->block[IDM_BELIEF_PRIOR].coordinate[0], 0);
    assert_int_equal(problem->theta->block[IDM_BELIEF_PRIOR].coordinate[1], -1);
    idm_problem_destroy(problem);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    snprintf(text, sizeof text, "%s%s\n", head, bad[i].line);
    expect_error(text, bad[i].column ? 7 : 8, bad[i].column ? bad[i].column : 34, bad[i].words);
  }
}

/* A row may leave the constant out, and an action its row. */
static void rows(void **state)
{
  (void)state;
  idm_problem *problem = parse(with("agent: {weights: {go: [1, 2, 3], stop: [4, 5]}}"), NULL);
  expect_numbers(block(problem, IDM_WEIGHTS), (const double[]){0, 0, 0, 1, 2, 3, 0, 4, 5}, 9);
  idm_problem_destroy(problem);
}

/* Blocks of a planner's own in a list: a list of numbers, each where the descriptor allows. */
static void lists(void **state)
{
  (void)state;
  static const idm_block_info own = {.name = "rates",
                                     .summary = "three rates",
                                     .count = 3,
                                     .opaque = true,
                                     .support = IDM_FRACTION,
                                     .form = IDM_FORM_NUMBERS,
                                     .of_agent = true};
  idm_planner planner = idm_learner;
  planner.own = &own;
  planner.own_count = 1;
  idm_problem *problem = support_reversal(&planner);
  support_assign(problem, "rates=[0, 0.25, 1]");
  expect_numbers(block(problem, IDM_BLOCK_COUNT), (const double[]){0, 0.25, 1}, 3);
  static const char *const wrong[] = {"rates=[0, 0.25]", "rates=0.5", "rates=[0, 0.5, 1.5]",
                                      "rates=[0, -0.5, 1]", "rates=[0, x, 1]"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_int_equal(idm_problem_set(problem, wrong[i], &support_error), IDM_USAGE);
    assert_non_null(strstr(support_error.message, "rates"));
  }
  idm_problem_destroy(problem);
}

/* --- refusals ------------------------------------------------------------------------------- */

static void wrong_blocks_are_refused(void **state)
{
  (void)state;
  static const struct {
    const char *line;
    long column;
    const char *words;
  } cases[] = {
      {"agent: {alpha: nan}", 16, "alpha"},
      {"agent: {alpha: [1]}", 16, "alpha"},
      {"agent: {eta: inf}", 14, "eta"},
      {"agent: {temperature: -1}", 22,
       "temperature is '-1'; expected a finite number of at least 0"},
      {"action_prior: {go: 1}", 15, "action_prior lacks the action 'stay'"},
      {"action_prior: {\"*\": 1, go: -1}", 28, "action_prior is '-1'"},
      {"action_prior: {\"*\": 0}", 15, "action_prior sums to 0"},
      {"certainty: {above: 0.9}", 12, "certainty lacks the key 'award'"},
      {"certainty: {above: 1, award: 1}", 20,
       "certainty.above is '1'; expected a number in [0, 1)"},
      {"certainty: {above: 0.5, award: 1, below: 2}", 35, "below"},
      {"belief_utility: {pieces: []}", 26, "belief_utility.pieces"},
      {"belief_utility: {pieces: 3}", 26, "belief_utility.pieces is '3'; expected a list of rows"},
      {"belief_utility: {pieces: {a: 1}}", 27, "in belief_utility.pieces, the action 'a'"},
      {"belief_utility: {pieces: [[1, 2], [1]]}", 35, "belief_utility.pieces is a list of 1"},
      {"belief_utility: {pieces: [[1, inf]]}", 31, "belief_utility.pieces is 'inf'"},
      {"belief_utility: {pieces: [{a: 1}]}", 27, "belief_utility.pieces lacks the state 'b'"},
      {"belief_utility: {pieces: [{c: 1}]}", 28, "the state 'c' is unknown"},
      {"belief_utility: {pieces: [x]}", 27, "belief_utility.pieces is 'x'"},
      {"belief_utility: {pieces: [[[1]], 2]}", 27, "belief_utility.pieces"},
      {"belief_utility: {piece: [1]}", 18, "piece"},
      {"belief_utility: [1]", 17, "belief_utility"},
      {"belief_prior: {dirichlet: [1, 0]}", 31, "belief_prior.dirichlet is '0'"},
      {"belief_prior: {dirichlet: [1]}", 27, "belief_prior.dirichlet"},
      {"belief_prior: {}", 15, "dirichlet"},
      {"agent: {weights: {go: [1]}}", 23, "weights.go is a list of 1"},
      {"agent: {weights: {go: 1}}", 23, "a list of 2 numbers, or of 3 with a constant first"},
      {"agent: {weights: {run: [1, 2]}}", 19, "run"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect_error(with(cases[i].line), 11, cases[i].column, cases[i].words);
}

static void bad_lines_are_refused(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"agent: {weights: {go: [1]}}", 11, 23,
       "weights.go is a list of 1; expected a list of 2 numbers, or of 3"},
      {"agent: {weights: {go: [1, x]}}", 11, 27, "weights.go is 'x'; expected a finite number"},
      {"agent: {weights: [1]}", 11, 18, "weights is a list of 1; expected a mapping of actions"},
      {"action_prior: [1, 1]", 11, 15, "action_prior is a list of 2; expected a list of 3 numbers"},
      {"action_prior: [1, -1, 1]", 11, 19, "action_prior is '-1'"},
      {"action_prior: [0, 0, 0]", 11, 15, "action_prior sums to 0"},
      {"action_prior: {stay: 1}", 11, 15, "action_prior lacks the action 'go'"},
      {"action_prior: {stay: -1, \"*\": 1}", 11, 22, "action_prior is '-1'"},
      {"belief_prior: [1, 1]", 11, 15, "belief_prior is a list of 2; expected a mapping"},
      {"belief_prior: {}", 11, 15, "expected the key 'dirichlet'"},
      {"belief_prior: {dirichlet: [1]}", 11, 27,
       "belief_prior.dirichlet is a list of 1; expected a list of 2"},
      {"belief_prior: {dirichlet: [1, 0]}", 11, 31,
       "belief_prior.dirichlet is '0'; expected a finite number above 0"},
      {"certainty: {above: 1, award: 1}", 11, 20,
       "certainty.above is '1'; expected a number in [0, 1)"},
      {"certainty: {above: 0.5}", 11, 12, "certainty lacks the key 'award'"},
      {"certainty: {above: 0.5, award: inf}", 11, 32, "certainty.award is 'inf'"},
  };
  EXPECT_BAD(cases);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers),
      cmocka_unit_test(weights),
      cmocka_unit_test(fields),
      cmocka_unit_test(pieces),
      cmocka_unit_test(dirichlet),
      cmocka_unit_test(state_weights),
      cmocka_unit_test(rows),
      cmocka_unit_test(lists),
      cmocka_unit_test(wrong_blocks_are_refused),
      cmocka_unit_test(bad_lines_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
