/* Mixture proposals: densities that integrate to one, draws with that density (chi-square), and
 * chains that jump between modes. */
#include "infer/approximation.h"

#include "infer/chains.h"
#include "infer/sampler_support.h"

/* A broad component: normal, sd 30, in one dimension. */
static void draw_broad(const void *context, idm_random *random, double *x)
{
  (void)context;
  x[0] = 30 * idm_random_normal(random);
}

static double log_normal(double x, double mean, double sd)
{
  const double z = (x - mean) / sd;
  return -0.5 * z * z - log(sd) - 0.91893853320467274178;
}

static double broad_log_density(const void *context, const double *x)
{
  (void)context;
  return log_normal(x[0], 0, 30);
}

static const idm_defensive_component broad = {NULL, draw_broad, broad_log_density};

/* A broad component of weight 1/5, and two modes. */
static idm_mixture *make_mixture(void)
{
  const double centres[] = {-10, 20}, spreads[] = {1, 4};
  idm_mixture *m;
  check(idm_mixture_create(1, 2, broad, 1, &m, &support_error));
  assert_true(idm_mixture_add(m, 1, &centres[0], &spreads[0]));
  assert_true(idm_mixture_add(m, 3, &centres[1], &spreads[1]));
  return m;
}

/* Draws follow the density: bin counts by chi-square below its 1 - 1e-5 quantile. */
static void test_draws_have_the_density(void **state)
{
  (void)state;
  enum { BINS = 30, DRAWS = 30000, INNER = 200 };
  idm_mixture *m = make_mixture();
  double mass[BINS] = {0}, total = 0, statistic = 0, x, work;
  size_t count[BINS] = {0}, outside = 0;
  const double low = -60, width = 4;
  for (size_t b = 0; b < BINS; b++) {
    for (size_t i = 0; i < INNER; i++) {
      x = low + width * ((double)b + ((double)i + 0.5) / INNER);
      mass[b] += exp(idm_mixture_log_density(m, &x, &work)) * width / INNER;
    }
    total += mass[b];
  }
  assert_true(total > 0.97 && total < 1);
  idm_random random;
  idm_random_init(&random, 4, 0);
  for (size_t i = 0; i < DRAWS; i++) {
    idm_mixture_draw(m, &random, &x);
    const double at = floor((x - low) / width);
    if (at >= 0 && at < BINS)
      count[(size_t)at]++;
    else
      outside++;
  }
  for (size_t b = 0; b < BINS; b++) {
    const double expected = DRAWS * mass[b], e = (double)count[b] - expected;
    statistic += e * e / expected;
  }
  const double rest = DRAWS * (1 - total), e = (double)outside - rest;
  assert_true(idm_chi_square_tail(statistic + e * e / rest, BINS) > 1e-5);
  idm_mixture_destroy(m);
}

static void test_what_is_no_part(void **state)
{
  (void)state;
  const double centre = 0, good = 1, bad = -1, none = NAN;
  idm_mixture *m;
  check(idm_mixture_create(1, 1, broad, 0.5, &m, &support_error));
  assert_false(idm_mixture_add(m, 1, &centre, &bad));
  assert_false(idm_mixture_add(m, 1, &centre, &none));
  assert_false(idm_mixture_add(m, 0, &centre, &good));
  double x = 3, work;
  /* Without other components the broad one is the whole mixture, whatever its weight. */
  assert_near(idm_mixture_log_density(m, &x, &work), log_normal(3, 0, 30), 1e-14);
  assert_true(idm_mixture_add(m, 1, &centre, &good));
  assert_false(idm_mixture_add(m, 1, &centre, &good));
  idm_mixture_destroy(m);
  idm_mixture_destroy(NULL);
}

/* Two normal densities 30 sds apart: a third of the mass at -10, two thirds at 20. */
static idm_status two_tops(void *context, const double *x, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  (void)context;
  (void)opt_gradient;
  (void)opt_error;
  const double a = log_normal(x[0], -10, 1) - log(3), b = log_normal(x[0], 20, 1) + log(2.0 / 3);
  *log_density = fmax(a, b) + log1p(exp(-fabs(a - b)));
  return IDM_OK;
}

/* A chain without mixture jumps stays in its mode; with jumps the shares of both modes are within
 * five standard errors. */
static void test_leaps(void **state)
{
  (void)state;
  enum { DRAWS = 20000 };
  static double above[DRAWS];
  const idm_target target = {.dimension = 1, .evaluate = two_tops};
  const double x = -10, covariance = 1;
  idm_mixture *m = make_mixture();
  for (int leaps = 0; leaps < 2; leaps++) {
    idm_sampler_settings settings;
    idm_sampler_settings_default(&settings);
    settings.centre = &x;
    settings.covariance = &covariance;
    settings.mixture = leaps ? m : NULL;
    chain c;
    chain_start(&c, &idm_sampler_metropolis, &settings, target, &x, 2);
    chain_warm_up(&c);
    for (size_t i = 0; i < DRAWS; i++) {
      chain_step(&c);
      above[i] = c.x[0] > 5;
    }
    double error;
    const double share = mean_and_error(above, DRAWS, &error);
    if (leaps)
      assert_true(fabs(share - 2.0 / 3) < 5 * error && error < 0.03);
    else
      assert_true(share == 0);
    chain_stop(&c);
  }
  idm_mixture_destroy(m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_draws_have_the_density),
      cmocka_unit_test(test_what_is_no_part),
      cmocka_unit_test(test_leaps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
