/* Tests profile intervals of 1/beta against a dense search, and intervals of unidentified and
 * rescaled parameters. */
#include <math.h>
#include <string.h>

#include "invert/assess/bounded_support.h"

static const double drop = 1.92;

/* --- a dense profile ------------------------------------------------------------------------ */

/* max over eta in [-40, 40] of the log-likelihood at 1/beta = c, or with beta fixed at a limit: a
 * grid, then golden section search around its maximum. */
typedef struct search {
  fit_context work;
  bool limit;
  double c;
} search;

static double at(search *s, double eta)
{
  const double y[2] = {s->limit ? 0.1 : s->c, eta};
  double value;
  check(idm_matching_log_likelihood(s->work.matching[0], y, &value, NULL, &support_error));
  return value;
}

static double plain_profile(search *s)
{
  const double golden = 0.61803398874989485;
  double best = -INFINITY, middle = 0;
  for (int i = -10; i <= 10; i++) {
    const double eta = 4 * i, value = at(s, eta);
    if (value <= best) continue;
    best = value;
    middle = eta;
  }
  double low = middle - 4, high = middle + 4;
  while (high - low > 1e-2) {
    const double a = high - golden * (high - low), b = low + golden * (high - low);
    if (at(s, a) > at(s, b))
      high = b;
    else
      low = a;
  }
  return at(s, (low + high) / 2);
}

/* The point between `inside` and `outside` where the profile crosses `level`, by bisection. */
static double plain_end(search *s, double inside, double outside, double level)
{
  for (int i = 0; i < 12; i++) {
    s->c = (inside + outside) / 2;
    if (plain_profile(s) > level)
      inside = s->c;
    else
      outside = s->c;
  }
  return (inside + outside) / 2;
}

static void test_interval_against_a_dense_profile(void **state)
{
  (void)state;
  answered f = ask_diag("map", 1.25, "{beta: {scale: inverse}, eta: }");
  const idm_identification *beta = &f.assessment->parameter[0];
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  search s = {.limit = false};
  check(idm_fit_open(&s.work, NULL, f.problem, f.data, &settings, 1, &support_error));
  double best = -INFINITY, where = NAN;
  for (int i = -10; i < 40; i++) {
    s.c = 0.05 * i;
    const double value = plain_profile(&s);
    if (value <= best) continue;
    best = value;
    where = s.c;
  }
  assert_near(f.assessment->log_likelihood, best, 1e-3);
  const double top = fmax(best, f.assessment->log_likelihood);
  const double low = plain_end(&s, where, where - 1.5, top - drop);
  const double high = plain_end(&s, where, where + 1.5, top - drop);
  const double width = high - low;
  assert_true(fabs(beta->low - low) < 0.01 * width);
  assert_true(fabs(beta->high - high) < 0.01 * width);
  assert_true(fabs(beta->maximum - where) < 0.05 + 0.05 * width);
  assert_string_equal(f.posterior->quantity.name[beta->quantity], "inverse_beta");

  /* The same search with beta fixed at each limit of 1/beta. */
  s.limit = true;
  const double limits[2] = {-0.0, 0.0};
  for (int side = 0; side < 2; side++) {
    assert_true(beta->limit[side] == 0 && signbit(beta->limit[side]) == (side == 0));
    idm_matching_fix(s.work.matching[0], &s.work.parameters->item[0], limits[side]);
    /* The optimiser under test is not confined to the grid, so that it may exceed the search but
     * not fall below it. */
    assert_true(beta->gap[side] < f.assessment->log_likelihood - plain_profile(&s) + 0.02);
    assert_true(beta->gap[side] > drop);
    assert_true(beta->proper[side]);
  }
  idm_fit_close(&s.work);
  assert_non_null(strstr(beta->sentence, "the data bound 1/beta within ["));
  assert_non_null(strstr(beta->sentence, "(beta between "));
  assert_null(strstr(beta->sentence, "not bounded"));
  answered_close(&f);
}

/* Profile intervals do not depend on the prior, and a prior that contradicts the data gives a
 * remark. */
static void test_prior_against_data(void **state)
{
  (void)state;
  answered usual = ask_diag("map", 1.25, "{beta: {scale: inverse}}");
  answered wild = ask_diag("laplace", 1.25, "{beta: {prior: {normal: [0, 1.0e-9]}}}");
  const idm_identification *a = &usual.assessment->parameter[0];
  const idm_identification *b = &wild.assessment->parameter[0];
  assert_near(a->low, b->low, 0.01);
  assert_near(a->high, b->high, 0.01);
  assert_near(usual.assessment->log_likelihood, wild.assessment->log_likelihood, 1e-3);
  assert_true(support_mentions(&wild.assessment->remarks, "prior and data disagree about 1/beta"));
  assert_false(support_mentions(&usual.assessment->remarks, "prior and data disagree"));
  answered_close(&usual);
  answered_close(&wild);
}

/* A constant added to all utilities changes no choice, so that with all of them free none is
 * bounded. */
static void test_free_shift(void **state)
{
  (void)state;
  answered f = ask_diag("map", INFINITY, "utility");
  assert_int_equal(f.assessment->parameters, 6);
  for (size_t i = 0; i < 6; i++) {
    assert_true(f.assessment->parameter[i].gap[0] < drop);
    assert_true(f.assessment->parameter[i].gap[1] < drop);
    assert_non_null(strstr(f.assessment->parameter[i].sentence, "the data do not bound"));
  }
  answered_close(&f);
}

/* With equal utilities all alphas have the same likelihood; an alpha so small that rounding errors
 * decide is outside the support. */
static void test_nothing_to_choose_by(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  problem->agent.resolution = 20;
  idm_data *data = simulate(problem, 20);
  for (size_t i = 0; i < 6; i++) problem->theta->block[IDM_UTILITY].value[i] = 1;
  check(idm_problem_set_free(problem, "alpha", &support_error));
  fit_context work;
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  check(idm_fit_open(&work, NULL, problem, data, &settings, 1, &support_error));
  double likelihood[2];
  const double y[2] = {log(0.5), log(1e-15)};
  for (int i = 0; i < 2; i++)
    check(
        idm_matching_log_likelihood(work.matching[0], &y[i], &likelihood[i], NULL, &support_error));
  assert_true(isfinite(likelihood[0]) && likelihood[1] == -INFINITY);
  idm_fit_close(&work);
  answered f = ask("map", problem, data);
  assert_non_null(strstr(f.assessment->parameter[0].sentence, "the data do not bound alpha"));
  answered_close(&f);
}

/* Scaling the rewards scales the interval of a learner's inverse temperature. */
static void test_odd_units(void **state)
{
  (void)state;
  static const double units[] = {1, 1e6, 1e-6};
  double ends[3][2];
  for (size_t i = 0; i < 3; i++) {
    idm_problem *problem = support_yaml(
        "states: [here]\nactions: [left, right]\ndiscount: 0\n"
        "utility: {left: 1, right: -1}\n"
        "agent: {planner: td-learner, inverse_temperature: 2, learning_rate_gain: 0.3, "
        "learning_rate_loss: 0.3}\nfree: {inverse_temperature: }\n");
    const idm_simulation simulation = {.trajectories = 20, .agents = 20, .steps = 30, .seed = 9};
    idm_data *data = support_simulate(problem, simulation);
    for (size_t row = 0; row < data->rows; row++) data->number[IDM_COLUMN_REWARD][row] *= units[i];
    answered f = ask("map", problem, data);
    ends[i][0] = f.assessment->parameter[0].low * units[i];
    ends[i][1] = f.assessment->parameter[0].high * units[i];
    assert_near(ends[i][0] / ends[0][0], 1, 0.02);
    assert_near(ends[i][1] / ends[0][1], 1, 0.02);
    answered_close(&f);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_interval_against_a_dense_profile),
      cmocka_unit_test(test_prior_against_data),
      cmocka_unit_test(test_free_shift),
      cmocka_unit_test(test_nothing_to_choose_by),
      cmocka_unit_test(test_odd_units),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
