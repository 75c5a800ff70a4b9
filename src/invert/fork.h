/* A problem like another but for a parameter and dynamics of its own: all else is borrowed. */
#ifndef IDM_INVERT_FORK_H
#define IDM_INVERT_FORK_H

#include "idm/problem.h"

/* NULL where it fails. */
idm_status idm_problem_fork(const idm_problem *problem, idm_problem **ret_fork,
                            idm_error *opt_error);
void idm_fork_destroy(idm_problem *fork);

#endif
