/* Tests GMRES, its reported residual and its count of products against Gaussian elimination. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/dense.h"
#include "idm/extension/random.h"

enum { MOST = 60 };

/* A dense matrix that counts its matrix-vector products. */
typedef struct matrix {
  size_t n;
  double a[MOST][MOST];
  long *products;
} matrix;

static void multiply(const void *context, const double *x, double *y)
{
  const matrix *m = context;
  ++*m->products;
  for (size_t i = 0; i < m->n; i++) {
    y[i] = 0;
    for (size_t j = 0; j < m->n; j++) y[i] += m->a[i][j] * x[j];
  }
}

static void fill_random(double *x, size_t count, idm_random *random)
{
  for (size_t i = 0; i < count; i++) x[i] = 2 * idm_random_uniform(random) - 1;
}

/* Fills a diagonally dominant matrix: each diagonal entry is `dominance` times the absolute sum of
 * the rest of its row, plus 0.1. */
static void fill_dominant(matrix *m, double dominance, idm_random *random)
{
  for (size_t i = 0; i < m->n; i++) {
    fill_random(m->a[i], m->n, random);
    double sum = 0;
    for (size_t j = 0; j < m->n; j++) sum += j == i ? 0 : fabs(m->a[i][j]);
    m->a[i][i] = (m->a[i][i] < 0 ? -1 : 1) * (dominance * sum + 0.1);
  }
}

/* I - gamma P with P a random stochastic matrix, the system that a planner solves. */
static void fill_planner(matrix *m, double gamma, idm_random *random)
{
  for (size_t i = 0; i < m->n; i++) {
    double sum = 0;
    for (size_t j = 0; j < m->n; j++) sum += m->a[i][j] = pow(idm_random_uniform(random), 8);
    for (size_t j = 0; j < m->n; j++) m->a[i][j] = (i == j) - gamma * m->a[i][j] / sum;
  }
}

/* Gaussian elimination with partial pivoting. */
static void eliminate(const matrix *m, const double *b, double *x)
{
  static double a[MOST][MOST + 1];
  const size_t n = m->n;
  for (size_t i = 0; i < n; i++) {
    memcpy(a[i], m->a[i], n * sizeof(double));
    a[i][n] = b[i];
  }
  for (size_t c = 0; c < n; c++) {
    size_t pivot = c;
    for (size_t i = c + 1; i < n; i++)
      if (fabs(a[i][c]) > fabs(a[pivot][c])) pivot = i;
    for (size_t j = 0; j <= n; j++) {
      const double swap = a[c][j];
      a[c][j] = a[pivot][j];
      a[pivot][j] = swap;
    }
    for (size_t i = c + 1; i < n; i++) {
      const double factor = a[i][c] / a[c][c];
      for (size_t j = c; j <= n; j++) a[i][j] -= factor * a[c][j];
    }
  }
  for (size_t i = n; i-- > 0;) {
    x[i] = a[i][n];
    for (size_t j = i + 1; j < n; j++) x[i] -= a[i][j] * x[j];
    x[i] /= a[i][i];
  }
}

static double norm(const double *x, size_t n)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

static double true_residual(const matrix *m, const double *b, const double *x)
{
  double r[MOST];
  long ignored = 0;
  matrix copy = *m;
  copy.products = &ignored;
  multiply(&copy, x, r);
  for (size_t i = 0; i < m->n; i++) r[i] = b[i] - r[i];
  return norm(r, m->n) / norm(b, m->n);
}

/* Solves once, checks what holds for every solve, and returns the reported residual. */
static double solve(matrix *m, const double *b, double *x, double tolerance, int basis,
                    int products)
{
  long products_made = 0, products_reported = 0;
  m->products = &products_made;
  double *work = malloc(IDM_GMRES_WORK(basis) * m->n * sizeof *work);
  assert_non_null(work);
  memset(x, 0x7f, m->n * sizeof *x);
  const double reached =
      idm_gmres(m->n, multiply, m, b, x, tolerance, basis, products, work, &products_reported);
  free(work);
  assert_int_equal(products_made, products_reported);
  assert_true(products_made <= products);
  for (size_t i = 0; i < m->n; i++) assert_true(isfinite(x[i]));
  return reached;
}

static void check_solution(matrix *m, const double *b, double tolerance, int basis, int products)
{
  double x[MOST], exact[MOST];
  const double reached = solve(m, b, x, tolerance, basis, products);
  assert_true(reached <= tolerance);
  /* The reported residual is updated by rotations, so it is exact up to rounding. */
  assert_true(true_residual(m, b, x) <= 1.01 * tolerance + 1e-13);
  eliminate(m, b, exact);
  /* |A^-1| <= 10 by diagonal dominance; |A| is at most a few hundred. */
  for (size_t i = 0; i < m->n; i++)
    assert_true(fabs(x[i] - exact[i]) <= 20 * (tolerance + 1e-13) * norm(b, m->n));
}

static void test_against_elimination(void **state)
{
  (void)state;
  static matrix m;
  idm_random random;
  idm_random_init(&random, 1, 0);
  const double tolerances[] = {1e-2, 1e-6, 1e-10, 1e-12};
  for (size_t n = 1; n <= 40; n += 3)
    for (size_t t = 0; t < 4; t++) {
      double b[MOST];
      m.n = n;
      fill_dominant(&m, 1.5, &random);
      fill_random(b, n, &random);
      check_solution(&m, b, tolerances[t], IDM_GMRES_BASIS, 500);
    }
}

static void test_restarts(void **state)
{
  (void)state;
  static matrix m;
  idm_random random;
  idm_random_init(&random, 2, 0);
  for (size_t n = 2; n <= MOST; n += 7)
    for (int basis = 1; basis <= 3; basis++) {
      double b[MOST];
      m.n = n;
      fill_dominant(&m, 4, &random);
      for (size_t i = 0; i < n; i++) m.a[i][i] = fabs(m.a[i][i]);
      fill_random(b, n, &random);
      check_solution(&m, b, 1e-10, basis, 5000);
    }
}

static void test_planner_systems(void **state)
{
  (void)state;
  static matrix m;
  idm_random random;
  idm_random_init(&random, 3, 0);
  const double gammas[] = {0, 0.5, 0.95, 0.999};
  for (size_t g = 0; g < 4; g++) {
    double b[MOST], x[MOST], exact[MOST];
    m.n = 50;
    fill_planner(&m, gammas[g], &random);
    fill_random(b, m.n, &random);
    assert_true(solve(&m, b, x, 1e-11, 24, 2000) <= 1e-11);
    eliminate(&m, b, exact);
    /* |(I - gamma P)^-1| = 1/(1 - gamma) in the maximum norm. */
    for (size_t i = 0; i < m.n; i++)
      assert_true(fabs(x[i] - exact[i]) <= 2e-11 * norm(b, m.n) / (1 - gammas[g]));
  }
}

static void test_the_scale_of_b_does_not_matter(void **state)
{
  (void)state;
  static matrix m;
  idm_random random;
  idm_random_init(&random, 4, 0);
  m.n = 10;
  fill_dominant(&m, 2, &random);
  double b[MOST], scaled[MOST], x[MOST], y[MOST];
  fill_random(b, m.n, &random);
  solve(&m, b, x, 1e-10, 10, 100);
  const double scales[] = {1e-100, 1e100};
  for (size_t s = 0; s < 2; s++) {
    for (size_t i = 0; i < m.n; i++) scaled[i] = scales[s] * b[i];
    solve(&m, scaled, y, 1e-10, 10, 100);
    for (size_t i = 0; i < m.n; i++)
      assert_true(fabs(y[i] / scales[s] - x[i]) <= 1e-12 * norm(x, m.n));
  }
}

static void test_products_are_limited(void **state)
{
  (void)state;
  static matrix m;
  idm_random random;
  idm_random_init(&random, 5, 0);
  m.n = 40;
  fill_planner(&m, 0.9999, &random);
  double b[MOST], x[MOST];
  fill_random(b, m.n, &random);
  double before = 1 + 1e-9;
  for (int products = 0; products <= 30; products++) {
    const double reached = solve(&m, b, x, 1e-15, 5, products);
    assert_true(fabs(reached - true_residual(&m, b, x)) <= 1e-10);
    /* The residual of GMRES does not grow with the number of products. */
    assert_true(reached <= before * (1 + 1e-9));
    before = reached;
  }
  assert_true(before > 1e-15);
}

static void test_identity_takes_one_product(void **state)
{
  (void)state;
  static matrix m;
  m.n = 5;
  memset(m.a, 0, sizeof m.a);
  for (size_t i = 0; i < m.n; i++) m.a[i][i] = 1;
  const double b[] = {1, -2, 3, 0, 5};
  double x[MOST];
  assert_true(solve(&m, b, x, 1e-12, 5, 1) <= 1e-12);
  for (size_t i = 0; i < m.n; i++) assert_true(fabs(x[i] - b[i]) <= 1e-14);
}

static void test_zero_right_side(void **state)
{
  (void)state;
  static matrix m;
  m.n = 4;
  memset(m.a, 0, sizeof m.a);
  const double b[4] = {0};
  double x[MOST];
  assert_true(solve(&m, b, x, 1e-10, 3, 10) == 0);
  for (size_t i = 0; i < 4; i++) assert_true(x[i] == 0);
}

/* A right-hand side that is not finite must not be reported as solved. */
static void test_right_side_not_finite(void **state)
{
  (void)state;
  static matrix m;
  m.n = 2;
  m.a[0][0] = m.a[1][1] = 1;
  double x[MOST];
  assert_true(!(solve(&m, (const double[]){INFINITY, 1}, x, 1e-10, 2, 10) <= 1e-10));
  assert_true(!(solve(&m, (const double[]){NAN, 1}, x, 1e-10, 2, 10) <= 1e-10));
}

static void fill_singular(matrix *m, size_t n, const double *entries)
{
  m->n = n;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) m->a[i][j] = entries[i * n + j];
}

/* For an unsolvable system the method terminates and does not report a small residual. (A nearly
 * singular basis may perturb the reported residual, but by less than half.) */
static void check_unsolvable(matrix *m, const double *b, double least)
{
  for (int basis = 1; basis <= 3; basis++) {
    double x[MOST];
    const double reached = solve(m, b, x, 1e-10, basis, 50);
    assert_true(true_residual(m, b, x) >= least - 1e-12);
    assert_true(reached >= 0.5 * true_residual(m, b, x));
  }
}

static void test_unsolvable_diagonal(void **state)
{
  (void)state;
  static matrix m;
  fill_singular(&m, 3, (const double[]){1, 0, 0, 0, 2, 0, 0, 0, 0});
  check_unsolvable(&m, (const double[]){1, 1, 1}, 1 / sqrt(3));
}

static void test_unsolvable_zero_matrix(void **state)
{
  (void)state;
  static matrix m;
  fill_singular(&m, 3, (const double[]){0, 0, 0, 0, 0, 0, 0, 0, 0});
  check_unsolvable(&m, (const double[]){1, 2, 3}, 1);
}

static void test_unsolvable_nilpotent(void **state)
{
  (void)state;
  static matrix m;
  fill_singular(&m, 2, (const double[]){0, 1, 0, 0});
  check_unsolvable(&m, (const double[]){0, 1}, 1);
}

static void test_singular_but_solvable(void **state)
{
  (void)state;
  static matrix m;
  fill_singular(&m, 3, (const double[]){1, 0, 0, 0, 2, 0, 0, 0, 0});
  const double b[] = {1, 1, 0};
  double x[MOST];
  assert_true(solve(&m, b, x, 1e-10, 3, 50) <= 1e-10);
  assert_true(true_residual(&m, b, x) <= 1e-10);
}

/* For a cyclic shift GMRES stagnates with every basis shorter than the cycle. */
static void test_stagnation_ends(void **state)
{
  (void)state;
  static matrix m;
  m.n = 8;
  memset(m.a, 0, sizeof m.a);
  for (size_t i = 0; i < m.n; i++) m.a[i][(i + 1) % m.n] = 1;
  const double b[8] = {0, 0, 0, 1};
  double x[MOST];
  assert_true(fabs(solve(&m, b, x, 1e-10, 3, 1000) - 1) <= 1e-12);
  assert_true(solve(&m, b, x, 1e-10, 8, 1000) <= 1e-10);
}

static void test_products_may_go_uncounted(void **state)
{
  (void)state;
  static matrix m;
  long products = 0;
  m = (matrix){.n = 1, .a = {{4}}, .products = &products};
  double x[1], work[IDM_GMRES_WORK(1)];
  assert_true(idm_gmres(1, multiply, &m, (const double[]){2}, x, 1e-12, 1, 5, work, NULL) <= 1e-12);
  assert_true(fabs(x[0] - 0.5) <= 1e-15);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_elimination),
      cmocka_unit_test(test_restarts),
      cmocka_unit_test(test_planner_systems),
      cmocka_unit_test(test_the_scale_of_b_does_not_matter),
      cmocka_unit_test(test_products_are_limited),
      cmocka_unit_test(test_identity_takes_one_product),
      cmocka_unit_test(test_zero_right_side),
      cmocka_unit_test(test_right_side_not_finite),
      cmocka_unit_test(test_unsolvable_diagonal),
      cmocka_unit_test(test_unsolvable_zero_matrix),
      cmocka_unit_test(test_unsolvable_nilpotent),
      cmocka_unit_test(test_singular_but_solvable),
      cmocka_unit_test(test_stagnation_ends),
      cmocka_unit_test(test_products_may_go_uncounted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
