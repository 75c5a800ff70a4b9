/* Tests that the initial bounds enclose the value of the optimal policy. */
#include "plan/point/bounds.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

/* Bounds of a problem before any search, at a corner. */
typedef struct first {
  kernel *kernel;
  bounds bounds;
} first;

static first make(const idm_problem *problem)
{
  first f;
  check(idm_kernel_create(problem->setting, problem->theta, &f.kernel, &support_error));
  const point_problem p = {.kernel = f.kernel,
                           .reward = idm_theta_values(problem->theta, IDM_UTILITY, 0),
                           .prior = idm_theta_values(problem->theta, IDM_ACTION_PRIOR, 0),
                           .terminal = problem->setting->terminal,
                           .start = problem->setting->start,
                           .discount = idm_theta_scalar(problem->theta, IDM_DISCOUNT),
                           .horizon = problem->setting->horizon};
  check(idm_bounds_create(&p, 1e-9, &f.bounds, &support_error));
  return f;
}

static void drop(first *f)
{
  idm_bounds_free(&f->bounds);
  idm_kernel_destroy(f->kernel);
}

/* The value of repeating an action of constant utility is utility / (1 - discount), and here it is
 * optimal. */
static void an_even_utility_is_known_at_once(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 96, 0);
  idm_problem *problem = support_problem((support_shape){3, 2, 2, 1, 4}, &random);
  double *utility = problem->theta->block[IDM_UTILITY].value;
  for (size_t s = 0; s < 3; s++) {
    utility[s] = 1;
    utility[3 + s] = -1;
  }
  first f = make(problem);
  assert_int_equal(f.bounds.stages, 1);
  for (size_t s = 0; s < 3; s++) {
    assert_near(f.bounds.stage[0].upper.corner[s], 20, 1e-6);
    assert_near(alpha_at(&f.bounds.stage[0].lower, 0, s), 20, 1e-6);
    assert_true(f.bounds.stage[0].upper.corner[s] >= 20 - 1e-12);
  }
  drop(&f);
  /* An action of prior probability 0 is excluded. */
  problem->theta->block[IDM_ACTION_PRIOR].value[0] = 0;
  problem->theta->block[IDM_ACTION_PRIOR].value[1] = 1;
  f = make(problem);
  assert_near(f.bounds.stage[0].upper.corner[0], -20, 1e-6);
  assert_int_equal(f.bounds.stage[0].lower.count, 1);
  drop(&f);
  /* With a horizon there is one stage per step, and the last stage is the utility. */
  problem->setting->horizon = 4;
  f = make(problem);
  assert_int_equal(f.bounds.stages, 4);
  assert_near(f.bounds.stage[0].upper.corner[1], -1, 1e-15);
  assert_near(alpha_at(&f.bounds.stage[3].lower, 0, 1), -(1 + 0.95 + 0.9025 + 0.857375), 1e-12);
  drop(&f);
  idm_problem_destroy(problem);
}

/* Corners of the upper bound are above the lattice's value there, and vectors are below it
 * everywhere. */
static void the_value_lies_between(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 97, 0);
  for (int k = 0; k < 10; k++) {
    idm_problem *problem = support_problem((support_shape){2, 3, 2, 2, 2000}, &random);
    problem->setting->terminal[1] = problem->setting->ends[1] = k % 2;
    check(idm_problem_set_planner(problem, idm_planner_find("rational"), &support_error));
    idm_workspace *lattice = support_plan(problem, NULL);
    first f = make(problem);
    for (size_t s = 0; s < 2; s++) {
      const double z[] = {s == 0, s == 1};
      const double value = idm_plan_value(lattice, 0, z);
      assert_true(f.bounds.stage[0].upper.corner[s] >= value - 1e-4);
      for (size_t i = 0; i < f.bounds.stage[0].lower.count; i++)
        assert_true(alpha_at(&f.bounds.stage[0].lower, i, s) <= value + 1e-9);
    }
    drop(&f);
    idm_workspace_destroy(lattice);
    idm_problem_destroy(problem);
  }
}

/* --- stops during set-up -------------------------------------------------------------------- */

enum { CELLS = 2000, WAYS = 4, SIGHTS = 10 };

/* A ring of cells: an action moves by its number of cells or not at all, the observation is one of
 * two numbers, and one cell has a reward. Near a discount of 1 the initial bounds take more than 8
 * s. */
static void write_ring(FILE *out)
{
  fprintf(out, "discount: 0.99999\nvalues: reward\n");
  fprintf(out, "states: %d\nactions: %d\nobservations: %d\n", CELLS, WAYS, SIGHTS);
  for (int u = 0; u < WAYS; u++)
    for (int s = 0; s < CELLS; s++) {
      fprintf(out, "T: %d : %d : %d 0.75\n", u, s, (s + u + 1) % CELLS);
      fprintf(out, "T: %d : %d : %d 0.25\n", u, s, s);
    }
  for (int s = 0; s < CELLS; s++) {
    fprintf(out, "O: * : %d : %d 0.5\n", s, s % SIGHTS);
    fprintf(out, "O: * : %d : %d 0.5\n", s, (s + 1 + s / SIGHTS % (SIGHTS - 1)) % SIGHTS);
  }
  fprintf(out, "R: * : 7 : * : * 1\nR: 3 : 1007 : * : * -1\n");
}

static idm_problem *ring(void)
{
  char path[SUPPORT_PATH], named[SUPPORT_PATH + 8];
  idm_problem *problem;
  support_path(path);
  snprintf(named, sizeof named, "%s.pomdp", path);
  FILE *out = fopen(named, "w");
  assert_non_null(out);
  write_ring(out);
  assert_int_equal(fclose(out), 0);
  check(idm_problem_read_by_rows(named, &problem, NULL, &support_error));
  unlink(named);
  unlink(path);
  check(idm_problem_set_planner(problem, idm_planner_find("point-based"), &support_error));
  return problem;
}

static bool stop_at_once(void *context, double lower, double upper)
{
  ++*(int *)context;
  assert_true(isfinite(lower) && isfinite(upper) && lower <= upper);
  return true;
}

/* Plans, and checks that no trial was made, that it took at most one second of processor time more
 * than the limit of `solver`, and that there are bounds. */
static void assert_set_up_stops(const idm_problem *problem, const idm_solver *solver, idm_stop why)
{
  idm_workspace *workspace;
  idm_plan_report report;
  double lower, upper;
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                             &support_error));
  const clock_t begun = clock();
  check(idm_plan(problem->theta, solver, workspace, &report, &support_error));
  const double took = (double)(clock() - begun) / CLOCKS_PER_SEC;
  print_message("  %.3g s of processor time, bounds %.3g apart\n", took, report.bound);
  assert_int_equal(report.stop, why);
  assert_int_equal(report.iterations, 0);
  assert_true(took < solver->seconds + 1);
  const double *start = problem->setting->start;
  check(idm_plan_bounds(workspace, 0, start, &lower, &upper, &support_error));
  assert_true(isfinite(lower) && isfinite(upper) && lower < upper);
  const double most = 1e5 * (1 + 1e-9); /* at most 1 per step; 1 - discount is rounded */
  assert_true(lower >= -most && upper <= most);
  idm_workspace_destroy(workspace);
}

static void set_up_stops_in_time(void **state)
{
  (void)state;
  idm_problem *problem = ring();
  idm_solver solver;
  idm_solver_default(&solver);
  solver.tolerance = 1e-3;
  solver.seconds = 1;
  assert_set_up_stops(problem, &solver, IDM_STOP_SECONDS);
  solver.seconds = 1e-9; /* before the first sweep */
  assert_set_up_stops(problem, &solver, IDM_STOP_SECONDS);
  idm_problem_destroy(problem);
}

static void set_up_stops_when_asked_to(void **state)
{
  (void)state;
  int calls = 0;
  idm_problem *problem = ring();
  idm_solver solver;
  idm_solver_default(&solver);
  solver.tolerance = 1e-3;
  solver.opt_monitor = stop_at_once;
  solver.monitor_context = &calls;
  assert_set_up_stops(problem, &solver, IDM_STOP_INTERRUPT);
  assert_true(calls == 1 || calls == 2); /* in set-up, and before the first trial */
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_even_utility_is_known_at_once),
      cmocka_unit_test(the_value_lies_between),
      cmocka_unit_test(set_up_stops_in_time),
      cmocka_unit_test(set_up_stops_when_asked_to),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
