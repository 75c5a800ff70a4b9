/* Tests bridge sampling against quadrature of a logistic regression with two numbers, and against
 * normal integrals, and failures that it must report. */
#include <math.h>
#include <string.h>

#include "infer/comparison.h"
#include "support.h"

enum { CHAINS = 4, DRAWS = 1000, ITEMS = 12 };

/* --- a problem of two numbers ---------------------------------------------------------------- */

static const double dose[ITEMS] = {-2, -1.5, -1, -0.5, 0, 0.2, 0.6, 1, 1.4, 1.8, 2.2, 3};
static const int response[ITEMS] = {0, 0, 1, 0, 0, 1, 0, 1, 1, 1, 1, 1};

/* Normal priors with sd 2.5 of intercept and slope, and a logistic likelihood. */
static double logistic_density(double intercept, double slope)
{
  double sum =
      -(intercept * intercept + slope * slope) / 12.5 - log(6.25) - 2 * idm_half_log_two_pi;
  for (size_t i = 0; i < ITEMS; i++) {
    const double x = intercept + slope * dose[i];
    sum -= log1p(exp(response[i] ? -x : x));
  }
  return sum;
}

static idm_status logistic_target(void *context, const double *x, double *log_density,
                                  double *opt_gradient, idm_error *opt_error)
{
  (void)context, (void)opt_gradient, (void)opt_error;
  *log_density = logistic_density(x[0], x[1]);
  return IDM_OK;
}

/* The trapezoidal rule is exact to rounding for such a density. */
static double quadrature(void)
{
  const double step = 0.05;
  double sum = 0;
  for (int i = -400; i <= 400; i++)
    for (int j = -400; j <= 400; j++) sum += exp(logistic_density(i * step, j * step));
  return log(sum * step * step);
}

/* Random-walk Metropolis, whose draws are autocorrelated. */
static void draw_chains(uint64_t seed, double (*x)[2], double *log_density)
{
  idm_random random;
  idm_random_init(&random, seed, 1);
  for (size_t c = 0; c < CHAINS; c++) {
    double now[2] = {0, 1}, density = logistic_density(0, 1);
    for (size_t i = 0; i < 5 * (DRAWS + 100); i++) {
      const double next[2] = {now[0] + idm_random_normal(&random),
                              now[1] + idm_random_normal(&random)};
      const double other = logistic_density(next[0], next[1]);
      if (idm_random_uniform(&random) < exp(other - density)) {
        memcpy(now, next, sizeof now);
        density = other;
      }
      if (i < 500 || i % 5) continue;
      memcpy(x[c * DRAWS + i / 5 - 100], now, sizeof now);
      log_density[c * DRAWS + i / 5 - 100] = density;
    }
  }
}

/* 20 estimates of standard error e: the mean of (difference / e)^2 is within five standard errors,
 * sqrt(2 / 20), of 1. A normal difference of four e has probability 6e-5. */
static void test_quadrature(void **state)
{
  (void)state;
  static double x[CHAINS * DRAWS][2], density[CHAINS * DRAWS];
  const idm_target target = {2, false, NULL, logistic_target};
  const double exact = quadrature();
  double squares = 0;
  for (uint64_t seed = 0; seed < 20; seed++) {
    draw_chains(seed, x, density);
    const idm_bridge_draws draws = {CHAINS, DRAWS, &x[0][0], density};
    const idm_bridge_draws unscored = {CHAINS, DRAWS, &x[0][0], NULL};
    idm_bridge b, same;
    check(idm_bridge_sample(&target, &draws, seed, &b, &support_error));
    check(idm_bridge_sample(&target, &unscored, seed, &same, &support_error));
    assert_memory_equal(&b.log_evidence, &same.log_evidence, sizeof b.log_evidence);
    assert_true(b.error > 0 && b.error < 0.05);
    assert_int_equal(b.proposals, CHAINS * DRAWS / 2);
    const double off = (b.log_evidence - exact) / b.error;
    assert_true(fabs(off) < 4);
    squares += off * off / 20;
  }
  print_message("mean squared error over squared standard error: %.2f\n", squares);
  assert_true(squares > 0.2 && squares < 1 + 5 * sqrt(0.1));
}

/* --- normal targets -------------------------------------------------------------------------- */

/* A normal target with sd 1 that has another density where a coordinate exceeds a limit. */
typedef struct normal {
  size_t dimension;
  double mode;
  double outside;
  double limit;
  idm_status status;
} normal;

static idm_status normal_target(void *context, const double *x, double *log_density,
                                double *opt_gradient, idm_error *opt_error)
{
  (void)opt_gradient;
  const normal *n = context;
  *log_density = 500;
  for (size_t k = 0; k < n->dimension; k++) {
    *log_density -= 0.5 * (x[k] - n->mode) * (x[k] - n->mode);
    if (x[k] > n->limit) *log_density = n->outside;
    if (x[k] > n->limit) break;
  }
  return n->status == IDM_OK ? IDM_OK : idm_fail(opt_error, n->status, "stopped");
}

static idm_status sample_normal(normal n, size_t draws, double scale, double drift, idm_bridge *b)
{
  static double x[CHAINS * 200 * 5];
  idm_random random;
  idm_random_init(&random, 7, 0);
  for (size_t i = 0; i < CHAINS * draws * n.dimension; i++) {
    const bool late = i / n.dimension % draws >= draws / 2;
    x[i] = (late ? drift : 0) + scale * idm_random_normal(&random);
  }
  const idm_target target = {n.dimension, false, &n, normal_target};
  return idm_bridge_sample(&target, &(idm_bridge_draws){CHAINS, draws, x, NULL}, 3, b,
                           &support_error);
}

/* The integral is (2 pi)^(d/2) e^500, whatever the magnitude of the density. */
static void test_normal(void **state)
{
  (void)state;
  for (size_t d = 1; d <= 5; d++) {
    idm_bridge b;
    check(sample_normal((normal){d, 0, 0, INFINITY, IDM_OK}, 200, 1, 0, &b));
    const double exact = 500 + 2 * idm_half_log_two_pi * 0.5 * (double)d;
    assert_true(b.error < 0.03 && fabs(b.log_evidence - exact) < 4 * b.error);
  }
  /* A density of 0 beyond a limit takes away a share of the integral: P(Z > 3) per coordinate. */
  idm_bridge b;
  check(sample_normal((normal){1, 0, -INFINITY, 3.5, IDM_OK}, 200, 1, 0, &b));
  assert_true(fabs(b.log_evidence - 500 - idm_half_log_two_pi) < 4 * b.error + 1e-3);
}

static void test_failures(void **state)
{
  (void)state;
  const normal good = {2, 0, 0, INFINITY, IDM_OK};
  normal bad = good;
  idm_bridge b;
  assert_int_equal(sample_normal(good, 7, 1, 0, &b), IDM_USAGE);
  assert_int_equal(sample_normal((normal){0, 0, 0, INFINITY, IDM_OK}, 200, 1, 0, &b), IDM_USAGE);
  assert_int_equal(sample_normal(good, 200, 0, 0, &b), IDM_NUMERICAL); /* constant draws */
  assert_int_equal(sample_normal(good, 200, NAN, 0, &b), IDM_INPUT);
  bad.status = IDM_UNTRUSTED;
  assert_int_equal(sample_normal(bad, 200, 1, 0, &b), IDM_UNTRUSTED);
  bad = good;
  bad.limit = 2;
  bad.outside = INFINITY;
  assert_int_equal(sample_normal(bad, 200, 1, 0, &b), IDM_NUMERICAL);
  bad.limit = -100;
  bad.outside = -INFINITY; /* everywhere */
  assert_int_equal(sample_normal(bad, 200, 1, 0, &b), IDM_INPUT);
}

/* Densities that were stored, of draws at which the target now has density 0. */
static void test_zero_density(void **state)
{
  (void)state;
  static double x[CHAINS * DRAWS][2], density[CHAINS * DRAWS];
  normal zero = {2, 0, -INFINITY, -INFINITY, IDM_OK};
  const idm_target target = {2, false, &zero, normal_target};
  idm_bridge b;
  draw_chains(1, x, density);
  const idm_bridge_draws draws = {CHAINS, DRAWS, &x[0][0], density};
  assert_int_equal(idm_bridge_sample(&target, &draws, 1, &b, &support_error), IDM_NUMERICAL);
  assert_non_null(strstr(support_error.message, "density is 0 at all"));
}

/* The second halves of the chains are far from the first, and from the proposal. */
static void test_no_overlap(void **state)
{
  (void)state;
  idm_bridge b;
  const normal far = {2, 60, 0, INFINITY, IDM_OK};
  assert_int_equal(sample_normal(far, 200, 1, 60, &b), IDM_NUMERICAL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quadrature), cmocka_unit_test(test_normal),
      cmocka_unit_test(test_failures),   cmocka_unit_test(test_zero_density),
      cmocka_unit_test(test_no_overlap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
