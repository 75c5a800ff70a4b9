/* The quadratic surface for starting solutions of plans: exact for quadratics, bounded outside its
 * design, and fewer Newton iterations. */
#include <math.h>
#include <string.h>

#include "invert/matching/fit.h"
#include "support.h"

/* A quadratic in d <= 4 variables with all terms. */
static double quadratic(size_t d, const double *y)
{
  double sum = 1.5;
  for (size_t i = 0; i < d; i++) {
    sum += (0.3 + (double)i) * y[i];
    for (size_t j = 0; j <= i; j++) sum += (0.7 - 0.2 * (double)(i + 2 * j)) * y[i] * y[j];
  }
  return sum;
}

static void test_exact_for_quadratics(void **state)
{
  (void)state;
  const double mode[4] = {0.5, -2, 100, 3};
  for (size_t d = 1; d <= 4; d++) {
    /* A covariance with scales up to a factor of 1,000 apart and correlations of 0.6. */
    double covariance[16];
    const double sd[4] = {0.1, 10, 0.01, 2};
    for (size_t i = 0; i < d; i++)
      for (size_t j = 0; j < d; j++) covariance[i * d + j] = sd[i] * sd[j] * (i == j ? 1 : 0.6);
    idm_surface *surface;
    check(idm_surface_create(d, mode, covariance, &surface, &support_error));
    assert_non_null(surface);
    assert_int_equal(idm_surface_points(surface), (d + 1) * (d + 2) / 2);
    for (size_t i = 0; i < d; i++) assert_near(idm_surface_point(surface, 0)[i], mode[i], 0);
    idm_random random;
    idm_random_init(&random, 3, d);
    for (int k = 0; k < 50; k++) {
      double y[4];
      double sum = 0;
      double weights = 0;
      for (size_t i = 0; i < d; i++) y[i] = mode[i] + 0.5 * sd[i] * idm_random_normal(&random);
      const double *weight = idm_surface_weights(surface, y);
      for (size_t n = 0; n < idm_surface_points(surface); n++) {
        sum += weight[n] * quadratic(d, idm_surface_point(surface, n));
        weights += weight[n];
      }
      assert_near(weights, 1, 1e-12);
      assert_near(sum, quadratic(d, y), 1e-9);
    }
    idm_surface_destroy(surface);
  }
}

/* Far outside, the weights are those of the nearest point of the design's box; they do not grow. */
static void test_bounded_outside(void **state)
{
  (void)state;
  const double mode[2] = {0, 0};
  const double covariance[4] = {1, 0, 0, 1};
  idm_surface *surface;
  check(idm_surface_create(2, mode, covariance, &surface, &support_error));
  const double far[2] = {1e9, -1e9};
  const double edge[2] = {4, -4};
  double there[6];
  memcpy(there, idm_surface_weights(surface, far), sizeof there);
  assert_memory_equal(there, idm_surface_weights(surface, edge), sizeof there);
  idm_surface_destroy(surface);
}

static void test_none_where_it_does_not_pay(void **state)
{
  (void)state;
  double mode[9] = {0};
  double covariance[81] = {0};
  idm_surface *surface;
  for (size_t i = 0; i < 9; i++) covariance[i * 10] = 1;
  check(idm_surface_create(9, mode, covariance, &surface, &support_error));
  assert_null(surface);
  const double flat[4] = {1, 1, 1, 1};
  check(idm_surface_create(2, mode, flat, &surface, &support_error));
  assert_null(surface);
  idm_surface_destroy(NULL);
}

/* Plans near the stored solutions that start from a combination of them need fewer iterations and
 * give the solution of a cold start; with IDM_START_LAST a workspace starts from its last solution
 * again. */
static void test_blend_saves_steps(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.5);
  idm_workspace *blended;
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &blended,
                             &support_error));
  const double at[3] = {1.25, 1.35, 1.15}; /* a quadratic in beta through three solutions */
  for (int i = 0; i < 3; i++) {
    idm_theta_set_scalar(problem->theta, IDM_BETA, at[i]);
    check(idm_plan(problem->theta, NULL, blended, NULL, &support_error));
    check(idm_workspace_store(blended, (size_t)i, &support_error));
  }
  const double u = 0.04 / 0.1;
  const double blend[3] = {1 - u * u, (u * u + u) / 2, (u * u - u) / 2};
  idm_theta_set_scalar(problem->theta, IDM_BETA, 1.29);
  idm_solver solver;
  idm_solver_default(&solver);
  idm_plan_report by_first;
  idm_plan_report by_blend;
  idm_plan_report cold;
  const double z[2] = {0.4, 0.6};
  solver.slots = 1;
  solver.weights = (const double[]){1};
  check(idm_plan(problem->theta, &solver, blended, &by_first, &support_error));
  solver.slots = 3;
  solver.weights = blend;
  check(idm_plan(problem->theta, &solver, blended, &by_blend, &support_error));
  const double value = idm_plan_value(blended, 0, z);
  solver.slots = IDM_START_COLD;
  check(idm_plan(problem->theta, &solver, blended, &cold, &support_error));
  assert_true(by_blend.iterations < by_first.iterations);
  assert_near(value, idm_plan_value(blended, 0, z), 1e-9);
  solver.slots = IDM_START_LAST;
  idm_plan_report again;
  check(idm_plan(problem->theta, &solver, blended, &again, &support_error));
  assert_int_equal(again.iterations, 0);
  idm_workspace_destroy(blended);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact_for_quadratics),
      cmocka_unit_test(test_bounded_outside),
      cmocka_unit_test(test_none_where_it_does_not_pay),
      cmocka_unit_test(test_blend_saves_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
