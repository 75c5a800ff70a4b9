/* Independent tasks on a few threads, watched by the caller. */
#ifndef IDM_BASE_PARALLEL_H
#define IDM_BASE_PARALLEL_H

#include "idm/status.h"

/* Run task(context, i) for i = 0 .. count-1 on at most `threads` threads, in order of i as threads
 * become free. The calling thread calls opt_watch(context) about ten times a second until all are
 * done; with one thread and no watch it does the work itself. Fewer threads than asked for are not
 * an error, none at all is. */
idm_status idm_parallel(size_t count, int threads, void (*task)(void *context, size_t index),
                        void (*opt_watch)(void *context), void *context, idm_error *opt_error);
/* Processors of this machine, at least 1. */
int idm_processors(void);

#endif
