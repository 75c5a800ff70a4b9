/* Preconditioned Crank-Nicolson steps beyond the conformance suite: effective draws per evaluation
 * in many dimensions, and a surrogate density. */
#include "infer/chains.h"

#include "infer/sampler_support.h"

enum { MANY = 30 };

/* Effective draws of coordinate 0 per evaluation. */
static double worth(const idm_sampler_settings *settings, idm_target target)
{
  enum { DRAWS = 4000 };
  static double value[DRAWS];
  double x[MANY] = {0}, error, variance = 0;
  long evaluations = 0;
  chain c;
  chain_start(&c, &idm_sampler_pcn, settings, target, x, 5);
  chain_warm_up(&c);
  for (size_t k = 0; k < DRAWS; k++) {
    chain_step(&c);
    value[k] = c.x[0];
    evaluations += c.statistics.evaluations;
  }
  chain_stop(&c);
  const double mean = mean_and_error(value, DRAWS, &error);
  for (size_t k = 0; k < DRAWS; k++)
    variance += (value[k] - mean) * (value[k] - mean) / (double)DRAWS;
  return variance / (error * error) / (double)evaluations;
}

/* With a good guess, an evaluation in 30 dimensions gives three times the 0.3 / 30 effective draws
 * of an optimal random walk; without one, the covariance is learnt in warm-up, at the rate of a
 * random walk. */
static void test_worth_of_an_evaluation(void **state)
{
  (void)state;
  normal_target normal = {.n = MANY};
  double covariance[MANY * MANY] = {0};
  idm_sampler_settings settings = sampler_defaults();
  for (size_t i = 0; i < MANY; i++) {
    normal.mean[i] = (double)i;
    normal.sd[i] = 1 + (double)(i % 3);
    covariance[i * (MANY + 1)] = normal.sd[i] * normal.sd[i];
  }
  settings.thin = 1;
  settings.warmup = 1000;
  settings.centre = normal.mean;
  settings.covariance = covariance;
  const double guessed = worth(&settings, normal_as_target(&normal));
  settings.thin = 8;
  settings.centre = settings.covariance = NULL;
  const double learnt = worth(&settings, normal_as_target(&normal));
  print_message("  %.3f effective draws per evaluation, %.3f without a guess\n", guessed, learnt);
  assert_true(guessed > 3 * 0.3 / MANY);
  assert_true(learnt > 0.3 * 0.3 / MANY);
}

/* A surrogate with twice the variance of a normal target: one evaluation per excursion, and the
 * moments are the target's, not the surrogate's. */
static double wider(void *context, const double *x)
{
  double density = 0;
  normal_evaluate(context, x, &density, NULL, NULL);
  return density / 2;
}

static void test_surrogate(void **state)
{
  (void)state;
  enum { DRAWS = 12000 };
  static double square[DRAWS];
  normal_target normal = {.n = 3, .sd = {1, 2, 3}};
  const double covariance[9] = {1, 0, 0, 0, 4, 0, 0, 0, 9}, x[3] = {0};
  double error;
  chain c;
  idm_sampler_settings settings = sampler_defaults();
  settings.warmup = 200;
  settings.centre = normal.mean;
  settings.covariance = covariance;
  settings.surrogate = wider;
  chain_start(&c, &idm_sampler_pcn, &settings, normal_as_target(&normal), x, 11);
  chain_warm_up(&c);
  for (size_t k = 0; k < DRAWS; k++) {
    chain_step(&c);
    assert_int_equal(c.statistics.evaluations, 3);
    square[k] = c.x[1] * c.x[1] / 4;
  }
  chain_stop(&c);
  const double mean = mean_and_error(square, DRAWS, &error);
  print_message("  mean square %.3f +- %.3f with a surrogate of 2\n", mean, error);
  assert_true(error < 0.05);
  assert_true(fabs(mean - 1) < 5 * error);
}

static void test_wide(void **state)
{
  (void)state;
  check_wide(&idm_sampler_pcn);
}

/* Two densities, two positions and three scratch vectors. */
static void test_frozen_after_warm_up(void **state)
{
  (void)state;
  assert_true(count_moving(&idm_sampler_pcn) <= 2 + 5 * 2);
}

static void test_bad_guess(void **state)
{
  (void)state;
  check_bad_guess(&idm_sampler_pcn);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_worth_of_an_evaluation),
      cmocka_unit_test(test_surrogate),
      cmocka_unit_test(test_wide),
      cmocka_unit_test(test_frozen_after_warm_up),
      cmocka_unit_test(test_bad_guess),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
