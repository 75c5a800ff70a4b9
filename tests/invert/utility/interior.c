/* The interior-point method for every divergence, against a grid of all policies, nearby policies
 * and random policies. */
#include "invert/utility/mdp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/mdp_support.h"

static const idm_divergence divergences[] = {IDM_DIVERGENCE_KL,   IDM_DIVERGENCE_REVERSE_KL,
                                             IDM_DIVERGENCE_JS,   IDM_DIVERGENCE_TV,
                                             IDM_DIVERGENCE_CHI2, IDM_DIVERGENCE_SQUARED};

enum { GRID = 200 };

/* The smallest objective over a grid of policies. */
static double best_of_grid(const idm_flows *flows, double (*occupancy)[4])
{
  double best = INFINITY;
  for (size_t i = 0; i < GRID * GRID; i++)
    best = fmin(best, idm_flows_objective(flows, occupancy[i]));
  return best;
}

static double (*grid_of(const idm_mdp *mdp))[4]
{
  double(*occupancy)[4] = calloc(GRID * GRID, sizeof *occupancy);
  assert_non_null(occupancy);
  for (size_t i = 0; i < GRID * GRID; i++) {
    const double a = ((double)(i % GRID) + 0.5) / GRID, b = ((double)(i / GRID) + 0.5) / GRID;
    const double policy[] = {a, 1 - a, b, 1 - b};
    check(idm_mdp_occupancy(mdp, policy, occupancy[i], &support_error));
  }
  return occupancy;
}

/* Two states, two actions, and an occupancy of no policy: no policy of the grid is better, and the
 * best of the grid is within its resolution. */
static void no_policy_is_better(void **state)
{
  (void)state;
  static const double weights[] = {0, 0.3}, target[] = {0.35, 0.05, 0.4, 0.2};
  idm_problem *problem = support_mdp(2, 2, 2, 0.5, 12);
  idm_mdp *mdp = support_create_mdp(problem);
  double(*occupancy)[4] = grid_of(mdp);
  for (size_t d = 0; d < 6; d++)
    for (size_t w = 0; w < 2; w++) {
      idm_flows *flows;
      check(idm_flows_create(mdp, problem->setting, target, NULL, divergences[d], 7, weights[w],
                             &flows, &support_error));
      double q[4], y[2], left[2], gap;
      check(idm_interior_point_solve(flows, NULL, q, y, &gap, &support_error));
      const double found = idm_flows_objective(flows, q), best = best_of_grid(flows, occupancy);
      assert_true(gap <= 1e-9);
      idm_flows_residual(flows, q, left);
      for (size_t r = 0; r < 2; r++) assert_near(left[r], 0, 1e-13);
      assert_true(found <= best + 1e-9);
      assert_true(found >= best - 0.02);
      idm_flows_destroy(flows);
    }
  free(occupancy);
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
}

/* In a larger problem, mixtures with other occupancies are not better. */
static void no_neighbour_is_better(void **state)
{
  (void)state;
  enum { STATES = 7, ACTIONS = 3, ALL = STATES * ACTIONS };
  static const double weights[] = {0, 0.01, 1};
  idm_random random;
  idm_random_init(&random, 5, 0);
  idm_problem *problem = support_mdp(STATES, ACTIONS, 3, 0.5, 13);
  idm_mdp *mdp = support_create_mdp(problem);
  double target[ALL];
  support_distribution(&random, target, ALL);
  for (size_t d = 0; d < 6; d++)
    for (size_t w = 0; w < 3; w++) {
      idm_flows *flows;
      check(idm_flows_create(mdp, problem->setting, target, NULL, divergences[d], 30, weights[w],
                             &flows, &support_error));
      double q[ALL], y[STATES], gap;
      check(idm_interior_point_solve(flows, NULL, q, y, &gap, &support_error));
      const double found = idm_flows_objective(flows, q);
      assert_true(gap <= 1e-9);
      for (int k = 0; k < 300; k++) {
        double policy[ALL], other[ALL], moved[ALL], share = pow(10, -(k % 6));
        support_policy(&random, STATES, ACTIONS, policy);
        check(idm_mdp_occupancy(mdp, policy, other, &support_error));
        for (size_t e = 0; e < ALL; e++) moved[e] = (1 - share) * q[e] + share * other[e];
        assert_true(idm_flows_objective(flows, moved) >= found - 1e-12);
      }
      idm_flows_destroy(flows);
    }
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
}

/* With a terminal action, so that occupancies have different masses, discounts at both ends, and
 * few reachable states: no random policy is better, and without entropy the occupancy of a policy
 * is met with objective 0. */
static void no_policy_that_ends_is_better(void **state)
{
  (void)state;
  enum { STATES = 3, ACTIONS = 3, ALL = STATES * ACTIONS };
  static const double discounts[] = {0, 0.5, 0.99}, weights[] = {0, 1};
  idm_problem *problem = support_yaml(
      "name: ends\nstates: [a, b, c]\nactions: [stop, go, stay]\nobservations: states\n"
      "terminal: [stop]\nstart: a\n"
      "transition:\n  stop: identity\n  stay: [[0.9, 0.1, 0], [0, 1, 0], [0, 0.5, 0.5]]\n"
      "  go: [[0, 0.5, 0.5], [1, 0, 0], [0.3, 0.7, 0]]\n"
      "utility: {stop: 1, go: 0, stay: 0}\nagent: {planner: maximum-entropy, alpha: 1}\n");
  idm_mdp *mdp = support_create_mdp(problem);
  idm_random random;
  idm_random_init(&random, 8, 0);
  for (int k = 0; k < 36; k++) {
    double policy[ALL], target[ALL], q[ALL], y[STATES], other[ALL], gap;
    mdp->discount = discounts[k % 3];
    support_policy(&random, STATES, ACTIONS, policy);
    check(idm_mdp_occupancy(mdp, policy, target, &support_error));
    idm_flows *flows;
    check(idm_flows_create(mdp, problem->setting, target, NULL, divergences[k / 3 % 6], 7,
                           weights[k / 18], &flows, &support_error));
    assert_int_equal(flows->rows, k % 3 ? STATES : 1);
    check(idm_interior_point_solve(flows, NULL, q, y, &gap, &support_error));
    const double found = idm_flows_objective(flows, q);
    assert_true(gap <= 1e-9);
    if (weights[k / 18] == 0) assert_near(found, 0, 1e-9);
    for (int trial = 0; trial < 300; trial++) {
      double occupancy[ALL];
      support_policy(&random, STATES, ACTIONS, policy);
      check(idm_mdp_occupancy(mdp, policy, occupancy, &support_error));
      for (size_t r = 0; r < flows->rows; r++)
        for (size_t i = flows->first[r]; i < flows->first[r + 1]; i++)
          other[i] = occupancy[flows->place[r] * ACTIONS + flows->action[i]];
      assert_true(idm_flows_objective(flows, other) >= found - 1e-9);
    }
    idm_flows_destroy(flows);
  }
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_policy_is_better),
      cmocka_unit_test(no_neighbour_is_better),
      cmocka_unit_test(no_policy_that_ends_is_better),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
