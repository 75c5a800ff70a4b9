/* Tests sensitivities to lattices and held parameters against importance weights on the same draws.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "invert/assess/answered_support.h"

enum { ALL = 240, SAMPLE = 200 };

/* --- fixtures ------------------------------------------------------------------------------- */

/* Fit and assess. */
static answered infer(idm_problem *problem, idm_data *data)
{
  return answered_fit("bayes", problem, data, ALL / 2, 50, 8);
}

static answered ask(int resolution, idm_evaluate evaluate)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = resolution;
  problem->agent.evaluate = evaluate;
  problem->agent.tolerance = 1e-12;
  const idm_simulation simulation = {.trajectories = 40, .seed = 2};
  idm_data *data = support_simulate(problem, simulation);
  check(idm_problem_set_free(problem, "{beta: {scale: inverse}, eta: }", &support_error));
  return infer(problem, data);
}

/* Mean of a quantity with the weight exp(to - from) of each draw. */
static double weighted_mean(const answered *f, size_t quantity, const double *from,
                            const double *to)
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

/* Shift the held parameter `name` by h. */
static void move(answered *f, const char *name, double h)
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
    /* model_prior[1]: the other weights decrease in proportion. */
    double *weight = block[IDM_MODEL_PRIOR].value;
    const double rest = 1 - weight[0];
    for (size_t i = 1; i < 3; i++) weight[i] *= 1 - h / rest;
    weight[0] += h;
  }
}

/* d mean / d parameter is the derivative of the weighted mean; a covariance divides by n - 1, not
 * n. */
static void check_slope(answered *f, const char *name, double value, double h)
{
  double here[SAMPLE], above[SAMPLE], below[SAMPLE];
  const idm_sensitivity *s = answered_sensitivity(f, name);
  assert_near(s->value, value, 1e-12);
  answered_likelihoods(f, SAMPLE, here);
  move(f, name, h);
  answered_likelihoods(f, SAMPLE, above);
  move(f, name, -2 * h);
  answered_likelihoods(f, SAMPLE, below);
  move(f, name, h);
  /* Quantities: beta, inverse_beta, eta; only the last two are summarised. */
  for (size_t q = 1; q < 3; q++) {
    const double derivative =
        (weighted_mean(f, q, here, above) - weighted_mean(f, q, here, below)) / (2 * h);
    const double scale = f->assessment->diagnosis[q].sd;
    assert_near(s->derivative[q] / scale, derivative / scale * SAMPLE / (SAMPLE - 1.0), 1e-3);
  }
}

static void test_held_numbers(void **state)
{
  (void)state;
  answered f = ask(10, IDM_LOOKAHEAD);
  check_slope(&f, "discount", 0.95, 1e-5);
  check_slope(&f, "utility[declare_healthy,diseased]", -36, 1e-3);
  check_slope(&f, "utility[monitor,healthy]", -1, 1e-3);
  check_slope(&f, "inverse_alpha", 2, 1e-4);
  check_slope(&f, "model_prior[1]", 1.0 / 3, 1e-4);
  /* Six utilities, the discount, three models and alpha; free parameters are not held. */
  size_t held = 0;
  while (held < f.assessment->sensitivities && !f.assessment->sensitivity[held].dynamics) held++;
  assert_int_equal(held, 11);
  /* Directions of the dynamics: both rows of the observations together, each row, and the start. */
  assert_int_equal(f.assessment->sensitivities, 11 + 4);
  for (size_t i = 0; i < 11; i++) {
    assert_null(strstr(f.assessment->sensitivity[i].name, "beta"));
    assert_null(strstr(f.assessment->sensitivity[i].name, "eta"));
  }
  bool noted = false;
  for (size_t i = 0; i < f.assessment->remarks.count; i++)
    noted = noted || strstr(f.assessment->remarks.text[i], "sensitivity of 1/beta");
  assert_true(noted);
  answered_close(&f);
}

/* --- numbers that are 0, and numbers by column ---------------------------------------------- */

/* A log in which monitoring costs 1 or 3, by a column, and a correct declaration has utility 0. */
static idm_problem *make_costly(idm_data **ret_data)
{
  static const char text[] = "states: [healthy, diseased]\n"
                             "actions: [healthy, diseased, monitor]\n"
                             "observations: [negative, positive]\n"
                             "discount: 0.9\n"
                             "ends: [healthy, diseased]\n"
                             "transition: {monitor: identity, \"*\": uniform}\n"
                             "observation: {\"*\": [[0.7, 0.3], [0.3, 0.7]]}\n"
                             "utility: {monitor: -cost, healthy: [0, -30], diseased: [-30, 0]}\n"
                             "agent: {alpha: 2, beta: inf, eta: 0, resolution: 10}\n"
                             "free: {alpha: }\n";
  char csv[6000] = "trajectory,action,observation,cost\n";
  idm_problem *problem;
  idm_random random;
  size_t used = strlen(csv);
  check(idm_problem_parse_yaml(text, strlen(text), "costly", &problem, NULL, &support_error));
  idm_random_init(&random, 31, 0);
  for (int t = 0; t < 60; t++) {
    const char *seen = idm_random_uniform(&random) < 0.5 ? "negative" : "positive";
    const int cost = t % 2 ? 1 : 3;
    used += (size_t)snprintf(csv + used, sizeof csv - used, "%d,monitor,%s,%d\n", t, seen, cost);
    used += (size_t)snprintf(csv + used, sizeof csv - used, "%d,%s,negative,%d\n", t,
                             seen[0] == 'n' ? "healthy" : "diseased", cost);
  }
  *ret_data = support_data(problem, csv);
  check(
      idm_problem_bind(problem, (*ret_data)->variants, (*ret_data)->variant_value, &support_error));
  return problem;
}

/* Increase a utility in every variant by h times its absolute value, or by h times `unit` if unit
 * is positive. */
static void raise(idm_problem *problem, size_t entry, double unit, double h)
{
  idm_block *utility = &problem->theta->block[IDM_UTILITY];
  for (size_t v = 0; v < utility->variants; v++) {
    double *value = &utility->value[v * utility->size + entry];
    *value += h * (unit > 0 ? unit : fabs(*value));
  }
}

/* Effect of raising an entry by 1 % in every variant on the mean of alpha, by central differences.
 */
static void check_raise(answered *f, const char *name, size_t entry, double unit, double value,
                        double step)
{
  double here[SAMPLE], above[SAMPLE], below[SAMPLE];
  const idm_sensitivity *s = answered_sensitivity(f, name);
  const double h = 1e-5;
  double kept[12];
  idm_block *utility = &f->problem->theta->block[IDM_UTILITY];
  assert_int_equal(utility->size * utility->variants, 12);
  memcpy(kept, utility->value, sizeof kept);
  assert_near(s->value, value, 1e-12);
  assert_near(s->step, step, 1e-12);
  answered_likelihoods(f, SAMPLE, here);
  raise(f->problem, entry, unit, h);
  answered_likelihoods(f, SAMPLE, above);
  memcpy(utility->value, kept, sizeof kept);
  raise(f->problem, entry, unit, -h);
  answered_likelihoods(f, SAMPLE, below);
  memcpy(utility->value, kept, sizeof kept);
  const double moved =
      (weighted_mean(f, 0, here, above) - weighted_mean(f, 0, here, below)) / (2 * h) * 0.01;
  const double sd = f->assessment->diagnosis[0].sd;
  assert_near(s->derivative[0] * s->step / sd, moved / sd * SAMPLE / (SAMPLE - 1.0), 1e-4);
  assert_true(fabs(moved / sd) > 1e-4);
}

static void test_zeros_and_columns(void **state)
{
  (void)state;
  idm_data *data;
  idm_problem *problem = make_costly(&data);
  assert_int_equal(problem->theta->block[IDM_UTILITY].variants, 2);
  answered f = infer(problem, data);
  /* monitor is entries 4 and 5: -1 and -3, raised by 1 % each; (healthy, healthy) is 0, with a
   * range of 30. */
  check_raise(&f, "utility[monitor,healthy]", 4, 0, -2, 0.02);
  check_raise(&f, "utility[healthy,healthy]", 0, 30, 0, 0.3);
  check_raise(&f, "utility[healthy,diseased]", 1, 0, -30, 0.3);
  assert_near(answered_sensitivity(&f, "eta")->step, 0.3, 1e-12);
  assert_near(answered_sensitivity(&f, "inverse_beta")->step, 0.01 / 30, 1e-12);
  bool stated = false;
  for (size_t i = 0; i < f.assessment->remarks.count; i++)
    stated = stated || strstr(f.assessment->remarks.text[i], "utility[healthy,healthy] (0.3)");
  assert_true(stated);
  answered_close(&f);
}

/* A point estimate has no sensitivities; missing observations do not change their number. */
static void test_where_there_is_a_covariance(void **state)
{
  (void)state;
  answered f = ask(10, IDM_INTERPOLATE);
  idm_assessment *assessment;
  idm_posterior *point;
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  assert_true(f.assessment->sensitivities > 0);
  check(idm_inverse_fit(idm_inverse_find("map"), f.problem, f.data, &settings, NULL, &point, NULL,
                        &support_error));
  check(idm_assess_monitored(f.problem, f.data, point, 1, NULL, &assessment, &support_error));
  assert_int_equal(assessment->sensitivities, 0);
  assert_int_equal(assessment->finer, 20);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(point);
  for (size_t r = 0; r < f.data->rows; r += 2) f.data->observation[r] = IDM_MISSING;
  check(idm_assess_monitored(f.problem, f.data, f.posterior, 1, NULL, &assessment, &support_error));
  assert_int_equal(assessment->sensitivities, f.assessment->sensitivities);
  idm_assessment_destroy(assessment);
  answered_close(&f);
}

/* --- lattices ------------------------------------------------------------------------------- */

static double check_lattice(int resolution)
{
  answered f = ask(resolution, IDM_INTERPOLATE);
  const idm_assessment *a = f.assessment;
  double coarse[SAMPLE], fine[SAMPLE], most = 0, change = 0;
  assert_int_equal(a->resolution, resolution);
  assert_int_equal(a->finer, 2 * resolution);
  answered_likelihoods(&f, SAMPLE, coarse);
  f.problem->agent.resolution = 2 * resolution;
  answered_likelihoods(&f, SAMPLE, fine);
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
  answered_close(&f);
  return most;
}

static void test_lattices(void **state)
{
  (void)state;
  const double coarse = check_lattice(3), fine = check_lattice(200);
  assert_true(fine < 0.02);
  assert_true(coarse > 0.25);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_held_numbers),
      cmocka_unit_test(test_zeros_and_columns),
      cmocka_unit_test(test_where_there_is_a_covariance),
      cmocka_unit_test(test_lattices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
