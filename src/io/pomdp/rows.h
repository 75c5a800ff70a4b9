/* Rows of distributions as a .POMDP file gives them: non-zero entries only, so that memory follows
 * what the file contains and not the square of the number of states. */
#ifndef IDM_IO_POMDP_ROWS_H
#define IDM_IO_POMDP_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "idm/setting.h"

/* One row. */
typedef struct idm_pomdp_row {
  uint32_t count;
  uint32_t capacity;
  uint32_t *column; /* [count], ascending */
  double *value;    /* [count] */
  bool reset;       /* every entry is the start's, whatever that will be; count is 0 */
} idm_pomdp_row;

typedef struct idm_pomdp_rows {
  size_t count;
  size_t width;
  idm_pomdp_row *row; /* [count] */
} idm_pomdp_rows;

/* So many rows of zeros. */
idm_status idm_pomdp_rows_create(size_t count, size_t width, idm_pomdp_rows *rows,
                                 idm_error *opt_error);
void idm_pomdp_rows_destroy(idm_pomdp_rows *rows);
/* Replace a row by a dense one, [width]. */
idm_status idm_pomdp_rows_set(idm_pomdp_rows *rows, size_t index, const double *dense,
                              idm_error *opt_error);
/* Replace a row by the start belief, which may not be known yet. */
void idm_pomdp_rows_reset(idm_pomdp_rows *rows, size_t index);
/* Set the entries from column `first` to `end` - 1 of a row to one value. */
idm_status idm_pomdp_rows_put(idm_pomdp_rows *rows, size_t index, size_t first, size_t end,
                              double value, idm_error *opt_error);
/* A row as a dense one, [width]; NaN where the start's entry belongs. */
void idm_pomdp_rows_get(const idm_pomdp_rows *rows, size_t index, double *dense);
/* All rows as transitions, entries that are not positive left out. */
idm_status idm_pomdp_rows_moves(const idm_pomdp_rows *rows, idm_moves **ret_moves,
                                idm_error *opt_error);

#endif
