/* Tests log-gamma and its derivative against values computed to 40 digits (mpmath) and against the
 * C library. */
#include "base/statistics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support.h"

static void test_log_gamma(void **state)
{
  (void)state;
  static const double known[][2] = {{1e-10, 23.025850929882735},     {0.001, 6.9071788853838537},
                                    {0.3, 1.0957979948180756},       {0.5, 0.57236494292470009},
                                    {0.999, 0.00057803853289138024}, {1, 0.0},
                                    {1.5, -0.12078223763524522},     {2, 0.0},
                                    {3.7, 1.4280723266653881},       {9.99, 12.779315214350193},
                                    {10, 12.80182748008147},         {25.5, 56.389167643719947},
                                    {171, 706.57306224578735},       {1e4, 82099.717496442377},
                                    {1e9, 19723265827.503717}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_near(idm_log_gamma(known[i][0]), known[i][1], 2e-14);
  for (double x = 1e-3; x < 1e6; x *= 1.01) assert_near(idm_log_gamma(x), lgamma(x), 2e-14);
  assert_true(idm_log_gamma(INFINITY) == INFINITY);
  assert_true(idm_log_gamma(0) == INFINITY);
}

static void test_digamma(void **state)
{
  (void)state;
  static const double known[][2] = {{0.25, -4.2274535333762654}, {0.5, -1.9635100260214235},
                                    {1, -0.57721566490153286},   {2, 0.42278433509846714},
                                    {10, 2.2517525890667211},    {100, 4.6001618527380874}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    assert_near(idm_digamma(known[i][0]), known[i][1], 2e-14);
  for (double x = 1e-3; x < 1e4; x *= 1.3) {
    const double h = 1e-5 * x;
    assert_near(idm_digamma(x), (lgamma(x + h) - lgamma(x - h)) / (2 * h), 1e-6 * fmax(1, 1 / x));
    assert_near(idm_digamma(x + 1), idm_digamma(x) + 1 / x, 1e-12 * fmax(1, 1 / x));
  }
}

static void test_trigamma(void **state)
{
  (void)state;
  const double square = 9.86960440108935861883;
  static const double known[][2] = {{10, 0.10516633568168574612}, {100, 0.010050166663333571395}};
  assert_near(idm_trigamma(1), square / 6, 2e-15);
  assert_near(idm_trigamma(0.5), square / 2, 2e-15);
  for (size_t i = 0; i < 2; i++) assert_near(idm_trigamma(known[i][0]), known[i][1], 2e-15);
  for (double x = 1e-3; x < 1e4; x *= 1.3) {
    const double h = 1e-4 * x;
    const double difference = (idm_digamma(x + h) - idm_digamma(x - h)) / (2 * h);
    assert_true(fabs(idm_trigamma(x) - difference) < 1e-6 * idm_trigamma(x));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_log_gamma),
                                     cmocka_unit_test(test_digamma),
                                     cmocka_unit_test(test_trigamma)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
