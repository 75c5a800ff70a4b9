/* Results of checks: recorded by whatever measures, read by whatever reports. */
#ifndef IDM_INVERT_CHECK_H
#define IDM_INVERT_CHECK_H

#include "idm/assess.h"

/* Clear the results: every row that applies to the kind is not run, for want of what it needs. */
void idm_checks_begin(idm_checks *checks, idm_check_kind kind);
/* Whether a value is within the threshold; NaN is not. Every value is, where there is none. */
bool idm_check_passes(idm_check_id id, double value);
/* Take in an outcome and a value: the results keep the worst of each. A NaN leaves the value. */
void idm_check_record(idm_checks *checks, idm_check_id id, idm_check_outcome outcome, double value);
/* Record a value with the outcome that the threshold gives; true where it is beyond. */
bool idm_check_test(idm_checks *checks, idm_check_id id, double value);
/* The same of a value that need not exist: a NaN is not recorded, and not beyond. */
bool idm_check_test_optional(idm_checks *checks, idm_check_id id, double value);
/* Record an outcome; returns the list of the assessment that its sentence belongs to. */
idm_notes *idm_check_note(idm_assessment *assessment, idm_check_id id, idm_check_outcome outcome);
/* What a check that ran does not apply to. */
void idm_check_add_exception(idm_checks *checks, idm_check_id id, const char *format, ...)
    IDM_PRINTF(3, 4);
/* Why a check was not run. Nothing changes where it was. */
void idm_check_skip(idm_checks *checks, idm_check_id id, const char *format, ...) IDM_PRINTF(3, 4);
/* The same reason for every check of the log that was not run. */
void idm_checks_skip_log(idm_checks *checks, const char *why);
/* Note that a check is left out for a limit of so many seconds (idm_fit_monitor.check_seconds).
 * What it has recorded is dropped. */
void idm_check_leave_out(idm_checks *checks, idm_check_id id, double seconds);
/* Note that a check is left out though there is no limit: nothing here can run it. */
void idm_check_mark_unavailable(idm_checks *checks, idm_check_id id, const char *why);
/* Add a remark that lists the checks that were left out, where there are any. */
void idm_checks_remark_left_out(const idm_checks *checks, idm_notes *remarks);
/* Take in the results of a part of the answer, such as a person or a group: the worst of each row,
 * where a misfit of the part counts as `misfit`. Parts may be taken in any order, and more than
 * once. */
void idm_checks_merge(idm_checks *checks, const idm_checks *part, idm_check_outcome misfit);

#endif
