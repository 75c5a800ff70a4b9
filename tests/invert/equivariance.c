/* Equivariance under the unit of the utilities: with utilities, alpha, beta and eta in another
 * unit, likelihoods, maxima, prior draws, posteriors, verdicts and calibration are unchanged. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/matching/fit.h"
#include "support.h"

static const double units[] = {1e-6, 0x1p-10, 1e-2, 1, 1e4, 0x1p20, 1e6};
enum { UNITS = sizeof units / sizeof units[0] };
static const char free_blocks[] = "{alpha: , beta: {scale: inverse}, eta: {scale: identity}}";

/* --- fixtures ------------------------------------------------------------------------------- */

/* DIAG with a certainty award, in the given unit. */
static idm_problem *make_problem(double unit)
{
  idm_problem *problem = support_diag(2 * unit, 8 * unit, 0.3 * unit);
  idm_block *utility = &problem->theta->block[IDM_UTILITY];
  problem->agent.resolution = 30;
  problem->agent.evaluate = IDM_LOOKAHEAD;
  for (size_t i = 0; i < utility->size; i++) utility->value[i] *= unit;
  problem->theta->block[IDM_CERTAINTY].value[0] = 0.9;
  problem->theta->block[IDM_CERTAINTY].value[1] = 0.5 * unit;
  problem->theta->block[IDM_CERTAINTY].value[2] =
      0.1; /* with width 0 rounding would move the maximum */
  return problem;
}

/* Decisions of an agent in unit 1. */
static idm_data *make_data(size_t trajectories)
{
  idm_problem *problem = make_problem(1);
  idm_data *data = support_simulate(
      problem, (idm_simulation){.trajectories = trajectories, .steps = 15, .seed = 4});
  idm_problem_destroy(problem);
  return data;
}

static idm_problem *make_free(double unit, const char *blocks)
{
  idm_problem *problem = make_problem(unit);
  check(idm_problem_set_free(problem, blocks, &support_error));
  return problem;
}

/* Coordinates y in unit 1 converted to another unit: log alpha, 1/beta, eta. */
static void convert(const double *y, double unit, double *to)
{
  to[0] = y[0] + log(unit);
  to[1] = y[1] / unit;
  to[2] = y[2] * unit;
}

static void same(double a, double b, double tolerance, const char *what, double unit)
{
  if (fabs(a - b) > tolerance * fmax(fabs(a), fabs(b)))
    fail_msg("%s: %.17g and, in units of %g, %.17g", what, a, unit, b);
}

/* --- functions ------------------------------------------------------------------------------ */

/* Log-likelihoods of equivalent agents and their gradients; draws from the default priors. */
static void test_likelihood_and_prior(void **state)
{
  (void)state;
  enum { DRAWS = 40 };
  idm_data *data = make_data(30);
  double usual[DRAWS][3], density[DRAWS], slope[DRAWS][3];
  /* Unit 1 comes first, as the reference. */
  for (size_t k = 0; k <= UNITS; k++) {
    const double unit = k ? units[k - 1] : 1;
    idm_problem *problem = make_free(unit, free_blocks);
    idm_fit_settings settings;
    idm_fit_settings_default(&settings);
    fit_context f;
    idm_random random;
    idm_random_init(&random, 3, 0);
    check(idm_fit_open(&f, NULL, problem, data, &settings, 1, &support_error));
    for (size_t i = 0; i < DRAWS; i++) {
      double y[3], expected[3], here, gradient[3];
      idm_parameters_draw(f.parameters, &random, y);
      if (!k) memcpy(usual[i], y, sizeof y);
      convert(usual[i], unit, expected);
      for (size_t n = 0; n < 3; n++) same(expected[n], y[n], 1e-12, "a draw of the prior", unit);
      check(idm_matching_log_likelihood(f.matching[0], y, &here, gradient, &support_error));
      if (!k) {
        density[i] = here;
        memcpy(slope[i], gradient, sizeof gradient);
      }
      same(density[i], here, 1e-8, "a log-likelihood", unit);
      same(slope[i][0], gradient[0], 1e-5, "a slope", unit);
    }
    idm_fit_close(&f);
    idm_problem_destroy(problem);
  }
  idm_data_destroy(data);
}

/* --- fits ----------------------------------------------------------------------------------- */

static idm_posterior *answer(const idm_problem *problem, const idm_data *data, const char *inverse)
{
  idm_fit_settings settings;
  idm_posterior *posterior;
  idm_fit_settings_default(&settings);
  settings.keep = IDM_KEEP_NOTHING;
  settings.draws = settings.warmup = 500;
  check(idm_inverse_fit(idm_inverse_find(inverse), problem, data, &settings, NULL, &posterior, NULL,
                        &support_error));
  return posterior;
}

/* Maximum a posteriori estimates. */
static void test_maxima(void **state)
{
  (void)state;
  idm_data *data = make_data(60);
  double usual[3] = {0};
  for (size_t k = 0; k <= UNITS; k++) {
    const double unit = k ? units[k - 1] : 1;
    idm_problem *problem = make_free(unit, free_blocks);
    idm_posterior *p = answer(problem, data, "map");
    double expected[3];
    if (!k) memcpy(usual, p->unconstrained, sizeof usual);
    convert(usual, unit, expected);
    for (size_t n = 0; n < 3; n++) same(expected[n], p->unconstrained[n], 1e-3, "a maximum", unit);
    idm_posterior_destroy(p);
    idm_problem_destroy(problem);
  }
  idm_data_destroy(data);
}

/* Posterior moments within Monte Carlo error, and the verdict. Twelve comparisons at 4.5 standard
 * errors: a correct program fails at one seed in 10,000. */
static void test_posteriors(void **state)
{
  (void)state;
  static const double few[] = {1, 1e-6, 1e6};
  static const char two[] = "{beta: {scale: inverse}, eta: {scale: identity}}";
  idm_data *data = make_data(60);
  idm_diagnosis usual[2];
  for (size_t k = 0; k < 3; k++) {
    idm_problem *problem = make_free(few[k], two);
    idm_posterior *p = answer(problem, data, "bayes");
    idm_assessment *a;
    check(idm_assess_monitored(problem, data, p, 2, NULL, &a, &support_error));
    if (a->failures.count) fail_msg("in units of %g: %s", few[k], a->failures.text[0]);
    assert_true(a->importance.checked);
    const double scale[2] = {few[k], 1 / few[k]};
    for (size_t n = 0; n < 2; n++) {
      idm_diagnosis d;
      const size_t all = p->chains * p->draws;
      check(idm_diagnose(p->unconstrained + n * all, p->chains, p->draws, p->draws, 1, &d, NULL));
      if (!k) usual[n] = d;
      assert_true(fabs(d.mean * scale[n] - usual[n].mean) <
                  4.5 * hypot(d.mcse_mean * scale[n], usual[n].mcse_mean) + 1e-12);
      assert_true(fabs(d.sd * scale[n] - usual[n].sd) <
                  4.5 * hypot(d.mcse_sd * scale[n], usual[n].mcse_sd) + 1e-12);
    }
    idm_assessment_destroy(a);
    idm_posterior_destroy(p);
    idm_problem_destroy(problem);
  }
  idm_data_destroy(data);
}

/* The truth is drawn from the prior of the posterior, whatever the unit. p > 1e-3 for two
 * quantities in two units: a correct program fails at one seed in 250. */
static void test_calibration(void **state)
{
  (void)state;
  enum { REPLICATIONS = 60, BINS = 10 };
  static const double far[] = {1e-6, 1e6};
  for (size_t k = 0; k < 2; k++) {
    idm_problem *problem = make_free(far[k], "alpha");
    problem->agent.resolution = 8;
    idm_calibration_settings settings;
    idm_calibration *c;
    idm_calibration_settings_default(&settings);
    settings.replications = REPLICATIONS;
    settings.trajectories = 4;
    settings.steps = 10;
    settings.fit.draws = 300;
    settings.fit.warmup = 100;
    check(idm_calibration_create(problem, &settings, &c, &support_error));
    check(idm_calibration_run(c, NULL, NULL, &support_error));
    assert_string_equal(c->quantity.name[0], "log_alpha");
    double mean = 0;
    for (size_t i = 0; i < REPLICATIONS; i++) mean += c->recovery[2 * i].truth / REPLICATIONS;
    assert_true(fabs(mean - log(46 * far[k] / 20)) < 4.5 * 2 / sqrt(REPLICATIONS));
    for (size_t q = 0; q < 2; q++) {
      size_t count[BINS];
      const double statistic = idm_calibration_uniformity(c, q, BINS, count);
      assert_true(idm_chi_square_tail(statistic, BINS - 1) > 1e-3);
    }
    idm_calibration_destroy(c);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_likelihood_and_prior),
      cmocka_unit_test(test_maxima),
      cmocka_unit_test(test_posteriors),
      cmocka_unit_test(test_calibration),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
