/* Tests the check of the prior of correlations on simulated effects of people with known
 * correlations. */
#include "invert/people/people.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "invert/assess.h"
#include "support.h"

enum { PEOPLE = 40, DRAWS = 400 };

/* x = scale L z, where L is the Cholesky factor of [[1, r], [r, 1]]. */
static void draw_pair(idm_random *random, double r, double scale, double *x)
{
  const double a = idm_random_normal(random), b = idm_random_normal(random);
  x[0] = scale * a;
  x[1] = scale * (r * a + sqrt(1 - r * r) * b);
}

/* Posterior draws of the effects of a person with estimates y, whose errors have correlation
 * `trade` and sd 0.7, in a population with sds 1 and correlation `held`. */
static void draw_posterior(idm_random *random, const double *y, double trade, double held,
                           double *effect, size_t stride)
{
  double precision[4], prior[4], factor[4], covariance[4], mean[2];
  const double error[4] = {0.49, 0.49 * trade, 0.49 * trade, 0.49};
  const double population[4] = {1, held, held, 1};
  memcpy(factor, error, sizeof factor);
  assert_true(idm_cholesky(2, factor));
  idm_cholesky_inverse(2, factor, precision);
  memcpy(factor, population, sizeof factor);
  assert_true(idm_cholesky(2, factor));
  idm_cholesky_inverse(2, factor, prior);
  for (size_t i = 0; i < 4; i++) factor[i] = precision[i] + prior[i];
  assert_true(idm_cholesky(2, factor));
  idm_cholesky_inverse(2, factor, covariance);
  for (size_t i = 0; i < 2; i++) {
    mean[i] = 0;
    for (size_t j = 0; j < 2; j++)
      mean[i] += covariance[2 * i + j] * (precision[2 * j] * y[0] + precision[2 * j + 1] * y[1]);
  }
  memcpy(factor, covariance, sizeof factor);
  assert_true(idm_cholesky(2, factor));
  for (size_t k = 0; k < DRAWS; k++) {
    double z[2] = {idm_random_normal(random), idm_random_normal(random)};
    idm_lower_multiply(2, factor, z);
    for (size_t i = 0; i < 2; i++) effect[i * stride + k] = mean[i] + z[i];
  }
}

/* Result for people with correlation `truth`, under a prior that fixes it at `held`. */
static idm_check_result judge(uint64_t seed, double truth, double held, double trade,
                              idm_notes *misfits)
{
  static double effect[2 * PEOPLE * DRAWS], correlation[DRAWS], coefficient[2 * DRAWS],
      sd[2 * DRAWS];
  double one[PEOPLE], *regressor[] = {one, one};
  size_t coefficients[] = {1, 1}, first[] = {0, 1, 2};
  char names[][12] = {"log_alpha", "eta"}, *name[] = {names[0], names[1]};
  idm_random random;
  idm_random_init(&random, seed, 0);
  for (size_t i = 0; i < PEOPLE; i++) {
    double x[2], y[2];
    one[i] = 1;
    draw_pair(&random, truth, 1, x);
    draw_pair(&random, trade, 0.7, y);
    for (size_t e = 0; e < 2; e++) y[e] += x[e];
    draw_posterior(&random, y, trade, held, effect + i * DRAWS, PEOPLE * DRAWS);
  }
  for (size_t k = 0; k < DRAWS; k++) {
    correlation[k] = held;
    sd[k] = sd[DRAWS + k] = 1;
  }
  const idm_design design = {.people = PEOPLE,
                             .effects = 2,
                             .effect = {2, name},
                             .coefficients = coefficients,
                             .regressor = regressor,
                             .correlation = 2000};
  const idm_people people = {.chains = 1,
                             .draws = DRAWS,
                             .people = PEOPLE,
                             .effects = 2,
                             .coefficient_first = first,
                             .effect = effect,
                             .coefficient = coefficient,
                             .sd = sd,
                             .correlation = correlation};
  idm_assessment a = {0};
  idm_checks_begin(&a.checks, IDM_CHECK_POPULATION);
  idm_test_correlations(&design, &people, &a);
  *misfits = a.misfits;
  return a.checks.of[IDM_CHECK_PRIOR_PULL];
}

/* Correlations fixed at their true values pass, whatever the correlation of errors: of SEEDS each
 * more than 3 fail at a level of 1 in 1,000 with probability 3e-4. */
static void right_correlations_pass(void **state)
{
  (void)state;
  enum { SEEDS = 300 };
  static const double truth[] = {0, 0, 0.6}, trade[] = {0, -0.8, 0.5};
  for (size_t i = 0; i < 3; i++) {
    size_t failed = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      idm_notes misfits;
      failed += judge(seed, truth[i], truth[i], trade[i], &misfits).outcome == IDM_CHECK_MISFIT;
      idm_notes_clear(&misfits);
    }
    print_message("  %zu of %d failed\n", failed, SEEDS);
    assert_true(failed <= 3);
  }
}

/* A correlation of 0.95 under a prior that fixes it at 0 is detected, also with correlated errors.
 */
static void correlations_that_the_prior_fixes_fail(void **state)
{
  (void)state;
  static const double trade[] = {0, 0.5};
  for (size_t i = 0; i < 2; i++) {
    size_t found = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
      idm_notes misfits;
      judge(seed, 0.95, 0, trade[i], &misfits);
      found += misfits.count == 1 &&
               strstr(misfits.text[0], "the prior of correlations, LKJ(2000), contradicts") != NULL;
      idm_notes_clear(&misfits);
    }
    print_message("  %zu of 20 found\n", found);
    assert_true(found >= 15);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(right_correlations_pass),
      cmocka_unit_test(correlations_that_the_prior_fixes_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
