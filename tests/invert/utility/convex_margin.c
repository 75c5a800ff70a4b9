/* Margins with convex regularisers: squares against the method for smooth margins, and all against
 * random utilities nearby. */
#include "invert/utility/soft_plan.h"

#include <math.h>
#include <string.h>

#include "invert/utility/mdp_support.h"

enum { STATES = 5, ACTIONS = 3, ALL = STATES * ACTIONS };

typedef struct scene {
  idm_problem *problem;
  idm_mdp *mdp;
  idm_soft_plan *plan;
  double uniform[ACTIONS];
  double p[ALL]; /* [action][state] */
} scene;

static scene open_scene(uint64_t seed)
{
  scene s = {.problem = support_mdp(STATES, ACTIONS, 2, 0.4, seed)};
  double policy[ALL], occupancy[ALL];
  idm_random random;
  idm_random_init(&random, seed, 0);
  s.mdp = support_create_mdp(s.problem);
  support_policy(&random, STATES, ACTIONS, policy);
  check(idm_mdp_occupancy(s.mdp, policy, occupancy, &support_error));
  for (size_t e = 0; e < ALL; e++) s.p[e] = occupancy[e % STATES * ACTIONS + e / STATES];
  return s;
}

static void open_plan(scene *s)
{
  for (size_t u = 0; u < ACTIONS; u++) s->uniform[u] = 1.0 / ACTIONS;
  check(idm_soft_plan_create(s->mdp, 0.5, s->uniform, &s->plan, &support_error));
}

static void close_scene(scene *s)
{
  idm_soft_plan_destroy(s->plan);
  idm_mdp_destroy(s->mdp);
  idm_problem_destroy(s->problem);
}

static void test_squares(void **state)
{
  (void)state;
  const idm_regulariser zeta = {IDM_ZETA_SQUARED, 30};
  scene s = open_scene(3);
  open_plan(&s);
  double utility[ALL], other[ALL], objective, slope, expected;
  int32_t number[ALL];
  for (int e = 0; e < ALL; e++) number[e] = e;
  check(idm_convex_margin(s.plan, &zeta, s.p, utility, &objective, &slope, &support_error));
  const idm_free_utility free_utility = {
      .entries = ALL, .count = ALL, .number = number, .held = s.p, .unit = 1};
  const idm_smooth_margin margin = {&free_utility, s.plan, s.p, 30, NULL};
  check(idm_smooth_margin_minimise(&margin, other, &expected, &slope, &support_error));
  assert_near(objective, expected, 1e-12);
  for (size_t e = 0; e < ALL; e++) assert_near(utility[e], other[e], 1e-8);
  close_scene(&s);
}

static double objective_at(scene *s, const idm_regulariser *zeta, const double *v)
{
  double sum;
  check(idm_soft_plan_solve(s->plan, v, &sum, &support_error));
  for (size_t e = 0; e < ALL; e++)
    sum += idm_regulariser_value(zeta, s->p[e], v[e]) - s->p[e] * v[e];
  return sum;
}

static void test_least(void **state)
{
  (void)state;
  static const idm_regulariser all[] = {{IDM_ZETA_SQUARED, 30},
                                        {IDM_ZETA_ABSOLUTE, 0.01},
                                        {IDM_ZETA_ENTROPY, 0.1},
                                        {IDM_ZETA_GAIL, 1},
                                        {IDM_ZETA_BOX, 0.4}};
  idm_random random;
  idm_random_init(&random, 8, 0);
  for (size_t z = 0; z < IDM_ZETA_COUNT; z++) {
    scene s = open_scene(4 + z);
    open_plan(&s);
    double utility[ALL], moved[ALL], objective, slope;
    check(idm_convex_margin(s.plan, &all[z], s.p, utility, &objective, &slope, &support_error));
    assert_true(slope <= 1e-6);
    assert_near(objective, objective_at(&s, &all[z], utility), 1e-12);
    for (int k = 0; k < 200; k++) {
      const double size = pow(10, -4 * idm_random_uniform(&random));
      for (size_t e = 0; e < ALL; e++) moved[e] = utility[e] + size * idm_random_normal(&random);
      assert_true(objective_at(&s, &all[z], moved) >= objective - 1e-9);
    }
    close_scene(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_squares), cmocka_unit_test(test_least)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
