/* The core of libidm: problems, plans, logs, fits, audits, learning, calibration, explanations and
 * figures. Types are opaque; functions give access to what they hold.
 *
 * Conventions. Functions that can fail return idm_status and take an idm_error, which may be NULL;
 * idm_error_text writes its sentence with file, line and column. `const` arguments are borrowed for
 * the call. An argument `idm_TYPE **ret_...` is set to an object that the caller frees with
 * idm_TYPE_destroy, and to NULL on failure; `char **ret_text` is freed with free(). An argument
 * `const TYPE **ret_...` is set to a view, which belongs to the object that it is of. Arguments
 * whose names begin with opt_ may be NULL.
 *
 * Given NULL for any other argument, or an object of another problem, a function that returns a
 * status returns IDM_USAGE or IDM_INPUT before it changes anything, its ret_ arguments included:
 * initialise these. One that returns something else returns NaN, 0, false, NULL or an empty text,
 * or has no effect. _destroy functions take NULL. Lengths of the caller's arrays are not checked.
 *
 * Logs, settings and answers do not refer to the problem that they were made with. A workspace
 * does: its problem must neither change nor be destroyed before it; an agent refers to its
 * workspace.
 *
 * The library does not print, does not exit and keeps no state but what it loads (plug-ins, and
 * shared libraries on first use). Objects may be used from several threads as long as none changes
 * them; netCDF files and run folders are read and written by one thread at a time.
 *
 * Versions follow semantic versioning for these headers: with the same major version, programs that
 * were compiled against an earlier minor version run unchanged. The headers of idm/extension are
 * tables of operations with a size each, for planners, inverse planners and samplers of one's own;
 * they may change with a minor version, and a plug-in that does not match is refused. */
#ifndef IDM_IDM_H
#define IDM_IDM_H

#include "idm/audit.h"
#include "idm/calibrate.h"
#include "idm/data.h"
#include "idm/explain.h"
#include "idm/figure.h"
#include "idm/fit.h"
#include "idm/learn.h"
#include "idm/plan.h"
#include "idm/problem.h"
#include "idm/run.h"
#include "idm/settings.h"
#include "idm/status.h"

#endif
