/* Tests the stopping rules of a search, and the bounds it reaches. */
#include "support.h"

#include <math.h>
#include <stdio.h>

static idm_problem *tiger(void)
{
  idm_problem *problem;
  check(idm_problem_read("example:tiger", &problem, NULL, &support_error));
  check(idm_problem_set_planner(problem, idm_planner_find("point-based"), &support_error));
  return problem;
}

typedef struct onlooker {
  int calls;
  int most; /* stop at this call */
  double lower;
  double upper;
} onlooker;

/* Checks that bounds never widen. */
static bool look(void *context, double lower, double upper)
{
  onlooker *o = context;
  assert_true(lower <= upper);
  assert_true(!o->calls || (lower >= o->lower && upper <= o->upper));
  o->lower = lower;
  o->upper = upper;
  return ++o->calls == o->most;
}

/* Returns a workspace without any search. */
static idm_workspace *open_workspace(const idm_problem *problem)
{
  idm_workspace *workspace;
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                             &support_error));
  return workspace;
}

static void stops_when_asked_to(void **state)
{
  (void)state;
  idm_problem *problem = tiger();
  idm_workspace *workspace = open_workspace(problem);
  onlooker o = {.most = 5};
  idm_solver solver;
  idm_plan_report report;
  idm_solver_default(&solver);
  solver.opt_monitor = look;
  solver.monitor_context = &o;
  check(idm_plan(problem->theta, &solver, workspace, &report, &support_error));
  assert_int_equal(report.stop, IDM_STOP_INTERRUPT);
  assert_true(o.calls == 5 && report.iterations == 4);
  assert_near(report.bound, o.upper - o.lower, 1e-12);
  /* The bounds reached so far are available and valid. */
  double lower, upper;
  const double *start = problem->setting->start;
  check(idm_plan_bounds(workspace, 0, start, &lower, &upper, &support_error));
  assert_true(lower <= 19.371368374891 && upper >= 19.371368374891 && upper - lower > 1e-3);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void stops_in_time(void **state)
{
  (void)state;
  idm_problem *problem = tiger();
  idm_workspace *workspace = open_workspace(problem);
  idm_solver solver;
  idm_plan_report report;
  idm_solver_default(&solver);
  solver.seconds = 1e-9;
  check(idm_plan(problem->theta, &solver, workspace, &report, &support_error));
  assert_int_equal(report.stop, IDM_STOP_SECONDS);
  assert_true(report.iterations == 0 && report.bound > 1);
  /* The solver's tolerance is used as the gap. */
  solver.seconds = 0;
  solver.tolerance = 10;
  check(idm_plan(problem->theta, &solver, workspace, &report, &support_error));
  assert_int_equal(report.stop, IDM_STOP_BOUND);
  assert_true(report.bound <= 10 && report.bound > 1e-3);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* A gap below rounding errors is not reached; the report contains the reason and the bound reached.
 */
static void stops_at_rounding(void **state)
{
  (void)state;
  idm_problem *problem = tiger();
  problem->agent.gap = 1e-300;
  idm_plan_report report;
  idm_workspace *workspace = support_plan(problem, &report);
  assert_true(report.stop == IDM_STOP_ROUNDING || report.bound == 0);
  assert_true(report.bound < 1e-10);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* With a discount of 0 the value is that of the best single action. */
static void sees_nothing_beyond_a_discount_of_0(void **state)
{
  (void)state;
  idm_problem *problem = tiger();
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0);
  idm_workspace *workspace = support_plan(problem, NULL);
  assert_near(idm_plan_value(workspace, 0, problem->setting->start), -1, 1e-12);
  const double sure[] = {1, 0};
  assert_near(idm_plan_value(workspace, 0, sure), 10, 1e-12);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Patients who become ill and recover: beliefs that never repeat, with transitions back to the
 * start. */
static idm_problem *clinic(double recovery)
{
  char text[1000];
  snprintf(text, sizeof text,
           "states: [healthy, diseased]\n"
           "actions: [declare_healthy, declare_diseased, monitor]\n"
           "observations: [negative, positive]\n"
           "discount: 0.9\n"
           "transition: {monitor: [[0.95, 0.05], [%g, %g]], '*': uniform}\n"
           "observation: {'*': [[0.7, 0.3], [0.35, 0.65]]}\n"
           "utility: {monitor: -1, declare_healthy: [10, -36], declare_diseased: [-36, 10]}\n"
           "agent: {planner: point-based, gap: 5}\n",
           recovery, 1 - recovery);
  return support_yaml(text);
}

/* However slowly the discount decays, the bounds converge: trials that only meet known beliefs are
 * no reason to stop. The value of a lattice is never below the optimal one. */
static void closes_its_bounds_near_a_discount_of_1(void **state)
{
  (void)state;
  static const double recovery[] = {0.02, 0.1}, discount[] = {0.9, 0.99, 0.995, 0.999};
  for (size_t i = 0; i < 2; i++) {
    idm_problem *problem = clinic(recovery[i]);
    for (size_t j = 0; j < sizeof discount / sizeof discount[0]; j++) {
      idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, discount[j]);
      check(idm_problem_set_planner(problem, idm_planner_find("rational"), &support_error));
      idm_workspace *lattice = support_plan(problem, NULL);
      const double near = idm_plan_value(lattice, 0, problem->setting->start);
      check(idm_problem_set_planner(problem, idm_planner_find("point-based"), &support_error));
      idm_plan_report report;
      idm_workspace *workspace = support_plan(problem, &report);
      double lower, upper;
      check(idm_plan_bounds(workspace, 0, problem->setting->start, &lower, &upper, &support_error));
      assert_int_equal(report.stop, IDM_STOP_BOUND);
      assert_true(report.bound <= 5 && upper - lower <= 5 && lower <= near);
      /* The error of the lattice is at most its interpolation error accumulated over steps. */
      assert_true(near - upper <= 0.01 / (1 - discount[j]));
      idm_workspace_destroy(lattice);
      idm_workspace_destroy(workspace);
    }
    idm_problem_destroy(problem);
  }
}

/* Nor does it take longer: Tiger's beliefs recur, so that few trials meet all that matter. */
static void takes_no_longer_near_a_discount_of_1(void **state)
{
  (void)state;
  idm_problem *problem = tiger();
  for (double left = 0.1; left > 1e-6; left /= 10) {
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 1 - left);
    idm_plan_report report;
    idm_workspace *workspace = support_plan(problem, &report);
    assert_int_equal(report.stop, IDM_STOP_BOUND);
    assert_true(report.bound <= 1e-3 && report.iterations < 40);
    idm_workspace_destroy(workspace);
  }
  idm_problem_destroy(problem);
}

/* With many states many trials in succession do not change the bounds at the start. This is not
 * rounding: longer paths do change them. */
static void long_waits_are_no_rounding(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    idm_random random;
    idm_random_init(&random, seed, 7);
    idm_problem *problem = support_problem((support_shape){7, 3, 3, 1, 5}, &random);
    check(idm_problem_set_planner(problem, idm_planner_find("point-based"), &support_error));
    support_assign(problem, "discount=0.9999");
    idm_workspace *workspace = open_workspace(problem);
    onlooker o = {.most = 300};
    idm_solver solver;
    idm_plan_report report;
    idm_solver_default(&solver);
    solver.tolerance = 1e-9;
    solver.opt_monitor = look;
    solver.monitor_context = &o;
    check(idm_plan(problem->theta, &solver, workspace, &report, &support_error));
    print_message("  %.3g apart of %.3g, %s after %zu\n", report.bound, o.upper,
                  idm_stop_name(report.stop), (size_t)report.iterations);
    assert_true(report.stop == IDM_STOP_INTERRUPT || report.bound < 1e-6 * fabs(o.upper));
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* Memory in use is counted, and no trial continues beyond the memory limit. */
static void stops_where_memory_ends(void **state)
{
  (void)state;
  idm_problem *problem = clinic(0.02);
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.99);
  idm_workspace *workspace = open_workspace(problem);
  idm_solver solver;
  idm_plan_report free, bound;
  idm_solver_default(&solver);
  solver.tolerance = 1e-3;
  check(idm_plan(problem->theta, &solver, workspace, &free, &support_error));
  assert_int_equal(free.stop, IDM_STOP_BOUND);
  idm_workspace_destroy(workspace);
  workspace = open_workspace(problem);
  solver.bytes = 1e5;
  check(idm_plan(problem->theta, &solver, workspace, &bound, &support_error));
  assert_int_equal(bound.stop, IDM_STOP_MEMORY);
  assert_true(bound.bound > free.bound && bound.iterations < free.iterations);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* A request to stop takes effect within a trial, which is practically endless near a discount of 1.
 */
static void hears_who_watches_within_a_trial(void **state)
{
  (void)state;
  idm_problem *problem = clinic(0.02);
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 1 - 1e-9);
  idm_solver solver;
  idm_plan_report report;
  onlooker o = {.most = 1000};
  idm_solver_default(&solver);
  solver.opt_monitor = look;
  solver.monitor_context = &o;
  check(idm_plan(problem->theta, &solver, workspace, &report, &support_error));
  assert_int_equal(report.stop, IDM_STOP_INTERRUPT);
  assert_true(report.iterations < o.calls - 100);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stops_when_asked_to),
      cmocka_unit_test(stops_in_time),
      cmocka_unit_test(stops_at_rounding),
      cmocka_unit_test(sees_nothing_beyond_a_discount_of_0),
      cmocka_unit_test(closes_its_bounds_near_a_discount_of_1),
      cmocka_unit_test(takes_no_longer_near_a_discount_of_1),
      cmocka_unit_test(long_waits_are_no_rounding),
      cmocka_unit_test(stops_where_memory_ends),
      cmocka_unit_test(hears_who_watches_within_a_trial),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
