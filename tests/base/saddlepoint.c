/* Tests saddlepoint approximations of tail probabilities against exact binomial tails and simulated
 * sums. */
#include "base/statistics.h"

#include <math.h>

#include "support.h"

/* P(count >= x) or P(count <= x) of a binomial distribution. */
static double binomial_tail(size_t n, double p, size_t x, bool upper)
{
  double sum = 0;
  for (size_t i = upper ? x : 0; i <= (upper ? n : x); i++)
    sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
               (double)i * log(p) + (double)(n - i) * log1p(-p));
  return sum;
}

/* The approximate tail for the score of a probability p, which is 1/p where the outcome occurs and
 * -1/(1 - p) elsewhere. */
static double approximate(size_t n, double p, size_t x)
{
  const double probability[2] = {p, 1 - p}, value[2] = {1 / p, -1 / (1 - p)}, copies = (double)n;
  const idm_discrete_sum sum = {1, 2, probability, value, &copies};
  return idm_saddlepoint_tail(&sum, (double)x / p - (double)(n - x) / (1 - p));
}

/* Every count whose exact tail is between 1e-10 and .05. For rare outcomes a normal approximation
 * gives 1e-6 instead of 1e-3. */
static void test_counts(void **state)
{
  (void)state;
  static const size_t trials[] = {5, 30, 200, 3000};
  static const double chances[] = {0.0005, 0.01, 0.1, 0.3, 0.5};
  double low = INFINITY, high = 0;
  size_t compared = 0;
  for (size_t i = 0; i < 4; i++)
    for (size_t j = 0; j < 5; j++)
      for (size_t x = 0; x <= trials[i]; x++) {
        const bool upper = (double)x > (double)trials[i] * chances[j];
        const double exact = binomial_tail(trials[i], chances[j], x, upper);
        if (exact < 1e-10 || exact > 0.05) continue;
        const double ratio = approximate(trials[i], chances[j], x) / exact;
        low = fmin(low, ratio);
        high = fmax(high, ratio);
        compared++;
      }
  assert_true(compared > 300);
  if (low < 0.85 || high > 1.3) fail_msg("ratios from %.3f to %.3f", low, high);
}

/* At the ends of the support the tail is the probability of the extreme count. */
static void test_ends(void **state)
{
  (void)state;
  assert_near(approximate(1000, 0.01, 0) / pow(0.99, 1000), 1, 1e-6);
  assert_near(approximate(8, 0.2, 8) / pow(0.2, 8), 1, 1e-6);
}

/* Terms of different distributions, so that the sum has no lattice. The approximation is at most
 * four standard errors below a simulation of 400,000 sums, and above it by at most the lattice
 * correction. */
static void test_mixture(void **state)
{
  (void)state;
  enum { TERMS = 60, WIDTH = 3, REPLICATES = 400000 };
  double probability[TERMS * WIDTH], value[TERMS * WIDTH], copies[TERMS], at[2];
  idm_random random;
  idm_random_init(&random, 3, 0);
  double variance = 0;
  for (size_t i = 0; i < TERMS; i++) {
    double mean = 0;
    support_distribution(&random, probability + i * WIDTH, WIDTH);
    copies[i] = 1;
    for (size_t o = 0; o < WIDTH; o++) {
      value[i * WIDTH + o] = idm_random_normal(&random) * (o ? 1 : 4);
      mean += probability[i * WIDTH + o] * value[i * WIDTH + o];
    }
    for (size_t o = 0; o < WIDTH; o++) {
      value[i * WIDTH + o] -= mean;
      variance += probability[i * WIDTH + o] * value[i * WIDTH + o] * value[i * WIDTH + o];
    }
  }
  const idm_discrete_sum sum = {TERMS, WIDTH, probability, value, copies};
  size_t beyond[2] = {0};
  at[0] = 3 * sqrt(variance);
  at[1] = -3 * sqrt(variance);
  for (size_t r = 0; r < REPLICATES; r++) {
    double total = 0;
    for (size_t i = 0; i < TERMS; i++)
      total += value[i * WIDTH + idm_random_choice(&random, probability + i * WIDTH, WIDTH)];
    beyond[0] += total >= at[0];
    beyond[1] += total <= at[1];
  }
  for (size_t i = 0; i < 2; i++) {
    const double simulated = (double)beyond[i] / REPLICATES;
    const double ratio = idm_saddlepoint_tail(&sum, at[i]) / simulated;
    assert_true(beyond[i] > 100);
    if (ratio < 1 - 4 / sqrt((double)beyond[i]) || ratio > 2.5)
      fail_msg("%g against %g by simulation", ratio * simulated, simulated);
  }
}

static void test_no_variance(void **state)
{
  (void)state;
  const double probability[2] = {1, 0}, value[2] = {0.5, 7}, copies = 3;
  const idm_discrete_sum sum = {1, 2, probability, value, &copies};
  assert_true(idm_saddlepoint_tail(&sum, 1.5) == 1);
  /* At the mean both tails are 0.5. */
  const double even[2] = {0.5, 0.5}, sides[2] = {1, -1}, many = 100;
  const idm_discrete_sum coin = {1, 2, even, sides, &many};
  assert_near(idm_saddlepoint_tail(&coin, 0), 0.5, 1e-12);
}

/* The probability of at least one of 200 rare outcomes is 1 - .9995^200 = .095. It does not change
 * when a term is added that practically never occurs and is a hundred times as large, although that
 * term dominates the tilted sums. */
static void test_outlier(void **state)
{
  (void)state;
  const double probability[4] = {0.9995, 0.0005, 1, 1e-35}, value[4] = {-0.0005, 0.9995, 0, 100};
  const double copies[2] = {200, 1};
  const idm_discrete_sum sum = {2, 2, probability, value, copies};
  assert_true(idm_saddlepoint_tail(&sum, 0.9) >= 0.095);
}

/* Two-sided tails: twice the one-sided tail beyond two standard deviations, and the tail of a
 * normal distribution below. */
static void test_two_sided(void **state)
{
  (void)state;
  const double even[2] = {0.5, 0.5}, sides[2] = {1, -1}, many = 100;
  const idm_discrete_sum coin = {1, 2, even, sides, &many};
  assert_true(idm_saddlepoint_two_sided(&coin, 0, many) == 1);
  assert_near(idm_saddlepoint_two_sided(&coin, -12, many), 0.230139340, 1e-8);
  assert_near(idm_saddlepoint_two_sided(&coin, 30, many), 2 * idm_saddlepoint_tail(&coin, 30),
              1e-15);
  assert_near(idm_saddlepoint_two_sided(&coin, -30, many), 2 * idm_saddlepoint_tail(&coin, 30),
              1e-12);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts),    cmocka_unit_test(test_ends),
      cmocka_unit_test(test_mixture),   cmocka_unit_test(test_no_variance),
      cmocka_unit_test(test_two_sided), cmocka_unit_test(test_outlier),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
