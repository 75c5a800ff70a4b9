/* Tests the prior of effects with a common spread against closed forms of its integral, and draws
 * of spread and level against quadrature. */
#include "invert/audit/model.h"

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

/* E[1 / tau^2] given the effects: minus twice the derivative of the log integral by the sum of
 * squares. */
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
    /* A grid of 256 points rounds a draw by up to 4 %, which changes E[1/x^2] by .1 %. */
    assert_true(fabs(mean - expected) < 5 * error + 1e-3 * expected);
  }
  assert_true(isnan(idm_spread_draw(0, 3, 1, &random)));
}

/* Means and sds of mu and of log tau given levels, by sums over a fine grid of both. */
static void integrate(const idm_spread_levels *l, const double *level, double expected[4])
{
  enum { STEPS = 1200 };
  double sum = 0, first[2] = {0, 0}, second[2] = {0, 0};
  for (int i = 0; i < STEPS; i++)
    for (int k = 0; k < STEPS; k++) {
      const double mu = l->mean + l->sd * (-8 + 16 * (i + 0.5) / STEPS);
      const double u = log(l->scale) - 9 + 12 * (k + 0.5) / STEPS, tau = exp(u);
      double height = -0.5 * pow((mu - l->mean) / l->sd, 2) - 0.5 * pow(tau / l->scale, 2) + u;
      for (size_t c = 0; c < l->count; c++) height -= 0.5 * pow((level[c] - mu) / tau, 2) + u;
      const double weight = exp(height), x[] = {mu, u};
      sum += weight;
      for (int q = 0; q < 2; q++) {
        first[q] += weight * x[q];
        second[q] += weight * x[q] * x[q];
      }
    }
  for (int q = 0; q < 2; q++) {
    expected[q] = first[q] / sum;
    expected[2 + q] = sqrt(second[q] / sum - expected[q] * expected[q]);
  }
}

/* With 20,000 draws means have an error of .007 sd and sds one of .5 % (1 % in heavy tails); the
 * tolerance is four errors. The fourth levels are close to each other and far from the prior mean,
 * the last are around it. */
static void test_population(void **state)
{
  (void)state;
  enum { DRAWS = 20000 };
  static const double levels[][4] = {
      {0.2, 0.5}, {-0.3, 0.1, 0.4}, {1, 1.4, 0.9, 1.7}, {3, 3.1, 2.9}, {0.3, -0.2, 0.8}};
  static const size_t counts[] = {2, 3, 4, 3, 3};
  idm_random random;
  idm_random_init(&random, 7, 1);
  for (size_t s = 0; s < 5; s++) {
    const size_t n = counts[s];
    idm_spread_levels l = {.count = n, .mean = 0.3, .sd = 1, .scale = 0.5};
    double expected[4], first[2] = {0, 0}, second[2] = {0, 0};
    for (size_t c = 0; c < n; c++) l.average += levels[s][c] / (double)n;
    for (size_t c = 0; c < n; c++) l.squares += pow(levels[s][c] - l.average, 2);
    integrate(&l, levels[s], expected);
    for (int i = 0; i < DRAWS; i++) {
      double x[2];
      idm_spread_draw_population(&l, &random, &x[0], &x[1]);
      x[1] = log(x[1]);
      for (int q = 0; q < 2; q++) {
        first[q] += x[q] / DRAWS;
        second[q] += x[q] * x[q] / DRAWS;
      }
    }
    for (int q = 0; q < 2; q++) {
      const double sd = sqrt(second[q] - first[q] * first[q]);
      assert_near(first[q], expected[q], 0.028 * expected[2 + q]);
      assert_near(sd / expected[2 + q], 1, 0.04);
    }
  }
  double mean, spread;
  idm_spread_draw_population(&(idm_spread_levels){.count = 2, .sd = 1, .scale = 1}, &random, &mean,
                             &spread);
  assert_true(isnan(mean) && isnan(spread));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_closed_forms),
                                     cmocka_unit_test(test_draws),
                                     cmocka_unit_test(test_population)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
