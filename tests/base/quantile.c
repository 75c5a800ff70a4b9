/* Tests sorting and quantiles against definitions by counting. */
#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "support.h"

enum { most_numbers = 30 };

/* The k-th smallest number, counted from 0, by counting smaller and equal numbers. */
static double order_statistic(const double *x, size_t count, size_t k)
{
  for (size_t i = 0; i < count; i++) {
    size_t below = 0, equal = 0;
    for (size_t j = 0; j < count; j++) {
      below += x[j] < x[i];
      equal += x[j] == x[i];
    }
    if (below <= k && k < below + equal) return x[i];
  }
  return NAN;
}

/* Quantile of type 7 in R: linear interpolation between the order statistics around (count - 1) q.
 */
static double plain_quantile(const double *x, size_t count, double q)
{
  const long double place = (long double)q * (long double)(count - 1);
  const long double low = floorl(place), share = place - low;
  const long double from = order_statistic(x, count, (size_t)low);
  const long double to = order_statistic(x, count, (size_t)ceill(place));
  return (double)(from + share * (to - from));
}

static size_t draw_numbers(idm_random *random, double *x)
{
  const size_t count = 1 + (size_t)(idm_random_uniform(random) * most_numbers);
  const bool ties = idm_random_uniform(random) < 0.5;
  for (size_t i = 0; i < count; i++) {
    x[i] = 10 * idm_random_normal(random);
    if (ties) x[i] = floor(x[i] / 5);
  }
  return count;
}

static void quantiles_lie_between_order_statistics(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 25, 2);
  for (int round = 0; round < 2000; round++) {
    double x[most_numbers], sorted[most_numbers];
    const size_t count = draw_numbers(&random, x);
    const double q = idm_random_uniform(&random);
    const double expected = plain_quantile(x, count, q);
    for (size_t i = 0; i < count; i++) sorted[i] = x[i];
    idm_sort(sorted, count);
    for (size_t i = 0; i < count; i++) assert_true(sorted[i] == order_statistic(x, count, i));
    assert_near(idm_sorted_quantile(sorted, count, q), expected, 1e-14);
    assert_near(idm_quantile(x, count, q), expected, 1e-14);
  }
}

static void quantiles_have_the_values_of_r(void **state)
{
  (void)state;
  double x[] = {4, 1, 3, 2};
  assert_near(idm_quantile(x, 4, 0.5), 2.5, 1e-15);
  assert_true(x[0] == 1 && x[1] == 2 && x[2] == 3 && x[3] == 4);
  assert_true(idm_quantile(x, 4, 0) == 1);
  assert_true(idm_quantile(x, 4, 1) == 4);
  assert_near(idm_quantile(x, 4, 0.9), 3.7, 1e-14);
  assert_true(idm_quantile(x, 1, 0.3) == 1);
}

static void integer_places_are_exact(void **state)
{
  (void)state;
  double line[2001];
  for (int i = 0; i < 2001; i++) line[i] = i;
  for (int k = 0; k <= 20; k++) assert_true(idm_quantile(line, 2001, 0.05 * k) == 100.0 * k);
}

static void edge_cases_follow_the_header(void **state)
{
  (void)state;
  double x[] = {4, 1, 3, 2};
  double y[] = {1, NAN};
  double z[] = {INFINITY, 0, INFINITY, -INFINITY};
  assert_true(isnan(idm_quantile(NULL, 4, 0.3)));
  assert_true(isnan(idm_quantile(x, 0, 0.3)));
  assert_true(isnan(idm_quantile(x, 4, 1.5)));
  assert_true(isnan(idm_quantile(x, 4, -0.5)));
  assert_true(isnan(idm_quantile(x, 4, NAN)));
  assert_true(isnan(idm_quantile(y, 2, 0.5)));
  assert_true(idm_quantile(z, 4, 0) == -INFINITY);
  assert_true(idm_quantile(z, 4, 0.9) == INFINITY);
  assert_true(idm_quantile(z, 4, 1.0 / 3) == 0);
  idm_sort(NULL, 0);
}

static void order_is_that_of_values_then_indices(void **state)
{
  (void)state;
  const double x[] = {3, -INFINITY, 1, 3, INFINITY, 1};
  const size_t expected[] = {1, 2, 5, 0, 3, 4};
  idm_indexed *order = idm_sort_order(x, 6);
  assert_non_null(order);
  for (size_t i = 0; i < 6; i++) {
    assert_int_equal(order[i].index, expected[i]);
    assert_true(order[i].value == x[expected[i]]);
  }
  free(order);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quantiles_lie_between_order_statistics),
      cmocka_unit_test(quantiles_have_the_values_of_r),
      cmocka_unit_test(integer_places_are_exact),
      cmocka_unit_test(edge_cases_follow_the_header),
      cmocka_unit_test(order_is_that_of_values_then_indices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
