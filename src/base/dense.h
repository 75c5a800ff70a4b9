/* Linear algebra: dense matrices, sparse systems and systems known by products.
 *
 * Contents: dense · envelope · krylov · least · null space · product */
#ifndef IDM_BASE_DENSE_H
#define IDM_BASE_DENSE_H

#include <stdbool.h>
#include <stddef.h>

/* === dense ================================================================================== */

/* Small dense symmetric matrices: Cholesky, solves, eigenvectors. For a few dozen parameters. */

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

/* === envelope =============================================================================== */

/* Square systems that need no exchange of rows, such as those of chains and of normal equations,
 * where much of the matrix may be 0. */

/* The first and the last column of a row that is not 0. */
typedef struct idm_row_extent {
  size_t first;
  size_t last;
} idm_row_extent;

/* a[n][n] = L U in place, L with a diagonal of 1, in the order given: stable for matrices whose
 * diagonal dominates its rows, and for positive definite ones. What is 0 beyond the edges [n],
 * which are found, stays 0 and costs nothing. False where a pivot is 0 or no number. */
bool idm_envelope_factor(size_t n, double *a, idm_row_extent *extent);
/* x = a^-1 x, and x = a^-T x, in place. */
void idm_envelope_solve(size_t n, const double *a, const idm_row_extent *extent, double *x);
void idm_envelope_solve_transposed(size_t n, const double *a, const idm_row_extent *extent,
                                   double *x);

/* === krylov ================================================================================= */

/* Linear systems A x = b where A is known by its products only. */

/* y = A x. */
typedef void (*idm_apply)(const void *context, const double *x, double *y);

/* Largest basis between restarts. */
enum { IDM_GMRES_BASIS = 24 };
/* Vectors of length n that idm_gmres needs for a basis of `basis`. */
#define IDM_GMRES_WORK(basis) ((size_t)(basis) + 1)

/* GMRES (Saad and Schultz 1986) from x = 0 until |b - A x| <= tolerance |b| in the 2-norm,
 * restarted every `basis` products (at most IDM_GMRES_BASIS), at most `products` products with A in
 * all. Returns the relative residual reached; adds the products spent to *opt_used. */
double idm_gmres(size_t n, idm_apply apply, const void *context, const double *b, double *x,
                 double tolerance, int basis, int products, double *work, long *opt_used);

/* === least ================================================================================== */

/* Least squares of dense systems that may not determine everything. */

/* x[columns] of least norm among those that minimise |a x - b|, by Householder reflections with
 * column exchanges, and once more across what they leave. a[rows][columns] and b[rows] are
 * destroyed: the first `rank` rows of a are then rows that span the same space, in the columns'
 * own order. A column that is left with less than `tolerance` of the largest counts as dependent.
 * False where memory ran out; else *ret_rank. */
bool idm_least_squares(size_t rows, size_t columns, double *a, double *b, double tolerance,
                       double *x, size_t *ret_rank);

/* === null space ============================================================================= */

/* The null space of a dense matrix. */

/* Bring a[rows][columns] into reduced row echelon form, by the largest pivot of each column;
 * entries below `tolerance` times the largest of the matrix count as 0. Returns the rank;
 * pivot[rank] are its columns. */
size_t idm_row_reduce(size_t rows, size_t columns, double *a, double tolerance, size_t *pivot);
/* basis[columns - rank][columns] of {x : a x = 0} for a reduced matrix: one vector a column that is
 * no pivot, which has a 1 there and a 0 at the others. */
void idm_null_space(size_t columns, const double *a, size_t rank, const size_t *pivot,
                    double *basis);

/* === product ================================================================================ */

/* Products of dense matrices of a few hundred rows: in tiles that stay in registers. */

/* c[n][m] += a b, with a[n][k], b[k][m]; entry (i, p) of a stands at a[i * row + p * column], so
 * that (k, 1) is a matrix and (1, n) one that is transposed. c overlaps neither. */
void idm_product(size_t n, size_t m, size_t k, const double *a, size_t row, size_t column,
                 const double *b, double *c);
/* to[m][n] = the transpose of from[n][m]. */
void idm_transpose(size_t n, size_t m, const double *from, double *to);

#endif
