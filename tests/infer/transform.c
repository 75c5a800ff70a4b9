/* Transforms of coordinates: round trips, derivatives and Jacobians by finite differences, and
 * extreme arguments. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/dense.h"
#include "idm/extension/random.h"
#include "infer/distribution.h"
#include "support.h"

/* --- scales --------------------------------------------------------------------------------- */

static void test_scales(void **state)
{
  (void)state;
  assert_true(idm_scale_transform(IDM_SCALE_IDENTITY, -3.5) == -3.5);
  assert_near(idm_scale_transform(IDM_SCALE_LOG, 10), 2.302585092994046, 1e-15);
  assert_near(idm_scale_transform(IDM_SCALE_INVERSE, -4), -0.25, 1e-15);
  assert_near(idm_scale_transform(IDM_SCALE_SIGNED_LOG, 10), 2.3978952727983707, 1e-15);
  assert_near(idm_scale_transform(IDM_SCALE_SIGNED_LOG, -10), -2.3978952727983707, 1e-15);
  static const double values[] = {1e-12, 0.3, 1, 2.5, 1e9};
  for (int scale = 0; scale <= IDM_SCALE_SIGNED_LOG; scale++)
    for (size_t i = 0; i < 5; i++)
      for (int sign = scale == IDM_SCALE_LOG ? 1 : -1; sign <= 1; sign += 2) {
        const double v = sign * values[i];
        const double back =
            idm_scale_inverse((idm_scale)scale, idm_scale_transform((idm_scale)scale, v));
        assert_true(fabs(back / v - 1) < 1e-14);
      }
}

/* Fractions keep their precision at both ends, as far as doubles near 1 allow. */
static void test_logit(void **state)
{
  (void)state;
  assert_near(idm_scale_transform(IDM_SCALE_LOGIT, 0.75), log(3), 1e-15);
  assert_near(idm_scale_inverse(IDM_SCALE_LOGIT, -log(3)), 0.25, 1e-15);
  assert_near(idm_scale_inverse(IDM_SCALE_LOGIT, -700) / exp(-700), 1, 1e-14);
  assert_true(idm_scale_inverse(IDM_SCALE_LOGIT, 800) == 1 &&
              idm_scale_inverse(IDM_SCALE_LOGIT, -800) == 0);
  assert_true(idm_scale_transform(IDM_SCALE_LOGIT, 0) == -INFINITY);
  assert_true(idm_scale_transform(IDM_SCALE_LOGIT, 1) == INFINITY);
  static const double values[] = {1e-300, 1e-12, 0.3, 0.5, 0.9, 0.999999};
  for (size_t i = 0; i < 6; i++) {
    const double back =
        idm_scale_inverse(IDM_SCALE_LOGIT, idm_scale_transform(IDM_SCALE_LOGIT, values[i]));
    assert_true(fabs(back / values[i] - 1) < 1e-12);
  }
}

/* Infinite values have a coordinate that keeps their sign. */
static void test_scales_at_the_ends(void **state)
{
  (void)state;
  const double plus = idm_scale_transform(IDM_SCALE_INVERSE, INFINITY);
  const double minus = idm_scale_transform(IDM_SCALE_INVERSE, -INFINITY);
  assert_true(plus == 0 && !signbit(plus));
  assert_true(minus == 0 && signbit(minus));
  assert_true(idm_scale_inverse(IDM_SCALE_INVERSE, plus) == INFINITY);
  assert_true(idm_scale_inverse(IDM_SCALE_INVERSE, minus) == -INFINITY);
  assert_true(idm_scale_transform(IDM_SCALE_LOG, 0) == -INFINITY);
  assert_true(idm_scale_inverse(IDM_SCALE_LOG, -INFINITY) == 0);
  assert_true(isnan(idm_scale_transform(IDM_SCALE_LOG, -1)));
  assert_true(signbit(idm_scale_transform(IDM_SCALE_SIGNED_LOG, -0.0)));
}

/* --- intervals ------------------------------------------------------------------------------ */

static const double intervals[][2] = {{-INFINITY, INFINITY}, {0, INFINITY}, {-2, INFINITY},
                                      {-INFINITY, 3},        {0, 1},        {-5, 2}};
enum { INTERVALS = sizeof intervals / sizeof *intervals };

static void test_intervals_there_and_back(void **state)
{
  (void)state;
  for (size_t i = 0; i < INTERVALS; i++)
    for (double y = -6; y <= 6; y += 0.37) {
      const double lower = intervals[i][0], upper = intervals[i][1];
      const double c = idm_constrain(lower, upper, y, NULL, NULL, NULL);
      assert_true(c > lower && c < upper);
      assert_near(idm_unconstrain(lower, upper, c), y, 1e-12);
    }
  assert_near(idm_constrain(-5, 2, 0, NULL, NULL, NULL), -1.5, 1e-15);
  assert_near(idm_constrain(0, 1, 2, NULL, NULL, NULL), 1 / (1 + exp(-2)), 1e-15);
  assert_near(idm_constrain(-2, INFINITY, 1, NULL, NULL, NULL), -2 + exp(1), 1e-15);
  assert_near(idm_constrain(-INFINITY, 3, 1, NULL, NULL, NULL), 3 - exp(-1), 1e-15);
}

static void test_interval_slopes(void **state)
{
  (void)state;
  const double h = 1e-5;
  for (size_t i = 0; i < INTERVALS; i++)
    for (double y = -5; y <= 5; y += 0.31) {
      const double lower = intervals[i][0], upper = intervals[i][1];
      double slope, log_slope, second, before, after;
      idm_constrain(lower, upper, y, &slope, &log_slope, &second);
      const double low = idm_constrain(lower, upper, y - h, NULL, &before, NULL);
      const double high = idm_constrain(lower, upper, y + h, NULL, &after, NULL);
      assert_true(slope > 0); /* intervals, limits and regions assume that c increases with y */
      assert_near(slope, (high - low) / (2 * h), 1e-7);
      assert_near(log_slope, log(slope), 1e-13);
      assert_near(second, (after - before) / (2 * h), 1e-7);
    }
}

/* Extreme arguments give finite results inside the interval, unless overflow is unavoidable. */
static void test_intervals_far_out(void **state)
{
  (void)state;
  for (size_t i = 0; i < INTERVALS; i++)
    for (int sign = -1; sign <= 1; sign += 2) {
      const double lower = intervals[i][0], upper = intervals[i][1];
      double slope, log_slope, second;
      const double c = idm_constrain(lower, upper, 700 * sign, &slope, &log_slope, &second);
      assert_true(isfinite(c) && c > lower && c < upper);
      assert_true(isfinite(slope) && slope != 0);
      assert_near(log_slope, log(fabs(slope)), 1e-12);
      assert_true(isfinite(second));
    }
  double log_slope;
  idm_constrain(0, 1, 5000, NULL, &log_slope, NULL);
  assert_near(log_slope, -5000, 1e-14);
  assert_true(idm_constrain(0, INFINITY, -5000, NULL, NULL, NULL) > 0);
  assert_true(fabs(idm_constrain(0, 1, -700, NULL, NULL, NULL) / exp(-700) - 1) < 1e-12);
  /* The distance to the upper end keeps its precision if the end is 0. */
  assert_true(fabs(idm_constrain(-1, 0, 50, NULL, NULL, NULL) / -exp(-50) - 1) < 1e-12);
}

/* --- distributions -------------------------------------------------------------------------- */

enum { MOST = 8 };

static void fill_normal(double *x, size_t count, double sd, idm_random *random)
{
  for (size_t i = 0; i < count; i++) x[i] = sd * idm_random_normal(random);
}

static void test_simplex_there_and_back(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 21, 0);
  for (size_t count = 1; count <= MOST; count++)
    for (int n = 0; n < 50; n++) {
      double y[MOST], back[MOST], p[MOST], total = 0;
      fill_normal(y, count - 1, 3, &random);
      idm_simplex_constrain(count, y, p);
      idm_simplex_unconstrain(count, p, back);
      for (size_t i = 0; i < count; i++) {
        assert_true(p[i] > 0);
        total += p[i];
      }
      assert_near(total, 1, 1e-14);
      for (size_t i = 0; i + 1 < count; i++) assert_near(back[i], y[i], 1e-11);
    }
}

static void test_simplex_centre(void **state)
{
  (void)state;
  const double zero[MOST] = {0};
  double p[MOST];
  for (size_t count = 1; count <= MOST; count++) {
    idm_simplex_constrain(count, zero, p);
    for (size_t i = 0; i < count; i++) assert_near(p[i], 1 / (double)count, 1e-15);
  }
  /* With two outcomes the transform is the logistic function. */
  const double y = 1.3;
  const double log_jacobian = idm_simplex_constrain(2, &y, p);
  double log_slope;
  assert_near(p[0], idm_constrain(0, 1, y, NULL, &log_slope, NULL), 1e-15);
  assert_near(log_jacobian, log_slope, 1e-14);
}

/* The Jacobian against the determinant of finite differences: J'J is positive definite. */
static void test_simplex_jacobian(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 22, 0);
  const double h = 1e-5;
  for (size_t count = 2; count <= 5; count++) {
    double y[MOST], p[MOST], low[MOST], high[MOST], jacobian[MOST][MOST], square[MOST * MOST];
    const size_t n = count - 1;
    fill_normal(y, n, 1, &random);
    const double log_jacobian = idm_simplex_constrain(count, y, p);
    for (size_t k = 0; k < n; k++) {
      const double at = y[k];
      y[k] = at - h;
      idm_simplex_constrain(count, y, low);
      y[k] = at + h;
      idm_simplex_constrain(count, y, high);
      y[k] = at;
      for (size_t j = 0; j < n; j++) jacobian[k][j] = (high[j] - low[j]) / (2 * h);
    }
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < n; j++) {
        square[i * n + j] = 0;
        for (size_t k = 0; k < n; k++) square[i * n + j] += jacobian[i][k] * jacobian[j][k];
      }
    assert_true(idm_cholesky(n, square));
    double log_determinant = 0;
    for (size_t i = 0; i < n; i++) log_determinant += log(square[i * n + i]);
    assert_near(log_jacobian, log_determinant, 1e-6);
  }
}

/* A test function: f(p) = sum_i w_i sin(3 p_i) + p_0 p_last. */
static double function(size_t count, const double *weight, const double *p, double *opt_derivative)
{
  double sum = p[0] * p[count - 1];
  for (size_t i = 0; i < count; i++) {
    sum += weight[i] * sin(3 * p[i]);
    if (opt_derivative) opt_derivative[i] = 3 * weight[i] * cos(3 * p[i]);
  }
  if (opt_derivative) {
    opt_derivative[0] += p[count - 1];
    opt_derivative[count - 1] += p[0];
  }
  return sum;
}

static double pulled(size_t count, const double *weight, const double *y)
{
  double p[MOST];
  const double log_jacobian = idm_simplex_constrain(count, y, p);
  return function(count, weight, p, NULL) + log_jacobian;
}

static void test_simplex_pull(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 23, 0);
  const double h = 1e-5;
  for (size_t count = 2; count <= MOST; count++)
    for (int n = 0; n < 20; n++) {
      double y[MOST], p[MOST], weight[MOST], slope_p[MOST], slope[MOST];
      fill_normal(y, count - 1, 2, &random);
      fill_normal(weight, count, 1, &random);
      idm_simplex_constrain(count, y, p);
      function(count, weight, p, slope_p);
      idm_simplex_backward(count, y, slope_p, slope);
      for (size_t k = 0; k + 1 < count; k++) {
        const double at = y[k];
        y[k] = at + h;
        const double high = pulled(count, weight, y);
        y[k] = at - h;
        const double low = pulled(count, weight, y);
        y[k] = at;
        assert_near(slope[k], (high - low) / (2 * h), 1e-7);
      }
    }
}

static void test_simplex_far_out(void **state)
{
  (void)state;
  const double slope_p[3] = {1, 2, 3};
  for (int a = -1; a <= 1; a += 2)
    for (int b = -1; b <= 1; b += 2) {
      const double y[2] = {700.0 * a, 700.0 * b};
      double p[3], slope[2];
      const double log_jacobian = idm_simplex_constrain(3, y, p);
      assert_true(isfinite(log_jacobian) && log_jacobian < -1300);
      assert_near(p[0] + p[1] + p[2], 1, 1e-15);
      idm_simplex_backward(3, y, slope_p, slope);
      assert_true(isfinite(slope[0]) && isfinite(slope[1]));
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scales),
      cmocka_unit_test(test_logit),
      cmocka_unit_test(test_scales_at_the_ends),
      cmocka_unit_test(test_intervals_there_and_back),
      cmocka_unit_test(test_interval_slopes),
      cmocka_unit_test(test_intervals_far_out),
      cmocka_unit_test(test_simplex_there_and_back),
      cmocka_unit_test(test_simplex_centre),
      cmocka_unit_test(test_simplex_jacobian),
      cmocka_unit_test(test_simplex_pull),
      cmocka_unit_test(test_simplex_far_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
