/* Tests leave-one-out by importance sampling against hand computations and an exact posterior, and
 * its bad input. Weights, k and elpd of ArviZ are compared in tests/comparison.py. */
#include <math.h>

#include "infer/approximation.h"
#include "infer/comparison.h"
#include "support.h"

enum { DRAWS = 4000 };

static idm_left_out leave_out(const double *log_likelihood, size_t draws)
{
  idm_left_out one = {99, 99};
  check(idm_leave_one_out(log_likelihood, draws, 1, 1, &one, &support_error));
  return one;
}

/* Of few draws nothing is smoothed: elpd is the log of the harmonic mean of the likelihoods. */
static void test_few_draws(void **state)
{
  (void)state;
  const double two[] = {log(0.5), log(0.25)};
  assert_near(leave_out(two, 2).elpd, log(1 / 3.0), 1e-15);
  assert_true(leave_out(two, 2).shape == INFINITY);
  assert_near(leave_out(two, 1).elpd, log(0.5), 1e-15);
  assert_true(leave_out(two, 1).shape == INFINITY);
}

static void test_constant_ratios(void **state)
{
  (void)state;
  double x[100], weight[100], shape;
  for (size_t i = 0; i < 100; i++) x[i] = -7;
  assert_near(leave_out(x, 100).elpd, -7, 1e-15);
  assert_true(leave_out(x, 100).shape == -INFINITY);
  check(idm_psis(x, 100, 20, weight, &shape, &support_error));
  for (size_t i = 0; i < 100; i++) assert_near(weight[i], -log(100), 1e-14);
}

static void test_infinite_ratios(void **state)
{
  (void)state;
  double x[100], weight[100], shape;
  for (size_t i = 0; i < 100; i++) x[i] = -(double)i;
  x[3] = x[5] = -INFINITY;
  assert_true(leave_out(x, 100).elpd == -INFINITY);
  assert_true(leave_out(x, 100).shape == INFINITY);
  x[3] = x[5] = INFINITY;
  check(idm_psis(x, 100, 20, weight, &shape, &support_error));
  assert_true(shape == INFINITY);
  for (size_t i = 0; i < 100; i++) {
    if (i == 3 || i == 5)
      assert_near(weight[i], -log(2), 1e-15);
    else
      assert_true(weight[i] == -INFINITY);
  }
}

static void test_bad_input(void **state)
{
  (void)state;
  double x[] = {-1, NAN, -2}, shape;
  idm_left_out one;
  assert_int_equal(idm_leave_one_out(x, 0, 1, 1, &one, &support_error), IDM_USAGE);
  assert_int_equal(idm_leave_one_out(x, 3, 1, 1, &one, &support_error), IDM_INPUT);
  x[1] = INFINITY;
  assert_int_equal(idm_leave_one_out(x, 3, 1, 1, &one, &support_error), IDM_INPUT);
  x[0] = x[1] = x[2] = -INFINITY;
  assert_int_equal(idm_psis(x, 3, 0, x, &shape, &support_error), IDM_INPUT);
  assert_int_equal(idm_psis(x, 0, 0, x, &shape, &support_error), IDM_USAGE);
  x[1] = NAN;
  assert_int_equal(idm_psis(x, 3, 0, x, &shape, &support_error), IDM_INPUT);
}

/* Weights do not depend on a constant factor of the ratios or on their order, except by rounding.
 */
static void test_invariance(void **state)
{
  (void)state;
  double x[500], turned[500], weight[500], other[500], shape, same, sum = 0;
  idm_random random;
  idm_random_init(&random, 2, 0);
  for (size_t i = 0; i < 500; i++) {
    x[i] = 2 * idm_random_normal(&random);
    turned[499 - i] = x[i] + 1000;
  }
  check(idm_psis(x, 500, 60, weight, &shape, &support_error));
  check(idm_psis(turned, 500, 60, other, &same, &support_error));
  assert_near(shape, same, 1e-9);
  for (size_t i = 0; i < 500; i++) {
    assert_near(weight[i], other[499 - i], 1e-9);
    sum += exp(weight[i]);
  }
  assert_near(sum, 1, 1e-14);
}

/* No weight exceeds that of the largest ratio, relative to the smallest, which is not smoothed. In
 * tails of shape 1, expected order statistics often do. */
static void test_truncation(void **state)
{
  (void)state;
  idm_random random;
  int truncated = 0;
  idm_random_init(&random, 8, 0);
  for (int round = 0; round < 20; round++) {
    double x[300], weight[300], shape, largest = 0, lightest = INFINITY, heaviest = -INFINITY;
    for (size_t i = 0; i < 300; i++) {
      x[i] = i ? -log(idm_random_uniform(&random)) : 0;
      largest = fmax(largest, x[i]);
    }
    check(idm_psis(x, 300, 50, weight, &shape, &support_error));
    for (size_t i = 0; i < 300; i++) {
      lightest = fmin(lightest, weight[i]);
      heaviest = fmax(heaviest, weight[i]);
    }
    assert_true(heaviest - lightest <= largest + 1e-12);
    truncated += heaviest - lightest >= largest - 1e-12;
  }
  assert_true(truncated > 3 && truncated < 17);
}

/* The mean of normal observations with sd 1 under a flat prior: without observation i it is normal
 * with the mean of the others and variance 1 / (n - 1). */
static void test_exact_posterior(void **state)
{
  (void)state;
  const double y[] = {-1.2, 0.3, 0.5, 1.9, -0.4, 0.8, 0.1, -0.6};
  enum { UNITS = sizeof y / sizeof *y };
  static double ll[DRAWS * UNITS];
  idm_random random;
  double total = 0;
  for (size_t i = 0; i < UNITS; i++) total += y[i];
  idm_random_init(&random, 3, 0);
  for (size_t s = 0; s < DRAWS; s++) {
    const double mean = total / UNITS + idm_random_normal(&random) / sqrt(UNITS);
    for (size_t i = 0; i < UNITS; i++)
      ll[s * UNITS + i] = -0.5 * (y[i] - mean) * (y[i] - mean) - idm_half_log_two_pi;
  }
  for (size_t i = 0; i < UNITS; i++) {
    const double variance = 1 + 1.0 / (UNITS - 1);
    const double off = y[i] - (total - y[i]) / (UNITS - 1);
    idm_left_out one;
    check(idm_leave_one_out(ll + i, DRAWS, UNITS, 1, &one, &support_error));
    assert_true(one.shape < idm_good_shape(DRAWS));
    /* the standard errors are below 0.01 */
    assert_near(one.elpd, -0.5 * off * off / variance - 0.5 * log(variance) - idm_half_log_two_pi,
                0.02);
  }
}

static void test_good_shape(void **state)
{
  (void)state;
  assert_near(idm_good_shape(100), 0.5, 1e-15);
  assert_near(idm_good_shape(1000), 2 / 3.0, 1e-15);
  assert_true(idm_good_shape(100000) == 0.7);
  assert_true(idm_good_shape(1) == 0.7 && idm_good_shape(0) == 0.7);
}

static void test_efficiency(void **state)
{
  (void)state;
  double x[2][4][250], share = 0;
  idm_random random;
  idm_random_init(&random, 4, 0);
  for (size_t c = 0; c < 4; c++)
    for (size_t i = 0; i < 250; i++) {
      x[0][c][i] = idm_random_normal(&random);
      x[1][c][i] = i ? 0.8 * x[1][c][i - 1] + idm_random_normal(&random) : 0;
    }
  check(idm_relative_efficiency(&x[0][0][0], 1, 4, 250, &share, &support_error));
  assert_true(fabs(share - 1) < 0.25);
  const double independent = share;
  /* (1 - 0.8) / (1 + 0.8) of the draws of an autoregression are effective */
  check(idm_relative_efficiency(&x[0][0][0], 2, 4, 250, &share, &support_error));
  assert_true(fabs(2 * share - independent - 1 / 9.0) < 0.08);
  x[1][2][7] = INFINITY;
  check(idm_relative_efficiency(&x[0][0][0], 2, 4, 250, &share, &support_error));
  assert_true(share == independent);
  check(idm_relative_efficiency(&x[1][0][0], 1, 4, 250, &share, &support_error));
  assert_true(share == 1);
  check(idm_relative_efficiency(&x[0][0][0], 1, 1, 1000, &share, &support_error));
  assert_true(share == 1);
  check(idm_relative_efficiency(&x[0][0][0], 0, 4, 250, &share, &support_error));
  assert_true(share == 1);
}

static idm_elpd_difference compare(const double *a, const double *b, size_t units)
{
  idm_elpd_difference d;
  check(idm_elpd_compare(a, b, units, &d, &support_error));
  assert_true((d.reason != NULL) == (isnan(d.elpd) || isnan(d.se) || isnan(d.better)));
  return d;
}

static void test_differences(void **state)
{
  (void)state;
  const double a[] = {-1, -2, -3, -4}, b[] = {-2, -2, -5, -5};
  idm_elpd_difference d = compare(a, b, 4);
  assert_near(d.elpd, 4, 1e-15);
  assert_near(d.se, sqrt(4 * (2 / 3.0)), 1e-15);
  assert_near(d.better, 0.5 * erfc(-4 / sqrt(8 / 3.0) / sqrt(2)), 1e-15);
  assert_true(d.units == 4 && d.few && !d.close);
  d = compare(b, a, 4);
  assert_near(d.elpd, -4, 1e-15);
  assert_true(d.better < 0.01);
  d = compare(a, a, 4);
  assert_true(d.elpd == 0 && d.se == 0 && d.better == 0.5 && d.close);
  d = compare(a, b, 1);
  assert_true(d.elpd == 1 && isnan(d.se) && isnan(d.better));
  const double shifted[] = {-0.5, -1.5, -2.5, -3.5};
  assert_true(compare(shifted, a, 4).better == 1 && compare(a, shifted, 4).better == 0);
}

static void test_impossible_units(void **state)
{
  (void)state;
  const double a[] = {-1, -INFINITY, -2, -3}, b[] = {-INFINITY, -INFINITY, -2, -4};
  const double c[] = {-1, -INFINITY, -INFINITY, -3};
  idm_elpd_difference d = compare(a, b, 4);
  assert_true(d.elpd == INFINITY && d.better == 1 && d.units == 3);
  d = compare(b, a, 4);
  assert_true(d.elpd == -INFINITY && d.better == 0);
  assert_true(isnan(compare(b, c, 4).elpd));
  d = compare(a + 1, b + 1, 3);
  assert_true(d.elpd == 1 && d.units == 2 && d.close);
  idm_elpd total;
  check(idm_elpd_total(a, 4, &total, &support_error));
  assert_true(total.elpd == -INFINITY && isnan(total.se) && total.reason);
  check(idm_elpd_total(a, 1, &total, &support_error));
  assert_true(total.elpd == -1 && isnan(total.se) && total.reason);
  check(idm_elpd_total(a + 2, 2, &total, &support_error));
  assert_near(total.se, 1, 1e-15);
  assert_true(total.elpd == -5 && !total.reason);
  const double bad[] = {-1, NAN};
  assert_int_equal(idm_elpd_total(bad, 2, &total, &support_error), IDM_INPUT);
  assert_int_equal(idm_elpd_total(bad, 0, &total, &support_error), IDM_USAGE);
  assert_int_equal(idm_elpd_compare(a, bad, 2, &d, &support_error), IDM_INPUT);
  assert_int_equal(idm_elpd_compare(a, b, 0, &d, &support_error), IDM_USAGE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_few_draws),        cmocka_unit_test(test_constant_ratios),
      cmocka_unit_test(test_infinite_ratios),  cmocka_unit_test(test_bad_input),
      cmocka_unit_test(test_invariance),       cmocka_unit_test(test_truncation),
      cmocka_unit_test(test_exact_posterior),  cmocka_unit_test(test_good_shape),
      cmocka_unit_test(test_efficiency),       cmocka_unit_test(test_differences),
      cmocka_unit_test(test_impossible_units),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
