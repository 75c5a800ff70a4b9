/* Write the alpha vectors of a plan to a file in the format of pomdp-solve. */
#ifndef IDM_IO_ALPHA_FILE_H
#define IDM_IO_ALPHA_FILE_H

#include "base/door.h"
#include "plan/plan.h"

/* Write the alpha vectors of a planned workspace for one variant of the setting, in the .alpha
 * format of pomdp-solve: per vector one line with the first action of its plan (counted from 0),
 * one line with one number per state, and an empty line. The file at `path` is replaced as a whole
 * or not at all; "-" is standard output. Errors: IDM_USAGE where the planner has no alpha vectors
 * (only point-based has), IDM_SYSTEM where the file cannot be written. */
IDM_CHECKED idm_status idm_plan_write_alpha(const idm_workspace *workspace, size_t variant,
                                            const char *path, idm_error *opt_error);

#endif
