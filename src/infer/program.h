/* Linear programs, and projection onto a polyhedron.
 *
 * Contents: program · nearest */
#ifndef IDM_INFER_PROGRAM_H
#define IDM_INFER_PROGRAM_H

#include <stdint.h>

#include "idm/status.h"

/* === program ================================================================================ */

/* Linear programs: minimise cost . x subject to lower <= A x <= upper and low <= x <= high. */

typedef struct idm_program idm_program;

typedef enum idm_program_end {
  IDM_PROGRAM_SOLVED,
  IDM_PROGRAM_INFEASIBLE, /* no feasible x */
  IDM_PROGRAM_UNBOUNDED,  /* the cost is unbounded below */
  IDM_PROGRAM_STOPPED     /* interrupted, too many iterations, or numerical failure of the solver */
} idm_program_end;

/* Initial method; the result is the same. */
typedef enum idm_program_method {
  IDM_PROGRAM_AUTOMATIC, /* dual simplex */
  IDM_PROGRAM_BARRIER /* barrier, for programs in which almost every column has a row or two of its
                         own */
} idm_program_method;

/* Solution. Its arrays belong to the program and are valid until it is solved again. */
typedef struct idm_program_solution {
  idm_program_end end;
  double objective;
  /* Certificate, computed from A and the solution independent of the solver: gap is the primal
   * minus the dual objective, violation the largest violation of a row, a bound or a sign of the
   * dual; each relative to the largest number involved, at least 1. */
  double gap;
  double violation;
  const double *x;    /* [column] */
  const double *dual; /* [row]: multipliers, the derivative of the objective with respect to the
                         row's bound */
} idm_program_solution;

/* View of a program; borrowed, valid until an entry or row is added. */
typedef struct idm_program_view {
  size_t columns;
  size_t rows;
  const double *cost; /* [column] */
  const double *low;
  const double *high;
  const double *lower; /* [row] */
  const double *upper;
  const size_t *first; /* [row + 1]: row i has entries first[i] .. first[i + 1] - 1 */
  const int *column;   /* [entry] */
  const double *value;
} idm_program_view;

/* Create a program with `columns` columns of cost 0 without bounds, and no rows. IDM_SYSTEM if CLP
 * is not installed. */
idm_status idm_program_create(size_t columns, idm_program **ret_program, idm_error *opt_error);
void idm_program_destroy(idm_program *program);
size_t idm_program_columns(const idm_program *program);
size_t idm_program_rows(const idm_program *program);
void idm_program_set_method(idm_program *program, idm_program_method method);
void idm_program_set_cost(idm_program *program, size_t column, double cost);
void idm_program_set_bounds(idm_program *program, size_t column, double low, double high);
/* Set the bounds of an existing row; either may be infinite. */
void idm_program_set_row(idm_program *program, size_t row, double lower, double upper);
/* Add an entry to the next row; entries of the same column are summed. */
idm_status idm_program_add_entry(idm_program *program, size_t column, double value,
                                 idm_error *opt_error);
/* Complete that row, with its bounds. */
idm_status idm_program_add_row(idm_program *program, double lower, double upper,
                               idm_error *opt_error);
/* Solve. Later, rows may be added and bounds and costs changed before the next call, which starts
 * from the last basis. opt_interrupt is called regularly; if it returns true, solution->end is
 * IDM_PROGRAM_STOPPED. */
idm_status idm_program_solve(idm_program *program, idm_interrupt opt_interrupt, void *context,
                             idm_program_solution *solution, idm_error *opt_error);
/* After a solution: fix every row and column with a nonzero multiplier at its active bound. The
 * remaining feasible set is the set of all optima, over which another cost can be minimised. */
void idm_program_fix_optimal(idm_program *program);
idm_program_view idm_program_get_view(const idm_program *program);

/* === nearest ================================================================================ */

/* Weighted projection onto a polyhedron. */

/* Weights, target point and result of a projection. */
typedef struct idm_program_projection {
  const double *weight; /* [column]: non-negative */
  const double *target; /* [column] */
  double effort;        /* limit on operations: 1e9 are about one or two seconds */
  double distance;      /* square root of sum of weight (x - target)^2 */
  /* Residual of the Karush-Kuhn-Tucker conditions: the largest violation of a row or bound,
   * distance of a row with a multiplier from its bound, and gradient of the Lagrangian, each
   * relative to the largest number involved, at least 1. */
  double residual;
  bool stopped; /* interrupted */
} idm_program_projection;

/* Minimise sum_j weight_j (x_j - target_j)^2 subject to the rows and bounds of a program; its costs
 * are ignored. x [columns] is the starting point and receives the solution; if it is not unique, as
 * with weights 0, a solution close to the starting point. If there is no solution, the residual
 * stays large. */
idm_status idm_program_project(const idm_program *program, idm_program_projection *nearest,
                               double *x, idm_interrupt opt_interrupt, void *context,
                               idm_error *opt_error);

#endif
