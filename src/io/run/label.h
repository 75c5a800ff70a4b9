/* Labels: 64 bits that tell one thing asked for from another, whatever its file looks like. */
#ifndef IDM_IO_RUN_LABEL_H
#define IDM_IO_RUN_LABEL_H

#include "idm/key.h"
#include "idm/problem.h"

/* The label so far, and a problem as it was read. What a log gives it (utilities by column) is no
 * part: before and after idm_problem_bind it is the same. */
uint64_t idm_label_problem(uint64_t label, const idm_problem *problem);
/* The label so far, and every field that results depend on: all but the places. */
uint64_t idm_label_fields(uint64_t label, const idm_key *keys, const void *fields);

#endif
