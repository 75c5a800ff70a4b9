/* Rank histograms and binomial intervals against counting and summation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "infer/distribution.h"
#include "support.h"

/* Ranks by definition: the number of smaller values, plus half of the equal ones. */
static void test_ranks(void **state)
{
  (void)state;
  enum { CHAINS = 3, DRAWS = 40, BINS = 8 };
  double x[CHAINS * DRAWS];
  size_t count[CHAINS * BINS], plain[CHAINS * BINS] = {0};
  idm_random random;
  idm_random_init(&random, 8, 1);
  for (size_t i = 0; i < CHAINS * DRAWS; i++)
    x[i] =
        i % 5 ? idm_random_normal(&random) + (double)(i / DRAWS) : 0.5; /* some values are equal */
  check(idm_rank_counts(x, CHAINS, DRAWS, BINS, count, &support_error));
  for (size_t i = 0; i < CHAINS * DRAWS; i++) {
    double rank = 0;
    for (size_t k = 0; k < CHAINS * DRAWS; k++) rank += x[k] < x[i] ? 1 : x[k] == x[i] ? 0.5 : 0;
    plain[i / DRAWS * BINS + (size_t)(rank * BINS / (CHAINS * DRAWS))]++;
  }
  for (size_t i = 0; i < CHAINS * BINS; i++) assert_int_equal(count[i], plain[i]);
}

static void test_odd_ranks(void **state)
{
  (void)state;
  size_t count[4];
  /* A single chain is uniform by construction; infinities have a rank, NaN has none. */
  const double one[] = {3, INFINITY, 1, NAN, -INFINITY};
  check(idm_rank_counts(one, 1, 5, 4, count, &support_error));
  for (size_t i = 0; i < 4; i++) assert_int_equal(count[i], 1);
  const double alike[] = {7, 7, 7, 7};
  check(idm_rank_counts(alike, 2, 2, 2, count, &support_error));
  assert_int_equal(count[1], 2);
  assert_int_equal(count[3], 2);
  const double none[] = {NAN, NAN};
  check(idm_rank_counts(none, 1, 2, 4, count, &support_error));
  for (size_t i = 0; i < 4; i++) assert_int_equal(count[i], 0);
}

static void test_binomial(void **state)
{
  (void)state;
  size_t low, high;
  /* Binomial(10, 1/2) in units of 1/1024: 1, 10, 45, ...; 2.5 % are 25.6, which excludes 0, 1, 9
   * and 10. */
  idm_binomial_interval(10, 0.5, 0.95, &low, &high);
  assert_int_equal(low, 2);
  assert_int_equal(high, 8);
  assert_near(idm_binomial_tail(10, 0.5, 9), 11.0 / 1024, 1e-15);
  assert_near(idm_binomial_tail(10, 0.5, 0), 1, 0);
  for (size_t n = 1; n < 400; n += 57) {
    const double p = 0.05;
    double chance[400], below = 0, above = 0;
    chance[0] = pow(1 - p, (double)n);
    for (size_t k = 1; k <= n; k++)
      chance[k] = chance[k - 1] * (double)(n - k + 1) / (double)k * p / (1 - p);
    idm_binomial_interval(n, p, 0.95, &low, &high);
    for (size_t k = 0; k < low; k++) below += chance[k];
    for (size_t k = high + 1; k <= n; k++) above += chance[k];
    /* Logarithms of n! are up to 1,700, with a rounding error of 2e-13. */
    assert_near(idm_binomial_tail(n, p, high + 1), above, 1e-11);
    assert_true(below <= 0.025 && above <= 0.025);
    assert_true(below + chance[low] > 0.025 && above + chance[high] > 0.025);
  }
  idm_binomial_interval(0, 0.5, 0.95, &low, &high);
  assert_int_equal(low, 0);
  assert_int_equal(high, 0);
  idm_binomial_interval(5, 0, 0.95, &low, &high);
  assert_int_equal(high, 0);
  idm_binomial_interval(5, 1, 0.95, &low, &high);
  assert_int_equal(low, 5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks), cmocka_unit_test(test_odd_ranks),
                                     cmocka_unit_test(test_binomial)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
