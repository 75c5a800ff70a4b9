/* Tests normal approximations of normal likelihoods against their known curvature, mode and
 * covariance, and the precision of the coefficients against a separate computation. */
#include "invert/hierarchy/hierarchy.h"

#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "invert/hierarchy/table_support.h"

/* The table has single precision, and differences have a step of about .4. */
static const double near = 1e-3;

typedef struct fixture {
  idm_grid *grid;
  hierarchy model;
  hierarchy_chain chain;
} fixture;

static void open_fixture(fixture *f)
{
  f->grid = table_open(&f->model);
  check(idm_chain_create(&f->model, 3, 0, &f->chain, &support_error));
}

static void close_fixture(fixture *f)
{
  idm_chain_destroy(&f->chain);
  idm_hierarchy_destroy(&f->model);
  idm_grid_destroy(f->grid);
}

static void expect_normal(const hierarchy_chain *chain)
{
  enum { q = TABLE_EFFECTS };
  for (size_t i = 0; i < TABLE_PEOPLE; i++) {
    double h[q][q], linear_term[q];
    table_normal(i, h, linear_term);
    for (size_t k = 0; k < q * q; k++)
      assert_near(chain->curvature[i * q * q + k], h[k / q][k % q], near);
    for (size_t j = 0; j < q; j++) assert_near(chain->linear_term[i * q + j], linear_term[j], near);
  }
}

/* At any expansion point: the current effects or the means of the accumulated sums. */
static void curvatures_are_those_of_the_likelihood(void **state)
{
  (void)state;
  fixture f;
  open_fixture(&f);
  for (size_t k = 0; k < TABLE_PEOPLE * TABLE_EFFECTS; k++) {
    f.chain.current.e[k] = 0.3 * (double)k - 0.5;
    f.chain.sum[k] = 4 * (0.2 - 0.1 * (double)k);
  }
  check(idm_chain_approximate(&f.chain, NULL, 0, TABLE_PEOPLE, &support_error));
  expect_normal(&f.chain);
  f.chain.sum_count = 4;
  check(idm_chain_approximate(&f.chain, NULL, 0, TABLE_PEOPLE, &support_error));
  expect_normal(&f.chain);
  close_fixture(&f);
}

/* The mode of a normal given the population is its mean; from a distant start it takes several
 * steps, as no step exceeds a prior sd. */
static void people_settle_at_their_modes(void **state)
{
  (void)state;
  fixture f;
  open_fixture(&f);
  f.chain.current.population.b[0] = 3;
  check(idm_chain_find_modes(&f.chain, NULL, 0, TABLE_PEOPLE, &support_error));
  expect_normal(&f.chain);
  for (size_t i = 0; i < TABLE_PEOPLE; i++) {
    double mean[TABLE_EFFECTS], expected[TABLE_EFFECTS], covariance[TABLE_EFFECTS][TABLE_EFFECTS];
    idm_population_mean(&table_design, &f.chain.current.population, i, mean);
    table_posterior(i, mean, f.chain.current.population.factor, expected, covariance);
    for (size_t j = 0; j < TABLE_EFFECTS; j++)
      assert_near(f.chain.current.e[i * TABLE_EFFECTS + j], expected[j], near);
  }
  close_fixture(&f);
}

/* Means and covariances of 4000 draws are within 5 standard errors: 2 times 9 comparisons, of which
 * one fails by chance with probability below 1/90,000; the seed is fixed. */
static void people_scatter_by_it(void **state)
{
  (void)state;
  enum { draws = 4000, q = TABLE_EFFECTS };
  fixture f;
  open_fixture(&f);
  check(idm_chain_find_modes(&f.chain, NULL, 0, TABLE_PEOPLE, &support_error));
  for (size_t i = 0; i < TABLE_PEOPLE; i++) {
    double mean[q], expected[q], covariance[q][q], sum[q] = {0}, product[q][q] = {{0}};
    idm_population_mean(&table_design, &f.chain.current.population, i, mean);
    table_posterior(i, mean, f.chain.current.population.factor, expected, covariance);
    for (int t = 0; t < draws; t++) {
      check(idm_chain_disperse(&f.chain, NULL, i, i + 1, &support_error));
      const double *e = f.chain.current.e + i * q;
      for (size_t j = 0; j < q; j++) {
        sum[j] += e[j] / draws;
        for (size_t k = 0; k < q; k++)
          product[j][k] += (e[j] - expected[j]) * (e[k] - expected[k]) / draws;
      }
    }
    for (size_t j = 0; j < q; j++) {
      assert_true(fabs(sum[j] - expected[j]) < 5 * sqrt(covariance[j][j] / draws));
      for (size_t k = 0; k <= j; k++) {
        const double error = sqrt((covariance[j][j] * covariance[k][k] + /* Isserlis */
                                   covariance[j][k] * covariance[j][k]) /
                                  draws);
        assert_true(fabs(product[j][k] - covariance[j][k]) < 5 * error);
      }
    }
  }
  close_fixture(&f);
}

/* The precision of four coefficients b, with e_i = W_i b + normal(0, Sigma), is the sum of W'(Sigma
 * + H^-1)^-1 W plus the prior's precision. H is set to a diagonal matrix, so that its inverse is
 * known. */
static void steps_follow_the_precision(void **state)
{
  (void)state;
  enum { q = TABLE_EFFECTS, n = 4 };
  static const size_t effect_of[n] = {0, 0, 1, 2};
  static const double w[TABLE_PEOPLE][n] = {{1, -2, 1, 1}, {1, 3, 1, 1}}, sd[n] = {1, 0.5, 0.4, 2};
  fixture f;
  open_fixture(&f);
  double expected[n][n] = {{0}}, found[n][n] = {{0}};
  for (size_t i = 0; i < TABLE_PEOPLE; i++) {
    double sigma[q * q] = {0}, information[q * q];
    for (size_t j = 0; j < q; j++) {
      const double h = 1 + (double)(i + j);
      for (size_t k = 0; k < q; k++) {
        f.chain.curvature[(i * q + j) * q + k] = j == k ? h : 0;
        for (size_t l = 0; l < q; l++)
          sigma[j * q + k] += f.chain.current.population.factor[j * q + l] *
                              f.chain.current.population.factor[k * q + l];
      }
      sigma[j * q + j] += 1 / h;
    }
    assert_true(idm_cholesky(q, sigma));
    idm_cholesky_inverse(q, sigma, information);
    for (size_t a = 0; a < n; a++)
      for (size_t b = 0; b < n; b++)
        expected[a][b] += w[i][a] * information[effect_of[a] * q + effect_of[b]] * w[i][b];
  }
  f.chain.sum_count = 7;
  f.chain.sum[1] = 5;
  idm_chain_adapt_steps(&f.chain);
  for (size_t a = 0; a < n; a++)
    for (size_t b = 0; b < n; b++)
      for (size_t k = 0; k < n; k++)
        found[a][b] += f.chain.precision[a * n + k] * f.chain.precision[b * n + k];
  for (size_t a = 0; a < n; a++)
    for (size_t b = 0; b < n; b++)
      assert_near(found[a][b], expected[a][b] + (a == b ? 1 / (sd[a] * sd[a]) : 0), 1e-11);
  assert_true(f.chain.sum_count == 0 && f.chain.sum[1] == 0);
  assert_true(f.chain.low[0] == INFINITY && f.chain.high[1] == -INFINITY);
  close_fixture(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(curvatures_are_those_of_the_likelihood),
      cmocka_unit_test(people_settle_at_their_modes),
      cmocka_unit_test(people_scatter_by_it),
      cmocka_unit_test(steps_follow_the_precision),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
