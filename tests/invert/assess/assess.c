/* Tests the verdict on valid draws, invalid draws, single chains, divergences and point estimates,
 * against diagnostics computed separately. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/assess/context.h"
#include "support.h"

enum { CHAINS = 4, DRAWS = 500, ALL = CHAINS * DRAWS };

/* --- made-up draws -------------------------------------------------------------------------- */

/* Two quantities of independent normal draws, the second not summarised; chain c is shifted by
 * shift * c. */
static idm_posterior *make_posterior(size_t chains, double shift)
{
  idm_posterior *p = calloc(1, sizeof *p);
  assert_non_null(p);
  p->answer = IDM_POSTERIOR;
  p->chains = chains;
  p->draws = DRAWS;
  support_names(&p->quantity, (const char *const[]){"inverse_beta", "beta"}, 2);
  p->summarised = calloc(2, sizeof *p->summarised);
  p->value = calloc(2 * ALL, sizeof *p->value);
  p->statistics = calloc(ALL, sizeof *p->statistics);
  assert_true(p->summarised && p->value && p->statistics);
  p->summarised[0] = true;
  idm_random random;
  idm_random_init(&random, 21, 0);
  const size_t all = chains * DRAWS;
  for (size_t i = 0; i < all; i++) {
    const size_t chain = i / DRAWS;
    p->value[i] = idm_random_normal(&random) + shift * (double)chain;
    /* Cauchy: it has no mean, which does not affect the verdict on the other quantity. */
    p->value[all + i] =
        idm_random_normal(&random) / idm_random_normal(&random) + 100 * (double)chain;
    p->statistics[i].energy = NAN;
  }
  return p;
}

static idm_assessment *assess(const idm_posterior *p)
{
  idm_assessment *a;
  check(idm_assess_draws(p, &a, &support_error));
  char failing[200];
  assert_int_equal(a->trusted, a->failures.count == 0);
  assert_int_equal(a->trusted, !*support_failing(&a->checks, failing, sizeof failing));
  support_check_listed(&a->checks);
  assert_false(a->identified);
  return a;
}

static void test_good_draws(void **state)
{
  (void)state;
  idm_posterior *p = make_posterior(CHAINS, 0);
  idm_assessment *a = assess(p);
  assert_true(a->trusted);
  assert_int_equal(a->quantities, 2);
  for (size_t i = 0; i < 2; i++) {
    idm_diagnosis d;
    check(idm_diagnose(p->value + i * ALL, CHAINS, DRAWS, DRAWS, 1, &d, &support_error));
    assert_memory_equal(&d, &a->diagnosis[i], offsetof(idm_diagnosis, tail));
  }
  assert_true(a->diagnosis[1].rhat >
              idm_check_threshold(IDM_CHECK_RHAT)); /* not summarised: not checked */
  assert_true(isnan(a->ebfmi) && a->divergences == 0 && a->ridge == 1);
  idm_assessment_destroy(a);
  idm_assessment_destroy(NULL);
  idm_posterior_destroy(p);
}

static void test_bad_draws(void **state)
{
  (void)state;
  idm_posterior *p = make_posterior(CHAINS, 0.5);
  idm_assessment *a = assess(p);
  assert_false(a->trusted);
  assert_true(support_mentions(&a->failures, "the chains disagree about 1/beta"));
  assert_true(support_mentions(&a->failures, "too few effective draws of 1/beta"));
  idm_assessment_destroy(a);
  /* Strongly autocorrelated draws: each value ten times in a row. */
  idm_posterior_destroy(p);
  p = make_posterior(CHAINS, 0);
  for (size_t i = 0; i < ALL; i++) p->value[i] = p->value[i - i % 10];
  a = assess(p);
  assert_true(support_mentions(&a->failures, "too few effective draws of 1/beta"));
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
}

static void test_one_chain(void **state)
{
  (void)state;
  idm_posterior *p = make_posterior(1, 0);
  idm_assessment *a = assess(p);
  assert_false(a->trusted);
  assert_true(support_mentions(&a->failures, "one chain alone"));
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
}

static void test_divergences_and_energy(void **state)
{
  (void)state;
  idm_posterior *p = make_posterior(CHAINS, 0);
  p->statistics[3].diverging = p->statistics[1700].diverging = true;
  idm_random random;
  idm_random_init(&random, 22, 0);
  /* Energies of the last chain are strongly autocorrelated. E-BFMI is the mean squared step divided
   * by the variance. */
  double least = INFINITY;
  for (size_t c = 0; c < CHAINS; c++) {
    double energy[DRAWS], walk = 0;
    for (size_t i = 0; i < DRAWS; i++) {
      walk = 0.95 * walk + idm_random_normal(&random);
      energy[i] = c + 1 < CHAINS ? idm_random_normal(&random) : walk;
      p->statistics[c * DRAWS + i].energy = energy[i];
    }
    least = fmin(least, idm_ebfmi(energy, DRAWS));
  }
  idm_assessment *a = assess(p);
  assert_int_equal(a->divergences, 2);
  assert_true(support_mentions(&a->failures, "2 draws diverged"));
  assert_near(a->ebfmi, least, 1e-12);
  assert_true(a->ebfmi < idm_check_threshold(IDM_CHECK_ENERGY));
  assert_true(support_mentions(&a->remarks, "the energy mixes slowly"));
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
}

/* One draw of a summarised quantity that is not finite fails the check. Large finite draws of a
 * point estimate pass. */
static void test_not_finite(void **state)
{
  (void)state;
  const double bad[] = {INFINITY, -INFINITY, NAN, 1e308};
  for (size_t i = 0; i < 4; i++)
    for (int point = 0; point < 2; point++) {
      idm_posterior *p = make_posterior(CHAINS, 0);
      if (point) p->answer = IDM_POINT;
      p->value[77] = bad[i];
      if (i == 3) p->value[78] = bad[i];
      idm_assessment *a = assess(p);
      assert_int_equal(a->trusted, point && i == 3);
      if (i < 3) assert_true(support_mentions(&a->failures, "not finite"));
      idm_assessment_destroy(a);
      /* The same values in a quantity that is not summarised do not affect the verdict. */
      p->value[ALL + 77] = bad[i];
      p->value[77] = p->value[78] = 0;
      a = assess(p);
      assert_true(a->trusted);
      idm_assessment_destroy(a);
      idm_posterior_destroy(p);
    }
}

static void test_heavy_tails(void **state)
{
  (void)state;
  for (int side = -1; side <= 1; side += 2) {
    idm_posterior *p = make_posterior(CHAINS, 0);
    for (size_t i = 0; i < ALL; i++) p->value[i] = side * exp(5 * p->value[i]);
    idm_assessment *a = assess(p);
    assert_true(
        support_mentions(&a->failures, "the mean of 1/beta depends on its few largest draws"));
    idm_assessment_destroy(a);
    /* A parameter within [0, 1] has a mean, whatever its draws. */
    static const char *const fractions[] = {"lapse", "learning_rate_gain", "action_prior[a]"};
    for (size_t k = 0; k < 3; k++) {
      check(idm_labels_set(&p->quantity, 0, fractions[k], strlen(fractions[k]), &support_error));
      a = assess(p);
      assert_false(support_mentions(&a->failures, "depends on its few largest draws"));
      idm_assessment_destroy(a);
    }
    idm_posterior_destroy(p);
  }
}

/* --- rows ----------------------------------------------------------------------------------- */

/* Checks that the assessment of these draws fails the named checks and no other. */
static void expect_failing(const idm_posterior *p, const char *names)
{
  char failing[200];
  idm_assessment *a = assess(p);
  if (strcmp(support_failing(&a->checks, failing, sizeof failing), names) != 0)
    fail_msg("'%s' fail, expected '%s'", failing, names);
  idm_assessment_destroy(a);
}

/* Draws with one defect fail the check of that defect. */
static void test_broken_in_one_way(void **state)
{
  (void)state;
  idm_posterior *p = make_posterior(CHAINS, 0);
  expect_failing(p, "");
  p->statistics[9].diverging = true;
  expect_failing(p, "divergences");
  p->statistics[9].diverging = false;
  /* One chain has a smaller spread: locations agree, spreads do not. */
  for (size_t i = 0; i < DRAWS; i++) p->value[i] *= 0.7;
  expect_failing(p, "r-hat");
  idm_posterior_destroy(p);
  p = make_posterior(1, 0);
  expect_failing(p, "one-chain");
  idm_posterior_destroy(p);
  p = make_posterior(CHAINS, 0);
  for (size_t i = 0; i < ALL; i++) p->value[i] = exp(5 * p->value[i]);
  expect_failing(p, "mean-exists");
  /* Every draw is repeated six times, and all halves of chains are equal, so that they agree. */
  idm_posterior_destroy(p);
  p = make_posterior(CHAINS, 0);
  for (size_t i = ALL; i-- > 0;) {
    const size_t place = i % (DRAWS / 2);
    p->value[i] = p->value[place - place % 6];
  }
  expect_failing(p, "effective-draws");
  idm_posterior_destroy(p);
  p = make_posterior(CHAINS, 0);
  p->answer = IDM_POINT;
  p->value[3] = NAN;
  expect_failing(p, "finite");
  idm_posterior_destroy(p);
}

static void kinds_follow_from_the_answer(void **state)
{
  (void)state;
  idm_optimality optimality = {0};
  idm_series_axis person = {.name = "person"};
  char *plain = "log_alpha_mean", *within = "log_alpha_within[x]";
  const struct {
    idm_posterior p;
    idm_check_kind kind;
  } cases[] = {
      {{.answer = IDM_POSTERIOR, .inverse = "bayes"}, IDM_CHECK_FIT},
      {{.answer = IDM_POINT, .inverse = "map"}, IDM_CHECK_POINT},
      {{.answer = IDM_POSTERIOR, .optimality = &optimality}, IDM_CHECK_PREFERENCES},
      {{.answer = IDM_SET, .optimality = &optimality}, IDM_CHECK_PROGRAM},
      {{.answer = IDM_POINT, .inverse = "maximum-margin"}, IDM_CHECK_PROGRAM},
      {{.answer = IDM_POSTERIOR, .inverse = "preference-bayes"}, IDM_CHECK_PREFERENCES},
      {{.answer = IDM_POSTERIOR, .inverse = "bayes", .axes = 1, .axis = &person},
       IDM_CHECK_SEPARATE},
      {{.answer = IDM_POSTERIOR, .inverse = "people", .axes = 1, .axis = &person},
       IDM_CHECK_POPULATION},
      {{.answer = IDM_POSTERIOR, .inverse = "audit", .quantity = {1, &plain}}, IDM_CHECK_AUDIT},
      {{.answer = IDM_POSTERIOR, .inverse = "audit", .quantity = {1, &within}}, IDM_CHECK_NESTED},
      {{.answer = IDM_POSTERIOR, .inverse = "learn"}, IDM_CHECK_DYNAMICS},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_int_equal(idm_check_kind_of(&cases[i].p), cases[i].kind);
}

/* --- a fit ---------------------------------------------------------------------------------- */

static void test_a_fit(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 60;
  check(idm_problem_set_free(problem, "{beta: {scale: inverse}}", &support_error));
  const idm_simulation simulation = {.trajectories = 60, .seed = 2};
  idm_data *data = support_simulate(problem, simulation);
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.draws = settings.warmup = 200;
  for (size_t i = 0; idm_inverse_at(i); i++) {
    const idm_inverse *inverse = idm_inverse_at(i);
    idm_posterior *p;
    idm_assessment *a, *draws;
    if (idm_inverse_check(inverse, problem, data, NULL) != IDM_OK) continue;
    check(idm_inverse_fit(inverse, problem, data, &settings, NULL, &p, NULL, &support_error));
    check(idm_assess_monitored(problem, data, p, 1, NULL, &a, &support_error));
    check(idm_assess_draws(p, &draws, &support_error));
    support_check_listed(&a->checks);
    assert_int_equal(a->checks.kind,
                     inverse->answer == IDM_POSTERIOR ? IDM_CHECK_FIT : IDM_CHECK_POINT);
    assert_int_equal(a->checks.of[IDM_CHECK_LATTICE].outcome, IDM_CHECK_PASSED);
    assert_int_equal(a->checks.of[IDM_CHECK_CHANCE].outcome, IDM_CHECK_PASSED);
    assert_int_equal(draws->checks.of[IDM_CHECK_CHANCE].outcome, IDM_CHECK_NOT_RUN);
    /* The normal approximation does not fit the skewed posterior, which the independent importance
     * sample detects. */
    const bool normal = strcmp(inverse->name, "laplace") == 0;
    assert_true(a->trusted == !normal && a->identified);
    assert_true(support_mentions(&a->failures, "independent importance sample") == normal);
    assert_true(support_mentions(&a->failures, "use --inverse bayes") == normal);
    assert_int_equal(a->parameters, 1);
    assert_true(a->parameter[0].low < a->parameter[0].maximum);
    assert_true(a->parameter[0].high > a->parameter[0].maximum);
    assert_true(support_mentions(&a->remarks, a->parameter[0].sentence));
    assert_true(support_mentions(&a->remarks, "a lattice of resolution 120 instead of 60"));
    if (inverse->answer == IDM_POSTERIOR)
      assert_memory_equal(a->diagnosis, draws->diagnosis, 2 * sizeof *a->diagnosis);
    idm_assessment_destroy(a);
    idm_assessment_destroy(draws);
    /* Draws of parameters other than those now free are rejected. */
    const char *const others[] = {"alpha", "{beta: {scale: log}}", "beta, eta"};
    for (size_t k = 0; k < 3; k++) {
      check(idm_problem_set_free(problem, others[k], &support_error));
      assert_int_equal(idm_assess_monitored(problem, data, p, 1, NULL, &a, NULL), IDM_INPUT);
      assert_null(a);
    }
    check(idm_problem_set_free(problem, "{beta: {scale: inverse}}", &support_error));
    idm_posterior_destroy(p);
  }
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_good_draws),
      cmocka_unit_test(test_bad_draws),
      cmocka_unit_test(test_one_chain),
      cmocka_unit_test(test_divergences_and_energy),
      cmocka_unit_test(test_not_finite),
      cmocka_unit_test(test_heavy_tails),
      cmocka_unit_test(test_broken_in_one_way),
      cmocka_unit_test(kinds_follow_from_the_answer),
      cmocka_unit_test(test_a_fit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
