/* Tests the checks of draws: parameters of people, tails, chains at separate modes, and normal
 * approximations, on draws of known distributions. */
#include "invert/assess/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/posterior.h"
#include "support.h"

/* --- people --------------------------------------------------------------------------------- */

/* Two chains of 400 draws: one population parameter, then one parameter of each of four people. The
 * chains of the last person are at separate values. */
static idm_posterior *made_up(void)
{
  idm_posterior *p = calloc(1, sizeof *p);
  idm_labels person = {0};
  idm_random random;
  assert_non_null(p);
  idm_random_init(&random, 3, 0);
  p->answer = IDM_POSTERIOR;
  p->chains = 2;
  p->draws = 400;
  SUPPORT_NAMES(&p->quantity, "log_alpha_sd", "", "", "", "");
  p->summarised = calloc(5, sizeof *p->summarised);
  p->value = malloc(5 * 800 * sizeof *p->value);
  p->statistics = calloc(800, sizeof *p->statistics);
  assert_true(p->summarised && p->value && p->statistics);
  p->summarised[0] = true;
  for (size_t i = 0; i < 5 * 800; i++) p->value[i] = idm_random_normal(&random);
  for (size_t i = 0; i < 400; i++) p->value[4 * 800 + i] += 3;
  for (size_t i = 0; i < 800; i++) p->statistics[i].energy = NAN;
  SUPPORT_NAMES(&person, "ann", "bob", "cyd", "dan");
  check(idm_posterior_add_axis(p, "person", &person, &support_error));
  check(idm_posterior_add_series(p, "log_alpha", 0, 1, &support_error));
  idm_labels_destroy(&person);
  return p;
}

static void people_are_judged_together(void **state)
{
  (void)state;
  idm_posterior *p = made_up();
  idm_assessment *a;
  assert_false(idm_is_of_person(p, 0));
  for (size_t i = 1; i < 5; i++) assert_true(idm_is_of_person(p, i));
  assert_string_equal(p->quantity.name[4], "log_alpha[dan]");
  check(idm_assess_draws(p, &a, &support_error));
  assert_true(idm_person_draws_suffice(&a->diagnosis[1], 2));
  assert_false(idm_person_draws_suffice(&a->diagnosis[4], 2));
  assert_int_equal(a->failures.count, 1);
  assert_non_null(strstr(a->failures.text[0], "log alpha are not enough for 1 of 4 people, least "
                                              "for 'dan'"));
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
}

/* Tails of people's parameters are estimated, and a remark counts the heavy ones. The tail index k
 * is 1 for Student's t with one degree of freedom, and 0 for a normal distribution. */
static void heavy_tails_of_people_are_counted(void **state)
{
  (void)state;
  idm_posterior *p = made_up();
  idm_assessment *a;
  idm_random random;
  idm_random_init(&random, 4, 0);
  for (size_t i = 0; i < 800; i++)
    p->value[2 * 800 + i] = idm_random_normal(&random) / idm_random_normal(&random);
  check(idm_assess_draws(p, &a, &support_error));
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(idm_diagnosis_heavy_tailed(&a->diagnosis[i]), i == 2);
  assert_true(support_mentions(&a->remarks,
                               "1 number of people has a mean and an sd that depend on "
                               "few draws"));
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
}

/* With a tail index k of 0.6 the mean exists and the sd does not; the sd check gives a remark. With
 * k of 1.3 the mean check fails. */
static void an_sd_goes_before_the_mean(void **state)
{
  (void)state;
  static const double shape[] = {0.3, 0.6, 1.3};
  for (size_t k = 0; k < 3; k++) {
    idm_posterior *p = made_up();
    idm_assessment *a;
    /* Quantiles of a generalised Pareto distribution, in an order without autocorrelation. */
    for (size_t i = 0; i < 800; i++)
      p->value[i] = pow(1 - ((double)(i * 331 % 800) + 0.5) / 800, -shape[k]);
    check(idm_assess_draws(p, &a, &support_error));
    assert_near(a->diagnosis[0].tail, shape[k], 0.1);
    assert_int_equal(idm_diagnosis_heavy_tailed(&a->diagnosis[0]), k > 0);
    assert_int_equal(a->checks.of[IDM_CHECK_SD].outcome,
                     k > 0 ? IDM_CHECK_REMARK : IDM_CHECK_PASSED);
    assert_int_equal(a->checks.of[IDM_CHECK_MEAN].outcome,
                     k == 2 ? IDM_CHECK_FAILED : IDM_CHECK_PASSED);
    assert_int_equal(support_mentions(&a->remarks, "the sd of log_alpha_sd depends on"), k == 1);
    idm_assessment_destroy(a);
    idm_posterior_destroy(p);
  }
}

/* --- chains --------------------------------------------------------------------------------- */

/* Chains at separate values are distinguished from chains that mix. */
static void test_places_of_chains(void **state)
{
  (void)state;
  enum { CHAINS = 3, DRAWS = 50 };
  double value[CHAINS * DRAWS];
  idm_posterior p = {.chains = CHAINS, .draws = DRAWS, .value = value};
  char places[80];
  idm_random random;
  idm_random_init(&random, 1, 0);
  for (size_t i = 0; i < CHAINS * DRAWS; i++) value[i] = idm_random_normal(&random);
  assert_false(idm_chains_separate(&p, 0, places, sizeof places));
  for (size_t i = 0; i < DRAWS; i++) value[2 * DRAWS + i] = 57 + 0.001 * value[i];
  assert_true(idm_chains_separate(&p, 0, places, sizeof places));
  assert_non_null(strstr(places, " and 57"));
  char little[8];
  assert_true(idm_chains_separate(&p, 0, little, sizeof little));
}

/* --- a normal approximation ----------------------------------------------------------------- */

enum { CHAINS = 4, DRAWS = 500, ALL = CHAINS * DRAWS };

/* Log density as a function of the squared distance from the mode and of the first coordinate. */
typedef double density(double square, double x);

static double normal(double square, double x)
{
  (void)x;
  return -0.5 * square;
}

/* Cauchy: tails heavier than those of the normal approximation. */
static double cauchy(double square, double x)
{
  (void)x;
  return -1.5 * log1p(square);
}

/* A normal with a quarter of the sd: the approximation is too wide, and few draws are effective. */
static double narrow(double square, double x)
{
  (void)x;
  return -8 * square;
}

/* The normal truncated to x > 1. */
static double half(double square, double x)
{
  return x > 1 ? -0.5 * square : -INFINITY;
}

/* Independent normal draws of two parameters, whose posterior log density is `log_density`. */
static idm_assessment *weighed(const char *inverse, density *log_density)
{
  idm_posterior *p = calloc(1, sizeof *p);
  assert_non_null(p);
  p->answer = IDM_POSTERIOR;
  p->chains = CHAINS;
  p->draws = DRAWS;
  snprintf(p->inverse, sizeof p->inverse, "%s", inverse);
  support_names(&p->quantity, (const char *const[]){"a", "b"}, 2);
  support_names(&p->coordinate, (const char *const[]){"a", "b"}, 2);
  p->summarised = calloc(2, sizeof *p->summarised);
  p->value = calloc(2 * ALL, sizeof *p->value);
  p->unconstrained = calloc(2 * ALL, sizeof *p->unconstrained);
  p->statistics = calloc(ALL, sizeof *p->statistics);
  assert_true(p->summarised && p->value && p->unconstrained && p->statistics);
  p->summarised[0] = p->summarised[1] = true;
  idm_random random;
  idm_random_init(&random, 8, 0);
  for (size_t i = 0; i < ALL; i++) {
    const double x = idm_random_normal(&random), y = idm_random_normal(&random);
    p->value[i] = p->unconstrained[i] = 1e3 + 10 * x;
    p->value[ALL + i] = p->unconstrained[ALL + i] = 0.1 * (x + y);
    p->statistics[i].log_density = 55 + log_density(x * x + y * y, x);
    p->statistics[i].energy = NAN;
  }
  idm_assessment *a;
  check(idm_assess_draws(p, &a, &support_error));
  idm_posterior_destroy(p);
  return a;
}

/* A log density that differs from the normal of the draws by about 1e-9: weights are equal, and the
 * tail index of their remainders is ignored. */
static void test_equal_weights(void **state)
{
  (void)state;
  idm_posterior p = {
      .answer = IDM_POSTERIOR, .chains = CHAINS, .draws = DRAWS, .inverse = "laplace"};
  static double value[ALL];
  static idm_statistics statistics[ALL];
  static bool summarised[1] = {true};
  double mean = 0, variance = 0;
  idm_random random;
  idm_random_init(&random, 9, 0);
  for (size_t i = 0; i < ALL; i++) mean += (value[i] = idm_random_normal(&random)) / ALL;
  for (size_t i = 0; i < ALL; i++) variance += pow(value[i] - mean, 2) / (ALL - 1);
  for (size_t i = 0; i < ALL; i++) {
    const double square = pow(value[i] - mean, 2) / variance;
    statistics[i].log_density = -4 - 0.5 * square + 1e-9 * exp(square);
    statistics[i].energy = NAN;
  }
  p.value = p.unconstrained = value;
  p.statistics = statistics;
  p.summarised = summarised;
  SUPPORT_NAMES(&p.quantity, "a");
  SUPPORT_NAMES(&p.coordinate, "a");
  idm_assessment *a;
  check(idm_assess_draws(&p, &a, &support_error));
  assert_true(a->trusted);
  assert_int_equal(a->checks.of[IDM_CHECK_APPROXIMATION].outcome, IDM_CHECK_PASSED);
  assert_near(a->checks.of[IDM_CHECK_APPROXIMATION].value, 1, 1e-9);
  idm_assessment_destroy(a);
  idm_labels_destroy(&p.quantity);
  idm_labels_destroy(&p.coordinate);
}

static void test_weights(void **state)
{
  (void)state;
  density *const densities[] = {normal, cauchy, narrow, half};
  for (size_t i = 0; i < 4; i++) {
    idm_assessment *a = weighed("laplace", densities[i]);
    assert_int_equal(a->trusted, i == 0);
    if (i) assert_non_null(strstr(a->failures.text[0], "use --inverse bayes"));
    idm_assessment_destroy(a);
    /* Draws by chains are from the posterior itself and need no importance weights. */
    a = weighed("bayes", densities[i]);
    assert_true(a->trusted);
    idm_assessment_destroy(a);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(people_are_judged_together),
                                     cmocka_unit_test(heavy_tails_of_people_are_counted),
                                     cmocka_unit_test(an_sd_goes_before_the_mean),
                                     cmocka_unit_test(test_places_of_chains),
                                     cmocka_unit_test(test_weights),
                                     cmocka_unit_test(test_equal_weights)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
