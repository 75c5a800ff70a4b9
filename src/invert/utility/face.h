/* One optimum among all optima of a linear program, by a rule that knows no order: the nearest to a
 * point. And whether there are others. */
#ifndef IDM_INVERT_UTILITY_FACE_H
#define IDM_INVERT_UTILITY_FACE_H

#include "infer/program.h"
#include "invert/matching/halt.h"

typedef struct idm_face {
  size_t count;          /* columns that matter: the first ones */
  const double *weight;  /* [count]: of their squared distance */
  const double *opt_aim; /* [count]; NULL: 0 */
  const double *key; /* [count]: positive numbers that no symmetry shares, see idm_sought_keys */
  bool bounded;      /* optima have an end: not to find it is a matter of rounding, which leaves the
                        optimum that was found */
  double *x;         /* [columns]: the optimum, of the caller's */
  double objective;
  double attained; /* how far from an optimum it can be, as idm_program_solution has it */
  bool only;       /* there is no other */
  bool nearest;    /* it is the nearest; else the one whose sum by keys is least */
  bool unchecked;  /* which others there are was not found */
} idm_face;

/* Solve a program and choose. Costs and bounds of the program are then those of its optima. Not to
 * be solved: IDM_INPUT with `infeasible` or `unbounded` for words; IDM_UNTRUSTED where somebody
 * stopped it. */
idm_status idm_face_choose(idm_program *program, const char *infeasible, const char *unbounded,
                           idm_face *face, idm_halt *halt, idm_error *opt_error);
/* Solve a program; the same failures. */
idm_status idm_face_solve(idm_program *program, const char *infeasible, const char *unbounded,
                          idm_program_solution *solution, idm_halt *halt, idm_error *opt_error);
/* range[count][2] of the columns over what is left of a program that was chosen from. */
idm_status idm_face_ranges(idm_program *program, size_t count, double *range, idm_halt *halt,
                           idm_error *opt_error);

#endif
