/* One chain of an audit: it draws the prior where logs say nothing, whatever the approximations
 * that propose its moves say; where it is hangs together; and it owes everything to its stream. */
#include "invert/audit/walker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/audit/audit_support.h"
#include "invert/audit/tabulate.h"

enum { DIMENSION = 2, CELLS = 4, BATCHES = 50, MOST_NUMBERS = 16 };

static const double prior_mean[DIMENSION] = {0.5, -1};
static const double prior_sd[DIMENSION] = {1, 0.4};
static const double start_at[DIMENSION] = {0, 0};

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
  idm_fit_settings settings;
  fit f;
  idm_grid *grid;
  audit_cell cell[CELLS];
  double share[CELLS * CELLS];
  double mean[DIMENSION];
  double sd[DIMENSION];
  double precision[DIMENSION * DIMENSION];
  double pull[DIMENSION];
  double start[2 * DIMENSION]; /* [chain] */
  audit_model model;
} fixture;

/* A log that says nothing. */
static idm_status level(void *context, const double *x, double *column, idm_error *opt_error)
{
  (void)context;
  (void)x;
  (void)opt_error;
  column[0] = 0;
  return IDM_OK;
}

static idm_grid *level_grid(void)
{
  static const double low[DIMENSION] = {-40, -40}, high[DIMENSION] = {40, 40};
  const idm_grid_source source = {
      .dimension = DIMENSION, .low = low, .high = high, .axis = 8, .cells = 1, .value = level};
  idm_grid *grid;
  check(idm_grid_create(&source, 1, &grid, &support_error));
  assert_non_null(grid);
  return grid;
}

/* Cells about whose log-likelihoods the approximation is wrong: it peaks away from the prior. */
static int setup(void **state)
{
  static const double precision[] = {2, 0.7, 0.7, 5}, pull[] = {1, -2};
  fixture *f = *state = calloc(1, sizeof *f);
  assert_non_null(f);
  f->problem = audit_problem(1);
  check(idm_problem_free(f->problem, "{alpha: {scale: log}, beta: {scale: inverse}}",
                         &support_error));
  f->data = audit_data(f->problem, (const double[]){0.6}, 1, 5);
  f->settings = audit_settings().fit;
  check(idm_fit_open(&f->f, NULL, f->problem, f->data, &f->settings, 2, &support_error));
  f->grid = level_grid();
  memcpy(f->precision, precision, sizeof precision);
  memcpy(f->pull, pull, sizeof pull);
  memcpy(f->mean, prior_mean, sizeof prior_mean);
  memcpy(f->sd, prior_sd, sizeof prior_sd);
  for (size_t chain = 0; chain < 2; chain++)
    memcpy(f->start + chain * DIMENSION, start_at, sizeof start_at);
  for (size_t c = 0; c < CELLS; c++)
    f->cell[c] = (audit_cell){
        .f = f->f, .precision = f->precision, .pull = f->pull, .start = f->start, .grid = f->grid};
  f->model = (audit_model){.settings = &f->settings,
                           .dimension = DIMENSION,
                           .cell = f->cell,
                           .share = f->share,
                           .mean = f->mean,
                           .sd = f->sd,
                           .key = 11};
  return 0;
}

static int teardown(void **state)
{
  fixture *f = *state;
  idm_grid_destroy(f->grid);
  idm_fit_close(&f->f);
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
  free(f);
  return 0;
}

static void make_partition(fixture *f, size_t cells, bool pooled)
{
  f->model.cells = f->model.effects = cells;
  f->model.partition = true;
  f->model.pooled = pooled;
  for (size_t i = 0; i < cells * cells; i++) f->share[i] = i % (cells + 1) == 0;
}

/* Two predicates and their four patterns. */
static void make_overlap(fixture *f)
{
  static const double share[] = {0, 0, 1, 0, 0, 1, 1, 1};
  f->model.cells = CELLS;
  f->model.effects = 2;
  f->model.partition = false;
  f->model.pooled = true;
  memcpy(f->share, share, sizeof share);
}

static walker begin(const fixture *f, size_t chain, double scale)
{
  walker w;
  check(idm_walker_create(&w, &f->model, chain, scale, 3, &support_error));
  check(idm_walker_start(&w, &support_error));
  return w;
}

static void step(walker *w, long sweeps)
{
  atomic_bool stop;
  atomic_init(&stop, false);
  check(idm_walker_step(w, sweeps, &stop, &support_error));
}

/* --- the prior ------------------------------------------------------------------------------ */

/* What is averaged over draws, each with what it must be. */
typedef struct averages {
  size_t count;
  double now[MOST_NUMBERS];
  double expected[MOST_NUMBERS];
  double batch[MOST_NUMBERS][BATCHES];
} averages;

static void put(averages *a, double now, double expected)
{
  assert_true(a->count < MOST_NUMBERS);
  a->now[a->count] = now;
  a->expected[a->count++] = expected;
}

/* Draws in batches, so long that batches know little of each other: the mean is where it must be
 * within 4.5 of its standard errors (with 30 such numbers, one seed in 5,000 would fail). */
static void average(walker *w, double scale, size_t length,
                    void (*look)(const walker *, double, averages *))
{
  averages a = {0};
  step(w, 200);
  for (size_t i = 0; i < BATCHES * length; i++) {
    step(w, 1);
    a.count = 0;
    look(w, scale, &a);
    for (size_t k = 0; k < a.count; k++) a.batch[k][i / length] += a.now[k] / (double)length;
  }
  for (size_t k = 0; k < a.count; k++) {
    double mean = 0, square = 0;
    for (size_t b = 0; b < BATCHES; b++) mean += a.batch[k][b] / BATCHES;
    for (size_t b = 0; b < BATCHES; b++) square += pow(a.batch[k][b] - mean, 2);
    const double error = sqrt(square / (BATCHES * (BATCHES - 1)));
    assert_true(error > 0);
    if (fabs(mean - a.expected[k]) > 4.5 * error)
      fail_msg("number %zu: %g +- %g, expected %g", k, mean, error, a.expected[k]);
  }
}

/* mu ~ normal(M, s), tau ~ halfnormal(s/2), so that E tau = s/2 sqrt(2/pi) and E tau^2 = s^2/4,
 * which is the variance of an effect. */
static void look_at_population(const walker *w, double scale, averages *a)
{
  const size_t d = DIMENSION;
  for (size_t j = 0; j < d; j++) {
    const double s = scale * prior_sd[j];
    const double *effect = w->effect + j;
    put(a, w->mu[j], prior_mean[j]);
    put(a, pow(w->mu[j] - prior_mean[j], 2), s * s);
    put(a, w->tau[j], s / 2 * sqrt(2 / 3.14159265358979323846));
    put(a, w->tau[j] * w->tau[j], s * s / 4);
    put(a, effect[0] * effect[0], s * s / 4);
    put(a, effect[0] * effect[d], 0);
    put(a, effect[d] * w->mu[j], 0);
  }
}

static void test_prior_of_a_partition(void **state)
{
  fixture *f = *state;
  make_partition(f, 3, true);
  walker w = begin(f, 0, 1);
  average(&w, 1, 800, look_at_population);
  assert_true(w.accepted > w.moves / 20);
  idm_walker_destroy(&w);
}

static void test_prior_of_overlapping_groups(void **state)
{
  fixture *f = *state;
  make_overlap(f);
  walker w = begin(f, 0, 2);
  average(&w, 2, 800, look_at_population);
  idm_walker_destroy(&w);
}

/* Without pooling x ~ normal(M, s), cell by cell; level and spread are held. */
static void look_at_cells(const walker *w, double scale, averages *a)
{
  for (size_t j = 0; j < DIMENSION; j++) {
    const double s = scale * prior_sd[j], *x = w->x + j;
    assert_true(w->mu[j] == prior_mean[j]);
    assert_true(w->tau[j] == s);
    put(a, x[0], prior_mean[j]);
    put(a, pow(x[0] - prior_mean[j], 2), s * s);
    put(a, (x[0] - prior_mean[j]) * (x[DIMENSION] - prior_mean[j]), 0);
  }
}

static void test_prior_without_pooling(void **state)
{
  fixture *f = *state;
  make_partition(f, 2, false);
  walker w = begin(f, 0, 0.5);
  average(&w, 0.5, 400, look_at_cells);
  idm_walker_destroy(&w);
}

/* --- where it is ---------------------------------------------------------------------------- */

static void expect_coherent(const fixture *f, const walker *w)
{
  const audit_model *m = &f->model;
  for (size_t c = 0; c < m->cells; c++) {
    for (size_t j = 0; j < DIMENSION; j++) {
      double x = w->mu[j];
      for (size_t k = 0; k < m->effects; k++)
        x += f->share[c * m->effects + k] * w->effect[k * DIMENSION + j];
      assert_near(w->x[c * DIMENSION + j], x, 1e-9);
    }
    assert_true(w->log_likelihood[c] ==
                idm_audit_rough(&f->cell[c], DIMENSION, w->x + c * DIMENSION));
  }
}

static void test_coherence(void **state)
{
  fixture *f = *state;
  for (int overlap = 0; overlap < 2; overlap++) {
    if (overlap)
      make_overlap(f);
    else
      make_partition(f, CELLS, true);
    walker w = begin(f, 1, 1);
    for (int i = 0; i < 500; i++) {
      step(&w, 1);
      expect_coherent(f, &w);
      for (size_t j = 0; j < DIMENSION; j++) assert_true(w.tau[j] > 0 && isfinite(w.tau[j]));
    }
    idm_walker_destroy(&w);
  }
}

/* With looks a draw stands at log-likelihoods themselves, and is a place it has been at. */
static void test_exact_looks(void **state)
{
  fixture *f = *state;
  make_partition(f, 2, true);
  f->model.exact = true;
  walker w = begin(f, 0, 1);
  size_t moved = 0;
  for (int i = 0; i < 60; i++) {
    const double before = w.x[0];
    step(&w, 2);
    moved += w.x[0] != before;
    for (size_t c = 0; c < 2; c++) {
      double exact;
      check(idm_matching_log_likelihood(f->f.matching[1], w.x + c * DIMENSION, &exact, NULL,
                                        &support_error));
      assert_near(w.exact[c], exact, 1e-6);
    }
    assert_memory_equal(w.mu, w.kept, w.numbers * sizeof *w.mu);
    expect_coherent(f, &w);
  }
  assert_true(moved > 0 && moved < 60); /* some were refused */
  idm_walker_destroy(&w);
}

/* The same stream gives the same numbers however its steps are cut; another chain has others. */
static void test_streams(void **state)
{
  fixture *f = *state;
  make_partition(f, 3, true);
  walker w[3] = {begin(f, 0, 1), begin(f, 0, 1), begin(f, 1, 1)};
  step(&w[0], 30);
  for (int i = 0; i < 10; i++) step(&w[1], 3);
  step(&w[2], 30);
  assert_memory_equal(w[0].mu, w[1].mu, w[0].numbers * sizeof *w[0].mu);
  assert_true(memcmp(w[0].mu, w[2].mu, DIMENSION * sizeof *w[0].mu) != 0);
  for (int i = 0; i < 3; i++) idm_walker_destroy(&w[i]);
}

static void test_stopped(void **state)
{
  fixture *f = *state;
  atomic_bool stop;
  double before[DIMENSION];
  make_partition(f, 3, true);
  walker w = begin(f, 0, 1);
  memcpy(before, w.mu, sizeof before);
  atomic_init(&stop, true);
  check(idm_walker_step(&w, 50, &stop, &support_error));
  assert_memory_equal(before, w.mu, sizeof before);
  assert_int_equal(w.moves, 0);
  idm_walker_destroy(&w);
}

/* alpha = exp(-800) is 0: whoever errs once has probability 0. */
static void test_impossible_start(void **state)
{
  fixture *f = *state;
  idm_error error = {0};
  walker w;
  make_partition(f, 1, true);
  f->start[0] = -800;
  check(idm_walker_create(&w, &f->model, 0, 1, 3, &support_error));
  assert_int_equal(idm_walker_start(&w, &error), IDM_NUMERICAL);
  assert_non_null(strstr(error.message, "no starting point"));
  idm_walker_destroy(&w);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_prior_of_a_partition),
      TEST(test_prior_of_overlapping_groups),
      TEST(test_prior_without_pooling),
      TEST(test_coherence),
      TEST(test_exact_looks),
      TEST(test_streams),
      TEST(test_stopped),
      TEST(test_impossible_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
