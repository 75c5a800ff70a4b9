/* Tests LU factorisation within an envelope and its solves against products with the matrix itself.
 */
#include "base/dense.h"

#include <math.h>
#include <string.h>

#include "support.h"

enum { N = 40 };

/* Fills a diagonally dominant matrix with a band of the given width and, if width > 0, one full row
 * and one full column. */
static void fill(idm_random *random, size_t width, double *a)
{
  for (size_t i = 0; i < N; i++) {
    double sum = 0;
    for (size_t j = 0; j < N; j++) {
      const size_t apart = i > j ? i - j : j - i;
      const bool within = apart <= width || (width && (i == 11 || j == 17));
      a[i * N + j] = i != j && within ? 2 * idm_random_uniform(random) - 1 : 0;
      sum += fabs(a[i * N + j]);
    }
    a[i * N + i] = sum + 0.1;
  }
}

static void solves(void **state)
{
  (void)state;
  static const size_t widths[] = {0, 1, 5, N};
  idm_random random;
  idm_random_init(&random, 7, 0);
  for (size_t w = 0; w < 4; w++) {
    double a[N * N], lu[N * N], b[N], x[N], y[N];
    idm_row_extent extent[N];
    fill(&random, widths[w], a);
    memcpy(lu, a, sizeof a);
    for (size_t i = 0; i < N; i++) x[i] = y[i] = b[i] = idm_random_uniform(&random);
    assert_true(idm_envelope_factor(N, lu, extent));
    idm_envelope_solve(N, lu, extent, x);
    idm_envelope_solve_transposed(N, lu, extent, y);
    for (size_t i = 0; i < N; i++) {
      double straight = 0, across = 0;
      for (size_t j = 0; j < N; j++) {
        straight += a[i * N + j] * x[j];
        across += a[j * N + i] * y[j];
      }
      assert_near(straight, b[i], 1e-13);
      assert_near(across, b[i], 1e-13);
    }
  }
}

/* The factors of a banded matrix stay within the band. */
static void keeps_zeros(void **state)
{
  (void)state;
  double a[N * N] = {0};
  idm_row_extent extent[N];
  for (size_t i = 0; i < N; i++) {
    a[i * N + i] = 4;
    if (i) a[i * N + i - 1] = -1;
    if (i + 2 < N) a[i * N + i + 2] = -1;
  }
  assert_true(idm_envelope_factor(N, a, extent));
  for (size_t i = 0; i < N; i++) {
    assert_int_equal(extent[i].first, i ? i - 1 : 0);
    assert_true(extent[i].last <= i + 2);
    for (size_t j = 0; j < N; j++)
      if (j + 1 < i || j > i + 2) assert_true(a[i * N + j] == 0);
  }
}

static void refuses_pivots_of_zero(void **state)
{
  (void)state;
  double a[] = {0, 1, 1, 0}, b[] = {1, 1, 1, 1}, c[] = {NAN, 0, 0, 1};
  idm_row_extent extent[2];
  assert_false(idm_envelope_factor(2, a, extent));
  assert_false(idm_envelope_factor(2, b, extent));
  assert_false(idm_envelope_factor(2, c, extent));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solves),
      cmocka_unit_test(keeps_zeros),
      cmocka_unit_test(refuses_pivots_of_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
