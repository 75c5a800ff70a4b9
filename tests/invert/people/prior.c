/* Tests which parameters of a population are reported as determined by the prior or in conflict
 * with it, on draws of known mean and sd. */
#include "invert/people/people.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/people/covariates_support.h"

enum { DRAWS = 1000 };

/* Evenly spaced values of the given mean and sd. */
static void spread(double *x, double mean, double sd)
{
  for (size_t i = 0; i < DRAWS; i++)
    x[i] = mean + sqrt(12) * sd * (((double)i + 0.5) / DRAWS - 0.5);
}

static idm_people *made_up(const idm_design *d, double narrower)
{
  idm_people *p = calloc(1, sizeof *p);
  assert_non_null(p);
  *p = (idm_people){.chains = 1, .draws = DRAWS, .people = d->people, .effects = d->effects};
  p->coefficient_first = calloc(d->effects + 1, sizeof *p->coefficient_first);
  assert_non_null(p->coefficient_first);
  for (size_t e = 0; e < d->effects; e++)
    p->coefficient_first[e + 1] = p->coefficient_first[e] + d->coefficients[e];
  p->coefficient = calloc(p->coefficient_first[d->effects] * DRAWS, sizeof *p->coefficient);
  p->sd = calloc(d->effects * DRAWS, sizeof *p->sd);
  p->correlation = calloc(d->effects * (d->effects - 1) / 2 * DRAWS, sizeof *p->correlation);
  assert_non_null(p->correlation);
  assert_non_null(p->coefficient);
  assert_non_null(p->sd);
  for (size_t e = 0; e < d->effects; e++) {
    for (size_t k = 0; k < d->coefficients[e]; k++)
      spread(p->coefficient + (p->coefficient_first[e] + k) * DRAWS, d->coefficient_mean[e][k],
             narrower * d->coefficient_sd[e][k]);
    spread(p->sd + e * DRAWS, d->sd_scale[e], narrower * sqrt(1 - 2 / acos(-1)) * d->sd_scale[e]);
  }
  /* One pair, whose correlation has a beta prior on (-1, 1). */
  spread(p->correlation, 0, narrower / sqrt(2 * d->correlation + 1));
  return p;
}

static void free_people(idm_people *p)
{
  free(p->coefficient_first);
  free(p->coefficient);
  free(p->sd);
  free(p->correlation);
  free(p);
}

static idm_assessment judged(double narrower, size_t number, double off)
{
  idm_problem *problem = covariates_problem();
  idm_design *d =
      covariates_design(problem, covariates_log, "agent", "alpha ~ drug + age", NULL, NULL);
  assert_non_null(d);
  idm_people *p = made_up(d, narrower);
  for (size_t i = 0; i < DRAWS; i++)
    p->coefficient[number * DRAWS + i] += off * d->coefficient_sd[0][number];
  idm_assessment a = {.checks.kind = IDM_CHECK_POPULATION};
  idm_test_population(d, p, &a);
  free_people(p);
  idm_design_destroy(d);
  idm_problem_destroy(problem);
  return a;
}

static idm_notes said_of(double narrower, size_t number, double off)
{
  idm_assessment a = judged(narrower, number, off);
  assert_int_equal(a.misfits.count, 0);
  return a.remarks;
}

static void what_data_narrowed_is_not_told(void **state)
{
  (void)state;
  idm_notes none = said_of(0.7, 0, 0);
  assert_int_equal(none.count, 0);
  idm_notes_clear(&none);
}

static void what_only_the_prior_says_is_told_by_name(void **state)
{
  (void)state;
  idm_notes said = said_of(0.72, 0, 0);
  assert_int_equal(said.count, 1);
  assert_non_null(strstr(said.text[0], "on 7 of 7 numbers of the population"));
  assert_non_null(strstr(said.text[0],
                         "Intercept of log_alpha, drug[T.yes] of log_alpha, age of "
                         "log_alpha, sd of log_alpha, Intercept of inverse_beta, sd of "
                         "inverse_beta, correlation of log_alpha and inverse_beta"));
  idm_notes_clear(&said);
}

static void a_prior_that_people_contradict_is_told(void **state)
{
  (void)state;
  idm_notes said = said_of(0.1, 2, -2.1);
  assert_int_equal(said.count, 1);
  assert_non_null(strstr(said.text[0], "prior and people disagree about age of log_alpha: "));
  idm_notes_clear(&said);
  said = said_of(0.1, 2, -1.9);
  assert_int_equal(said.count, 0);
  idm_notes_clear(&said);
}

/* Four prior sds away with a posterior sd of half the prior's, the prior shifts the mean by 4 * 0.5
 * / 0.75 posterior sds. With a twentieth the shift is negligible. */
static void a_prior_that_holds_people_off_is_a_misfit(void **state)
{
  (void)state;
  for (int pulled = 0; pulled < 2; pulled++) {
    idm_assessment a = judged(pulled ? 0.5 : 0.05, 2, -4);
    const idm_check_result *result = &a.checks.of[IDM_CHECK_PRIOR_PULL];
    assert_int_equal(result->outcome, pulled ? IDM_CHECK_MISFIT : IDM_CHECK_PASSED);
    assert_int_equal(a.misfits.count, pulled);
    if (pulled) {
      assert_near(result->value, 4 / sqrt(0.75), 1e-3);
      assert_non_null(strstr(a.misfits.text[0], "the prior of age of log_alpha contradicts"));
      assert_non_null(strstr(a.misfits.text[0], "moves it by 2.7 posterior sds"));
    }
    idm_notes_clear(&a.misfits);
    idm_notes_clear(&a.remarks);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_data_narrowed_is_not_told),
      cmocka_unit_test(what_only_the_prior_says_is_told_by_name),
      cmocka_unit_test(a_prior_that_people_contradict_is_told),
      cmocka_unit_test(a_prior_that_holds_people_off_is_a_misfit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
