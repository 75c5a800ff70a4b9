/* Reader of Cassandra's .POMDP format, which can keep transitions as sparse rows. */
#ifndef IDM_IO_POMDP_READ_H
#define IDM_IO_POMDP_READ_H

#include <stdbool.h>

#include "idm/extension/problem.h"

/* As idm_problem_parse_pomdp. With `by_rows`, transitions of many hidden states are kept as sparse
 * rows; see idm_problem_read_by_rows. */
idm_status idm_pomdp_parse(const char *text, size_t length, const char *opt_file, bool by_rows,
                           idm_problem **ret_problem, idm_notes *opt_notes, idm_error *opt_error);

#endif
