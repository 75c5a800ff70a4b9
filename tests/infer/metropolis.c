/* The adaptive Metropolis sampler beyond the conformance suite: effective draws per evaluation, and
 * targets for which its fitted proposal is wrong. Tolerances of five standard errors, as in
 * samplers.c. */
#include "infer/chains.h"

#include "infer/sampler_support.h"

/* Effective draws of coordinate 0 per evaluation, over `draws` draws after warm-up. */
static double worth(chain *c, long draws)
{
  double *x = malloc((size_t)draws * sizeof *x), error, variance = 0;
  long evaluations = 0;
  assert_non_null(x);
  chain_warm_up(c);
  for (long k = 0; k < draws; k++) {
    chain_step(c);
    x[k] = c->x[0];
    evaluations += c->statistics.evaluations;
  }
  const double mean = mean_and_error(x, draws, &error);
  for (long k = 0; k < draws; k++) variance += (x[k] - mean) * (x[k] - mean) / (double)draws;
  free(x);
  return variance / (error * error) / (double)evaluations;
}

/* Nearly independent draws of a normal density, whether the covariance is given or learnt. */
static void test_worth_of_an_evaluation(void **state)
{
  (void)state;
  normal_target pair = {.n = 2, .mean = {1, 2}, .sd = {1, 10}, .correlation = 0.9};
  const double covariance[4] = {1, 9, 9, 100}, x[2] = {0};
  for (int guessed = 0; guessed < 2; guessed++)
    for (long thin = 1; thin <= 4; thin += 3) {
      idm_sampler_settings settings = sampler_defaults();
      settings.thin = thin;
      settings.warmup = 4000 / thin;
      settings.centre = guessed ? pair.mean : NULL;
      settings.covariance = guessed ? covariance : NULL;
      chain c;
      chain_start(&c, &idm_sampler_metropolis, &settings, normal_as_target(&pair), x, 9);
      /* With four evaluations per draw, a quarter is the maximum. */
      assert_true(worth(&c, 16000 / thin) > (thin == 1 ? 0.4 : 0.2));
      chain_stop(&c);
    }
}

/* Without warm-up a good guess is used in half of the steps; a random walk alone would reach 0.13.
 */
static void test_guess_without_warm_up(void **state)
{
  (void)state;
  normal_target pair = {.n = 2, .mean = {1, 2}, .sd = {1, 10}, .correlation = 0.9};
  const double covariance[4] = {1, 9, 9, 100}, x[2] = {0};
  idm_sampler_settings settings = sampler_defaults();
  settings.thin = 1;
  settings.warmup = 0;
  settings.centre = pair.mean;
  settings.covariance = covariance;
  chain c;
  chain_start(&c, &idm_sampler_metropolis, &settings, normal_as_target(&pair), x, 10);
  assert_true(worth(&c, 16000) > 0.3);
  chain_stop(&c);
}

/* x0 standard normal, x1 normal around x0 squared. */
static idm_status banana_evaluate(void *context, const double *x, double *log_density,
                                  double *opt_gradient, idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  (void)opt_gradient;
  const double off = x[1] - x[0] * x[0];
  *log_density = -0.5 * x[0] * x[0] - 0.5 * off * off;
  return IDM_OK;
}

/* Student's t with 3 degrees of freedom in two dimensions. */
static idm_status student_evaluate(void *context, const double *x, double *log_density,
                                   double *opt_gradient, idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  (void)opt_gradient;
  *log_density = -2.5 * log1p((x[0] * x[0] + x[1] * x[1]) / 3);
  return IDM_OK;
}

/* Mean of f over a long chain, within five standard errors of `expected`. */
static void compare_mean(idm_target target, const idm_sampler_settings *settings,
                         double (*f)(const double *), double expected, double most_error)
{
  enum { DRAWS = 20000 };
  static double value[DRAWS];
  const double x[2] = {0.2, 0.1};
  double error;
  chain c;
  chain_start(&c, &idm_sampler_metropolis, settings, target, x, 21);
  chain_warm_up(&c);
  for (size_t k = 0; k < DRAWS; k++) {
    chain_step(&c);
    value[k] = f(c.x);
  }
  chain_stop(&c);
  const double mean = mean_and_error(value, DRAWS, &error);
  assert_true(fabs(mean - expected) < 5 * error);
  assert_true(error < most_error);
}

static double first_square(const double *x)
{
  return x[0] * x[0];
}

static double second(const double *x)
{
  return x[1];
}

/* Indicator of the outer tenth of a two-dimensional t with 3 degrees of freedom: (1 + r^2 / 3)^-1.5
 * = 0.1. */
static double far_out(const double *x)
{
  return x[0] * x[0] + x[1] * x[1] > 3 * (pow(0.1, -2.0 / 3) - 1);
}

static double both_positive(const double *x)
{
  return x[0] > 0 && x[1] > 0;
}

static void test_targets_unlike_the_proposal(void **state)
{
  (void)state;
  const idm_sampler_settings settings = sampler_defaults();
  const idm_target banana = {2, false, NULL, banana_evaluate};
  const idm_target student = {2, false, NULL, student_evaluate};
  normal_target thin = {.n = 2, .sd = {1, 1}, .correlation = 0.99};
  compare_mean(banana, &settings, first_square, 1, 0.1);
  compare_mean(banana, &settings, second, 1, 0.1);
  compare_mean(student, &settings, far_out, 0.1, 0.01);
  compare_mean(normal_as_target(&thin), &settings, both_positive,
               0.25 + asin(0.99) / (2 * acos(-1)), 0.01);
}

/* A wrong guess is discarded in warm-up, and without warm-up still gives correct draws. */
static void test_wrong_guess(void **state)
{
  (void)state;
  normal_target pair = {.n = 2, .sd = {1, 1}};
  const double centre[2] = {40, -40}, covariance[4] = {1e-2, 0, 0, 1e-2};
  idm_sampler_settings settings = sampler_defaults();
  settings.centre = centre;
  settings.covariance = covariance;
  compare_mean(normal_as_target(&pair), &settings, first_square, 1, 0.03);
  settings.warmup = 0;
  compare_mean(normal_as_target(&pair), &settings, both_positive, 0.25, 0.05);
}

/* A thin ring: a proposal fitted to its moments is rarely accepted. */
static idm_status ring_evaluate(void *context, const double *x, double *log_density,
                                double *opt_gradient, idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  (void)opt_gradient;
  const double ring = sqrt(x[0] * x[0] + x[1] * x[1]) - 3;
  *log_density = -0.5 * ring * ring / (0.02 * 0.02);
  return IDM_OK;
}

static void test_poor_proposal_is_given_up(void **state)
{
  (void)state;
  idm_sampler_settings settings = sampler_defaults();
  settings.thin = 4; /* enough steps for the scale to converge */
  const double x[2] = {3, 0};
  double acceptance = 0;
  chain c;
  chain_start(&c, &idm_sampler_metropolis, &settings, (idm_target){2, false, NULL, ring_evaluate},
              x, 8);
  chain_warm_up(&c);
  for (long k = 0; k < 1000; k++) {
    chain_step(&c);
    acceptance += c.statistics.acceptance / 1000;
  }
  chain_stop(&c);
  /* All steps are random-walk steps, with target acceptance 0.35. */
  assert_true(acceptance > 0.25 && acceptance < 0.45);
}

static void test_wide(void **state)
{
  (void)state;
  check_wide(&idm_sampler_metropolis);
}

/* The density, the position and two scratch vectors. */
static void test_frozen_after_warm_up(void **state)
{
  (void)state;
  assert_true(count_moving(&idm_sampler_metropolis) <= 1 + 3 * 2);
}

static void test_bad_guess(void **state)
{
  (void)state;
  check_bad_guess(&idm_sampler_metropolis);
}

/* One evaluation per step; two steps per draw by default. */
static void test_evaluations(void **state)
{
  (void)state;
  const double x[2] = {0};
  for (long thin = 0; thin < 4; thin++) {
    normal_target pair = {.n = 2, .sd = {1, 1}};
    idm_sampler_settings settings = sampler_defaults();
    settings.warmup = 30;
    settings.thin = thin;
    chain c;
    chain_start(&c, &idm_sampler_metropolis, &settings, normal_as_target(&pair), x, 6);
    for (long step = 0; step < 60; step++) {
      chain_step(&c);
      assert_int_equal(c.statistics.evaluations, thin ? thin : 2);
    }
    chain_stop(&c);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_worth_of_an_evaluation),
      cmocka_unit_test(test_guess_without_warm_up),
      cmocka_unit_test(test_targets_unlike_the_proposal),
      cmocka_unit_test(test_wrong_guess),
      cmocka_unit_test(test_poor_proposal_is_given_up),
      cmocka_unit_test(test_wide),
      cmocka_unit_test(test_frozen_after_warm_up),
      cmocka_unit_test(test_bad_guess),
      cmocka_unit_test(test_evaluations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
