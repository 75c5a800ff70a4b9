/* The shape of a tail: known shapes found again, and what has none. */
#include <math.h>
#include <stdlib.h>

#include "idm/pareto.h"
#include "support.h"

enum { COUNT = 20000 };

static double shape_of(const double *x, size_t count)
{
  double shape = 99;
  check(idm_pareto_shape(x, count, &shape, &support_error));
  return shape;
}

/* (U^-k - 1) / k has the shape k. 425 tail draws tell it to (1 + k) / sqrt(425): 5 sd. */
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

/* A normal has a light tail, its exponential with sd 4 a heavy one, at any scale. */
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
  assert_true(isnan(shape_of(x, 10)));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_shapes),
      cmocka_unit_test(test_scales),
      cmocka_unit_test(test_without_a_tail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
