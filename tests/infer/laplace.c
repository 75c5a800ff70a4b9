/* Laplace's approximation: exact for normal densities of any scale, close for curved ones,
 * insensitive to small kinks and rounding, and an indication where there is no mode. */
#include "infer/approximation.h"

#include "infer/sampler_support.h"

/* --- normals -------------------------------------------------------------------------------- */

static void check_normal(normal_target *t, bool gradient)
{
  idm_target target = normal_as_target(t);
  target.gradient = gradient;
  double covariance[4], precision[4];
  bool definite = false;
  check(idm_laplace(&target, t->mean, covariance, precision, &definite, &support_error));
  assert_true(definite);
  const double rest = 1 - t->correlation * t->correlation;
  for (size_t i = 0; i < 2; i++)
    for (size_t j = 0; j < 2; j++) {
      const double scale = t->sd[i] * t->sd[j], r = i == j ? 1 : t->correlation;
      assert_near(covariance[2 * i + j] / scale, r, 1e-6);
      assert_near(precision[2 * i + j] * scale * rest, i == j ? 1 : -r, 1e-6);
    }
  assert_true(precision[1] == precision[2] && covariance[1] == covariance[2]);
}

static void test_normals_are_exact(void **state)
{
  (void)state;
  const double scales[] = {1e-3, 1, 1e3}, correlations[] = {0, -0.6, 0.99};
  for (size_t i = 0; i < 3; i++)
    for (size_t j = 0; j < 3; j++)
      for (size_t k = 0; k < 3; k++) {
        normal_target t = {.n = 2,
                           .mean = {3, -200},
                           .sd = {scales[i], scales[j]},
                           .correlation = correlations[k]};
        check_normal(&t, true);
        check_normal(&t, false);
        /* The step sizes are found in few evaluations. */
        assert_true(t.evaluations < 80);
      }
}

/* Three coordinates with interacting curvature: differences of densities must be taken at the mode.
 */
static idm_status coupled_evaluate(void *context, const double *x, double *log_density,
                                   double *opt_gradient, idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  (void)opt_gradient;
  *log_density = -0.5 * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) + 0.4 * x[0] * x[1] * x[2] +
                 0.3 * x[1] * x[2];
  return IDM_OK;
}

static void test_three_without_gradient(void **state)
{
  (void)state;
  const double mode[3] = {0};
  const idm_target target = {3, false, NULL, coupled_evaluate};
  double covariance[9], precision[9];
  bool definite = false;
  check(idm_laplace(&target, mode, covariance, precision, &definite, &support_error));
  assert_true(definite);
  const double exact[9] = {1, 0, 0, 0, 1, -0.3, 0, -0.3, 1};
  for (size_t i = 0; i < 9; i++) assert_near(precision[i], exact[i], 1e-9);
  assert_near(covariance[5], 0.3 / 0.91, 1e-9);
}

/* --- curved and kinked ---------------------------------------------------------------------- */

/* logit of a beta(a, b) at its mode a / (a + b): precision a b / (a + b); log of a gamma(a, b) at
 * log(a / b): precision a. Differences with steps of half a standard deviation have an error of a
 * few per cent from the fourth derivative. */
static void test_curved(void **state)
{
  (void)state;
  skewed_target t = {.beta = {20, 30}, .gamma = {9, 2}};
  const double mode[2] = {log(20.0 / 30), log(9.0 / 2)};
  for (int gradient = 1; gradient >= 0; gradient--) {
    const idm_target target = {2, gradient, &t, skewed_evaluate};
    double covariance[4];
    bool definite = false;
    check(idm_laplace(&target, mode, covariance, NULL, &definite, &support_error));
    assert_true(definite);
    assert_near(covariance[0] * 12, 1, 0.03);
    assert_near(covariance[3] * 9, 1, 0.03);
    assert_near(covariance[1], 0, 1e-6);
  }
}

/* A normal density with kinks of period 1e-5 and large slope: a small step would measure only the
 * kinks. */
static idm_status comb_evaluate(void *context, const double *x, double *log_density,
                                double *opt_gradient, idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  const double period = 1e-5, at = x[0] / period + 0.5 - floor(x[0] / period + 0.5);
  *log_density = -0.5 * x[0] * x[0] - 0.03 * period * fabs(at - 0.5);
  if (opt_gradient) opt_gradient[0] = -x[0] + (at < 0.5 ? 0.03 : -0.03);
  return IDM_OK;
}

static void test_kinks(void **state)
{
  (void)state;
  const double mode[1] = {0};
  const idm_target target = {1, true, NULL, comb_evaluate};
  double covariance[1];
  bool definite = false;
  check(idm_laplace(&target, mode, covariance, NULL, &definite, &support_error));
  assert_true(definite);
  assert_near(covariance[0], 1, 0.15);
}

/* Rounding of 1e-9 in the density hides a small decrease, and may reverse its sign. */
static idm_status noisy_evaluate(void *context, const double *x, double *log_density,
                                 double *opt_gradient, idm_error *opt_error)
{
  const idm_status status = normal_evaluate(context, x, log_density, opt_gradient, opt_error);
  *log_density -= 500 + 1e-9 * cos(1e9 * (x[0] + x[1]));
  return status;
}

static void test_noise(void **state)
{
  (void)state;
  normal_target t = {.n = 2, .sd = {1e3, 10}, .correlation = 0.5};
  for (int gradient = 1; gradient >= 0; gradient--) {
    const idm_target target = {2, gradient, &t, noisy_evaluate};
    double covariance[4];
    bool definite = false;
    check(idm_laplace(&target, t.mean, covariance, NULL, &definite, &support_error));
    assert_true(definite);
    assert_near(covariance[0] / 1e6, 1, 1e-5);
    assert_near(covariance[1] / 1e4, 0.5, 1e-5);
    assert_near(covariance[3] / 1e2, 1, 1e-5);
  }
}

/* An edge of the support 0.2 standard deviations from the mode limits the step. */
static idm_status cut_evaluate(void *context, const double *x, double *log_density,
                               double *opt_gradient, idm_error *opt_error)
{
  (void)opt_error;
  const double edge = *(const double *)context;
  *log_density = x[0] < -edge ? -INFINITY : -0.5 * x[0] * x[0];
  if (opt_gradient) opt_gradient[0] = -x[0];
  return IDM_OK;
}

static void test_near_an_edge(void **state)
{
  (void)state;
  double edge = 0.2, covariance[1];
  const double mode[1] = {0};
  bool definite = false;
  for (int gradient = 1; gradient >= 0; gradient--) {
    const idm_target target = {1, gradient, &edge, cut_evaluate};
    check(idm_laplace(&target, mode, covariance, NULL, &definite, &support_error));
    assert_true(definite);
    assert_near(covariance[0], 1, 1e-6);
  }
}

/* --- no mode -------------------------------------------------------------------------------- */

/* coefficient[0] x0^2 + coefficient[1] x1^2 + coefficient[2] x0 x1. */
static idm_status quadratic_evaluate(void *context, const double *x, double *log_density,
                                     double *opt_gradient, idm_error *opt_error)
{
  (void)opt_error;
  const double *c = context;
  *log_density = c[0] * x[0] * x[0] + c[1] * x[1] * x[1] + c[2] * x[0] * x[1];
  if (!opt_gradient) return IDM_OK;
  opt_gradient[0] = 2 * c[0] * x[0] + c[2] * x[1];
  opt_gradient[1] = 2 * c[1] * x[1] + c[2] * x[0];
  return IDM_OK;
}

static void test_not_definite(void **state)
{
  (void)state;
  double forms[][3] = {
      {-1, 0, 0},  /* flat in one direction */
      {-1, 1, 0},  /* a saddle along the axes */
      {-1, -1, 3}, /* a saddle across the axes */
      {1, 1, 0},   /* a minimum */
      {0, 0, 0},   /* constant */
  };
  const double point[2] = {0};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
    for (int gradient = 1; gradient >= 0; gradient--) {
      const idm_target target = {2, gradient, forms[i], quadratic_evaluate};
      double covariance[4] = {7, 7, 7, 7};
      bool definite = true;
      check(idm_laplace(&target, point, covariance, NULL, &definite, &support_error));
      assert_false(definite);
      for (size_t k = 0; k < 4; k++) assert_true(covariance[k] == 7);
    }
  /* On the edge itself no step is possible on one side. */
  double edge = 0, covariance[1];
  bool definite = true;
  const idm_target target = {1, true, &edge, cut_evaluate};
  check(idm_laplace(&target, point, covariance, NULL, &definite, &support_error));
  assert_false(definite);
  /* The precision is returned if it is known, definite or not. */
  const idm_target saddle = {2, true, forms[2], quadratic_evaluate};
  double precision[4], unused[4];
  check(idm_laplace(&saddle, point, unused, precision, &definite, &support_error));
  assert_false(definite);
  assert_near(precision[0], 2, 1e-9);
  assert_near(precision[1], -3, 1e-9);
}

static void test_errors(void **state)
{
  (void)state;
  double edge = 0, covariance[4];
  bool definite = true;
  const double outside[1] = {-1};
  const idm_target cut = {1, true, &edge, cut_evaluate};
  assert_int_equal(idm_laplace(&cut, outside, covariance, NULL, &definite, &support_error),
                   IDM_NUMERICAL);
  for (int gradient = 1; gradient >= 0; gradient--)
    for (long fails_at = 1;; fails_at++) {
      normal_target t = {.n = 2, .sd = {1, 2}, .fails_at = fails_at};
      const idm_target target = {2, gradient, &t, normal_evaluate};
      const idm_status status =
          idm_laplace(&target, t.mean, covariance, NULL, &definite, &support_error);
      if (status == IDM_OK) break;
      assert_int_equal(status, IDM_NUMERICAL);
      assert_int_equal(t.evaluations, fails_at);
      assert_false(definite);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_normals_are_exact),
      cmocka_unit_test(test_three_without_gradient),
      cmocka_unit_test(test_curved),
      cmocka_unit_test(test_kinks),
      cmocka_unit_test(test_noise),
      cmocka_unit_test(test_near_an_edge),
      cmocka_unit_test(test_not_definite),
      cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
