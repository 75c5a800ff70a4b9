/* Tests branch-free elementary functions against the C library in long double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vector.h"

typedef double (*function)(double x);
typedef long double (*reference)(long double x);

static double vexp(double x)
{
  return idm_vexp(x);
}

/* The lane versions, evaluated in one lane. */
static double lane_exp(double x)
{
  idm_lane all = {1, -2, 3, x, 0.5, -6, 7, -8};
  idm_lane_exp(&all);
  return all[3];
}

static double lane_log(double x)
{
  idm_lane all = {1, 2, 3, x, 0.5, 6, 7, 8};
  idm_lane_log(&all);
  return all[3];
}

static double vexpm1(double x)
{
  return idm_vexpm1(x);
}

static double vlog(double x)
{
  return idm_vlog(x);
}

static double vlog1p(double x)
{
  return idm_vlog1p(x);
}

static double vatanh2(double x)
{
  return idm_vatanh2(x);
}

static long double atanh2l(long double x)
{
  return 2 * atanhl(x);
}

/* "About one unit in the last place" (2.2e-16). Three units allow for the sum of a product and a
 * series, and reject a wrong coefficient. */
static const double few_units = 3 * 2.220446049250313e-16;

/* `at` is volatile, so that both functions are evaluated at the same number. Otherwise fused
 * operations could round the expression for x once in one call and twice in the other. */
static void check_at(function f, reference g, volatile double at)
{
  const double x = at;
  const double found = f(x);
  const long double expected = g(x);
  const long double error = fabsl(found - expected);
  if (!(error <= few_units * fabsl(expected)))
    fail_msg("f(%.17g) = %.17g, expected %.21Lg: off by %.3Lg units of 2^-52", x, found, expected,
             error / fabsl(expected) * 0x1p52L);
}

/* Checks points spaced evenly over [low, high], both ends included. */
static void check_range(function f, reference g, double low, double high, int points)
{
  for (int i = 0; i < points; i++) {
    const double share = (double)i / (points - 1);
    check_at(f, g, low * (1 - share) + high * share);
  }
}

/* Checks points spaced evenly in magnitude over [low, high], with both signs if `both` is set. */
static void check_magnitudes(function f, reference g, double low, double high, int points, int both)
{
  for (int i = 0; i < points; i++) {
    double x = low * pow(high / low, (double)i / (points - 1));
    x = fmin(x, high);
    check_at(f, g, x);
    if (both) check_at(f, g, -x);
  }
}

static void test_exp(void **state)
{
  (void)state;
  const function both[] = {vexp, lane_exp};
  for (size_t i = 0; i < 2; i++) {
    check_range(both[i], expl, -690, 709, 200001);
    check_range(both[i], expl, -1, 1, 100001);
    check_magnitudes(both[i], expl, 1e-300, 1, 10001, 1);
    assert_true(both[i](0) == 1);
  }
  assert_true(idm_vexp(-0.0) == 1);
}

static void test_exp_has_a_floor(void **state)
{
  (void)state;
  /* Exactly 0, not a subnormal. */
  const double below[] = {-690.0001, -708.5, -745, -1e4, -1e300, -INFINITY};
  for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
    assert_true(idm_vexp(below[i]) == 0);
    assert_true(lane_exp(below[i]) == 0);
  }
  assert_true(idm_vexp(-690) > 1e-300);
}

static void test_expm1(void **state)
{
  (void)state;
  check_range(vexpm1, expm1l, -0.5, 0.5, 100001);
  check_magnitudes(vexpm1, expm1l, 1e-300, 0.5, 20001, 1);
  assert_true(idm_vexpm1(0.0) == 0);
}

static void test_log(void **state)
{
  (void)state;
  const function both[] = {vlog, lane_log};
  for (size_t i = 0; i < 2; i++) {
    check_magnitudes(both[i], logl, 2.3e-308, 1.7e308, 200001, 0);
    check_range(both[i], logl, 0.25, 4, 100001);
    assert_true(both[i](1) == 0);
  }
  /* Near 1 the logarithm is small, and its relative error must be small too. */
  for (int i = 1; i < 52; i++) {
    check_at(vlog, logl, 1 + ldexp(1, -i));
    check_at(vlog, logl, 1 - ldexp(1, -i));
  }
  assert_true(idm_vlog(1) == 0);
}

static void test_log_at_the_ends_of_the_reduced_range(void **state)
{
  (void)state;
  for (int n = -1000; n <= 1000; n += 50)
    for (uint64_t i = 0; i < 7; i++) {
      const double root_half = idm_from_bits(0x3fe6a09e667f3bcaULL + i);
      check_at(vlog, logl, ldexp(root_half, n));
    }
}

static void test_log1p(void **state)
{
  (void)state;
  check_range(vlog1p, log1pl, -0.4, 0.65, 100001);
  check_magnitudes(vlog1p, log1pl, 1e-300, 0.4, 20001, 1);
  assert_true(idm_vlog1p(0.0) == 0);
}

static void test_atanh2(void **state)
{
  (void)state;
  check_range(vatanh2, atanh2l, -0.25, 0.25, 100001);
  check_magnitudes(vatanh2, atanh2l, 1e-300, 0.25, 20001, 1);
  assert_true(idm_vatanh2(0.0) == 0);
}

static void test_inverses(void **state)
{
  (void)state;
  for (int i = -690; i <= 700; i++) {
    const double x = i + 0.37;
    assert_true(fabs(idm_vlog(idm_vexp(x)) - x) <= few_units * fmax(1, fabs(x)));
  }
  for (int i = -33; i <= 49; i++) {
    const double x = i / 100.0;
    assert_true(fabs(idm_vlog1p(idm_vexpm1(x)) - x) <= 2 * few_units * fabs(x));
  }
}

static void test_bits(void **state)
{
  (void)state;
  assert_true(idm_bits(1.0) == 0x3ff0000000000000ULL);
  assert_true(idm_from_bits(0xc000000000000000ULL) == -2.0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exp),
      cmocka_unit_test(test_exp_has_a_floor),
      cmocka_unit_test(test_expm1),
      cmocka_unit_test(test_log),
      cmocka_unit_test(test_log_at_the_ends_of_the_reduced_range),
      cmocka_unit_test(test_log1p),
      cmocka_unit_test(test_atanh2),
      cmocka_unit_test(test_inverses),
      cmocka_unit_test(test_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
