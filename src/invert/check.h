/* Results of checks: recorded by the functions that measure, read by those that report. */
#ifndef IDM_INVERT_CHECK_H
#define IDM_INVERT_CHECK_H

#include "invert/assess.h"

/* Resets the results: every row that applies to the kind is "not run", with what it needs as the
 * reason. */
void idm_checks_begin(idm_checks *checks, idm_check_kind kind);
/* true if a value is within the threshold of the check. NaN is not; every value is if the check has
 * no threshold. */
bool idm_check_passes(idm_check_id id, double value);
/* Merges an outcome and a value: the results keep the worst of each. A NaN leaves the value
 * unchanged. */
void idm_check_record(idm_checks *checks, idm_check_id id, idm_check_outcome outcome, double value);
/* Records a value with the outcome that the threshold gives; returns true if it is beyond the
 * threshold. */
bool idm_check_test(idm_checks *checks, idm_check_id id, double value);
/* The same for an optional value: a NaN is not recorded and returns false. */
bool idm_check_test_optional(idm_checks *checks, idm_check_id id, double value);
/* Records an outcome; returns the list of notes of the assessment that its sentence belongs to. */
idm_notes *idm_check_note(idm_assessment *assessment, idm_check_id id, idm_check_outcome outcome);
/* Notes a part of the answer that a completed check does not cover. No effect on a check that did
 * not run. */
void idm_check_add_exception(idm_checks *checks, idm_check_id id, const char *format, ...)
    IDM_PRINTF(3, 4);
/* Records why a check was not run. No effect on a check that ran. */
void idm_check_skip(idm_checks *checks, idm_check_id id, const char *format, ...) IDM_PRINTF(3, 4);
/* Records the same reason for every check of the log that was not run. */
void idm_checks_skip_log(idm_checks *checks, const char *why);
/* Records that a check is left out because of a limit of `seconds` (idm_fit_monitor.check_seconds;
 * negative: --checks none). Its recorded results are dropped. */
void idm_check_leave_out(idm_checks *checks, idm_check_id id, double seconds);
/* Records that a check is left out for a reason other than a limit: it cannot be run here. */
void idm_check_mark_unavailable(idm_checks *checks, idm_check_id id, const char *why);
/* Adds a remark that lists the checks that were left out, if any. */
void idm_checks_remark_left_out(const idm_checks *checks, idm_notes *remarks);
/* Merges the results of a part of the answer, such as a person or a group: the worst outcome and
 * value of each row, where a misfit of the part counts as `misfit`. The result does not depend on
 * the order of the parts, and merging a part twice has no effect. */
void idm_checks_merge(idm_checks *checks, const idm_checks *part, idm_check_outcome misfit);

#endif
