/* Grids of log-likelihoods: interpolated values and gradients against polynomials of exact degree,
 * clamping outside, errors and records. */
#include "invert/matching.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "support.h"

enum { cells = 2 };
static const double low[4] = {-2, -1, 0, 0}, high[4] = {2, 3, 1, 1};
/* Far from 0, as the log-likelihood of a large log. */
static const double base[cells] = {-1e7, 3e7};

/* Degree at most five in each coordinate, so that interpolation is exact. */
static double known(size_t dimension, size_t cell, const double *x)
{
  double product = 1;
  for (size_t k = 0; k < dimension; k++) product *= 1 - x[k] + 0.1 * pow(x[k], 5 - (double)cell);
  return base[cell] + product;
}

static idm_status value(void *context, const double *x, double *column, idm_error *opt_error)
{
  (void)opt_error;
  for (size_t c = 0; c < cells; c++) column[c] = known(*(const size_t *)context, c, x);
  return IDM_OK;
}

static idm_grid *make(size_t *dimension, int threads)
{
  const idm_grid_source source = {.dimension = *dimension,
                                  .low = low,
                                  .high = high,
                                  .axis = 20,
                                  .cells = cells,
                                  .opt_base = base,
                                  .value = value,
                                  .context = dimension};
  idm_grid *grid;
  check(idm_grid_create(&source, threads, &grid, &support_error));
  assert_non_null(grid);
  return grid;
}

/* Point k at which a grid is evaluated. */
static void place(size_t dimension, int k, double *x)
{
  for (size_t i = 0; i < dimension; i++)
    x[i] = low[i] + (high[i] - low[i]) * (0.5 + 0.45 * sin(7 * k + 2 * (double)i));
}

static void polynomials_are_exact(void **state)
{
  (void)state;
  for (size_t dimension = 1; dimension <= IDM_GRID_DIMENSIONS; dimension++) {
    idm_grid *grid = make(&dimension, 2);
    for (int k = 0; k < 50; k++) {
      double x[3];
      place(dimension, k, x);
      for (size_t c = 0; c < cells; c++)
        assert_near(idm_grid_at(grid, c, x) - base[c], known(dimension, c, x) - base[c], 1e-4);
    }
    idm_grid_destroy(grid);
  }
}

/* Against central differences of the polynomial, for every cell and axis. */
static void slopes_are_those_of_the_polynomials(void **state)
{
  (void)state;
  static const double step = 1e-4;
  for (size_t dimension = 1; dimension <= IDM_GRID_DIMENSIONS; dimension++) {
    idm_grid *grid = make(&dimension, 1);
    for (int k = 0; k < 50; k++) {
      double x[3] = {0}, slope[3];
      place(dimension, k, x);
      for (size_t c = 0; c < cells; c++) {
        idm_grid_gradient(grid, c, x, slope);
        for (size_t i = 0; i < dimension; i++) {
          double above[3] = {x[0], x[1], x[2]}, below[3] = {x[0], x[1], x[2]};
          above[i] += step;
          below[i] -= step;
          const double rise = known(dimension, c, above) - known(dimension, c, below);
          assert_near(slope[i], rise / (2 * step), 1e-3);
        }
      }
    }
    idm_grid_destroy(grid);
  }
}

static void outside_is_the_nearest_point(void **state)
{
  (void)state;
  size_t dimension = 2;
  const idm_grid_source source = {.dimension = dimension,
                                  .low = low,
                                  .high = high,
                                  .cells = cells,
                                  .value = value,
                                  .context = &dimension};
  idm_grid *grid;
  check(idm_grid_create(&source, 1, &grid, &support_error));
  const double outside[] = {5, -9}, corner[] = {2, -1};
  double nearest[2];
  assert_near(idm_grid_at(grid, 1, outside), idm_grid_at(grid, 1, corner), 1e-9);
  idm_grid_clamp(grid, outside, nearest);
  for (size_t i = 0; i < 2; i++) assert_near(nearest[i], corner[i], 1e-12);
  idm_grid_destroy(grid);
}

/* Values wait until the work is stopped, for 5 s at most. */
typedef struct stopping {
  size_t dimension;
  atomic_bool stopped;
} stopping;

static bool at_once(void *context)
{
  atomic_store(&((stopping *)context)->stopped, true);
  return true;
}

static idm_status slow_value(void *context, const double *x, double *column, idm_error *opt_error)
{
  stopping *s = context;
  const struct timespec wait = {.tv_nsec = 1000000};
  for (int i = 0; i < 5000 && !atomic_load(&s->stopped); i++) nanosleep(&wait, NULL);
  return value(&s->dimension, x, column, opt_error);
}

static idm_status refuse(void *context, const double *x, double *column, idm_error *opt_error)
{
  (void)context, (void)x, (void)column;
  return idm_fail(opt_error, IDM_NUMERICAL, "no value there");
}

static void what_is_too_large_stopped_or_fails_is_none(void **state)
{
  (void)state;
  size_t dimension = 2;
  idm_grid *grid;
  idm_grid_source source = {
      .dimension = 4, .low = low, .high = high, .cells = cells, .value = value};
  source.context = &dimension;
  check(idm_grid_create(&source, 1, &grid, &support_error));
  assert_null(grid);
  source.dimension = dimension;
  source.cells = SIZE_MAX / 2;
  check(idm_grid_create(&source, 1, &grid, &support_error));
  assert_null(grid);
  source.cells = cells;
  source.value = refuse;
  idm_error error = {0};
  assert_int_equal(idm_grid_create(&source, 2, &grid, &error), IDM_NUMERICAL);
  assert_null(grid);
  stopping s = {.dimension = dimension};
  source.opt_stopped = at_once;
  source.value = slow_value;
  source.context = &s;
  check(idm_grid_create(&source, 2, &grid, &support_error));
  assert_true(atomic_load(&s.stopped));
  assert_null(grid);
}

/* A grid read from a record is identical; a truncated record or one of another shape returns NULL.
 */
static void grids_are_recorded(void **state)
{
  (void)state;
  size_t dimension = 2;
  idm_grid *there = make(&dimension, 1);
  idm_record record;
  char *bytes;
  size_t length;
  idm_record_begin(&record, "idmtest", 1);
  idm_grid_write(there, &record);
  check(idm_record_finish(&record, &bytes, &length, &support_error));
  check(idm_record_open(&record, "idmtest", 1, bytes, length, &support_error));
  idm_grid *back = idm_grid_read(dimension, cells, &record);
  assert_non_null(back);
  check(idm_record_close(&record, true, &support_error));
  for (int k = 0; k < 50; k++) {
    const double x[2] = {-2.2 + 0.09 * k, 3.1 - 0.08 * k};
    for (size_t c = 0; c < cells; c++)
      assert_true(idm_grid_at(there, c, x) == idm_grid_at(back, c, x));
  }
  check(idm_record_open(&record, "idmtest", 1, bytes, length, &support_error));
  record.length -= 9;
  assert_null(idm_grid_read(dimension, cells, &record));
  check(idm_record_open(&record, "idmtest", 1, bytes, length, &support_error));
  assert_null(idm_grid_read(dimension + 1, cells, &record));
  idm_grid_destroy(there);
  idm_grid_destroy(back);
  free(bytes);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(grids_are_recorded),
                                     cmocka_unit_test(polynomials_are_exact),
                                     cmocka_unit_test(slopes_are_those_of_the_polynomials),
                                     cmocka_unit_test(outside_is_the_nearest_point),
                                     cmocka_unit_test(what_is_too_large_stopped_or_fails_is_none)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
