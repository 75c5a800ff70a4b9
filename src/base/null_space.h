/* The null space of a dense matrix. */
#ifndef IDM_BASE_NULL_SPACE_H
#define IDM_BASE_NULL_SPACE_H

#include <stddef.h>

/* Bring a[rows][columns] into reduced row echelon form, by the largest pivot of each column;
 * entries below `tolerance` times the largest of the matrix count as 0. Returns the rank;
 * pivot[rank] are its columns. */
size_t idm_row_reduce(size_t rows, size_t columns, double *a, double tolerance, size_t *pivot);
/* basis[columns - rank][columns] of {x : a x = 0} for a reduced matrix: one vector a column that is
 * no pivot, which has a 1 there and a 0 at the others. */
void idm_null_space(size_t columns, const double *a, size_t rank, const size_t *pivot,
                    double *basis);

#endif
