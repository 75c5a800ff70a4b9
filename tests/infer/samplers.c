/* The conformance suite of all samplers of the registry: known moments, invariance, no adaptation
 * after warm-up, identical continuation of a copied state, errors passed on. Seeds are fixed; a
 * correct sampler with another seed fails a moment with probability about 1e-5 (five standard
 * errors, which are themselves estimated) and an invariance test with 1e-3. */
#include "infer/chains.h"

#include "infer/sampler_support.h"

/* --- registry ------------------------------------------------------------------------------- */

static void test_registry(void **state)
{
  (void)state;
  size_t count = 0;
  for (; idm_sampler_at(count); count++) {
    const idm_sampler *sampler = idm_sampler_at(count);
    assert_true(sampler->name && sampler->name[0]);
    assert_true(sampler->summary && sampler->summary[0]);
    assert_true(sampler->numbers && sampler->start && sampler->step);
    /* Names are unique: the first sampler of a name is found. */
    assert_ptr_equal(idm_sampler_find(sampler->name), sampler);
  }
  assert_true(count > 0);
  assert_null(idm_sampler_at(count + 1));
  assert_null(idm_sampler_at(SIZE_MAX));
  assert_null(idm_sampler_find("no such sampler"));
  assert_null(idm_sampler_find(""));
}

/* --- moments -------------------------------------------------------------------------------- */

static void measure_single(const double *x, double *f)
{
  const double z = (x[0] - 3) / 2;
  f[0] = z;
  f[1] = z * z;
  f[2] = z > 1.2815515655446004;
  f[3] = z < -1.2815515655446004;
}

static void measure_skewed(const double *x, double *f)
{
  f[0] = 1 / (1 + exp(-x[0]));
  f[1] = exp(x[1]);
  f[2] = f[0] * f[0];
  f[3] = f[1] * f[1];
  f[4] = f[0] * f[1];
  f[5] = f[0] > 0.5;
  f[6] = f[1] > 5;
}

static void measure_half(const double *x, double *f)
{
  f[0] = x[0];
  f[1] = x[0] * x[0];
  f[2] = x[0] > 1.6448536269514722;
  f[3] = x[0] < 0.1256613468550741; /* the tenth of the mass nearest to the edge */
}

static void test_right_moments(void **state)
{
  (void)state;
  normal_target single = {.n = 1, .mean = {3}, .sd = {2}};
  normal_target pair = {.n = 2, .sd = {1, 1}, .correlation = 0.95};
  skewed_target skewed = {.beta = {2, 5}, .gamma = {3, 1}};
  const double both = 0.25 + asin(0.95) / (2 * acos(-1)), p = 2.0 / 7;
  const trial trials[] = {
      {"normal", normal_as_target(&single), {0}, 3, 4, measure_single, {0, 1, 0.1, 0.1}},
      {"pair",
       normal_as_target(&pair),
       {1, 1},
       0.7,
       7,
       measure_pair,
       {0, 0, 1, 1, 0.95, 0.1, both}},
      {"skewed",
       {2, true, &skewed, skewed_evaluate},
       {0},
       1,
       7,
       measure_skewed,
       {p, 3, p * p + p * (1 - p) / 8, 12, 3 * p, 7.0 / 64, exp(-5) * 18.5}},
      {"half",
       {1, true, NULL, half_evaluate},
       {1},
       1,
       4,
       measure_half,
       {sqrt(2 / acos(-1)), 1, 0.1, 0.1}},
  };
  for (size_t k = 0; k < sizeof trials / sizeof trials[0]; k++)
    for (size_t i = 0; idm_sampler_at(i); i++) run_trial(&trials[k], idm_sampler_at(i), 100 + k);
}

/* --- invariance ----------------------------------------------------------------------------- */

/* Chi-square of `cells` counts with equal expectations. */
static double uniform_chi_square(const long *count, size_t cells, long total)
{
  const double expected = (double)total / (double)cells;
  double sum = 0;
  for (size_t i = 0; i < cells; i++)
    sum += ((double)count[i] - expected) * ((double)count[i] - expected) / expected;
  return sum;
}

/* Counts cells of draws of one chain after warm-up, 25 steps apart and so nearly independent. */
static void count_draws(const idm_sampler *sampler, const idm_sampler_settings *settings,
                        idm_target target, size_t (*cell)(const double *), long draws, long *count)
{
  enum { APART = 25 };
  const double x[2] = {0.5, 0.5};
  chain c;
  chain_start(&c, sampler, settings, target, x, 77);
  chain_warm_up(&c);
  for (long k = 0; k < draws; k++) {
    for (long i = 0; i < APART; i++) chain_step(&c);
    count[cell(c.x)]++;
  }
  chain_stop(&c);
}

/* Cells of equal probability: quartiles of two independent components. */
static size_t quartile(double z)
{
  const double edge = 0.6744897501960817;
  return z > edge ? 3U : z > 0 ? 2U : z > -edge ? 1U : 0U;
}

static size_t pair_cell(const double *x)
{
  return 4 * quartile(x[0]) + quartile((x[1] - 0.8 * x[0]) / 0.6);
}

static size_t half_cell(const double *x)
{
  const double at = 10 * erf(x[0] / sqrt(2));
  return at < 9 ? (size_t)at : 9;
}

static void test_invariance(void **state)
{
  (void)state;
  enum { DRAWS = 20000 };
  normal_target pair = {.n = 2, .sd = {1, 1}, .correlation = 0.8};
  /* Wrong guesses, and a warm-up too short to correct them, so that the acceptance step must. */
  const double centre[2] = {0.5, -0.5}, covariance[4] = {1.5, 0.3, 0.3, 0.7};
  idm_sampler_settings settings;
  idm_sampler_settings_default(&settings);
  settings.warmup = 19;
  settings.step = 0.9;
  settings.centre = centre;
  settings.covariance = covariance;
  for (size_t i = 0; idm_sampler_at(i); i++) {
    const idm_sampler *sampler = idm_sampler_at(i);
    long count[16] = {0}, half_count[10] = {0};
    count_draws(sampler, &settings, normal_as_target(&pair), pair_cell, DRAWS, count);
    const double chi = uniform_chi_square(count, 16, DRAWS);
    if (chi > 37.697) fail_msg("%s moves a normal: chi-square %g on 15", sampler->name, chi);
    count_draws(sampler, &settings, (idm_target){1, true, NULL, half_evaluate}, half_cell, DRAWS,
                half_count);
    const double half_chi = uniform_chi_square(half_count, 10, DRAWS);
    if (half_chi > 27.877) fail_msg("%s moves a half normal: %g on 9", sampler->name, half_chi);
  }
}

/* --- state ---------------------------------------------------------------------------------- */

static bool same_statistics(const idm_statistics *a, const idm_statistics *b)
{
  const double x[2][4] = {{a->log_density, a->acceptance, a->step_size, a->energy},
                          {b->log_density, b->acceptance, b->step_size, b->energy}};
  return memcmp(x[0], x[1], sizeof x[0]) == 0 && a->tree_depth == b->tree_depth &&
         a->evaluations == b->evaluations && a->diverging == b->diverging;
}

/* A copy of a chain and the chain itself continue identically. */
static void continue_copy(chain *c, long steps)
{
  const size_t numbers = c->sampler->numbers(c->target.dimension);
  chain copy = *c;
  copy.state = malloc(numbers * sizeof(double));
  assert_non_null(copy.state);
  memcpy(copy.state, c->state, numbers * sizeof(double));
  for (long i = 0; i < steps; i++) chain_step(c);
  for (long i = 0; i < steps; i++) chain_step(&copy);
  assert_memory_equal(c->x, copy.x, c->target.dimension * sizeof(double));
  assert_memory_equal(c->state, copy.state, numbers * sizeof(double));
  assert_true(same_statistics(&c->statistics, &copy.statistics));
  chain_stop(&copy);
}

static void test_copied_state_goes_on_alike(void **state)
{
  (void)state;
  skewed_target skewed = {.beta = {2, 5}, .gamma = {3, 1}};
  idm_sampler_settings settings;
  idm_sampler_settings_default(&settings);
  settings.warmup = 60;
  for (size_t i = 0; idm_sampler_at(i); i++) {
    const double x[2] = {0};
    chain c;
    chain_start(&c, idm_sampler_at(i), &settings, (idm_target){2, true, &skewed, skewed_evaluate},
                x, 3);
    /* Early, across the end of the window and of warm-up, and after. */
    const long lengths[] = {5, 30, 40, 30};
    for (size_t k = 0; k < 4; k++) continue_copy(&c, lengths[k]);
    chain_stop(&c);
  }
}

/* The layout of a state is private to its sampler (whose test counts the numbers that change); all
 * samplers report a step size. */
static void test_frozen_after_warm_up(void **state)
{
  (void)state;
  normal_target pair = {.n = 2, .sd = {1, 3}, .correlation = 0.5};
  idm_sampler_settings settings;
  idm_sampler_settings_default(&settings);
  settings.warmup = 200;
  for (size_t i = 0; idm_sampler_at(i); i++) {
    const double x[2] = {0};
    chain c;
    chain_start(&c, idm_sampler_at(i), &settings, normal_as_target(&pair), x, 4);
    chain_warm_up(&c);
    chain_step(&c);
    const double step_size = c.statistics.step_size;
    for (long k = 0; k < 300; k++) {
      chain_step(&c);
      assert_true(c.statistics.step_size == step_size);
    }
    chain_stop(&c);
  }
}

/* --- accounts and errors -------------------------------------------------------------------- */

static void test_accounts(void **state)
{
  (void)state;
  for (size_t i = 0; idm_sampler_at(i); i++) {
    const long thins[] = {0, 1, 3};
    for (size_t k = 0; k < 3; k++) {
      normal_target pair = {.n = 2, .sd = {1, 1}};
      idm_sampler_settings settings;
      idm_sampler_settings_default(&settings);
      settings.warmup = 30;
      settings.thin = thins[k];
      const double x[2] = {0};
      chain c;
      chain_start(&c, idm_sampler_at(i), &settings, normal_as_target(&pair), x, 6);
      for (long step = 0; step < 60; step++) {
        const long before = pair.evaluations;
        double density = NAN;
        chain_step(&c);
        assert_int_equal(c.statistics.evaluations, pair.evaluations - before);
        assert_true(c.statistics.evaluations >= thins[k]);
        check(normal_evaluate(&pair, c.x, &density, NULL, &support_error));
        assert_near(c.statistics.log_density, density, 1e-12);
        assert_true(isnan(c.statistics.acceptance) ||
                    (c.statistics.acceptance >= 0 && c.statistics.acceptance <= 1));
        assert_true(c.statistics.step_size > 0);
      }
      chain_stop(&c);
    }
  }
}

/* A sampler that needs a gradient refuses a target without one; the others never request it. */
static void test_gradient_is_declared(void **state)
{
  (void)state;
  idm_sampler_settings settings;
  idm_sampler_settings_default(&settings);
  settings.warmup = 100;
  for (size_t i = 0; idm_sampler_at(i); i++) {
    const idm_sampler *sampler = idm_sampler_at(i);
    normal_target pair = {.n = 2, .sd = {1, 1}, .no_gradient = true};
    const idm_target target = {2, false, &pair, normal_evaluate};
    const double x[2] = {0};
    if (!sampler->gradient) {
      chain c;
      chain_start(&c, sampler, &settings, target, x, 7);
      for (long k = 0; k < 200; k++) chain_step(&c);
      chain_stop(&c);
      continue;
    }
    double *numbers = malloc(sampler->numbers(2) * sizeof *numbers);
    idm_random random;
    idm_random_init(&random, 7, 0);
    assert_non_null(numbers);
    assert_int_equal(sampler->start(numbers, &settings, &target, x, &random, &support_error),
                     IDM_USAGE);
    free(numbers);
  }
}

static void test_errors_are_passed_on(void **state)
{
  (void)state;
  idm_sampler_settings settings;
  idm_sampler_settings_default(&settings);
  for (size_t i = 0; idm_sampler_at(i); i++) {
    const idm_sampler *sampler = idm_sampler_at(i);
    double *numbers = malloc(sampler->numbers(1) * sizeof *numbers), x[1] = {0.3};
    assert_non_null(numbers);
    for (long fails_at = 1; fails_at < 90; fails_at++) {
      normal_target single = {.n = 1, .sd = {1}, .fails_at = fails_at};
      const idm_target target = normal_as_target(&single);
      idm_random random;
      idm_random_init(&random, 2, 0);
      idm_error error = {0};
      idm_statistics statistics;
      idm_status status = sampler->start(numbers, &settings, &target, x, &random, &error);
      for (long k = 0; status == IDM_OK && k < 200; k++)
        status = sampler->step(numbers, &settings, &target, k, &random, x, &statistics, &error);
      assert_int_equal(status, IDM_NUMERICAL);
      assert_int_equal(single.evaluations, fails_at);
      assert_non_null(strstr(error.message, "fails"));
    }
    free(numbers);
  }
}

/* A log density of 0 at one point, and the value in the context everywhere else. */
static idm_status strange_evaluate(void *context, const double *x, double *log_density,
                                   double *opt_gradient, idm_error *opt_error)
{
  (void)opt_error;
  *log_density = x[0] == 0.25 ? 0 : *(const double *)context;
  if (opt_gradient) opt_gradient[0] = 0;
  return IDM_OK;
}

static void test_strange_densities(void **state)
{
  (void)state;
  const double x[1] = {0.25}, outside[1] = {0.5};
  idm_sampler_settings settings;
  idm_sampler_settings_default(&settings);
  for (size_t i = 0; idm_sampler_at(i); i++) {
    double value = NAN;
    const idm_target target = {1, true, &value, strange_evaluate};
    const idm_sampler *sampler = idm_sampler_at(i);
    double *numbers = malloc(sampler->numbers(1) * sizeof *numbers), next[1];
    idm_random random;
    idm_random_init(&random, 2, 0);
    idm_statistics statistics;
    assert_non_null(numbers);
    assert_int_equal(sampler->start(numbers, &settings, &target, outside, &random, &support_error),
                     IDM_NUMERICAL);
    /* Zero density everywhere else: the chain stays. */
    check(sampler->start(numbers, &settings, &target, x, &random, &support_error));
    for (long k = 0; k < 40; k++) {
      check(sampler->step(numbers, &settings, &target, k, &random, next, &statistics,
                          &support_error));
      assert_true(next[0] == x[0]);
    }
    value = INFINITY;
    idm_status status = sampler->start(numbers, &settings, &target, x, &random, &support_error);
    if (status == IDM_OK)
      status =
          sampler->step(numbers, &settings, &target, 0, &random, next, &statistics, &support_error);
    assert_int_equal(status, IDM_NUMERICAL);
    free(numbers);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_registry),
      cmocka_unit_test(test_right_moments),
      cmocka_unit_test(test_invariance),
      cmocka_unit_test(test_copied_state_goes_on_alike),
      cmocka_unit_test(test_frozen_after_warm_up),
      cmocka_unit_test(test_accounts),
      cmocka_unit_test(test_gradient_is_declared),
      cmocka_unit_test(test_errors_are_passed_on),
      cmocka_unit_test(test_strange_densities),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
