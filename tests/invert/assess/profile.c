/* Tests profiles of the log-likelihood: windows, the path of the other parameters, and
 * maximisations against a dense search along the other parameter. */
#include "invert/assess/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
  idm_fit_settings settings;
  fit_context f;
  search_window windows[3];
  double step[3];
  profile *p;
} fixture;

static fixture open_fixture(const char *free_blocks)
{
  fixture x = {.problem = support_diag(0.5, 1.25, 0.3), .step = {0.1, 0.02, 0.5}};
  x.problem->agent.resolution = 20;
  x.data = support_simulate(x.problem, (idm_simulation){.trajectories = 100, .seed = 3});
  check(idm_problem_set_free(x.problem, free_blocks, &support_error));
  idm_fit_settings_default(&x.settings);
  return x;
}

/* Open the fit and the profile, which point into the fixture. */
static void settle(fixture *x)
{
  check(idm_fit_open(&x->f, NULL, x->problem, x->data, &x->settings, 1, &support_error));
  idm_profile_windows(&x->f, x->windows);
  check(idm_profile_create(&x->f, x->f.matching[0], &x->p, &support_error));
  x->p->windows = x->windows;
  x->p->step = x->step;
  x->p->left = 100000;
}

static void close_fixture(fixture *x)
{
  idm_profile_destroy(x->p);
  idm_fit_close(&x->f);
  idm_data_destroy(x->data);
  idm_problem_destroy(x->problem);
}

static double height_at(fixture *x, const double *y)
{
  double log_likelihood;
  check(idm_matching_log_likelihood(x->f.matching[0], y, &log_likelihood, NULL, &support_error));
  return log_likelihood;
}

/* --- windows and places --------------------------------------------------------------------- */

/* The window of a multiplier on its log scale is four orders of magnitude on either side of a
 * twentieth of the range of the utilities; that of 1/beta is as wide on either side of 0. The
 * utilities of DIAG have a range of 46. */
static void test_windows(void **state)
{
  (void)state;
  fixture x = open_fixture("{alpha: {scale: log}, beta: {scale: inverse}, eta: }");
  settle(&x);
  const double middle = 46.0 / 20;
  assert_near(x.windows[0].low, log(middle / 1e4), 1e-9);
  assert_near(x.windows[0].high, log(middle * 1e4), 1e-9);
  assert_near(x.windows[1].high, 1e4 / middle, 1e-9);
  assert_near(x.windows[1].low, -x.windows[1].high, 1e-12);
  assert_false(idm_window_is_linear(&x.windows[0]));
  assert_true(idm_window_is_linear(&x.windows[1]));
  for (size_t i = 0; i < 3; i++) {
    assert_true(x.windows[i].low < x.windows[i].high);
    assert_true(x.windows[i].unit > 0 && x.windows[i].unit < x.windows[i].high - x.windows[i].low);
  }
  close_fixture(&x);
}

/* The middle of a window on a log scale is the centre of the default prior, whatever the unit. */
static void test_middles(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"alpha: {scale: log}", ""},
      {"prior_weight: ", ""},
      {"evidence_weight: ", ""},
      {"belief_prior: ", "belief_prior: {dirichlet: [2, 0.5]}\n"},
      {"sensor_capacity: ", "agent: {sensor_capacity: 0.3}\n"},
      {"delay_rate: ", "horizon: 3\nagent: {discounting: naive, delay_rate: 1}\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[600];
    snprintf(text, sizeof text,
             "states: [well, ill]\nactions: [test, treat]\nobservations: [low, high]\n"
             "start: uniform\ntransition: identity\nobservation: {'*': [[0.8, 0.2], [0.2, 0.8]]}\n"
             "utility: {test: -1, treat: [-30, 16]}\n%sfree: {%s}\n",
             cases[i][1], cases[i][0]);
    fixture x = {.problem = support_yaml(text), .step = {0.1, 0.02, 0.5}};
    x.problem->agent.resolution = 4;
    x.data =
        support_simulate(x.problem, (idm_simulation){.trajectories = 1, .steps = 2, .seed = 3});
    idm_fit_settings_default(&x.settings);
    settle(&x);
    const parameter *item = &x.f.parameters->item[0];
    assert_int_equal(item->scale, IDM_SCALE_LOG);
    assert_int_equal(item->prior->kind, IDM_PRIOR_NORMAL);
    const double middle = (x.windows[0].low + x.windows[0].high) / 2;
    if (fabs(middle - item->prior->argument[0]) > 1e-9)
      fail_msg("%s: the window is about %g, the prior about %g", cases[i][0], middle,
               item->prior->argument[0]);
    close_fixture(&x);
  }
}

/* A window is extended by factors of its range until it contains a value, and no further. */
static void test_hold(void **state)
{
  (void)state;
  const double reach = log(1e4);
  const search_window logs = {-reach, reach, 0.1};
  search_window w = logs;
  idm_window_extend(&w, 0);
  assert_true(w.low == logs.low && w.high == logs.high);
  idm_window_extend(&w, log(3e-6));
  assert_near(w.low, -2 * reach, 1e-12);
  assert_true(w.high == logs.high);
  idm_window_extend(&w, log(3e12));
  assert_near(w.high, 4 * reach, 1e-12);
  const search_window values = {-1e4, 1e4, 0.01};
  w = values;
  idm_window_extend(&w, 900);
  assert_true(w.low == values.low && w.high == values.high);
  idm_window_extend(&w, -5e6);
  assert_true(w.low == -1e8 && w.high == values.high);
}

static void test_places(void **state)
{
  (void)state;
  profile_point *at = idm_profile_points_create(3, 2);
  assert_non_null(at);
  for (size_t i = 0; i < 3; i++) {
    assert_true(at[i].log_likelihood == -INFINITY);
    at[i].value = (double)i;
    at[i].y[0] = (double)i + 0.25;
    at[i].y[1] = (double)i + 0.5;
  }
  idm_profile_point_copy(&at[0], 2, &at[2]);
  assert_true(at[2].value == 0 && at[2].y[0] == 0.25 && at[2].y[1] == 0.5);
  assert_true(at[1].y[0] == 1.25 &&
              at[1].y[1] == 1.5); /* copying one point leaves the others unchanged */
  free(at);
  idm_profile_destroy(NULL);
}

/* --- the path ------------------------------------------------------------------------------- */

/* On a quadratic with precision P the others follow the fixed parameter by P_oo path = -P_of, and
 * the factor is a Cholesky factor of P_oo. */
static void test_path(void **state)
{
  (void)state;
  static const double precision[9] = {4, 1, -2, 1, 9, 3, -2, 3, 7};
  fixture x = open_fixture("{alpha: {scale: log}, beta: {scale: inverse}, eta: }");
  settle(&x);
  for (size_t fixed = 0; fixed <= 3; fixed++) {
    const size_t n = 3 - (fixed < 3);
    idm_profile_fix(x.p, fixed, precision);
    for (size_t i = 0, k = 0; i < 3; i++) {
      if (i == fixed) continue;
      double pull = fixed < 3 ? precision[i * 3 + fixed] : 0;
      for (size_t j = 0, l = 0; j < 3; j++) {
        if (j == fixed) continue;
        double product = 0;
        for (size_t m = 0; m <= (k < l ? k : l); m++)
          product += x.p->precision_factor[k * n + m] * x.p->precision_factor[l * n + m];
        assert_near(product, precision[i * 3 + j], 1e-12);
        pull += precision[i * 3 + j] * x.p->path[j];
        l++;
      }
      assert_near(pull, 0, 1e-12);
      k++;
    }
    if (fixed < 3) assert_true(x.p->path[fixed] == 0);
  }
  close_fixture(&x);
}

/* Where the precision is not positive definite, the steps define the factor, and the path is 0. */
static void test_no_path(void **state)
{
  (void)state;
  static const double saddle[9] = {1, 0, 0, 0, -1, 0, 0, 0, 1};
  fixture x = open_fixture("{alpha: {scale: log}, beta: {scale: inverse}, eta: }");
  settle(&x);
  idm_profile_fix(x.p, 0, saddle);
  for (size_t i = 0; i < 3; i++) assert_true(x.p->path[i] == 0);
  assert_near(x.p->precision_factor[0], 0.5 / x.step[1], 1e-12);
  assert_near(x.p->precision_factor[3], 0.5 / x.step[2], 1e-12);
  assert_true(x.p->precision_factor[1] == 0 && x.p->precision_factor[2] == 0);
  close_fixture(&x);
}

/* --- heights and climbs --------------------------------------------------------------------- */

static void test_heights(void **state)
{
  (void)state;
  fixture x = open_fixture("{alpha: {scale: log}, beta: {scale: inverse}}");
  settle(&x);
  const double y[2] = {log(0.4), 0.7};
  const double far[2] = {log(0.4), 3 * x.windows[1].high};
  double log_likelihood;
  check(idm_profile_evaluate(x.p, y, &log_likelihood, &support_error));
  assert_near(log_likelihood, height_at(&x, y), 1e-9);
  assert_int_equal(x.p->left, 99999);
  assert_near(x.p->highest.log_likelihood, log_likelihood, 0);
  check(idm_profile_evaluate(x.p, far, &log_likelihood, &support_error));
  assert_true(log_likelihood == -INFINITY);
  assert_int_equal(x.p->left, 99999); /* outside the window nothing is evaluated */
  x.p->ceiling = x.p->highest.log_likelihood - 5;
  check(idm_profile_evaluate(x.p, y, &log_likelihood, &support_error));
  assert_near(log_likelihood, x.p->ceiling, 0); /* values above the ceiling are truncated */
  close_fixture(&x);
}

/* The maximum over a grid of the other parameter, refined twice. */
static double dense(fixture *x, size_t fixed, double value, double low, double high)
{
  double best = -INFINITY;
  for (int round = 0; round < 3; round++) {
    const double step = (high - low) / 200;
    double middle = low;
    for (int i = 0; i <= 200; i++) {
      double y[2];
      y[fixed] = value;
      y[!fixed] = low + step * i;
      const double log_likelihood = height_at(x, y);
      if (log_likelihood <= best) continue;
      best = log_likelihood;
      middle = y[!fixed];
    }
    low = middle - step;
    high = middle + step;
  }
  return best;
}

static void test_profiles(void **state)
{
  (void)state;
  static const double unit[4] = {1, 0, 0, 1};
  static const double from[2][3] = {{-1.5, -0.7, 0.2}, {-0.5, 0.6, 1.5}};
  static const double range[2][2] = {{-5, 4},
                                     {-2.5, 2.5}}; /* of the other parameter, by the fixed one */
  fixture x = open_fixture("{alpha: {scale: log}, beta: {scale: inverse}}");
  settle(&x);
  profile_point *at = idm_profile_points_create(2, 2);
  assert_non_null(at);
  at[0].y[0] = log(0.5);
  at[0].y[1] = 0.8;
  at[0].log_likelihood = height_at(&x, at[0].y);
  idm_profile_fix(x.p, 2, unit);
  check(idm_profile_maximise(x.p, &at[0], &support_error));
  idm_profile_point_copy(&at[0], 2, &x.p->best);
  for (size_t fixed = 0; fixed < 2; fixed++) {
    idm_profile_fix(x.p, fixed, unit);
    for (size_t k = 0; k < 3; k++) {
      at[1].value = from[fixed][k];
      check(idm_profile_at(x.p, &at[0], NULL, &at[1], &support_error));
      const double expected = dense(&x, fixed, from[fixed][k], range[fixed][0], range[fixed][1]);
      assert_true(fabs(at[1].log_likelihood - expected) < 1e-3);
      assert_true(at[1].value == from[fixed][k] && at[1].y[fixed] == from[fixed][k]);
      assert_near(at[1].log_likelihood, height_at(&x, at[1].y), 1e-6);
      assert_true(at[1].log_likelihood <= x.p->best.log_likelihood + 1e-4);
    }
  }
  free(at);
  close_fixture(&x);
}

/* Where the likelihood is flat in the other parameter at the maximum, the precision there gives no
 * step length; the search still converges. */
static void test_level_maximum(void **state)
{
  (void)state;
  static const double level[4] = {1e-280, 0, 0, 1};
  static const double other[4] = {-3, -1.5, 1, 2.5}; /* log alpha */
  fixture x = open_fixture("{alpha: {scale: log}, beta: {scale: inverse}}");
  settle(&x);
  profile_point *at = idm_profile_points_create(1, 2);
  assert_non_null(at);
  idm_profile_fix(x.p, 1, level);
  const double expected = dense(&x, 1, 0.6, -5, 4);
  for (size_t k = 0; k < 4; k++) {
    at->value = at->y[1] = 0.6;
    at->y[0] = other[k];
    at->log_likelihood = height_at(&x, at->y);
    assert_true(at->log_likelihood < expected - 1);
    check(idm_profile_maximise(x.p, at, &support_error));
    assert_near(at->log_likelihood, expected, 1e-6);
  }
  free(at);
  close_fixture(&x);
}

/* A start of log-likelihood -infinity stays unchanged; so does one without a parameter to optimise.
 */
static void test_nothing_to_climb(void **state)
{
  (void)state;
  static const double one = 1;
  fixture x = open_fixture("{alpha: {scale: log}}");
  settle(&x);
  profile_point *at = idm_profile_points_create(1, 1);
  assert_non_null(at);
  idm_profile_fix(x.p, 0, &one);
  at->y[0] = -0.5;
  at->log_likelihood = height_at(&x, at->y);
  const double before = at->log_likelihood;
  check(idm_profile_maximise(x.p, at, &support_error));
  assert_true(at->log_likelihood == before && at->y[0] == -0.5);
  idm_profile_fix(x.p, 1, &one);
  at->log_likelihood = -INFINITY;
  check(idm_profile_maximise(x.p, at, &support_error));
  assert_true(at->log_likelihood == -INFINITY && at->y[0] == -0.5);
  assert_int_equal(x.p->left, 100000);
  free(at);
  close_fixture(&x);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_windows),       cmocka_unit_test(test_middles),
      cmocka_unit_test(test_hold),          cmocka_unit_test(test_places),
      cmocka_unit_test(test_path),          cmocka_unit_test(test_no_path),
      cmocka_unit_test(test_heights),       cmocka_unit_test(test_profiles),
      cmocka_unit_test(test_level_maximum), cmocka_unit_test(test_nothing_to_climb),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
