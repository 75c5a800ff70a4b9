/* Hierarchical model: its design, the likelihoods of its leaves, and its draws.
 *
 * Contents: polynomial · model · cells · check · sample */
#ifndef IDM_INVERT_HIERARCHY_MODEL_H
#define IDM_INVERT_HIERARCHY_MODEL_H

#include "idm/extension/parameters.h"
#include "idm/status.h"
#include "invert/grid.h"
#include "invert/people.h"

/* === polynomial ============================================================================= */

/* Polynomial approximations of the log-likelihoods of leaves. They replace planning where a grid of
 * the free numbers would have too many points.
 *
 * Each leaf has a polynomial in products of Hermite polynomials, which are nearly orthogonal under
 * a normal distribution. It is fitted by weighted least squares to the log-likelihood at normally
 * distributed points. Points whose log-likelihood is far below the maximum have small weights.
 * Outside a radius of 4 sds, the polynomial keeps its value at that radius. It is used for
 * proposals only; acceptance uses the exact likelihood. */

/* Largest number of free numbers of a polynomial; above it, there are too many terms. */
enum { IDM_POLYNOMIAL_DIMENSIONS = 8 };

typedef struct idm_polynomials idm_polynomials;

/* Functions that polynomials approximate. */
typedef struct polynomial_source {
  size_t dimension;
  const double *low;  /* [dimension]: ends of a box that contains nearly all points */
  const double *high; /* [dimension] */
  size_t leaves;
  /* Evaluate column[leaf] at x. Called from any thread. */
  idm_status (*value)(void *context, const double *x, double *column, idm_error *opt_error);
  bool (*opt_stopped)(void *context); /* called between points, on the calling thread */
  void *context;
} polynomial_source;

/* Fit polynomials. *ret_polynomials is NULL, without an error, if the dimension is too large, a
 * leaf is finite at too few points, or the fit was stopped. The result does not depend on the
 * number of threads. */
idm_status idm_polynomials_create(const polynomial_source *source, int threads,
                                  idm_polynomials **ret_polynomials, idm_error *opt_error);
void idm_polynomials_destroy(idm_polynomials *polynomials);
double idm_polynomials_at(const idm_polynomials *polynomials, size_t leaf, const double *x);

/* === model ================================================================================== */

/* Data shared by all chains of a hierarchy: the design, and the log-likelihoods of its leaves
 * (docs/method/people.md, 1).
 *
 * A leaf is a cell of the design: trajectories that share one vector of free numbers. A source
 * gives its log-likelihood exactly, by planning, and approximately, by a table. Chains propose by
 * the table and, if the caller requires it, accept by the exact value. */

/* Evaluation context of one task. */
typedef struct leaf_worker {
  size_t chain;
  void *evaluator; /* created by the source; NULL: the source has none */
} leaf_worker;

/* Log-likelihoods of leaves. A value depends on the leaf, the numbers and, for `exact`, at most on
 * the chain, never on the thread. */
typedef struct leaf_source {
  void *context;
  /* Approximate value from the table of a leaf. */
  double (*table)(const void *context, size_t leaf, const double *x);
  /* Exact value by planning; -inf if the numbers admit no plan. */
  idm_status (*exact)(void *context, const leaf_worker *worker, size_t leaf, const double *x,
                      double *log_likelihood, idm_error *opt_error);
  /* Exact value and its gradient by the numbers. NULL: gradients are expensive. */
  idm_status (*leaf_gradient)(void *context, const leaf_worker *worker, size_t leaf,
                              const double *x, double *log_likelihood, double *gradient,
                              idm_error *opt_error);
  /* Exact values and gradients of all leaves together: x and gradient are [leaf][coordinates].
   * NULL: use leaf_gradient. */
  idm_status (*leaf_gradients)(void *context, const leaf_worker *worker, const double *x,
                               double *log_likelihood, double *gradient, idm_error *opt_error);
  /* Acquire an evaluator for one task, and release it; both NULL if tasks need none. */
  void *(*acquire)(void *context);
  void (*release)(void *context, void *evaluator);
  /* Replace the tables by tables over a box [coordinates]. The old tables stay if the new ones
   * would be too large or too coarse, or if opt_stopped returns true. prior_box: the box covers the
   * prior, not the range of the chains. *has_tables: tables exist. NULL: tables are fixed. */
  idm_status (*tabulate)(void *context, const double *low, const double *high, bool prior_box,
                         bool (*opt_stopped)(void *), void *stop_context, bool *has_tables,
                         idm_error *opt_error);
  /* Starting point of a leaf: [coordinates]. NULL: the chain finds a mode. */
  const double *(*start)(const void *context, size_t leaf, size_t chain);
} leaf_source;

typedef struct hierarchy {
  const idm_design *design;
  leaf_source leaves;
  bool has_tables; /* leaves have tables */
  size_t *first;   /* [people + 1]: first cell of each person */
  double *gram;    /* [coefficient][coefficient]: sums over people of products of regressors */
} hierarchy;

idm_status idm_hierarchy_create(const idm_design *design, const leaf_source *leaves,
                                bool has_tables, hierarchy *model, idm_error *opt_error);
void idm_hierarchy_destroy(hierarchy *model);

/* Free numbers of a cell, given the effects of its person: Z_c e. */
void idm_hierarchy_coordinates(const idm_design *design, size_t cell, const double *e, double *x);
/* Log-likelihood of a person by the tables. */
double idm_hierarchy_surrogate(const hierarchy *model, size_t person, const double *e);
idm_status idm_hierarchy_exact(const hierarchy *model, const leaf_worker *worker, size_t person,
                               const double *e, double *log_likelihood, idm_error *opt_error);
/* Exact log-likelihoods of all people, and their gradients by the effects: e and gradient are
 * [person][effect]. `scratch` has idm_hierarchy_scratch() elements. */
idm_status idm_hierarchy_gradients(const hierarchy *model, const leaf_worker *worker,
                                   const double *e, double *log_likelihood, double *gradient,
                                   double *scratch, idm_error *opt_error);
size_t idm_hierarchy_scratch(const hierarchy *model);
/* Box that contains the free numbers of all people within 3.5 prior sds. */
void idm_hierarchy_prior_box(const hierarchy *model, double *low, double *high);

/* === cells ================================================================================== */

/* Exact likelihoods of the cells of a design, evaluated by several threads. */

/* The log divided by cell, and evaluators, each with a workspace. The result of an evaluator
 * depends on the numbers and the anchors only, so any free evaluator may be used. */
typedef struct idm_cells idm_cells;
typedef struct idm_evaluator idm_evaluator;

/* Create cells. IDM_INPUT, with its line, for an observation that is impossible in every model of
 * the agent. Problem, data, design and parameters are borrowed. */
idm_status idm_cells_create(const idm_problem *problem, const idm_data *data,
                            const idm_design *design, const idm_parameters *parameters, int threads,
                            idm_cells **ret_cells, idm_error *opt_error);
void idm_cells_destroy(idm_cells *cells);
/* Compute anchor solutions in the box from low to high [coordinates]. Plans then start from their
 * polynomial interpolation (numbers are clamped to the box), which saves about two Newton steps
 * over a start at one anchor. No evaluator may be in use. */
idm_status idm_cells_anchor(idm_cells *cells, const double *low, const double *high,
                            idm_error *opt_error);
/* Acquire an evaluator for one task, and release it. There are as many as threads. */
idm_evaluator *idm_cells_acquire(idm_cells *cells);
void idm_cells_release(idm_cells *cells, idm_evaluator *evaluator);

/* Log-likelihood of one cell at numbers x[coordinates]; -inf if they admit no plan. */
idm_status idm_evaluator_cell(idm_evaluator *evaluator, size_t cell, const double *x,
                              double *log_likelihood, idm_error *opt_error);
/* Log-likelihoods [cell] of all cells at the same numbers, by one plan. The array belongs to the
 * evaluator and is valid until its next call. */
idm_status idm_evaluator_all_cells(idm_evaluator *evaluator, const double *x,
                                   const double **log_likelihood, idm_error *opt_error);

/* Cells with identical plans as the leaves of a hierarchy: one table for all cells, and one plan
 * per point. The table is a grid or, for more than IDM_GRID_DIMENSIONS free numbers, a set of
 * polynomials over the range of the chains. */
typedef struct shared_leaves {
  idm_cells *cells;             /* owned */
  idm_grid *grid;               /* owned; NULL: none */
  idm_polynomials *polynomials; /* owned; NULL: none */
  int threads;
} shared_leaves;

/* Leaf source of `shared`, which must not move while the source is used. */
leaf_source idm_shared_source(shared_leaves *shared);
void idm_shared_destroy(shared_leaves *shared);

/* === check ================================================================================== */

/* Validity of a design. */

/* Largest number of effects of a person; more are not identifiable, and their covariance would mix
 * slowly. There are at least as many effects as free numbers. */
enum { IDM_MAX_EFFECTS = 32 };

/* Check a design. IDM_USAGE if parts are missing; IDM_INPUT if it does not match the problem's free
 * numbers or the log. */
idm_status idm_design_check(const idm_design *design, const idm_problem *problem,
                            const idm_data *data, size_t coordinates, idm_error *opt_error);

/* === sample ================================================================================= */

/* Posterior draws of a hierarchy with any leaves. */

typedef struct hierarchy_request {
  const idm_design *design;
  const leaf_source *leaves;
  bool exact; /* accept every draw by exact likelihoods; false: tables suffice */
  const idm_fit_settings *settings;
  uint64_t key;    /* key of the random streams */
  uint64_t stream; /* first random stream */
  const idm_fit_monitor *opt_monitor;
} hierarchy_request;

/* Sample people and population. The result does not depend on the number of threads. A checkpoint
 * of the watch's work continues the same request. If the watch stops it, the function returns the
 * draws made so far, at least one per chain; IDM_UNTRUSTED if there are none. */
idm_status idm_hierarchy_sample(const hierarchy_request *request, idm_people **ret_people,
                                idm_notes *opt_notes, idm_error *opt_error);

#endif
