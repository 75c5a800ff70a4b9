/* The slice sampler beyond the conformance suite: adapted widths, limits on stepping out, separate
 * modes. Tolerances of five standard errors, as in samplers.c; chi-squares at level 1e-3. */
#include "infer/chains.h"

#include "infer/sampler_support.h"

/* Warm-up adapts widths and directions over six orders of magnitude: few evaluations per draw. */
static void test_widths_are_found(void **state)
{
  (void)state;
  const double scales[] = {1e-3, 1, 1e3};
  for (size_t k = 0; k < 3; k++) {
    normal_target pair = {.n = 2, .sd = {scales[k], 1e-2}, .correlation = 0.99};
    const idm_sampler_settings settings = sampler_defaults();
    const double x[2] = {0};
    long evaluations = 0;
    chain c;
    chain_start(&c, &idm_sampler_slice, &settings, normal_as_target(&pair), x, 3);
    chain_warm_up(&c);
    for (long i = 0; i < 1000; i++) {
      chain_step(&c);
      evaluations += c.statistics.evaluations;
    }
    chain_stop(&c);
    assert_true(evaluations < 14 * 1000);
    assert_true(c.statistics.step_size > 1 && c.statistics.step_size < 8);
    assert_true(isnan(c.statistics.acceptance));
  }
}

/* Widths far too small reach the limit on stepping out, widths far too large are shrunk: exact
 * draws stay exact. */
static void test_any_width_is_right(void **state)
{
  (void)state;
  enum { CHAINS = 8000, CELLS = 10 };
  const double sds[] = {200, 0.01};
  const idm_sampler *sampler = &idm_sampler_slice;
  idm_sampler_settings settings = sampler_defaults();
  settings.warmup = 0;
  for (size_t k = 0; k < 2; k++) {
    normal_target single = {.n = 1, .sd = {sds[k]}};
    const idm_target target = normal_as_target(&single);
    double numbers[32], x[1], chi = 0;
    long count[CELLS] = {0};
    idm_random random;
    idm_random_init(&random, 40 + k, 0);
    assert_true(sampler->numbers(1) <= 32);
    for (long i = 0; i < CHAINS; i++) {
      idm_statistics statistics;
      x[0] = sds[k] * idm_random_normal(&random);
      check(sampler->start(numbers, &settings, &target, x, &random, &support_error));
      check(sampler->step(numbers, &settings, &target, 0, &random, x, &statistics, &support_error));
      /* At most 99 steps out, including the last ones at both ends, and a few for shrinkage. */
      assert_true(statistics.evaluations < 160);
      count[(size_t)(CELLS * 0.5 * erfc(-x[0] / sds[k] / sqrt(2)))]++;
    }
    for (size_t i = 0; i < CELLS; i++) {
      const double expected = (double)CHAINS / CELLS, off = (double)count[i] - expected;
      chi += off * off / expected;
    }
    assert_true(chi < 27.877);
  }
}

/* Two modes ten standard deviations apart; one has three quarters of the mass. */
static idm_status modes_evaluate(void *context, const double *x, double *log_density,
                                 double *opt_gradient, idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  (void)opt_gradient;
  *log_density = log(exp(-0.5 * x[0] * x[0]) + 3 * exp(-0.5 * (x[0] - 10) * (x[0] - 10)));
  return IDM_OK;
}

static void test_modes_within_a_width(void **state)
{
  (void)state;
  enum { DRAWS = 4000 };
  static double right[DRAWS];
  idm_sampler_settings settings = sampler_defaults();
  const double x[1] = {0}, covariance[1] = {25};
  double error;
  settings.warmup = 0;
  settings.covariance = covariance;
  chain c;
  chain_start(&c, &idm_sampler_slice, &settings, (idm_target){1, false, NULL, modes_evaluate}, x,
              5);
  for (size_t k = 0; k < DRAWS; k++) {
    chain_step(&c);
    right[k] = c.x[0] > 5;
  }
  chain_stop(&c);
  const double mean = mean_and_error(right, DRAWS, &error);
  assert_true(fabs(mean - 0.75) < 5 * error);
  assert_true(error < 0.05);
}

static void test_wide(void **state)
{
  (void)state;
  check_wide(&idm_sampler_slice);
}

/* The density, the position and the candidate. */
static void test_frozen_after_warm_up(void **state)
{
  (void)state;
  assert_true(count_moving(&idm_sampler_slice) <= 1 + 2 * 2);
}

static void test_bad_guess(void **state)
{
  (void)state;
  check_bad_guess(&idm_sampler_slice);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_widths_are_found),     cmocka_unit_test(test_any_width_is_right),
      cmocka_unit_test(test_modes_within_a_width), cmocka_unit_test(test_wide),
      cmocka_unit_test(test_frozen_after_warm_up), cmocka_unit_test(test_bad_guess),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
