/* Square systems that need no exchange of rows, such as those of chains and of normal equations,
 * where much of the matrix may be 0. */
#ifndef IDM_BASE_ENVELOPE_H
#define IDM_BASE_ENVELOPE_H

#include <stdbool.h>
#include <stddef.h>

/* The first and the last column of a row that is not 0. */
typedef struct idm_edge {
  size_t first;
  size_t last;
} idm_edge;

/* a[n][n] = L U in place, L with a diagonal of 1, in the order given: stable for matrices whose
 * diagonal dominates its rows, and for positive definite ones. What is 0 beyond the edges [n],
 * which are found, stays 0 and costs nothing. False where a pivot is 0 or no number. */
bool idm_envelope_factor(size_t n, double *a, idm_edge *edge);
/* x = a^-1 x, and x = a^-T x, in place. */
void idm_envelope_solve(size_t n, const double *a, const idm_edge *edge, double *x);
void idm_envelope_solve_transposed(size_t n, const double *a, const idm_edge *edge, double *x);

#endif
