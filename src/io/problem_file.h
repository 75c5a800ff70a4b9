/* Problem files: YAML, Cassandra's POMDP format, overrides and built-in examples; and alpha
 * vectors of a plan.
 *
 * Contents: problem file · alpha file */
#ifndef IDM_IO_PROBLEM_FILE_H
#define IDM_IO_PROBLEM_FILE_H

#include "base/arguments.h"
#include "idm/extension/problem.h"
#include "idm/problem.h"
#include "plan/plan.h"

/* === problem file =========================================================================== */

/* Problem files: YAML, Cassandra's POMDP format, overrides and built-in examples. */

/* The same, but transitions of many hidden states in a .POMDP file stay sparse (`moves` of the
 * setting), with memory proportional to the number of entries that are not 0. Only planners with
 * IDM_SUPPORTS_SPARSE_HIDDEN support such a problem (built in: `point-based`). Beliefs along a log
 * or a path require matrices. */
IDM_CHECKED idm_status idm_problem_read_by_rows(const char *path, idm_problem **ret_problem,
                                                idm_notes *opt_notes, idm_error *opt_error);
/* Give a problem new states, named state1, state2 and so on, without knowledge of them: the
 * dynamics leave everything possible, models follow their rule, and the utility of an action is
 * kept if it is the same in every state. *ret_unknown receives the number of other actions, whose
 * utilities are placeholders in a file written from the problem and must be filled in before that
 * file can be read. */
IDM_CHECKED idm_status idm_problem_reset_states(idm_problem *problem, size_t states,
                                                size_t *ret_unknown, idm_error *opt_error);
/* The same with the lines of `head` as comments at the top. */
IDM_CHECKED idm_status idm_problem_write_yaml_headed(const idm_problem *problem, const char *head,
                                                     const char *path, idm_error *opt_error);
/* Write a problem in Cassandra's format. Content that the format cannot express is reported in
 * opt_notes; IDM_INPUT if its omission would change the meaning of the problem. */
IDM_CHECKED idm_status idm_problem_write_pomdp(const idm_problem *problem, const char *path,
                                               idm_notes *opt_notes, idm_error *opt_error);

/* === alpha file ============================================================================= */

/* Write the alpha vectors of a plan to a file in the format of pomdp-solve. */

/* Write the alpha vectors of a planned workspace for one variant of the setting, in the .alpha
 * format of pomdp-solve: per vector one line with the first action of its plan (counted from 0),
 * one line with one number per state, and an empty line. The file at `path` is replaced as a whole
 * or not at all; "-" is standard output. Errors: IDM_USAGE where the planner has no alpha vectors
 * (only point-based has), IDM_SYSTEM where the file cannot be written. */
IDM_CHECKED idm_status idm_plan_write_alpha(const idm_workspace *workspace, size_t variant,
                                            const char *path, idm_error *opt_error);

#endif
