/* Which rows of a log are wanted: conditions on its columns, as `--where` states them. */
#ifndef IDM_IO_LOG_WHERE_H
#define IDM_IO_LOG_WHERE_H

#include "base/intern.h"
#include "io/log/header.h"

/* COLUMN=VALUE or COLUMN!=VALUE. */
typedef struct idm_condition {
  size_t column;
  bool unequal;
  const char *value; /* borrowed from its text */
  bool numeric;
  double number;
} idm_condition;

/* Zero-initialise. */
typedef struct idm_where {
  size_t count;
  const char *const *text; /* borrowed */
  idm_condition *condition;
  size_t kept; /* rows */
  size_t dropped;
  idm_intern cut; /* trajectories that lost a row: agent, NUL, id */
} idm_where;

/* Find the columns of the conditions in a header. */
idm_status idm_where_map(idm_where *where, const idm_log_header *header, idm_error *opt_error);
/* Whether a row is wanted; a text of `missing` is an empty cell. Values of one column are
 * alternatives; else all conditions hold. */
bool idm_where_keeps(const idm_where *where, const idm_intern *missing, const idm_csv_field *field);
void idm_where_clear(idm_where *where);

#endif
