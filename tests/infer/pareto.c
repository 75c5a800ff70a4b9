/* The Pareto shape of a tail: known shapes, the estimator of Zhang and Stephens written out, and
 * samples without a shape. */
#include <math.h>
#include <stdlib.h>

#include "infer/approximation.h"
#include "support.h"

enum { COUNT = 20000 };

static double shape_of(const double *x, size_t count)
{
  double shape = 99;
  check(idm_pareto_shape(x, count, &shape, &support_error));
  return shape;
}

/* (U^-k - 1) / k has shape k. 425 tail draws give a standard error of (1 + k) / sqrt(425);
 * tolerance of 5 standard errors. */
static void test_known_shapes(void **state)
{
  (void)state;
  const double shapes[] = {-0.3, 0.2, 0.5, 1, 1.5};
  double *x = calloc(COUNT, sizeof *x);
  assert_non_null(x);
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    idm_random random;
    idm_random_init(&random, 5, s);
    for (size_t i = 0; i < COUNT; i++)
      x[i] = 100 + 3 * (pow(idm_random_uniform(&random), -shapes[s]) - 1) / shapes[s];
    assert_true(fabs(shape_of(x, COUNT) - shapes[s]) < 5 * (1 + fabs(shapes[s])) / sqrt(425));
  }
  free(x);
}

/* A normal variable has a light tail, its exponential with sd 4 a heavy one, at any scale. */
static void test_scales(void **state)
{
  (void)state;
  double *x = calloc(COUNT, sizeof *x);
  assert_non_null(x);
  idm_random random;
  idm_random_init(&random, 6, 0);
  for (size_t i = 0; i < COUNT; i++) x[i] = idm_random_normal(&random);
  const double light = shape_of(x, COUNT);
  assert_true(light < 0.2);
  for (size_t i = 0; i < COUNT; i++) x[i] *= 1e-9;
  assert_near(shape_of(x, COUNT), light, 1e-6);
  for (size_t i = 0; i < COUNT; i++) x[i] = exp(4e9 * x[i]);
  assert_true(shape_of(x, COUNT) > 0.9);
  free(x);
}

static int falling(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

/* Mean of log(1 - rate (x_i - threshold)) over x[0 .. tail - 1]. */
static long double plain_shape(const double *x, size_t tail, long double rate)
{
  long double sum = 0;
  for (size_t i = 0; i < tail; i++) sum += logl(1 - rate * (x[i] - (long double)x[tail]));
  return sum / tail;
}

/* The estimator of Zhang and Stephens (2009): weight j is 1 / sum_i exp(l_i - l_j), without
 * normalisation. Sorts x in decreasing order. */
static double plain_estimate(double *x, size_t count)
{
  enum { most_rates = 100 };
  qsort(x, count, sizeof *x, falling);
  const size_t tail = (size_t)fmin((double)count / 5, 3 * sqrt((double)count));
  const size_t rates = 30 + (size_t)sqrt((double)tail);
  const long double quartile =
      x[tail - (size_t)floor((double)tail / 4 + 0.5)] - (long double)x[tail];
  long double rate[most_rates], level[most_rates], mean = 0;
  assert_true(rates <= most_rates);
  for (size_t j = 0; j < rates; j++) {
    rate[j] = 1 / (x[0] - (long double)x[tail]) +
              (1 - sqrtl((long double)rates / (j + 0.5L))) / (3 * quartile);
    const long double shape = plain_shape(x, tail, rate[j]);
    level[j] = tail * (logl(-rate[j] / shape) - shape - 1);
  }
  for (size_t j = 0; j < rates; j++) {
    long double sum = 0;
    for (size_t i = 0; i < rates; i++) sum += expl(level[i] - level[j]);
    mean += rate[j] / sum;
  }
  return (double)((plain_shape(x, tail, mean) * tail + 5) / (tail + 10));
}

/* Sample sizes on both sides of count / 5 = 3 sqrt(count), and several shapes. */
static void test_against_plain_sums(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 7, 0);
  for (int round = 0; round < 40; round++) {
    double x[1000];
    const size_t count = 30 + (size_t)(idm_random_uniform(&random) * 970);
    const double k = 1.5 * idm_random_uniform(&random) - 0.4;
    for (size_t i = 0; i < count; i++) x[i] = pow(idm_random_uniform(&random), -k) / k;
    const double shape = shape_of(x, count);
    assert_near(shape, plain_estimate(x, count), 1e-9);
  }
}

static void test_without_a_tail(void **state)
{
  (void)state;
  double x[200];
  for (size_t i = 0; i < 200; i++) x[i] = 7;
  assert_true(shape_of(x, 200) == -INFINITY);
  x[3] = INFINITY;
  assert_true(isnan(shape_of(x, 200)));
  x[3] = NAN;
  assert_true(isnan(shape_of(x, 200)));
  /* A tail of five values is too short, one of six is not. */
  x[3] = 7;
  assert_true(isnan(shape_of(x, 29)));
  assert_true(shape_of(x, 30) == -INFINITY);
  /* Of the 40 tail values of 200, 10 equal the threshold: one too many. */
  for (size_t i = 0; i < 200; i++) x[i] = i < 170 ? 7 : (double)i;
  assert_true(isnan(shape_of(x, 200)));
  x[169] = 8;
  assert_true(isfinite(shape_of(x, 200)));
  /* So are 10 that are equal above the threshold, unless all are. */
  for (size_t i = 160; i < 170; i++) x[i] = 8;
  assert_true(isnan(shape_of(x, 200)));
  for (size_t i = 160; i < 200; i++) x[i] = 8;
  assert_true(shape_of(x, 200) == -INFINITY);
}

/* The tail is longer where draws are less efficient, up to a fifth. */
static void test_tail_length(void **state)
{
  (void)state;
  assert_int_equal(idm_pareto_tail(0, 1), 0);
  assert_int_equal(idm_pareto_tail(29, 1), 5);
  assert_int_equal(idm_pareto_tail(225, 1), 45);
  assert_int_equal(idm_pareto_tail(4000, 1), 189);
  assert_int_equal(idm_pareto_tail(4000, 0.25), 379);
  assert_int_equal(idm_pareto_tail(4000, 0.01), 800);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_shapes),       cmocka_unit_test(test_scales),
      cmocka_unit_test(test_against_plain_sums), cmocka_unit_test(test_without_a_tail),
      cmocka_unit_test(test_tail_length),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
