/* The first bounds hold what the best policy is worth. */
#include "plan/point/bounds.h"

#include <math.h>

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

/* Repeating an action of one utility everywhere is worth utility / (1 - discount), and more cannot
 * be had. */
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
  /* An action that the prior excludes is none. */
  problem->theta->block[IDM_ACTION_PRIOR].value[0] = 0;
  problem->theta->block[IDM_ACTION_PRIOR].value[1] = 1;
  f = make(problem);
  assert_near(f.bounds.stage[0].upper.corner[0], -20, 1e-6);
  assert_int_equal(f.bounds.stage[0].lower.count, 1);
  drop(&f);
  /* With a horizon there is a stage a step, and the last one is the utility itself. */
  problem->setting->horizon = 4;
  f = make(problem);
  assert_int_equal(f.bounds.stages, 4);
  assert_near(f.bounds.stage[0].upper.corner[1], -1, 1e-15);
  assert_near(alpha_at(&f.bounds.stage[3].lower, 0, 1), -(1 + 0.95 + 0.9025 + 0.857375), 1e-12);
  drop(&f);
  idm_problem_destroy(problem);
}

/* Corners of the upper bound are above the lattice's value there, vectors below it everywhere. */
static void the_value_lies_between(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 97, 0);
  for (int k = 0; k < 10; k++) {
    idm_problem *problem = support_problem((support_shape){2, 3, 2, 2, 2000}, &random);
    problem->setting->terminal[1] = problem->setting->ends[1] = k % 2;
    check(idm_problem_plan_by(problem, idm_planner_find("rational"), &support_error));
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_even_utility_is_known_at_once),
      cmocka_unit_test(the_value_lies_between),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
