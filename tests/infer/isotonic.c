/* Tests isotonic regression against the max-min formula, and its bad input. */
#include <math.h>

#include "infer/comparison.h"
#include "support.h"

enum { MOST = 25 };

/* Value at v: the largest over a <= v of the smallest over b >= v of the mean of y where x is in
 * [a, b] (Barlow, Bartholomew, Bremner and Brunk 1972). */
static double plain_value(const double *x, const double *y, const double *weight, size_t count,
                          double v)
{
  double largest = -INFINITY;
  for (size_t a = 0; a < count; a++) {
    double smallest = INFINITY;
    for (size_t b = 0; b < count && x[a] <= v; b++) {
      double sum = 0, total = 0;
      for (size_t i = 0; i < count && x[b] >= v; i++)
        if (x[i] >= x[a] && x[i] <= x[b]) {
          sum += weight[i] * y[i];
          total += weight[i];
        }
      if (x[b] >= v) smallest = fmin(smallest, sum / total);
    }
    if (x[a] <= v) largest = fmax(largest, smallest);
  }
  return largest;
}

static void test_against_formula(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 1, 0);
  for (size_t round = 0; round < 60; round++) {
    double x[MOST], y[MOST], weight[MOST], fitted[MOST];
    const size_t count = 1 + round % MOST;
    for (size_t i = 0; i < count; i++) {
      x[i] = floor((round % 2 ? 5 : 1000) * idm_random_uniform(&random));
      y[i] = idm_random_normal(&random);
      weight[i] = 0.1 + idm_random_uniform(&random);
    }
    check(idm_isotonic(x, y, weight, count, fitted, &support_error));
    for (size_t i = 0; i < count; i++)
      assert_near(fitted[i], plain_value(x, y, weight, count, x[i]), 1e-13);
    for (size_t i = 0; i < count; i++) weight[i] = 1;
    check(idm_isotonic(x, y, NULL, count, y, &support_error)); /* in place */
    check(idm_isotonic(x, y, weight, count, fitted, &support_error));
    for (size_t i = 0; i < count; i++) assert_near(fitted[i], y[i], 1e-13);
  }
}

static void test_bad_input(void **state)
{
  (void)state;
  const double one[] = {1, 2}, nan[] = {1, NAN}, infinite[] = {1, INFINITY}, zero[] = {1, 0};
  double fitted[2];
  assert_int_equal(idm_isotonic(one, one, NULL, 0, fitted, &support_error), IDM_USAGE);
  assert_int_equal(idm_isotonic(nan, one, NULL, 2, fitted, &support_error), IDM_INPUT);
  assert_int_equal(idm_isotonic(one, nan, NULL, 2, fitted, &support_error), IDM_INPUT);
  assert_int_equal(idm_isotonic(one, infinite, NULL, 2, fitted, &support_error), IDM_INPUT);
  assert_int_equal(idm_isotonic(one, one, zero, 2, fitted, &support_error), IDM_INPUT);
  assert_int_equal(idm_isotonic(one, one, infinite, 2, fitted, &support_error), IDM_INPUT);
  check(idm_isotonic(infinite, one, NULL, 2, fitted, &support_error));
  assert_true(fitted[0] == 1 && fitted[1] == 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_formula),
      cmocka_unit_test(test_bad_input),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
