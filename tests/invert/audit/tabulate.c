/* Tests grids of a cell's log-likelihood: their error, and delayed acceptance with exact
 * likelihoods, which corrects it. */
#include "invert/audit/model.h"

#include <math.h>
#include <stdlib.h>

#include "invert/audit/audit_support.h"

static const double prior_mean = 0, prior_sd = 1.5;

/* A single cell, and its likelihood on a fine table. */
typedef struct fixture {
  idm_problem *problem;
  idm_fit_settings settings;
  audit_cell cell;
  audit_model model;
  audit_table table;
  double share, mean, sd;
} fixture;

static int setup(void **state)
{
  fixture *f = *state = calloc(1, sizeof *f);
  assert_non_null(f);
  f->problem = audit_problem(prior_sd);
  f->settings = audit_settings().fit;
  f->settings.draws = 1000;
  f->cell.problem = f->problem;
  f->cell.data = audit_data(f->problem, (const double[]){0.6}, 1, 150);
  bool everybody[150];
  for (size_t t = 0; t < 150; t++) everybody[t] = true;
  audit_tabulate(f->problem, f->cell.data, everybody, &f->table);
  f->share = 1;
  f->mean = prior_mean;
  f->sd = prior_sd;
  f->model = (audit_model){.settings = &f->settings,
                           .partition = true,
                           .dimension = 1,
                           .cells = 1,
                           .effects = 1,
                           .cell = &f->cell,
                           .share = &f->share,
                           .mean = &f->mean,
                           .sd = &f->sd,
                           .key = 7};
  check(idm_audit_cell_open(&f->cell, &f->settings, &prior_mean, &prior_sd, NULL, &support_error));
  return 0;
}

static int teardown(void **state)
{
  fixture *f = *state;
  idm_audit_cell_close(&f->cell);
  idm_problem_destroy(f->problem);
  free(f);
  return 0;
}

/* The log-likelihood plus a tilt of 8 nats per unit, some 0.7 nats per posterior sd. */
static idm_status tilted(void *context, const double *x, double *column, idm_error *opt_error)
{
  (void)opt_error;
  column[0] = audit_look_up(context, x[0]) + 8 * x[0];
  return IDM_OK;
}

static void put_tilted(fixture *f)
{
  const double low = -1.5, high = 0.8;
  const idm_grid_source source = {.dimension = 1,
                                  .low = &low,
                                  .high = &high,
                                  .cells = 1,
                                  .value = tilted,
                                  .context = &f->table};
  idm_grid_destroy(f->cell.grid);
  check(idm_grid_create(&source, 1, &f->cell.grid, &support_error));
}

typedef struct moments {
  double mean;
  double sd;
} moments;

static moments exact_moments(const fixture *f)
{
  double weight = 0, sum = 0, square = 0;
  for (int i = 0; i < 4000; i++) {
    const double x = -4.99 + 0.00199 * i;
    const double w = exp(-0.5 * x * x / (prior_sd * prior_sd) + audit_look_up(&f->table, x));
    weight += w;
    sum += w * x;
    square += w * x * x;
  }
  return (moments){sum / weight, sqrt(square / weight - sum / weight * sum / weight)};
}

static moments drawn_moments(const audit_draws *draws)
{
  const size_t all = draws->chains * draws->draws;
  double sum = 0, square = 0;
  for (size_t i = 0; i < all; i++) sum += draws->cell[i] / (double)all;
  for (size_t i = 0; i < all; i++)
    square += (draws->cell[i] - sum) * (draws->cell[i] - sum) / (double)all;
  return (moments){sum, sqrt(square)};
}

static void grids_follow_the_likelihood(void **state)
{
  fixture *f = *state;
  audit_draws draws;
  double error;
  assert_non_null(f->cell.grid);
  check(idm_audit_sample(&f->model, 1, 0, NULL, &draws, &support_error));
  check(idm_audit_grid_error(&f->model, &draws, &error, &support_error));
  const moments exact = exact_moments(f), drawn = drawn_moments(&draws);
  print_message("  error %.2g nats\n", error);
  assert_true(error < 0.01);
  assert_near(drawn.mean, exact.mean, 0.1 * exact.sd);
  assert_near(drawn.sd / exact.sd, 1, 0.1);
  idm_audit_draws_clear(&draws);
}

/* The error of a wrong grid is measured, and exact likelihoods restore the posterior: within .15
 * sd, four errors of some 700 effective draws. */
static void looks_make_up_for_a_grid(void **state)
{
  fixture *f = *state;
  audit_draws rough, draws;
  double error;
  put_tilted(f);
  const moments exact = exact_moments(f);
  check(idm_audit_sample(&f->model, 1, 0, NULL, &rough, &support_error));
  check(idm_audit_grid_error(&f->model, &rough, &error, &support_error));
  print_message("  tilted: error %.2g nats, mean off by %.2g sd\n", error,
                (drawn_moments(&rough).mean - exact.mean) / exact.sd);
  assert_true(error > 0.3);
  assert_true(drawn_moments(&rough).mean > exact.mean + 0.3 * exact.sd);
  assert_true(drawn_moments(&rough).mean < exact.mean + 1.5 * error * exact.sd);
  f->model.exact = true;
  check(idm_audit_sample(&f->model, 1, 0, NULL, &draws, &support_error));
  assert_near(drawn_moments(&draws).mean, exact.mean, 0.15 * exact.sd);
  assert_near(drawn_moments(&draws).sd / exact.sd, 1, 0.15);
  idm_audit_draws_clear(&rough);
  idm_audit_draws_clear(&draws);
}

static void tabulating_can_be_stopped(void **state)
{
  fixture *f = *state;
  const atomic_bool stop = true;
  idm_error error = {0};
  chain_start *found;
  check(idm_start_create(1, &found, &support_error));
  idm_grid_destroy(f->cell.grid);
  f->cell.grid = NULL;
  assert_int_equal(idm_audit_tabulate(&f->cell, found, &prior_mean, &prior_sd, &stop, &error),
                   IDM_UNTRUSTED);
  assert_null(f->cell.grid);
  idm_start_destroy(found);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(grids_follow_the_likelihood, setup, teardown),
      cmocka_unit_test_setup_teardown(looks_make_up_for_a_grid, setup, teardown),
      cmocka_unit_test_setup_teardown(tabulating_can_be_stopped, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
