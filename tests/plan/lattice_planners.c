/* Tests the requirements on every planner that solves a lattice of beliefs. */
#include "plan/learner_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = 2, ACTIONS = 3 };
static const support_shape shape = {
    .states = STATES, .actions = ACTIONS, .observations = 3, .models = 2, .resolution = 12};

/* Returns the next planner with a lattice from index *i on and moves *i past it; NULL at the end.
 */
static const idm_planner *next_planner(size_t *i)
{
  while (support_planner_at(*i) && !support_planner_at(*i)->lattice) ++*i;
  return support_planner_at((*i)++);
}

static void forward_is_finite(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 81, 0);
  const idm_planner *planner;
  for (size_t i = 0; (planner = next_planner(&i));)
    for (int horizon = 0; horizon <= 4; horizon += 4) {
      idm_problem *problem = support_any(planner, shape, &random);
      problem->setting->horizon = horizon;
      idm_workspace *workspace = support_plan(problem, NULL);
      const size_t points = idm_workspace_points(workspace);
      assert_true(points > 0);
      double *occupancy = calloc(points, sizeof *occupancy);
      idm_forward with, without;
      check(idm_plan_forward(workspace, 0, &with, occupancy, &support_error));
      check(idm_plan_forward(workspace, 0, &without, NULL, &support_error));
      assert_true(with.internal_return == without.internal_return && with.value == without.value);
      assert_true(isfinite(with.internal_return) && isfinite(with.value));
      assert_true(with.decision >= -1e-12 && with.specification >= -1e-12);
      double sum = 0;
      for (size_t k = 0; k < points; k++) {
        assert_true(occupancy[k] >= 0);
        sum += occupancy[k];
      }
      assert_true(sum > 0 && isfinite(sum));
      free(occupancy);
      idm_workspace_destroy(workspace);
      idm_problem_destroy(problem);
    }
  /* A planner without a lattice reports that it has none. */
  for (size_t i = 0; support_planner_at(i); i++) {
    if (support_planner_at(i)->lattice) continue;
    idm_problem *problem = support_any(support_planner_at(i), shape, &random);
    idm_workspace *workspace = support_plan(problem, NULL);
    idm_forward forward;
    assert_int_equal(idm_workspace_points(workspace), 0);
    assert_int_equal(idm_plan_forward(workspace, 0, &forward, NULL, &support_error), IDM_USAGE);
    check(idm_workspace_store(workspace, 0, &support_error)); /* nothing to store */
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

static void tables_are_complete(void **state)
{
  (void)state;
  const idm_planner *planner;
  for (size_t i = 0; (planner = next_planner(&i));)
    assert_true(planner->belief && planner->lattice->points && planner->lattice->forward &&
                planner->lattice->store && planner->lattice->bytes);
}

/* The number of bytes grows with the lattice at least as the values do. */
static void bytes_grow_with_the_lattice(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 84, 0);
  const idm_planner *planner;
  for (size_t i = 0; (planner = next_planner(&i));) {
    idm_problem *problem = support_any(planner, shape, &random);
    idm_workspace *workspace = support_plan(problem, NULL);
    for (int r = 1; r < 5000; r *= 3) {
      assert_true(idm_workspace_bytes(workspace, r) >= 8.0 * (r + 1));
      assert_true(idm_workspace_bytes(workspace, 3 * r) > idm_workspace_bytes(workspace, r));
    }
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

static void slots_are_kept_in_order(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 82, 0);
  const idm_planner *planner;
  for (size_t i = 0; (planner = next_planner(&i));) {
    idm_problem *problem = support_any(planner, shape, &random);
    idm_workspace *workspace;
    idm_solver solver;
    const double weights[3] = {0.5, 0.25, 0.25};
    idm_solver_default(&solver);
    solver.weights = weights;
    check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                               &support_error));
    /* Without a plan there is nothing to store. */
    assert_int_equal(idm_workspace_store(workspace, 0, &support_error), IDM_USAGE);
    check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
    assert_int_equal(idm_workspace_store(workspace, 1, &support_error), IDM_USAGE);
    check(idm_workspace_store(workspace, 0, &support_error));
    assert_int_equal(idm_workspace_store(workspace, 2, &support_error), IDM_USAGE);
    check(idm_workspace_store(workspace, 1, &support_error));
    check(idm_workspace_store(workspace, 0, &support_error)); /* overwrites the slot */
    for (solver.slots = 1; solver.slots <= 3; solver.slots++)
      assert_int_equal(idm_plan(problem->theta, &solver, workspace, NULL, &support_error),
                       solver.slots <= 2 ? IDM_OK : IDM_USAGE);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* The result of a plan: policies and values at a few beliefs. */
typedef struct outcome {
  double decision[4][ACTIONS];
  double value[4];
} outcome;

static outcome plan_from_slots(idm_workspace *workspace, const idm_theta *theta)
{
  const double weights[2] = {0.7, 0.3};
  idm_solver solver;
  outcome found;
  idm_solver_default(&solver);
  solver.slots = 2;
  solver.weights = weights;
  check(idm_plan(theta, &solver, workspace, NULL, &support_error));
  for (size_t k = 0; k < 4; k++) {
    const double p = 0.07 + 0.2871 * (double)k;
    const double z[STATES] = {p, 1 - p};
    idm_plan_policy(workspace, 0, z, found.decision[k], NULL);
    found.value[k] = idm_plan_value(workspace, 0, z);
  }
  return found;
}

/* Started from stored solutions, planning is a function of theta alone, to the last bit: it does
 * not depend on earlier plans. */
static void kept_slots_make_planning_a_function(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 83, 0);
  const idm_planner *planner;
  for (size_t i = 0; (planner = next_planner(&i));) {
    idm_problem *problem = support_any(planner, shape, &random);
    idm_theta *near, *far;
    check(idm_theta_copy(problem->theta, &near, &support_error));
    check(idm_theta_copy(problem->theta, &far, &support_error));
    near->block[IDM_UTILITY].value[0] += 1.5;
    support_redraw(far, IDM_UTILITY, &random);
    support_redraw(far, IDM_TRANSITION, &random);
    idm_theta_set_scalar(far, IDM_ALPHA, 2);
    idm_workspace *workspace = support_plan(problem, NULL);
    check(idm_workspace_store(workspace, 0, &support_error));
    check(idm_plan(near, NULL, workspace, NULL, &support_error));
    check(idm_workspace_store(workspace, 1, &support_error));
    near->block[IDM_UTILITY].value[0] -= 0.75;
    const outcome first = plan_from_slots(workspace, near);
    plan_from_slots(workspace, far);
    check(idm_plan(far, NULL, workspace, NULL, &support_error));
    const outcome second = plan_from_slots(workspace, near);
    assert_memory_equal(&first, &second, sizeof first);
    idm_workspace_destroy(workspace);
    idm_theta_destroy(near);
    idm_theta_destroy(far);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_are_complete),
      cmocka_unit_test(forward_is_finite),
      cmocka_unit_test(bytes_grow_with_the_lattice),
      cmocka_unit_test(slots_are_kept_in_order),
      cmocka_unit_test(kept_slots_make_planning_a_function),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
