/* Least-squares quadratics: exact for quadratic values, and orthogonal residuals otherwise. */
#include "infer/approximation.h"

#include <math.h>

#include "support.h"

enum { DIMENSION = 3, TERMS = 10, POINTS = 60 };

/* 1, x, y, z, xx, xy, xz, yy, yz, zz. */
static const double truth[TERMS] = {3, -1, 0.5, 2, 0.25, -0.75, 0, 1.5, 0.125, -2};

static double value_at(const double *x)
{
  const double term[TERMS] = {1,           x[0],        x[1],        x[2],        x[0] * x[0],
                              x[0] * x[1], x[0] * x[2], x[1] * x[1], x[1] * x[2], x[2] * x[2]};
  double sum = 0;
  for (size_t i = 0; i < TERMS; i++) sum += truth[i] * term[i];
  return sum;
}

static void draw(idm_random *random, double *x)
{
  for (size_t i = 0; i < POINTS * DIMENSION; i++) x[i] = idm_random_normal(random);
}

static void test_a_quadratic_function_is_found(void **state)
{
  (void)state;
  double x[POINTS * DIMENSION], value[POINTS], weight[POINTS], found[TERMS];
  idm_random random;
  idm_random_init(&random, 5, 1);
  draw(&random, x);
  for (size_t k = 0; k < POINTS; k++) {
    value[k] = value_at(x + k * DIMENSION);
    weight[k] = idm_random_uniform(&random);
  }
  /* A value of weight 0 is ignored. */
  weight[7] = 0;
  value[7] = -INFINITY;
  check(idm_quadratic_fit(DIMENSION, TERMS, POINTS, x, value, weight, found, &support_error));
  for (size_t i = 0; i < TERMS; i++) assert_near(found[i], truth[i], 1e-10);
  for (size_t k = 8; k < POINTS; k++)
    assert_near(idm_quadratic_at(DIMENSION, TERMS, found, x + k * DIMENSION), value[k], 1e-10);
}

/* Least-squares residuals are orthogonal to every term. */
static void test_residuals_stand_upright(void **state)
{
  (void)state;
  double x[POINTS * DIMENSION], value[POINTS], found[1 + DIMENSION];
  idm_random random;
  idm_random_init(&random, 5, 2);
  draw(&random, x);
  for (size_t k = 0; k < POINTS; k++)
    value[k] = value_at(x + k * DIMENSION) + idm_random_normal(&random);
  check(idm_quadratic_fit(DIMENSION, 1 + DIMENSION, POINTS, x, value, NULL, found, &support_error));
  double sum[1 + DIMENSION] = {0};
  for (size_t k = 0; k < POINTS; k++) {
    const double left =
        value[k] - idm_quadratic_at(DIMENSION, 1 + DIMENSION, found, x + k * DIMENSION);
    sum[0] += left;
    for (size_t i = 0; i < DIMENSION; i++) sum[1 + i] += left * x[k * DIMENSION + i];
  }
  for (size_t i = 0; i <= DIMENSION; i++) assert_near(sum[i], 0, 1e-10);
}

static void test_as_many_terms_as_points_tell(void **state)
{
  (void)state;
  assert_int_equal(idm_quadratic_terms(3, 40), 10);
  assert_int_equal(idm_quadratic_terms(3, 39), 4);
  assert_int_equal(idm_quadratic_terms(3, 7), 1);
  assert_int_equal(idm_quadratic_terms(1, 12), 3);
}

/* Two distinct points do not determine a curvature; values that are not finite are refused. */
static void test_what_cannot_be_told(void **state)
{
  (void)state;
  const double x[] = {0, 1, 0, 1, 0, 1}, value[] = {1, 2, 1, 2, 1, 2};
  const double lost[] = {1, 2, 1, -INFINITY, 1, 2};
  double found[3];
  assert_int_equal(idm_quadratic_fit(1, 3, 6, x, value, NULL, found, NULL), IDM_NUMERICAL);
  check(idm_quadratic_fit(1, 2, 6, x, value, NULL, found, &support_error));
  assert_near(found[1], 1, 1e-12);
  assert_int_equal(idm_quadratic_fit(1, 2, 6, x, lost, NULL, found, NULL), IDM_NUMERICAL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_quadratic_function_is_found),
      cmocka_unit_test(test_residuals_stand_upright),
      cmocka_unit_test(test_as_many_terms_as_points_tell),
      cmocka_unit_test(test_what_cannot_be_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
