/* Tests the constrained form: multipliers for which the complexities equal their capacities. */
#include <math.h>
#include <string.h>

#include "support.h"

static idm_status solve(idm_problem *problem, idm_forward *forward, idm_notes *notes)
{
  idm_workspace *workspace;
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                             &support_error));
  const idm_status status = idm_plan_capacity(problem->theta, &problem->agent, NULL, workspace,
                                              NULL, notes, &support_error);
  if (status == IDM_OK) check(idm_plan_forward(workspace, 0, forward, NULL, &support_error));
  idm_workspace_destroy(workspace);
  return status;
}

static void each_capacity_is_used_up(void **state)
{
  (void)state;
  idm_forward forward;
  idm_problem *problem = support_diag(0.5, 1000, 0.001);
  support_assign(problem, "decision_capacity=0.5");
  check(solve(problem, &forward, NULL));
  assert_near(forward.decision, 0.5, 1e-6);
  assert_true(idm_theta_scalar(problem->theta, IDM_ALPHA) > 0);
  idm_problem_destroy(problem);

  problem = support_diag(0.5, 1000, 0.001);
  support_assign(problem, "specification_capacity=0.1");
  check(solve(problem, &forward, NULL));
  assert_near(forward.specification, 0.1, 1e-6);
  idm_problem_destroy(problem);

  problem = support_diag(0.5, 1000, 0.001);
  idm_workspace *workspace = support_plan(problem, NULL);
  check(idm_plan_forward(workspace, 0, &forward, NULL, &support_error));
  idm_workspace_destroy(workspace);
  const double free_use = forward.recognition;
  problem->agent.recognition_capacity = free_use - 0.005;
  check(solve(problem, &forward, NULL));
  assert_near(forward.recognition, free_use - 0.005, 1e-5);
  assert_true(idm_theta_scalar(problem->theta, IDM_ETA) > 0);
  idm_problem_destroy(problem);
}

static void two_capacities_settle_together(void **state)
{
  (void)state;
  idm_forward forward;
  idm_problem *problem = support_diag(0.5, 1000, 0.001);
  support_assign(problem, "decision_capacity=0.5");
  support_assign(problem, "specification_capacity=0.1");
  check(solve(problem, &forward, NULL));
  assert_near(forward.decision, 0.5, 1e-5);
  assert_near(forward.specification, 0.1, 1e-5);
  idm_problem_destroy(problem);
}

static void a_capacity_that_does_not_bind_says_so(void **state)
{
  (void)state;
  idm_forward forward;
  idm_notes notes = {0};
  idm_problem *problem = support_diag(0.5, 1000, 0.001);
  support_assign(problem, "decision_capacity=5");
  check(solve(problem, &forward, &notes));
  assert_near(idm_theta_scalar(problem->theta, IDM_ALPHA), 0, 0);
  assert_int_equal(notes.count, 1);
  assert_non_null(strstr(notes.text[0], "does not bind"));
  idm_notes_clear(&notes);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_capacity_is_used_up),
      cmocka_unit_test(two_capacities_settle_together),
      cmocka_unit_test(a_capacity_that_does_not_bind_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
