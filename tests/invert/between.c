/* Posterior draws pooled over several draws of the dynamics: the variance share between them and
 * the diagnostics within them, against closed forms. */
#include "invert/posterior.h"

#include <math.h>

#include "support.h"

enum { cuts = 2, chains = 2, draws = 500, all = cuts * chains * draws };

/* Standard normal draws; those of the second cut are shifted by `apart`. */
static void fill(double *value, double apart)
{
  idm_random random;
  idm_random_init(&random, 3, 1);
  for (size_t i = 0; i < all; i++)
    value[i] = idm_random_normal(&random) + (i >= all / cuts ? apart : 0);
}

static void shares_are_of_the_variance(void **state)
{
  (void)state;
  /* Means 0 and 2 with variance 1 within each: half of the variance is between. */
  const double value[] = {-1, 1, 1, 3};
  assert_near(idm_between_share(value, 2, 2), 0.5, 1e-15);
  const double same[] = {5, 5, 5, 5};
  assert_true(isnan(idm_between_share(same, 2, 2)));
  assert_true(isnan(idm_between_share(value, 1, 4)));
}

static void chains_agree_within_cuts(void **state)
{
  (void)state;
  static double value[all];
  idm_diagnosis one, several;
  double between;
  fill(value, 3);
  check(idm_diagnose_cuts(value, NULL, cuts * chains, draws, 1, &one, NULL, &support_error));
  check(idm_diagnose_cuts(value, NULL, cuts * chains, draws, cuts, &several, &between,
                          &support_error));
  assert_true(one.rhat > 1.5);
  assert_true(several.rhat < 1.02);
  assert_true(several.ess_bulk > 1000);
  assert_near(several.sd, one.sd, 1e-12);
  /* 1.5^2 / (1 + 1.5^2); the Monte Carlo error of the mean is that of two draws of the between
   * part. */
  assert_near(between, 0.69, 0.03);
  assert_near(several.mcse_mean, several.sd * sqrt(between / cuts), 0.03);
}

/* Above the threshold the quantiles are NaN; below it they are those of all draws. */
static void what_depends_on_dynamics_has_no_interval(void **state)
{
  (void)state;
  static double value[all];
  idm_diagnosis one, several;
  double between;
  fill(value, 3);
  check(idm_diagnose_cuts(value, NULL, cuts * chains, draws, cuts, &several, &between,
                          &support_error));
  assert_true(idm_depends_on_dynamics(between));
  assert_true(isnan(several.q05) && isnan(several.q95) && isfinite(several.q50));
  fill(value, 1);
  check(idm_diagnose_cuts(value, NULL, cuts * chains, draws, 1, &one, NULL, &support_error));
  check(idm_diagnose_cuts(value, NULL, cuts * chains, draws, cuts, &several, &between,
                          &support_error));
  assert_false(idm_depends_on_dynamics(between));
  assert_false(idm_depends_on_dynamics(NAN));
  assert_near(several.q05, one.q05, 0);
  assert_near(several.q95, one.q95, 0);
}

/* A lognormal quantity: its heavy tail hides the variance between cuts; its logarithm does not. */
static void shares_are_of_the_coordinate(void **state)
{
  (void)state;
  static double value[all], coordinate[all];
  idm_diagnosis several;
  double own, scaled;
  fill(coordinate, 3);
  for (size_t i = 0; i < all; i++) value[i] = exp(2 * coordinate[i]);
  check(idm_diagnose_cuts(value, NULL, cuts * chains, draws, cuts, &several, &own, &support_error));
  assert_true(own < 0.3 && isfinite(several.q05));
  check(idm_diagnose_cuts(value, coordinate, cuts * chains, draws, cuts, &several, &scaled,
                          &support_error));
  assert_near(scaled, idm_between_share(coordinate, cuts, all / cuts), 0);
  assert_true(scaled > 0.6 && isnan(several.q05) && isnan(several.q95));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(shares_are_of_the_variance),
                                     cmocka_unit_test(shares_are_of_the_coordinate),
                                     cmocka_unit_test(chains_agree_within_cuts),
                                     cmocka_unit_test(what_depends_on_dynamics_has_no_interval)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
