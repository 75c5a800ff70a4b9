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
 * Names. A function is named after the object that it is of, which is its first argument; further
 * objects follow in the order problem, answer, log, settings, then numbers, results, notes and the
 * error. A plural noun is a count (idm_audit_groups), `..._name` a name by index, NULL past the
 * last.
 *
 * Versions are semantic, and this is what version 1 promises for these headers (the core). A
 * program that was compiled with version 1.x runs with the library of every later version 1.y,
 * without being compiled again: functions, enumerators and fields keep their names, types and
 * meaning. A minor version may add functions, enumerators (also of checks, verdicts and figure
 * kinds), names of settings, and fields at the end of structs that begin with their `size`; it may
 * return more precise errors of the same status, and other draws or numbers of the same
 * distribution. A struct without a `size` does not change. Set `size` by sizeof, and fields that
 * are not used to 0: the library takes structs of every version whose further fields are 0. Texts
 * (messages, notes, remarks) may change at any time, and no program should compare them. The name
 * of the shared library (soname) contains the major version, and symbols have the version node
 * IDM_1.
 *
 * The headers of idm/extension are tables of operations, with a size each, for planners,
 * behaviours, inverse planners and samplers of one's own, and the structs that these read. They may
 * change with a minor version: compile extensions with the headers of the library that loads them.
 * A plug-in of another layout is refused. All other headers are private and are not installed. */
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
