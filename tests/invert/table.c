/* Likelihood tables: whitening in both directions, their range, and interpolated values and
 * gradients against a quadratic. */
#include "invert/matching.h"

#include <math.h>
#include <stdlib.h>

#include "support.h"

enum { D = 2, UNITS = 3 };

/* A quadratic in y, which grids interpolate exactly; units have fixed shares of it. */
static double total(const double *y)
{
  return -5 - (y[0] - 1) * (y[0] - 1) - 0.5 * (y[1] + 2) * (y[1] + 2) + 0.3 * y[0] * y[1];
}

static idm_status fill(void *context, const double *u, double *column, idm_error *opt_error)
{
  double y[D];
  (void)opt_error;
  idm_table_unwhiten(context, u, y);
  column[0] = total(y);
  for (size_t i = 0; i < UNITS; i++) column[1 + i] = (double)(i + 1) / 6 * total(y);
  return IDM_OK;
}

static idm_likelihood_table *make_table(void)
{
  idm_likelihood_table *t = calloc(1, sizeof *t);
  assert_non_null(t);
  *t = (idm_likelihood_table){.dimension = D,
                              .mode = {1, -2},
                              .factor = {0.5, 0, -0.2, 0.7},
                              .low = {-3, -4},
                              .high = {4, 3},
                              .units = UNITS};
  const idm_grid_source source = {.dimension = D,
                                  .low = t->low,
                                  .high = t->high,
                                  .axis = 12,
                                  .cells = 1 + UNITS,
                                  .value = fill,
                                  .context = t};
  check(idm_grid_create(&source, 1, &t->grid, &support_error));
  return t;
}

static void test_there_and_back(void **state)
{
  (void)state;
  idm_likelihood_table *t = make_table();
  const double y[D] = {0.3, -1.1};
  double u[D], back[D];
  idm_table_whiten(t, y, u);
  idm_table_unwhiten(t, u, back);
  for (size_t i = 0; i < D; i++) assert_near(back[i], y[i], 1e-14);
  const double end[D] = {4, -4}, beyond[D] = {4.01, 0};
  idm_table_unwhiten(t, end, back);
  back[0] -= 1e-9;
  back[1] += 1e-9;
  assert_true(idm_table_contains(t, back));
  idm_table_unwhiten(t, beyond, back);
  assert_false(idm_table_contains(t, back));
  idm_table_destroy(t);
  idm_table_destroy(NULL);
}

static void test_values_slopes_and_units(void **state)
{
  (void)state;
  idm_likelihood_table *t = make_table();
  idm_random random;
  idm_random_init(&random, 11, 0);
  for (int k = 0; k < 50; k++) {
    double u[D], y[D], slope[D], unit[UNITS];
    for (size_t i = 0; i < D; i++)
      u[i] = t->low[i] + (t->high[i] - t->low[i]) * idm_random_uniform(&random);
    idm_table_unwhiten(t, u, y);
    assert_true(idm_table_contains(t, y));
    assert_near(idm_table_at(t, y, slope), total(y), 1e-5);
    assert_near(slope[0], -2 * (y[0] - 1) + 0.3 * y[1], 1e-4);
    assert_near(slope[1], -(y[1] + 2) + 0.3 * y[0], 1e-4);
    idm_table_units(t, y, unit);
    for (size_t i = 0; i < UNITS; i++) assert_near(unit[i], (double)(i + 1) / 6 * total(y), 1e-5);
  }
  idm_table_destroy(t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_there_and_back),
      cmocka_unit_test(test_values_slopes_and_units),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
