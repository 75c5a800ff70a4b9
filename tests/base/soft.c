/* Tests soft extrema against direct sums in long double: accuracy, limits, shape, probabilities,
 * divergences and logarithms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/soft.h"
#include "idm/extension/random.h"

enum { MOST = 8, CASES = 40 };

/* One case: alternatives with weights that sum to 1. */
typedef struct alternatives {
  size_t count;
  double weight[MOST];
  double x[MOST];
} alternatives;

#define assert_near(found, expected, tolerance)                                                    \
  check_near((double)(found), (double)(expected), (double)(tolerance), __LINE__)

static void check_near(double found, double expected, double tolerance, int line)
{
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("line %d: found %.17g, expected %.17g within %g", line, found, expected, tolerance);
}

/* --- cases ---------------------------------------------------------------------------------- */

static const alternatives fixed_cases[] = {
    {2, {0.5, 0.5}, {1, 2}},
    {3, {1.0 / 3, 1.0 / 3, 1.0 / 3}, {10, -36, -1}},
    {3, {0.2, 0, 0.8}, {3, 1e6, -4}},
    {3, {0, 0.3, 0.7}, {-1e9, 5, 5.5}},
    {1, {1}, {-7.25}},
    {4, {0.1, 0.2, 0.3, 0.4}, {2, 2, 2, 2}},
    {3, {0.1, 0.4, 0.5}, {-1e6, 2e6, 3e6}},
    {3, {0.25, 0.5, 0.25}, {1000.001, 1000.002, 1000.0035}},
    {2, {1e-12, 1 - 1e-12}, {50, 0}},
    {2, {1e-100, 1}, {1000, 0}},
    {4, {0.25, 0.25, 0.25, 0.25}, {0, 0, -1, -1}},
};

static alternatives random_case(idm_random *random)
{
  alternatives a = {.count = 1 + (size_t)(idm_random_uniform(random) * MOST)};
  const double scale = pow(10, 6 * idm_random_uniform(random) - 3);
  const double shift = scale * 20 * (idm_random_uniform(random) - 0.5);
  double total = 0;
  for (size_t j = 0; j < a.count; j++) {
    a.x[j] = shift + scale * (2 * idm_random_uniform(random) - 1);
    a.weight[j] = j && idm_random_uniform(random) < 0.2 ? 0 : idm_random_uniform(random);
    total += a.weight[j];
  }
  for (size_t j = 0; j < a.count; j++) a.weight[j] /= total;
  return a;
}

/* Returns fixed case i, or a random case beyond the fixed ones. */
static alternatives numbered_case(size_t i)
{
  const size_t fixed = sizeof fixed_cases / sizeof fixed_cases[0];
  if (i < fixed) return fixed_cases[i];
  idm_random random;
  idm_random_init(&random, 11, i);
  return random_case(&random);
}

static double largest(const alternatives *a)
{
  double most = 0;
  for (size_t j = 0; j < a->count; j++)
    if (a->weight[j] > 0) most = fmax(most, fabs(a->x[j]));
  return most;
}

static double soft(double temperature, const alternatives *a, double *opt_p)
{
  return idm_soft(temperature, a->count, a->weight, a->x, opt_p);
}

/* Temperatures of the tests: 10^-8 to 10^12 by half decades, with both signs, then the limits. */
enum { DECADES = 41, TEMPERATURES = 2 * DECADES + 4 };
static double temperature_at(int i)
{
  const double limits[] = {0.0, -0.0, INFINITY, -INFINITY};
  if (i >= 2 * DECADES) return limits[i - 2 * DECADES];
  const double size = pow(10, -8 + 0.5 * (i / 2));
  return i % 2 ? -size : size;
}

/* --- reference ------------------------------------------------------------------------------ */

typedef struct moments {
  long double weight, mean, variance, least, most;
} moments;

static moments moments_of(const alternatives *a)
{
  moments m = {.least = INFINITY, .most = -INFINITY};
  for (size_t j = 0; j < a->count; j++) {
    if (!(a->weight[j] > 0)) continue;
    m.weight += a->weight[j];
    m.mean += (long double)a->weight[j] * a->x[j];
    m.least = fminl(m.least, a->x[j]);
    m.most = fmaxl(m.most, a->x[j]);
  }
  m.mean /= m.weight;
  for (size_t j = 0; j < a->count; j++)
    m.variance += a->weight[j] / m.weight * (a->x[j] - m.mean) * (a->x[j] - m.mean);
  return m;
}

/* T log sum w exp(x/T) in long double for a finite T other than 0; the weights are normalised in
 * long double. */
static long double exact(double temperature, const alternatives *a)
{
  const long double T = temperature;
  const moments m = moments_of(a);
  if (m.most - m.least < fabsl(T)) {
    long double sum = 0;
    for (size_t j = 0; j < a->count; j++)
      if (a->weight[j] > 0) sum += a->weight[j] / m.weight * expm1l((a->x[j] - m.mean) / T);
    return m.mean + T * log1pl(sum);
  }
  const long double c = T > 0 ? m.most : m.least;
  long double sum = 0;
  for (size_t j = 0; j < a->count; j++)
    if (a->weight[j] > 0) sum += a->weight[j] / m.weight * expl((a->x[j] - c) / T);
  return c + T * logl(sum);
}

/* p_j by the same method. */
static long double exact_probability(double temperature, const alternatives *a, size_t j)
{
  const moments m = moments_of(a);
  const long double c = temperature > 0 ? m.most : m.least;
  long double sum = 0;
  for (size_t i = 0; i < a->count; i++)
    if (a->weight[i] > 0) sum += a->weight[i] * expl((a->x[i] - c) / temperature);
  return a->weight[j] > 0 ? a->weight[j] * expl((a->x[j] - c) / temperature) / sum : 0;
}

/* --- value and probabilities ---------------------------------------------------------------- */

static void test_value_and_probabilities_keep_their_digits(void **state)
{
  (void)state;
  for (size_t i = 0; i < CASES; i++)
    for (int t = 0; t < 2 * DECADES; t++) {
      const alternatives a = numbered_case(i);
      const double T = temperature_at(t);
      double p[MOST];
      assert_near(soft(T, &a, p), exact(T, &a), 1e-12 * largest(&a));
      assert_true(soft(T, &a, NULL) == soft(T, &a, p));
      for (size_t j = 0; j < a.count; j++) assert_near(p[j], exact_probability(T, &a, j), 1e-13);
    }
}

static void test_limits(void **state)
{
  (void)state;
  for (size_t i = 0; i < CASES; i++) {
    const alternatives a = numbered_case(i);
    const moments m = moments_of(&a);
    double p[MOST];
    assert_true(soft(0.0, &a, p) == m.most);
    assert_true(soft(-0.0, &a, p) == m.least);
    for (int sign = -1; sign <= 1; sign += 2) {
      assert_near(soft(sign * (double)INFINITY, &a, p), m.mean, 1e-15 * MOST * largest(&a));
      for (size_t j = 0; j < a.count; j++) assert_true(p[j] == a.weight[j]);
    }
  }
}

static void check_shares(double temperature, const double *x, const double *expected)
{
  const double weight[] = {0.1, 0.2, 0.3, 0.4};
  double p[4];
  idm_soft(temperature, 4, weight, x, p);
  for (int j = 0; j < 4; j++) assert_near(p[j], expected[j], 1e-15);
}

static void test_ties_share_by_weight(void **state)
{
  (void)state;
  check_shares(0.0, (const double[]){5, 1, 5, 2}, (const double[]){0.25, 0, 0.75, 0});
  check_shares(-0.0, (const double[]){5, 1, 5, 1}, (const double[]){0, 1.0 / 3, 0, 2.0 / 3});
  check_shares(0.0, (const double[]){3, 3, 3, 3}, (const double[]){0.1, 0.2, 0.3, 0.4});
  /* Within the tolerance of a tie (relative above 1), and just outside it. */
  check_shares(0.0, (const double[]){1e6, 1e6 + 5e-7, 0, 0},
               (const double[]){1.0 / 3, 2.0 / 3, 0, 0});
  check_shares(0.0, (const double[]){1, 1 + 5e-12, 0, 0}, (const double[]){0, 1, 0, 0});
  /* An alternative of weight 0 is never chosen. */
  double p[3];
  const double weight[] = {0, 0.5, 0.5};
  assert_true(idm_soft(0.0, 3, weight, (const double[]){9, 4, 4}, p) == 4);
  assert_true(p[0] == 0 && p[1] == 0.5 && p[2] == 0.5);
}

static void test_limits_are_approached(void **state)
{
  (void)state;
  const alternatives a = {3, {0.2, 0.3, 0.5}, {1, 4, -2}};
  double p[MOST], q[MOST];
  const double tiny[] = {1e-8, -1e-8, 1e-300, -1e-300};
  for (size_t i = 0; i < 4; i++) {
    assert_near(soft(tiny[i], &a, p), soft(copysign(0.0, tiny[i]), &a, q), 2 * fabs(tiny[i]));
    for (size_t j = 0; j < 3; j++) assert_near(p[j], q[j], 1e-15);
  }
  const double huge[] = {1e12, -1e12, 1e300, -1e300};
  for (size_t i = 0; i < 4; i++) {
    assert_near(soft(huge[i], &a, p), soft(INFINITY, &a, q), 1e-11);
    for (size_t j = 0; j < 3; j++) assert_near(p[j], q[j], 1e-11);
  }
}

/* --- shape ---------------------------------------------------------------------------------- */

static void test_monotone_and_shift_equivariant(void **state)
{
  (void)state;
  for (size_t i = 0; i < CASES; i++)
    for (int t = 0; t < TEMPERATURES; t++) {
      const alternatives a = numbered_case(i);
      const double T = temperature_at(t);
      const double slack = 1e-12 * largest(&a);
      const double value = soft(T, &a, NULL);
      for (size_t j = 0; j < a.count; j++) {
        alternatives raised = a;
        raised.x[j] += 0.1 * largest(&a);
        assert_true(soft(T, &raised, NULL) >= value - slack);
      }
      alternatives shifted = a;
      for (size_t j = 0; j < a.count; j++) shifted.x[j] += 3 * largest(&a);
      assert_near(soft(T, &shifted, NULL), value + 3 * largest(&a), 5 * slack);
    }
}

static void test_convex_above_zero_concave_below(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 12, 0);
  for (size_t i = 0; i < CASES; i++)
    for (int t = 0; t < TEMPERATURES; t++) {
      const alternatives a = numbered_case(i);
      const double T = temperature_at(t);
      alternatives b = a, middle = a;
      for (size_t j = 0; j < a.count; j++) {
        b.x[j] = largest(&a) * (2 * idm_random_uniform(&random) - 1);
        middle.x[j] = (a.x[j] + b.x[j]) / 2;
      }
      const double chord = (soft(T, &a, NULL) + soft(T, &b, NULL)) / 2;
      const double bend = (chord - soft(T, &middle, NULL)) * (signbit(T) ? -1 : 1);
      assert_true(bend >= -2e-12 * largest(&a));
    }
}

static void test_between_the_extremes_and_the_mean(void **state)
{
  (void)state;
  for (size_t i = 0; i < CASES; i++) {
    const alternatives a = numbered_case(i);
    const moments m = moments_of(&a);
    const double slack = 1e-12 * largest(&a);
    for (int t = 0; t < TEMPERATURES; t++) {
      const double T = temperature_at(t);
      const double value = soft(T, &a, NULL);
      assert_true(value >= (double)(signbit(T) ? m.least : m.mean) - slack);
      assert_true(value <= (double)(signbit(T) ? m.mean : m.most) + slack);
    }
  }
}

static void test_probabilities_sum_to_one(void **state)
{
  (void)state;
  for (size_t i = 0; i < CASES; i++)
    for (int t = 0; t < TEMPERATURES; t++) {
      const alternatives a = numbered_case(i);
      double p[MOST], sum = 0;
      soft(temperature_at(t), &a, p);
      for (size_t j = 0; j < a.count; j++) {
        assert_true(p[j] >= 0);
        if (a.weight[j] == 0) assert_true(p[j] == 0);
        sum += p[j];
      }
      assert_near(sum, 1, 1e-14);
    }
}

static void test_derivative_is_the_probability(void **state)
{
  (void)state;
  const double temperatures[] = {0.3, -0.3, 1, -1, 20, -20, 1e3, INFINITY};
  for (size_t i = 0; i < CASES; i++)
    for (size_t t = 0; t < 8; t++) {
      const alternatives a = numbered_case(i);
      const double unit = largest(&a);
      const double T = temperatures[t] * unit;
      const double h = 1e-5 * unit;
      double p[MOST];
      soft(T, &a, p);
      for (size_t j = 0; j < a.count; j++) {
        alternatives up = a, down = a;
        up.x[j] += h;
        down.x[j] -= h;
        const double slope = (soft(T, &up, NULL) - soft(T, &down, NULL)) / (up.x[j] - down.x[j]);
        assert_near(slope, p[j], 1e-9);
      }
    }
}

/* --- divergence and logarithm --------------------------------------------------------------- */

static double divergence(double temperature, const alternatives *a)
{
  return idm_soft_divergence(temperature, a->count, a->weight, a->x);
}

static void test_divergence_is_the_naive_sum(void **state)
{
  (void)state;
  const double temperatures[] = {0.2, -0.2, 1, -1, 5, -5};
  for (size_t i = 0; i < CASES; i++)
    for (size_t t = 0; t < 6; t++) {
      const alternatives a = numbered_case(i);
      const moments m = moments_of(&a);
      const double T = temperatures[t] * fmax((double)(m.most - m.least), 1e-3);
      const long double value = exact(T, &a);
      long double naive = 0;
      for (size_t j = 0; j < a.count; j++) {
        const long double l = (a.x[j] - value) / T;
        if (a.weight[j] > 0) naive += a.weight[j] / m.weight * expl(l) * l;
      }
      assert_near(divergence(T, &a), naive, 1e-12 * (1 + largest(&a) / fabs(T)));
    }
}

static void test_divergence_far_from_zero_temperature(void **state)
{
  (void)state;
  for (size_t i = 0; i < CASES; i++) {
    const alternatives a = numbered_case(i);
    const moments m = moments_of(&a);
    /* The next term of the series is the third cumulant: relative error spread/T, far below 1e-6
     * here. */
    const double T = 1e9 * fmax(1, (double)(m.most - m.least));
    const double expected = (double)(m.variance / 2) / T / T;
    assert_near(divergence(T, &a), expected, 1e-6 * expected);
    assert_near(divergence(-T, &a), expected, 1e-6 * expected);
  }
  const alternatives diag = {3, {1.0 / 3, 1.0 / 3, 1.0 / 3}, {10, -36, -1}};
  const double expected = (double)moments_of(&diag).variance / 2e18;
  assert_near(divergence(1e9, &diag), expected, 1e-6 * expected);
  assert_near(divergence(-1e9, &diag), expected, 1e-6 * expected);
}

static void test_divergence_is_not_negative(void **state)
{
  (void)state;
  for (size_t i = 0; i < CASES; i++)
    for (int t = 0; t < TEMPERATURES; t++) {
      const alternatives a = numbered_case(i);
      assert_true(divergence(temperature_at(t), &a) >= 0);
    }
}

static void test_divergence_at_the_limits(void **state)
{
  (void)state;
  const alternatives a = {4, {0.1, 0.2, 0.3, 0.4}, {5, 1, 5, 2}};
  assert_near(divergence(0.0, &a), -log(0.4), 1e-15);
  assert_near(divergence(-0.0, &a), -log(0.2), 1e-15);
  assert_near(divergence(1e-3, &a), -log(0.4), 1e-11);
  assert_near(divergence(-1e-3, &a), -log(0.2), 1e-11);
  assert_true(divergence(INFINITY, &a) == 0);
  assert_true(divergence(-INFINITY, &a) == 0);
}

/* value = E_p[x] - T KL(p||w): the value and the divergence are consistent. */
static void test_value_is_mean_less_price(void **state)
{
  (void)state;
  for (size_t i = 0; i < CASES; i++)
    for (int t = 0; t < 2 * DECADES; t++) {
      const alternatives a = numbered_case(i);
      const double T = temperature_at(t);
      double p[MOST], mean = 0;
      const double value = soft(T, &a, p);
      for (size_t j = 0; j < a.count; j++) mean += p[j] * a.x[j];
      assert_near(mean - T * divergence(T, &a), value, 1e-11 * largest(&a));
    }
}

static double soft_log(double temperature, const alternatives *a, size_t j)
{
  double log_p[64];
  assert_true(a->count <= 64);
  idm_soft_logs(temperature, a->count, a->weight, a->x, log_p);
  return log_p[j];
}

static void test_log_is_the_logarithm_of_the_probability(void **state)
{
  (void)state;
  for (size_t i = 0; i < CASES; i++)
    for (int t = 0; t < TEMPERATURES; t++) {
      const alternatives a = numbered_case(i);
      const double T = temperature_at(t);
      double p[MOST];
      soft(T, &a, p);
      for (size_t j = 0; j < a.count; j++) {
        const double found = soft_log(T, &a, j);
        if (a.weight[j] == 0) assert_true(found == -INFINITY);
        if (T == 0 && p[j] == 0) assert_true(found == -INFINITY);
        /* The rounding error of the value is divided by T. */
        const double slack = T == 0 ? 1e-14 : 1e-14 * (1 + largest(&a) / fabs(T));
        if (p[j] > 1e-290) assert_near(found, log(p[j]), slack + 1e-14 * fabs(found));
        if (T != 0 && a.weight[j] > 0) assert_true(isfinite(found));
      }
    }
}

static void test_log_where_the_probability_underflows(void **state)
{
  (void)state;
  const alternatives a = {2, {0.5, 0.5}, {0, -1000}};
  double p[MOST];
  soft(1, &a, p);
  assert_true(p[1] == 0);
  assert_near(soft_log(1, &a, 1), -1000, 1e-11);
  assert_near(soft_log(1e-6, &a, 1), -1e9, 1e-4);
  assert_near(soft_log(-1, &a, 0), -1000, 1e-11);
  assert_near(soft_log(1, &a, 0), 0, 1e-15);
}

/* --- small temperatures: accuracy near the limits ------------------------------------------- */

static const double small_temperatures[] = {1e-6, 1e-8, 1e-12, 1e-16, 1e-300, 1e-310, 5e-324};
enum { SMALL = sizeof small_temperatures / sizeof small_temperatures[0] };

static const alternatives small_case = {3, {0.2, 0.3, 0.5}, {10, -36, -1}};

static void test_value_at_small_temperatures(void **state)
{
  (void)state;
  for (int i = 0; i < SMALL; i++) {
    double p[MOST];
    assert_near(soft(small_temperatures[i], &small_case, p), 10, 2 * small_temperatures[i]);
    assert_true(p[0] == 1 && p[1] == 0 && p[2] == 0);
    assert_near(soft(-small_temperatures[i], &small_case, p), -36, 2 * small_temperatures[i]);
    assert_true(p[0] == 0 && p[1] == 1 && p[2] == 0);
  }
}

static void test_divergence_at_small_temperatures(void **state)
{
  (void)state;
  for (int i = 0; i < SMALL; i++) {
    assert_near(divergence(small_temperatures[i], &small_case), -log(0.2), 1e-12);
    assert_near(divergence(-small_temperatures[i], &small_case), -log(0.3), 1e-12);
  }
}

static void test_log_at_small_temperatures(void **state)
{
  (void)state;
  for (int i = 0; i < SMALL; i++) {
    assert_near(soft_log(small_temperatures[i], &small_case, 0), 0, 1e-12);
    assert_near(soft_log(-small_temperatures[i], &small_case, 1), 0, 1e-12);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_value_and_probabilities_keep_their_digits),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_ties_share_by_weight),
      cmocka_unit_test(test_limits_are_approached),
      cmocka_unit_test(test_monotone_and_shift_equivariant),
      cmocka_unit_test(test_convex_above_zero_concave_below),
      cmocka_unit_test(test_between_the_extremes_and_the_mean),
      cmocka_unit_test(test_probabilities_sum_to_one),
      cmocka_unit_test(test_derivative_is_the_probability),
      cmocka_unit_test(test_divergence_is_the_naive_sum),
      cmocka_unit_test(test_divergence_far_from_zero_temperature),
      cmocka_unit_test(test_divergence_is_not_negative),
      cmocka_unit_test(test_divergence_at_the_limits),
      cmocka_unit_test(test_value_is_mean_less_price),
      cmocka_unit_test(test_log_is_the_logarithm_of_the_probability),
      cmocka_unit_test(test_log_where_the_probability_underflows),
      cmocka_unit_test(test_value_at_small_temperatures),
      cmocka_unit_test(test_divergence_at_small_temperatures),
      cmocka_unit_test(test_log_at_small_temperatures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
