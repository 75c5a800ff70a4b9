/* Common parts of samplers: default settings, states, checked targets, warm-up windows, moments,
 * first guesses, against values by hand. */
#include "infer/chains.h"

#include "infer/sampler_support.h"

/* --- settings and states -------------------------------------------------------------------- */

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

static void test_thin(void **state)
{
  (void)state;
  idm_sampler_settings settings;
  idm_sampler_settings_default(&settings);
  assert_int_equal(idm_sampler_thin(&settings, 10), 10);
  settings.thin = 3;
  assert_int_equal(idm_sampler_thin(&settings, 10), 3);
}

static void test_statistics_clear(void **state)
{
  (void)state;
  idm_statistics statistics;
  memset(&statistics, 0x5a, sizeof statistics);
  idm_statistics_clear(&statistics);
  assert_true(isnan(statistics.log_density) && isnan(statistics.acceptance));
  assert_true(isnan(statistics.step_size) && isnan(statistics.energy));
  assert_int_equal(statistics.tree_depth, -1);
  assert_int_equal(statistics.evaluations, 0);
  assert_false(statistics.diverging);
}

/* Without a state, only the size is counted. */
static void test_state_take(void **state)
{
  (void)state;
  double numbers[5];
  size_t used = 0, counted = 0;
  assert_ptr_equal(idm_state_take(numbers, &used, 2), numbers);
  assert_ptr_equal(idm_state_take(numbers, &used, 3), numbers + 2);
  assert_null(idm_state_take(NULL, &counted, 2));
  assert_null(idm_state_take(NULL, &counted, 3));
  assert_int_equal(used, 5);
  assert_int_equal(counted, 5);
}

/* --- targets -------------------------------------------------------------------------------- */

/* The log density is in the context; a NULL context fails. */
static idm_status constant_evaluate(void *context, const double *x, double *log_density,
                                    double *opt_gradient, idm_error *opt_error)
{
  (void)x;
  if (!context) return idm_fail(opt_error, IDM_INPUT, "no density here");
  *log_density = *(const double *)context;
  if (opt_gradient) opt_gradient[0] = 7;
  return IDM_OK;
}

static void test_target(void **state)
{
  (void)state;
  const double x[1] = {0};
  const struct {
    double given, taken;
    idm_status evaluated, begun;
  } cases[] = {{-2.5, -2.5, IDM_OK, IDM_OK},
               {-INFINITY, -INFINITY, IDM_OK, IDM_NUMERICAL},
               {NAN, -INFINITY, IDM_OK, IDM_NUMERICAL},
               {INFINITY, INFINITY, IDM_NUMERICAL, IDM_NUMERICAL}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double given = cases[i].given, density = 1, gradient[1] = {0};
    const idm_target target = {1, true, &given, constant_evaluate};
    assert_int_equal(idm_target_evaluate(&target, x, &density, gradient, &support_error),
                     cases[i].evaluated);
    assert_true(density == cases[i].taken);
    assert_true(gradient[0] == 7);
    assert_int_equal(idm_target_evaluate_start(&target, x, &density, NULL, &support_error),
                     cases[i].begun);
  }
  double density;
  const idm_target failing = {1, false, NULL, constant_evaluate};
  assert_int_equal(idm_target_evaluate(&failing, x, &density, NULL, &support_error), IDM_INPUT);
  assert_int_equal(idm_target_evaluate_start(&failing, x, &density, NULL, &support_error),
                   IDM_INPUT);
  assert_string_equal(support_error.message, "no density here");
}

/* --- warm-up -------------------------------------------------------------------------------- */

/* Ends of the warm-up windows; moments are collected in all iterations between the first and the
 * last. */
static size_t closes(long warmup, long *at, long *first)
{
  size_t count = 0;
  *first = -1;
  for (long i = 0; i < warmup + 5; i++) {
    const idm_window window = idm_warmup_window(i, warmup);
    if (window.collect && *first < 0) *first = i;
    if (window.at_end) {
      assert_true(window.collect);
      at[count++] = i;
    }
    assert_true(i < warmup || !window.collect);
  }
  return count;
}

static void test_windows(void **state)
{
  (void)state;
  long at[20], first;
  /* Stan's windows for 1000 iterations: 75, then 25, 50, 100, 200, 500, then 50. */
  const long stan[] = {99, 149, 249, 449, 949};
  assert_int_equal(closes(1000, at, &first), 5);
  assert_int_equal(first, 75);
  for (size_t i = 0; i < 5; i++) assert_int_equal(at[i], stan[i]);
  /* 250 + 200 leaves no space for a window of 400: the last window is extended. */
  const long shorter[] = {99, 149, 249, 749};
  assert_int_equal(closes(800, at, &first), 4);
  for (size_t i = 0; i < 4; i++) assert_int_equal(at[i], shorter[i]);
  assert_int_equal(closes(100, at, &first), 1);
  assert_int_equal(first, 15);
  assert_int_equal(at[0], 89);
  assert_int_equal(closes(19, at, &first), 0);
  assert_int_equal(closes(0, at, &first), 0);
}

/* Moments against two-pass sums, and shrinkage towards the guess. */
static void test_moments(void **state)
{
  (void)state;
  enum { N = 3, COUNT = 40 };
  double x[COUNT][N], store[2][1 + N + N * N], covariance[N * N], diagonal[N];
  idm_random random;
  idm_random_init(&random, 5, 0);
  idm_scatter moments[2];
  for (int dense = 0; dense < 2; dense++) {
    size_t used = 0;
    moments[dense] = idm_scatter_take(store[dense], &used, N, dense);
    assert_int_equal(used, dense ? 1 + N + N * N : 1 + 2 * N);
    idm_scatter_restart(&moments[dense]);
    assert_false(idm_scatter_covariance(&moments[dense], NULL, covariance));
  }
  for (size_t k = 0; k < COUNT; k++) {
    for (size_t i = 0; i < N; i++) x[k][i] = 1000 + idm_random_normal(&random) * (double)(i + 1);
    x[k][2] += x[k][0];
    for (int dense = 0; dense < 2; dense++) idm_scatter_add(&moments[dense], x[k]);
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
    assert_true(idm_scatter_covariance(&moments[1], guessed ? guess : NULL, covariance));
    assert_true(idm_scatter_covariance(&moments[0], guessed ? guess : NULL, diagonal));
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

static void test_guess_factor(void **state)
{
  (void)state;
  const double covariance[4] = {4, 2, 2, 10}, indefinite[4] = {1, 2, 2, 1};
  idm_sampler_settings settings;
  idm_sampler_settings_default(&settings);
  double factor[4];
  check(idm_guess_factor(&settings, 2, factor, &support_error));
  assert_true(factor[0] == 1 && factor[2] == 0 && factor[3] == 1);
  settings.covariance = covariance;
  check(idm_guess_factor(&settings, 2, factor, &support_error));
  assert_near(factor[0], 2, 1e-15);
  assert_near(factor[2], 1, 1e-15);
  assert_near(factor[3], 3, 1e-15);
  settings.covariance = indefinite;
  assert_int_equal(idm_guess_factor(&settings, 2, factor, &support_error), IDM_USAGE);
  assert_non_null(strstr(support_error.message, "not positive definite"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults),         cmocka_unit_test(test_thin),
      cmocka_unit_test(test_statistics_clear), cmocka_unit_test(test_state_take),
      cmocka_unit_test(test_target),           cmocka_unit_test(test_windows),
      cmocka_unit_test(test_moments),          cmocka_unit_test(test_guess_factor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
