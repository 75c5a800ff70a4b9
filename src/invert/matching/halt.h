/* A wish to stop that reaches every evaluation of a fit, on whatever thread. */
#ifndef IDM_INVERT_MATCHING_CANCEL_H
#define IDM_INVERT_MATCHING_CANCEL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/system.h"
#include "idm/planner.h"
#include "idm/settings.h"
#include "idm/workspace.h"

typedef struct idm_cancel {
  const idm_fit_monitor *watch; /* NULL: nobody watches */
  const char *activity;         /* what is being done */
  double done;                  /* share of it, where that is known */
  pthread_t owner;              /* the thread that may be asked from */
  double last_poll;             /* when it was asked last; of the owner */
  idm_timestamp limit_start;    /* from when on the limit counts */
  double limit;                 /* seconds of work, as idm_seconds_worked; 0: none */
  atomic_bool timed_out;        /* the limit is reached, and therefore stop */
  atomic_bool stop;
} idm_cancel;

/* Whoever calls this is the owner. */
void idm_cancel_init(idm_cancel *cancel, const idm_fit_monitor *opt_monitor, const char *activity);
/* IDM_UNTRUSTED once somebody has asked to stop. The owner asks the watcher, a few times a second;
 * NULL: nobody can ask. */
idm_status idm_cancel_check(idm_cancel *opt_cancel, idm_error *opt_error);
/* Of the owner: whether to stop, where that was not asked a moment ago. */
bool idm_cancel_poll(idm_cancel *cancel);
/* Continue for so many seconds of work from now on, after a limit that was reached or not; 0:
 * without a limit. */
void idm_cancel_extend(idm_cancel *cancel, double seconds);
/* idm_plan that ends where somebody asks to stop, with IDM_UNTRUSTED; a search that had to stop for
 * lack of memory is IDM_SYSTEM: what it reached is no plan to judge decisions by. */
idm_status idm_cancel_plan(idm_cancel *opt_cancel, const idm_theta *theta, const idm_solver *solver,
                           idm_workspace *workspace, idm_error *opt_error);
/* idm_parallel under the eyes of the watcher. */
idm_status idm_cancel_parallel(idm_cancel *opt_cancel, size_t count, int threads,
                               void (*task)(void *context, size_t index), void *context,
                               idm_error *opt_error);

#endif
