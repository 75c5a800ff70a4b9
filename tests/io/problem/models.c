/* Candidate models of a problem file: written out, by a rule, or the environment's own. */

#include "io/problem/problem_support.h"

static void test_models(void **state)
{
  (void)state;
  /* The environment is unknown; the models say what the agent thinks. */
  idm_problem *p =
      parse("states: 2\nactions: 1\nobservations: 2\ndiscount: 0.5\nutility: {0: 1}\nmodels:\n"
            "  - {weight: 3, transition: identity, observation: uniform}\n"
            "  - {weight: 1, transition: {\"*\": uniform}, observation: identity}\n",
            NULL);
  assert_null(p->setting->transition);
  assert_null(p->setting->emission);
  expect_numbers(block(p, IDM_MODEL_PRIOR), (double[]){.75, .25}, 2);
  expect_numbers(block(p, IDM_TRANSITION), (double[]){1, 0, 0, 1, .5, .5, .5, .5}, 8);
  expect_numbers(block(p, IDM_EMISSION), (double[]){.5, .5, .5, .5, 1, 0, 0, 1}, 8);
  idm_problem_destroy(p);
}

static void test_perturb_together(void **state)
{
  (void)state;
  idm_problem *p = parse(with("models: {perturb: {observation: 0.1}}"), NULL);
  assert_int_equal(p->theta->models, 3);
  const double *e = block(p, IDM_EMISSION);
  expect_near(e, (double[]){.7, .3, .4, .6, .7, .3, .4, .6, .8, .2, .3, .7}, 12);
  expect_numbers(e + 12, p->setting->emission, 12);
  expect_near(e + 24, (double[]){.9, .1, .2, .8, .9, .1, .2, .8, .8, .2, .3, .7}, 12);
  expect_numbers(block(p, IDM_TRANSITION) + 24, p->setting->transition, 12);
  idm_problem_destroy(p);

  /* Both kinds: nine models, the environment's in the middle. Ties move the first outcome; a row
   * that is certain is shared out equally and kept from 0 and 1. */
  p = parse(with("models: {perturb: {observation: 0.1, transition: 0.2}}"), NULL);
  assert_int_equal(p->theta->models, 9);
  expect_numbers(block(p, IDM_EMISSION) + 12 * 4, p->setting->emission, 12);
  expect_numbers(block(p, IDM_TRANSITION) + 12 * 4, p->setting->transition, 12);
  const double *t = block(p, IDM_TRANSITION);
  expect_near(t, (double[]){.8, .2, .2, .8, .3, .7, .3, .7, 1, 0, 0, 1}, 12);
  expect_near(t + 24, (double[]){.999, .001, .001, .999, .7, .3, .7, .3, 1, 0, 0, 1}, 12);
  e = block(p, IDM_EMISSION);
  expect_near(e, (double[]){.7, .3, .4, .6}, 4);
  expect_near(e + 24, (double[]){.7, .3, .4, .6}, 4);
  expect_near(e + 12 * 8, (double[]){.9, .1, .2, .8}, 4);
  expect_numbers(block(p, IDM_MODEL_PRIOR), (double[]){1. / 9, 1. / 9}, 2);
  idm_problem_destroy(p);
}

static void test_perturb_rows(void **state)
{
  (void)state;
  static const char head[] = "states: 1\nactions: [u, v]\nobservations: 4\ndiscount: 0.5\n"
                             "transition: identity\nutility: {\"*\": 0}\n";
  char text[1000];
  /* Others keep their proportions: .5 -> .4 leaves .6 in the ratio 3:1:1. */
  snprintf(text, sizeof text,
           "%sobservation: {u: [[0.3, 0.5, 0.1, 0.1]], v: [[1, 0, 0, 0]]}\n"
           "models: {perturb: {observation: 0.1}, independent: true}\n",
           head);
  idm_problem *p = parse(text, NULL);
  assert_int_equal(p->theta->models, 9);
  const double *e = block(p, IDM_EMISSION);
  const double down[] = {.36, .4, .12, .12};
  const double up[] = {.24, .6, .08, .08};
  const double certain_down[] = {.9, .1 / 3, .1 / 3, .1 / 3};
  const double certain_up[] = {.999, .001 / 3, .001 / 3, .001 / 3};
  expect_near(e, down, 4);
  expect_near(e + 4, certain_down, 4);
  expect_near(e + 8, down, 4);
  expect_numbers(e + 12, (double[]){1, 0, 0, 0}, 4);
  expect_near(e + 16, down, 4);
  expect_near(e + 20, certain_up, 4);
  expect_numbers(e + 4 * 8, p->setting->emission, 8);
  expect_near(e + 8 * 8, up, 4);
  expect_near(e + 8 * 8 + 4, certain_up, 4);
  idm_problem_destroy(p);

  /* Terminal actions do not move: two actions of two states are 3^4 models. */
  p = parse(with("models: {perturb: {observation: 0.1}, independent: true}"), NULL);
  assert_int_equal(p->theta->models, 81);
  expect_numbers(block(p, IDM_EMISSION) + 12 * 40, p->setting->emission, 12);
  for (size_t m = 0; m < 81; m++)
    expect_numbers(block(p, IDM_EMISSION) + 12 * m + 8, p->setting->emission + 8, 4);
  idm_problem_destroy(p);
}

static void test_bad_models(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"models: three", 11, 9, "models is 'three'; expected a list of models"},
      {"models: []", 11, 9, "models is a list of 0"},
      {"models: [1]", 11, 10, "models, item 1 is '1'; expected a mapping"},
      {"models: [{wieght: 1}]", 11, 11, "the key 'wieght' is unknown; did you mean 'weight'?"},
      {"models: [{weight: -1}]", 11, 19, "weight is '-1'; expected a number of at least 0"},
      {"models: [{weight: inf}]", 11, 19, "weight is 'inf'; expected a finite number"},
      {"models: [{weight: 0}, {weight: 0}]", 11, 9, "the weights of the models sum to 0"},
      {"models: [{weight: 1e308}, {weight: 1e308}]", 11, 9, "or to infinity"},
      {"models: [{observation: {go: [[1, 0], [0, 2]]}}]", 11, 38, "sums to 2"},
      {"models: {}", 11, 9, "models lacks the key 'perturb'"},
      {"models: {perturb: {}}", 11, 19, "models.perturb is a mapping of 0; expected observation"},
      {"models: {perturb: 0.1}", 11, 19, "models.perturb is '0.1'; expected a mapping"},
      {"models: {perturb: {observation: 0}}", 11, 33,
       "observation is '0'; expected a number between 0 and 1"},
      {"models: {perturb: {observation: 1}}", 11, 33, "observation is '1'"},
      {"models: {perturb: {emission: 0.1}}", 11, 20, "the key 'emission' is unknown"},
      {"models: {perturb: {observation: 0.1}, independent: maybe}", 11, 52,
       "independent is 'maybe'; expected false or true"},
      {"models: {perturb: {observation: 0.1, transition: 0.1}, independent: true}", 11, 9,
       "8 rows with independent perturbations give 3^8 = 6561 models; expected at most 3^6 = 729"},
  };
  EXPECT_BAD(cases);
  expect_error("states: 2\nactions: 1\nobservations: 2\ntransition: identity\nmodels: "
               "[{observation: uniform}, {}]\n",
               5, 34, "model 2 has no observation, nor has the problem");
  expect_error("states: 2\nactions: 1\nobservations: 2\ntransition: identity\nmodels: {perturb: "
               "{transition: 0.1}}\n",
               5, 9, "the problem has no observation");
  expect_error("states: 2\nactions: 1\nobservations: states\ntransition: identity\nmodels: "
               "{perturb: {observation: 0.1}}\n",
               5, 33, "observations are the states and cannot move");
  expect_error("states: 2\nactions: 1\nobservations: states\ntransition: identity\nmodels: "
               "[{observation: uniform}]\n",
               5, 24, "expected no matrices here");
}

/* What is not said of a model: a weight of 1, and matrices of the environment. */
static void test_silent(void **state)
{
  (void)state;
  idm_problem *p = parse(with("models: [{weight: 3}, {transition: {go: identity}}]"), NULL);
  expect_numbers(block(p, IDM_MODEL_PRIOR), (double[]){.75, .25}, 2);
  expect_numbers(block(p, IDM_TRANSITION), p->setting->transition, 12);
  expect_numbers(block(p, IDM_TRANSITION) + 12, (double[]){1, 0, 0, 1, 1, 0, 0, 1}, 8);
  expect_numbers(block(p, IDM_EMISSION) + 12, p->setting->emission, 12);
  idm_problem_destroy(p);
  /* Where states are seen, moves alone can be unknown. */
  p = parse("states: 2\nactions: 1\nobservations: states\ndiscount: 0.5\n"
            "transition: [[0.5, 0.5], [0.5, 0.5]]\nutility: {\"*\": 0}\n"
            "models: {perturb: {transition: 0.1}}\n",
            NULL);
  assert_int_equal(p->theta->models, 3);
  expect_near(block(p, IDM_TRANSITION), (double[]){.4, .6, .4, .6}, 4);
  idm_problem_destroy(p);
}

/* Part of every model is no knowledge at all. */
static void test_uniform(void **state)
{
  (void)state;
  idm_problem *p = parse(with("models: {uniform: 0.25}"), NULL);
  assert_true(p->models.uniform == 0.25);
  expect_round_trip(p);
  idm_problem_destroy(p);
  static const bad_line cases[] = {
      {"models: {uniform: 1}", 11, 19, "uniform is '1'; expected a number between 0 and 1"},
      {"models: {uniform: 0.1, independent: true}", 11, 19,
       "models are perturbed or in part uniform, not both"},
      {"models: {uniform: 0.1, perturb: {observation: 0.1}}", 11, 19, "not both"}};
  EXPECT_BAD(cases);
}

static void test_round_trip(void **state)
{
  (void)state;
  static const char *const lines[] = {
      "models: {perturb: {observation: 0.1}}",
      "models: {perturb: {observation: 0.1, transition: 0.2}}",
      "models: {perturb: {observation: 0.1}, independent: true}",
      "models: [{weight: 3}, {weight: 1, observation: {go: [[0.1, 0.9], [0.5, 0.5]]}}]",
      "models: [{transition: {stay: uniform, go: identity}}]"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) expect_line_round_trip(lines[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_models),       cmocka_unit_test(test_perturb_together),
      cmocka_unit_test(test_perturb_rows), cmocka_unit_test(test_bad_models),
      cmocka_unit_test(test_silent),       cmocka_unit_test(test_uniform),
      cmocka_unit_test(test_round_trip)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
