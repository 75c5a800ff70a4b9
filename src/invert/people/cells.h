/* Exact likelihoods of the cells of a design, on several threads. */
#ifndef IDM_INVERT_PEOPLE_CELLS_H
#define IDM_INVERT_PEOPLE_CELLS_H

#include "idm/parameters.h"
#include "idm/people.h"
#include "invert/grid.h"

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
/* [cell]: log-likelihood of every cell at the same numbers, by one plan; the judge's own, until it
 * is asked again. */
idm_status idm_judge_all(idm_judge *judge, const double *x, const double **log_likelihood,
                         idm_error *opt_error);

/* Log-likelihoods of all cells on a grid from low to high [coordinates]; NULL, and no error, where
 * that is too large, or `opt_stopped` said true. */
idm_status idm_cells_grid(idm_cells *cells, const double *low, const double *high, int threads,
                          bool (*opt_stopped)(void *context), void *context, idm_grid **ret_grid,
                          idm_error *opt_error);

#endif
