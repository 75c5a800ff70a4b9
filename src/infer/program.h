/* Linear programs, and the nearest point of a polyhedron.
 *
 * Contents: program · nearest */
#ifndef IDM_INFER_PROGRAM_H
#define IDM_INFER_PROGRAM_H

#include <stdint.h>

#include "idm/status.h"

/* === program ================================================================================ */

/* Linear programs: minimise cost . x where lower <= A x <= upper and low <= x <= high. */

typedef struct idm_program idm_program;

typedef enum idm_program_end {
  IDM_PROGRAM_SOLVED,
  IDM_PROGRAM_INFEASIBLE, /* no x satisfies every row and bound */
  IDM_PROGRAM_UNBOUNDED,  /* the cost falls without end */
  IDM_PROGRAM_STOPPED     /* given up: too many steps, or numbers that the solver does not bear */
} idm_program_end;

/* How to begin; what is found is the same. */
typedef enum idm_program_method {
  IDM_PROGRAM_AUTOMATIC, /* the dual one */
  IDM_PROGRAM_BARRIER    /* where almost every column has a row or two of its own */
} idm_program_method;

/* What was found. Its arrays belong to the program and hold until it is solved again. */
typedef struct idm_program_solution {
  idm_program_end end;
  double objective;
  /* How far from the optimum it can be, computed from A and the numbers below and not by the
   * solver: the objective less that of the dual, and the largest violation of a row, a bound or a
   * sign of the dual; each in units of the largest number that enters it, 1 at least. */
  double gap;
  double violation;
  const double *x;    /* [column] */
  const double *dual; /* [row]: prices, the rise of the objective a unit of the row's bound */
} idm_program_solution;

/* A program as it stands; borrowed until something is added to it. */
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

/* So many columns of cost 0, each anywhere; no rows. */
idm_status idm_program_create(size_t columns, idm_program **ret_program, idm_error *opt_error);
void idm_program_destroy(idm_program *program);
size_t idm_program_columns(const idm_program *program);
size_t idm_program_rows(const idm_program *program);
void idm_program_set_method(idm_program *program, idm_program_method method);
void idm_program_set_cost(idm_program *program, size_t column, double cost);
void idm_program_set_bounds(idm_program *program, size_t column, double low, double high);
/* Bounds of a row that is there; either may be infinite. */
void idm_program_set_row(idm_program *program, size_t row, double lower, double upper);
/* Add an entry to the row that comes next; several of one column are summed. */
idm_status idm_program_add_entry(idm_program *program, size_t column, double value,
                                 idm_error *opt_error);
/* Add that row. */
idm_status idm_program_add_row(idm_program *program, double lower, double upper,
                               idm_error *opt_error);
/* Solve. After the first time rows may be added and bounds and costs changed: it goes on from where
 * it was. opt_interrupt is asked now and then; where it says so the end is IDM_PROGRAM_STOPPED. */
idm_status idm_program_solve(idm_program *program, idm_interrupt opt_interrupt, void *context,
                             idm_program_solution *solution, idm_error *opt_error);
/* Of a program that was solved: hold every row and column that has a price at the bound that it
 * leans on. What is left are all optima and nothing else, for other costs to choose from. */
void idm_program_fix_optimal(idm_program *program);
idm_program_view idm_program_get_view(const idm_program *program);

/* === nearest ================================================================================ */

/* The nearest point of a polyhedron. */

/* What is near, and how near it came. */
typedef struct idm_program_projection {
  const double *weight; /* [column]: not negative */
  const double *target; /* [column] */
  double effort;        /* numbers to go through until it is given up: 1e9 are a second or two */
  double distance;      /* sum of weight (x - aim)^2, its square root */
  /* How far from the optimum it can be: the largest of what rows and bounds are violated by, of how
   * far a row with a price is from its bound, and of the slope that prices leave, each in units of
   * the largest number that enters it, 1 at least (Karush, Kuhn and Tucker). */
  double residual;
  bool stopped; /* somebody asked for it */
} idm_program_projection;

/* Minimise sum_j weight_j (x_j - aim_j)^2 over the rows and bounds of a program; its costs play no
 * part. x[columns] is where to start, and then the answer: where several are as near, as columns of
 * weight 0 may be, one that is not far from the start. No solution is shown by a residual that
 * stays large. */
idm_status idm_program_project(const idm_program *program, idm_program_projection *nearest,
                               double *x, idm_interrupt opt_interrupt, void *context,
                               idm_error *opt_error);

#endif
