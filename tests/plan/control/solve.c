/* Tests the solver: certified bounds against tighter solves, Newton against value iteration,
 * limits, and exact optima. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "belief/belief.h"
#include "support.h"

static const support_shape shapes[] = {{2, 3, 2, 3, 15}, {3, 2, 3, 2, 6}, {2, 2, 3, 2, 20}};

/* Value at the start by a method, from a cold start. */
static double start_value(const idm_problem *problem, idm_solve_method method, double tolerance,
                          idm_plan_report *report)
{
  const idm_solver solver = {
      .method = method, .limit = 2000000, .tolerance = tolerance, .slots = IDM_START_COLD};
  idm_workspace *workspace;
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                             &support_error));
  check(idm_plan(problem->theta, &solver, workspace, report, &support_error));
  const double value = idm_plan_value(workspace, 0, problem->setting->start);
  idm_workspace_destroy(workspace);
  return value;
}

/* Newton's method cycles where signs differ: 1,500 problems near the limits of 0, with all pairs of
 * signs. */
static void newton_agrees_with_shifted_sweeps(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 11, 0);
  int stubborn = 0;
  for (int i = 0; i < 1500; i++) {
    idm_problem *problem = support_problem(shapes[i % 3], &random);
    const double alpha = fabs(support_signed(&random, 1e-6, 0.01)) * (i & 1 ? -1 : 1);
    const double beta = fabs(support_signed(&random, 1e-6, 0.01)) * (i & 2 ? -1 : 1);
    support_set(problem, alpha, beta, support_signed(&random, 0.01, 1));
    problem->agent.evaluate = IDM_INTERPOLATE;
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.8 + 0.15 * idm_random_uniform(&random));
    idm_plan_report newton, shifted;
    const double a = start_value(problem, IDM_METHOD_NEWTON, 1e-9, &newton);
    const double b = start_value(problem, IDM_METHOD_SHIFTED, 1e-9, &shifted);
    assert_true(newton.stop != IDM_STOP_LIMIT && shifted.stop != IDM_STOP_LIMIT);
    assert_true(newton.bound < 1e-8);
    stubborn += newton.iterations > 12;
    if (fabs(a - b) > newton.bound + shifted.bound)
      print_error("problem %d: %.12g and %.12g, bounds %g and %g\n", i, a, b, newton.bound,
                  shifted.bound);
    assert_true(fabs(a - b) <= newton.bound + shifted.bound);
    idm_problem_destroy(problem);
  }
  print_message("%d of 1500 needed more than 12 Newton steps\n", stubborn);
}

/* The reported bound must cover the true error, which is computed by a far tighter solve. */
static void bounds_cover_the_error(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 12, 0);
  for (int i = 0; i < 60; i++) {
    idm_problem *problem = support_problem(shapes[i % 3], &random);
    support_set(problem, support_signed(&random, 0.05, 5), support_signed(&random, 0.05, 5),
                support_signed(&random, 0.05, 1));
    problem->agent.evaluate = IDM_INTERPOLATE;
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, i % 2 ? 0.99 : 0.7);
    if (i % 4 == 0) problem->setting->terminal[0] = problem->setting->ends[0] = true;
    idm_plan_report tight, loose;
    const double exact = start_value(problem, IDM_METHOD_NEWTON, 1e-11, &tight);
    for (int method = IDM_METHOD_NEWTON; method <= IDM_METHOD_VALUE_ITERATION; method++) {
      const double value = start_value(problem, (idm_solve_method)method, 1e-3, &loose);
      assert_true(loose.bound <= 1e-3);
      assert_true(fabs(value - exact) <= loose.bound + tight.bound);
    }
    idm_problem_destroy(problem);
  }
}

static void slow_mixing_and_long_horizons_converge(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.999);
  idm_plan_report report;
  const double a = start_value(problem, IDM_METHOD_NEWTON, 1e-7, &report);
  assert_true(report.iterations < 12);
  assert_true(report.bound <= 1e-7);
  const double b = start_value(problem, IDM_METHOD_SHIFTED, 1e-7, &report);
  assert_near(a, b, 2e-7);
  idm_problem_destroy(problem);
}

/* A warm start must give the same solution as a cold one. */
static void warm_equals_cold(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_workspace *workspace = support_plan(problem, NULL);
  support_set(problem, 0.6, 3, 0.5);
  idm_plan_report report;
  check(idm_plan(problem->theta, NULL, workspace, &report, &support_error));
  const double warm = idm_plan_value(workspace, 0, problem->setting->start);
  const double cold = start_value(problem, IDM_METHOD_NEWTON, 1e-11, &report);
  assert_near(warm, cold, 1e-9);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* If all utilities are 0 the value is 0, and a plan that starts from another solution finds it at
 * once, although no error is small relative to 0. */
static void nothing_is_paid_at_once(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 15, 0);
  for (int i = 0; i < 3; i++) {
    idm_problem *problem = support_problem(shapes[i], &random);
    idm_block *utility = &problem->theta->block[IDM_UTILITY];
    idm_workspace *workspace;
    idm_plan_report report;
    support_set(problem, 0.2, 0.5, 0);
    check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                               &support_error));
    check(idm_plan(problem->theta, NULL, workspace, &report, &support_error));
    assert_true(idm_plan_value(workspace, 0, problem->setting->start) != 0);
    memset(utility->value, 0, utility->size * sizeof *utility->value);
    check(idm_plan(problem->theta, NULL, workspace, &report, &support_error));
    assert_true(report.sweeps <= 3);
    assert_true(idm_plan_value(workspace, 0, problem->setting->start) == 0);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* New dynamics in the same workspace: the successor operator is rebuilt. */
static void changed_dynamics_rebuild_the_operator(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_workspace *workspace = support_plan(problem, NULL);
  double *emission = problem->theta->block[IDM_EMISSION].value;
  for (size_t i = 0; i < problem->theta->block[IDM_EMISSION].size; i++)
    emission[i] = emission[i] > 0.5 ? 0.9 : 0.1;
  check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
  idm_plan_report report;
  assert_near(idm_plan_value(workspace, 0, problem->setting->start),
              start_value(problem, IDM_METHOD_NEWTON, 1e-11, &report), 1e-9);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void limits_are_limits(void **state)
{
  (void)state;
  const double near_zero = 1e-7, near_infinity = 1e11;
  const struct {
    double alpha, beta, to_alpha, to_beta;
  } cases[] = {{0.0, 2, near_zero, 2},
               {-0.0, 2, -near_zero, 2},
               {INFINITY, 2, near_infinity, 2},
               {-INFINITY, 2, -near_infinity, 2},
               {0.5, 0.0, 0.5, near_zero},
               {0.5, -0.0, 0.5, -near_zero},
               {0.5, INFINITY, 0.5, near_infinity},
               {0.5, -INFINITY, 0.5, -near_infinity}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem = support_diag(cases[i].alpha, cases[i].beta, 0.3);
    idm_plan_report report;
    const double limit = start_value(problem, IDM_METHOD_NEWTON, 1e-10, &report);
    support_set(problem, cases[i].to_alpha, cases[i].to_beta, 0.3);
    assert_near(start_value(problem, IDM_METHOD_NEWTON, 1e-10, &report), limit, 2e-5);
    idm_problem_destroy(problem);
  }
}

/* Permuting the labels of actions and observations permutes the policy. */
static void relabelling_permutes_the_policy(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 13, 0);
  const support_shape shape = {3, 2, 2, 2, 9};
  idm_problem *a = support_problem(shape, &random);
  idm_random_init(&random, 13, 0);
  idm_problem *b = support_problem(shape, &random);
  const idm_sizes n = idm_setting_sizes(a->setting);
  const idm_block_id by_action[] = {IDM_TRANSITION, IDM_EMISSION, IDM_UTILITY, IDM_ACTION_PRIOR};
  for (size_t i = 0; i < 4; i++) {
    const size_t models = by_action[i] == IDM_UTILITY || by_action[i] == IDM_ACTION_PRIOR ? 1 : 2;
    const size_t width = a->theta->block[by_action[i]].size / models / 2;
    for (size_t m = 0; m < models; m++)
      for (size_t u = 0; u < 2; u++)
        memcpy(b->theta->block[by_action[i]].value + (2 * m + u) * width,
               a->theta->block[by_action[i]].value + (2 * m + 1 - u) * width,
               width * sizeof(double));
  }
  double *emission = b->theta->block[IDM_EMISSION].value;
  for (size_t i = 0; i < b->theta->block[IDM_EMISSION].size; i += 2) {
    const double first = emission[i];
    emission[i] = emission[i + 1];
    emission[i + 1] = first;
  }
  support_set(a, 0.3, -0.7, 0.4);
  support_set(b, 0.3, -0.7, 0.4);
  idm_workspace *wa = support_plan(a, NULL), *wb = support_plan(b, NULL);
  for (int i = 0; i < 20; i++) {
    double z[3], p[2], q[2];
    support_distribution(&random, z, n.states);
    assert_near(idm_plan_value(wa, 0, z), idm_plan_value(wb, 0, z), 1e-9);
    idm_plan_policy(wa, 0, z, p, NULL);
    idm_plan_policy(wb, 0, z, q, NULL);
    assert_near(p[0], q[1], 1e-8);
  }
  idm_workspace_destroy(wa);
  idm_workspace_destroy(wb);
  idm_problem_destroy(a);
  idm_problem_destroy(b);
}

/* Adding a constant to every utility adds constant/(1-gamma) to V and changes no policy. */
static void a_constant_utility_shifts_the_value(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, -0.75, 2);
  idm_workspace *workspace = support_plan(problem, NULL);
  double before[3], after[3];
  const double z[2] = {0.37, 0.63};
  const double value = idm_plan_value(workspace, 0, z);
  idm_plan_policy(workspace, 0, z, before, NULL);
  for (size_t i = 0; i < 6; i++) problem->theta->block[IDM_UTILITY].value[i] += 3;
  check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
  idm_plan_policy(workspace, 0, z, after, NULL);
  assert_near(idm_plan_value(workspace, 0, z), value + 3 / 0.05, 1e-8);
  for (int u = 0; u < 3; u++) assert_near(before[u], after[u], 1e-8);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* --- exact optima --------------------------------------------------------------------------- */

/* The belief in state 1 at which `action` stops being the most probable, by bisection between two
 * beliefs. */
static double threshold(idm_workspace *workspace, size_t action, double inside, double outside)
{
  for (int i = 0; i < 60; i++) {
    const double middle = 0.5 * (inside + outside);
    const double z[2] = {1 - middle, middle};
    double p[3];
    idm_plan_policy(workspace, 0, z, p, NULL);
    if (p[action] > 0.5)
      inside = middle;
    else
      outside = middle;
  }
  return inside;
}

static void check_optimum(idm_problem *problem, size_t wait, double value, double low, double high)
{
  idm_plan_report report;
  /* Along multiples of r the lattice value decreases to the exact optimum. */
  double last = INFINITY;
  for (int r = 9; r <= 9 * 81; r *= 3) {
    problem->agent.resolution = r;
    problem->agent.evaluate = IDM_INTERPOLATE;
    const double bound = start_value(problem, IDM_METHOD_NEWTON, 1e-10, &report);
    assert_true(bound >= value - 1e-9);
    assert_true(bound <= last + 1e-9);
    last = bound;
  }
  problem->agent.resolution = 9999;
  assert_near(start_value(problem, IDM_METHOD_NEWTON, 1e-9, &report), value, 1e-4 / fabs(value));
  problem->agent.resolution = 999;
  problem->agent.evaluate = IDM_LOOKAHEAD;
  idm_workspace *workspace = support_plan(problem, NULL);
  assert_true(fabs(threshold(workspace, wait, 0.5, 0) - low) < 1e-3);
  assert_true(fabs(threshold(workspace, wait, 0.5, 1) - high) < 1e-3);
  idm_workspace_destroy(workspace);
}

/* Exact values and thresholds from the finitely transient policy of Tiger, and of DIAG with one
 * model. */
static void tiger_and_diag_reach_their_optima(void **state)
{
  (void)state;
  idm_problem *tiger;
  check(idm_problem_read("example:tiger", &tiger, NULL, &support_error));
  support_set(tiger, 0, INFINITY, 0);
  const long listen = idm_labels_find(&tiger->setting->actions, "listen", 6);
  assert_true(listen >= 0);
  check_optimum(tiger, (size_t)listen, 19.371368374891, 0.039654442, 0.960345558);
  idm_problem_destroy(tiger);

  idm_problem *diag = support_diag(0, INFINITY, 0);
  check(idm_problem_set_planner(diag, idm_planner_find("deterministic-optimal"), &support_error));
  check_optimum(diag, 2, 80418.0 / 65255.0, 0.151334421, 0.848665579);
  idm_problem_destroy(diag);
}

/* Values of published problems against certified lower and upper bounds at the start. */
static void classic_problems_meet_their_bounds(void **state)
{
  (void)state;
  const struct {
    const char *name;
    int resolution;
    double low, high;
  } cases[] = {{"pomdp/tiger.95.POMDP", 9999, 19.37125, 19.37158},
               {"pomdp/1d.POMDP", 40, 1.26034, 1.26035},
               {"pomdp/paint.95.POMDP", 40, 3.29360, 3.29360}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *path = support_shared(cases[i].name);
    idm_problem *problem;
    check(idm_problem_read(path, &problem, NULL, &support_error));
    problem->agent.resolution = cases[i].resolution;
    idm_plan_report report;
    const double value = start_value(problem, IDM_METHOD_NEWTON, 1e-8, &report);
    assert_true(value > cases[i].low - 1e-2 && value < cases[i].high + 1e-2);
    idm_problem_destroy(problem);
  }
}

static void a_lattice_too_large_is_refused_with_its_size(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 14, 0);
  idm_problem *problem = support_problem((support_shape){12, 2, 2, 1, 200}, &random);
  idm_workspace *workspace;
  assert_int_equal(idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                        &workspace, &support_error),
                   IDM_MEMORY);
  assert_null(workspace);
  assert_non_null(strstr(support_error.message, "resolution 200 over 12 states"));
  assert_non_null(strstr(support_error.message, "GiB"));
  const char *fits = strstr(support_error.message, "largest resolution that fits is ");
  assert_non_null(fits);
  /* The proposed resolution must be accepted; a tenth of it is tried, for speed. */
  const int proposed = atoi(fits + strlen("largest resolution that fits is "));
  assert_true(proposed >= 1 && proposed < 200);
  idm_problem_destroy(problem);
}

/* Estimates of memory contain the merged derivative, which is not made for more than 2^24 entries:
 * 16 bytes per entry, of 2 x 2 successors with 3 states each. */
static void bytes_contain_the_merged_derivative(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 15, 0);
  idm_problem *problem = support_problem((support_shape){3, 2, 2, 1, 4}, &random);
  idm_workspace *workspace = support_plan(problem, NULL);
  const double entries = 2 * 2 * 3;
  int last = 1;
  while (entries * (double)idm_lattice_count(3, last + 1) <= 1 << 24) last++;
  const double points[2] = {(double)idm_lattice_count(3, last),
                            (double)idm_lattice_count(3, last + 1)};
  const double with = idm_workspace_bytes(workspace, last) / points[0];
  const double without = idm_workspace_bytes(workspace, last + 1) / points[1];
  assert_near(with - without, 16 * entries, 1e-3);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void values_that_overflow_are_a_numerical_failure(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  problem->theta->block[IDM_UTILITY].value[0] = 1e308;
  idm_workspace *workspace;
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                             &support_error));
  assert_int_equal(idm_plan(problem->theta, NULL, workspace, NULL, &support_error), IDM_NUMERICAL);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(newton_agrees_with_shifted_sweeps),
      cmocka_unit_test(bounds_cover_the_error),
      cmocka_unit_test(slow_mixing_and_long_horizons_converge),
      cmocka_unit_test(warm_equals_cold),
      cmocka_unit_test(nothing_is_paid_at_once),
      cmocka_unit_test(changed_dynamics_rebuild_the_operator),
      cmocka_unit_test(limits_are_limits),
      cmocka_unit_test(relabelling_permutes_the_policy),
      cmocka_unit_test(a_constant_utility_shifts_the_value),
      cmocka_unit_test(tiger_and_diag_reach_their_optima),
      cmocka_unit_test(classic_problems_meet_their_bounds),
      cmocka_unit_test(a_lattice_too_large_is_refused_with_its_size),
      cmocka_unit_test(bytes_contain_the_merged_derivative),
      cmocka_unit_test(values_that_overflow_are_a_numerical_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
