/* Tests the small dense factorisations, solves and eigenvalues against products with the matrices
 * themselves, for well and badly conditioned matrices. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/dense.h"
#include "idm/extension/random.h"
#include "support.h"

enum { MOST = 25 };
static const size_t sizes[] = {1, 2, 3, 5, 10, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void fill_random(double *x, size_t count, idm_random *random)
{
  for (size_t i = 0; i < count; i++) x[i] = idm_random_normal(random);
}

/* a = b b' + ridge I, which is positive definite. */
static void fill_definite(size_t n, double ridge, double *a, idm_random *random)
{
  double b[MOST * MOST];
  fill_random(b, n * n, random);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      a[i * n + j] = i == j ? ridge : 0;
      for (size_t k = 0; k < n; k++) a[i * n + j] += b[i * n + k] * b[j * n + k];
    }
}

static void fill_symmetric(size_t n, double *a, idm_random *random)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) a[i * n + j] = a[j * n + i] = idm_random_normal(random);
}

static void multiply(size_t n, const double *a, const double *x, double *y)
{
  for (size_t i = 0; i < n; i++) {
    y[i] = 0;
    for (size_t j = 0; j < n; j++) y[i] += a[i * n + j] * x[j];
  }
}

static void test_cholesky_gives_the_matrix_back(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 1, 0);
  for (size_t s = 0; s < SIZES; s++) {
    const size_t n = sizes[s];
    double a[MOST * MOST], l[MOST * MOST];
    fill_definite(n, 0.1, a, &random);
    memcpy(l, a, sizeof a);
    assert_true(idm_cholesky(n, l));
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < n; j++) {
        double sum = 0;
        for (size_t k = 0; k < n; k++) sum += l[i * n + k] * l[j * n + k];
        assert_near(sum, a[i * n + j], 1e-13);
        if (j > i) assert_true(l[i * n + j] == 0);
      }
  }
}

static void test_solves_undo_products(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 2, 0);
  for (size_t s = 0; s < SIZES; s++) {
    const size_t n = sizes[s];
    double a[MOST * MOST], l[MOST * MOST], x[MOST], y[MOST], product[MOST];
    fill_definite(n, 0.5, a, &random);
    memcpy(l, a, sizeof a);
    assert_true(idm_cholesky(n, l));
    fill_random(x, n, &random);
    memcpy(y, x, n * sizeof *x);
    idm_lower_multiply(n, l, y);
    multiply(n, l, x, product);
    for (size_t i = 0; i < n; i++) assert_near(y[i], product[i], 1e-13);
    idm_lower_solve(n, l, y);
    for (size_t i = 0; i < n; i++) assert_near(y[i], x[i], 1e-10);
    /* a = L L', so the two triangular solves in turn invert a product with a. */
    multiply(n, a, x, y);
    idm_lower_solve(n, l, y);
    idm_lower_solve_transposed(n, l, y);
    for (size_t i = 0; i < n; i++) assert_near(y[i], x[i], 1e-9);
  }
}

static void test_inverse(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 3, 0);
  for (size_t s = 0; s < SIZES; s++) {
    const size_t n = sizes[s];
    double a[MOST * MOST], l[MOST * MOST], inverse[MOST * MOST], column[MOST], product[MOST];
    fill_definite(n, 0.5, a, &random);
    memcpy(l, a, sizeof a);
    assert_true(idm_cholesky(n, l));
    idm_cholesky_inverse(n, l, inverse);
    for (size_t j = 0; j < n; j++) {
      for (size_t i = 0; i < n; i++) {
        column[i] = inverse[i * n + j];
        assert_true(inverse[i * n + j] == inverse[j * n + i]);
      }
      multiply(n, a, column, product);
      for (size_t i = 0; i < n; i++) assert_near(product[i], i == j, 1e-9);
    }
  }
}

static void test_not_definite(void **state)
{
  (void)state;
  double negative[] = {-1};
  assert_false(idm_cholesky(1, negative));
  double zero[] = {0};
  assert_false(idm_cholesky(1, zero));
  double saddle[] = {1, 2, 2, 1};
  assert_false(idm_cholesky(2, saddle));
  double singular[] = {4, 2, 2, 1};
  assert_false(idm_cholesky(2, singular));
  double undefined[] = {1, 0, 0, NAN};
  assert_false(idm_cholesky(2, undefined));
  double infinite[] = {INFINITY};
  assert_false(idm_cholesky(1, infinite));
}

/* Checks A v = lambda v, V orthonormal, eigenvalues in ascending order, and that `a` is not
 * modified. */
static void check_eigen(size_t n, const double *a, double tolerance, double *values)
{
  double copy[MOST * MOST], vectors[MOST * MOST], product[MOST];
  memcpy(copy, a, n * n * sizeof *a);
  idm_symmetric_eigen(n, copy, values, vectors);
  for (size_t i = 0; i < n; i++) {
    const double *v = vectors + i * n;
    if (i > 0) assert_true(values[i - 1] <= values[i]);
    multiply(n, a, v, product);
    for (size_t k = 0; k < n; k++) assert_true(fabs(product[k] - values[i] * v[k]) <= tolerance);
    for (size_t j = 0; j < n; j++) {
      double dot = 0;
      for (size_t k = 0; k < n; k++) dot += v[k] * vectors[j * n + k];
      assert_near(dot, i == j, 1e-13);
    }
  }
}

static void test_eigenvectors(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 4, 0);
  for (size_t s = 0; s < SIZES; s++) {
    double a[MOST * MOST], values[MOST];
    fill_symmetric(sizes[s], a, &random);
    check_eigen(sizes[s], a, 1e-12, values);
    fill_definite(sizes[s], 0, a, &random);
    check_eigen(sizes[s], a, 1e-11, values);
  }
}

static void test_known_eigenvalues(void **state)
{
  (void)state;
  double values[MOST];
  const double two[] = {2, 1, 1, 2};
  check_eigen(2, two, 1e-14, values);
  assert_near(values[0], 1, 1e-14);
  assert_near(values[1], 3, 1e-14);
  const double exchange[] = {0, 1, 1, 0}; /* equal diagonal entries */
  check_eigen(2, exchange, 1e-14, values);
  assert_near(values[0], -1, 1e-14);
  assert_near(values[1], 1, 1e-14);
  const double diagonal[] = {3, 0, 0, 0, -1, 0, 0, 0, 2};
  check_eigen(3, diagonal, 0, values);
  assert_true(values[0] == -1 && values[1] == 2 && values[2] == 3);
  const double nothing[9] = {0};
  check_eigen(3, nothing, 0, values);
  /* The second-difference matrix has the eigenvalues 2 - 2 cos(pi k / (n + 1)). */
  double chain[MOST * MOST] = {0};
  for (size_t i = 0; i < MOST; i++) {
    chain[i * MOST + i] = 2;
    if (i > 0) chain[i * MOST + i - 1] = chain[(i - 1) * MOST + i] = -1;
  }
  check_eigen(MOST, chain, 1e-13, values);
  for (size_t k = 0; k < MOST; k++)
    assert_near(values[k], 2 - 2 * cos(3.14159265358979323846 * (double)(k + 1) / (MOST + 1)),
                1e-13);
}

/* D A D, where A is well conditioned and the diagonal of D decreases from 1 to 1e-6. Small
 * eigenvalues keep their relative accuracy, so their product equals the determinant by Cholesky,
 * and solves keep their accuracy per unknown. */
static void test_badly_scaled(void **state)
{
  (void)state;
  enum { N = 5 };
  idm_random random;
  idm_random_init(&random, 6, 0);
  double a[N * N], l[N * N], values[N], x[N], y[N];
  fill_definite(N, 5, a, &random);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) a[i * N + j] *= pow(10, -1.5 * (double)(i + j));
  check_eigen(N, a, 1e-13, values);
  memcpy(l, a, sizeof a);
  assert_true(idm_cholesky(N, l));
  double log_product = 0;
  for (size_t i = 0; i < N; i++) log_product += log(values[i]) - 2 * log(l[i * N + i]);
  assert_true(fabs(log_product) < 1e-12);
  fill_random(x, N, &random);
  multiply(N, a, x, y);
  idm_lower_solve(N, l, y);
  idm_lower_solve_transposed(N, l, y);
  for (size_t i = 0; i < N; i++) y[i] -= x[i];
  /* Residuals in the scale of each unknown: the rounding error in row i is relative to 10^(-1.5 i).
   */
  for (size_t i = 0; i < N; i++) assert_true(fabs(y[i]) * pow(10, -1.5 * (double)i) < 1e-13);
}

/* The iteration terminates for matrices with infinities or NaN. */
static void test_eigen_ends(void **state)
{
  (void)state;
  double values[2], vectors[4];
  double undefined[] = {1, NAN, NAN, 1};
  idm_symmetric_eigen(2, undefined, values, vectors);
  double infinite[] = {1, INFINITY, INFINITY, 1};
  idm_symmetric_eigen(2, infinite, values, vectors);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cholesky_gives_the_matrix_back),
      cmocka_unit_test(test_solves_undo_products),
      cmocka_unit_test(test_inverse),
      cmocka_unit_test(test_not_definite),
      cmocka_unit_test(test_eigenvectors),
      cmocka_unit_test(test_known_eigenvalues),
      cmocka_unit_test(test_badly_scaled),
      cmocka_unit_test(test_eigen_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
