/* Tests sensitivity to power scaling by hand computations, limits, a normal posterior and bad
 * input. ArviZ's sensitivities are compared in tests/comparison.py. */
#include <math.h>

#include "infer/comparison.h"
#include "support.h"

enum { DRAWS = 20000 };

static double distance_of(const double *x, const double *weight, size_t count)
{
  double distance;
  check(idm_cumulative_distance(x, weight, count, &distance, &support_error));
  return distance;
}

/* Two draws a unit apart, with distribution functions 1/2 and w between them: of the divergences
 * p log2(p / m) + (m - p) / log 2, m = (p + q) / 2, over p + q. Reversed, q is 1 - w. */
static void test_two_draws(void **state)
{
  (void)state;
  const double x[] = {5, 4}, weight[] = {0.8 * 7, 0.2 * 7};
  double squares[2];
  for (int reversed = 0; reversed < 2; reversed++) {
    const double p = 0.5, q = reversed ? 0.8 : 0.2, m = (p + q) / 2;
    squares[reversed] = (p * log2(p / m) + q * log2(q / m)) / (p + q);
  }
  assert_near(distance_of(x, weight, 2), sqrt(fmax(squares[0], squares[1])), 1e-14);
}

static void test_distance(void **state)
{
  (void)state;
  double x[100], negated[100], weight[100], equal[100];
  idm_random random;
  idm_random_init(&random, 1, 0);
  for (size_t i = 0; i < 100; i++) {
    x[i] = idm_random_normal(&random);
    negated[i] = -3 * x[i] + 10;
    weight[i] = idm_random_uniform(&random);
    equal[i] = 1;
  }
  assert_true(distance_of(x, equal, 100) < 1e-8);
  assert_true(distance_of(equal, weight, 100) == 0);
  const double distance = distance_of(x, weight, 100);
  assert_true(distance > 0.01 && distance < 1);
  assert_near(distance_of(negated, weight, 100), distance, 1e-12);
  for (size_t i = 0; i < 100; i++) weight[i] = i == 50;
  assert_true(distance_of(x, weight, 100) > distance && distance_of(x, weight, 100) <= 1);
}

/* Weights of a component are its power less 1, normalised: those of powers that cancel are equal.
 */
static void test_weights(void **state)
{
  (void)state;
  double log_density[20], weight[20], sum = 0;
  for (size_t i = 0; i < 20; i++) log_density[i] = 0.1 * (double)i;
  check(idm_power_weights(log_density, 20, 3, weight, &support_error));
  for (size_t i = 0; i < 20; i++) {
    sum += weight[i];
    assert_near(weight[i] / weight[0], exp(2 * log_density[i]), 1e-12);
  }
  assert_near(sum, 1, 1e-14);
  check(idm_power_weights(log_density, 20, 1, weight, &support_error));
  for (size_t i = 0; i < 20; i++) assert_near(weight[i], 0.05, 1e-15);
}

/* A posterior N(0, 1): a prior with log density a x shifts it by a (power - 1), a quantity that is
 * independent of the component is not sensitive, and neither is any quantity to a constant. */
static void test_sensitivity(void **state)
{
  (void)state;
  static double x[DRAWS], other[DRAWS], component[DRAWS];
  double weak, strong, none, unrelated;
  idm_random random;
  idm_random_init(&random, 2, 0);
  for (size_t i = 0; i < DRAWS; i++) {
    x[i] = idm_random_normal(&random);
    other[i] = idm_random_normal(&random);
    component[i] = x[i];
  }
  check(idm_power_sensitivity(component, x, DRAWS, &weak, &support_error));
  check(idm_power_sensitivity(component, other, DRAWS, &unrelated, &support_error));
  for (size_t i = 0; i < DRAWS; i++) component[i] *= 4;
  check(idm_power_sensitivity(component, x, DRAWS, &strong, &support_error));
  for (size_t i = 0; i < DRAWS; i++) component[i] = -3;
  check(idm_power_sensitivity(component, x, DRAWS, &none, &support_error));
  assert_near(strong / weak, 4, 0.1);
  assert_true(strong > 0.05 && unrelated < 0.2 * weak && none < 1e-6);
}

static void test_bad_input(void **state)
{
  (void)state;
  const double good[] = {1, 2, 3}, bad[] = {1, NAN, 3}, infinite[] = {1, -INFINITY, 3};
  const double zero[] = {0, 0, 0}, negative[] = {1, -1, 1};
  double weight[3], s;
  assert_int_equal(idm_power_weights(good, 0, 2, weight, &support_error), IDM_USAGE);
  assert_int_equal(idm_power_weights(bad, 3, 2, weight, &support_error), IDM_INPUT);
  assert_int_equal(idm_power_weights(infinite, 3, 2, weight, &support_error), IDM_INPUT);
  assert_int_equal(idm_cumulative_distance(good, good, 0, &s, &support_error), IDM_USAGE);
  assert_int_equal(idm_cumulative_distance(bad, good, 3, &s, &support_error), IDM_INPUT);
  assert_int_equal(idm_cumulative_distance(good, bad, 3, &s, &support_error), IDM_INPUT);
  assert_int_equal(idm_cumulative_distance(good, zero, 3, &s, &support_error), IDM_INPUT);
  assert_int_equal(idm_cumulative_distance(good, negative, 3, &s, &support_error), IDM_INPUT);
  assert_int_equal(idm_power_sensitivity(good, bad, 3, &s, &support_error), IDM_INPUT);
  assert_int_equal(idm_power_sensitivity(infinite, good, 3, &s, &support_error), IDM_INPUT);
  assert_int_equal(idm_power_sensitivity(good, good, 0, &s, &support_error), IDM_USAGE);
  check(idm_power_sensitivity(good, good, 1, &s, &support_error));
  assert_true(s == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_draws), cmocka_unit_test(test_distance),
      cmocka_unit_test(test_weights),   cmocka_unit_test(test_sensitivity),
      cmocka_unit_test(test_bad_input),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
