#include "invert/hierarchy/table_support.h"

#include <string.h>

#include "base/dense.h"

static const double centre[TABLE_CELLS][TABLE_NUMBERS] = {{0.5, -0.3}, {1.2, 0.4}, {-0.7, 0.1}};
static const double precision[TABLE_CELLS][TABLE_NUMBERS][TABLE_NUMBERS] = {
    {{2, 0.5}, {0.5, 1}}, {{1.5, -0.4}, {-0.4, 0.8}}, {{0.6, 0.2}, {0.2, 3}}};

const idm_design table_design = {
    .people = TABLE_PEOPLE,
    .cells = TABLE_CELLS,
    .cell_person = (uint32_t[]){0, 0, 1},
    .coordinates = TABLE_NUMBERS,
    .effects = TABLE_EFFECTS,
    .effect_coordinate = (uint32_t[]){0, 0, 1},
    .share = (double[]){1, 0, 1, 1, 1, 1, 1, 0.5, 1},
    .coefficients = (size_t[]){2, 1, 1},
    .regressor = (double *[]){(double[]){1, -2, 1, 3}, (double[]){1, 1}, (double[]){1, 1}},
    .coefficient_mean = (double *[]){(double[]){0.2, 0.1}, (double[]){0}, (double[]){-0.1}},
    .coefficient_sd = (double *[]){(double[]){1, 0.5}, (double[]){0.4}, (double[]){2}},
    .sd_scale = (double[]){0.8, 0.5, 1.5},
    .correlation = 2};

double table_plain(size_t cell, const double *x)
{
  double sum = 0;
  for (size_t k = 0; k < TABLE_NUMBERS; k++)
    for (size_t l = 0; l < TABLE_NUMBERS; l++)
      sum -= 0.5 * (x[k] - centre[cell][k]) * precision[cell][k][l] * (x[l] - centre[cell][l]);
  return sum;
}

void table_normal(size_t person, double curvature[TABLE_EFFECTS][TABLE_EFFECTS],
                  double linear_term[TABLE_EFFECTS])
{
  memset(curvature, 0, TABLE_EFFECTS * sizeof *curvature);
  memset(linear_term, 0, TABLE_EFFECTS * sizeof *linear_term);
  for (size_t c = 0; c < TABLE_CELLS; c++)
    for (size_t i = 0; i < TABLE_EFFECTS && table_design.cell_person[c] == person; i++) {
      const double *share = table_design.share + c * TABLE_EFFECTS;
      const double *row = precision[c][table_design.effect_coordinate[i]];
      for (size_t j = 0; j < TABLE_EFFECTS; j++)
        curvature[i][j] += share[i] * row[table_design.effect_coordinate[j]] * share[j];
      for (size_t l = 0; l < TABLE_NUMBERS; l++) linear_term[i] += share[i] * row[l] * centre[c][l];
    }
}

void table_posterior(size_t person, const double *mean, const double *factor,
                     double expected[TABLE_EFFECTS],
                     double covariance[TABLE_EFFECTS][TABLE_EFFECTS])
{
  double a[TABLE_EFFECTS][TABLE_EFFECTS], h[TABLE_EFFECTS][TABLE_EFFECTS],
      linear_term[TABLE_EFFECTS];
  table_normal(person, h, linear_term);
  idm_cholesky_inverse(TABLE_EFFECTS, factor, a[0]);
  for (size_t i = 0; i < TABLE_EFFECTS; i++)
    for (size_t j = 0; j < TABLE_EFFECTS; j++) {
      linear_term[i] += a[i][j] * mean[j];
      h[i][j] += a[i][j];
    }
  assert_true(idm_cholesky(TABLE_EFFECTS, h[0]));
  idm_cholesky_inverse(TABLE_EFFECTS, h[0], covariance[0]);
  for (size_t i = 0; i < TABLE_EFFECTS; i++) {
    expected[i] = 0;
    for (size_t j = 0; j < TABLE_EFFECTS; j++) expected[i] += covariance[i][j] * linear_term[j];
  }
}

static idm_status column(void *context, const double *x, double *values, idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  for (size_t c = 0; c < TABLE_CELLS; c++) values[c] = table_plain(c, x);
  return IDM_OK;
}

static double look_up(const void *grid, size_t leaf, const double *x)
{
  return idm_grid_at(grid, leaf, x);
}

static idm_status exact(void *context, const leaf_worker *worker, size_t leaf, const double *x,
                        double *log_likelihood, idm_error *opt_error)
{
  (void)context;
  (void)worker;
  (void)opt_error;
  *log_likelihood = table_plain(leaf, x);
  return IDM_OK;
}

static idm_status leaf_gradient(void *context, const leaf_worker *worker, size_t leaf,
                                const double *x, double *log_likelihood, double *gradient,
                                idm_error *opt_error)
{
  for (size_t k = 0; k < TABLE_NUMBERS; k++) {
    gradient[k] = 0;
    for (size_t l = 0; l < TABLE_NUMBERS; l++)
      gradient[k] -= precision[leaf][k][l] * (x[l] - centre[leaf][l]);
  }
  return exact(context, worker, leaf, x, log_likelihood, opt_error);
}

void table_open_slopes(hierarchy *model)
{
  const leaf_source leaves = {.exact = exact, .leaf_gradient = leaf_gradient};
  check(idm_hierarchy_create(&table_design, &leaves, false, model, &support_error));
}

idm_grid *table_open(hierarchy *model)
{
  static const double low[TABLE_NUMBERS] = {-8, -8}, high[TABLE_NUMBERS] = {8, 8};
  const idm_grid_source source = {
      .dimension = TABLE_NUMBERS, .low = low, .high = high, .cells = TABLE_CELLS, .value = column};
  idm_grid *grid = NULL;
  check(idm_grid_create(&source, 1, &grid, &support_error));
  assert_non_null(grid);
  const leaf_source leaves = {.context = grid, .table = look_up};
  check(idm_hierarchy_create(&table_design, &leaves, true, model, &support_error));
  return grid;
}
