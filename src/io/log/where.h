/* Which rows of a log are wanted: conditions on its columns, as `--where` states them. */
#ifndef IDM_IO_LOG_WHERE_H
#define IDM_IO_LOG_WHERE_H

#include "base/intern.h"
#include "idm/predicate.h"
#include "io/log/header.h"

typedef struct idm_condition {
  size_t column;
  idm_predicate predicate;
} idm_condition;

/* Zero-initialise. */
typedef struct idm_where {
  size_t count;
  const char *const *text; /* borrowed */
  idm_condition *condition;
} idm_where;

/* Find the columns of the conditions in a header. */
idm_status idm_where_map(idm_where *where, const idm_log_header *header, idm_error *opt_error);
/* Which condition a row fails (`count`: none, it is wanted), and whether its cell is missing; a
 * text of `missing` is an empty cell. Values of one column are alternatives; else all conditions
 * hold. */
idm_status idm_where_fails(const idm_where *where, const idm_intern *missing,
                           const idm_log_header *header, const idm_csv_field *field,
                           size_t *ret_condition, bool *ret_missing, idm_error *opt_error);
void idm_where_clear(idm_where *where);
/* Whether a cell meets a predicate; `option` says in messages who asks. An order of numbers and a
 * cell that is none is an error. */
idm_status idm_cell_meets(const idm_predicate *predicate, const char *option, const char *file,
                          const idm_csv_field *cell, idm_meeting *ret_meeting,
                          idm_error *opt_error);

#endif
