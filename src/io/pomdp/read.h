/* The reader of Cassandra's .POMDP format, with a choice of how transitions are kept. */
#ifndef IDM_IO_POMDP_READ_H
#define IDM_IO_POMDP_READ_H

#include <stdbool.h>

#include "idm/problem.h"

/* As idm_problem_parse_pomdp. With `by_rows`, transitions of many hidden states are kept row by
 * row: see idm_problem_read_by_rows. */
idm_status idm_pomdp_parse(const char *text, size_t length, const char *opt_file, bool by_rows,
                           idm_problem **ret_problem, idm_notes *opt_notes, idm_error *opt_error);

#endif
