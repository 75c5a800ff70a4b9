/* Tests least squares of least norm by the normal equations, orthogonality to the null space, and
 * matrices of known rank. */
#include "base/dense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { MOST = 12 };

/* x solves the normal equations and is orthogonal to every y with a y = 0, so it has the least
 * norm. */
static void check_system(size_t rows, size_t columns, size_t rank, uint64_t seed)
{
  idm_random random;
  idm_random_init(&random, seed, 0);
  double a[MOST * MOST] = {0}, b[MOST], left[MOST * MOST], right[MOST * MOST];
  double copy[MOST * MOST], other[MOST], x[MOST];
  for (size_t i = 0; i < MOST * MOST; i++) left[i] = idm_random_normal(&random);
  for (size_t i = 0; i < MOST * MOST; i++) right[i] = idm_random_normal(&random);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++)
      for (size_t k = 0; k < rank; k++)
        a[i * columns + j] += left[i * MOST + k] * right[k * MOST + j];
  for (size_t i = 0; i < rows; i++) b[i] = idm_random_normal(&random);
  memcpy(copy, a, sizeof a);
  memcpy(other, b, sizeof b);
  size_t found = 99;
  assert_true(idm_least_squares(rows, columns, copy, other, 1e-10, x, &found));
  assert_int_equal(found, rank);
  for (size_t j = 0; j < columns; j++) {
    double slope = 0;
    for (size_t i = 0; i < rows; i++) {
      double residual = -b[i];
      for (size_t k = 0; k < columns; k++) residual += a[i * columns + k] * x[k];
      slope += a[i * columns + j] * residual;
    }
    assert_near(slope, 0, 1e-9);
  }
  /* x lies in the span of the rows of `a`. */
  double rest[MOST];
  memcpy(rest, x, sizeof rest);
  double q[MOST * MOST];
  for (size_t i = 0; i < rank; i++) {
    for (size_t j = 0; j < columns; j++) q[i * columns + j] = copy[i * columns + j];
    for (size_t k = 0; k < i; k++) {
      double dot = 0;
      for (size_t j = 0; j < columns; j++) dot += q[i * columns + j] * q[k * columns + j];
      for (size_t j = 0; j < columns; j++) q[i * columns + j] -= dot * q[k * columns + j];
    }
    double norm = 0;
    for (size_t j = 0; j < columns; j++) norm = hypot(norm, q[i * columns + j]);
    for (size_t j = 0; j < columns; j++) q[i * columns + j] /= norm;
    double dot = 0;
    for (size_t j = 0; j < columns; j++) dot += q[i * columns + j] * rest[j];
    for (size_t j = 0; j < columns; j++) rest[j] -= dot * q[i * columns + j];
  }
  for (size_t j = 0; j < columns; j++) assert_near(rest[j], 0, 1e-8);
}

static void test_every_shape(void **state)
{
  (void)state;
  uint64_t seed = 1;
  for (size_t rows = 1; rows <= MOST; rows += 2)
    for (size_t columns = 1; columns <= MOST; columns += 3)
      for (size_t rank = 0; rank <= rows && rank <= columns; rank++)
        check_system(rows, columns, rank, seed++);
}

static void test_exact(void **state)
{
  (void)state;
  double a[] = {1, 1, 0, 0, 0, 2}; /* x + y = 3, 2 z = 8: least norm 1.5, 1.5, 4 */
  double b[] = {3, 8};
  double x[3];
  size_t rank;
  assert_true(idm_least_squares(2, 3, a, b, 1e-12, x, &rank));
  assert_int_equal(rank, 2);
  assert_near(x[0], 1.5, 1e-14);
  assert_near(x[1], 1.5, 1e-14);
  assert_near(x[2], 4, 1e-14);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_shape),
                                     cmocka_unit_test(test_exact)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
