/* Small dense symmetric matrices: Cholesky, solves, eigenvectors. For a few dozen parameters. */
#ifndef IDM_BASE_DENSE_H
#define IDM_BASE_DENSE_H

#include <stdbool.h>
#include <stddef.h>

/* a[n][n] = L L' in place (lower triangle; the rest is set to 0). False where a is not positive
 * definite. */
bool idm_cholesky(size_t n, double *a);
/* x = L^-1 x, x = L^-T x, x = L x (in place, for lower triangular L). */
void idm_lower_solve(size_t n, const double *l, double *x);
void idm_lower_solve_transposed(size_t n, const double *l, double *x);
void idm_lower_multiply(size_t n, const double *l, double *x);
/* inverse[n][n] of the matrix whose Cholesky factor is l. */
void idm_cholesky_inverse(size_t n, const double *l, double *inverse);
/* Eigenvalues of a symmetric matrix (destroyed), ascending, and orthonormal eigenvectors in the
 * ROWS of vectors, by Jacobi rotations. */
void idm_symmetric_eigen(size_t n, double *a, double *values, double *vectors);

#endif
