/* Lattices and held numbers: shifts of the posterior mean against weights put on the same draws. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "invert/matching/assemble.h"
#include "support.h"

enum { ALL = 240, SAMPLE = 200 };

/* --- fixtures ------------------------------------------------------------------------------- */

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
  idm_posterior *posterior;
  idm_assessment *assessment;
} fixture;

static fixture ask(int resolution, idm_evaluate evaluate)
{
  fixture f;
  f.problem = support_diag(0.5, 1.25, 0.3);
  f.problem->agent.resolution = resolution;
  f.problem->agent.evaluate = evaluate;
  f.problem->agent.tolerance = 1e-12;
  const idm_simulation simulation = {.trajectories = 40, .seed = 2};
  f.data = support_simulate(f.problem, simulation);
  check(idm_problem_free(f.problem, "{beta: {scale: inverse}, eta: }", &support_error));
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  settings.chains = 2;
  settings.draws = ALL / 2;
  settings.warmup = 50;
  settings.thin = 1;
  check(idm_inverse_find("bayes")->fit(f.problem, f.data, &settings, NULL, &f.posterior, NULL,
                                       &support_error));
  check(idm_assess(f.problem, f.data, f.posterior, 1, &f.assessment, &support_error));
  return f;
}

static void close_fixture(fixture *f)
{
  idm_assessment_destroy(f->assessment);
  idm_posterior_destroy(f->posterior);
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
}

/* The log-likelihoods of the draws looked at, under the problem as it stands now. */
static void sample_likelihood(const fixture *f, double *value)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  fit work;
  check(idm_fit_open(&work, NULL, f->problem, f->data, &settings, 1, &support_error));
  for (size_t k = 0; k < SAMPLE; k++) {
    const size_t i = k * ALL / SAMPLE;
    const double y[2] = {f->posterior->unconstrained[i], f->posterior->unconstrained[ALL + i]};
    check(idm_matching_log_likelihood(work.matching[0], y, &value[k], NULL, &support_error));
  }
  idm_fit_close(&work);
}

/* Mean of a quantity when each draw has the weight exp(to - from). */
static double weighted_mean(const fixture *f, size_t quantity, const double *from, const double *to)
{
  double total = 0, sum = 0;
  for (size_t k = 0; k < SAMPLE; k++) {
    const double weight = exp(to[k] - from[k]);
    total += weight;
    sum += weight * f->posterior->value[quantity * ALL + k * ALL / SAMPLE];
  }
  return sum / total;
}

/* --- held numbers --------------------------------------------------------------------------- */

static const idm_sensitivity *find(const fixture *f, const char *name)
{
  for (size_t i = 0; i < f->assessment->sensitivities; i++)
    if (strcmp(f->assessment->sensitivity[i].name, name) == 0)
      return &f->assessment->sensitivity[i];
  fail_msg("no sensitivity to %s", name);
  return NULL;
}

/* Move a held number by h, whatever it is called. */
static void move(fixture *f, const char *name, double h)
{
  idm_block *block = f->problem->theta->block;
  if (strcmp(name, "discount") == 0)
    block[IDM_DISCOUNT].value[0] += h;
  else if (strcmp(name, "utility[declare_healthy,diseased]") == 0)
    block[IDM_UTILITY].value[1] += h;
  else if (strcmp(name, "utility[monitor,healthy]") == 0)
    block[IDM_UTILITY].value[4] += h;
  else if (strcmp(name, "inverse_alpha") == 0)
    block[IDM_ALPHA].value[0] = 1 / (1 / block[IDM_ALPHA].value[0] + h);
  else {
    /* model_prior[1]: the others make room in proportion. */
    double *weight = block[IDM_MODEL_PRIOR].value;
    const double rest = 1 - weight[0];
    for (size_t i = 1; i < 3; i++) weight[i] *= 1 - h / rest;
    weight[0] += h;
  }
}

/* d mean / d number is the derivative of the weighted mean; one draw's part is 1 / (n - 1), not
 * 1 / n. */
static void check_slope(fixture *f, const char *name, double value, double h)
{
  double here[SAMPLE], above[SAMPLE], below[SAMPLE];
  const idm_sensitivity *s = find(f, name);
  assert_near(s->value, value, 1e-12);
  sample_likelihood(f, here);
  move(f, name, h);
  sample_likelihood(f, above);
  move(f, name, -2 * h);
  sample_likelihood(f, below);
  move(f, name, h);
  /* Quantities: beta, inverse_beta, eta; only the last two have a mean to speak of. */
  for (size_t q = 1; q < 3; q++) {
    const double slope =
        (weighted_mean(f, q, here, above) - weighted_mean(f, q, here, below)) / (2 * h);
    const double scale = f->assessment->diagnosis[q].sd;
    assert_near(s->slope[q] / scale, slope / scale * SAMPLE / (SAMPLE - 1.0), 1e-3);
  }
}

static void test_held_numbers(void **state)
{
  (void)state;
  fixture f = ask(10, IDM_LOOKAHEAD);
  check_slope(&f, "discount", 0.95, 1e-5);
  check_slope(&f, "utility[declare_healthy,diseased]", -36, 1e-3);
  check_slope(&f, "utility[monitor,healthy]", -1, 1e-3);
  check_slope(&f, "inverse_alpha", 2, 1e-4);
  check_slope(&f, "model_prior[1]", 1.0 / 3, 1e-4);
  /* Six utilities, the discount, three models and alpha; what is free is not held. */
  assert_int_equal(f.assessment->sensitivities, 11);
  for (size_t i = 0; i < 11; i++) {
    assert_null(strstr(f.assessment->sensitivity[i].name, "beta"));
    assert_null(strstr(f.assessment->sensitivity[i].name, "eta"));
  }
  bool noted = false;
  for (size_t i = 0; i < f.assessment->remarks.count; i++)
    noted = noted || strstr(f.assessment->remarks.text[i], "sensitivity of 1/beta");
  assert_true(noted);
  close_fixture(&f);
}

/* A point has no covariance; gaps in a log do not matter. */
static void test_where_there_is_a_covariance(void **state)
{
  (void)state;
  fixture f = ask(10, IDM_INTERPOLATE);
  idm_assessment *assessment;
  idm_posterior *point;
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  assert_true(f.assessment->sensitivities > 0);
  check(idm_inverse_find("map")->fit(f.problem, f.data, &settings, NULL, &point, NULL,
                                     &support_error));
  check(idm_assess(f.problem, f.data, point, 1, &assessment, &support_error));
  assert_int_equal(assessment->sensitivities, 0);
  assert_int_equal(assessment->finer, 20);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(point);
  for (size_t r = 0; r < f.data->rows; r += 2) f.data->observation[r] = IDM_MISSING;
  check(idm_assess(f.problem, f.data, f.posterior, 1, &assessment, &support_error));
  assert_int_equal(assessment->sensitivities, f.assessment->sensitivities);
  idm_assessment_destroy(assessment);
  close_fixture(&f);
}

/* --- lattices ------------------------------------------------------------------------------- */

static double check_lattice(int resolution)
{
  fixture f = ask(resolution, IDM_INTERPOLATE);
  const idm_assessment *a = f.assessment;
  double coarse[SAMPLE], fine[SAMPLE], most = 0, change = 0;
  assert_int_equal(a->resolution, resolution);
  assert_int_equal(a->finer, 2 * resolution);
  sample_likelihood(&f, coarse);
  f.problem->agent.resolution = 2 * resolution;
  sample_likelihood(&f, fine);
  for (size_t k = 0; k < SAMPLE; k++) change = fmax(change, fabs(fine[k] - coarse[k]));
  assert_near(a->finer_change, change, 1e-6);
  for (size_t q = 1; q < 3; q++) {
    const double shift = weighted_mean(&f, q, coarse, fine) - weighted_mean(&f, q, coarse, coarse);
    assert_near(a->finer_shift[q], shift / a->diagnosis[q].sd, 1e-6);
    most = fmax(most, fabs(a->finer_shift[q]));
  }
  bool raise = false;
  for (size_t i = 0; i < a->failures.count; i++)
    raise = raise || strstr(a->failures.text[i], "raise agent.resolution");
  assert_int_equal(raise, most > 0.5);
  close_fixture(&f);
  return most;
}

static void test_lattices(void **state)
{
  (void)state;
  const double coarse = check_lattice(5), fine = check_lattice(200);
  assert_true(fine < 0.02);
  assert_true(coarse > 0.25);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_held_numbers),
      cmocka_unit_test(test_where_there_is_a_covariance),
      cmocka_unit_test(test_lattices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
