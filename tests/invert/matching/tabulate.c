/* Tables that replace planning: interpolated log-likelihoods against planned ones, inside and
 * outside the table, and chains on a table against quadrature of the exact posterior. */
#include "invert/matching/fit.h"

#include <math.h>
#include <string.h>

#include "support.h"

/* DIAG on a lattice so large that its likelihood is tabulated. */
static idm_problem *make_problem(const char *free_blocks, int resolution)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = resolution;
  check(idm_problem_set_free(problem, free_blocks, &support_error));
  return problem;
}

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
  idm_fit_settings settings;
  fit_context f;
  idm_likelihood_table *table;
} fixture;

static void open_fixture(const char *free_blocks, int resolution, int threads, fixture *x)
{
  *x = (fixture){.problem = make_problem(free_blocks, resolution)};
  const idm_simulation simulation = {.trajectories = 300, .seed = 8};
  x->data = support_simulate(x->problem, simulation);
  idm_fit_settings_default(&x->settings);
  x->settings.threads = threads;
  check(idm_fit_open(&x->f, NULL, x->problem, x->data, &x->settings, 2, &support_error));
  check(idm_tabulate(&x->f, &x->table, &support_error));
  x->f.table = x->table;
}

static void close_fixture(fixture *x)
{
  idm_table_destroy(x->table);
  idm_fit_close(&x->f);
  idm_data_destroy(x->data);
  idm_problem_destroy(x->problem);
}

static double exact_at(const fixture *x, const double *y)
{
  double value;
  check(idm_matching_log_likelihood(x->f.matching[1], y, &value, NULL, &support_error));
  return value;
}

/* At 12 random points, standard normal in whitened coordinates: log-likelihoods in total and by
 * trajectory, and the sum of the latter. */
static void hold_against_planning(const char *free_blocks, double tolerance)
{
  fixture x;
  open_fixture(free_blocks, 2100, 1, &x);
  assert_non_null(x.table);
  assert_true(x.table->error < 0.05);
  assert_int_equal(x.table->units, x.data->trajectories);
  idm_random random;
  idm_random_init(&random, 3, 1);
  double *unit = test_malloc(x.table->units * sizeof *unit);
  for (int k = 0; k < 12; k++) {
    double u[IDM_GRID_DIMENSIONS], y[IDM_GRID_DIMENSIONS], sum = 0;
    for (size_t i = 0; i < x.table->dimension; i++) u[i] = idm_random_normal(&random);
    idm_table_unwhiten(x.table, u, y);
    assert_true(idm_table_contains(x.table, y));
    const double exact = exact_at(&x, y);
    assert_true(fabs(idm_table_at(x.table, y, NULL) - exact) < tolerance);
    idm_table_units(x.table, y, unit);
    for (size_t i = 0; i < x.table->units; i++) sum += unit[i];
    assert_true(fabs(sum - exact) < tolerance);
    assert_near(unit[5], idm_scorer_trajectory(idm_matching_scorer(x.f.matching[1]), 5), 1e-2);
  }
  test_free(unit);
  close_fixture(&x);
}

static void test_one_number(void **state)
{
  (void)state;
  hold_against_planning("{beta: {scale: inverse}}", 0.02);
}

static void test_two_numbers(void **state)
{
  (void)state;
  hold_against_planning("{beta: {scale: inverse}, eta: }", 0.05);
}

/* Cheap plans and many parameters have no table. */
static void test_where_there_is_none(void **state)
{
  (void)state;
  fixture x;
  open_fixture("{beta: {scale: inverse}}", 99, 1, &x);
  assert_null(x.table);
  close_fixture(&x);
  open_fixture("{alpha: , beta: {scale: inverse}, eta: , discount: }", 2100, 1, &x);
  assert_null(x.table);
  close_fixture(&x);
}

static void test_threads_change_nothing(void **state)
{
  (void)state;
  fixture one, two;
  open_fixture("{beta: {scale: inverse}}", 2100, 1, &one);
  open_fixture("{beta: {scale: inverse}}", 2100, 2, &two);
  assert_non_null(one.table);
  assert_non_null(two.table);
  assert_true(one.table->error == two.table->error);
  for (double u = -5; u < 5; u += 0.3) {
    double y;
    idm_table_unwhiten(one.table, &u, &y);
    assert_true(idm_table_at(one.table, &y, NULL) == idm_table_at(two.table, &y, NULL));
  }
  close_fixture(&one);
  close_fixture(&two);
}

/* A matching with a table uses the table inside its range, planning just outside it, and far
 * outside a coarser lattice, whose values are as low as planned ones. */
static void test_near_between_and_far(void **state)
{
  (void)state;
  fixture x;
  open_fixture("{beta: {scale: inverse}}", 2100, 1, &x);
  assert_non_null(x.table);
  idm_matching *m = x.f.matching[0];
  const idm_likelihood_table *t = x.table;
  check(idm_fit_use_table(&x.f, m, &support_error));
  double inside, between, u = 0.7, value, slope;
  idm_table_unwhiten(t, &u, &inside);
  check(idm_matching_log_likelihood(m, &inside, &value, &slope, &support_error));
  assert_true(value == idm_table_at(t, &inside, NULL));
  /* The derivative is that of the interpolated values, without the kinks of planning between grid
   * points. */
  const double step = 1e-3, above = inside + step, below = inside - step;
  const double rise = idm_table_at(t, &above, NULL) - idm_table_at(t, &below, NULL);
  assert_near(slope, rise / (2 * step), 2e-3);
  u = t->high[0] + 0.01;
  idm_table_unwhiten(t, &u, &between);
  check(idm_matching_log_likelihood(m, &between, &value, NULL, &support_error));
  assert_near(value, exact_at(&x, &between), 1e-6);
  size_t hopeless = 0;
  for (double y = -40; y <= 40; y += 8) {
    check(idm_matching_log_likelihood(m, &y, &value, NULL, &support_error));
    const double exact = exact_at(&x, &y);
    if (exact > t->top - 30)
      assert_near(value, exact, 1e-2);
    else
      hopeless++;
    assert_true(value < t->top - 30 || exact > t->top - 40);
  }
  assert_true(hopeless > 2);
  idm_matching_set_exact(m, true);
  check(idm_matching_log_likelihood(m, &inside, &value, NULL, &support_error));
  assert_near(value, exact_at(&x, &inside), 1e-6);
  idm_matching_set_exact(m, false);
  check(idm_matching_use_table(m, NULL, NULL, &support_error));
  check(idm_matching_log_likelihood(m, &inside, &value, NULL, &support_error));
  assert_near(value, exact_at(&x, &inside), 1e-6);
  close_fixture(&x);
}

/* Mean and sd of the one free parameter by quadrature of the exact posterior at 81 points of the
 * table's range. */
static void integrate(const fixture *x, double *mean, double *sd)
{
  const idm_target target = idm_matching_target(x->f.matching[1]);
  double sum = 0, first = 0, second = 0, top = -INFINITY, log_density[81], y[81];
  for (int k = 0; k < 81; k++) {
    const double u = x->table->low[0] + (x->table->high[0] - x->table->low[0]) * k / 80;
    idm_table_unwhiten(x->table, &u, &y[k]);
    check(target.evaluate(target.context, &y[k], &log_density[k], NULL, &support_error));
    top = fmax(top, log_density[k]);
  }
  for (int k = 0; k < 81; k++) {
    const double weight = exp(log_density[k] - top);
    sum += weight;
    first += weight * y[k];
    second += weight * y[k] * y[k];
  }
  *mean = first / sum;
  *sd = sqrt(second / sum - *mean * *mean);
}

/* Draws of chains on a table against that quadrature. An effective sample size above 2,000 gives
 * standard errors of 0.0224 sd for the mean and of 0.0158 for the relative error of the sd; five
 * times these occur by chance less than once in a million. Log-likelihoods are those of planning.
 */
static void test_the_posterior(void **state)
{
  (void)state;
  fixture x;
  idm_posterior *posterior;
  idm_diagnosis d;
  double mean, sd;
  open_fixture("{beta: {scale: inverse}}", 2100, 2, &x);
  check(idm_inverse_fit(idm_inverse_find("bayes"), x.problem, x.data, &x.settings, NULL, &posterior,
                        NULL, &support_error));
  assert_non_null(posterior->table);
  integrate(&x, &mean, &sd);
  check(idm_diagnose(posterior->unconstrained, posterior->chains, posterior->draws,
                     posterior->draws, 1, &d, &support_error));
  assert_true(d.ess_bulk > 2000);
  assert_true(fabs(d.mean - mean) < 0.112 * sd);
  assert_true(fabs(d.sd / sd - 1) < 0.08);
  for (size_t k = 0; k < 4000; k += 400) {
    double sum = 0;
    for (size_t i = 0; i < posterior->unit.count; i++)
      sum += posterior->log_likelihood[k * posterior->unit.count + i];
    assert_true(fabs(sum - exact_at(&x, &posterior->unconstrained[k])) < 0.02);
  }
  idm_notes notes = {0};
  idm_table_remark(posterior->table, &notes);
  assert_non_null(strstr(notes.text[0], "at 41 points around the mode"));
  idm_notes_clear(&notes);
  idm_posterior_destroy(posterior);
  close_fixture(&x);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_number),           cmocka_unit_test(test_two_numbers),
      cmocka_unit_test(test_where_there_is_none),  cmocka_unit_test(test_threads_change_nothing),
      cmocka_unit_test(test_near_between_and_far), cmocka_unit_test(test_the_posterior),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
