/* Tests the independent importance sample against quadrature: answers with long tails or separate
 * modes are accurate or not trusted, and draws that miss a part of the posterior are detected. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "invert/matching/fit.h"
#include "support.h"

/* --- truths ----------------------------------------------------------------------------------- */

typedef struct truth {
  double mean;
  double sd;
} truth;

/* Mean and sd of one free parameter by the trapezoidal rule, on points concentrated around 0. */
static truth integrate(const idm_problem *problem, const idm_data *data, double end)
{
  enum { POINTS = 4001 };
  static double x[POINTS], log_density[POINTS];
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  fit_context f;
  check(idm_fit_open(&f, NULL, problem, data, &settings, 1, &support_error));
  const idm_target target = idm_matching_target(f.matching[0]);
  double most = -INFINITY, total = 0, mean = 0, square = 0;
  for (size_t i = 0; i < POINTS; i++) {
    x[i] = end * sinh(6 * (2.0 * (double)i / (POINTS - 1) - 1)) / sinh(6);
    check(target.evaluate(target.context, &x[i], &log_density[i], NULL, &support_error));
    most = fmax(most, log_density[i]);
  }
  for (size_t i = 0; i < POINTS; i++) {
    const double left = i ? x[i - 1] : x[i], right = i + 1 < POINTS ? x[i + 1] : x[i];
    const double weight = 0.5 * (right - left) * exp(log_density[i] - most);
    total += weight;
    mean += weight * x[i];
    square += weight * x[i] * x[i];
  }
  idm_fit_close(&f);
  mean /= total;
  return (truth){mean, sqrt(square / total - mean * mean)};
}

/* --- hard logs -------------------------------------------------------------------------------- */

/* DIAG on a coarse lattice, with few short trajectories: the likelihood has a plateau on one side,
 * or two maxima. */
static void make_diag(double alpha, double beta, double eta, size_t trajectories, uint64_t seed,
                      const char *free_blocks, idm_problem **problem, idm_data **data)
{
  *problem = support_diag(alpha, beta, eta);
  (*problem)->agent.resolution = 40;
  *data = support_simulate(
      *problem, (idm_simulation){.trajectories = trajectories, .steps = 12, .seed = seed});
  check(idm_problem_set_free(*problem, free_blocks, &support_error));
}

/* Bets on a hidden side after looks whose observations are missing. The side of a bet is
 * uninformative, so that 1/alpha and -1/alpha have equal likelihoods (the values change sign with
 * alpha), and only the prior distinguishes the two modes. */
static void make_contrary(const char *free_blocks, idm_problem **problem, idm_data **data)
{
  static const char text[] =
      "states: [l, r]\nactions: [look, left, right, safe]\nobservations: [x, y]\n"
      "start: [0.5, 0.5]\ndiscount: 0.9\nterminal: [left, right, safe]\n"
      "transition: {look: identity, left: identity, right: identity, safe: identity}\n"
      "observation: {'*': [[0.8, 0.2], [0.2, 0.8]]}\n"
      "utility: {look: 0, left: [1, -1], right: [-1, 1], safe: 0}\n"
      "agent: {planner: bounded-rational, alpha: 0.5, resolution: 40}\n";
  char csv[2000] = "trajectory,action,observation\n";
  check(idm_problem_parse_yaml(text, strlen(text), "bets", problem, NULL, &support_error));
  for (int i = 0; i < 12; i++)
    snprintf(csv + strlen(csv), sizeof csv - strlen(csv), "%d,look,\n%d,look,\n%d,%s,\n", i, i, i,
             i % 2 ? "left" : "right");
  check(idm_problem_set_free(*problem, free_blocks, &support_error));
  *data = support_data(*problem, csv);
}

typedef struct hard {
  const char *free_blocks;
  double alpha, beta, eta; /* alpha 0: the log of make_contrary */
  size_t trajectories;
  uint64_t seed;
  double end; /* of the range of the quadrature */
} hard;

static const hard logs[] = {
    {"{eta: {prior: {normal: [0, 150]}}}", 0.5, 1.25, 10, 14, 3, 900},
    {"{eta: {prior: {normal: [0, 150]}}}", 3, 1.25, 10, 20, 3, 900},
    {"{beta: {scale: inverse, prior: {normal: [0, 3]}}}", 0.5, 1.25, 10, 20, 1, 15},
    {"{beta: {scale: inverse, prior: {normal: [0, 3]}}}", 3, INFINITY, -10, 20, 3, 15},
    {"{alpha: {scale: inverse, prior: {normal: [1, 6]}}}", 0, 0, 0, 0, 0, 40},
};

static void make_log(const hard *h, idm_problem **problem, idm_data **data)
{
  if (h->alpha == 0)
    make_contrary(h->free_blocks, problem, data);
  else
    make_diag(h->alpha, h->beta, h->eta, h->trajectories, h->seed, h->free_blocks, problem, data);
}

static idm_fit_settings make_settings(const char *sampler, uint64_t seed)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  snprintf(settings.sampler, sizeof settings.sampler, "%s", sampler);
  settings.seed = seed;
  settings.draws = settings.warmup = 1000;
  settings.keep = IDM_KEEP_NOTHING;
  return settings;
}

static idm_posterior *sample(const idm_problem *problem, const idm_data *data, const char *sampler,
                             uint64_t seed)
{
  const idm_fit_settings settings = make_settings(sampler, seed);
  idm_posterior *posterior;
  check(idm_inverse_fit(idm_inverse_find("bayes"), problem, data, &settings, NULL, &posterior, NULL,
                        &support_error));
  return posterior;
}

static bool is_right(const idm_posterior *p, truth t)
{
  idm_diagnosis d;
  check(idm_diagnose(p->unconstrained, p->chains, p->draws, p->draws, 1, &d, NULL));
  return fabs(d.mean - t.mean) < 0.15 * t.sd && fabs(log(d.sd / t.sd)) < log(1.15);
}

/* Every sampler is accurate or its answer is not trusted. Metropolis is accurate in all runs but
 * one, where few draws reach a long tail. */
static void test_hard_logs(void **state)
{
  (void)state;
  static const char *const samplers[] = {"metropolis", "metropolis", "nuts"};
  size_t right = 0, all = 0;
  for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
    idm_problem *problem;
    idm_data *data;
    make_log(&logs[i], &problem, &data);
    const truth t = integrate(problem, data, logs[i].end);
    for (size_t k = 0; k < sizeof samplers / sizeof samplers[0]; k++) {
      idm_posterior *p = sample(problem, data, samplers[k], k + 1);
      idm_assessment *a;
      check(idm_assess_monitored(problem, data, p, 2, NULL, &a, &support_error));
      const bool good = is_right(p, t);
      if (!good && !a->failures.count) fail_msg("log %zu, %s: wrong and trusted", i, samplers[k]);
      assert_true(a->importance.checked);
      assert_true(fabs(a->importance.mean[0] - t.mean) < 0.1 * t.sd);
      assert_true(fabs(log(a->importance.sd[0] / t.sd)) < 0.1);
      right += k < 2 && good;
      all += k < 2;
      idm_assessment_destroy(a);
      idm_posterior_destroy(p);
    }
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
  assert_true(right >= all - 1);
}

/* --- draws that miss something ---------------------------------------------------------------- */

/* Replace every draw outside (low, high) by the last one inside, as in a chain that never leaves
 * the interval. */
static void cut(idm_posterior *p, double low, double high)
{
  const size_t all = p->chains * p->draws;
  double inside = NAN;
  for (size_t i = 0; i < all && isnan(inside); i++)
    if (p->unconstrained[i] > low && p->unconstrained[i] < high) inside = p->unconstrained[i];
  for (size_t i = 0; i < all; i++) {
    if (p->unconstrained[i] > low && p->unconstrained[i] < high)
      inside = p->unconstrained[i];
    else
      p->unconstrained[i] = inside;
  }
}

static void test_missing_parts(void **state)
{
  (void)state;
  static const struct {
    size_t log;
    double low, high;
    const char *words;
  } cases[] = {
      {1, -1e9, 60, "a long tail of eta towards large values was missed"},
      {4, 0, 1e9, "separate modes"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem;
    idm_data *data;
    make_log(&logs[cases[i].log], &problem, &data);
    idm_posterior *p = sample(problem, data, "", 1);
    idm_assessment *a;
    check(idm_assess_monitored(problem, data, p, 1, NULL, &a, &support_error));
    assert_true(support_mentions(&a->remarks, "an independent importance sample of the posterior"));
    assert_false(support_mentions(&a->failures, cases[i].words));
    assert_int_equal(a->importance.modes, i + 1);
    idm_assessment_destroy(a);
    cut(p, cases[i].low, cases[i].high);
    check(idm_assess_monitored(problem, data, p, 1, NULL, &a, &support_error));
    assert_true(support_mentions(&a->failures, cases[i].words));
    idm_assessment_destroy(a);
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* --- draws that are uncertain ------------------------------------------------------------------ */

/* Multiply the deviations of the first parameter's draws from their mean by `factor`. */
static void stretch(idm_posterior *p, double mean, double factor)
{
  for (size_t i = 0; i < p->chains * p->draws; i++)
    p->unconstrained[i] = mean + factor * (p->unconstrained[i] - mean);
}

/* An sd that exceeds the accepted ratio by two or by eight Monte Carlo errors fails. In the first
 * case the fit is drawn again with more steps per draw, unless these are given or already many. */
static void test_uncertain_draws(void **state)
{
  (void)state;
  static const double beyond[] = {2, 8};
  idm_fit_settings settings = make_settings("metropolis", 1);
  idm_problem *problem;
  idm_data *data;
  make_log(&logs[2], &problem, &data);
  for (size_t i = 0; i < 2; i++) {
    idm_posterior *p = sample(problem, data, "metropolis", 1);
    idm_assessment *a;
    idm_diagnosis d;
    check(idm_assess_monitored(problem, data, p, 1, NULL, &a, &support_error));
    assert_false(a->importance.chance);
    assert_int_equal(idm_assess_redraw_thin(&settings, p, a), 0);
    check(idm_diagnose(p->unconstrained, p->chains, p->draws, p->draws, 1, &d, NULL));
    const double most =
        fmax(idm_check_threshold(IDM_CHECK_IMPORTANCE), 4 * a->importance.spread_error[0]);
    stretch(p, d.mean, exp(most + beyond[i] * d.mcse_sd / d.sd) / a->importance.spread[0]);
    idm_assessment_destroy(a);
    check(idm_assess_monitored(problem, data, p, 1, NULL, &a, &support_error));
    assert_int_equal(a->checks.of[IDM_CHECK_IMPORTANCE].outcome, IDM_CHECK_FAILED);
    assert_int_equal(a->importance.chance, i == 0);
    assert_int_equal(idm_assess_redraw_thin(&settings, p, a), i ? 0 : 4 * p->steps);
    settings.thin = p->steps;
    assert_int_equal(idm_assess_redraw_thin(&settings, p, a), 0);
    settings.thin = 0;
    p->steps *= 16;
    assert_int_equal(idm_assess_redraw_thin(&settings, p, a), 0);
    idm_assessment_destroy(a);
    idm_posterior_destroy(p);
  }
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hard_logs),
      cmocka_unit_test(test_missing_parts),
      cmocka_unit_test(test_uncertain_draws),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
