/* Tests the utility of a belief by action: exact values, derivatives against differences, and a
 * plan against direct value iteration. */
#include "plan/control/control.h"

#include <math.h>

#include "support.h"

enum { STATES = 3, ACTIONS = 2, PIECES = 2 };

static const double weight[] = {0.5, -2, 0, 3}; /* entropy, then guess */
static const double piece[] = {1, 2, 3, 0, 0, 0, 4, -1, 0, -1, 1, -1};

static belief_reward example(void)
{
  return (belief_reward){
      .states = STATES, .actions = ACTIONS, .weight = weight, .pieces = PIECES, .piece = piece};
}

static void values_are_exact(void **state)
{
  (void)state;
  const belief_reward w = example();
  const double z[] = {0.5, 0.25, 0.25}, edge[] = {0, 0.75, 0.25};
  const double entropy = 1.5 * log(2), less = -(0.75 * log(0.75) + 0.25 * log(0.25));
  double term[BELIEF_REWARD_TERMS];
  idm_belief_reward_terms(STATES, z, term);
  assert_near(term[BELIEF_REWARD_ENTROPY], -entropy, 1e-15);
  assert_near(term[BELIEF_REWARD_GUESS], 0.5, 0);
  assert_near(idm_belief_reward_at(&w, 0, z), -0.5 * entropy + 1.75, 1e-15);
  assert_near(idm_belief_reward_at(&w, 1, z), 2 * entropy + 1.5 + 0, 1e-15);
  assert_near(idm_belief_reward_at(&w, 0, edge), -0.5 * less + 2.25, 1e-15);
  assert_near(idm_belief_reward_at(&w, 1, edge), 2 * less + 2.25 + 0.5, 1e-15);
  for (size_t u = 0; u < ACTIONS; u++)
    for (size_t s = 0; s < STATES; s++) {
      const double corner[] = {s == 0, s == 1, s == 2};
      assert_near(idm_belief_reward_corner(&w, u, s), idm_belief_reward_at(&w, u, corner), 1e-15);
    }
  const belief_reward nothing = {
      .states = STATES, .actions = ACTIONS, .weight = (const double[4]){0}};
  assert_true(idm_belief_reward_at(&nothing, 1, z) == 0 &&
              idm_belief_reward_corner(&nothing, 1, 0) == 0);
}

static void slopes_are_differences(void **state)
{
  (void)state;
  const belief_reward w = example();
  const double h = 1e-6, beliefs[][STATES] = {{0.5, 0.2, 0.3}, {0.1, 0.7, 0.2}, {0, 0.4, 0.6}};
  for (size_t b = 0; b < 3; b++)
    for (size_t u = 0; u < ACTIONS; u++) {
      double derivative[STATES] = {1, 1, 1}, up[STATES], down[STATES];
      idm_belief_reward_gradient(&w, u, beliefs[b], 3, derivative);
      for (size_t s = 0; s < STATES; s++) up[s] = down[s] = beliefs[b][s];
      up[1] += h;
      up[2] -= h;
      down[1] -= h;
      down[2] += h;
      const double found =
          (idm_belief_reward_at(&w, u, up) - idm_belief_reward_at(&w, u, down)) / (2 * h);
      assert_near(derivative[1] - derivative[2], 3 * found, 1e-8);
      assert_true(isfinite(derivative[0]));
    }
}

/* --- Tiger with utilities of beliefs by action ------------------------------------------------ */

enum { POINTS = 41, DOORS = 3 };
static const double alpha = 0.7, discount = 0.9, heard = 0.85;
static const double entropy[DOORS] = {1.5, -0.5, 0.25}, guess[DOORS] = {-1, 2, 0};
static const double utility[DOORS][2] = {{-1, -1}, {-10, 5}, {5, -10}};

static double interpolated(const double *v, double p)
{
  const double at = p * (POINTS - 1);
  const int below = at >= POINTS - 1 ? POINTS - 2 : (int)at;
  return v[below] + (at - below) * (v[below + 1] - v[below]);
}

static double paid(double p, int u)
{
  const double h = p > 0 && p < 1 ? -p * log(p) - (1 - p) * log(1 - p) : 0;
  return p * utility[u][0] + (1 - p) * utility[u][1] - entropy[u] * h + guess[u] * fmax(p, 1 - p);
}

/* One backup at values v, by the formulas of the problem. */
static double step(const double *v, double p, double *q)
{
  const double left = p * heard + (1 - p) * (1 - heard);
  q[0] = paid(p, 0) + discount * (left * interpolated(v, p * heard / left) +
                                  (1 - left) * interpolated(v, p * (1 - heard) / (1 - left)));
  for (int u = 1; u < DOORS; u++) q[u] = paid(p, u) + discount * interpolated(v, 0.5);
  double sum = 0;
  for (int u = 0; u < DOORS; u++) sum += exp((q[u] - q[0]) / alpha) / DOORS;
  return q[0] + alpha * log(sum);
}

static void a_plan_is_plain_value_iteration(void **state)
{
  (void)state;
  double v[POINTS] = {0}, next[POINTS], q[DOORS];
  for (int sweep = 0; sweep < 400; sweep++) {
    for (int i = 0; i < POINTS; i++) next[i] = step(v, i / (POINTS - 1.0), q);
    for (int i = 0; i < POINTS; i++) v[i] = next[i];
  }
  idm_problem *problem = support_yaml(
      "states: [left, right]\nactions: [listen, open_left, open_right]\nobservations: [l, r]\n"
      "discount: 0.9\ntransition: {listen: identity, \"*\": uniform}\n"
      "observation: {listen: [[0.85, 0.15], [0.15, 0.85]], \"*\": uniform}\n"
      "utility: {listen: -1, open_left: [-10, 5], open_right: [5, -10]}\n"
      "belief_utility: {entropy: {listen: 1.5, open_left: -0.5, \"*\": 0.25}, "
      "guess: {listen: -1, open_left: 2}}\n"
      "agent: {planner: bounded-rational, alpha: 0.7, resolution: 40, tolerance: 1e-12}\n");
  idm_workspace *workspace = support_plan(problem, NULL);
  for (int i = 0; i <= 50; i++) {
    const double p = i / 50.0, z[] = {p, 1 - p};
    double pi[DOORS];
    assert_near(idm_plan_value(workspace, 0, z), step(v, p, q), 1e-8);
    idm_plan_policy(workspace, 0, z, pi, NULL);
    for (int u = 1; u < DOORS; u++) assert_near(log(pi[u] / pi[0]), (q[u] - q[0]) / alpha, 1e-8);
  }
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_exact),
      cmocka_unit_test(slopes_are_differences),
      cmocka_unit_test(a_plan_is_plain_value_iteration),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
