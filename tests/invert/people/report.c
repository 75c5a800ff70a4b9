/* Tests the posterior and the assessment of people: names, R2 and shrinkage against plain sums over
 * simulated draws, and the checks of the model. */
#include "invert/people/people.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/assess/context_support.h"
#include "invert/assess/crowd_support.h"
#include "invert/people/covariates_support.h"

enum { CHAINS = 2, DRAWS = 200, ALL = CHAINS * DRAWS };

static double *numbers(idm_random *random, size_t count, double low, double high)
{
  double *x = malloc(count * sizeof *x);
  assert_non_null(x);
  for (size_t i = 0; i < count; i++) x[i] = low + (high - low) * idm_random_uniform(random);
  return x;
}

/* Independent uniform draws of all quantities. */
static idm_people *made_up(const idm_design *d)
{
  idm_random random;
  idm_people *p = calloc(1, sizeof *p);
  assert_non_null(p);
  idm_random_init(&random, 5, 0);
  *p = (idm_people){.chains = CHAINS, .draws = DRAWS, .people = d->people, .effects = d->effects};
  p->coefficient_first = calloc(d->effects + 1, sizeof *p->coefficient_first);
  assert_non_null(p->coefficient_first);
  for (size_t e = 0; e < d->effects; e++)
    p->coefficient_first[e + 1] = p->coefficient_first[e] + d->coefficients[e];
  p->effect = numbers(&random, d->effects * d->people * ALL, -0.2, 0.2);
  p->coefficient = numbers(&random, p->coefficient_first[d->effects] * ALL, -0.1, 0.3);
  p->sd = numbers(&random, d->effects * ALL, 0.5, 1);
  p->correlation = numbers(&random, d->effects * (d->effects - 1) / 2 * ALL, -1, 1);
  p->log_posterior = numbers(&random, ALL, -9, -8);
  p->log_likelihood = numbers(&random, d->people * ALL, -1.2, -0.8);
  return p;
}

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
  idm_design *design;
  idm_people *people;
  idm_posterior *posterior;
} fixture;

static fixture open(const char *model, const char *opt_second)
{
  fixture f = {.problem = covariates_problem()};
  f.data = covariates_data(f.problem, covariates_log, (const char *const[]){NULL});
  f.design = covariates_design(f.problem, covariates_log, "agent", model, opt_second, NULL);
  if (!f.design) fail_msg("%s", support_error.message);
  f.people = made_up(f.design);
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  check(
      idm_people_posterior(f.problem, f.design, f.people, &settings, &f.posterior, &support_error));
  return f;
}

static void close(fixture *f)
{
  idm_posterior_destroy(f->posterior);
  idm_people_destroy(f->people);
  idm_design_destroy(f->design);
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
}

static size_t quantity(const idm_posterior *p, const char *name)
{
  for (size_t i = 0; i < p->quantity.count; i++)
    if (strcmp(p->quantity.name[i], name) == 0) return i;
  fail_msg("no quantity '%s'", name);
  return 0;
}

static void draws_stand_under_their_names(void **state)
{
  (void)state;
  fixture f = open("alpha, beta ~ drug", NULL);
  const idm_posterior *p = f.posterior;
  const idm_people *people = f.people;
  assert_int_equal(idm_posterior_axis(p, "coefficient") < p->axes, true);
  for (size_t i = 0; i < ALL; i++) {
    assert_near(p->value[quantity(p, "log_alpha[p3]") * ALL + i], people->effect[2 * ALL + i], 0);
    assert_near(p->value[quantity(p, "inverse_beta[p1]") * ALL + i], people->effect[6 * ALL + i],
                0);
    assert_near(p->value[quantity(p, "log_alpha_coefficient[drug[T.yes]]") * ALL + i],
                people->coefficient[1 * ALL + i], 0);
    assert_near(p->value[quantity(p, "inverse_beta_sd") * ALL + i], people->sd[ALL + i], 0);
    assert_near(p->value[quantity(p, "correlation[log_alpha,inverse_beta]") * ALL + i],
                people->correlation[i], 0);
    assert_near(p->log_likelihood[i * 6 + 4], people->log_likelihood[4 * ALL + i], 0);
    /* R2: half the people have drug, so that the variance is b^2 6/4/5. */
    const double b = people->coefficient[ALL + i];
    const double variance = b * b * 0.3;
    assert_near(p->value[quantity(p, "log_alpha_r2") * ALL + i],
                variance / (variance + people->sd[i] * people->sd[i]), 1e-13);
  }
  close(&f);
}

static void formulas_that_differ_have_axes_of_their_own(void **state)
{
  (void)state;
  fixture f = open("alpha ~ drug + dose", "beta ~ age");
  const idm_posterior *p = f.posterior;
  assert_true(idm_posterior_axis(p, "coefficient") == p->axes);
  const idm_labels *alpha = &p->axis[idm_posterior_axis(p, "coefficient_alpha")].label;
  const idm_labels *beta = &p->axis[idm_posterior_axis(p, "coefficient_beta")].label;
  assert_int_equal(alpha->count, 3);
  assert_string_equal(alpha->name[2], "dose[T.low]");
  assert_int_equal(beta->count, 2);
  const size_t at = quantity(p, "log_alpha_coefficient[dose[T.low]]");
  assert_near(p->value[at * ALL], f.people->coefficient[2 * ALL], 0);
  (void)quantity(p, "log_alpha:dose[T.low]_sd");
  (void)quantity(p, "log_alpha:dose[T.low][p6]");
  (void)quantity(p, "correlation[log_alpha,log_alpha:dose[T.low]]");
  close(&f);
}

static void shrinkage_is_the_pooling_factor(void **state)
{
  (void)state;
  fixture f = open("alpha, beta ~ drug", NULL);
  idm_assessment *a = NULL;
  idm_projection projection;
  check(idm_people_assess(f.problem, f.data, f.design, f.people, f.posterior, 1, 0, &a, &projection,
                          &support_error));
  support_check_listed(&a->checks);
  assert_int_equal(a->checks.kind, IDM_CHECK_POPULATION);
  assert_int_equal(a->people, 6);
  for (size_t i = 0; i < 6; i++) {
    double mean = 0, square = 0, scale = 0;
    for (size_t k = 0; k < ALL; k++) {
      const double *b = f.people->coefficient + k;
      const double x = f.people->effect[i * ALL + k] - b[0] - (i % 2 ? b[ALL] : 0);
      mean += x / ALL;
      square += x * x / ALL;
      scale += f.people->sd[k] * f.people->sd[k] / ALL;
    }
    assert_near(a->person[i].own[0], 1 - (square - mean * mean) / scale, 1e-12);
    assert_int_equal(a->person[i].verdict,
                     a->person[i].log_loss < log(3) ? IDM_PERSON_IDENTIFIED : IDM_PERSON_CHANCE);
  }
  assert_int_equal(a->person[0].decisions, 3);
  double sum = 0;
  for (size_t k = 0; k < 6 * ALL; k++) sum -= f.people->log_likelihood[k] / ALL;
  assert_near(projection.log_loss, sum / 14, 1e-12);
  assert_near(projection.uniform_log_loss, log(3), 1e-12);
  assert_int_equal(projection.decisions, 14);
  /* With a single category, used by both parameters, there is no other form to test. */
  assert_int_equal(a->checks.of[IDM_CHECK_FORM].outcome, IDM_CHECK_NOT_RUN);
  idm_assessment_destroy(a);
  close(&f);
}

/* A person whose chains disagree fails, and so does the run. */
static void people_whose_draws_disagree_are_named(void **state)
{
  (void)state;
  fixture f = open("alpha ~ drug", NULL);
  idm_assessment *a = NULL;
  idm_projection projection;
  double *x = f.posterior->value + quantity(f.posterior, "log_alpha[p5]") * ALL;
  for (size_t i = 0; i < DRAWS; i++) x[i] += 1;
  check(idm_people_assess(f.problem, f.data, f.design, f.people, f.posterior, 1, 0, &a, &projection,
                          &support_error));
  assert_false(a->trusted);
  assert_int_equal(a->person[4].verdict, IDM_PERSON_FAILED);
  assert_false(a->person[4].absent);
  bool named = false;
  for (size_t i = 0; i < a->failures.count; i++)
    named = named || strstr(a->failures.text[i], "1 of 6 people, least for 'p5'");
  assert_true(named);
  /* The formula of alpha has a column that beta may depend on. */
  assert_int_equal(a->checks.of[IDM_CHECK_FORM].outcome, IDM_CHECK_PASSED);
  idm_assessment_destroy(a);
  close(&f);
}

/* --- the model ------------------------------------------------------------------------------ */

static idm_assessment *assess(const population *p)
{
  idm_assessment *a = NULL;
  idm_projection projection;
  check(idm_people_assess(p->problem, p->data, p->design, p->people, p->posterior, 1, 0, &a,
                          &projection, &support_error));
  support_check_listed(&a->checks);
  assert_true(a->model.evaluated);
  return a;
}

static void print_notes(const idm_notes *notes)
{
  for (size_t i = 0; i < notes->count; i++) print_message("  %s\n", notes->text[i]);
}

/* Learners under a correct model pass every test; with a lapse rate of 30 % that is not modelled,
 * lapse is named. */
static void slips_that_are_not_modelled_are_named(void **state)
{
  (void)state;
  for (int slips = 0; slips < 2; slips++) {
    population p;
    idm_problem *problem = population_bandit();
    const int temperature = idm_theta_find(problem->theta, "inverse_temperature");
    problem->theta->block[temperature].value[0] = 8;
    population_open(&p, problem, population_learners(problem, 20, 4, slips ? 0.3 : 0, 5),
                    POPULATION_RATES, 400);
    idm_assessment *a = assess(&p);
    print_notes(&a->misfits);
    for (size_t i = 0; i < a->model.extensions; i++)
      print_message("  %s: %.3g, %.3g nats, p %.3g\n", a->model.extension[i].name,
                    a->model.extension[i].value, a->model.extension[i].gain,
                    a->model.extension[i].p);
    assert_int_equal(support_mentions(&a->misfits, "lapse"), slips);
    assert_int_equal(a->misfits.count > 0, slips);
    assert_int_equal(a->checks.of[IDM_CHECK_EXTENSIONS].outcome,
                     slips ? IDM_CHECK_MISFIT : IDM_CHECK_PASSED);
    assert_int_equal(a->checks.of[IDM_CHECK_REPETITION].outcome >= IDM_CHECK_PASSED, true);
    assert_int_equal(a->checks.of[IDM_CHECK_CALIBRATION].outcome >= IDM_CHECK_PASSED, true);
    assert_int_equal(a->checks.of[IDM_CHECK_AGENT_BANDS].outcome >= IDM_CHECK_PASSED, true);
    assert_int_equal(a->checks.of[IDM_CHECK_ENVIRONMENT].outcome, IDM_CHECK_PASSED);
    assert_int_equal(a->checks.of[IDM_CHECK_OUTLIER].outcome, IDM_CHECK_PASSED);
    assert_null(strstr(idm_assessment_verdict(a), "unchecked"));
    idm_assessment_destroy(a);
    population_close(&p);
  }
}

/* Planners on a lattice, with tests that are right with probability .7: a file with .8 is
 * contradicted by the observations. A fine lattice passes. */
static void environment_and_lattice_are_checked(void **state)
{
  (void)state;
  static const double alpha[8] = {0.5, 0.5, 0.6, 0.4, 0.5, 0.7, 0.45, 0.55};
  for (int wrong = 0; wrong < 2; wrong++) {
    population p;
    idm_problem *problem = support_diag(0.5, 1.25, 0);
    problem->agent.resolution = 60;
    idm_data *data = simulate_agents(problem, alpha, 8, 40, 20, 4);
    for (size_t i = 0; i < 12 && wrong; i++)
      problem->setting->emission[i] += i % 4 == 0 || i % 4 == 3 ? 0.1 : -0.1;
    population_open(&p, problem, data, "{alpha: {prior: {normal: [0, 1]}}}", 300);
    idm_assessment *a = assess(&p);
    print_notes(&a->misfits);
    print_notes(&a->remarks);
    assert_int_equal(support_mentions(&a->misfits, "observations after `monitor`"), wrong);
    assert_int_equal(a->checks.of[IDM_CHECK_LATTICE].outcome, IDM_CHECK_PASSED);
    assert_true(a->finer_shift && a->finer > a->resolution);
    assert_true(a->checks.of[IDM_CHECK_SENSITIVITY].value > 0);
    assert_true(a->checks.of[IDM_CHECK_DEPENDS].outcome >= IDM_CHECK_PASSED);
    assert_true(support_mentions(&a->remarks, "sensitivity of log_alpha_coefficient[Intercept]"));
    assert_false(support_mentions(&a->remarks, "sensitivity of log_alpha_sd"));
    idm_assessment_destroy(a);
    population_close(&p);
  }
}

/* A lattice of resolution 4 is too coarse for all people, and therefore for the mean. */
static void a_coarse_lattice_fails(void **state)
{
  (void)state;
  static const double alpha[6] = {0.5, 0.5, 0.6, 0.4, 0.5, 0.7};
  population p;
  idm_problem *problem = support_diag(0.5, 1.25, 0);
  problem->agent.resolution = 60;
  problem->agent.evaluate = IDM_INTERPOLATE;
  idm_data *data = simulate_agents(problem, alpha, 6, 30, 20, 4);
  problem->agent.resolution = 4;
  population_open(&p, problem, data, "{alpha: {prior: {normal: [0, 1]}}}", 200);
  idm_assessment *a = assess(&p);
  print_notes(&a->failures);
  assert_int_equal(a->checks.of[IDM_CHECK_LATTICE].outcome, IDM_CHECK_FAILED);
  assert_true(support_mentions(&a->failures, "a lattice of resolution"));
  assert_false(a->trusted);
  idm_assessment_destroy(a);
  population_close(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(draws_stand_under_their_names),
      cmocka_unit_test(formulas_that_differ_have_axes_of_their_own),
      cmocka_unit_test(shrinkage_is_the_pooling_factor),
      cmocka_unit_test(people_whose_draws_disagree_are_named),
      cmocka_unit_test(slips_that_are_not_modelled_are_named),
      cmocka_unit_test(environment_and_lattice_are_checked),
      cmocka_unit_test(a_coarse_lattice_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
