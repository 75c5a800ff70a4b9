/* Tests draws of audits against exact posteriors from tabulated likelihoods, summed over a grid of
 * level, spread, and standardised effects. Tolerances are five Monte Carlo errors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/audit/audit_support.h"

enum { LEVELS = 61, SPREADS = 60, UNITS = 61, MOST = 8 };
static const double prior_sd = 1.5;

/* --- sums ----------------------------------------------------------------------------------- */

/* Weighted sums of quantities and of their squares. */
typedef struct sums {
  double weight;
  double sum[MOST];
  double square[MOST];
} sums;

static void add(sums *s, double weight, const double *x, size_t count)
{
  s->weight += weight;
  for (size_t i = 0; i < count; i++) {
    s->sum[i] += weight * x[i];
    s->square[i] += weight * x[i] * x[i];
  }
}

static double mean(const sums *s, size_t i)
{
  return s->sum[i] / s->weight;
}

static double sd(const sums *s, size_t i)
{
  return sqrt(s->square[i] / s->weight - mean(s, i) * mean(s, i));
}

static void compare(const idm_audit_quantity *n, const sums *exact, size_t i)
{
  const idm_diagnosis *d = &n->diagnosis;
  assert_true(d->rhat < idm_check_threshold(IDM_CHECK_RHAT));
  assert_true(d->ess_bulk > idm_check_threshold(IDM_CHECK_EFFECTIVE));
  assert_near(d->mean, mean(exact, i), 5 * d->mcse_mean + 0.002);
  assert_near(d->sd / sd(exact, i), 1, 5 * d->mcse_sd / d->sd + 0.01);
}

/* Level and spread at point i of their grid, on a log scale of the spread. Returns their prior
 * density with the Jacobian. */
static double place_population(size_t i, double s, double *mu, double *tau)
{
  const double t = log(s / 2) - 6 + 7.5 * (double)(i / LEVELS) / (SPREADS - 1);
  *mu = -3.6 + 5.4 * (double)(i % LEVELS) / (LEVELS - 1);
  *tau = exp(t);
  return exp(t - 0.5 * *mu * *mu / (s * s) - 2 * *tau * *tau / (s * s));
}

/* --- a fixture ------------------------------------------------------------------------------ */

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
  idm_groups *groups;
  idm_audit *audit;
} fixture;

static fixture make(const char *const *opt_predicate, size_t count, idm_pool pool, long draws)
{
  fixture f = {.problem = audit_problem(prior_sd)};
  idm_audit_settings settings = audit_settings();
  settings.pool = pool;
  settings.fit.draws = draws;
  f.data = audit_data(f.problem, (const double[]){0.5, 0.8}, 2, 60);
  if (opt_predicate)
    check(idm_groups_where(f.data, opt_predicate, count, &f.groups, NULL, &support_error));
  else
    check(idm_groups_by(f.data, "site", &f.groups, NULL, &support_error));
  check(
      idm_audit_run(f.problem, f.data, f.groups, &settings, NULL, NULL, &f.audit, &support_error));
  return f;
}

static void unmake(fixture *f)
{
  idm_audit_destroy(f->audit);
  idm_groups_destroy(f->groups);
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
}

/* --- tests ---------------------------------------------------------------------------------- */

/* Two pooled groups: x_g = mu + tau z_g. Quantities: mu, tau, x_1, x_2, x_2 - x_1, and whether x_2
 * - x_1 is positive. */
static void sum_two(const audit_table *table, double scale, sums *s)
{
  for (size_t i = 0; i < LEVELS * SPREADS; i++) {
    double mu, tau, value[2][UNITS], weight[2][UNITS];
    const double prior = place_population(i, scale * prior_sd, &mu, &tau);
    for (size_t g = 0; g < 2; g++)
      for (size_t k = 0; k < UNITS; k++) {
        const double z = -6 + 12 * (double)k / (UNITS - 1);
        value[g][k] = mu + tau * z;
        weight[g][k] = exp(-0.5 * z * z + audit_look_up(&table[g], value[g][k]));
      }
    for (size_t k = 0; k < UNITS * UNITS; k++) {
      const double a = value[0][k % UNITS];
      const double b = value[1][k / UNITS];
      const double above = b > a ? 1 : b < a ? 0 : 0.5;
      const double numbers[] = {mu, tau, a, b, b - a, above};
      add(s, prior * weight[0][k % UNITS] * weight[1][k / UNITS], numbers, 6);
    }
  }
}

static void two_pooled_groups_are_exact(void **state)
{
  (void)state;
  fixture f = make(NULL, 0, IDM_POOL_PARTIAL, 1500);
  const idm_audit *a = f.audit;
  audit_table table[2];
  sums exact = {0}, half = {0}, twice = {0};
  for (size_t g = 0; g < 2; g++)
    audit_tabulate(f.problem, f.data, f.groups->member + g * f.data->trajectories, &table[g]);
  sum_two(table, 1, &exact);
  sum_two(table, 0.5, &half);
  sum_two(table, 2, &twice);
  compare(&a->mean[0], &exact, 0);
  compare(&a->sd[0], &exact, 1);
  compare(&a->group[0].number[0], &exact, 2);
  compare(&a->group[1].number[0], &exact, 3);
  compare(&a->contrast[0].number[0], &exact, 4);
  assert_near(a->contrast[0].number[0].positive, mean(&exact, 5), 0.02);
  /* Importance weights for a doubled scale are uneven: the shift has an error of about .04. */
  for (size_t g = 0; g < 2; g++)
    assert_near(a->group[g].number[0].prior_shift,
                (mean(&twice, 2 + g) - mean(&half, 2 + g)) / sd(&exact, 2 + g), 0.2);
  unmake(&f);
}

/* Overlapping predicates: cells of four patterns, x_c = mu + tau (Z z)_c. Quantities: e_1, e_2. */
static void sum_predicates(const audit_table *table, sums *s)
{
  enum { coarse = 41 };
  for (size_t i = 0; i < LEVELS * SPREADS; i++) {
    double mu, tau, alone[2][coarse], effect[coarse];
    const double prior =
        place_population(i, prior_sd, &mu, &tau) * exp(audit_look_up(&table[0], mu));
    for (size_t k = 0; k < coarse; k++) {
      const double z = -5 + 10 * (double)k / (coarse - 1);
      effect[k] = tau * z;
      for (size_t p = 0; p < 2; p++)
        alone[p][k] = exp(-0.5 * z * z + audit_look_up(&table[1 + p], mu + effect[k]));
    }
    for (size_t k = 0; k < (size_t)coarse * coarse; k++) {
      const double numbers[] = {effect[k % coarse], effect[k / coarse]};
      const double weight = prior * alone[0][k % coarse] * alone[1][k / coarse];
      if (weight > 1e-14)
        add(s, weight * exp(audit_look_up(&table[3], mu + numbers[0] + numbers[1])), numbers, 2);
    }
  }
}

static void overlapping_predicates_are_exact(void **state)
{
  (void)state;
  fixture f = make((const char *const[]){"site=b", "sex=f"}, 2, IDM_POOL_PARTIAL, 1500);
  const size_t n = f.data->trajectories;
  bool *member = calloc(n, sizeof *member);
  audit_table table[4];
  sums exact = {0};
  assert_non_null(member);
  for (size_t cell = 0; cell < 4; cell++) {
    for (size_t t = 0; t < n; t++)
      member[t] = f.groups->member[t] == (cell & 1) && f.groups->member[n + t] == (cell >> 1 & 1);
    audit_tabulate(f.problem, f.data, member, &table[cell]);
  }
  sum_predicates(table, &exact);
  for (size_t k = 0; k < 2; k++) {
    compare(&f.audit->contrast[k].number[0], &exact, k);
    assert_string_equal(f.audit->contrast[k].against, "rest");
  }
  unmake(&f);
  free(member);
}

/* All but three patients satisfy a predicate: level and effect are uncertain, and their sum is
 * identified by the others. Quantities: mu, tau, e. */
static void a_predicate_that_nearly_all_meet_is_exact(void **state)
{
  (void)state;
  enum { fine = 161 };
  fixture f = {.problem = audit_problem(prior_sd)};
  f.data = audit_data(f.problem, (const double[]){0.5, 0.8}, 2, 60);
  const char *const predicate[] = {"site=b"};
  check(idm_groups_where(f.data, predicate, 1, &f.groups, NULL, &support_error));
  bool *member = f.groups->member;
  for (size_t t = 0; t < f.data->trajectories; t++) member[t] = t >= 3;
  idm_audit_settings settings = audit_settings();
  settings.fit.draws = 1500;
  check(
      idm_audit_run(f.problem, f.data, f.groups, &settings, NULL, NULL, &f.audit, &support_error));
  audit_table table[2];
  sums exact = {0};
  audit_tabulate(f.problem, f.data, member, &table[1]);
  for (size_t t = 0; t < f.data->trajectories; t++) member[t] = t < 3;
  audit_tabulate(f.problem, f.data, member, &table[0]);
  for (size_t i = 0; i < LEVELS * SPREADS; i++) {
    double mu, tau;
    const double prior =
        place_population(i, prior_sd, &mu, &tau) * exp(audit_look_up(&table[0], mu));
    for (size_t k = 0; k < fine; k++) {
      const double z = -6 + 12 * (double)k / (fine - 1);
      const double numbers[] = {mu, tau, tau * z};
      add(&exact, prior * exp(-0.5 * z * z + audit_look_up(&table[1], mu + tau * z)), numbers, 3);
    }
  }
  compare(&f.audit->mean[0], &exact, 0);
  compare(&f.audit->sd[0], &exact, 1);
  compare(&f.audit->contrast[0].number[0], &exact, 2);
  unmake(&f);
}

/* Independent groups: normal(0, sd) times the likelihood of each. */
static void separate_groups_are_exact(void **state)
{
  (void)state;
  fixture f = make(NULL, 0, IDM_POOL_NONE, 600);
  audit_table table;
  assert_null(f.audit->mean);
  for (size_t g = 0; g < 2; g++) {
    const idm_audit_quantity *number = &f.audit->group[g].number[0];
    sums exact = {0};
    audit_tabulate(f.problem, f.data, f.groups->member + g * f.data->trajectories, &table);
    for (int i = 0; i < 4000; i++) {
      const double x = -4.99 + 0.00199 * i;
      add(&exact, exp(-0.5 * x * x / (prior_sd * prior_sd) + audit_look_up(&table, x)), &x, 1);
    }
    compare(number, &exact, 0);
    assert_near(number->contraction, 1 - sd(&exact, 0) * sd(&exact, 0) / (prior_sd * prior_sd),
                0.01);
  }
  unmake(&f);
}

/* Separate fits of the members of a predicate and of the rest have no trajectory in common. */
static void separate_predicates_are_compared_with_the_others(void **state)
{
  (void)state;
  fixture f = make((const char *const[]){"site=b", "sex=f"}, 2, IDM_POOL_HOLM, 600);
  fixture by = make(NULL, 0, IDM_POOL_NONE, 600);
  const idm_audit_quantity *number = &f.audit->contrast[0].number[0];
  const idm_audit_quantity *same = &by.audit->contrast[0].number[0];
  assert_near(number->diagnosis.mean, same->diagnosis.mean,
              5 * (number->diagnosis.mcse_mean + same->diagnosis.mcse_mean));
  assert_true(number->adjusted >= 2 * fmin(number->positive, 1 - number->positive));
  unmake(&f);
  unmake(&by);
}

static void threads_change_no_draw(void **state)
{
  (void)state;
  idm_problem *problem = audit_problem(prior_sd);
  idm_data *data = audit_data(problem, (const double[]){0.5, 0.8, 0.4}, 3, 20);
  idm_audit_settings settings = audit_settings();
  idm_groups *groups;
  idm_audit *audit[2];
  settings.fit.draws = 50;
  check(idm_groups_by(data, "site", &groups, NULL, &support_error));
  for (int k = 0; k < 2; k++) {
    settings.fit.threads = k ? 3 : 1;
    check(idm_audit_run(problem, data, groups, &settings, NULL, NULL, &audit[k], &support_error));
  }
  for (size_t g = 0; g < audit[0]->groups; g++)
    assert_memory_equal(audit[0]->group[g].number[0].draw, audit[1]->group[g].number[0].draw,
                        200 * sizeof(double));
  for (int k = 0; k < 2; k++) idm_audit_destroy(audit[k]);
  idm_groups_destroy(groups);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_pooled_groups_are_exact),
      cmocka_unit_test(overlapping_predicates_are_exact),
      cmocka_unit_test(a_predicate_that_nearly_all_meet_is_exact),
      cmocka_unit_test(separate_groups_are_exact),
      cmocka_unit_test(separate_predicates_are_compared_with_the_others),
      cmocka_unit_test(threads_change_no_draw),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
