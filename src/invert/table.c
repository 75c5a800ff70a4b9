/* A table of log-likelihoods around a mode: see the header. */
#include "invert/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/dense.h"

void idm_table_destroy(idm_table *table)
{
  if (!table) return;
  idm_grid_destroy(table->grid);
  free(table);
}

void idm_table_to(const idm_table *t, const double *y, double *u)
{
  for (size_t i = 0; i < t->dimension; i++) u[i] = y[i] - t->mode[i];
  idm_lower_solve(t->dimension, t->factor, u);
}

void idm_table_from(const idm_table *t, const double *u, double *y)
{
  memcpy(y, u, t->dimension * sizeof *y);
  idm_lower_multiply(t->dimension, t->factor, y);
  for (size_t i = 0; i < t->dimension; i++) y[i] += t->mode[i];
}

bool idm_table_holds(const idm_table *t, const double *y)
{
  double u[IDM_GRID_DIMENSIONS];
  bool inside = true;
  idm_table_to(t, y, u);
  for (size_t i = 0; i < t->dimension; i++)
    inside = inside && u[i] >= t->low[i] && u[i] <= t->high[i];
  return inside;
}

double idm_table_at(const idm_table *t, const double *y, double *opt_gradient)
{
  double u[IDM_GRID_DIMENSIONS];
  idm_table_to(t, y, u);
  if (opt_gradient) {
    idm_grid_slope(t->grid, 0, u, opt_gradient);
    idm_lower_solve_transposed(t->dimension, t->factor, opt_gradient);
  }
  return idm_grid_at(t->grid, 0, u);
}

void idm_table_units(const idm_table *t, const double *y, double *to)
{
  double u[IDM_GRID_DIMENSIONS];
  idm_table_to(t, y, u);
  for (size_t i = 0; i < t->units; i++) to[i] = idm_grid_at(t->grid, 1 + i, u);
}
