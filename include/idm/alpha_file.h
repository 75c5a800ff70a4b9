/* Plans as files: vectors of a lower bound on the value, as other programs read them. */
#ifndef IDM_ALPHA_FILE_H
#define IDM_ALPHA_FILE_H

#include "idm/workspace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Write the vectors of a planned workspace in the .alpha format of pomdp-solve: for each a line
 * with the action that its plan begins with, counted from 0, a line with a number a state, and an
 * empty line. The file appears whole or not at all; "-" is standard output. IDM_USAGE where the
 * planner has no vectors. */
IDM_API idm_status idm_plan_write_alpha(const idm_workspace *workspace, size_t variant,
                                        const char *path, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
