/* Worlds: rows however they are given, values and occupancies against plain sums. */
#include "invert/utility/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/walk.h"
#include "support.h"

static idm_world *world_of(const idm_problem *problem)
{
  idm_world *world;
  check(idm_world_create(problem, problem->setting, "somebody", &world, &support_error));
  return world;
}

static void test_both_forms(void **state)
{
  (void)state;
  idm_problem *rows = support_yaml(WALK);
  idm_problem *matrices = support_yaml(WALK_MATRICES);
  idm_world *a = world_of(rows);
  idm_world *b = world_of(matrices);
  assert_true(idm_moves_same(a->moves, b->moves));
  const double v[] = {1, 10, 100};
  assert_near(idm_world_next(a, 0, 1, v), 0.9 * (0.8 * 1 + 0.2 * 10), 1e-15);
  assert_near(idm_world_next(b, 1, 0, v), 0.9 * (0.2 * 1 + 0.8 * 10), 1e-15);
  idm_world_destroy(a);
  idm_world_destroy(b);
  idm_problem_destroy(rows);
  idm_problem_destroy(matrices);
}

/* Truncated sums over 2,000 steps. */
static void test_policy(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK_MATRICES);
  idm_world *world = world_of(problem);
  const double policy[] = {0.3, 0.7, 0.5, 0.5, 0.9, 0.1}; /* [state][action] */
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  const double *tau = problem->setting->transition;
  double v[3], occupancy[6], law[3] = {1, 0, 0}, expected[6] = {0}, sum = 0, weight = 1;
  check(idm_world_evaluate(world, policy, utility, v, &support_error));
  check(idm_world_occupancy(world, policy, occupancy, &support_error));
  for (int t = 0; t < 2000; t++, weight *= 0.9) {
    double next[3] = {0};
    for (size_t s = 0; s < 3; s++)
      for (size_t u = 0; u < 2; u++) {
        const double mass = law[s] * policy[s * 2 + u];
        sum += weight * mass * utility[u * 3 + s];
        expected[s * 2 + u] += 0.1 * weight * mass;
        for (size_t k = 0; k < 3; k++) next[k] += mass * tau[(u * 3 + s) * 3 + k];
      }
    memcpy(law, next, sizeof law);
  }
  assert_near(v[0], sum, 1e-12);
  double total = 0;
  for (size_t i = 0; i < 6; i++) {
    assert_near(occupancy[i], expected[i], 1e-13);
    total += occupancy[i];
  }
  assert_near(total, 1, 1e-13);
  idm_world_destroy(world);
  idm_problem_destroy(problem);
}

/* Nothing follows an action that ends: a discount of 1 is then a sum of finitely many steps. */
static void test_endings(void **state)
{
  (void)state;
  idm_problem *problem =
      support_yaml("states: [a, b]\nactions: [go, stop]\nobservations: states\ndiscount: 1\n"
                   "terminal: [stop]\ntransition: {go: [[0, 1], [1, 0]]}\n"
                   "utility: {go: -1, stop: [10, 0]}\nagent: {planner: rational}\n");
  idm_world *world = world_of(problem);
  const double stops[] = {0.5, 0.5, 1, 0};
  const double never[] = {1, 0, 1, 0};
  double v[2];
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  assert_near(idm_world_next(world, 1, 0, (const double[]){5, 7}), 0, 0);
  check(idm_world_evaluate(world, stops, utility, v, &support_error));
  /* a = (10 + -1 + b) / 2, b = -1 + a. */
  assert_near(v[0], 8, 1e-12);
  assert_near(v[1], 7, 1e-12);
  double occupancy[4];
  idm_error error = {0};
  assert_int_equal(idm_world_occupancy(world, never, occupancy, &error), IDM_NUMERICAL);
  idm_world_destroy(world);
  idm_problem_destroy(problem);
}

static void test_refusals(void **state)
{
  (void)state;
  idm_problem *diag = support_diag(1, INFINITY, 0);
  idm_world *world = NULL;
  idm_error error = {0};
  assert_int_equal(idm_world_create(diag, diag->setting, "somebody", &world, &error), IDM_INPUT);
  assert_null(world);
  assert_non_null(strstr(error.message, "'somebody' needs states that are observed"));
  idm_problem_destroy(diag);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_forms),
                                     cmocka_unit_test(test_policy), cmocka_unit_test(test_endings),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
