/* A wish to stop that reaches every evaluation of a fit, on whatever thread. */
#ifndef IDM_INVERT_MATCHING_HALT_H
#define IDM_INVERT_MATCHING_HALT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "idm/planner.h"
#include "idm/settings.h"
#include "idm/workspace.h"

typedef struct idm_halt {
  const idm_fit_watch *watch; /* NULL: nobody watches */
  const char *words;          /* what is being done */
  double done;                /* share of it, where that is known */
  pthread_t owner;            /* the thread that may be asked from */
  double asked;               /* when it was asked last; of the owner */
  idm_moment since;           /* from when on the limit counts */
  double limit;               /* seconds of work, as idm_worked; 0: none */
  atomic_bool late;           /* the limit is reached, and therefore stop */
  atomic_bool stop;
} idm_halt;

/* Whoever calls this is the owner. */
void idm_halt_begin(idm_halt *halt, const idm_fit_watch *opt_watch, const char *words);
/* IDM_UNTRUSTED once somebody has asked to stop. The owner asks the watcher, a few times a second;
 * NULL: nobody can ask. */
idm_status idm_halt_check(idm_halt *opt_halt, idm_error *opt_error);
/* Of the owner: whether to stop, where that was not asked a moment ago. */
bool idm_halt_ask(idm_halt *halt);
/* Continue for so many seconds of work from now on, after a limit that was reached or not; 0:
 * without a limit. */
void idm_halt_extend(idm_halt *halt, double seconds);
/* idm_plan that ends where somebody asks to stop, with IDM_UNTRUSTED; a search that had to stop for
 * lack of memory is IDM_SYSTEM: what it reached is no plan to judge decisions by. */
idm_status idm_halt_plan(idm_halt *opt_halt, const idm_theta *theta, const idm_solver *solver,
                         idm_workspace *workspace, idm_error *opt_error);
/* idm_parallel under the eyes of the watcher. */
idm_status idm_halt_parallel(idm_halt *opt_halt, size_t count, int threads,
                             void (*task)(void *context, size_t index), void *context,
                             idm_error *opt_error);

#endif
