/* Tests elimination and null spaces on matrices of known rank, and the threshold below which a
 * number counts as 0. */
#include "base/dense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { ROWS = 7, COLUMNS = 9 };

/* Random matrices of known rank: every basis vector is mapped to 0, and the basis has the expected
 * dimension. */
static void test_random_ranks(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    idm_random random;
    idm_random_init(&random, seed, 0);
    const size_t rank = seed % 7;
    double a[ROWS * COLUMNS] = {0}, reduced[ROWS * COLUMNS], basis[COLUMNS * COLUMNS];
    size_t pivot[ROWS];
    for (size_t k = 0; k < rank; k++) {
      double left[ROWS], right[COLUMNS];
      for (size_t i = 0; i < ROWS; i++) left[i] = idm_random_normal(&random);
      for (size_t j = 0; j < COLUMNS; j++) right[j] = idm_random_normal(&random);
      for (size_t i = 0; i < ROWS * COLUMNS; i++) a[i] += left[i / COLUMNS] * right[i % COLUMNS];
    }
    memcpy(reduced, a, sizeof a);
    assert_int_equal(idm_row_reduce(ROWS, COLUMNS, reduced, 1e-10, pivot), rank);
    idm_null_space(COLUMNS, reduced, rank, pivot, basis);
    for (size_t v = 0; v < COLUMNS - rank; v++)
      for (size_t i = 0; i < ROWS; i++) {
        double sum = 0;
        for (size_t j = 0; j < COLUMNS; j++) sum += a[i * COLUMNS + j] * basis[v * COLUMNS + j];
        assert_near(sum, 0, 1e-10);
      }
  }
}

static void test_echelon_form(void **state)
{
  (void)state;
  double a[] = {2, 4, 6, 1, 2, 5};
  size_t pivot[2];
  double basis[3];
  assert_int_equal(idm_row_reduce(2, 3, a, 1e-12, pivot), 2);
  assert_int_equal(pivot[0], 0);
  assert_int_equal(pivot[1], 2);
  const double expected[] = {1, 2, 0, 0, 0, 1};
  for (size_t i = 0; i < 6; i++) assert_near(a[i], expected[i], 1e-15);
  idm_null_space(3, a, 2, pivot, basis);
  assert_near(basis[0], -2, 1e-15);
  assert_near(basis[1], 1, 1e-15);
  assert_near(basis[2], 0, 1e-15);
}

static void test_what_counts_as_zero(void **state)
{
  (void)state;
  size_t pivot[2];
  double near[] = {1, 1, 1, 1 + 1e-12};
  double far[] = {1, 1, 1, 1 + 1e-6};
  assert_int_equal(idm_row_reduce(2, 2, near, 1e-10, pivot), 1);
  assert_int_equal(idm_row_reduce(2, 2, far, 1e-10, pivot), 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_ranks),
                                     cmocka_unit_test(test_echelon_form),
                                     cmocka_unit_test(test_what_counts_as_zero)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
