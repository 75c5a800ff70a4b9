/* The conformance suite that every sampler must pass: right moments, exact invariance, frozen after
 * warm-up, the same bits again from a copied state, errors passed on. Seeds are fixed; a correct
 * sampler with another seed fails a moment with probability about 1e-5 (five standard errors, which
 * are themselves estimated) and an invariance test with 1e-3. */
#include "infer/sampler_support.h"

#include "infer/sampler.h"

/* --- registry and what is shared ------------------------------------------------------------ */

static void test_registry(void **state)
{
  (void)state;
  const char *const names[] = {"metropolis", "nuts", "slice", "paper"};
  for (size_t i = 0; i < 4; i++) {
    const idm_sampler *sampler = idm_sampler_at(i);
    assert_non_null(sampler);
    assert_string_equal(sampler->name, names[i]);
    assert_ptr_equal(idm_sampler_find(names[i]), sampler);
    assert_true(sampler->summary && sampler->summary[0]);
    assert_int_equal(sampler->gradient, i == 1);
    assert_true(sampler->numbers && sampler->start && sampler->step);
  }
  assert_null(idm_sampler_at(4));
  assert_null(idm_sampler_find("gibbs"));
}

static void test_defaults(void **state)
{
  (void)state;
  idm_sampler_settings settings;
  memset(&settings, 0x5a, sizeof settings);
  idm_sampler_settings_default(&settings);
  assert_int_equal(settings.warmup, 1000);
  assert_int_equal(settings.thin, 0);
  assert_true(settings.step == 0.1);
  assert_true(settings.acceptance == 0.8);
  assert_int_equal(settings.depth, 10);
  assert_null(settings.centre);
  assert_null(settings.covariance);
}

/* Closes of the windows of a warm-up, and that all between the first and the last gathers. */
static size_t closes(long warmup, long *at, long *first)
{
  size_t count = 0;
  *first = -1;
  for (long i = 0; i < warmup + 5; i++) {
    const idm_window window = idm_warmup_window(i, warmup);
    if (window.gather && *first < 0) *first = i;
    if (window.close) {
      assert_true(window.gather);
      at[count++] = i;
    }
    assert_true(i < warmup || !window.gather);
  }
  return count;
}

static void test_windows(void **state)
{
  (void)state;
  long at[20], first;
  /* Stan's for 1000: 75, then 25, 50, 100, 200, 500, then 50. */
  const long stan[] = {99, 149, 249, 449, 949};
  assert_int_equal(closes(1000, at, &first), 5);
  assert_int_equal(first, 75);
  for (size_t i = 0; i < 5; i++) assert_int_equal(at[i], stan[i]);
  /* 250 + 200 leaves no room for a window of 400: the last is longer. */
  const long shorter[] = {99, 149, 249, 749};
  assert_int_equal(closes(800, at, &first), 4);
  for (size_t i = 0; i < 4; i++) assert_int_equal(at[i], shorter[i]);
  assert_int_equal(closes(100, at, &first), 1);
  assert_int_equal(first, 15);
  assert_int_equal(at[0], 89);
  assert_int_equal(closes(19, at, &first), 0);
  assert_int_equal(closes(0, at, &first), 0);
}

/* Moments against two-pass sums, and the pull towards the guess. */
static void test_moments(void **state)
{
  (void)state;
  enum { N = 3, COUNT = 40 };
  double x[COUNT][N], store[2][1 + N + N * N], covariance[N * N], diagonal[N];
  idm_random random;
  idm_random_init(&random, 5, 0);
  idm_moments moments[2];
  for (int dense = 0; dense < 2; dense++) {
    size_t used = 0;
    moments[dense] = idm_moments_take(store[dense], &used, N, dense);
    assert_int_equal(used, dense ? 1 + N + N * N : 1 + 2 * N);
    idm_moments_restart(&moments[dense]);
    assert_false(idm_moments_covariance(&moments[dense], NULL, covariance));
  }
  for (size_t k = 0; k < COUNT; k++) {
    for (size_t i = 0; i < N; i++) x[k][i] = 1000 + idm_random_normal(&random) * (double)(i + 1);
    x[k][2] += x[k][0];
    for (int dense = 0; dense < 2; dense++) idm_moments_add(&moments[dense], x[k]);
  }
  const double guess[N * N] = {4, 1, 0, 1, 4, 0, 0, 0, 9}, weight = COUNT / (COUNT + 5.0 + N);
  double mean[N] = {0}, plain[N][N] = {{0}};
  for (size_t k = 0; k < COUNT; k++)
    for (size_t i = 0; i < N; i++) mean[i] += x[k][i] / COUNT;
  for (size_t k = 0; k < COUNT; k++)
    for (size_t i = 0; i < N; i++)
      for (size_t j = 0; j < N; j++)
        plain[i][j] += (x[k][i] - mean[i]) * (x[k][j] - mean[j]) / (COUNT - 1);
  for (int guessed = 0; guessed < 2; guessed++) {
    assert_true(idm_moments_covariance(&moments[1], guessed ? guess : NULL, covariance));
    assert_true(idm_moments_covariance(&moments[0], guessed ? guess : NULL, diagonal));
    for (size_t i = 0; i < N; i++) {
      assert_near(moments[1].mean[i], mean[i], 1e-14);
      for (size_t j = 0; j < N; j++) {
        const double towards = guessed ? guess[i * N + j] : i == j ? plain[i][j] : 0;
        assert_near(covariance[i * N + j], weight * plain[i][j] + (1 - weight) * towards, 1e-11);
      }
      assert_near(diagonal[i], covariance[i * N + i], 1e-12);
    }
  }
}

/* --- moments -------------------------------------------------------------------------------- */

enum { MOST_MEASURES = 8 };

/* A target, and functions of x with known means. */
typedef struct trial {
  const char *name;
  idm_target target;
  double start[2];
  double paper_step; /* 0: hopeless for a fixed walk */
  size_t measures;
  void (*measure)(const double *x, double *f);
  double expected[MOST_MEASURES];
} trial;

static void measure_single(const double *x, double *f)
{
  const double z = (x[0] - 3) / 2;
  f[0] = z;
  f[1] = z * z;
  f[2] = z > 1.2815515655446004;
  f[3] = z < -1.2815515655446004;
}

static void measure_pair(const double *x, double *f)
{
  f[0] = x[0];
  f[1] = x[1];
  f[2] = x[0] * x[0];
  f[3] = x[1] * x[1];
  f[4] = x[0] * x[1];
  f[5] = x[0] > 1.2815515655446004;
  f[6] = x[0] > 0 && x[1] > 0;
}

static void measure_wide(const double *x, double *f)
{
  const double z[2] = {x[0], (x[1] + 50) / 100};
  measure_pair(z, f);
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
  f[3] = x[0] < 0.1256613468550741; /* a tenth is this near the edge */
}

/* Run a chain and compare each measure with its mean. */
static void run_trial(const trial *t, const idm_sampler *sampler, uint64_t seed)
{
  enum { DRAWS = 4000 };
  const bool paper = strcmp(sampler->name, "paper") == 0;
  static double draw[MOST_MEASURES][DRAWS];
  idm_sampler_settings settings;
  idm_sampler_settings_default(&settings);
  if (paper) settings.step = t->paper_step;
  chain c;
  chain_start(&c, sampler->name, &settings, t->target, t->start, seed);
  chain_warm_up(&c);
  for (size_t k = 0; k < DRAWS; k++) {
    double f[MOST_MEASURES];
    chain_step(&c);
    t->measure(c.x, f);
    for (size_t i = 0; i < t->measures; i++) draw[i][k] = f[i];
  }
  chain_stop(&c);
  for (size_t i = 0; i < t->measures; i++) {
    double error, sum = 0;
    const double mean = mean_and_error(draw[i], DRAWS, &error);
    for (size_t k = 0; k < DRAWS; k++) sum += (draw[i][k] - mean) * (draw[i][k] - mean) / DRAWS;
    if (!(fabs(mean - t->expected[i]) < 5 * error) || !(error < 0.15 * sqrt(sum)))
      fail_msg("%s on %s: measure %zu has mean %g, expected %g, standard error %g", sampler->name,
               t->name, i, mean, t->expected[i], error);
  }
}

static void test_right_moments(void **state)
{
  (void)state;
  normal_target single = {.n = 1, .mean = {3}, .sd = {2}};
  normal_target pair = {.n = 2, .sd = {1, 1}, .correlation = 0.95};
  normal_target wide = {.n = 2, .mean = {0, -50}, .sd = {1, 100}, .correlation = 0.95};
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
      {"wide", normal_as_target(&wide), {0}, 0, 7, measure_wide, {0, 0, 1, 1, 0.95, 0.1, both}},
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
    for (size_t i = 0; idm_sampler_at(i); i++)
      if (trials[k].paper_step > 0 || strcmp(idm_sampler_at(i)->name, "paper") != 0)
        run_trial(&trials[k], idm_sampler_at(i), 100 + k);
}

/* --- invariance ----------------------------------------------------------------------------- */

/* The first numbers of a NUTS state are the step size and its averaging. `start` finds a step size
 * for its own x: a kernel that is the same for every x has them from one chain. */
enum { NUTS_SHARED = 5 };

/* Chi-square of `cells` counts that should be equal. */
static double uniform_chi_square(const long *count, size_t cells, long total)
{
  const double expected = (double)total / (double)cells;
  double sum = 0;
  for (size_t i = 0; i < cells; i++)
    sum += ((double)count[i] - expected) * ((double)count[i] - expected) / expected;
  return sum;
}

/* Start many chains at exact draws and move each by `steps` frozen steps; count cells. */
static void move_exact_draws(const idm_sampler *sampler, const idm_sampler_settings *settings,
                             idm_target target, void (*draw)(idm_random *, double *),
                             size_t (*cell)(const double *), long chains, long *count)
{
  idm_random random;
  idm_random_init(&random, 77, 1);
  const size_t numbers = sampler->numbers(target.dimension);
  double *state = malloc(numbers * sizeof *state), shared[NUTS_SHARED], x[MOST_DIMENSION];
  assert_non_null(state);
  const bool nuts = strcmp(sampler->name, "nuts") == 0;
  for (long k = 0; k < chains; k++) {
    draw(&random, x);
    check(sampler->start(state, settings, &target, x, &random, &support_error));
    if (nuts && k == 0) memcpy(shared, state, sizeof shared);
    if (nuts) memcpy(state, shared, sizeof shared);
    for (long i = 0; i < 3; i++) {
      idm_statistics statistics;
      check(sampler->step(state, settings, &target, i, &random, x, &statistics, &support_error));
    }
    count[cell(x)]++;
  }
  free(state);
}

static void draw_pair(idm_random *random, double *x)
{
  x[0] = idm_random_normal(random);
  x[1] = 0.8 * x[0] + 0.6 * idm_random_normal(random);
}

/* Cells of equal probability: quartiles of two independent parts. */
static size_t quartile(double z)
{
  const double edge = 0.6744897501960817;
  return z > edge ? 3U : z > 0 ? 2U : z > -edge ? 1U : 0U;
}

static size_t pair_cell(const double *x)
{
  return 4 * quartile(x[0]) + quartile((x[1] - 0.8 * x[0]) / 0.6);
}

static void draw_half(idm_random *random, double *x)
{
  x[0] = fabs(idm_random_normal(random));
}

static size_t half_cell(const double *x)
{
  const double at = 10 * erf(x[0] / sqrt(2));
  return at < 9 ? (size_t)at : 9;
}

static void test_invariance(void **state)
{
  (void)state;
  enum { CHAINS = 20000 };
  normal_target pair = {.n = 2, .sd = {1, 1}, .correlation = 0.8};
  /* Guesses that are off, so that acceptance does the work. */
  const double centre[2] = {0.5, -0.5}, covariance[4] = {1.5, 0.3, 0.3, 0.7};
  idm_sampler_settings settings;
  idm_sampler_settings_default(&settings);
  settings.warmup = 0;
  settings.step = 0.9;
  settings.centre = centre;
  settings.covariance = covariance;
  for (size_t i = 0; idm_sampler_at(i); i++) {
    const idm_sampler *sampler = idm_sampler_at(i);
    long count[16] = {0}, half_count[10] = {0};
    move_exact_draws(sampler, &settings, normal_as_target(&pair), draw_pair, pair_cell, CHAINS,
                     count);
    const double chi = uniform_chi_square(count, 16, CHAINS);
    if (chi > 37.697) fail_msg("%s moves a normal: chi-square %g on 15", sampler->name, chi);
    move_exact_draws(sampler, &settings, (idm_target){1, true, NULL, half_evaluate}, draw_half,
                     half_cell, CHAINS, half_count);
    const double half_chi = uniform_chi_square(half_count, 10, CHAINS);
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

/* Continue a copy of a chain and the chain itself: the same bits. */
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
    chain_start(&c, idm_sampler_at(i)->name, &settings,
                (idm_target){2, true, &skewed, skewed_evaluate}, x, 3);
    /* Early, across the close of the window and the end of warm-up, and after. */
    const long lengths[] = {5, 30, 40, 30};
    for (size_t k = 0; k < 4; k++) continue_copy(&c, lengths[k]);
    chain_stop(&c);
  }
}

/* Numbers of the state that a frozen kernel may change: position, density, scratch. */
static size_t most_moving(const idm_sampler *sampler, size_t n)
{
  if (strcmp(sampler->name, "metropolis") == 0) return 1 + 3 * n;
  if (strcmp(sampler->name, "slice") == 0) return 1 + 2 * n;
  if (strcmp(sampler->name, "paper") == 0) return 1 + 2 * n;
  return sampler->numbers(n) - (5 + 2 * n * n + 1 + n + n * n);
}

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
    chain_start(&c, idm_sampler_at(i)->name, &settings, normal_as_target(&pair), x, 4);
    chain_warm_up(&c);
    const size_t numbers = c.sampler->numbers(2);
    double *frozen = malloc(numbers * sizeof *frozen);
    assert_non_null(frozen);
    memcpy(frozen, c.state, numbers * sizeof *frozen);
    chain_step(&c);
    const double step_size = c.statistics.step_size;
    size_t moved = 0;
    for (long k = 0; k < 300; k++) {
      chain_step(&c);
      assert_true(c.statistics.step_size == step_size);
    }
    for (size_t k = 0; k < numbers; k++) moved += c.state[k] != frozen[k];
    if (moved > most_moving(c.sampler, 2))
      fail_msg("%s changed %zu numbers after warm-up", c.sampler->name, moved);
    free(frozen);
    chain_stop(&c);
  }
}

/* --- accounts and errors -------------------------------------------------------------------- */

static void test_accounts(void **state)
{
  (void)state;
  for (size_t i = 0; idm_sampler_at(i); i++) {
    const long own[] = {2, 1, 1, 10}, thins[] = {0, 1, 3};
    for (size_t k = 0; k < 3; k++) {
      normal_target pair = {.n = 2, .sd = {1, 1}};
      idm_sampler_settings settings;
      idm_sampler_settings_default(&settings);
      settings.warmup = 30;
      settings.thin = thins[k];
      const double x[2] = {0};
      chain c;
      chain_start(&c, idm_sampler_at(i)->name, &settings, normal_as_target(&pair), x, 6);
      for (long step = 0; step < 60; step++) {
        const long before = pair.evaluations;
        double density = NAN;
        chain_step(&c);
        assert_int_equal(c.statistics.evaluations, pair.evaluations - before);
        if (i == 0 || i == 3)
          assert_int_equal(c.statistics.evaluations, thins[k] ? thins[k] : own[i]);
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

/* A density of 0 at one point, and the same strange one everywhere else. */
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
    /* No density anywhere else: the chain stays. */
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

static void test_bad_guess(void **state)
{
  (void)state;
  const double x[2] = {0}, indefinite[4] = {1, 2, 2, 1};
  normal_target pair = {.n = 2, .sd = {1, 1}};
  const idm_target target = normal_as_target(&pair);
  idm_sampler_settings settings;
  idm_sampler_settings_default(&settings);
  settings.covariance = indefinite;
  for (size_t i = 0; i < 3; i++) {
    const idm_sampler *sampler = idm_sampler_at(i);
    double *numbers = malloc(sampler->numbers(2) * sizeof *numbers);
    idm_random random;
    idm_random_init(&random, 2, 0);
    assert_non_null(numbers);
    assert_int_equal(sampler->start(numbers, &settings, &target, x, &random, &support_error),
                     IDM_USAGE);
    free(numbers);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_registry),
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_windows),
      cmocka_unit_test(test_moments),
      cmocka_unit_test(test_right_moments),
      cmocka_unit_test(test_invariance),
      cmocka_unit_test(test_copied_state_goes_on_alike),
      cmocka_unit_test(test_frozen_after_warm_up),
      cmocka_unit_test(test_accounts),
      cmocka_unit_test(test_errors_are_passed_on),
      cmocka_unit_test(test_strange_densities),
      cmocka_unit_test(test_bad_guess),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
