/* The posterior of a utility under preferences: against quadrature, with several modes, improper
 * posteriors, and resumed chains. */
#include "invert/utility/preference_support.h"

extern const idm_inverse idm_inverse_preference_bayes;

static idm_fit_settings make_settings(const char *sampler)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  strcpy(settings.sampler, sampler);
  settings.warmup = 500;
  settings.draws = 2000;
  settings.threads = 1;
  settings.prior_draws = 50;
  return settings;
}

static idm_posterior *answer(const idm_problem *problem, const idm_data *data,
                             const idm_fit_settings *settings)
{
  idm_posterior *p;
  check(idm_inverse_fit(&idm_inverse_preference_bayes, problem, data, settings, NULL, &p, NULL,
                        &support_error));
  assert_int_equal(p->answer, IDM_POSTERIOR);
  assert_int_equal(p->chains, settings->chains);
  assert_int_equal(p->draws, settings->draws);
  assert_string_equal(p->optimality->certificate, "R-hat");
  return p;
}

/* --- quadrature ----------------------------------------------------------------------------- */

/* Mean and sd of one or two coordinates c, by sums over a grid that covers the density. */
typedef struct question {
  const char *what_is_free;
  size_t numbers;
  double prior[2]; /* normal(mean, sd) of c; sd 0: flat */
  double low, high;
  bool signed_log;
  const char *sampler;
  size_t entry[2][2]; /* entries of each number */
} question;

static double natural(const question *q, double c)
{
  return q->signed_log ? copysign(expm1(fabs(c)), c) : c;
}

static double density(const question *q, const idm_problem *problem, const idm_data *data,
                      const double *c)
{
  double utility[6], log_prior = 0;
  memcpy(utility, problem->theta->block[IDM_UTILITY].value, sizeof utility);
  for (size_t j = 0; j < q->numbers; j++) {
    const double z = q->prior[1] > 0 ? (c[j] - q->prior[0]) / q->prior[1] : 0;
    utility[q->entry[j][0]] = utility[q->entry[j][1]] = natural(q, c[j]);
    log_prior -= 0.5 * z * z;
  }
  return exp(log_prior + plain_log_likelihood(problem, utility, data) + 30);
}

static void integrate(const question *q, const idm_problem *problem, const idm_data *data,
                      double mean[2], double sd[2])
{
  const size_t steps = q->numbers == 1 ? 2000 : 160, inner = q->numbers == 1 ? 1 : steps;
  const double h = (q->high - q->low) / (double)steps;
  double sum = 0, first[2] = {0}, second[2] = {0};
  for (size_t i = 0; i < steps; i++)
    for (size_t j = 0; j < inner; j++) {
      const double c[] = {q->low + h * ((double)i + 0.5), q->low + h * ((double)j + 0.5)};
      const double p = density(q, problem, data, c);
      sum += p;
      for (size_t k = 0; k < q->numbers; k++) {
        first[k] += p * c[k];
        second[k] += p * c[k] * c[k];
      }
    }
  for (size_t k = 0; k < q->numbers; k++) {
    mean[k] = first[k] / sum;
    sd[k] = sqrt(second[k] / sum - mean[k] * mean[k]);
  }
}

/* 14 comparisons within four Monte Carlo standard errors: a false alarm at one seed in 1,000 (the
 * seed is fixed). */
static void test_quadrature(void **state)
{
  (void)state;
  static const question questions[] = {
      {.what_is_free = "{utility: {entries: [right.b], prior: {normal: [0, 1]}}}",
       .numbers = 1,
       .prior = {0, 1},
       .low = -7,
       .high = 7,
       .sampler = "",
       .entry = {{4, 4}}},
      {.what_is_free = "{utility: {entries: {win: [left.c, right.c]}, prior: flat}}",
       .numbers = 1,
       .low = -10,
       .high = 12,
       .sampler = "nuts",
       .entry = {{2, 5}}},
      {.what_is_free = "{utility: {entries: [left.b], scale: signed-log, prior: {normal: [0, 1]}}}",
       .numbers = 1,
       .prior = {0, 1},
       .low = -6,
       .high = 6,
       .signed_log = true,
       .sampler = "nuts",
       .entry = {{1, 1}}},
      {.what_is_free = "{utility: {entries: [left.a, right.c], prior: {normal: [0.5, 2]}}}",
       .numbers = 2,
       .prior = {0.5, 2},
       .low = -8,
       .high = 9,
       .sampler = "",
       .entry = {{0, 0}, {5, 5}}},
      {.what_is_free = "{utility: {entries: {win: [left.c, right.c], stay: [left.a, right.b]}, "
                       "prior: {normal: [0, 1]}}}",
       .numbers = 2,
       .prior = {0, 1},
       .low = -6,
       .high = 6,
       .sampler = "nuts",
       .entry = {{2, 5}, {0, 4}}},
  };
  for (size_t k = 0; k < sizeof questions / sizeof *questions; k++) {
    const question *q = &questions[k];
    idm_problem *problem = make_problem(walk_text, q->what_is_free);
    idm_data *data = make_preferred(problem, 15, 25, true, 11 + k);
    const idm_fit_settings settings = make_settings(q->sampler);
    idm_posterior *p = answer(problem, data, &settings);
    double mean[2], sd[2];
    integrate(q, problem, data, mean, sd);
    assert_int_equal(p->coordinate.count, q->numbers);
    const size_t all = p->chains * p->draws;
    for (size_t i = 0; i < q->numbers; i++) {
      idm_diagnosis d;
      check(idm_diagnose(p->unconstrained + i * all, p->chains, p->draws, p->draws, 1, &d, NULL));
      if (fabs(d.mean - mean[i]) > 4 * d.mcse_mean || fabs(d.sd - sd[i]) > 4 * d.mcse_sd)
        fail_msg("question %zu, number %zu: %g and %g by draws (mcse %g, %g), %g and %g by sums", k,
                 i, d.mean, d.sd, d.mcse_mean, d.mcse_sd, mean[i], sd[i]);
    }
    /* Stored log densities equal recomputed ones up to a constant. */
    double c[2], first = NAN;
    for (size_t i = 0; i < all; i += all / 7) {
      for (size_t j = 0; j < q->numbers; j++) c[j] = p->unconstrained[j * all + i];
      const double off = p->statistics[i].log_density - log(density(q, problem, data, c));
      if (isnan(first)) first = off;
      assert_near(off, first, 1e-9);
    }
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* --- several peaks -------------------------------------------------------------------------- */

/* The free number is preferred, with this weight, to a held utility of `held`, far above its prior:
 * the posterior has a mode at the prior and a narrow one where the preference is satisfied, out of
 * reach of chains around the first mode. */
typedef struct conflict {
  const char *what_is_free;
  double sd, held, weight;
  bool logarithmic; /* c is log x, or else the signed log of x */
} conflict;

static void integrate_conflict(const conflict *q, double *mean, double *sd)
{
  const size_t steps = 400000;
  double sum = 0, first = 0, second = 0, top = -INFINITY;
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < steps; i++) {
      const double c = -8 + 20 * ((double)i + 0.5) / (double)steps;
      const double x = q->logarithmic ? exp(c) : copysign(expm1(fabs(c)), c);
      const double odds = x - q->held;
      const double height =
          -0.5 * c * c / (q->sd * q->sd) - q->weight * (fmax(-odds, 0) + log1p(exp(-fabs(odds))));
      const double p = exp(height - top);
      if (pass == 0) top = fmax(top, height);
      sum += pass ? p : 0;
      first += pass ? p * c : 0;
      second += pass ? p * c * c : 0;
    }
  *mean = first / sum;
  *sd = sqrt(second / sum - *mean * *mean);
}

static idm_data *make_conflict(const idm_problem *problem, double weight)
{
  const idm_simulation simulation = {.trajectories = 2, .steps = 1, .seed = 1};
  idm_data *data = support_simulate(problem, simulation);
  data->action[0] = 0;
  data->action[1] = 1;
  check(idm_preferences_create(1, &data->preferences, &support_error));
  data->preferences->worse[0] = 1;
  data->preferences->better[0] = 0;
  data->preferences->weight[0] = weight;
  return data;
}

/* The posterior covers both modes: the mean is within five standard errors and a sixth of an sd,
 * and the sd within 20 %; with one mode the mean is off by 0.4 sd and more. */
static void test_several_peaks(void **state)
{
  (void)state;
  static const conflict conflicts[] = {
      {"{utility: {entries: [a], prior: {lognormal: [0, 0.3]}}}", 0.3, 100, 1.21, true},
      {"{utility: {entries: [a], prior: {lognormal: [0, 0.3]}}}", 0.3, 100, 1.25, true},
      {"{utility: {entries: [a], scale: signed-log, prior: {normal: [0, 0.3]}}}", 0.3, 100, 1.22,
       false},
  };
  for (size_t k = 0; k < sizeof conflicts / sizeof *conflicts; k++) {
    const conflict *q = &conflicts[k];
    idm_problem *problem =
        make_problem("states: [s]\nactions: [a, b]\ndiscount: 0.5\nutility: {a: 1, b: 100}\n"
                     "agent: {planner: maximum-entropy, alpha: 1}\n",
                     q->what_is_free);
    idm_data *data = make_conflict(problem, q->weight);
    const idm_fit_settings settings = make_settings("");
    idm_posterior *p = answer(problem, data, &settings);
    double mean, sd;
    idm_diagnosis d;
    integrate_conflict(q, &mean, &sd);
    check(idm_diagnose(p->unconstrained, p->chains, p->draws, p->draws, 1, &d, NULL));
    if (fabs(d.mean - mean) > fmin(5 * d.mcse_mean, sd / 6) || fabs(d.sd / sd - 1) > 0.2)
      fail_msg("conflict %zu: %g and %g by draws (mcse %g), %g and %g by sums", k, d.mean, d.sd,
               d.mcse_mean, mean, sd);
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* --- the verdict ---------------------------------------------------------------------------- */

static idm_assessment *judge(const idm_problem *problem, const idm_data *data,
                             const idm_posterior *p)
{
  idm_assessment *a;
  check(idm_assess_monitored(problem, data, p, 1, NULL, &a, &support_error));
  return a;
}

/* The verdict applies the checks of draws, not the likelihood of actions, and includes the
 * optimality record.
 */
static void test_trusted(void **state)
{
  (void)state;
  idm_problem *problem = make_problem(walk_text, "{utility: {prior: {normal: [0, 1]}}}");
  idm_data *data = make_preferred(problem, 20, 60, false, 2);
  idm_fit_settings settings = make_settings("");
  settings.draws = 1000;
  idm_posterior *p = answer(problem, data, &settings);
  assert_true(p->optimality->attained >= 1 && idm_optimality_certified(p->optimality));
  assert_int_equal(p->optimality->open, 1);
  assert_int_equal(p->prior_draws, 50);
  assert_int_equal(p->optimality->state.count, 3);
  double centre[6], objective;
  idm_posterior_centre(p, centre);
  objective = -plain_log_likelihood(problem, centre, data);
  for (size_t i = 0; i < 6; i++) objective += 0.5 * centre[i] * centre[i];
  assert_near(p->optimality->objective, objective, 1e-10);
  idm_assessment *a = judge(problem, data, p);
  assert_true(a->trusted);
  assert_int_equal(a->failures.count + a->misfits.count, 0);
  assert_true(a->diagnosis[0].rhat < idm_check_threshold(IDM_CHECK_RHAT) &&
              a->diagnosis[0].ess_bulk > idm_check_threshold(IDM_CHECK_EFFECTIVE));
  assert_true(support_mentions(&a->remarks, "leave 1 direction of these numbers open"));
  assert_int_equal(a->parameters,
                   0); /* identification by the likelihood of actions is not computed */
  assert_false(a->model.evaluated);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
  /* Too few draws fail here as well. */
  settings.draws = 20;
  settings.chains = 1;
  p = answer(problem, data, &settings);
  a = judge(problem, data, p);
  assert_false(a->trusted);
  assert_true(support_mentions(&a->failures, "too few effective draws") &&
              support_mentions(&a->failures, "one chain"));
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Under a flat prior a direction that no preference bounds makes the posterior improper, whatever
 * the chains' diagnostics. */
static void test_improper(void **state)
{
  (void)state;
  idm_problem *problem = make_problem(walk_text, "{utility: {prior: flat}}");
  idm_data *data = make_preferred(problem, 30, 200, false, 6);
  idm_fit_settings settings = make_settings("");
  settings.draws = settings.warmup = 100;
  idm_posterior *p = answer(problem, data, &settings);
  idm_assessment *a = judge(problem, data, p);
  assert_false(a->trusted);
  assert_true(
      support_mentions(&a->failures, "improper: the prior is flat and the preferences leave 1"));
  assert_false(support_mentions(&a->failures, "separable"));
  assert_int_equal(p->prior_draws, 0);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
  /* One number and one preference: separable, without undetermined directions. */
  check(idm_problem_set_free(problem, "{utility: {entries: [right.a], prior: flat}}",
                             &support_error));
  size_t i = 0;
  const idm_preferences *given = data->preferences;
  double unit[6] = {0, 0, 0, 1, 0, 0};
  while (fabs(plain_sum(problem, unit, data, given->better[i]) -
              plain_sum(problem, unit, data, given->worse[i])) < 0.1)
    i++;
  data->preferences->better[0] = given->better[i];
  data->preferences->worse[0] = given->worse[i];
  data->preferences->count = 1;
  p = answer(problem, data, &settings);
  assert_int_equal(p->optimality->open, 0);
  a = judge(problem, data, p);
  assert_false(a->trusted);
  assert_true(support_mentions(&a->failures,
                               "improper: the prior is flat and the preferences are separable"));
  assert_true(strstr(a->failures.text[0], "improper")); /* the reason comes first */
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- what it depends on --------------------------------------------------------------------- */

static void test_repeatable(void **state)
{
  (void)state;
  idm_problem *problem = make_problem(walk_text, "{utility: {prior: {normal: [0, 1]}}}");
  idm_data *data = make_preferred(problem, 40, 400, true, 2);
  idm_fit_settings settings = make_settings("");
  settings.draws = 300;
  settings.warmup = 300;
  idm_posterior *whole = answer(problem, data, &settings), *part = NULL, *rest;
  const size_t bytes = 6 * whole->chains * whole->draws * sizeof(double);
  settings.threads = 2;
  idm_posterior *parallel = answer(problem, data, &settings);
  assert_memory_equal(parallel->value, whole->value, bytes);
  idm_posterior_destroy(parallel);
  /* Stopped and resumed. */
  support_stopping w = {.at = 0.02};
  const idm_fit_monitor stopped = {.progress = support_stop, .context = &w, .label = 5};
  const idm_status status = idm_inverse_fit(&idm_inverse_preference_bayes, problem, data, &settings,
                                            &stopped, &part, NULL, &support_error);
  assert_true(status == IDM_UNTRUSTED || status == IDM_OK);
  assert_non_null(w.bytes);
  idm_posterior_destroy(part);
  const idm_fit_monitor again = {.checkpoint = w.bytes, .checkpoint_length = w.length, .label = 5};
  check(idm_inverse_fit(&idm_inverse_preference_bayes, problem, data, &settings, &again, &rest,
                        NULL, &support_error));
  assert_memory_equal(rest->value, whole->value, bytes);
  free(w.bytes);
  idm_posterior_destroy(rest);
  /* Changed preferences give other draws. */
  data->preferences->weight[0] *= 2;
  idm_posterior *other = answer(problem, data, &settings);
  assert_memory_not_equal(other->value, whole->value, bytes);
  idm_posterior_destroy(other);
  idm_posterior_destroy(whole);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quadrature), cmocka_unit_test(test_several_peaks),
      cmocka_unit_test(test_trusted),    cmocka_unit_test(test_improper),
      cmocka_unit_test(test_repeatable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
