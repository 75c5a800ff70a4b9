/* Columns of a log to be written: those that the problem maps, by its names for them. */
#ifndef IDM_IO_LOG_LAYOUT_H
#define IDM_IO_LOG_LAYOUT_H

#include "idm/data.h"
#include "io/log/header.h"

/* Beside the roles of a log that is read: what nobody reads back. */
enum { IDM_LAYOUT_STEP = IDM_ROLE_COUNT, IDM_LAYOUT_STATE };

typedef struct idm_layout_column {
  char *name;
  size_t role; /* of idm_column, IDM_ROLE_UTILITY, IDM_ROLE_BELIEF, or one of the above */
  size_t part; /* which of the role's columns */
} idm_layout_column;

/* Zero-initialise. */
typedef struct idm_layout {
  size_t count;
  idm_layout_column *column;
} idm_layout;

/* The columns of evidence, in the order in which they are written. Where agent and trajectory share
 * a column it stands once, as the agent's. IDM_INPUT where the log would be read otherwise than it
 * is written: a column of two roles, or one that the reader takes for another role by default. */
idm_status idm_layout_create(idm_layout *layout, const idm_data *data, const idm_problem *problem,
                             idm_error *opt_error);
void idm_layout_destroy(idm_layout *layout);

/* Part `part` of a text that stands in `count` columns, joined by '/' when it is read: the pieces
 * between the first '/' characters, the last being all that is left. False where it has too few
 * pieces, or one that a reader would not find again: empty, or with a blank at an end. */
bool idm_layout_piece(const char *text, size_t count, size_t part, const char **ret_piece,
                      size_t *ret_length);

#endif
