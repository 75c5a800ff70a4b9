/* A hierarchy: its design, the likelihoods of its leaves, and its draws.
 *
 * Contents: polynomial · model · cells · check · sample */
#ifndef IDM_INVERT_HIERARCHY_MODEL_H
#define IDM_INVERT_HIERARCHY_MODEL_H

#include "idm/parameters.h"
#include "idm/people.h"
#include "idm/status.h"
#include "invert/grid.h"

/* === polynomial ============================================================================= */

/* Log-likelihoods of leaves by polynomials: a stand-in for planning where a grid of the free
 * numbers would have too many points.
 *
 * A polynomial per leaf is fitted to the log-likelihood at points of a normal cloud by weighted
 * least squares, in products of Hermite polynomials, which are nearly orthogonal there. Points
 * where the log-likelihood is far below its maximum count less. Beyond the cloud the polynomial
 * keeps the value of its edge. It shapes proposals only: the exact likelihood decides. */

/* Free numbers beyond which there would be too many terms. */
enum { IDM_POLYNOMIAL_DIMENSIONS = 8 };

typedef struct idm_polynomials idm_polynomials;

/* What polynomials are fitted to. */
typedef struct polynomial_source {
  size_t dimension;
  const double *low;  /* [dimension]: nearly all of the cloud lies in this box */
  const double *high; /* [dimension] */
  size_t leaves;
  /* column[leaf] at x; called on any thread. */
  idm_status (*value)(void *context, const double *x, double *column, idm_error *opt_error);
  bool (*opt_stopped)(void *context); /* called between points on the calling thread */
  void *context;
} polynomial_source;

/* NULL, and no error, where the dimension is too large, a leaf is finite at too few points, or it
 * was stopped. A function of the source, whatever the threads. */
idm_status idm_polynomials_create(const polynomial_source *source, int threads,
                                  idm_polynomials **ret_polynomials, idm_error *opt_error);
void idm_polynomials_destroy(idm_polynomials *polynomials);
double idm_polynomials_at(const idm_polynomials *polynomials, size_t leaf, const double *x);

/* === model ================================================================================== */

/* What all chains of a hierarchy share: the design, and the log-likelihoods of its leaves.
 *
 * A leaf is a cell of the design: trajectories that share one vector of free numbers. A source
 * gives its log-likelihood exactly, by planning, and roughly, by a table; chains move by the table
 * and accept by the exact value where the caller requires it. */

/* What one task evaluates leaves with. */
typedef struct leaf_worker {
  size_t chain;
  void *evaluator; /* of the source; NULL: it has none */
} leaf_worker;

/* Log-likelihoods of leaves. Values are a function of the leaf, the numbers and, for `exact`, at
 * most the chain: never of the thread. */
typedef struct leaf_source {
  void *context;
  /* By the table of a leaf. */
  double (*table)(const void *context, size_t leaf, const double *x);
  /* By planning; -inf where the numbers cannot be planned for. */
  idm_status (*exact)(void *context, const leaf_worker *worker, size_t leaf, const double *x,
                      double *log_likelihood, idm_error *opt_error);
  /* The same and its gradient by the numbers, where that costs little; NULL: it does not. */
  idm_status (*leaf_gradient)(void *context, const leaf_worker *worker, size_t leaf,
                              const double *x, double *log_likelihood, double *gradient,
                              idm_error *opt_error);
  /* The same of all leaves at once: x and gradient are [leaf][coordinates]. NULL: one by one. */
  idm_status (*leaf_gradients)(void *context, const leaf_worker *worker, const double *x,
                               double *log_likelihood, double *gradient, idm_error *opt_error);
  /* A judge for one task, and back; both NULL where tasks need none. */
  void *(*acquire)(void *context);
  void (*release)(void *context, void *evaluator);
  /* Replace the tables by tables over a box [coordinates]; the last ones stay where the new ones
   * would be too large or too coarse, or opt_stopped returns true. `wide`: the box is the prior's,
   * not where chains have been. *tabled: there are tables. NULL: the tables are given. */
  idm_status (*tabulate)(void *context, const double *low, const double *high, bool prior_box,
                         bool (*opt_stopped)(void *), void *stop_context, bool *has_tables,
                         idm_error *opt_error);
  /* Where a chain starts a leaf: [coordinates]. NULL: the chain finds a mode itself. */
  const double *(*start)(const void *context, size_t leaf, size_t chain);
} leaf_source;

typedef struct hierarchy {
  const idm_design *design;
  leaf_source leaves;
  bool has_tables; /* leaves have tables */
  size_t *first;   /* [people + 1]: cells of each person */
  double *gram;    /* [coefficient][coefficient]: sums over people of products of regressors */
} hierarchy;

idm_status idm_hierarchy_create(const idm_design *design, const leaf_source *leaves,
                                bool has_tables, hierarchy *model, idm_error *opt_error);
void idm_hierarchy_destroy(hierarchy *model);

/* Free numbers of a cell at its person's effects: Z_c e. */
void idm_hierarchy_coordinates(const idm_design *design, size_t cell, const double *e, double *x);
/* Log-likelihood of a person by the tables. */
double idm_hierarchy_surrogate(const hierarchy *model, size_t person, const double *e);
idm_status idm_hierarchy_exact(const hierarchy *model, const leaf_worker *worker, size_t person,
                               const double *e, double *log_likelihood, idm_error *opt_error);
/* The same of everybody, and its gradient by their effects: e and gradient are [person][effect].
 * `scratch` has room for idm_hierarchy_scratch() numbers. */
idm_status idm_hierarchy_gradients(const hierarchy *model, const leaf_worker *worker,
                                   const double *e, double *log_likelihood, double *gradient,
                                   double *scratch, idm_error *opt_error);
size_t idm_hierarchy_scratch(const hierarchy *model);
/* The box that holds the free numbers of everybody, wherever the prior believes them. */
void idm_hierarchy_prior_box(const hierarchy *model, double *low, double *high);

/* === cells ================================================================================== */

/* Exact likelihoods of the cells of a design, on several threads. */

/* The log by cell, and those who judge: each holds a workspace. What a judge says is a function of
 * the numbers and the anchors alone, so that it does not matter who was free. */
typedef struct idm_cells idm_cells;
typedef struct idm_evaluator idm_evaluator;

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
idm_evaluator *idm_cells_acquire(idm_cells *cells);
void idm_cells_release(idm_cells *cells, idm_evaluator *evaluator);

/* Log-likelihood of one cell at its numbers x[coordinates]; -inf where they cannot be planned for.
 */
idm_status idm_evaluator_cell(idm_evaluator *evaluator, size_t cell, const double *x,
                              double *log_likelihood, idm_error *opt_error);
/* [cell]: log-likelihood of every cell at the same numbers, by one plan; the judge's own, until it
 * is asked again. */
idm_status idm_evaluator_all_cells(idm_evaluator *evaluator, const double *x,
                                   const double **log_likelihood, idm_error *opt_error);

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

/* === check ================================================================================== */

/* Whether a design can be sampled. */

/* Effects of a person: more cannot be told apart, and a covariance of them would not mix. Free
 * numbers are no more than effects. */
enum { IDM_MAX_EFFECTS = 32 };

/* Refuse a design with parts missing (IDM_USAGE), or one that is not of the problem's free numbers
 * and of this log (IDM_INPUT). */
idm_status idm_design_check(const idm_design *design, const idm_problem *problem,
                            const idm_data *data, size_t coordinates, idm_error *opt_error);

/* === sample ================================================================================= */

/* Draws of a hierarchy, whatever its leaves are. */

typedef struct hierarchy_request {
  const idm_design *design;
  const leaf_source *leaves;
  bool exact; /* every draw is accepted by exact likelihoods; false: tables are enough */
  const idm_fit_settings *settings;
  uint64_t key;    /* of the random streams, */
  uint64_t stream; /* and the first of them */
  const idm_fit_monitor *opt_monitor;
} hierarchy_request;

/* Draws of people and population. The same at any thread count; a checkpoint of the watch's work
 * lets the same request go on. Stopped by its watch, it gives the draws made so far, at least one
 * per chain. */
idm_status idm_hierarchy_sample(const hierarchy_request *request, idm_people **ret_people,
                                idm_notes *opt_notes, idm_error *opt_error);

#endif
