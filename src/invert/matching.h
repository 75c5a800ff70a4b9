/* Soft policy matching: the log-likelihood of a log, the lattice resolution that it requires, and
 * tables of log-likelihoods that replace planning.
 *
 * Contents: matching · refine · grid · table */
#ifndef IDM_INVERT_MATCHING_H
#define IDM_INVERT_MATCHING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arguments.h"
#include "base/record.h"
#include "idm/extension/data.h"
#include "idm/extension/fit_settings.h"
#include "idm/extension/parameters.h"
#include "idm/extension/sampler.h"
#include "idm/status.h"
#include "plan/plan.h"

/* === matching =============================================================================== */

/* Soft policy matching: log-likelihood of a log as a function of the free numbers. Method:
 * docs/method/inverse.md, 1. */

/* Log-likelihood of a log as a function of the free numbers. An object belongs to one thread;
 * problem, data, tree and parameters are borrowed and may be shared. */
typedef struct idm_matching idm_matching;

/* Create the function for a problem and its data; `tree` is the tree of histories of the data.
 * *ret_matching is owned by the caller. */
IDM_CHECKED idm_status idm_matching_create(const idm_problem *problem, const idm_data *data,
                                           const idm_prefix_tree *tree,
                                           const idm_parameters *parameters,
                                           idm_matching **ret_matching, idm_error *opt_error);
/* Free the object. Accepts NULL. */
IDM_CHECKED void idm_matching_destroy(idm_matching *matching);
/* Log-likelihood at y [dimension] and its gradient [dimension] (central differences if the
 * behaviour has no derivative for these data). -inf if planning fails or data are impossible. */
IDM_CHECKED idm_status idm_matching_log_likelihood(idm_matching *matching, const double *y,
                                                   double *log_likelihood, double *opt_gradient,
                                                   idm_error *opt_error);
/* Plan at y and start every later plan from that solution. Before the first call every plan is a
 * cold start. In both cases the log-likelihood is a function of y alone. */
IDM_CHECKED idm_status idm_matching_fix_start(idm_matching *matching, const double *y,
                                              idm_error *opt_error);
/* Log posterior density as a target. The target borrows the object. */
IDM_CHECKED idm_target idm_matching_target(idm_matching *matching);
/* Scorer of the last evaluation, with the contribution of each trajectory. Borrowed. */
IDM_CHECKED const idm_scorer *idm_matching_scorer(const idm_matching *matching);
/* Workspace that was planned in the last evaluation. Borrowed. */
IDM_CHECKED idm_workspace *idm_matching_workspace(idm_matching *matching);
/* After an evaluation with a gradient: derivative with respect to every number of theta (see
 * idm_gradient_run). Borrowed; NULL if the behaviour has no derivative. */
IDM_CHECKED const idm_theta *idm_matching_theta_grad(const idm_matching *matching);

/* === refine ================================================================================= */

/* Choice of the lattice resolution for `resolution: auto`. See docs/method/control.md, 7. */

/* Comparison of one lattice with a finer one. */
typedef struct idm_refinement_step {
  int resolution;
  int finer;
  double shift; /* largest shift of a posterior mean, in posterior standard deviations, extrapolated
                   to a doubling of the resolution */
  double share; /* effective sample size of the importance weights, relative to the number of
                   points; minimum over the two lattices */
} idm_refinement_step;

enum { IDM_REFINEMENTS = 12 };
typedef struct idm_refinement {
  int resolution; /* chosen resolution; 0: no lattice to choose */
  bool converged; /* no posterior mean shifts by 0.1 posterior sd on a finer lattice */
  size_t steps;   /* 0 if the resolution is given, or nothing is to be refined */
  idm_refinement_step step[IDM_REFINEMENTS];
} idm_refinement;

/* Choose the lattice resolution for a fit of a problem with resolution 0 (auto): the default, or
 * the first finer one whose doubling shifts no posterior mean by 0.1 posterior sd. Points are drawn
 * around the mode on the default lattice or, if that is large, from the posterior on a lattice a
 * third as fine. They are reweighted by the posterior on each lattice in turn, and drawn again from
 * the result if the weights become uneven, so a fine lattice needs some tens of plans. If no
 * feasible lattice is fine enough, the first that shifts no mean by 0.25 is chosen, else the
 * default; the verdict then reports the error. The result is a function of the arguments. */
IDM_CHECKED idm_status idm_refine(const idm_problem *problem, const idm_data *data,
                                  const idm_fit_settings *settings,
                                  const idm_fit_monitor *opt_monitor, idm_refinement *refinement,
                                  idm_error *opt_error);
/* Add a note about the choice and its cost. */
IDM_CHECKED void idm_refinement_note(const idm_refinement *refinement, idm_notes *notes);

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
