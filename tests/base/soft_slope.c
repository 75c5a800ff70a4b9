/* Tests derivatives of soft extrema against central differences and known limits, and the block
 * version against the scalar one. */
#include <math.h>
#include <string.h>

#include "base/soft.h"
#include "support.h"

enum { MOST = 4 };

static const double temperatures[] = {0.3, -0.3, 2, -2, 40, -40, 1e4, -1e4};

/* The value at 1/T + h, and at weights moved by h along the simplex. */
static double value_at(double temperature, double h, size_t count, const double *weight,
                       const double *x)
{
  const double inverse = (isinf(temperature) ? 0 : 1 / temperature) + h;
  return idm_soft(inverse == 0 ? INFINITY : 1 / inverse, count, weight, x, NULL);
}

static double value_along(double temperature, double h, size_t count, const double *weight,
                          const double *x, size_t i, size_t j)
{
  double moved[MOST];
  memcpy(moved, weight, count * sizeof *moved);
  moved[i] += h;
  moved[j] -= h;
  return idm_soft(temperature, count, moved, x, NULL);
}

static void slopes_are_derivatives(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 1, 1);
  for (int round = 0; round < 200; round++) {
    double weight[MOST], x[MOST], p[MOST], weights[MOST], inverse;
    const size_t count = 2 + (size_t)round % 3;
    const double temperature = round % 10 < 8    ? temperatures[round % 8]
                               : round % 10 == 8 ? INFINITY
                                                 : -INFINITY;
    support_distribution(&random, weight, count);
    for (size_t j = 0; j < count; j++) x[j] = 6 * idm_random_uniform(&random) - 3;
    const double value = idm_soft(temperature, count, weight, x, p);
    idm_soft_derivative(temperature, count, weight, x, value, p, &inverse, weights);
    const double h = 1e-4;
    assert_near(
        inverse,
        (value_at(temperature, h, count, weight, x) - value_at(temperature, -h, count, weight, x)) /
            (2 * h),
        1e-5);
    for (size_t i = 1; i < count; i++) {
      const double step = 1e-4 * fmin(weight[i], weight[0]);
      const double along = (value_along(temperature, step, count, weight, x, i, 0) -
                            value_along(temperature, -step, count, weight, x, i, 0)) /
                           (2 * step);
      assert_near(weights[i] - weights[0], along, 1e-5);
    }
  }
}

static void limits_are_limits(void **state)
{
  (void)state;
  const double weight[3] = {0.2, 0.5, 0.3}, x[3] = {1, -2, 4};
  const double mean = 0.2 - 1 + 1.2, half_variance = (0.2 + 2 + 4.8 - mean * mean) / 2;
  double p[3], weights[3], inverse;
  const double large[] = {INFINITY, -INFINITY, 1e9, -1e12};
  for (size_t i = 0; i < 4; i++) {
    const double value = idm_soft(large[i], 3, weight, x, p);
    idm_soft_derivative(large[i], 3, weight, x, value, p, &inverse, weights);
    assert_near(inverse, half_variance, 1e-7);
    for (size_t j = 0; j < 3; j++) assert_near(weights[j], x[j] - mean, 1e-7);
  }
  for (int sign = -1; sign <= 1; sign += 2) {
    const double value = idm_soft(copysign(0.0, sign), 3, weight, x, p);
    idm_soft_derivative(copysign(0.0, sign), 3, weight, x, value, p, &inverse, weights);
    assert_true(inverse == 0 && weights[0] == 0 && weights[1] == 0 && weights[2] == 0);
  }
  /* An alternative of weight 0 has derivative 0. */
  const double without[3] = {0.4, 0, 0.6};
  const double value = idm_soft(0.001, 3, without, x, p);
  idm_soft_derivative(0.001, 3, without, x, value, p, &inverse, weights);
  assert_true(weights[1] == 0 && isfinite(inverse));
  /* The derivative is T^2 KL, outside the range of the series. */
  const double soft = idm_soft(0.5, 3, weight, x, p);
  idm_soft_derivative(0.5, 3, weight, x, soft, p, &inverse, weights);
  assert_near(inverse, 0.25 * idm_soft_divergence(0.5, 3, weight, x), 1e-14);
}

static void lanes_are_single_problems(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 2, 1);
  const double some[] = {0.0, -0.0, INFINITY, -INFINITY, 0.3, -0.3, 3, -3, 1e-8, 1e6};
  for (size_t round = 0; round < 40; round++) {
    const double temperature = some[round % 10];
    double weight[MOST], x[MOST * IDM_LANES], p[MOST * IDM_LANES], weights[MOST * IDM_LANES];
    double value[IDM_LANES], inverse[IDM_LANES];
    support_distribution(&random, weight, MOST);
    if (round % 3 == 0) weight[2] = 0;
    for (size_t i = 0; i < (size_t)MOST * IDM_LANES; i++) x[i] = 4 * idm_random_uniform(&random);
    idm_soft_block(temperature, MOST, weight, x, value, p);
    idm_soft_derivative_block(temperature, MOST, weight, x, value, p, inverse, weights);
    for (size_t l = 0; l < IDM_LANES; l++) {
      double one[MOST], one_p[MOST], one_weights[MOST], one_inverse;
      for (size_t j = 0; j < MOST; j++) {
        one[j] = x[j * IDM_LANES + l];
        one_p[j] = p[j * IDM_LANES + l];
      }
      idm_soft_derivative(temperature, MOST, weight, one, value[l], one_p, &one_inverse,
                          one_weights);
      assert_near(inverse[l], one_inverse, 1e-13);
      for (size_t j = 0; j < MOST; j++)
        assert_near(weights[j * IDM_LANES + l], one_weights[j], 1e-13);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slopes_are_derivatives),
      cmocka_unit_test(limits_are_limits),
      cmocka_unit_test(lanes_are_single_problems),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
