/* Tests bounds on the optimal value around the value of a lattice against known optima, and
 * planners that have none. */
#include "support.h"

#include <math.h>
#include <stdio.h>

#include "plan/guess_support.h"

typedef struct interval {
  double lower;
  double upper;
} interval;

static interval enclosed(idm_problem *problem, const char *planner)
{
  interval found;
  check(idm_problem_set_planner(problem, idm_planner_find(planner), &support_error));
  idm_workspace *workspace = support_plan(problem, NULL);
  check(idm_plan_bounds(workspace, 0, problem->setting->start, &found.lower, &found.upper,
                        &support_error));
  idm_workspace_destroy(workspace);
  return found;
}

/* The bounds of lattices enclose the optimum of published problems. */
static void lattices_hold_the_optimum(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    double optimum, lower_gap;
  } known[] = {{"tiger.95", 19.371368, 0.05},
               {"paint.95", 3.293597, 0.01},
               {"4x3.95", 1.889880, 0.01},
               {"cheese.95", 3.486206, 0.01},
               {"shuttle.95", 32.889724, 0.01}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    char name[64];
    snprintf(name, sizeof name, "pomdp/%s.POMDP", known[i].name);
    const char *path = support_shared(name);
    idm_problem *problem;
    check(idm_problem_read(path, &problem, NULL, &support_error));
    const interval found = enclosed(problem, "rational");
    assert_true(found.lower <= known[i].optimum + 1e-6 && found.upper >= known[i].optimum - 1e-6);
    assert_true(found.lower >= known[i].optimum - known[i].lower_gap);
    idm_problem_destroy(problem);
  }
}

/* The bounds of a coarse lattice are wide. */
static void coarse_lattices_are_told_apart(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("example:tiger", &problem, NULL, &support_error));
  problem->agent.resolution = 4;
  const interval coarse = enclosed(problem, "rational");
  problem->agent.resolution = 2000;
  const interval fine = enclosed(problem, "rational");
  assert_true(coarse.upper - coarse.lower > 10 * (fine.upper - fine.lower));
  assert_true(coarse.lower <= 19.371369 && fine.lower <= 19.371369);
  assert_true(coarse.upper >= 19.371368 && fine.upper >= 19.371368);
  idm_problem_destroy(problem);
}

/* With a horizon and several models, against the point-based search. */
static void horizons_are_enclosed(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 98, 0);
  idm_problem *problem = support_problem((support_shape){3, 3, 2, 2, 12}, &random);
  problem->setting->horizon = 5;
  problem->agent.gap = 1e-6;
  const interval best = enclosed(problem, "point-based");
  const interval lattice = enclosed(problem, "rational");
  assert_true(lattice.lower <= best.upper && lattice.upper >= best.lower);
  assert_true(best.upper - best.lower <= 1e-6);
  assert_true(lattice.lower > best.lower - 0.5);
  idm_problem_destroy(problem);
}

/* If the utility of beliefs is a maximum of linear pieces, the value is convex too. */
static void prizes_are_enclosed(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 99, 0);
  idm_problem *problem = support_problem((support_shape){3, 2, 2, 1, 30}, &random);
  support_pieces(problem, 3, &random);
  problem->theta->block[IDM_BELIEF_UTILITY].value[3] = 0.5;
  problem->agent.gap = 1e-5;
  const interval best = enclosed(problem, "point-based");
  const interval lattice = enclosed(problem, "rational");
  assert_true(lattice.lower <= best.upper && lattice.upper >= best.lower);
  assert_true(lattice.upper - lattice.lower < 0.1);
  problem->theta->block[IDM_BELIEF_UTILITY].value[0] = 0.5;
  assert_true(isnan(enclosed(problem, "rational").lower));
  idm_problem_destroy(problem);
}

static void others_have_none(void **state)
{
  (void)state;
  static const char *const settings[] = {"alpha=0.5", "alpha=-0.0", "eta=0.1",
                                         "evidence_weight=0.5", "sensor_capacity=0.2"};
  idm_problem *robust;
  check(idm_problem_read("example:diag", &robust, NULL, &support_error));
  support_assign(robust, "alpha=0");
  assert_true(isnan(enclosed(robust, "cvar-robust").lower));
  idm_problem_destroy(robust);
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    idm_problem *problem;
    check(idm_problem_read("example:tiger", &problem, NULL, &support_error));
    support_assign(problem, settings[i]);
    const interval none = enclosed(problem, "bounded-rational");
    assert_true(isnan(none.lower) && isnan(none.upper));
    idm_problem_destroy(problem);
  }
  idm_problem *problem;
  check(idm_problem_read("example:tiger", &problem, NULL, &support_error));
  problem->setting->horizon = 3;
  problem->agent.discounting = IDM_NAIVE;
  assert_true(isnan(enclosed(problem, "rational").lower));
  idm_problem_destroy(problem);
  check(idm_problem_read("example:maintenance", &problem, NULL, &support_error));
  assert_true(isnan(enclosed(problem, "rational").lower));
  idm_workspace *workspace = support_plan(problem, NULL);
  double lower, upper, vector[8];
  size_t action;
  assert_int_equal(
      idm_plan_bounds(workspace, 1, problem->setting->start, &lower, &upper, &support_error),
      IDM_USAGE);
  assert_false(idm_plan_vector(workspace, 0, 0, vector, &action));
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lattices_hold_the_optimum), cmocka_unit_test(coarse_lattices_are_told_apart),
      cmocka_unit_test(horizons_are_enclosed),     cmocka_unit_test(prizes_are_enclosed),
      cmocka_unit_test(others_have_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
