/* The nearest point of a polyhedron. */
#ifndef IDM_INFER_NEAREST_H
#define IDM_INFER_NEAREST_H

#include "infer/program.h"

/* What is near, and how near it came. */
typedef struct idm_nearest {
  const double *weight; /* [column]: not negative */
  const double *aim;    /* [column] */
  double effort;        /* numbers to go through until it is given up: 1e9 are a second or two */
  double distance;      /* sum of weight (x - aim)^2, its square root */
  /* How far from the optimum it can be: the largest of what rows and bounds are violated by, of how
   * far a row with a price is from its bound, and of the slope that prices leave, each in units of
   * the largest number that enters it, 1 at least (Karush, Kuhn and Tucker). */
  double residual;
  bool stopped; /* somebody asked for it */
} idm_nearest;

/* Minimise sum_j weight_j (x_j - aim_j)^2 over the rows and bounds of a program; its costs play no
 * part. x[columns] is where to start, and then the answer: where several are as near, as columns of
 * weight 0 may be, one that is not far from the start. No solution is shown by a residual that
 * stays large. */
idm_status idm_program_nearest(const idm_program *program, idm_nearest *nearest, double *x,
                               idm_interrupt opt_interrupt, void *context, idm_error *opt_error);

#endif
