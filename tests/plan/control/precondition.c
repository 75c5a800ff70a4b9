/* Tests plans preconditioned by the inverse at a stored solution against ordinary Newton steps. */
#include "plan/control/control.h"
#include "plan/control/plain.h"
#include "plan/plan.h"

static const support_shape shapes[] = {{2, 3, 2, 3, 17}, {3, 2, 3, 3, 12}, {4, 2, 2, 2, 5}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* A problem whose plans need several Newton steps. */
static idm_problem *drawn(int i, idm_random *random)
{
  idm_problem *problem = support_problem(shapes[i % SHAPES], random);
  support_set(problem, 0.3, i & 1 ? 0.7 : -0.7, i & 2 ? 0.2 : 0);
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.95);
  if (i & 4) problem->setting->terminal[0] = problem->setting->ends[0] = true;
  return problem;
}

/* Plans from the solution stored in slot 0. Returns the number of products. */
static long plan(idm_workspace *workspace, const idm_theta *theta, bool precondition)
{
  const double one = 1;
  idm_solver solver;
  idm_plan_report report;
  idm_solver_default(&solver);
  solver.tolerance = 1e-11;
  solver.slots = 1;
  solver.weights = &one;
  solver.precondition = precondition;
  check(idm_plan(theta, &solver, workspace, &report, &support_error));
  assert_true(report.bound <= 1e-10);
  return report.sweeps;
}

/* Plans from a cold start, and stores the solution with its inverse. */
static idm_workspace *anchored(const idm_problem *problem)
{
  idm_workspace *workspace;
  idm_solver solver;
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                             &support_error));
  idm_solver_default(&solver);
  solver.slots = IDM_START_COLD;
  solver.precondition = true;
  check(idm_plan(problem->theta, &solver, workspace, NULL, &support_error));
  check(idm_workspace_store(workspace, 0, &support_error));
  return workspace;
}

static void plans_are_the_same_and_cheaper(void **state)
{
  (void)state;
  idm_random random;
  long plain = 0, preconditioned = 0;
  idm_random_init(&random, 61, 0);
  for (int i = 0; i < 24; i++) {
    idm_problem *problem = drawn(i, &random);
    idm_workspace *workspace = anchored(problem);
    const size_t states = problem->theta->sizes.states;
    problem->theta->block[IDM_UTILITY].value[0] += 0.2;
    idm_theta_set_scalar(problem->theta, IDM_ALPHA, 0.35);
    double z[20][PLAIN_MOST], value[20], decision[2][PLAIN_MOST];
    plain += plan(workspace, problem->theta, false);
    for (int k = 0; k < 20; k++) {
      support_distribution(&random, z[k], states);
      value[k] = idm_plan_value(workspace, 0, z[k]);
    }
    idm_plan_policy(workspace, 0, z[0], decision[0], NULL);
    preconditioned += plan(workspace, problem->theta, true);
    for (int k = 0; k < 20; k++) assert_near(idm_plan_value(workspace, 0, z[k]), value[k], 1e-10);
    idm_plan_policy(workspace, 0, z[0], decision[1], NULL);
    for (size_t u = 0; u < problem->theta->sizes.actions; u++)
      assert_near(decision[0][u], decision[1][u], 1e-10);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
  assert_true(5 * preconditioned < 4 * plain);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plans_are_the_same_and_cheaper),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
