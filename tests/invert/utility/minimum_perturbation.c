/* Minimum perturbation: optimal defaults, all completions of unvisited states, random utilities,
 * permuted names, units, refusals and hidden states. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/grid_support.h"
#include "invert/utility/hidden_support.h"

enum { STATES = 3, ACTIONS = 2, ENTRIES = STATES * ACTIONS };

static idm_fit_settings settings_of(int norm, double epsilon)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.norm = (idm_norm)norm;
  settings.epsilon = epsilon;
  return settings;
}

static double distance(int norm, const double *a, const double *b)
{
  double sum = 0, most = 0;
  for (size_t e = 0; e < ENTRIES; e++) {
    sum += norm == IDM_NORM_1 ? fabs(a[e] - b[e]) : (a[e] - b[e]) * (a[e] - b[e]);
    most = fmax(most, fabs(a[e] - b[e]));
  }
  return norm == IDM_NORM_1 ? sum : norm == IDM_NORM_2 ? sqrt(sum) : most;
}

/* The smallest advantage of the demonstrator's actions over any other action. */
static double lead(const idm_problem *problem, const double *utility, const size_t *action)
{
  double v[STATES], least = INFINITY;
  grid_values(problem, utility, action, v);
  for (size_t s = 0; s < STATES; s++)
    for (size_t u = 0; u < ACTIONS; u++)
      if (u != action[s]) least = fmin(least, v[s] - grid_quality(problem, utility, v, s, u));
  return least;
}

static void test_already_optimal(void **state)
{
  (void)state;
  for (int norm = IDM_NORM_1; norm <= IDM_NORM_INF; norm++) {
    idm_problem *problem = grid_random(STATES, ACTIONS, 0.9, 3, NULL, NULL);
    size_t action[STATES];
    grid_best(problem, action);
    idm_data *data = grid_log(problem, action);
    check(idm_problem_set_free(problem, "utility", &support_error));
    const idm_fit_settings settings = settings_of(norm, 0);
    idm_posterior *p = support_fit("minimum-perturbation", problem, data, &settings);
    assert_near(p->optimality->objective, 0, 1e-10);
    assert_true(idm_optimality_certified(p->optimality));
    for (size_t e = 0; e < ENTRIES; e++)
      assert_near(p->value[e], problem->theta->block[IDM_UTILITY].value[e], 1e-9);
    assert_true(grid_says(p->optimality, "already the best under the file's utility"));
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* The estimate is feasible and at the reported distance; utilities nearer to the file's are
 * infeasible. */
static void test_nothing_is_nearer(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 4; seed++)
    for (int norm = IDM_NORM_1; norm <= IDM_NORM_INF; norm++) {
      idm_problem *problem = grid_random(STATES, ACTIONS, 0.8, seed, NULL, NULL);
      size_t action[STATES];
      grid_best(problem, action);
      for (size_t s = 0; s < 2; s++) action[s] = 1 - action[s];
      idm_data *data = grid_log(problem, action);
      check(idm_problem_set_free(problem, "utility", &support_error));
      const double *file = problem->theta->block[IDM_UTILITY].value;
      const idm_fit_settings settings = settings_of(norm, 0.1);
      idm_posterior *p = support_fit("minimum-perturbation", problem, data, &settings);
      assert_true(idm_optimality_certified(p->optimality));
      assert_near(p->optimality->objective, distance(norm, p->value, file), 1e-9);
      assert_true(p->optimality->objective > 0.01);
      assert_near(lead(problem, p->value, action), 0.1, 1e-8);
      idm_random random;
      idm_random_init(&random, seed, 2);
      for (int trial = 0; trial < 2000; trial++) {
        double other[ENTRIES];
        for (size_t e = 0; e < ENTRIES; e++)
          other[e] = p->value[e] + 0.2 * idm_random_normal(&random) * pow(0.1, trial % 4);
        if (distance(norm, other, file) < p->optimality->objective - 1e-9)
          assert_true(lead(problem, other, action) < 0.1);
      }
      idm_posterior_destroy(p);
      idm_data_destroy(data);
      idm_problem_destroy(problem);
    }
}

/* Distance with every state visited, with the given actions. */
static double closed_distance(int norm, uint64_t seed, const size_t *action, double *utility)
{
  idm_problem *problem = grid_random(STATES, ACTIONS, 0.9, seed, NULL, NULL);
  idm_data *data = grid_log(problem, action);
  check(idm_problem_set_free(problem, "utility", &support_error));
  const idm_fit_settings settings = settings_of(norm, 0);
  idm_posterior *p = support_fit("minimum-perturbation", problem, data, &settings);
  const double found = p->optimality->objective;
  memcpy(utility, p->value, ENTRIES * sizeof *utility);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return found;
}

/* With --epsilon 0 an unvisited state costs as much as the cheapest of its actions; branch and
 * bound finds it. */
static void test_all_completions(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 8; seed++)
    for (int norm = IDM_NORM_1; norm <= IDM_NORM_INF; norm++) {
      idm_problem *problem = grid_random(STATES, ACTIONS, 0.9, seed, NULL, NULL);
      size_t action[STATES];
      double utility[ENTRIES], best = INFINITY;
      grid_best(problem, action);
      action[0] = 1 - action[0];
      for (size_t one = 0; one < ACTIONS; one++)
        for (size_t two = 0; two < ACTIONS; two++)
          best = fmin(best, closed_distance(norm, seed, (size_t[]){action[0], one, two}, utility));
      idm_data *data = grid_log(problem, (size_t[]){action[0], SIZE_MAX, SIZE_MAX});
      check(idm_problem_set_free(problem, "utility", &support_error));
      const idm_fit_settings settings = settings_of(norm, 0);
      idm_posterior *p = support_fit("minimum-perturbation", problem, data, &settings);
      assert_true(idm_optimality_certified(p->optimality));
      assert_near(p->optimality->objective, best, 1e-8);
      idm_posterior_destroy(p);
      idm_data_destroy(data);
      idm_problem_destroy(problem);
    }
}

static void test_any_order(void **state)
{
  (void)state;
  const size_t order[] = {2, 0, 1}, turn[] = {1, 0};
  for (int norm = IDM_NORM_1; norm <= IDM_NORM_INF; norm++) {
    idm_problem *one = grid_random(STATES, ACTIONS, 0.9, 6, NULL, NULL);
    idm_problem *two = grid_random(STATES, ACTIONS, 0.9, 6, order, turn);
    size_t first[STATES], second[STATES];
    grid_best(one, first);
    for (size_t s = 0; s < STATES; s++) first[s] = 1 - first[s];
    for (size_t i = 0; i < STATES; i++) second[i] = turn[0] == first[order[i]] ? 0 : 1;
    idm_data *log_one = grid_log(one, first), *log_two = grid_log(two, second);
    check(idm_problem_set_free(one, "utility", &support_error));
    check(idm_problem_set_free(two, "utility", &support_error));
    const idm_fit_settings settings = settings_of(norm, 0.05);
    idm_posterior *a = support_fit("minimum-perturbation", one, log_one, &settings);
    idm_posterior *b = support_fit("minimum-perturbation", two, log_two, &settings);
    for (size_t k = 0; k < ENTRIES; k++) {
      const long at =
          idm_labels_find(&b->quantity, a->quantity.name[k], strlen(a->quantity.name[k]));
      assert_true(at >= 0);
      assert_near(a->value[k], b->value[at], 1e-7);
    }
    idm_posterior_destroy(a);
    idm_posterior_destroy(b);
    idm_data_destroy(log_one);
    idm_data_destroy(log_two);
    idm_problem_destroy(one);
    idm_problem_destroy(two);
  }
}

/* Two actions of an unvisited state are equivalent: raising either makes the action towards it
 * optimal. One is chosen, and no note claims uniqueness or independence of the order. With discount
 * 0 later states have no effect and there is no choice. */
static void test_rivals(void **state)
{
  (void)state;
  static const char text[] =
      "name: rivals\nstates: [here, there]\nactions: [go, stay]\nobservations: states\n"
      "start: here\ndiscount: %g\n"
      "transition: {go: [[0, 1], [0, 1]], stay: identity}\n"
      "utility: {go: [0, 0], stay: [1, 0]}\nagent: {planner: deterministic-optimal}\n";
  for (int norm = IDM_NORM_1; norm <= IDM_NORM_INF; norm++)
    for (int follows = 0; follows < 2; follows++) {
      char yaml[600];
      snprintf(yaml, sizeof yaml, text, follows ? 0.9 : 0.0);
      idm_problem *problem = support_yaml(yaml);
      idm_data *data = grid_log(problem, (size_t[]){0, SIZE_MAX});
      check(idm_problem_set_free(problem, "utility", &support_error));
      const idm_fit_settings settings = settings_of(norm, 0);
      idm_posterior *p = support_fit("minimum-perturbation", problem, data, &settings);
      assert_true(idm_optimality_certified(p->optimality));
      assert_int_equal(grid_says(p->optimality, "another choice"), follows);
      if (follows) {
        assert_false(grid_says(p->optimality, "does not depend on the order"));
        for (size_t i = 0; i < p->optimality->words.count; i++)
          assert_true(strncmp(p->optimality->words.text[i], "no other utility", 16) != 0);
      }
      idm_posterior_destroy(p);
      idm_data_destroy(data);
      idm_problem_destroy(problem);
    }
}

/* Whether an action is optimal in its state under a utility, by value iteration. */
static bool is_best(const idm_problem *problem, const double *utility, size_t s, size_t taken)
{
  const size_t states = problem->setting->states.count, actions = problem->setting->actions.count;
  double v[32] = {0};
  double best = -INFINITY;
  for (int sweep = 0; sweep < 1000; sweep++)
    for (size_t t = 0; t < states; t++) {
      double most = -INFINITY;
      for (size_t u = 0; u < actions; u++)
        most = fmax(most, grid_quality(problem, utility, v, t, u));
      v[t] = most;
    }
  for (size_t u = 0; u < actions; u++) best = fmax(best, grid_quality(problem, utility, v, s, u));
  return grid_quality(problem, utility, v, s, taken) >= best - 1e-7;
}

/* With too many unvisited states for branch and bound, the estimate is still feasible, its
 * certificate stays open, and no note claims uniqueness. */
static void test_giving_up(void **state)
{
  (void)state;
  enum { MANY = 14, WAYS = 4, VISITED = 2 };
  size_t given_up = 0, decided = 0;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    idm_problem *problem = grid_random(MANY, WAYS, 0.95, seed, NULL, NULL);
    size_t action[MANY];
    grid_best(problem, action);
    for (size_t s = 0; s < MANY; s++)
      action[s] = s < VISITED ? (action[s] + 1) % WAYS : seed % 3 ? SIZE_MAX : action[s];
    idm_data *data = grid_log(problem, action);
    check(idm_problem_set_free(problem, "utility", &support_error));
    const idm_fit_settings settings = settings_of(seed % 2 ? IDM_NORM_INF : IDM_NORM_1, 0);
    idm_posterior *p = support_fit("minimum-perturbation", problem, data, &settings);
    const bool open = grid_says(p->optimality, "were not determined after");
    given_up += open;
    decided += !open;
    assert_int_equal(idm_optimality_certified(p->optimality), !open);
    for (size_t s = 0; s < VISITED; s++) assert_true(is_best(problem, p->value, s, action[s]));
    for (size_t i = 0; i < p->optimality->words.count && open; i++)
      assert_true(strncmp(p->optimality->words.text[i], "no other utility", 16) != 0);
    assert_false(open && grid_says(p->optimality, "does not depend on the order"));
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
  assert_true(given_up > 0 && decided > 0);
}

/* Any unit of the utilities: the estimate scales with the unit. */
static void test_any_unit(void **state)
{
  (void)state;
  static const double unit[] = {1e-12, 1e-8, 1e-4, 1e4, 1e8};
  for (size_t i = 0; i < sizeof unit / sizeof *unit; i++)
    for (int norm = IDM_NORM_1; norm <= IDM_NORM_INF; norm++)
      for (int some = 0; some < 2; some++) {
        idm_problem *problem = grid_random(STATES, ACTIONS, 0.9, 11 + i, NULL, NULL);
        size_t action[STATES];
        grid_best(problem, action);
        action[0] = 1 - action[0];
        if (some) action[1] = SIZE_MAX;
        idm_data *data = grid_log(problem, action);
        check(idm_problem_set_free(problem, "utility", &support_error));
        const idm_fit_settings settings = settings_of(norm, some ? 0 : 0.1);
        grid_in_units(problem, data, "minimum-perturbation", &settings, unit[i]);
        idm_data_destroy(data);
        idm_problem_destroy(problem);
      }
}

static void expect(const idm_problem *problem, const idm_data *data, double epsilon,
                   const char *words)
{
  for (int norm = IDM_NORM_1; norm <= IDM_NORM_INF; norm++) {
    idm_posterior *posterior;
    idm_error error = {0};
    const idm_fit_settings settings = settings_of(norm, epsilon);
    assert_int_equal(idm_inverse_fit(idm_inverse_find("minimum-perturbation"), problem, data,
                                     &settings, NULL, &posterior, NULL, &error),
                     IDM_INPUT);
    assert_null(posterior);
    if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
  }
}

static void test_refusals(void **state)
{
  (void)state;
  idm_problem *problem = grid_random(STATES, ACTIONS, 0.8, 5, NULL, NULL);
  const size_t action[] = {0, 1, 0};
  idm_data *data = grid_log(problem, action);
  idm_data *two = support_data(problem, "trajectory,state,action\n1,s1,u0\n2,s1,u1\n3,s2,u0\n");
  check(idm_problem_set_free(problem, "utility", &support_error));
  expect(problem, two, 0, "more in 1 state: 's1'");
  /* One entry alone cannot satisfy the constraints of all states. */
  check(idm_problem_set_free(problem, "{utility: {entries: [u0.s0]}}", &support_error));
  expect(problem, data, 50, "no utility makes every action of the demonstrator optimal");
  check(idm_problem_set_free(problem, "{utility: {entries: {x: [u0.s0, u1.s1]}}}", &support_error));
  expect(problem, data, 0, "entries that are tied differ in the file");
  check(idm_problem_set_free(problem, "[utility, discount]", &support_error));
  expect(problem, data, 0, "a distance of other numbers is in another unit");
  idm_data_destroy(data);
  idm_data_destroy(two);
  idm_problem_destroy(problem);
}

/* --- hidden states -------------------------------------------------------------------------- */

/* Value of the best policy less that of the demonstrator, by sweeps. */
static double shortfall(const hidden *h, const hidden_beliefs *b, const size_t *action,
                        const double *utility)
{
  size_t best[HIDDEN_MOST];
  return hidden_best(h, b, utility, best) - hidden_worth(h, b, utility, action);
}

/* The demonstrator is optimal under the estimate and under no utility nearer to the file's: the
 * utilities under which it is optimal form a convex set. */
static void test_beliefs(void **state)
{
  (void)state;
  enum { COUNT = ENTRIES }; /* three actions, two states */
  static const idm_norm norms[] = {IDM_NORM_1, IDM_NORM_2, IDM_NORM_INF};
  hidden h = hidden_tiger();
  hidden_beliefs b;
  double truth[COUNT], aim[COUNT];
  size_t action[HIDDEN_MOST];
  idm_random random;
  idm_random_init(&random, 6, 0);
  for (size_t e = 0; e < COUNT; e++) truth[e] = h.utility[e / 2][e % 2];
  hidden_reach(&h, &b);
  hidden_best(&h, &b, truth, action);
  h.utility[1][0] = h.utility[2][1] = -8; /* under this utility doors are opened too early */
  for (size_t e = 0; e < COUNT; e++) aim[e] = h.utility[e / 2][e % 2];
  assert_true(shortfall(&h, &b, action, aim) > 0.1);
  idm_problem *problem = hidden_problem(&h, NULL, NULL, NULL);
  check(idm_problem_set_free(problem, "utility", &support_error));
  idm_data *data = hidden_log(&h, &b, action, problem, 60, 12, 3);
  for (size_t i = 0; i < 3; i++) {
    idm_fit_settings settings;
    idm_fit_settings_default(&settings);
    settings.norm = norms[i];
    idm_posterior *p = support_fit("minimum-perturbation", problem, data, &settings);
    const double found = distance((int)norms[i], p->value, aim);
    assert_near(p->optimality->objective, found, 1e-9);
    assert_true(idm_optimality_certified(p->optimality));
    assert_int_equal(p->optimality->faults.count, 0);
    assert_true(shortfall(&h, &b, action, p->value) <= 1e-6);
    for (int k = 0; k < 200; k++) {
      double x[COUNT];
      const double share = 0.99 * idm_random_uniform(&random);
      for (size_t e = 0; e < COUNT; e++)
        x[e] = aim[e] + share * (p->value[e] - aim[e]) +
               0.3 * (1 - share) * found * (idm_random_uniform(&random) - 0.5);
      if (distance((int)norms[i], x, aim) < 0.999 * found)
        assert_true(shortfall(&h, &b, action, x) > 0);
    }
    idm_posterior_destroy(p);
  }
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_already_optimal), cmocka_unit_test(test_nothing_is_nearer),
      cmocka_unit_test(test_all_completions), cmocka_unit_test(test_any_order),
      cmocka_unit_test(test_any_unit),        cmocka_unit_test(test_rivals),
      cmocka_unit_test(test_giving_up),       cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_beliefs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
