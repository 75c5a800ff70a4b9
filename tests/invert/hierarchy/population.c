/* Tests the population's prior against textbook densities, and its coordinates against finite
 * differences. */
#include "invert/hierarchy/hierarchy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "invert/people/people_support.h"

static const double log_two_pi = 1.8378770664093454836;

/* A design of four effects for a log of two people, with random coordinates of the population. */
typedef struct four {
  idm_problem *problem;
  idm_data *data;
  idm_design *design;
  population p;
} four;

static four make_four(void)
{
  four f = {.problem = support_diag(0.5, 2, 0)};
  f.data = support_data(f.problem, "agent,trajectory,action,observation\na,1,declare_healthy,\n"
                                   "b,2,declare_diseased,\n");
  f.design =
      support_design(f.data, 4, 1, (const double[]){1, -1, 0, 2}, (const double[]){1, 2, 0.5, 3});
  f.design->regressor[2][1] = 0.5;
  f.design->regressor[2][3] = -2;
  check(idm_population_create(f.design, &f.p, &support_error));
  idm_random random;
  idm_random_init(&random, 3, 3);
  for (size_t i = 0; i < f.p.coefficients + 4 + f.p.pairs; i++)
    f.p.number[i] = idm_random_normal(&random);
  idm_population_set_factor(&f.p);
  return f;
}

static void free_four(four *f)
{
  idm_population_destroy(&f->p);
  idm_design_destroy(f->design);
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
}

/* L L' is the covariance matrix of the reported sds and correlations. */
static void factor_is_of_sds_and_correlations(void **state)
{
  (void)state;
  four f = make_four();
  double correlation[6];
  idm_population_correlations(&f.p, correlation);
  for (size_t j = 0; j < 4; j++)
    for (size_t k = 0; k <= j; k++) {
      double sum = 0;
      for (size_t l = 0; l < 4; l++) sum += f.p.factor[j * 4 + l] * f.p.factor[k * 4 + l];
      const double c = j == k ? 1 : correlation[j * (j - 1) / 2 + k];
      assert_near(sum, c * fabs(f.p.root[j] * f.p.root[k]), 1e-13);
      assert_true(fabs(c) <= 1);
    }
  double mean[4];
  idm_population_mean(f.design, &f.p, 1, mean);
  assert_near(mean[2], f.p.b[4] - 2 * f.p.b[5], 1e-14);
  free_four(&f);
}

/* log det C of the correlations, by Cholesky factorisation of the matrix. */
static double log_det(const double *correlation)
{
  double c[16];
  for (size_t j = 0; j < 4; j++)
    for (size_t k = 0; k <= j; k++)
      c[j * 4 + k] = c[k * 4 + j] = j == k ? 1 : correlation[j * (j - 1) / 2 + k];
  assert_true(idm_cholesky(4, c));
  double sum = 0;
  for (size_t j = 0; j < 4; j++) sum += 2 * log(c[j * 5]);
  return sum;
}

/* Normal, half-normal and LKJ densities in their textbook form; the constant of LKJ by its
 * recursion over dimensions (Lewandowski et al. 2009, equation 16 in the form of the Stan manual).
 */
static void density_is_the_textbooks(void **state)
{
  (void)state;
  four f = make_four();
  const idm_design *d = f.design;
  double sum = 0;
  for (size_t j = 0; j < 4; j++) {
    for (size_t a = 0; a < 2; a++) {
      const double t = f.p.b[2 * j + a] - d->coefficient_mean[j][a];
      const double sd = d->coefficient_sd[j][a];
      sum += -0.5 * t * t / (sd * sd) - log(sd) - 0.5 * log_two_pi;
    }
    const double s = fabs(f.p.root[j]);
    sum += log(2) - 0.5 * s * s / (d->sd_scale[j] * d->sd_scale[j]) - log(d->sd_scale[j]) -
           0.5 * log_two_pi;
  }
  const double eta = 2, dimension = 4;
  double correlation[6], constant = 0;
  idm_population_correlations(&f.p, correlation);
  for (double k = 1; k < dimension; k++) {
    const double shape = eta + (dimension - k - 1) / 2;
    constant += (2 * eta - 2 + dimension - k) * (dimension - k) * log(2) +
                (dimension - k) * (2 * lgamma(shape) - lgamma(2 * shape));
  }
  sum += (eta - 1) * log_det(correlation) - constant;
  assert_near(idm_population_log_density(d, &f.p), sum, 1e-12);
  free_four(&f);
}

/* A pooled coefficient is normal(0, spread); scaling spread and coefficients together changes the
 * log prior only by the prior of the spread. */
static void pooled_coefficients_go_with_their_spread(void **state)
{
  (void)state;
  four f = make_four();
  idm_design *d = f.design;
  const double plain = idm_population_log_density(d, &f.p);
  double b[8], wanted = plain;
  memcpy(b, f.p.b, sizeof b);
  population p;
  d->pooled = 1;
  d->spread_scale = idm_new(4, sizeof *d->spread_scale);
  check(idm_population_create(d, &p, &support_error));
  memcpy(p.number, f.p.number, (8 + 4 + 6) * sizeof(double));
  for (size_t j = 0; j < 4; j++) {
    const double sd = d->coefficient_sd[j][1], spread = p.spread[j] = -0.4 - (double)j;
    const double scale = d->spread_scale[j] = 1 + (double)j;
    wanted += 0.5 * b[2 * j + 1] * b[2 * j + 1] * (1 / (sd * sd) - 1 / (spread * spread)) +
              log(sd / -spread);
    wanted += log(2) - 0.5 * spread * spread / (scale * scale) - log(scale) - 0.5 * log_two_pi;
  }
  idm_population_set_factor(&p);
  assert_near(idm_population_log_density(d, &p), wanted, 1e-12);
  const double before = idm_population_log_prior(d, &p);
  idm_population_set_spread(d, &p, 1, 0.7);
  assert_near(p.b[3], b[3] * 0.7 / -1.4, 1e-15);
  assert_near(idm_population_log_prior(d, &p) - before, 0.5 * (1.4 * 1.4 - 0.7 * 0.7) / 4, 1e-12);
  idm_population_destroy(&p);
  free_four(&f);
}

/* The prior of partial correlations is the density of the matrix times the Jacobian of their map,
 * by finite differences. */
static void coordinates_carry_their_jacobian(void **state)
{
  (void)state;
  four f = make_four();
  double offset = 0;
  idm_random random;
  idm_random_init(&random, 4, 4);
  for (int trial = 0; trial < 5; trial++) {
    double jacobian[36], low[6], high[6];
    for (size_t k = 0; k < 6; k++) f.p.partial[k] = 0.7 * idm_random_normal(&random);
    for (size_t k = 0; k < 6; k++) {
      const double at = f.p.partial[k], step = 1e-5;
      f.p.partial[k] = at - step;
      idm_population_set_factor(&f.p);
      idm_population_correlations(&f.p, low);
      f.p.partial[k] = at + step;
      idm_population_set_factor(&f.p);
      idm_population_correlations(&f.p, high);
      f.p.partial[k] = at;
      for (size_t l = 0; l < 6; l++) jacobian[l * 6 + k] = (high[l] - low[l]) / (2 * step);
    }
    idm_population_set_factor(&f.p);
    /* Correlations of row j depend on partial correlations of rows up to j and, within a row, on
     * earlier ones: the Jacobian is triangular. */
    double log_jacobian = 0;
    for (size_t k = 0; k < 6; k++) log_jacobian += log(fabs(jacobian[k * 7]));
    const double found = idm_population_log_prior(f.design, &f.p) -
                         idm_population_log_density(f.design, &f.p) - log_jacobian;
    if (trial) assert_near(found, offset, 1e-7);
    offset = found;
  }
  free_four(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(factor_is_of_sds_and_correlations),
                                     cmocka_unit_test(density_is_the_textbooks),
                                     cmocka_unit_test(pooled_coefficients_go_with_their_spread),
                                     cmocka_unit_test(coordinates_carry_their_jacobian)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
