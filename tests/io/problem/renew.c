/* A problem with new states: what does not speak of states stays, the rest is open. */
#include "io/problem/problem_support.h"
#include "io/problem/yaml.h"

static idm_problem *renewed(const char *line, size_t states, size_t unknown)
{
  idm_problem *p = parse(with(line), NULL);
  size_t found = 99;
  check(idm_problem_reset_states(p, states, &found, &support_error));
  assert_int_equal(found, unknown);
  return p;
}

static void test_setting(void **state)
{
  (void)state;
  idm_problem *p = renewed("horizon: 7\nobservation_from: before\nends: [go]", 3, 1);
  const idm_setting *s = p->setting;
  assert_string_equal(s->name, "base");
  assert_int_equal(s->states.count, 3);
  assert_string_equal(s->states.name[0], "state1");
  assert_string_equal(s->states.name[2], "state3");
  assert_int_equal(s->actions.count, 3);
  assert_string_equal(s->actions.name[1], "go");
  assert_string_equal(s->observations.name[1], "y");
  assert_int_equal(s->horizon, 7);
  assert_true(s->emits_before && s->terminal[2] && s->ends[1] && !s->terminal[1]);
  assert_false(s->transition_shared[0]); /* named by itself */
  assert_true(s->emission_shared[0]);
  for (size_t i = 0; i < 27; i++) assert_true(s->transition[i] == 1. / 3);
  for (size_t i = 0; i < 18; i++) assert_true(s->emission[i] == 0.5);
  expect_numbers(s->start, (double[]){1. / 3, 1. / 3, 1. / 3}, 3);
  idm_problem_destroy(p);
}

/* What an action is worth whatever the state stays; the rest is a column that is to be filled in.
 */
static void test_utility(void **state)
{
  (void)state;
  idm_problem *p = renewed(NULL, 3, 1);
  expect_numbers(block(p, IDM_UTILITY), (double[]){-1, -1, -1}, 3);
  expect_numbers(block(p, IDM_UTILITY) + 6, (double[]){0, 0, 0}, 3);
  assert_int_equal(p->utility_sources, 3);
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(p->utility_source[i].action, 1);
    assert_int_equal(p->utility_source[i].state, i);
  }
  assert_int_equal(p->columns.utility.count, 1);
  assert_string_equal(p->columns.utility.name[0], IDM_PLACEHOLDER);
  idm_problem_destroy(p);
  /* A utility by column may differ between states, whatever it is now. */
  p = renewed("utility: {stay: fee, go: 2, stop: 0}", 2, 1);
  assert_int_equal(p->utility_source[0].action, 0);
  idm_problem_destroy(p);
  p = renewed("utility: {\"*\": 2}", 2, 0);
  assert_int_equal(p->utility_sources, 0);
  assert_int_equal(p->columns.utility.count, 0);
  expect_round_trip(p);
  idm_problem_destroy(p);
}

/* A file written of it says what is to be filled in. */
static void test_file(void **state)
{
  (void)state;
  char path[SUPPORT_PATH];
  idm_error error = {0};
  idm_problem *p = renewed(NULL, 2, 1), *again = NULL;
  support_path(path);
  check(idm_problem_write_yaml(p, path, NULL, &support_error));
  assert_int_equal(idm_problem_read(path, &again, NULL, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "(FILL_IN) that `idm init` or `idm learn` left"));
  remove(path);
  idm_problem_destroy(p);
}

/* Numbers that are no state's, what is free of them with its prior, and models by their rule. */
static void test_theta(void **state)
{
  (void)state;
  idm_problem *p = renewed("agent: {alpha: 2, beta: -inf, weights: {go: [1, 2]}}\n"
                           "action_prior: [1, 2, 1]\n"
                           "free: {alpha: {scale: log, prior: {normal: [0.5, 2]}}, eta: }\n"
                           "models: {perturb: {observation: 0.1}}",
                           3, 1);
  assert_true(idm_theta_scalar(p->theta, IDM_ALPHA) == 2);
  assert_true(idm_theta_scalar(p->theta, IDM_BETA) == -INFINITY);
  assert_true(idm_theta_scalar(p->theta, IDM_DISCOUNT) == 0.9);
  expect_numbers(block(p, IDM_ACTION_PRIOR), (double[]){.25, .5, .25}, 3);
  const idm_block *alpha = &p->theta->block[IDM_ALPHA];
  assert_int_equal(alpha->role, IDM_DESCRIPTIVE);
  assert_int_equal(alpha->scale, IDM_SCALE_LOG);
  expect_numbers(alpha->prior.argument, (double[]){0.5, 2}, 2);
  assert_int_equal(p->theta->block[IDM_ETA].role, IDM_DESCRIPTIVE);
  assert_int_equal(p->theta->block[IDM_WEIGHTS].size, 0); /* were by state */
  assert_int_equal(p->theta->models, 3);
  expect_near(block(p, IDM_EMISSION), (double[]){.4, .6}, 2);
  idm_problem_destroy(p);
}

static void test_refusals(void **state)
{
  (void)state;
  idm_problem *p = parse(with(NULL), NULL);
  idm_error error = {0};
  size_t unknown;
  assert_int_equal(idm_problem_reset_states(p, 0, &unknown, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "at least one state"));
  assert_int_equal(p->setting->states.count, 2);
  idm_problem_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_setting), cmocka_unit_test(test_utility),
                                     cmocka_unit_test(test_file), cmocka_unit_test(test_theta),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
