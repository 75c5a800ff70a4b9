/* MDPs from problems: both input formats, and values and occupancies against sums written out here.
 */
#include "invert/utility/mdp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/mdp_support.h"
#include "invert/utility/walk.h"

static void test_both_forms(void **state)
{
  (void)state;
  idm_problem *rows = support_yaml(WALK);
  idm_problem *matrices = support_yaml(WALK_MATRICES);
  idm_mdp *a = support_create_mdp(rows);
  idm_mdp *b = support_create_mdp(matrices);
  assert_true(idm_sparse_rows_same(a->moves, b->moves));
  const double v[] = {1, 10, 100};
  assert_near(idm_mdp_next_value(a, 0, 1, v), 0.9 * (0.8 * 1 + 0.2 * 10), 1e-15);
  assert_near(idm_mdp_next_value(b, 1, 0, v), 0.9 * (0.2 * 1 + 0.8 * 10), 1e-15);
  idm_mdp_destroy(a);
  idm_mdp_destroy(b);
  idm_problem_destroy(rows);
  idm_problem_destroy(matrices);
}

/* The transitions believed by the agent, which may differ from the environment's: those of the
 * first model; terminal actions have no successors. */
static void test_believed(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 4, 0);
  idm_problem *problem = support_problem((support_shape){3, 2, 2, 2, 5}, &random);
  const double *tau = idm_theta_values(problem->theta, IDM_TRANSITION, 0);
  const double v[] = {1, 10, 100}, discount = idm_theta_scalar(problem->theta, IDM_DISCOUNT);
  idm_mdp *mdp;
  problem->setting->terminal[1] = problem->setting->ends[1] = true;
  check(idm_mdp_create_believed(problem->setting, problem->theta, &mdp, &support_error));
  for (size_t s = 0; s < 3; s++) {
    const double next = tau[s * 3] + 10 * tau[s * 3 + 1] + 100 * tau[s * 3 + 2];
    assert_near(idm_mdp_next_value(mdp, 0, s, v), discount * next, 1e-13);
    assert_true(idm_mdp_next_value(mdp, 1, s, v) == 0);
  }
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
}

/* Sums truncated after 2,000 steps. */
static void test_policy(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK_MATRICES);
  idm_mdp *mdp = support_create_mdp(problem);
  const double policy[] = {0.3, 0.7, 0.5, 0.5, 0.9, 0.1}; /* [state][action] */
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  const double *tau = problem->setting->transition;
  double v[3], occupancy[6], law[3] = {1, 0, 0}, expected[6] = {0}, sum = 0, weight = 1;
  check(idm_mdp_evaluate(mdp, policy, utility, v, &support_error));
  check(idm_mdp_occupancy(mdp, policy, occupancy, &support_error));
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
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
}

/* A terminal action has no successors: with discount 1 the sums are finite. */
static void test_endings(void **state)
{
  (void)state;
  idm_problem *problem =
      support_yaml("states: [a, b]\nactions: [go, stop]\nobservations: states\ndiscount: 1\n"
                   "terminal: [stop]\ntransition: {go: [[0, 1], [1, 0]]}\n"
                   "utility: {go: -1, stop: [10, 0]}\nagent: {planner: rational}\n");
  idm_mdp *mdp = support_create_mdp(problem);
  const double stops[] = {0.5, 0.5, 1, 0};
  const double never[] = {1, 0, 1, 0};
  double v[2];
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  assert_near(idm_mdp_next_value(mdp, 1, 0, (const double[]){5, 7}), 0, 0);
  check(idm_mdp_evaluate(mdp, stops, utility, v, &support_error));
  /* a = (10 + -1 + b) / 2, b = -1 + a. */
  assert_near(v[0], 8, 1e-12);
  assert_near(v[1], 7, 1e-12);
  double occupancy[4];
  idm_error error = {0};
  assert_int_equal(idm_mdp_occupancy(mdp, never, occupancy, &error), IDM_NUMERICAL);
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
}

static void test_refusals(void **state)
{
  (void)state;
  idm_problem *diag = support_diag(1, INFINITY, 0);
  idm_mdp *mdp = NULL;
  idm_error error = {0};
  assert_int_equal(idm_mdp_create(diag, diag->setting, "somebody", &mdp, &error), IDM_INPUT);
  assert_null(mdp);
  assert_non_null(strstr(error.message, "'somebody' needs states that are observed"));
  idm_problem_destroy(diag);
}

/* With a horizon, occupancies are sums over its steps, normalised to 1; discount 1 is allowed. */
static void test_horizon(void **state)
{
  (void)state;
  static const double discounts[] = {1, 0.9, 0};
  const double policy[] = {0.3, 0.7, 0.5, 0.5, 0.9, 0.1};
  for (size_t d = 0; d < 3; d++) {
    idm_problem *problem = support_yaml(WALK_MATRICES);
    problem->setting->horizon = 5;
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, discounts[d]);
    idm_mdp *mdp = support_create_mdp(problem);
    const double *tau = problem->setting->transition;
    double occupancy[6], law[3] = {1, 0, 0}, expected[6] = {0}, total = 0, weight = 1;
    check(idm_mdp_occupancy(mdp, policy, occupancy, &support_error));
    for (int t = 0; t < 5; t++, weight *= discounts[d]) {
      double next[3] = {0};
      total += weight;
      for (size_t e = 0; e < 6; e++) {
        expected[e] += weight * law[e / 2] * policy[e];
        for (size_t k = 0; k < 3; k++)
          next[k] += law[e / 2] * policy[e] * tau[(e % 2 * 3 + e / 2) * 3 + k];
      }
      memcpy(law, next, sizeof law);
    }
    for (size_t e = 0; e < 6; e++) assert_near(occupancy[e], expected[e] / total, 1e-14);
    assert_near(idm_mdp_step_weight(mdp), 1 / total, 1e-14);
    idm_mdp_destroy(mdp);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_both_forms), cmocka_unit_test(test_policy),
      cmocka_unit_test(test_endings),    cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_horizon),    cmocka_unit_test(test_believed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
