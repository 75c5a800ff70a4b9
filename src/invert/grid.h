/* Tables of log-likelihoods that replace planning.
 *
 * Contents: grid · table */
#ifndef IDM_INVERT_GRID_H
#define IDM_INVERT_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "base/record.h"
#include "idm/status.h"

/* === grid =================================================================================== */

/* Log-likelihoods of the cells of a log on a grid of the free numbers, with local polynomial
 * interpolation of degree five between grid points: an approximation of the likelihood without
 * planning. */

/* Largest number of free numbers; with more the grid has too many points. */
enum { IDM_GRID_DIMENSIONS = 3 };

typedef struct idm_grid idm_grid;

/* Definition of the function that is tabulated. */
typedef struct idm_grid_source {
  size_t dimension;
  const double *low;  /* [dimension] */
  const double *high; /* [dimension] */
  size_t axis;        /* largest number of points per axis; 0: the default */
  size_t cells;
  const double *opt_base; /* [cell]: approximate maximum, subtracted so that the digits of a float
                             represent differences */
  /* Computes column[cell] at x; called on any thread. */
  idm_status (*value)(void *context, const double *x, double *column, idm_error *opt_error);
  bool (*opt_stopped)(void *context); /* called between points on the calling thread; true: stop */
  void *context;
} idm_grid_source;

/* *ret_grid is NULL, without an error, if the dimension or the number of cells is too large or the
 * computation was stopped. */
idm_status idm_grid_create(const idm_grid_source *source, int threads, idm_grid **ret_grid,
                           idm_error *opt_error);
void idm_grid_destroy(idm_grid *grid);
/* Write a grid to a record, and read a new one of known dimension and number of cells from a
 * record. Reading returns NULL if the record does not fit or memory is exhausted. */
void idm_grid_write(const idm_grid *grid, idm_record *record);
idm_grid *idm_grid_read(size_t dimension, size_t cells, idm_record *record);
/* Interpolated value at x[dimension]; outside the grid, at its nearest point. */
double idm_grid_at(const idm_grid *grid, size_t cell, const double *x);
/* Gradient of the interpolating polynomial at x[dimension], a point within the grid. */
void idm_grid_gradient(const idm_grid *grid, size_t cell, const double *x, double *slope);
/* Projects x onto the grid's box. */
void idm_grid_clamp(const idm_grid *grid, const double *x, double *clamped);

/* === table ================================================================================== */

/* Table of log-likelihoods around a mode, used instead of planning where a plan is expensive: the
 * total and, if they are kept, those of trajectories or decisions. Its error is measured by the
 * code that builds it. */

typedef struct idm_likelihood_table {
  size_t dimension;
  double mode[IDM_GRID_DIMENSIONS];
  double
      factor[IDM_GRID_DIMENSIONS * IDM_GRID_DIMENSIONS]; /* y = mode + factor u, lower triangular */
  double low[IDM_GRID_DIMENSIONS];                       /* box of u */
  double high[IDM_GRID_DIMENSIONS];
  double top;          /* log-likelihood at the mode */
  int tail_resolution; /* resolution of the coarse lattice used outside the box */
  size_t units;        /* trajectories or decisions; 0: only the total */
  size_t points;       /* grid points that were planned for */
  double error;        /* posterior standard deviation of the table's error, in nats */
  idm_grid *grid;      /* over u; cells are the total, then the units */
} idm_likelihood_table;

void idm_table_destroy(idm_likelihood_table *table);
/* Converts y[dimension] to the table's whitened coordinates u, and back. */
void idm_table_whiten(const idm_likelihood_table *table, const double *y, double *u);
void idm_table_unwhiten(const idm_likelihood_table *table, const double *u, double *y);
/* true if y lies in the box of the table. */
bool idm_table_contains(const idm_likelihood_table *table, const double *y);
/* Interpolated log-likelihood at a y in the box, and its gradient. */
double idm_table_at(const idm_likelihood_table *table, const double *y, double *opt_gradient);
/* Interpolated log-likelihoods of the units: to[units]. */
void idm_table_units(const idm_likelihood_table *table, const double *y, double *to);

#endif
