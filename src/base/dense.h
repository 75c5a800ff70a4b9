/* Linear algebra: Cholesky and Jacobi for small dense matrices, LU within an envelope, restarted
 * GMRES, least squares, null spaces and tiled products.
 *
 * Contents: dense · envelope · krylov · least · null space · product */
#ifndef IDM_BASE_DENSE_H
#define IDM_BASE_DENSE_H

#include <stdbool.h>
#include <stddef.h>

/* === dense ================================================================================== */

/* Small dense symmetric matrices (a few dozen rows): Cholesky, triangular solves, eigenvectors. */

/* Cholesky factor in place: a[n][n] = L L' (lower triangle; the rest is set to 0). Returns false
 * where a is not positive definite. */
bool idm_cholesky(size_t n, double *a);
/* x = L^-1 x, x = L^-T x, x = L x in place, for lower triangular l[n][n]. */
void idm_lower_solve(size_t n, const double *l, double *x);
void idm_lower_solve_transposed(size_t n, const double *l, double *x);
void idm_lower_multiply(size_t n, const double *l, double *x);
/* inverse[n][n] of the matrix whose Cholesky factor is l[n][n]. */
void idm_cholesky_inverse(size_t n, const double *l, double *inverse);
/* Eigenvalues of a symmetric matrix a[n][n] (destroyed) in ascending order, and orthonormal
 * eigenvectors in the ROWS of vectors[n][n], by Jacobi rotations. */
void idm_symmetric_eigen(size_t n, double *a, double *values, double *vectors);

/* === envelope =============================================================================== */

/* Square systems that need no row exchanges, such as those of Markov chains and normal equations,
 * of which many entries may be 0. */

/* First and last nonzero column of a row. */
typedef struct idm_row_extent {
  size_t first;
  size_t last;
} idm_row_extent;

/* LU factorisation in place without pivoting: a[n][n] = L U, with a unit diagonal of L. It is
 * stable for matrices that are diagonally dominant by rows, and for positive definite ones.
 * extent[n] receives the envelope; zeros outside it stay 0 and are skipped. Returns false where a
 * pivot is 0 or not finite. */
bool idm_envelope_factor(size_t n, double *a, idm_row_extent *extent);
/* x = a^-1 x and x = a^-T x in place, by the factors and extents of idm_envelope_factor. */
void idm_envelope_solve(size_t n, const double *a, const idm_row_extent *extent, double *x);
void idm_envelope_solve_transposed(size_t n, const double *a, const idm_row_extent *extent,
                                   double *x);

/* === krylov ================================================================================= */

/* Linear systems A x = b where A is available through matrix-vector products only. */

/* y = A x. */
typedef void (*idm_apply)(const void *context, const double *x, double *y);

/* Largest basis between restarts. */
enum { IDM_GMRES_BASIS = 24 };
/* Number of vectors of length n in the scratch `work` of idm_gmres. */
#define IDM_GMRES_WORK(basis) ((size_t)(basis) + 1)

/* Solve A x = b by GMRES (Saad and Schultz 1986) from x = 0 until |b - A x| <= tolerance |b| in the
 * 2-norm. The method restarts after `basis` products (at most IDM_GMRES_BASIS) and ends after
 * `products` products in all. work[IDM_GMRES_WORK(basis)][n] is scratch. Returns the relative
 * residual that was reached (1 where b is not finite); adds the number of products to *opt_used. */
double idm_gmres(size_t n, idm_apply apply, const void *context, const double *b, double *x,
                 double tolerance, int basis, int products, double *work, long *opt_used);

/* === least ================================================================================== */

/* Least squares of dense systems, which may be rank deficient. */

/* x[columns] of least norm among the minimisers of |a x - b|, by a complete orthogonal
 * decomposition with column pivoting. a[rows][columns] and b[rows] are destroyed: afterwards the
 * first `rank` rows of a span the same row space, in the original order of the columns. A column
 * whose remaining norm is at most `tolerance` times the largest counts as dependent. Returns false
 * where memory runs out; else *ret_rank is the rank. */
bool idm_least_squares(size_t rows, size_t columns, double *a, double *b, double tolerance,
                       double *x, size_t *ret_rank);

/* === null space ============================================================================= */

/* The null space of a dense matrix. */

/* Reduce a[rows][columns] to reduced row echelon form, with the largest entry of each column as its
 * pivot. Entries of at most `tolerance` times the largest entry of the matrix count as 0. Returns
 * the rank; pivot[rank] receives the pivot columns. */
size_t idm_row_reduce(size_t rows, size_t columns, double *a, double tolerance, size_t *pivot);
/* Basis of the null space {x : a x = 0} of a reduced matrix, basis[columns - rank][columns]: one
 * vector per column without a pivot, with a 1 in that column and a 0 in the other columns without a
 * pivot. */
void idm_null_space(size_t columns, const double *a, size_t rank, const size_t *pivot,
                    double *basis);

/* === product ================================================================================ */

/* Products of dense matrices of a few hundred rows, in tiles that stay in registers. */

/* c[n][m] += a b with a[n][k] and b[k][m]. Entry (i, p) of a is a[i * row + p * column]: strides
 * (k, 1) for a matrix, (1, n) for a transposed one. c must not overlap a or b. */
void idm_product(size_t n, size_t m, size_t k, const double *a, size_t row, size_t column,
                 const double *b, double *c);
/* to[m][n] = the transpose of from[n][m]. */
void idm_transpose(size_t n, size_t m, const double *from, double *to);

#endif
