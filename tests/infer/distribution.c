/* Special functions against 40-digit values (mpmath), libm, and identities. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "infer/distribution.h"
#include "support.h"

static void test_normal_quantile(void **state)
{
  (void)state;
  static const double known[][2] = {
      {1e-300, -37.047096299361199}, {1e-20, -9.2623400897984076},
      {1e-10, -6.3613409024040562},  {0.001, -3.0902323061678135},
      {0.02, -2.053748910631823},    {0.05, -1.6448536269514727},
      {0.075, -1.4395314709384559},  {0.0751, -1.43882539275254},
      {0.3, -0.52440051270804082},   {0.4999, -0.00025066283008800749},
      {0.7, 0.52440051270804066},    {0.93, 1.4757910281791711},
      {0.975, 1.9599639845400539},   {0.999999, 4.7534243088170878}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const double found = idm_normal_quantile(known[i][0]);
    assert_true(fabs(found - known[i][1]) <= 2e-15 * fabs(known[i][1]));
  }
  for (double p = 1e-12; p < 0.5; p *= 1.01) {
    const double z = idm_normal_quantile(p);
    assert_true(fabs(0.5 * erfc(-z / sqrt(2)) / p - 1) < 1e-13);
    assert_true(fabs(idm_normal_quantile(1 - p) + idm_normal_quantile(1 - (1 - p))) < 1e-14 * -z);
  }
  assert_true(idm_normal_quantile(0.5) == 0);
  assert_true(idm_normal_quantile(0) == -INFINITY);
  assert_true(idm_normal_quantile(1) == INFINITY);
  assert_true(isnan(idm_normal_quantile(-0.1)) && isnan(idm_normal_quantile(NAN)));
}

static void test_chi_square_tail(void **state)
{
  (void)state;
  static const double known[][3] = {
      {0.001, 1, 0.97477287936996039},    {3.841458820694124, 1, 0.050000000000000057},
      {10, 1, 0.0015654022580025497},     {1, 2, 0.60653065971263342},
      {2.5, 3, 0.47529108334302059},      {30, 10, 0.00085664121077530039},
      {5, 10, 0.89117801891415124},       {11, 10, 0.35751800242792553},
      {120, 100, 0.08440668109369183},    {80, 100, 0.92966493334060505},
      {250, 100, 7.7669364035391771e-15}, {1050, 1000, 0.13247405682147708},
      {900, 1000, 0.98928276190871026},   {1e4, 1e4, 0.49811936596618264},
      {0.5, 0.1, 0.05229117982668134},    {700, 3, 2.0991308534204088e-151},
      {100500, 1e5, 0.13185481160338378}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_true(fabs(idm_chi_square_tail(known[i][0], known[i][1]) / known[i][2] - 1) < 1e-12);
}

/* One degree of freedom is a squared normal, two an exponential; two more degrees add a Poisson
 * term. */
static void test_chi_square_identities(void **state)
{
  (void)state;
  for (double x = 0.01; x < 200; x *= 1.3) {
    assert_near(idm_chi_square_tail(x, 1), erfc(sqrt(0.5 * x)), 1e-14);
    assert_near(idm_chi_square_tail(x, 2), exp(-0.5 * x), 1e-14);
    for (double degrees = 0.5; degrees < 60; degrees += 3.25) {
      const double a = 0.5 * degrees;
      const double term = exp(a * log(0.5 * x) - 0.5 * x - lgamma(a + 1));
      assert_near(idm_chi_square_tail(x, degrees) + term, idm_chi_square_tail(x, degrees + 2),
                  1e-13);
    }
  }
}

static void test_chi_square_ends(void **state)
{
  (void)state;
  assert_true(idm_chi_square_tail(0, 3) == 1);
  assert_true(idm_chi_square_tail(-1, 3) == 1);
  assert_true(idm_chi_square_tail(INFINITY, 3) == 0);
  assert_true(idm_chi_square_tail(1, 0) == 0);
  assert_true(isnan(idm_chi_square_tail(NAN, 3)));
  assert_true(isnan(idm_chi_square_tail(1, -1)));
  assert_true(isnan(idm_chi_square_tail(1, INFINITY)));
  assert_true(idm_chi_square_tail(1e6, 3) == 0);
}

static void test_inside(void **state)
{
  (void)state;
  assert_true(idm_clamp_interior(0, 1, 0.3) == 0.3);
  assert_true(idm_clamp_interior(0, 1, 1) == 1 - DBL_EPSILON / 2);
  assert_true(idm_clamp_interior(0, 1, -2) == DBL_MIN);
  assert_true(idm_clamp_interior(-3, 0, 5) == -DBL_MIN);
  assert_true(idm_clamp_interior(1, INFINITY, 1) == 1 + DBL_EPSILON);
  assert_true(idm_clamp_interior(1, INFINITY, INFINITY) == DBL_MAX);
  assert_true(idm_clamp_interior(-INFINITY, INFINITY, -INFINITY) == -DBL_MAX);
  assert_true(isnan(idm_clamp_interior(0, 1, NAN)));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_normal_quantile), cmocka_unit_test(test_inside),
      cmocka_unit_test(test_chi_square_tail), cmocka_unit_test(test_chi_square_identities),
      cmocka_unit_test(test_chi_square_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
