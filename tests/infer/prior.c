/* Priors: densities integrate to one, moments and derivatives are those of the density, and draws
 * follow it.
 *
 * Statistical tests use fixed seeds; each stated level is the share of seeds at which exact draws
 * would fail. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "idm/extension/random.h"
#include "infer/distribution.h"
#include "support.h"

#define PRIOR(name, ...)                                                                           \
  {                                                                                                \
    name, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[])                             \
    {                                                                                              \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }

/* Proper priors of one parameter; a density is infinite at an end only if the rule below can
 * integrate it. */
static const idm_prior priors[] = {
    PRIOR(IDM_PRIOR_NORMAL, 1.5, 0.7),    PRIOR(IDM_PRIOR_NORMAL, -3, 20),
    PRIOR(IDM_PRIOR_LOGNORMAL, 0.3, 0.5), PRIOR(IDM_PRIOR_LOGNORMAL, -2, 0.1),
    PRIOR(IDM_PRIOR_HALFNORMAL, 2.5),     PRIOR(IDM_PRIOR_UNIFORM, -1, 4),
    PRIOR(IDM_PRIOR_EXPONENTIAL, 3),      PRIOR(IDM_PRIOR_GAMMA, 2.5, 0.8),
    PRIOR(IDM_PRIOR_GAMMA, 1, 2),         PRIOR(IDM_PRIOR_GAMMA, 0.6, 1.5),
    PRIOR(IDM_PRIOR_GAMMA, 40, 10),       PRIOR(IDM_PRIOR_BETA, 2, 3.5),
    PRIOR(IDM_PRIOR_BETA, 1, 1),          PRIOR(IDM_PRIOR_BETA, 0.7, 0.5),
    PRIOR(IDM_PRIOR_BETA, 30, 4)};
enum { PRIORS = sizeof priors / sizeof *priors };

/* --- the density ---------------------------------------------------------------------------- */

/* Finite limits of the support for integration: forty sds from the mean, more for a heavy tail. */
static void finite_support(const idm_prior *prior, double *lower, double *upper)
{
  idm_prior_support(prior, lower, upper);
  const double reach = (prior->kind == IDM_PRIOR_LOGNORMAL ? 400 : 40) * idm_prior_sd(prior);
  if (isinf(*lower)) *lower = idm_prior_mean(prior) - reach;
  if (isinf(*upper)) *upper = idm_prior_mean(prior) + reach;
}

/* Integral of c^power times the density over (lower, upper), by the tanh-sinh rule, which handles
 * singularities at the ends. */
static double integral(const idm_prior *prior, double lower, double upper, int power)
{
  double sum = 0;
  const double step = 1.0 / 256, quarter_turn = 1.57079632679489661923;
  for (int i = -1400; i <= 1400; i++) {
    const double t = i * step, s = quarter_turn * sinh(t);
    const double share = 1 / (1 + exp(-2 * s));
    const double c = lower + (upper - lower) * share;
    if (!(c > lower && c < upper)) continue;
    const double weight = (upper - lower) * quarter_turn * cosh(t) / (2 * cosh(s) * cosh(s));
    sum += step * weight * exp(idm_prior_log_density(prior, c, NULL)) * pow(c, power);
  }
  return sum;
}

static void test_density_integrates_to_one(void **state)
{
  (void)state;
  for (size_t i = 0; i < PRIORS; i++) {
    double lower, upper;
    finite_support(&priors[i], &lower, &upper);
    /* An infinite density at 1 is cut at the last number below 1. */
    const double tolerance =
        priors[i].kind == IDM_PRIOR_BETA && priors[i].argument[1] < 1 ? 1e-7 : 1e-10;
    const double mean = integral(&priors[i], lower, upper, 1);
    assert_near(integral(&priors[i], lower, upper, 0), 1, tolerance);
    assert_near(idm_prior_mean(&priors[i]), mean, tolerance);
    assert_near(idm_prior_sd(&priors[i]), sqrt(integral(&priors[i], lower, upper, 2) - mean * mean),
                10 * tolerance);
  }
}

static void test_slopes(void **state)
{
  (void)state;
  for (size_t i = 0; i < PRIORS; i++) {
    double lower, upper;
    finite_support(&priors[i], &lower, &upper);
    lower = fmax(lower, idm_prior_mean(&priors[i]) - 3 * idm_prior_sd(&priors[i]));
    upper = fmin(upper, idm_prior_mean(&priors[i]) + 3 * idm_prior_sd(&priors[i]));
    for (int k = 1; k < 20; k++) {
      const double c = lower + (upper - lower) * k / 20, h = 1e-6 * (upper - lower);
      double slope;
      const double value = idm_prior_log_density(&priors[i], c, &slope);
      assert_true(value == idm_prior_log_density(&priors[i], c, NULL));
      const double difference = (idm_prior_log_density(&priors[i], c + h, NULL) -
                                 idm_prior_log_density(&priors[i], c - h, NULL)) /
                                (2 * h);
      assert_near(slope, difference, 1e-6);
    }
  }
}

static double density(const idm_prior *prior, double c)
{
  double slope = NAN;
  const double value = idm_prior_log_density(prior, c, &slope);
  assert_true(isfinite(slope));
  return value;
}

static void test_outside_the_support(void **state)
{
  (void)state;
  for (size_t i = 0; i < PRIORS; i++) {
    double lower, upper;
    idm_prior_support(&priors[i], &lower, &upper);
    assert_true(density(&priors[i], lower - 1e-9) == -INFINITY);
    assert_true(density(&priors[i], upper + 1e-9) == -INFINITY);
    assert_true(density(&priors[i], NAN) == -INFINITY);
  }
}

/* At an end the density is its limit, or 0 if that is infinite. */
static void test_ends_of_the_support(void **state)
{
  (void)state;
  assert_near(density(&(idm_prior)PRIOR(IDM_PRIOR_HALFNORMAL, 2), 0),
              log(2 / (2 * sqrt(2 * 3.14159265358979323846))), 1e-15);
  assert_near(density(&(idm_prior)PRIOR(IDM_PRIOR_EXPONENTIAL, 3), 0), log(3), 1e-15);
  assert_near(density(&(idm_prior)PRIOR(IDM_PRIOR_GAMMA, 1, 3), 0), log(3), 1e-14);
  assert_true(density(&(idm_prior)PRIOR(IDM_PRIOR_GAMMA, 2, 3), 0) == -INFINITY);
  assert_true(density(&(idm_prior)PRIOR(IDM_PRIOR_GAMMA, 0.5, 3), 0) == -INFINITY);
  assert_true(density(&(idm_prior)PRIOR(IDM_PRIOR_LOGNORMAL, 0, 1), 0) == -INFINITY);
  assert_true(density(&(idm_prior)PRIOR(IDM_PRIOR_BETA, 0.5, 2), 1) == -INFINITY);
  assert_near(density(&(idm_prior)PRIOR(IDM_PRIOR_BETA, 2, 1), 1), log(2), 1e-14);
  assert_near(density(&(idm_prior)PRIOR(IDM_PRIOR_UNIFORM, 2, 4), 4), -log(2), 1e-15);
}

static void test_flat(void **state)
{
  (void)state;
  const idm_prior flat = {IDM_PRIOR_FLAT, 0, NULL};
  double lower, upper;
  idm_random random;
  idm_random_init(&random, 1, 1);
  idm_prior_support(&flat, &lower, &upper);
  assert_true(lower == -INFINITY && upper == INFINITY);
  assert_true(density(&flat, -17) == 0);
  assert_true(isnan(idm_prior_mean(&flat)) && idm_prior_sd(&flat) == INFINITY);
  assert_true(isnan(idm_prior_draw(&flat, &random)));
}

/* A Dirichlet is not a prior of one parameter. */
static void test_dirichlet_is_refused(void **state)
{
  (void)state;
  const idm_prior prior = PRIOR(IDM_PRIOR_DIRICHLET, 1, 1);
  idm_random random;
  idm_random_init(&random, 1, 1);
  assert_true(isnan(idm_prior_log_density(&prior, 0.5, NULL)));
  assert_true(isnan(idm_prior_mean(&prior)) && isnan(idm_prior_sd(&prior)));
  assert_true(isnan(idm_prior_draw(&prior, &random)));
}

/* --- draws ---------------------------------------------------------------------------------- */

/* Draws fall into cells of the support with the probabilities of the density: chi-square at level
 * 1e-6. */
static void test_draws_follow_the_density(void **state)
{
  (void)state;
  enum { CELLS = 20, DRAWS = 100000 };
  for (size_t i = 0; i < PRIORS; i++) {
    double lower, upper, share[CELLS + 2], statistic = 0;
    long count[CELLS + 2] = {0};
    finite_support(&priors[i], &lower, &upper);
    const double mean = idm_prior_mean(&priors[i]), sd = idm_prior_sd(&priors[i]);
    const double from = fmax(lower, mean - 2 * sd), to = fmin(upper, mean + 2 * sd);
    share[0] = from > lower ? integral(&priors[i], lower, from, 0) : 0;
    share[CELLS + 1] = to < upper ? integral(&priors[i], to, upper, 0) : 0;
    for (int k = 0; k < CELLS; k++)
      share[k + 1] = integral(&priors[i], from + (to - from) * k / CELLS,
                              from + (to - from) * (k + 1) / CELLS, 0);
    idm_random random;
    idm_random_init(&random, 100 + i, 0);
    for (int n = 0; n < DRAWS; n++) {
      const double c = idm_prior_draw(&priors[i], &random);
      assert_true(isfinite(density(&priors[i], c)));
      count[c < from ? 0 : c >= to ? CELLS + 1 : 1 + (int)((c - from) / (to - from) * CELLS)]++;
    }
    double degrees = -1;
    for (int k = 0; k < CELLS + 2; k++) {
      const double expected = DRAWS * share[k];
      if (expected < 5) continue;
      degrees++;
      statistic += ((double)count[k] - expected) * ((double)count[k] - expected) / expected;
    }
    assert_true(idm_chi_square_tail(statistic, degrees) > 1e-6);
  }
}

/* Very small shape parameters give draws near an end, never on it. */
static void test_extreme_draws_stay_inside(void **state)
{
  (void)state;
  const idm_prior extreme[] = {PRIOR(IDM_PRIOR_GAMMA, 0.001, 1),
                               PRIOR(IDM_PRIOR_BETA, 0.001, 0.002),
                               PRIOR(IDM_PRIOR_LOGNORMAL, 0, 1000)};
  idm_random random;
  idm_random_init(&random, 8, 0);
  for (size_t i = 0; i < 3; i++) {
    double lower, upper;
    idm_prior_support(&extreme[i], &lower, &upper);
    for (int n = 0; n < 2000; n++) {
      const double c = idm_prior_draw(&extreme[i], &random);
      assert_true(c > lower && c < upper && isfinite(c));
      assert_true(isfinite(density(&extreme[i], c)));
    }
  }
}

/* --- Dirichlet ------------------------------------------------------------------------------ */

/* With two outcomes it is the beta density; a uniform one has density (count - 1)!. */
static void test_dirichlet_density(void **state)
{
  (void)state;
  const idm_prior beta = PRIOR(IDM_PRIOR_BETA, 2.5, 0.8);
  for (int i = 1; i < 10; i++) {
    const double p[] = {0.1 * i, 1 - 0.1 * i};
    double slope, slopes[2];
    const double value = idm_dirichlet_log_density(2, beta.argument, p, slopes);
    assert_near(value, idm_prior_log_density(&beta, p[0], &slope), 1e-13);
    assert_near(slopes[0] - slopes[1], slope, 1e-13);
    assert_true(value == idm_dirichlet_log_density(2, beta.argument, p, NULL));
  }
  const double ones[] = {1, 1, 1, 1, 1}, corner[] = {1, 0, 0, 0, 0};
  assert_near(idm_dirichlet_log_density(5, ones, corner, NULL), log(24), 1e-14);
  const double twos[] = {2, 2, 2, 2, 2};
  assert_true(idm_dirichlet_log_density(5, twos, corner, NULL) == -INFINITY);
}

/* Mean a_i / a and variance a_i (a - a_i) / (a^2 (a + 1)): five standard errors of the mean, level
 * 6e-7 each; 5 % on the variance, about eight standard errors. */
static void test_dirichlet_draws(void **state)
{
  (void)state;
  enum { COUNT = 4, DRAWS = 50000 };
  const double a[COUNT] = {0.4, 1, 2.5, 6};
  double sum[COUNT] = {0}, squares[COUNT] = {0}, p[COUNT], total = 0;
  idm_random random;
  idm_random_init(&random, 12, 0);
  for (int n = 0; n < DRAWS; n++) {
    idm_dirichlet_draw(COUNT, a, &random, p);
    double whole = 0;
    for (int i = 0; i < COUNT; i++) {
      whole += p[i];
      sum[i] += p[i];
      squares[i] += p[i] * p[i];
    }
    assert_near(whole, 1, 1e-14);
  }
  for (int i = 0; i < COUNT; i++) total += a[i];
  for (int i = 0; i < COUNT; i++) {
    const double mean = sum[i] / DRAWS, variance = squares[i] / DRAWS - mean * mean;
    const double expected = a[i] * (total - a[i]) / (total * total * (total + 1));
    assert_true(fabs(mean - a[i] / total) < 5 * sqrt(expected / DRAWS));
    assert_true(fabs(variance / expected - 1) < 0.05);
  }
}

/* Very small concentrations: one outcome has nearly all the mass, and none is 0. */
static void test_dirichlet_draws_of_tiny_concentration(void **state)
{
  (void)state;
  const double a[] = {1e-4, 1e-4, 1e-4};
  double p[3];
  idm_random random;
  idm_random_init(&random, 13, 0);
  for (int n = 0; n < 1000; n++) {
    idm_dirichlet_draw(3, a, &random, p);
    assert_near(p[0] + p[1] + p[2], 1, 1e-14);
    assert_true(p[0] >= DBL_MIN && p[1] >= DBL_MIN && p[2] >= DBL_MIN);
    assert_true(isfinite(idm_dirichlet_log_density(3, a, p, NULL)));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_density_integrates_to_one),
      cmocka_unit_test(test_slopes),
      cmocka_unit_test(test_outside_the_support),
      cmocka_unit_test(test_ends_of_the_support),
      cmocka_unit_test(test_flat),
      cmocka_unit_test(test_dirichlet_is_refused),
      cmocka_unit_test(test_draws_follow_the_density),
      cmocka_unit_test(test_extreme_draws_stay_inside),
      cmocka_unit_test(test_dirichlet_density),
      cmocka_unit_test(test_dirichlet_draws),
      cmocka_unit_test(test_dirichlet_draws_of_tiny_concentration),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
