/* Maximisation: known modes, bad scales, edges, kinks, rounding, and results never below the start.
 */
#include "infer/approximation.h"

#include "infer/sampler_support.h"

/* Maximises from x; returns the log density reached, and checks that it is the target's at x. */
static double climb(idm_target target, double *x, int limit)
{
  double start = NAN, reached = NAN, again = NAN;
  check(target.evaluate(target.context, x, &start, NULL, &support_error));
  check(idm_maximise(&target, 0, limit, x, &reached, &support_error));
  check(target.evaluate(target.context, x, &again, NULL, &support_error));
  assert_true(reached == again);
  assert_true(reached >= start);
  return reached;
}

/* --- normals -------------------------------------------------------------------------------- */

static void test_scales(void **state)
{
  (void)state;
  normal_target t = {.n = 20};
  for (int gradient = 1; gradient >= 0; gradient--) {
    double x[MOST_DIMENSION];
    for (size_t i = 0; i < t.n; i++) {
      t.sd[i] = pow(10, -3 + 6 * (double)i / 19);
      t.mean[i] = (double)i - 10;
      x[i] = 2;
    }
    idm_target target = normal_as_target(&t);
    target.gradient = gradient;
    t.evaluations = 0;
    assert_true(climb(target, x, 400) > -1e-8);
    if (gradient) assert_true(t.evaluations < 400);
    for (size_t i = 0; i < t.n; i++) assert_true(fabs(x[i] - t.mean[i]) < 1e-4 * t.sd[i]);
  }
}

static void test_correlated(void **state)
{
  (void)state;
  normal_target t = {.n = 2, .mean = {5, -7}, .sd = {1e-2, 1e2}, .correlation = 0.999};
  double x[2] = {0};
  assert_true(climb(normal_as_target(&t), x, 300) > -1e-8);
}

/* Started at the mode, x is unchanged. */
static void test_at_the_mode(void **state)
{
  (void)state;
  normal_target t = {.n = 2, .mean = {5, -7}, .sd = {1, 1}};
  double x[2] = {5, -7};
  assert_true(climb(normal_as_target(&t), x, 300) == 0);
  assert_true(x[0] == 5 && x[1] == -7);
  x[0] = 4;
  assert_true(climb(normal_as_target(&t), x, 0) == -0.5);
  assert_true(x[0] == 4);
}

/* The gain ends an ascent, in any unit: a coarse tolerance takes fewer evaluations, a fine one
 * reaches the mode, also for scales a factor of a million apart. */
static void test_tolerance(void **state)
{
  (void)state;
  int looks[2];
  for (int fine = 0; fine < 2; fine++) {
    normal_target t = {.n = 6, .sd = {1e-3, 1e-2, 1, 10, 100, 1e3}};
    const idm_target target = normal_as_target(&t);
    double x[6] = {3e-3, -4e-2, 2, 30, 400, -3e3}, reached;
    check(idm_maximise(&target, fine ? 0 : 0.1, 200, x, &reached, &support_error));
    assert_true(reached > (fine ? -1e-7 : -20));
    looks[fine] = (int)t.evaluations;
  }
  assert_true(looks[0] < looks[1]);
}

/* --- curved, edged, kinked, noisy ----------------------------------------------------------- */

static idm_status valley_evaluate(void *context, const double *x, double *log_density,
                                  double *opt_gradient, idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  const double off = x[1] - x[0] * x[0];
  *log_density = -(1 - x[0]) * (1 - x[0]) - 100 * off * off;
  if (!opt_gradient) return IDM_OK;
  opt_gradient[0] = 2 * (1 - x[0]) + 400 * x[0] * off;
  opt_gradient[1] = -200 * off;
  return IDM_OK;
}

static void test_rosenbrock(void **state)
{
  (void)state;
  for (int gradient = 1; gradient >= 0; gradient--) {
    double x[2] = {-1.2, 1};
    assert_true(climb((idm_target){2, gradient, NULL, valley_evaluate}, x, 200) > -1e-8);
    assert_near(x[0], 1, 1e-4);
    assert_near(x[1], 1, 1e-4);
  }
}

/* A gamma density with shape 3, zero below 0. The context counts evaluations. */
static idm_status gamma_evaluate(void *context, const double *x, double *log_density,
                                 double *opt_gradient, idm_error *opt_error)
{
  (void)opt_error;
  ++*(long *)context;
  *log_density = x[0] > 0 ? 2 * log(x[0]) - x[0] : -INFINITY;
  if (opt_gradient) opt_gradient[0] = x[0] > 0 ? 2 / x[0] - 1 : 0;
  return IDM_OK;
}

/* A normal density with standard deviation 1e-6 around 1 + 1e-6, zero at distances above 1e-5. */
static idm_status cliff_evaluate(void *context, const double *x, double *log_density,
                                 double *opt_gradient, idm_error *opt_error)
{
  (void)opt_error;
  ++*(long *)context;
  const double z = (x[0] - 1 - 1e-6) / 1e-6;
  *log_density = fabs(z) < 10 ? -0.5 * z * z : -INFINITY;
  if (opt_gradient) opt_gradient[0] = -z / 1e-6;
  return IDM_OK;
}

static void test_edge(void **state)
{
  (void)state;
  const double starts[] = {1e-6, 1e-3, 2, 50, 2000};
  for (size_t i = 0; i < 5; i++)
    for (int gradient = 1; gradient >= (starts[i] > 1e-3 ? 0 : 1); gradient--) {
      double x[1] = {starts[i]};
      long evaluations = 0;
      climb((idm_target){1, gradient, &evaluations, gamma_evaluate}, x, 200);
      assert_near(x[0], 2, 1e-4);
      assert_true(evaluations < (gradient ? 50 : 150));
    }
}

/* An initial step far beyond the edge is reduced quickly. */
static void test_beyond_the_edge(void **state)
{
  (void)state;
  double x[1] = {1};
  long evaluations = 0;
  climb((idm_target){1, true, &evaluations, cliff_evaluate}, x, 200);
  assert_near(x[0], 1 + 1e-6, 1e-9);
  assert_true(evaluations < 30);
}

/* From 1e-6 the first line search evaluates a point far above the one it accepts: the better point
 * is returned. */
static void test_best_point_is_returned(void **state)
{
  (void)state;
  double x[1] = {1e-6};
  long evaluations = 0;
  assert_true(climb((idm_target){1, true, &evaluations, gamma_evaluate}, x, 1) > -1.1);
}

/* Kinks along lines that miss the mode, and one through it: the mode of coordinate 2 is its kink.
 */
static idm_status kinked_evaluate(void *context, const double *x, double *log_density,
                                  double *opt_gradient, idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  const double at[3] = {0.3, -0.01, 1}, size[3] = {0.05, 1, 3}, sharp[3] = {1, 1e4, 1};
  *log_density = 0;
  for (size_t i = 0; i < 3; i++) {
    *log_density -= 0.5 * sharp[i] * x[i] * x[i] + size[i] * fabs(x[i] - at[i]);
    if (opt_gradient)
      opt_gradient[i] = -sharp[i] * x[i] - size[i] * ((x[i] > at[i]) - (x[i] < at[i]));
  }
  return IDM_OK;
}

static void test_kinks(void **state)
{
  (void)state;
  double x[3] = {2, 1, -4};
  climb((idm_target){3, true, NULL, kinked_evaluate}, x, 300);
  assert_near(x[0], 0.05, 1e-3);
  assert_near(x[1], -1e-4, 1e-4);
  assert_near(x[2], 1, 1e-3);
}

/* Rounding of 1e-9, deterministic in x, and a density far from 0. */
static idm_status noisy_evaluate(void *context, const double *x, double *log_density,
                                 double *opt_gradient, idm_error *opt_error)
{
  const idm_status status = normal_evaluate(context, x, log_density, opt_gradient, opt_error);
  *log_density += 1e-9 * sin(1e9 * x[0] + 3e8 * x[1]) - 500;
  return status;
}

static void test_noise(void **state)
{
  (void)state;
  normal_target t = {.n = 2, .mean = {1, 2}, .sd = {0.1, 3}, .correlation = 0.99};
  for (int gradient = 1; gradient >= 0; gradient--) {
    double x[2] = {8, -3};
    climb((idm_target){2, gradient, &t, noisy_evaluate}, x, 200);
    assert_true(fabs(x[0] - 1) < 1e-2 * t.sd[0]);
    assert_true(fabs(x[1] - 2) < 1e-2 * t.sd[1]);
    assert_true(t.evaluations < 2000);
  }
}

/* --- trouble -------------------------------------------------------------------------------- */

/* An unbounded density: the ascent stops at the iteration limit, above its start. */
static idm_status ramp_evaluate(void *context, const double *x, double *log_density,
                                double *opt_gradient, idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  *log_density = x[0];
  if (opt_gradient) opt_gradient[0] = 1;
  return IDM_OK;
}

static void test_no_mode(void **state)
{
  (void)state;
  double x[1] = {0};
  assert_true(climb((idm_target){1, true, NULL, ramp_evaluate}, x, 20) > 100);
}

static void test_errors(void **state)
{
  (void)state;
  double x[1] = {-1}, reached = 3;
  long evaluations = 0;
  const idm_target edge = {1, true, &evaluations, gamma_evaluate};
  assert_int_equal(idm_maximise(&edge, 1e-6, 100, x, &reached, &support_error), IDM_NUMERICAL);
  assert_true(x[0] == -1 && reached == 3);
  for (int gradient = 1; gradient >= 0; gradient--)
    for (long fails_at = 1; fails_at <= 3; fails_at++) {
      normal_target t = {.n = 1, .mean = {0.3}, .sd = {3}, .fails_at = fails_at};
      const idm_target target = {1, gradient, &t, normal_evaluate};
      assert_int_equal(idm_maximise(&target, 1e-6, 100, x, &reached, &support_error),
                       IDM_NUMERICAL);
      assert_true(x[0] == -1 && reached == 3);
    }
}

/* --- by steps ------------------------------------------------------------------------------- */

/* -|x - 1| - |y + 2| / 10, with a NaN gradient everywhere. */
static idm_status roof(void *context, const double *x, double *log_density, double *opt_gradient,
                       idm_error *opt_error)
{
  (void)opt_error;
  ++*(int *)context;
  *log_density = -fabs(x[0] - 1) - 0.1 * fabs(x[1] + 2);
  if (opt_gradient) opt_gradient[0] = opt_gradient[1] = NAN;
  return IDM_OK;
}

static void test_by_steps(void **state)
{
  (void)state;
  int evaluations = 0;
  const idm_target target = {2, true, &evaluations, roof};
  const double step[2] = {0.3, 5};
  double x[2] = {30, -50};
  double reached;
  check(roof(&evaluations, x, &reached, NULL, &support_error));
  check(idm_pattern_search(&target, step, 0, 10000, x, &reached, &support_error));
  assert_true(reached > -2e-3 && evaluations < 200);
  assert_near(reached, -fabs(x[0] - 1) - 0.1 * fabs(x[1] + 2), 1e-14);
  /* No step gains the required amount; and the limit of evaluations is respected. */
  double y[2] = {4, -2};
  reached = -3;
  evaluations = 0;
  check(idm_pattern_search(&target, step, 10, 10000, y, &reached, &support_error));
  assert_true(y[0] == 4 && y[1] == -2 && reached == -3);
  evaluations = 0;
  check(idm_pattern_search(&target, step, 0, 5, y, &reached, &support_error));
  assert_true(evaluations <= 5 && reached >= -3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scales),
      cmocka_unit_test(test_correlated),
      cmocka_unit_test(test_at_the_mode),
      cmocka_unit_test(test_tolerance),
      cmocka_unit_test(test_rosenbrock),
      cmocka_unit_test(test_edge),
      cmocka_unit_test(test_kinks),
      cmocka_unit_test(test_beyond_the_edge),
      cmocka_unit_test(test_best_point_is_returned),
      cmocka_unit_test(test_noise),
      cmocka_unit_test(test_no_mode),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_by_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
