/* Log-likelihoods of all cells on a grid of the free numbers, and between its points by polynomials
 * of degree five: a stand-in for the likelihood that costs nothing. */
#ifndef IDM_INVERT_PEOPLE_TABLE_H
#define IDM_INVERT_PEOPLE_TABLE_H

#include "invert/people/cells.h"

/* Free numbers beyond which a grid has too many points. */
enum { IDM_TABLE_DIMENSIONS = 3 };

typedef struct idm_table idm_table;

/* From low to high [coordinates]. NULL, and no error, where the dimension or the number of cells is
 * too large, or `opt_stopped` said true (called between points on the calling thread). */
idm_status idm_table_create(idm_cells *cells, size_t count, size_t coordinates, const double *low,
                            const double *high, int threads, bool (*opt_stopped)(void *context),
                            void *context, idm_table **ret_table, idm_error *opt_error);
void idm_table_destroy(idm_table *table);
/* At x[coordinates]; outside the grid, at its nearest point. */
double idm_table_at(const idm_table *table, size_t cell, const double *x);

#endif
