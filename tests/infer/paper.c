/* The fixed random walk against one written out here on the same random numbers. */
#include "infer/chains.h"

#include "infer/sampler_support.h"

/* `thin` steps of x + sd * normal, accepted if log(uniform) < difference. */
static void plain_draw(normal_target *t, double sd, long thin, idm_random *random, double *x)
{
  for (long k = 0; k < thin; k++) {
    double y[2], here = NAN, there = NAN;
    for (size_t i = 0; i < 2; i++) y[i] = x[i] + sd * idm_random_normal(random);
    check(normal_evaluate(t, x, &here, NULL, &support_error));
    check(normal_evaluate(t, y, &there, NULL, &support_error));
    if (log(idm_random_uniform(random)) < there - here) memcpy(x, y, sizeof y);
  }
}

static void test_same_as_plain(void **state)
{
  (void)state;
  normal_target pair = {.n = 2, .sd = {1, 2}, .correlation = 0.3};
  idm_sampler_settings settings;
  idm_sampler_settings_default(&settings);
  settings.step = 0.7;
  for (long thin = 0; thin <= 3; thin += 3) {
    double x[2] = {1, -1};
    idm_random random;
    idm_random_init(&random, 31, 0);
    settings.thin = thin;
    chain c;
    chain_start(&c, &idm_sampler_paper, &settings, normal_as_target(&pair), x, 31);
    for (long k = 0; k < 300; k++) {
      chain_step(&c);
      plain_draw(&pair, 0.7, thin ? thin : 10, &random, x);
      assert_true(c.x[0] == x[0] && c.x[1] == x[1]);
      assert_true(c.statistics.step_size == 0.7);
      assert_int_equal(c.statistics.evaluations, thin ? thin : 10);
      assert_true(isnan(c.statistics.energy));
      assert_int_equal(c.statistics.tree_depth, -1);
      assert_false(c.statistics.diverging);
    }
    chain_stop(&c);
  }
}

/* The acceptance rate of a one-dimensional random walk on a normal density is 2/pi atan(2 sd /
 * step) (Gelman, Roberts and Gilks 1996). Tolerance of five standard errors. */
static void test_acceptance(void **state)
{
  (void)state;
  enum { DRAWS = 5000 };
  static double acceptance[DRAWS];
  normal_target single = {.n = 1, .sd = {1}};
  idm_sampler_settings settings;
  idm_sampler_settings_default(&settings);
  settings.step = 2;
  const double x[1] = {0};
  double error;
  chain c;
  chain_start(&c, &idm_sampler_paper, &settings, normal_as_target(&single), x, 12);
  for (size_t k = 0; k < DRAWS; k++) {
    chain_step(&c);
    acceptance[k] = c.statistics.acceptance;
  }
  chain_stop(&c);
  const double mean = mean_and_error(acceptance, DRAWS, &error);
  assert_true(fabs(mean - 0.5) < 5 * error);
  assert_true(error < 0.01);
}

static void test_bad_step(void **state)
{
  (void)state;
  const double bad[] = {0, -1, NAN, INFINITY}, x[1] = {0};
  normal_target single = {.n = 1, .sd = {1}};
  const idm_target target = normal_as_target(&single);
  idm_sampler_settings settings;
  idm_sampler_settings_default(&settings);
  idm_random random;
  idm_random_init(&random, 1, 0);
  for (size_t i = 0; i < 4; i++) {
    double numbers[8];
    settings.step = bad[i];
    assert_int_equal(
        idm_sampler_paper.start(numbers, &settings, &target, x, &random, &support_error),
        IDM_USAGE);
  }
}

/* The density, the position and the candidate. */
static void test_frozen_after_warm_up(void **state)
{
  (void)state;
  assert_true(count_moving(&idm_sampler_paper) <= 1 + 2 * 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_as_plain),
      cmocka_unit_test(test_acceptance),
      cmocka_unit_test(test_bad_step),
      cmocka_unit_test(test_frozen_after_warm_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
