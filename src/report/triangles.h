/* A simplex of three states cut into small triangles, `side` to an edge. */
#ifndef IDM_REPORT_TRIANGLES_H
#define IDM_REPORT_TRIANGLES_H

#include "idm/figure.h"

/* Beliefs at its corners. The first is where a cell of a figure is said to be; the second lies
 * towards, or where it points down away from, the second state, the third the third. */
typedef struct idm_triangle {
  double corner[3][3];
} idm_triangle;

/* How many there are. */
size_t idm_triangles_count(size_t side);
/* All of them, [count]. */
void idm_triangles_make(size_t side, idm_triangle *ret_triangles);
/* Put one into a mark of cells, as item i. */
void idm_triangle_set(const idm_triangle *triangle, idm_mark *cells, size_t i, double value);
/* Share out a mass at belief z between the triangles that it lies in: one, or those that meet
 * there.
 */
void idm_triangles_share(size_t side, const double *z, double mass, double *sum);

#endif
