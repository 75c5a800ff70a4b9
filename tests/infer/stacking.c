/* Tests stacking weights against a grid, the optimality conditions, limits and bad input. */
#include <math.h>

#include "infer/comparison.h"
#include "support.h"

static idm_stacking stack(const double *elpd, size_t units, size_t models, double *weight)
{
  idm_stacking s = {0};
  check(idm_stacking_weights(elpd, units, models, weight, &s, &support_error));
  double sum = 0;
  for (size_t k = 0; k < models; k++) {
    assert_true(weight[k] >= 0);
    sum += weight[k];
  }
  assert_near(sum, 1, 1e-14);
  return s;
}

/* sum_i log sum_k w_k exp(elpd_ik), written out. */
static double objective_of(const double *elpd, size_t units, size_t models, const double *weight)
{
  double sum = 0;
  for (size_t i = 0; i < units; i++) {
    double mixture = 0;
    for (size_t k = 0; k < models; k++) mixture += weight[k] * exp(elpd[i * models + k]);
    sum += log(mixture);
  }
  return sum;
}

static void test_two_models(void **state)
{
  (void)state;
  double elpd[60], weight[2], best = -INFINITY;
  idm_random random;
  idm_random_init(&random, 1, 0);
  for (size_t i = 0; i < 60; i++) elpd[i] = -5 + idm_random_normal(&random);
  const idm_stacking s = stack(elpd, 30, 2, weight);
  for (double w = 0; w <= 1; w += 1e-4)
    best = fmax(best, objective_of(elpd, 30, 2, (const double[]){w, 1 - w}));
  assert_true(s.objective >= best && s.objective < best + 1e-6);
  assert_near(s.objective, objective_of(elpd, 30, 2, weight), 1e-13);
}

/* With g_k = mean_i p_ik / sum_j w_j p_ij: g_k <= 1, and 1 where the weight is positive. Numbers of
 * units and models, and spreads, vary. */
static void test_optimality(void **state)
{
  (void)state;
  static double elpd[2000 * 12];
  idm_random random;
  idm_random_init(&random, 2, 0);
  for (size_t round = 0; round < 60; round++) {
    const size_t models = 1 + round % 12, units = 1 + 7 * round * round % 2000;
    const double spread = pow(10, 3 * idm_random_uniform(&random) - 1);
    double weight[12];
    for (size_t i = 0; i < units * models; i++) elpd[i] = -20 + spread * idm_random_normal(&random);
    const idm_stacking s = stack(elpd, units, models, weight);
    assert_true(s.gap <= 1e-10);
    for (size_t k = 0; k < models; k++) {
      double gradient = 0;
      for (size_t i = 0; i < units; i++) {
        double mixture = 0;
        for (size_t j = 0; j < models; j++)
          mixture += weight[j] * exp(elpd[i * models + j] - elpd[i * models + k]);
        gradient += 1 / mixture / (double)units;
      }
      assert_true((double)units * (gradient - 1) <= 2e-10);
      assert_true(weight[k] * (1 - gradient) * (double)units <= 2e-10);
    }
  }
}

static void test_limits(void **state)
{
  (void)state;
  double weight[3];
  const double dominated[] = {-1, -2, -5, -1, -3, -9};
  stack(dominated, 2, 3, weight);
  assert_near(weight[0], 1, 1e-9);
  const double equal[] = {-1, -1, -1, -2, -2, -2};
  stack(equal, 2, 3, weight);
  for (size_t k = 0; k < 3; k++) assert_near(weight[k], 1 / 3.0, 1e-9);
  /* Each model excludes one of two units. */
  const double exclusive[] = {-1, -INFINITY, -INFINITY, -4};
  const idm_stacking s = stack(exclusive, 2, 2, weight);
  assert_near(weight[0], 0.5, 1e-9);
  assert_near(s.objective, -5 + 2 * log(0.5), 1e-9);
  const double far[] = {-1e6, -1e6 - 1, -2e6 - 1, -2e6};
  stack(far, 2, 2, weight);
  assert_near(weight[0], 0.5, 1e-9);
}

static void test_bad_input(void **state)
{
  (void)state;
  double weight[2];
  idm_stacking s;
  const double bad[][4] = {
      {-1, NAN, -1, -1}, {-1, INFINITY, -1, -1}, {-1, -1, -INFINITY, -INFINITY}};
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(idm_stacking_weights(bad[i], 2, 2, weight, &s, &support_error), IDM_INPUT);
  assert_int_equal(idm_stacking_weights(bad[0], 0, 2, weight, &s, &support_error), IDM_USAGE);
  assert_int_equal(idm_stacking_weights(bad[0], 2, 0, weight, &s, &support_error), IDM_USAGE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_models),
      cmocka_unit_test(test_optimality),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_bad_input),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
