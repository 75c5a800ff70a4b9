/* Tests the rational agent of explanations: ties, unavailable actions, and observations impossible
 * in the environment. */
#include <math.h>
#include <string.h>

#include "invert/explain/explain.h"
#include "support.h"

static void the_best_of_the_open_actions(void **state)
{
  (void)state;
  static const double q[] = {3, 1, 3};
  static const bool open[] = {false, true, true};
  double policy[3];
  assert_near(idm_rational_best(q, 3, NULL, policy), 3, 0);
  assert_near(policy[0], 0.5, 0);
  assert_near(policy[1], 0, 0);
  assert_near(idm_rational_best((const double[]){9, 1, 0}, 3, open, policy), 1, 0);
  assert_near(policy[0], 0, 0);
  assert_near(policy[1], 1, 0);
  assert_true(isnan(idm_rational_best((const double[]){NAN, NAN, NAN}, 3, NULL, policy)));
  assert_true(isnan(policy[0]));
}

/* After an impossible observation there is no belief; other histories are unaffected. */
static void the_impossible_has_no_value(void **state)
{
  (void)state;
  static const char yaml[] =
      "states: [a, b]\nactions: [look, stop]\nobservations: [x, y, z]\ndiscount: 0.9\n"
      "transition: {look: identity, stop: uniform}\n"
      "observation: {'*': [[0.6, 0.4, 0], [0.2, 0.8, 0]]}\nutility: {look: -1, stop: [4, -6]}\n"
      "models: [{observation: {'*': [[0.5, 0.3, 0.2], [0.2, 0.7, 0.1]]}}]\n"
      "agent: {alpha: 1, resolution: 20}\n";
  idm_problem *problem;
  check(idm_problem_parse_yaml(yaml, strlen(yaml), "test", &problem, NULL, &support_error));
  idm_data *data = support_data(problem, "agent,action,observation\na,look,z\na,stop,\n"
                                         "b,look,x\nb,stop,\n");
  idm_prefix_tree *tree;
  check(idm_evidence_tree(problem, data, &tree, &support_error));
  rational r;
  check(idm_rational_open(&r, problem, data, tree, &support_error));
  check(idm_rational_plan(&r, problem->theta, &support_error));
  assert_true(isnan(r.quality[tree->last[0] * 2]));
  assert_near(idm_rational_belief(&r, tree->last[1])[0], 0.75, 1e-12);
  assert_int_equal(r.steps[tree->last[1]], 1);
  const double before = r.quality[tree->last[1] * 2 + 1];
  /* New utilities are planned for; unchanged ones reuse the plan. */
  problem->theta->block[IDM_UTILITY].value[2] = 8;
  check(idm_rational_plan(&r, problem->theta, &support_error));
  assert_true(r.quality[tree->last[1] * 2 + 1] > before + 1);
  idm_rational_close(&r);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_best_of_the_open_actions),
      cmocka_unit_test(the_impossible_has_no_value),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
