/* Soft plans against value iteration written out, the library's planner, and finite differences. */
#include "invert/utility/soft_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/mdp_support.h"

enum { STATES = 6, ACTIONS = 3, ENTRIES = STATES * ACTIONS };
static const double alpha = 0.7;
static const double uniform[ACTIONS] = {1.0 / 3, 1.0 / 3, 1.0 / 3};

typedef struct scene {
  idm_problem *problem;
  idm_mdp *mdp;
  idm_soft_plan *plan;
} scene;

static scene open_scene(int horizon, double discount, const double *prior)
{
  scene s = {.problem = support_mdp(STATES, ACTIONS, 3, alpha, 5)};
  s.problem->setting->horizon = horizon;
  idm_theta_set_scalar(s.problem->theta, IDM_DISCOUNT, discount);
  s.mdp = support_create_mdp(s.problem);
  check(idm_soft_plan_create(s.mdp, alpha, prior, &s.plan, &support_error));
  return s;
}

static void close_scene(scene *s)
{
  idm_soft_plan_destroy(s->plan);
  idm_mdp_destroy(s->mdp);
  idm_problem_destroy(s->problem);
}

static double solve(scene *s, const double *utility)
{
  double value;
  check(idm_soft_plan_solve(s->plan, utility, &value, &support_error));
  return value;
}

/* Infinite and finite horizons, with discounts. */
static const struct {
  int horizon;
  double discount;
} kinds[] = {{0, 0.9}, {0, 0}, {0, 0.995}, {1, 1}, {7, 1}, {7, 0.8}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* V by this number of sweeps from 0. */
static void sweep(const scene *s, const double *utility, const double *prior, long sweeps,
                  double *v)
{
  memset(v, 0, STATES * sizeof *v);
  for (long k = 0; k < sweeps; k++) {
    double next[STATES];
    for (size_t i = 0; i < STATES; i++) {
      double sum = 0;
      for (size_t u = 0; u < ACTIONS; u++)
        sum +=
            prior[u] * exp((utility[u * STATES + i] + idm_mdp_next_value(s->mdp, u, i, v)) / alpha);
      next[i] = alpha * log(sum);
    }
    memcpy(v, next, sizeof next);
  }
}

static void values_are_those_of_sweeps(void **state)
{
  (void)state;
  static const double leaning[ACTIONS] = {0.6, 0.3, 0.1};
  for (size_t k = 0; k < KINDS; k++) {
    scene s = open_scene(kinds[k].horizon, kinds[k].discount, leaning);
    const double *utility = s.problem->theta->block[IDM_UTILITY].value;
    double v[STATES];
    solve(&s, utility);
    sweep(&s, utility, leaning, kinds[k].horizon ? kinds[k].horizon : 20000, v);
    for (size_t i = 0; i < STATES; i++) assert_near(s.plan->v[i], v[i], 1e-11);
    close_scene(&s);
  }
}

static void policies_are_those_of_the_planner(void **state)
{
  (void)state;
  for (size_t k = 0; k < KINDS; k++) {
    scene s = open_scene(kinds[k].horizon, kinds[k].discount, uniform);
    solve(&s, s.problem->theta->block[IDM_UTILITY].value);
    idm_workspace *workspace = support_plan(s.problem, NULL);
    for (size_t i = 0; i < STATES; i++) {
      double corner[STATES] = {0}, policy[ACTIONS];
      corner[i] = 1;
      idm_plan_policy(workspace, 0, corner, policy, NULL);
      for (size_t u = 0; u < ACTIONS; u++)
        assert_near(s.plan->policy[i * ACTIONS + u], policy[u], 1e-8);
    }
    idm_workspace_destroy(workspace);
    close_scene(&s);
  }
}

/* Occupancies sum to 1, equal those of the policy, and are the derivative of the value. */
static void occupancies_are_slopes(void **state)
{
  (void)state;
  for (size_t k = 0; k < KINDS; k++) {
    scene s = open_scene(kinds[k].horizon, kinds[k].discount, uniform);
    double utility[ENTRIES], occupancy[ENTRIES], sum = 0;
    memcpy(utility, s.problem->theta->block[IDM_UTILITY].value, sizeof utility);
    solve(&s, utility);
    idm_soft_plan_occupancy(s.plan, occupancy);
    for (size_t e = 0; e < ENTRIES; e++) sum += occupancy[e];
    assert_near(sum, 1, 1e-13);
    if (!kinds[k].horizon) {
      double by_state[ENTRIES];
      check(idm_mdp_occupancy(s.mdp, s.plan->policy, by_state, &support_error));
      for (size_t e = 0; e < ENTRIES; e++)
        assert_near(occupancy[e], by_state[e % STATES * ACTIONS + e / STATES], 1e-12);
    }
    for (size_t e = 0; e < ENTRIES; e++) {
      const double h = 1e-5, at = utility[e];
      utility[e] = at + h;
      const double up = solve(&s, utility);
      utility[e] = at - h;
      const double down = solve(&s, utility);
      utility[e] = at;
      assert_near(occupancy[e], (up - down) / (2 * h), 1e-8);
    }
    close_scene(&s);
  }
}

static void bends_are_differences(void **state)
{
  (void)state;
  for (size_t k = 0; k < KINDS; k++) {
    scene s = open_scene(kinds[k].horizon, kinds[k].discount, uniform);
    idm_random random;
    idm_random_init(&random, 3, 0);
    double utility[ENTRIES], direction[ENTRIES], moved[ENTRIES], change[ENTRIES], up[ENTRIES],
        down[ENTRIES];
    const double h = 1e-5;
    memcpy(utility, s.problem->theta->block[IDM_UTILITY].value, sizeof utility);
    for (size_t e = 0; e < ENTRIES; e++) direction[e] = 2 * idm_random_uniform(&random) - 1;
    solve(&s, utility);
    idm_soft_plan_hessian_product(s.plan, direction, change);
    for (size_t e = 0; e < ENTRIES; e++) moved[e] = utility[e] + h * direction[e];
    solve(&s, moved);
    idm_soft_plan_occupancy(s.plan, up);
    for (size_t e = 0; e < ENTRIES; e++) moved[e] = utility[e] - h * direction[e];
    solve(&s, moved);
    idm_soft_plan_occupancy(s.plan, down);
    for (size_t e = 0; e < ENTRIES; e++) assert_near(change[e], (up[e] - down[e]) / (2 * h), 1e-8);
    close_scene(&s);
  }
}

/* Potentials change values but not occupancies. */
static void shaping_bends_nothing(void **state)
{
  (void)state;
  scene s = open_scene(0, 0.9, uniform);
  double direction[ENTRIES], change[ENTRIES];
  static const double phi[STATES] = {1, -2, 0.5, 3, 0, 7};
  for (size_t e = 0; e < ENTRIES; e++)
    direction[e] = idm_mdp_next_value(s.mdp, e / STATES, e % STATES, phi) - phi[e % STATES];
  solve(&s, s.problem->theta->block[IDM_UTILITY].value);
  idm_soft_plan_hessian_product(s.plan, direction, change);
  for (size_t e = 0; e < ENTRIES; e++) assert_near(change[e], 0, 1e-13);
  close_scene(&s);
}

static void endless_needs_a_discount(void **state)
{
  (void)state;
  idm_problem *problem = support_mdp(STATES, ACTIONS, 3, alpha, 5);
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 1);
  idm_mdp *mdp = support_create_mdp(problem);
  idm_soft_plan *plan;
  idm_error error = {0};
  assert_int_equal(idm_soft_plan_create(mdp, 1, uniform, &plan, &error), IDM_INPUT);
  assert_null(plan);
  assert_non_null(strstr(error.message, "horizon"));
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
}

/* Utilities of 0 after others: every value is 0, so no residual is small relative to it. */
static void nothing_is_paid(void **state)
{
  (void)state;
  for (uint64_t k = 0; k < 40; k++) {
    scene s = open_scene(0, 0.9, uniform);
    idm_random random;
    idm_random_init(&random, 11, k);
    double utility[ENTRIES];
    for (size_t e = 0; e < ENTRIES; e++) utility[e] = idm_random_normal(&random);
    solve(&s, utility);
    memset(utility, 0, sizeof utility);
    assert_near(solve(&s, utility), 0, 1e-13);
    close_scene(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_paid),
      cmocka_unit_test(values_are_those_of_sweeps),
      cmocka_unit_test(policies_are_those_of_the_planner),
      cmocka_unit_test(occupancies_are_slopes),
      cmocka_unit_test(bends_are_differences),
      cmocka_unit_test(shaping_bends_nothing),
      cmocka_unit_test(endless_needs_a_discount),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
