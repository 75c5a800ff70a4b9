/* Bellman equations of a policy as rows of a linear program: their unique solution is the policy's
 * value, against policy evaluation by sweeps. */
#include "invert/utility/bellman.h"

#include <math.h>
#include <string.h>

#include "invert/utility/grid_support.h"

enum { STATES = 4, ACTIONS = 2 };

static void test_values(void **state)
{
  (void)state;
  idm_problem *problem = grid_random(STATES, ACTIONS, 0.9, 2, NULL, NULL);
  check(idm_problem_set_free(problem, "{utility: {entries: {x: [u0.s0, u1.s2]}}}", &support_error));
  problem->theta->block[IDM_UTILITY].value[0] = 0.25;
  problem->theta->block[IDM_UTILITY].value[STATES + 2] = 0.25;
  idm_mdp *mdp;
  idm_free_utility *free_utility;
  idm_program *p;
  idm_program_solution found;
  double policy[STATES * ACTIONS] = {0}, v[STATES];
  const size_t action[] = {0, 1, 1, 0};
  for (size_t s = 0; s < STATES; s++) policy[s * ACTIONS + action[s]] = 1;
  check(idm_mdp_create(problem, problem->setting, "test", &mdp, &support_error));
  check(idm_free_utility_create(problem, &free_utility, &support_error));
  check(idm_program_create(1 + STATES, &p, &support_error));
  idm_program_set_bounds(p, 0, 0.25, 0.25);
  idm_bellman_rows rows = idm_bellman_begin(p, mdp, free_utility, 1);
  check(idm_bellman_policy(&rows, policy, &support_error));
  check(idm_program_solve(p, NULL, NULL, &found, &support_error));
  assert_int_equal(found.end, IDM_PROGRAM_SOLVED);
  grid_values(problem, problem->theta->block[IDM_UTILITY].value, action, v);
  for (size_t s = 0; s < STATES; s++) assert_near(found.x[1 + s], v[s], 1e-9);
  idm_program_destroy(p);
  idm_free_utility_destroy(free_utility);
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
}

static void test_refusals(void **state)
{
  (void)state;
  idm_problem *problem = grid_random(STATES, ACTIONS, 0.9, 2, NULL, NULL);
  idm_mdp *mdp;
  check(idm_mdp_create(problem, problem->setting, "test", &mdp, &support_error));
  check(idm_bellman_check(mdp, problem->setting, "test", &support_error));
  mdp->discount = 1;
  assert_int_equal(idm_bellman_check(mdp, problem->setting, "test", &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "discount below 1"));
  problem->setting->horizon = 7;
  assert_int_equal(idm_bellman_check(mdp, problem->setting, "test", &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "end after 7"));
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_values),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
