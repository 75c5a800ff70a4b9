/* Estimates of a utility: values, names, the planner's policy at the estimate, and the note on
 * undetermined directions. */
#include "invert/utility/task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idm/extension/optimality.h"
#include "invert/utility/walk.h"
#include "support.h"

static void test_answer(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  check(idm_problem_set_free(problem, "utility", &support_error));
  idm_free_utility *free_utility;
  idm_optimality *optimality;
  idm_posterior *p;
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  check(idm_free_utility_create(problem, &free_utility, &support_error));
  check(idm_optimality_create(6, &optimality, &support_error));
  optimality->evaluated = true;
  optimality->open = 1;
  optimality->direction = calloc(6, sizeof *optimality->direction);
  optimality->direction[1] = 1;
  optimality->direction[3] = -0.5;
  const double x[] = {1, 2, 3, 4, 5, 6};
  check(idm_estimate_utility(idm_inverse_find("distance"), problem, &settings, free_utility, x,
                             "by hand", optimality, &p, &support_error));
  assert_int_equal(p->answer, IDM_POINT);
  assert_string_equal(p->sampler, "by hand");
  for (size_t i = 0; i < 6; i++) assert_near(p->value[i], x[i], 0);
  assert_string_equal(p->quantity.name[4], "utility[right,b]");
  assert_int_equal(p->optimality->words.count, 1);
  assert_string_equal(p->optimality->words.text[0],
                      "the data leave 1 direction of these numbers open: (1) utility[left,b] - 0.5 "
                      "utility[right,a]");
  /* The policy is the planner's at x. */
  idm_free_utility_fill(free_utility, x, problem->theta->block[IDM_UTILITY].value);
  idm_workspace *workspace = support_plan(problem, NULL);
  double policy[2];
  idm_plan_policy(workspace, 0, (const double[]){0, 1, 0}, policy, NULL);
  assert_near(p->optimality->policy[2], policy[0], 1e-12);
  assert_near(p->optimality->policy[3], policy[1], 1e-12);
  assert_string_equal(p->optimality->state.name[1], "b");
  assert_string_equal(p->optimality->action.name[1], "right");
  idm_workspace_destroy(workspace);
  idm_posterior_destroy(p);
  idm_free_utility_destroy(free_utility);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_answer)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
