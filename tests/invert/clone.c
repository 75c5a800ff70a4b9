/* Clones of problems: changes to theta and to the dynamics of a clone leave the original unchanged.
 */
#include "invert/clone.h"

#include "support.h"

static void what_is_changed_stays_with_the_fork(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 2, 0), *fork;
  check(idm_problem_clone(problem, &fork, &support_error));
  const double start = problem->setting->start[0];
  const double alpha = idm_theta_scalar(problem->theta, IDM_ALPHA);
  assert_near(fork->setting->start[0], start, 0);
  assert_ptr_equal(fork->setting->states.name, problem->setting->states.name);
  fork->setting->start[0] = 0.9;
  fork->setting->emission[0] = 0.1;
  idm_theta_set_scalar(fork->theta, IDM_ALPHA, 7);
  assert_near(problem->setting->start[0], start, 0);
  assert_true(problem->setting->emission[0] > 0.5);
  assert_near(idm_theta_scalar(problem->theta, IDM_ALPHA), alpha, 0);
  idm_clone_destroy(fork);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_changed_stays_with_the_fork)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
