/* Products of dense matrices of a few hundred rows: in tiles that stay in registers. */
#ifndef IDM_BASE_PRODUCT_H
#define IDM_BASE_PRODUCT_H

#include <stddef.h>

/* c[n][m] += a b, with a[n][k], b[k][m]; entry (i, p) of a stands at a[i * row + p * column], so
 * that (k, 1) is a matrix and (1, n) one that is transposed. c overlaps neither. */
void idm_product(size_t n, size_t m, size_t k, const double *a, size_t row, size_t column,
                 const double *b, double *c);
/* to[m][n] = the transpose of from[n][m]. */
void idm_transpose(size_t n, size_t m, const double *from, double *to);

#endif
