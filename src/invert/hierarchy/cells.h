/* Exact likelihoods of the cells of a design, on several threads. */
#ifndef IDM_INVERT_HIERARCHY_CELLS_H
#define IDM_INVERT_HIERARCHY_CELLS_H

#include "idm/parameters.h"
#include "idm/people.h"
#include "invert/grid.h"
#include "invert/hierarchy/model.h"
#include "invert/hierarchy/polynomial.h"

/* The log by cell, and those who judge: each holds a workspace. What a judge says is a function of
 * the numbers and the anchors alone, so that it does not matter who was free. */
typedef struct idm_cells idm_cells;
typedef struct idm_judge idm_judge;

/* Refuses, with its line, an observation that no model of the agent allows. Problem, data, design
 * and parameters are borrowed. */
idm_status idm_cells_create(const idm_problem *problem, const idm_data *data,
                            const idm_design *design, const idm_parameters *parameters, int threads,
                            idm_cells **ret_cells, idm_error *opt_error);
void idm_cells_destroy(idm_cells *cells);
/* Let plans start from solutions in the box from low to high [coordinates], blended by polynomials
 * of the numbers (clamped to the box): two Newton steps fewer than from one of them. No judge may
 * be at work. */
idm_status idm_cells_anchor(idm_cells *cells, const double *low, const double *high,
                            idm_error *opt_error);
/* A judge for a task, and back. There are as many as threads. */
idm_judge *idm_cells_borrow(idm_cells *cells);
void idm_cells_return(idm_cells *cells, idm_judge *judge);

/* Log-likelihood of one cell at its numbers x[coordinates]; -inf where they cannot be planned for.
 */
idm_status idm_judge_cell(idm_judge *judge, size_t cell, const double *x, double *log_likelihood,
                          idm_error *opt_error);
/* Whether the gradient of a log-likelihood costs little: nothing is planned, and the behaviour has
 * slopes. */
bool idm_cells_slopes(const idm_cells *cells);
/* The same and its gradient [coordinates]. */
idm_status idm_judge_slope(idm_judge *judge, size_t cell, const double *x, double *log_likelihood,
                           double *gradient, idm_error *opt_error);
/* Whether gradients of all cells are found at once. */
bool idm_cells_lanes(const idm_cells *cells);
/* Log-likelihoods [cell] and gradients [cell][coordinates] of all cells at once, each at numbers
 * x[cell][coordinates] of its own; there are lanes. */
void idm_judge_slopes(idm_judge *judge, const double *x, double *log_likelihood, double *gradient);
/* [cell]: log-likelihood of every cell at the same numbers, by one plan; the judge's own, until it
 * is asked again. */
idm_status idm_judge_all(idm_judge *judge, const double *x, const double **log_likelihood,
                         idm_error *opt_error);

/* Cells that plan alike as the leaves of a hierarchy: one table of them all, one plan per point. It
 * is a grid or, of more free numbers than a grid has room for, polynomials where chains have been.
 */
typedef struct shared_leaves {
  idm_cells *cells;             /* owned */
  idm_grid *grid;               /* owned; NULL: none */
  idm_polynomials *polynomials; /* owned; NULL: none */
  int threads;
} shared_leaves;

/* The source refers to `shared`, which must not move. */
leaf_source idm_shared_source(shared_leaves *shared);
void idm_shared_destroy(shared_leaves *shared);

#endif
