/* Cancellation of all evaluations of a fit, on any thread, by a monitor or a time limit. */
#ifndef IDM_INVERT_CANCEL_H
#define IDM_INVERT_CANCEL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/system.h"
#include "idm/extension/fit_settings.h"
#include "idm/extension/planner.h"
#include "plan/plan.h"

typedef struct idm_cancel {
  const idm_fit_monitor *watch; /* NULL: no monitor */
  const char *activity;         /* current activity, for progress messages */
  double done;                  /* completed share, if known */
  pthread_t owner;              /* the thread that calls the monitor */
  double last_poll;             /* time of the last call of the monitor; used by the owner only */
  idm_timestamp limit_start;    /* start of the time limit */
  double limit;                 /* seconds of work, as idm_seconds_worked; 0: none */
  atomic_bool timed_out;        /* the limit is reached, which is why `stop` is set */
  atomic_bool stop;
} idm_cancel;

/* The calling thread becomes the owner. */
void idm_cancel_init(idm_cancel *cancel, const idm_fit_monitor *opt_monitor, const char *activity);
/* Returns IDM_UNTRUSTED once a stop is requested. The owner calls the monitor a few times per
 * second. NULL: never cancelled. */
idm_status idm_cancel_check(idm_cancel *opt_cancel, idm_error *opt_error);
/* Called by the owner: whether to stop; calls the monitor unless that was done a moment ago. */
bool idm_cancel_poll(idm_cancel *cancel);
/* Continue with a limit of `seconds` of work from now on, whether the previous limit was reached or
 * not; 0: no limit. */
void idm_cancel_extend(idm_cancel *cancel, double seconds);
/* idm_plan that returns IDM_UNTRUSTED if a stop is requested. A search that ran out of memory
 * returns IDM_SYSTEM: its bounds are too wide to score decisions. */
idm_status idm_cancel_plan(idm_cancel *opt_cancel, const idm_theta *theta, const idm_solver *solver,
                           idm_workspace *workspace, idm_error *opt_error);
/* idm_parallel with calls of the monitor. */
idm_status idm_cancel_parallel(idm_cancel *opt_cancel, size_t count, int threads,
                               void (*task)(void *context, size_t index), void *context,
                               idm_error *opt_error);

#endif
