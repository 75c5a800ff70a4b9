/* The system: time, interruption, threads and shared libraries.
 *
 * Contents: clock · interrupt · parallel · library */
#ifndef IDM_BASE_SYSTEM_H
#define IDM_BASE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "idm/status.h"

/* === clock ================================================================================== */

/* Time that only goes forward. */

static inline double idm_clock_read(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds since some moment. */
static inline double idm_seconds(void)
{
  return idm_clock_read(CLOCK_MONOTONIC);
}

/* A moment, by the clock on the wall and by the processor time of this process. */
typedef struct idm_timestamp {
  double wall_time;
  double cpu_time;
} idm_timestamp;

static inline idm_timestamp idm_timestamp_now(void)
{
  return (idm_timestamp){idm_seconds(), idm_clock_read(CLOCK_PROCESS_CPUTIME_ID)};
}

/* Seconds of work since then: the lesser of both clocks. Threads that run at the same time count
 * once, and time in which other processes have the processors does not count. */
static inline double idm_seconds_worked(idm_timestamp since)
{
  const idm_timestamp now = idm_timestamp_now();
  const double wall_time = now.wall_time - since.wall_time,
               cpu_time = now.cpu_time - since.cpu_time;
  return wall_time < cpu_time ? wall_time : cpu_time;
}

/* === interrupt ============================================================================== */

/* Long loops that somebody may want to end: asked every few milliseconds, not at every turn. */

typedef struct idm_interruption {
  idm_interrupt callback; /* NULL: nobody */
  void *context;
} idm_interruption;

/* At turn i of a loop whose turns take microseconds: IDM_UNTRUSTED where it is to end. */
static inline idm_status idm_interruption_check(const idm_interruption *interruption, size_t i,
                                                idm_error *opt_error)
{
  enum { iterations = 4096 };
  if (i % iterations || !interruption->callback || !interruption->callback(interruption->context))
    return IDM_OK;
  return idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
}

/* === parallel =============================================================================== */

/* Independent tasks on a few threads, watched by the caller. */

/* Run task(context, i) for i = 0 .. count-1 on at most `threads` threads, in order of i as threads
 * become free. The calling thread calls opt_watch(context) about ten times a second until all are
 * done; with one thread and no watch it does the work itself. Fewer threads than asked for are not
 * an error, none at all is. */
idm_status idm_parallel(size_t count, int threads, void (*task)(void *context, size_t index),
                        void (*opt_watch)(void *context), void *context, idm_error *opt_error);
/* Processors of this machine, at least 1. */
int idm_processors(void);

/* === library ================================================================================ */

/* Shared libraries that are loaded on first use.
 *
 * A library that only some commands need costs every start of the program time when it is linked.
 * The caller keeps a table of function pointers and fills it with one call under pthread_once:
 *
 *     #define FUNCTIONS(X) X(nc_open) X(nc_close)
 *     static struct { FUNCTIONS(IDM_LIBRARY_POINTER) } netcdf;
 *     #define SYMBOL(name) IDM_LIBRARY_SYMBOL(netcdf, name)
 *     static const idm_symbol symbols[] = {FUNCTIONS(SYMBOL)};
 */

typedef struct idm_symbol {
  const char *name;
  void *pointer; /* address of the function pointer to fill */
} idm_symbol;

/* A member of the table, declared with the type of the function. */
#define IDM_LIBRARY_POINTER(name)       __typeof__(name) *(name);
#define IDM_LIBRARY_SYMBOL(table, name) {#name, &(table).name},

/* Load a library by its file name and fill the function pointers. The library stays loaded. Returns
 * false if the library or one of the symbols is missing. */
bool idm_library_load(const char *file, const idm_symbol *symbols, size_t count);

#endif
