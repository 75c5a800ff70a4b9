/* Least squares of dense systems that may not determine everything. */
#ifndef IDM_BASE_LEAST_H
#define IDM_BASE_LEAST_H

#include <stdbool.h>
#include <stddef.h>

/* x[columns] of least norm among those that minimise |a x - b|, by Householder reflections with
 * column exchanges, and once more across what they leave. a[rows][columns] and b[rows] are
 * destroyed: the first `rank` rows of a are then rows that span the same space, in the columns'
 * own order. A column that is left with less than `tolerance` of the largest counts as dependent.
 * False where memory ran out; else *ret_rank. */
bool idm_least_squares(size_t rows, size_t columns, double *a, double *b, double tolerance,
                       double *x, size_t *ret_rank);

#endif
