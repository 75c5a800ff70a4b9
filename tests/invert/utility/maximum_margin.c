/* Maximum margin: against random utilities, Ng and Russell's gridworld, permuted names, units,
 * refusals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/grid_support.h"
#include "invert/utility/mdp_support.h"
#include "invert/utility/walk.h"

static idm_fit_settings settings_of(idm_margin margin, double penalty)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.margin = margin;
  settings.penalty = penalty;
  return settings;
}

/* The objective of the method; -inf where the demonstrator is not optimal. */
static double margin_of(const idm_problem *problem, const double *utility, const size_t *action,
                        double penalty)
{
  const size_t states = problem->setting->states.count, actions = problem->setting->actions.count;
  double *v = calloc(states, sizeof *v);
  double sum = 0;
  assert_non_null(v);
  grid_values(problem, utility, action, v);
  for (size_t s = 0; s < states; s++) {
    double least = INFINITY;
    for (size_t u = 0; u < actions; u++)
      if (u != action[s]) least = fmin(least, v[s] - grid_quality(problem, utility, v, s, u));
    sum += least < -1e-9 ? -INFINITY : least;
  }
  for (size_t e = 0; e < states * actions; e++) sum -= penalty * fabs(utility[e]);
  free(v);
  return sum;
}

/* The objective is that of the estimated utility, and no random utility, near or far, has a larger
 * one. */
static void test_nothing_is_better(void **state)
{
  (void)state;
  enum { STATES = 3, ACTIONS = 2, ENTRIES = STATES * ACTIONS };
  for (uint64_t seed = 1; seed <= 6; seed++) {
    const double penalty = seed % 2 ? 0 : 0.05;
    idm_problem *problem = grid_random(STATES, ACTIONS, 0.8, seed, NULL, NULL);
    size_t action[STATES];
    grid_best(problem, action);
    idm_data *data = grid_log(problem, action);
    check(idm_problem_set_free(problem, "utility", &support_error));
    const idm_fit_settings settings = settings_of(IDM_MARGIN_STATE, penalty);
    idm_posterior *p = support_fit("maximum-margin", problem, data, &settings);
    assert_true(idm_optimality_certified(p->optimality));
    assert_near(p->optimality->objective, margin_of(problem, p->value, action, penalty), 1e-9);
    assert_int_equal(grid_says(p->optimality, "margin minus its penalty"), penalty > 0);
    idm_random random;
    idm_random_init(&random, seed, 1);
    for (int trial = 0; trial < 300; trial++) {
      double other[ENTRIES];
      const double step = trial % 2 ? 2 : 0.05;
      for (size_t e = 0; e < ENTRIES; e++)
        other[e] = fmax(-1, fmin(1, (trial % 2 ? 0 : p->value[e]) +
                                        step * (idm_random_uniform(&random) - 0.5)));
      assert_true(margin_of(problem, other, action, penalty) <= p->optimality->objective + 1e-9);
    }
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* The smallest margin of a state under a utility. */
static double least_margin(const idm_problem *problem, const double *utility, const size_t *action)
{
  double v[8], least = INFINITY;
  grid_values(problem, utility, action, v);
  for (size_t s = 0; s < problem->setting->states.count; s++)
    for (size_t u = 0; u < problem->setting->actions.count; u++)
      if (u != action[s]) least = fmin(least, v[s] - grid_quality(problem, utility, v, s, u));
  return least;
}

/* The estimated utility by entry. */
static const double *utility_of(const idm_problem *problem, const idm_posterior *p, double *utility)
{
  const idm_block *block = &problem->theta->block[IDM_UTILITY];
  for (size_t e = 0; e < block->size; e++)
    utility[e] = block->coordinate[e] < 0 ? block->value[e] : p->value[block->coordinate[e]];
  return utility;
}

/* A sum of margins may have a margin of 0 in some states; epsilon is a lower bound in each, here
 * half of the margin under the demonstrator's own utility. */
static void test_epsilon(void **state)
{
  (void)state;
  size_t given_up = 0;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    idm_problem *problem = grid_random(4, 3, 0.9, seed, NULL, NULL);
    size_t action[4];
    double one[12];
    grid_best(problem, action);
    idm_data *data = grid_log(problem, action);
    check(
        idm_problem_set_free(problem, "{utility: {entries: [u2, u0.s3, u1.s0]}}", &support_error));
    idm_fit_settings settings = settings_of(IDM_MARGIN_STATE, 0);
    idm_posterior *free_one = support_fit("maximum-margin", problem, data, &settings);
    const double least = least_margin(problem, utility_of(problem, free_one, one), action);
    settings.epsilon =
        0.5 * least_margin(problem, problem->theta->block[IDM_UTILITY].value, action);
    idm_posterior *p = support_fit("maximum-margin", problem, data, &settings);
    const double *found = utility_of(problem, p, one);
    given_up += least < settings.epsilon - 1e-6;
    assert_true(least_margin(problem, found, action) >= settings.epsilon - 1e-9);
    assert_near(p->optimality->objective, margin_of(problem, found, action, 0), 1e-9);
    if (least > settings.epsilon + 1e-6)
      assert_near(p->optimality->objective, free_one->optimality->objective, 1e-9);
    if (least < settings.epsilon - 1e-6)
      assert_true(p->optimality->objective < free_one->optimality->objective - 1e-9);
    idm_posterior_destroy(free_one);
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
  assert_true(given_up >= 3);
}

/* One utility per state: {s0: [u0.s0, u1.s0, ...], ...}. */
static void tie_by_state(idm_problem *problem)
{
  char text[8192] = "{utility: {entries: {";
  for (size_t s = 0; s < problem->setting->states.count; s++) {
    const size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%sr%zu: [u0.s%zu, u1.s%zu, u2.s%zu, u3.s%zu]",
             s ? ", " : "", s, s, s, s, s);
  }
  strcat(text, "}}}");
  check(idm_problem_set_free(problem, text, &support_error));
}

/* Ng and Russell (2000), section 6.1: a 5 x 5 gridworld with noise 0.3, reward in a corner and
 * discount 0.2. With the penalty only the corner has a large utility. */
static void test_goal_corner(void **state)
{
  (void)state;
  idm_problem *problem = grid_square(5, 0.3, 0.2);
  size_t action[25];
  grid_best(problem, action);
  idm_data *data = grid_log(problem, action);
  tie_by_state(problem);
  const idm_fit_settings settings = settings_of(IDM_MARGIN_STATE, 0.05);
  idm_posterior *p = support_fit("maximum-margin", problem, data, &settings);
  assert_true(idm_optimality_certified(p->optimality));
  assert_near(p->value[24], 1, 1e-9);
  for (size_t s = 0; s < 24; s++) assert_true(fabs(p->value[s]) < 0.3);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* With states and actions in another order the utilities are the same by name. */
static void test_any_order(void **state)
{
  (void)state;
  enum { STATES = 4, ACTIONS = 3 };
  const size_t order[] = {2, 0, 3, 1}, turn[] = {1, 2, 0};
  for (uint64_t seed = 1; seed <= 4; seed++)
    for (int margin = IDM_MARGIN_STATE; margin <= IDM_MARGIN_RETURN; margin++) {
      idm_problem *one = grid_random(STATES, ACTIONS, 0.9, seed, NULL, NULL);
      idm_problem *two = grid_random(STATES, ACTIONS, 0.9, seed, order, turn);
      /* Not every state is visited, so that there are many optima. */
      const size_t first[] = {1, SIZE_MAX, 0, 2};
      size_t second[STATES];
      for (size_t i = 0; i < STATES; i++) {
        second[i] = SIZE_MAX;
        for (size_t u = 0; u < ACTIONS; u++)
          if (turn[u] == first[order[i]]) second[i] = u;
      }
      idm_data *log_one = grid_log(one, first), *log_two = grid_log(two, second);
      const char *freed = "{utility: {entries: [u0, u1, u2.s0, u2.s1, u2.s3]}}";
      check(idm_problem_set_free(one, freed, &support_error));
      check(idm_problem_set_free(two, freed, &support_error));
      idm_fit_settings settings = settings_of((idm_margin)margin, 0);
      settings.bound = 2;
      idm_posterior *a = support_fit("maximum-margin", one, log_one, &settings);
      idm_posterior *b = support_fit("maximum-margin", two, log_two, &settings);
      assert_true(idm_optimality_certified(a->optimality) &&
                  idm_optimality_certified(b->optimality));
      assert_near(a->optimality->objective, b->optimality->objective, 1e-9);
      assert_int_equal(a->quantity.count, b->quantity.count);
      for (size_t k = 0; k < a->quantity.count; k++) {
        const long at =
            idm_labels_find(&b->quantity, a->quantity.name[k], strlen(a->quantity.name[k]));
        assert_true(at >= 0);
        assert_near(a->value[k], b->value[at], 1e-6);
      }
      idm_posterior_destroy(a);
      idm_posterior_destroy(b);
      idm_data_destroy(log_one);
      idm_data_destroy(log_two);
      idm_problem_destroy(one);
      idm_problem_destroy(two);
    }
}

/* All entries free, and a demonstrator that a policy can imitate: the objective is 0 at the utility
 * 0, which a note reports. */
static void test_return_of_everything(void **state)
{
  (void)state;
  idm_problem *problem = grid_random(3, 2, 0.8, 5, NULL, NULL);
  const size_t action[] = {0, 1, 0};
  idm_data *data = grid_log(problem, action);
  check(idm_problem_set_free(problem, "utility", &support_error));
  const idm_fit_settings settings = settings_of(IDM_MARGIN_RETURN, 0);
  idm_posterior *p = support_fit("maximum-margin", problem, data, &settings);
  assert_near(p->optimality->objective, 0, 1e-9);
  for (size_t e = 0; e < 6; e++) assert_near(p->value[e], 0, 1e-9);
  for (size_t s = 0; s < 3; s++) assert_near(p->optimality->policy[2 * s + action[s]], 1, 1e-7);
  assert_true(grid_says(p->optimality, "the margin is 0, at the utility 0"));
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A stochastic demonstrator and one number: the demonstrator is optimal only under the utility 0.
 */
static void test_answer_of_zero(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK_MATRICES);
  idm_data *data = support_data(problem, "trajectory,action,observation\n"
                                         "1,right,b\n1,right,c\n1,left,b\n1,left,a\n1,left,a\n");
  support_assign(problem, "utility.left=0");
  support_assign(problem, "utility.right=0");
  check(idm_problem_set_free(problem, "{utility: {entries: {x: [left.a, right.c]}}}",
                             &support_error));
  const idm_fit_settings settings = settings_of(IDM_MARGIN_RETURN, 0);
  idm_posterior *p = support_fit("maximum-margin", problem, data, &settings);
  assert_near(p->value[0], 0, 1e-9);
  assert_true(grid_says(p->optimality, "the answer is the utility 0"));
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Any unit of the utilities: margins scale with the unit. */
static void test_any_unit(void **state)
{
  (void)state;
  static const double unit[] = {1e-12, 1e-8, 1e-4, 1e4, 1e8};
  static const char *const freed[] = {"utility", "{utility: {entries: [u0, u1.s0, u1.s2]}}"};
  for (size_t i = 0; i < sizeof unit / sizeof *unit; i++)
    for (int way = 0; way < 6; way++) {
      idm_problem *problem = grid_random(3, 2, 0.99, 5 + i, NULL, NULL);
      idm_data *data = grid_log(problem, (size_t[]){0, SIZE_MAX, 1});
      check(idm_problem_set_free(problem, freed[way % 2], &support_error));
      idm_fit_settings settings =
          settings_of(way < 2 ? IDM_MARGIN_RETURN : IDM_MARGIN_STATE, way < 4 ? 0 : 0.1);
      settings.bound = 10;
      grid_in_units(problem, data, "maximum-margin", &settings, unit[i]);
      idm_data_destroy(data);
      idm_problem_destroy(problem);
    }
}

static void expect(const idm_problem *problem, const idm_data *data,
                   const idm_fit_settings *settings, idm_status status, const char *words)
{
  idm_posterior *posterior;
  idm_error error = {0};
  assert_int_equal(idm_inverse_fit(idm_inverse_find("maximum-margin"), problem, data, settings,
                                   NULL, &posterior, NULL, &error),
                   status);
  assert_null(posterior);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
}

static void test_refusals(void **state)
{
  (void)state;
  idm_problem *problem = grid_random(3, 2, 0.8, 5, NULL, NULL);
  const size_t action[] = {0, 1, 0};
  idm_data *data = grid_log(problem, action);
  idm_data *two = support_data(problem, "trajectory,state,action\n1,s1,u0\n2,s1,u1\n3,s2,u0\n");
  check(idm_problem_set_free(problem, "utility", &support_error));
  idm_fit_settings settings = settings_of(IDM_MARGIN_STATE, 0);
  expect(problem, two, &settings, IDM_INPUT, "more in 1 state: 's1'");
  settings.bound = INFINITY;
  expect(problem, data, &settings, IDM_INPUT, "the margin is unbounded");
  /* The penalty equals the gain of the margin, so all multiples are optimal. */
  check(idm_problem_set_free(problem, "{utility: {entries: [u0.s0]}}", &support_error));
  for (size_t e = 0; e < 6; e++) problem->theta->block[IDM_UTILITY].value[e] = 0;
  idm_data *one = grid_log(problem, (size_t[]){0, SIZE_MAX, SIZE_MAX});
  settings.penalty = 1;
  problem->theta->block[IDM_DISCOUNT].value[0] = 0;
  expect(problem, one, &settings, IDM_INPUT, "the set of optimal utilities is unbounded");
  idm_data_destroy(one);
  settings = settings_of(IDM_MARGIN_RETURN, 0.1);
  expect(problem, data, &settings, IDM_USAGE, "--penalty applies to --margin state");
  settings = settings_of(IDM_MARGIN_RETURN, 0);
  settings.epsilon = 0.1;
  expect(problem, data, &settings, IDM_USAGE, "--epsilon applies to --margin state");
  settings = settings_of(IDM_MARGIN_STATE, 0);
  settings.occupancy = IDM_OCCUPANCY_EMPIRICAL;
  expect(problem, data, &settings, IDM_USAGE, "--occupancy empirical needs --margin return");
  /* A held utility makes another action better by more than the box allows. */
  problem->theta->block[IDM_UTILITY].value[3] = 100;
  check(idm_problem_set_free(problem, "{utility: {entries: [u0, u1.s1, u1.s2]}}", &support_error));
  settings = settings_of(IDM_MARGIN_STATE, 0);
  expect(problem, data, &settings, IDM_INPUT, "no utility within the box");
  idm_data_destroy(data);
  idm_data_destroy(two);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_is_better), cmocka_unit_test(test_goal_corner),
      cmocka_unit_test(test_any_order),         cmocka_unit_test(test_return_of_everything),
      cmocka_unit_test(test_answer_of_zero),    cmocka_unit_test(test_any_unit),
      cmocka_unit_test(test_refusals),          cmocka_unit_test(test_epsilon),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
