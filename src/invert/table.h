/* A table of log-likelihoods around a mode, which stands in for planning where that is dear: the
 * total, and where they are kept those of trajectories or decisions. What it is off by is measured
 * by whoever makes it. */
#ifndef IDM_INVERT_TABLE_H
#define IDM_INVERT_TABLE_H

#include "invert/grid.h"

typedef struct idm_table {
  size_t dimension;
  double mode[IDM_GRID_DIMENSIONS];
  double factor[IDM_GRID_DIMENSIONS * IDM_GRID_DIMENSIONS]; /* y = mode + factor u, triangular */
  double low[IDM_GRID_DIMENSIONS];                          /* of u */
  double high[IDM_GRID_DIMENSIONS];
  double top;     /* log-likelihood at the mode */
  int far;        /* resolution of the lattice that tells how far below the rest is */
  size_t units;   /* trajectories or decisions; 0: the total alone */
  size_t points;  /* that were planned for */
  double error;   /* sd over the posterior of what it is off by, in nats */
  idm_grid *grid; /* of u; cells are the total, then the units */
} idm_table;

void idm_table_destroy(idm_table *table);
/* y[dimension] in its coordinates. */
void idm_table_to(const idm_table *table, const double *y, double *u);
void idm_table_from(const idm_table *table, const double *u, double *y);
/* Whether it says something of y. */
bool idm_table_holds(const idm_table *table, const double *y);
/* The log-likelihood at a y that it holds, and its slopes. */
double idm_table_at(const idm_table *table, const double *y, double *opt_gradient);
/* Those of the units: to[units]. */
void idm_table_units(const idm_table *table, const double *y, double *to);

#endif
