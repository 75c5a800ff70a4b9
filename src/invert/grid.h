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

/* Log-likelihoods of cells of a log on a grid of the free numbers, and between its points by
 * polynomials of degree five: a stand-in for the likelihood that costs nothing. */

/* Free numbers beyond which a grid has too many points. */
enum { IDM_GRID_DIMENSIONS = 3 };

typedef struct idm_grid idm_grid;

/* What a grid is of. */
typedef struct idm_grid_source {
  size_t dimension;
  const double *low;  /* [dimension] */
  const double *high; /* [dimension] */
  size_t axis;        /* points an axis, at most; 0: as many as is usual */
  size_t cells;
  const double *opt_base; /* [cell]: about the largest value, so that digits go to differences */
  /* column[cell] at x; called on any thread. */
  idm_status (*value)(void *context, const double *x, double *column, idm_error *opt_error);
  bool (*opt_stopped)(void *context); /* called between points on the calling thread */
  void *context;
} idm_grid_source;

/* NULL, and no error, where the dimension or the number of cells is too large, or it was stopped.
 */
idm_status idm_grid_create(const idm_grid_source *source, int threads, idm_grid **ret_grid,
                           idm_error *opt_error);
void idm_grid_destroy(idm_grid *grid);
/* Of one dimension and number of cells: all of it into a record, or from one into a new grid. NULL
 * where the record does not fit, or there is no memory. */
void idm_grid_write(const idm_grid *grid, idm_record *record);
idm_grid *idm_grid_read(size_t dimension, size_t cells, idm_record *record);
/* At x[dimension]; outside the grid, at its nearest point. */
double idm_grid_at(const idm_grid *grid, size_t cell, const double *x);
/* Slopes of the polynomials at x[dimension], within the grid. */
void idm_grid_gradient(const idm_grid *grid, size_t cell, const double *x, double *slope);
/* Its point nearest to x. */
void idm_grid_clamp(const idm_grid *grid, const double *x, double *clamped);

/* === table ================================================================================== */

/* A table of log-likelihoods around a mode, which stands in for planning where that is dear: the
 * total, and where they are kept those of trajectories or decisions. What it is off by is measured
 * by whoever makes it. */

typedef struct idm_likelihood_table {
  size_t dimension;
  double mode[IDM_GRID_DIMENSIONS];
  double factor[IDM_GRID_DIMENSIONS * IDM_GRID_DIMENSIONS]; /* y = mode + factor u, triangular */
  double low[IDM_GRID_DIMENSIONS];                          /* of u */
  double high[IDM_GRID_DIMENSIONS];
  double top;          /* log-likelihood at the mode */
  int tail_resolution; /* resolution of the lattice that tells how far below the rest is */
  size_t units;        /* trajectories or decisions; 0: the total alone */
  size_t points;       /* that were planned for */
  double error;        /* sd over the posterior of what it is off by, in nats */
  idm_grid *grid;      /* of u; cells are the total, then the units */
} idm_likelihood_table;

void idm_table_destroy(idm_likelihood_table *table);
/* y[dimension] in its coordinates. */
void idm_table_whiten(const idm_likelihood_table *table, const double *y, double *u);
void idm_table_unwhiten(const idm_likelihood_table *table, const double *u, double *y);
/* Whether it says something of y. */
bool idm_table_contains(const idm_likelihood_table *table, const double *y);
/* The log-likelihood at a y that it holds, and its slopes. */
double idm_table_at(const idm_likelihood_table *table, const double *y, double *opt_gradient);
/* Those of the units: to[units]. */
void idm_table_units(const idm_likelihood_table *table, const double *y, double *to);

#endif
