/* When a search stops, and what it was led by. */
#include "support.h"

#include <math.h>

static idm_problem *tiger(void)
{
  idm_problem *problem;
  check(idm_problem_read("example:tiger", &problem, NULL, &support_error));
  check(idm_problem_plan_by(problem, idm_planner_find("point-based"), &support_error));
  return problem;
}

typedef struct onlooker {
  int calls;
  int most; /* stops then */
  double lower;
  double upper;
} onlooker;

/* Bounds only close. */
static bool look(void *context, double lower, double upper)
{
  onlooker *o = context;
  assert_true(lower <= upper);
  assert_true(!o->calls || (lower >= o->lower && upper <= o->upper));
  o->lower = lower;
  o->upper = upper;
  return ++o->calls == o->most;
}

static void stops_when_asked_to(void **state)
{
  (void)state;
  idm_problem *problem = tiger();
  idm_workspace *workspace = support_plan(problem, NULL);
  onlooker o = {.most = 5};
  idm_solver solver;
  idm_plan_report report;
  idm_solver_default(&solver);
  solver.opt_watch = look;
  solver.watch_context = &o;
  check(idm_plan(problem->theta, &solver, workspace, &report, &support_error));
  assert_int_equal(report.stop, IDM_STOP_INTERRUPT);
  assert_true(o.calls == 5 && report.iterations == 4);
  assert_near(report.bound, o.upper - o.lower, 1e-12);
  /* What was reached is there, and is a bound. */
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
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_solver solver;
  idm_plan_report report;
  idm_solver_default(&solver);
  solver.seconds = 1e-9;
  check(idm_plan(problem->theta, &solver, workspace, &report, &support_error));
  assert_int_equal(report.stop, IDM_STOP_SECONDS);
  assert_true(report.iterations == 0 && report.bound > 1);
  /* A tolerance of the solver's is the gap. */
  solver.seconds = 0;
  solver.tolerance = 0.5;
  check(idm_plan(problem->theta, &solver, workspace, &report, &support_error));
  assert_int_equal(report.stop, IDM_STOP_BOUND);
  assert_true(report.bound <= 0.5 && report.bound > 1e-3);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* A gap below rounding is not reached; that is said, with what is. */
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

/* No discount at all: the best action now, at once. */
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stops_when_asked_to),
      cmocka_unit_test(stops_in_time),
      cmocka_unit_test(stops_at_rounding),
      cmocka_unit_test(sees_nothing_beyond_a_discount_of_0),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
