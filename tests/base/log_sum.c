/* Tests sums of exponentials against direct sums in long double, and the edge cases documented in
 * the header. */
#include "base/statistics.h"

#include <float.h>

#include "support.h"

enum { most_terms = 40 };

/* The direct sum. Exponentials of up to +-700 times a few are within the range of long double. */
static long double plain_sum(const double *x, size_t count)
{
  long double sum = 0;
  for (size_t i = 0; i < count; i++) sum += expl((long double)x[i]);
  return sum;
}

static double running(const double *x, size_t count)
{
  idm_log_sum sum = idm_log_sum_empty;
  for (size_t i = 0; i < count; i++) idm_log_sum_add(&sum, x[i]);
  return idm_log_sum_value(sum);
}

/* Draws terms around a shift, in rising, falling or random order, some of them -inf. Returns their
 * number. */
static size_t draw_terms(idm_random *random, double *x)
{
  const size_t count = 1 + (size_t)(idm_random_uniform(random) * most_terms);
  const double shift = support_signed(random, 0.01, 650);
  const double spread = support_signed(random, 0.01, 2);
  for (size_t i = 0; i < count; i++)
    x[i] = shift +
           spread * (idm_random_uniform(random) < 0.5 ? (double)i / 8 : idm_random_normal(random));
  if (count > 1 && idm_random_uniform(random) < 0.3) x[count / 2] = -INFINITY;
  return count;
}

static void sums_equal_plain_sums(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 25, 1);
  for (int round = 0; round < 2000; round++) {
    double x[most_terms], p[most_terms], total = 0;
    const size_t count = draw_terms(&random, x);
    const long double plain = plain_sum(x, count);
    const double expected = (double)logl(plain);
    assert_near(idm_log_sum_exp(x, count), expected, 4 * DBL_EPSILON);
    assert_near(running(x, count), expected, 4 * DBL_EPSILON);
    assert_near(idm_softmax(x, count, p), expected, 4 * DBL_EPSILON);
    for (size_t i = 0; i < count; i++) {
      const double share = (double)(expl((long double)x[i]) / plain);
      /* Differences of terms are below 20 and the sum has at most 40 terms, each with its rounding
       * error. */
      assert_true(fabs(p[i] - share) <= 64 * DBL_EPSILON * share);
      total += p[i];
    }
    assert_near(total, 1, 16 * DBL_EPSILON);
    const double pair = (double)logl(plain_sum(x, 2));
    if (count > 1) assert_near(idm_log_add_exp(x[0], x[1]), pair, 4 * DBL_EPSILON);
    if (count > 1) assert_true(idm_log_add_exp(x[1], x[0]) == idm_log_add_exp(x[0], x[1]));
  }
}

static void large_terms_do_not_overflow(void **state)
{
  (void)state;
  const double high[] = {1e6, 1e6, 1e6 - 1e9, -INFINITY};
  const double low[] = {-1e6, -1e6, -1e9};
  const double ends[] = {-DBL_MAX, DBL_MAX};
  double p[4];
  assert_near(idm_log_sum_exp(high, 4), 1e6 + log(2), DBL_EPSILON);
  assert_near(idm_softmax(high, 4, p), 1e6 + log(2), DBL_EPSILON);
  assert_true(p[0] == 0.5 && p[1] == 0.5 && p[2] == 0 && p[3] == 0);
  assert_near(running(low, 3), -1e6 + log(2), DBL_EPSILON);
  assert_true(idm_log_add_exp(1e6, -1e6) == 1e6);
  assert_true(idm_log_sum_exp(ends, 2) == DBL_MAX);
  assert_true(idm_softmax(ends, 2, p) == DBL_MAX && p[0] == 0 && p[1] == 1);
  assert_true(idm_log_add_exp(ends[0], ends[1]) == DBL_MAX);
}

/* Checks that all four functions return the same number. Weights are 0 where it is not finite. */
static void expect_sum(const double *x, size_t count, double expected)
{
  double p[most_terms];
  const double found[] = {idm_log_sum_exp(x, count), running(x, count), idm_softmax(x, count, p),
                          count == 2 ? idm_log_add_exp(x[0], x[1]) : expected};
  for (size_t k = 0; k < 4; k++)
    assert_true(isnan(expected) ? isnan(found[k]) : found[k] == expected);
  for (size_t i = 0; i < count; i++) assert_true(isfinite(expected) || p[i] == 0);
}

static void edge_cases_follow_the_header(void **state)
{
  (void)state;
  const double inf = INFINITY;
  expect_sum(NULL, 0, -inf);
  expect_sum((const double[]){-inf}, 1, -inf);
  expect_sum((const double[]){-inf, -inf}, 2, -inf);
  expect_sum((const double[]){-inf, 3}, 2, 3);
  expect_sum((const double[]){3, -inf}, 2, 3);
  expect_sum((const double[]){inf, 3}, 2, inf);
  expect_sum((const double[]){3, inf}, 2, inf);
  expect_sum((const double[]){inf, inf}, 2, inf);
  expect_sum((const double[]){inf, -inf}, 2, inf);
  expect_sum((const double[]){-inf, inf, 3, inf}, 4, inf);
  expect_sum((const double[]){NAN}, 1, NAN);
  expect_sum((const double[]){NAN, 3}, 2, NAN);
  expect_sum((const double[]){3, NAN}, 2, NAN);
  expect_sum((const double[]){-inf, NAN}, 2, NAN);
  expect_sum((const double[]){inf, NAN}, 2, NAN);
  expect_sum((const double[]){NAN, inf}, 2, NAN);
  expect_sum((const double[]){NAN, 3, inf, 4}, 4, NAN);
}

static void softmax_works_in_place(void **state)
{
  (void)state;
  double x[] = {log(1), log(3), log(4)};
  assert_near(idm_softmax(x, 3, x), log(8), DBL_EPSILON);
  assert_near(x[0], 0.125, DBL_EPSILON);
  assert_near(x[1], 0.375, DBL_EPSILON);
  assert_near(x[2], 0.5, DBL_EPSILON);
}

static void floor_raises_small_weights(void **state)
{
  (void)state;
  double x[] = {1000, 1000 + log(0.5), 0, -INFINITY};
  double none[] = {-INFINITY, -INFINITY};
  double first[] = {3, INFINITY};
  double part[] = {NAN, 3};
  idm_softmax_floor(x, 4, 0.25);
  assert_near(x[0], 1 / 2.0, 1e-13);
  assert_near(x[1], 0.5 / 2, 1e-13);
  assert_near(x[2], 0.25 / 2, 1e-13);
  assert_near(x[3], 0.25 / 2, 1e-13);
  idm_softmax_floor(none, 2, 0.25);
  assert_true(none[0] == 0.5 && none[1] == 0.5);
  idm_softmax_floor(first, 2, 0.25);
  assert_true(first[0] == 0.5 && first[1] == 0.5);
  idm_softmax_floor(part, 2, 0.25);
  assert_near(part[0], 0.2, 1e-15);
  assert_near(part[1], 0.8, 1e-15);
  idm_softmax_floor(NULL, 0, 0.25);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_equal_plain_sums),        cmocka_unit_test(large_terms_do_not_overflow),
      cmocka_unit_test(edge_cases_follow_the_header), cmocka_unit_test(softmax_works_in_place),
      cmocka_unit_test(floor_raises_small_weights),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
