/* The time limit of the checks that read the log. */
#ifndef IDM_INVERT_ASSESS_ALLOWANCE_H
#define IDM_INVERT_ASSESS_ALLOWANCE_H

#include "invert/assess/checks.h"
#include "invert/matching/halt.h"

/* Checks run in order. Each may use half of the time that is left, all of the first 10 s, or one
 * second, whichever ends last: a long check leaves time for those after it, and short checks run
 * even after it. */
typedef struct allowance {
  idm_halt *halt; /* of the fit that the checks evaluate; NULL: checks are not interrupted */
  double seconds; /* as idm_fit_watch.check_seconds, by idm_worked: other processes on the machine
                     do not take from it */
  idm_moment started;
} allowance;

/* The time starts now. */
allowance idm_allowance_begin(double seconds, idm_halt *opt_halt);
/* Run a check of the log within the time limit of the inquiry. A check that does not end in time
 * leaves nothing behind but a row, or rows, that are not run, with the reason. */
idm_status idm_allowance_run(const inquiry *q, idm_check_id id, idm_check_function *check,
                             idm_error *opt_error);
/* Within a check: whether its time is up, so that what it is doing is worthless. Then the row is
 * left out, and the check has another second for what remains of it. */
bool idm_allowance_leave_part(const inquiry *q, idm_check_id id);

#endif
