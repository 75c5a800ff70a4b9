/* Pooled coefficients: groups of people against an exact reference.
 *
 * A comparison fails by chance where a mean is 4.5 of its standard errors away: 7 in a million. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "invert/people/people_support.h"
#include "invert/people/reference_support.h"

enum { GROUPS = 3, LEVELS = 81, SPREADS = 60, SDS = 50, VALUES = 141, UNITS = 41 };

static const double centre = -0.2;
static const double width = 1.2;

static size_t group_of(size_t person)
{
  return person % GROUPS;
}

/* An intercept and a pooled effect a group, each half-normal(width/2) in spread and in sd. */
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

/* --- the reference -------------------------------------------------------------------------- */

typedef struct exact {
  reference_law level;
  reference_law spread;
  reference_law sd;
  reference_law value; /* of the first group */
  double *log_group;   /* [sd][group][value]: people integrated out */
} exact;

/* log of a group's likelihood at a value, by straight lines. */
static double at(const exact *e, size_t sd, size_t group, double value)
{
  const double place = fmin(fmax((value - e->value.low) / e->value.step, 0), VALUES - 1.000001);
  const size_t k = (size_t)place;
  const double *v = e->log_group + (sd * GROUPS + group) * VALUES + k;
  return v[0] + (place - (double)k) * (v[1] - v[0]);
}

static double unit(size_t j)
{
  return -6 + 12 * (double)j / (UNITS - 1);
}

/* The integral of a group's likelihood over its value, level and spread given. */
static double integrate(const exact *e, size_t sd, size_t group, double level, double spread)
{
  double sum = 0;
  for (size_t j = 0; j < UNITS; j++)
    sum += exp(at(e, sd, group, level + spread * unit(j)) - 0.5 * unit(j) * unit(j));
  return sum;
}

static void add_value(exact *e, size_t sd, double level, double spread, double weight)
{
  const double sum = integrate(e, sd, 0, level, spread);
  for (size_t j = 0; j < UNITS; j++) {
    const double value = level + spread * unit(j);
    const double share = exp(at(e, sd, 0, value) - 0.5 * unit(j) * unit(j)) / sum;
    const double place = fmin(fmax((value - e->value.low) / e->value.step, 0), VALUES - 1.000001);
    const size_t k = (size_t)place;
    e->value.mass[k] += weight * share * (1 - (place - (double)k));
    e->value.mass[k + 1] += weight * share * (place - (double)k);
  }
}

static void tabulate_groups(const idm_problem *problem, const idm_data *data, exact *e)
{
  reference_table t;
  double most[GROUPS];
  reference_tabulate(problem, data, centre - 6 * width, centre + 6 * width, &t);
  for (size_t g = 0; g < GROUPS; g++) most[g] = -INFINITY;
  for (size_t i = 0; i < SDS * GROUPS * VALUES; i++) {
    const size_t g = i / VALUES % GROUPS;
    for (size_t k = 0; k < data->agent_name.count; k++)
      if (group_of(k) == g)
        e->log_group[i] += reference_marginal(&t, k, reference_place(&e->value, i % VALUES),
                                              reference_place(&e->sd, i / (GROUPS * VALUES)));
    most[g] = fmax(most[g], e->log_group[i]);
  }
  for (size_t i = 0; i < SDS * GROUPS * VALUES; i++) e->log_group[i] -= most[i / VALUES % GROUPS];
  free(t.value);
}

static void add_place(exact *e, size_t sd, size_t spread, size_t level)
{
  const double m = reference_place(&e->level, level), tau = reference_place(&e->spread, spread);
  const double sigma = reference_place(&e->sd, sd);
  double weight = exp(-0.5 * pow((m - centre) / width, 2) - 2 * pow(tau / width, 2) -
                      2 * pow(sigma / width, 2));
  for (size_t g = 0; g < GROUPS; g++) weight *= integrate(e, sd, g, m, tau);
  e->level.mass[level] += weight;
  e->spread.mass[spread] += weight;
  e->sd.mass[sd] += weight;
  add_value(e, sd, m, tau, weight);
}

static void make_exact(const idm_problem *problem, const idm_data *data, exact *e)
{
  /* Midpoints: the densities do not vanish at 0. */
  const double most = 2 * width;
  e->level = reference_law_of(centre - 3 * width, centre + 3 * width, LEVELS);
  e->spread = reference_law_of(most / SPREADS / 2, most - most / SPREADS / 2, SPREADS);
  e->sd = reference_law_of(most / SDS / 2, most - most / SDS / 2, SDS);
  e->value = reference_law_of(centre - 4 * width, centre + 4 * width, VALUES);
  e->log_group = idm_new(SDS * GROUPS * VALUES, sizeof *e->log_group);
  tabulate_groups(problem, data, e);
  for (size_t i = 0; i < (size_t)SDS * SPREADS * LEVELS; i++)
    add_place(e, i / (SPREADS * LEVELS), i / LEVELS % SPREADS, i % LEVELS);
  reference_normalise(&e->level);
  reference_normalise(&e->spread);
  reference_normalise(&e->sd);
  reference_normalise(&e->value);
}

static void free_exact(exact *e)
{
  free(e->level.mass);
  free(e->spread.mass);
  free(e->sd.mass);
  free(e->value.mass);
  free(e->log_group);
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

/* People of three groups whose means are `apart` and who are `sd` around them. */
static void compare(size_t people, double apart, double sd, size_t decisions)
{
  idm_problem *problem = support_diag(0.5, 2, 0);
  check(idm_problem_free(problem, "alpha", &support_error));
  problem->agent.resolution = 20;
  double *x = idm_new(people, sizeof *x);
  idm_random random;
  idm_random_init(&random, 6, 1);
  for (size_t i = 0; i < people; i++)
    x[i] = apart * ((double)group_of(i) - 1) + sd * idm_random_normal(&random);
  idm_data *data = support_people(problem, people, x, decisions, 12);
  idm_design *design = make_design(data);
  exact e;
  make_exact(problem, data, &e);
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
  free_exact(&e);
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

/* Two funnels, one in the other. */
static void equal_people_in_equal_groups_agree(void **state)
{
  (void)state;
  compare(9, 0, 0, 20);
}

/* One person a group: spread and sd are known as a sum. */
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
