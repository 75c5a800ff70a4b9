/* Effects with a common spread: closed forms of the integral, and draws against it. */
#include "invert/audit/spread.h"

#include <math.h>

#include "support.h"

/* With two effects the integral is proportional to exp(-|e| / scale) / |e| (the Bessel function of
 * order 1/2), with four to (1 + scale / |e|) exp(-|e| / scale) / |e|^2 (order 3/2). */
static void test_closed_forms(void **state)
{
  (void)state;
  static const double scales[] = {0.2, 1, 3};
  for (size_t s = 0; s < 3; s++) {
    const double scale = scales[s];
    double constant[2] = {NAN, NAN};
    for (double e = 1e-4; e < 20; e *= 3) {
      const double expected[] = {-e / scale - log(e), log1p(scale / e) - e / scale - 2 * log(e)};
      for (size_t k = 0; k < 2; k++) {
        const double found = idm_spread_log_prior(e * e, 2 + 2 * k, scale);
        if (isnan(constant[k])) constant[k] = found - expected[k];
        assert_near(found, expected[k] + constant[k], 1e-8);
      }
    }
  }
  assert_true(idm_spread_log_prior(0, 2, 1) == -INFINITY);
  assert_true(idm_spread_log_prior(INFINITY, 2, 1) == -INFINITY);
}

/* E[1 / tau^2] given effects: minus twice the derivative of the log integral by the squares. */
static void test_draws(void **state)
{
  (void)state;
  enum { DRAWS = 40000 };
  static const double squares[] = {0.01, 1, 9};
  idm_random random;
  idm_random_init(&random, 3, 1);
  for (size_t s = 0; s < 3; s++) {
    const double h = 1e-4 * squares[s];
    const double expected = -2 *
                            (idm_spread_log_prior(squares[s] + h, 3, 1.5) -
                             idm_spread_log_prior(squares[s] - h, 3, 1.5)) /
                            (2 * h);
    double sum = 0, sum_of_squares = 0;
    for (size_t i = 0; i < DRAWS; i++) {
      const double tau = idm_spread_draw(squares[s], 3, 1.5, &random);
      const double x = 1 / (tau * tau);
      sum += x;
      sum_of_squares += x * x;
    }
    const double mean = sum / DRAWS;
    const double error = sqrt((sum_of_squares / DRAWS - mean * mean) / DRAWS);
    /* A grid of 256 points spreads a draw over up to 4 % of its value: E[1/x^2] by .1 %. */
    assert_true(fabs(mean - expected) < 5 * error + 1e-3 * expected);
  }
  assert_true(isnan(idm_spread_draw(0, 3, 1, &random)));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_closed_forms),
                                     cmocka_unit_test(test_draws)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
