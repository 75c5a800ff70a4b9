/* Models of an agent: conditional value at risk of a policy over models, against code written out
 * here and the planner; mixtures of models as MDPs. */
#include "invert/utility/mdp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/cvar_support.h"
#include "invert/utility/mdp_support.h"

enum { STATES = 4, ACTIONS = 3, ALL = STATES * ACTIONS };

static const double levels[] = {0, 0.1, 0.25, 0.5, 0.9, 1};
enum { LEVELS = sizeof levels / sizeof levels[0] };

typedef struct scene {
  idm_problem *problem;
  idm_mdp *mdp;
  idm_models *models;
  double *utility;
} scene;

static scene open_scene(size_t models, double level, uint64_t seed)
{
  scene s = {
      .problem = cvar_random((cvar_shape){
          .states = STATES, .actions = ACTIONS, .models = models, .level = level, .seed = seed})};
  s.mdp = support_create_mdp(s.problem);
  check(idm_models_create(s.problem, s.mdp, &s.models, &support_error));
  s.utility = s.problem->theta->block[IDM_UTILITY].value;
  return s;
}

static void close_scene(scene *s)
{
  idm_models_destroy(s->models);
  idm_mdp_destroy(s->mdp);
  idm_problem_destroy(s->problem);
}

/* Deterministic policies at every level: values and action values against code written out here.
 * The worst mixture attains them, within its bounds. */
static void the_worst_share(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 4; seed++)
    for (size_t l = 0; l < LEVELS; l++) {
      scene s = open_scene(seed % 2 ? 2 : 3, 0.25, seed);
      size_t action[STATES];
      double policy[ALL] = {0}, v[STATES], expected[STATES], q[ALL], sigma[3 * ALL];
      for (size_t i = 0; i < STATES; i++) {
        action[i] = (i + seed) % ACTIONS;
        policy[i * ACTIONS + action[i]] = 1;
      }
      check(idm_models_evaluate(s.models, levels[l], policy, s.utility, v, &support_error));
      cvar_values(s.problem, levels[l], s.utility, action, expected);
      for (size_t i = 0; i < STATES; i++) assert_near(v[i], expected[i], 1e-10);
      idm_models_action_values(s.models, levels[l], s.utility, v, q, sigma);
      for (size_t e = 0; e < ALL; e++) {
        const double *part = sigma + e * s.models->count;
        double sum = 0, attained = s.utility[e];
        assert_near(q[e], cvar_quality(s.problem, levels[l], s.utility, v, e % STATES, e / STATES),
                    1e-10);
        for (size_t m = 0; m < s.models->count; m++) {
          assert_true(part[m] >= 0);
          assert_true(part[m] * levels[l] <= s.models->weight[m] + 1e-12);
          sum += part[m];
          attained += part[m] * idm_mdp_next_value(s.models->mdp[m], e / STATES, e % STATES, v);
        }
        assert_near(sum, 1, 1e-12);
        assert_near(attained, q[e], 1e-12);
      }
      close_scene(&s);
    }
}

/* The value of the planner's own policy is the planner's value. */
static void as_the_planner_has_it(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    scene s = open_scene(3, 0.25, seed);
    size_t action[STATES];
    double policy[ALL] = {0}, v[STATES];
    cvar_best(s.problem, action);
    for (size_t i = 0; i < STATES; i++) policy[i * ACTIONS + action[i]] = 1;
    check(idm_models_evaluate(s.models, 0.25, policy, s.utility, v, &support_error));
    idm_workspace *workspace = support_plan(s.problem, NULL);
    for (size_t i = 0; i < STATES; i++) {
      double corner[STATES] = {0};
      corner[i] = 1;
      assert_near(v[i], idm_plan_value(workspace, 0, corner), 1e-8);
    }
    idm_workspace_destroy(workspace);
    close_scene(&s);
  }
}

/* The MDP of the model weights is that of a risk-neutral agent. */
static void mixtures_are_worlds(void **state)
{
  (void)state;
  scene s = open_scene(3, 1, 5);
  double sigma[3 * ALL], policy[ALL], v[STATES], neutral[STATES];
  for (size_t i = 0; i < 3 * ALL; i++) sigma[i] = s.models->weight[i % 3];
  for (size_t e = 0; e < ALL; e++) policy[e] = 1.0 / ACTIONS;
  idm_mdp *mean;
  check(idm_models_mix(s.models, sigma, &mean, &support_error));
  const double *rows = s.problem->theta->block[IDM_TRANSITION].value;
  for (size_t e = 0; e < ALL; e++)
    for (size_t t = 0; t < STATES; t++) {
      double expected = 0;
      for (size_t m = 0; m < 3; m++)
        expected += s.models->weight[m] * rows[(m * ALL + e) * STATES + t];
      assert_near(idm_sparse_rows_probability(mean->moves, e, t), expected, 1e-14);
    }
  check(idm_mdp_evaluate(mean, policy, s.utility, v, &support_error));
  check(idm_models_evaluate(s.models, 1, policy, s.utility, neutral, &support_error));
  for (size_t i = 0; i < STATES; i++) assert_near(v[i], neutral[i], 1e-11);
  idm_mdp_destroy(mean);
  close_scene(&s);
}

/* Models of weight 0 are dropped; terminal actions have no successors; equal rows do not count as
 * differing. */
static void what_counts(void **state)
{
  (void)state;
  scene s = open_scene(3, 1, 5);
  assert_int_equal(s.models->count, 3);
  assert_int_equal(s.models->differing, ALL);
  idm_models_destroy(s.models);
  double *weight = s.problem->theta->block[IDM_MODEL_PRIOR].value;
  double *rows = s.problem->theta->block[IDM_TRANSITION].value;
  weight[0] += weight[1];
  weight[1] = 0;
  s.problem->setting->terminal[1] = true;
  memcpy(rows + 2 * ALL * STATES, rows, STATES * sizeof *rows); /* u0 in s0 */
  check(idm_models_create(s.problem, s.mdp, &s.models, &support_error));
  assert_int_equal(s.models->count, 2);
  assert_int_equal(s.models->differing, ALL - STATES - 1);
  const double v[STATES] = {1, 1, 1, 1};
  double q[ALL];
  idm_models_action_values(s.models, 0.5, s.utility, v, q, NULL);
  for (size_t i = 0; i < STATES; i++) {
    assert_near(q[i], s.utility[i] + 0.8, 1e-12);
    assert_true(q[STATES + i] == s.utility[STATES + i]);
  }
  close_scene(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_worst_share), cmocka_unit_test(as_the_planner_has_it),
      cmocka_unit_test(mixtures_are_worlds), cmocka_unit_test(what_counts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
