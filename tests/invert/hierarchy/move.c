/* Tests pooled coefficients of groups of people against quadrature.
 *
 * A comparison fails if a mean is 4.5 standard errors away, by chance with probability 7e-6. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "invert/people/people_support.h"
#include "invert/people/reference_support.h"

enum { GROUPS = REFERENCE_GROUPS };

static const double centre = -0.2;
static const double width = 1.2;

static size_t group_of(size_t person)
{
  return person % GROUPS;
}

/* An intercept and a pooled effect per group; their spread and the sd of people are
 * half-normal(width/2). */
static idm_design *make_design(const idm_data *data)
{
  idm_design *d = support_design(data, 1, GROUPS, &centre, &width);
  d->pooled = GROUPS;
  d->spread_scale = idm_new(1, sizeof *d->spread_scale);
  assert_non_null(d->spread_scale);
  d->spread_scale[0] = width / 2;
  for (size_t i = 0; i < d->people; i++) d->regressor[0][i * (1 + GROUPS) + 1 + group_of(i)] = 1;
  return d;
}

/* --- tests ---------------------------------------------------------------------------------- */

static void agrees(const char *what, const idm_people *p, const double *series,
                   const reference_law *law)
{
  idm_diagnosis d;
  check(idm_diagnose(series, p->chains, p->draws, p->draws, 1, &d, &support_error));
  const double mean = reference_mean(law), sd = reference_sd(law);
  print_message("  %s: %.4f (%.4f), exactly %.4f (%.4f); R-hat %.3f, ESS %.0f\n", what, d.mean,
                d.sd, mean, sd, d.rhat, d.ess_bulk);
  assert_true(d.rhat < 1.02 && d.ess_bulk > 400);
  assert_true(fabs(d.mean - mean) < 4.5 * d.mcse_mean);
  assert_true(fabs(d.sd - sd) < 4.5 * d.mcse_sd);
}

/* People of three groups whose means differ by `apart`, with the sd `sd` within groups. */
static void compare(size_t people, double apart, double sd, size_t decisions)
{
  idm_problem *problem = support_diag(0.5, 2, 0);
  check(idm_problem_set_free(problem, "alpha", &support_error));
  problem->agent.resolution = 20;
  double *x = idm_new(people, sizeof *x);
  idm_random random;
  idm_random_init(&random, 6, 1);
  for (size_t i = 0; i < people; i++)
    x[i] = apart * ((double)group_of(i) - 1) + sd * idm_random_normal(&random);
  idm_data *data = support_people(problem, people, x, decisions, 12);
  idm_design *design = make_design(data);
  reference_groups e;
  reference_groups_make(problem, data, centre, width, &e);
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.warmup = 250;
  settings.draws = 1000;
  settings.threads = 1;
  idm_people *p;
  check(idm_people_fit(problem, data, design, &settings, NULL, &p, NULL, &support_error));
  const size_t all = p->chains * p->draws;
  double *value = idm_new(all, sizeof *value);
  for (size_t i = 0; i < all; i++) value[i] = p->coefficient[i] + p->coefficient[all + i];
  agrees("level", p, p->coefficient, &e.level);
  agrees("spread", p, p->spread, &e.spread);
  agrees("sd", p, p->sd, &e.sd);
  agrees("a group", p, value, &e.value);
  idm_people_destroy(p);
  reference_groups_free(&e);
  idm_design_destroy(design);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  free(value);
  free(x);
}

static void groups_of_people_agree_with_quadrature(void **state)
{
  (void)state;
  compare(12, 0.8, 0.4, 40);
}

/* A funnel of people within a funnel of groups. */
static void equal_people_in_equal_groups_agree(void **state)
{
  (void)state;
  compare(9, 0, 0, 20);
}

/* With one person per group, only the sum of the variances is identified. */
static void groups_of_one_agree(void **state)
{
  (void)state;
  compare(GROUPS, 0.8, 0.4, 60);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_of_people_agree_with_quadrature),
      cmocka_unit_test(equal_people_in_equal_groups_agree),
      cmocka_unit_test(groups_of_one_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
