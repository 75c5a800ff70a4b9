/* Effective sample size against plain sums and closed forms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "idm/extension/random.h"
#include "infer/distribution.h"
#include "support.h"

enum { MOST = 4000 };

/* Autocovariance at a lag by definition, averaged over chains. */
static double covariance(const double *x, size_t chains, size_t draws, size_t lag)
{
  double total = 0;
  for (size_t c = 0; c < chains; c++) {
    const double *chain = x + c * draws;
    double mean = 0;
    for (size_t i = 0; i < draws; i++) mean += chain[i] / (double)draws;
    for (size_t i = 0; i + lag < draws; i++) total += (chain[i] - mean) * (chain[i + lag] - mean);
  }
  return total / (double)(chains * draws);
}

/* Variance of the chain means. */
static double spread_of_means(const double *x, size_t chains, size_t draws)
{
  double sum = 0, squares = 0;
  for (size_t c = 0; c < chains; c++) {
    double mean = 0;
    for (size_t i = 0; i < draws; i++) mean += x[c * draws + i] / (double)draws;
    sum += mean;
    squares += mean * mean;
  }
  const double m = (double)chains;
  return chains > 1 ? (squares - sum * sum / m) / (m - 1) : 0;
}

/* Geyer's sequence of pairs P_k = rho_2k + rho_2k+1: positive, then made monotone; the even term of
 * the first omitted pair is added once if it is positive. */
static double plain_size(const double *x, size_t chains, size_t draws)
{
  static double even[MOST], odd[MOST];
  const double within = covariance(x, chains, draws, 0);
  const double total = within + spread_of_means(x, chains, draws);
  const double unbiased = within * (double)draws / ((double)draws - 1);
  size_t pairs = 1;
  even[0] = 1;
  odd[0] = 1 - (unbiased - covariance(x, chains, draws, 1)) / total;
  for (; even[pairs - 1] + odd[pairs - 1] > 0 && 2 * pairs + 2 < draws; pairs++) {
    even[pairs] = 1 - (unbiased - covariance(x, chains, draws, 2 * pairs)) / total;
    odd[pairs] = 1 - (unbiased - covariance(x, chains, draws, 2 * pairs + 1)) / total;
  }
  double tau = -1, before = INFINITY;
  for (size_t k = 0; k + 1 < pairs; k++) {
    before = fmin(before, even[k] + odd[k]);
    tau += 2 * before;
  }
  /* The last pair ends the sequence. */
  const bool positive = even[pairs - 1] + odd[pairs - 1] >= 0;
  if (even[pairs - 1] > 0 || positive) tau += even[pairs - 1];
  const double count = (double)(chains * draws);
  return count / fmax(tau, 1 / log10(count));
}

static double size_of(const double *x, size_t chains, size_t draws)
{
  idm_ess *ess;
  check(idm_ess_create(chains, draws, &ess, &support_error));
  const double size = idm_ess_of(ess, x);
  /* The workspace keeps no state between calls. */
  assert_true(idm_ess_of(ess, x) == size || isnan(size));
  idm_ess_destroy(ess);
  return size;
}

static void fill(double *x, size_t chains, size_t draws, double rho, double shift,
                 idm_random *random)
{
  for (size_t c = 0; c < chains; c++) {
    double at = idm_random_normal(random);
    for (size_t i = 0; i < draws; i++) {
      x[c * draws + i] = at + shift * (double)c;
      at = rho * at + sqrt(1 - rho * rho) * idm_random_normal(random);
    }
  }
}

static void test_against_plain_sums(void **state)
{
  (void)state;
  static double x[MOST];
  static const size_t draws[] = {2, 3, 4, 5, 6, 7, 8, 9, 16, 31, 100, 257, 512};
  static const double rhos[] = {-0.9, -0.3, 0, 0.5, 0.9, 0.99};
  idm_random random;
  idm_random_init(&random, 31, 0);
  for (size_t d = 0; d < sizeof draws / sizeof *draws; d++)
    for (size_t chains = 1; chains <= 7; chains++)
      for (size_t r = 0; r < sizeof rhos / sizeof *rhos; r++)
        for (int shift = 0; shift < 2; shift++) {
          fill(x, chains, draws[d], rhos[r], 3.0 * shift, &random);
          assert_near(size_of(x, chains, draws[d]), plain_size(x, chains, draws[d]), 1e-9);
        }
}

/* An AR(1) process has n (1 - rho) / (1 + rho) effective draws. The estimate from 16,000 draws is
 * within 15 % of that (five standard errors, by simulation at other seeds: level 1e-6). */
static void test_autoregression(void **state)
{
  (void)state;
  enum { CHAINS = 4, DRAWS = 4000 };
  static double x[CHAINS * DRAWS];
  static const double rhos[] = {-0.5, 0, 0.5, 0.8};
  idm_random random;
  idm_random_init(&random, 77, 0);
  for (size_t r = 0; r < 4; r++) {
    fill(x, CHAINS, DRAWS, rhos[r], 0, &random);
    const double expected = CHAINS * DRAWS * (1 - rhos[r]) / (1 + rhos[r]);
    assert_true(fabs(size_of(x, CHAINS, DRAWS) / expected - 1) < 0.15);
  }
}

static void test_limits(void **state)
{
  (void)state;
  double x[40];
  for (int i = 0; i < 40; i++) x[i] = i % 2;
  /* Alternating draws reach the upper limit, n log10 n. */
  assert_near(size_of(x, 1, 40), 40 * log10(40), 1e-12);
  for (int i = 0; i < 40; i++) x[i] = 0.1;
  assert_true(size_of(x, 2, 20) == 40);
  x[3] = INFINITY;
  assert_true(isnan(size_of(x, 2, 20)));
  x[3] = NAN;
  assert_true(isnan(size_of(x, 2, 20)));
}

static void test_shift_and_scale(void **state)
{
  (void)state;
  double x[300], y[300];
  idm_random random;
  idm_random_init(&random, 5, 5);
  fill(x, 3, 100, 0.7, 0.2, &random);
  for (int i = 0; i < 300; i++) y[i] = 1000 - 256 * x[i];
  assert_near(size_of(x, 3, 100), size_of(y, 3, 100), 1e-9);
}

static void test_too_many_draws(void **state)
{
  (void)state;
  idm_ess *ess;
  assert_int_equal(idm_ess_create(1, (size_t)-1 / 2, &ess, &support_error), IDM_MEMORY);
  assert_null(ess);
  idm_ess_destroy(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_plain_sums),
      cmocka_unit_test(test_autoregression),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_shift_and_scale),
      cmocka_unit_test(test_too_many_draws),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
