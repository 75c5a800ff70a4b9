/* The operating system: clocks, interruption, threads and shared libraries.
 *
 * Contents: clock · interrupt · parallel · library */
#ifndef IDM_BASE_SYSTEM_H
#define IDM_BASE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "idm/status.h"

/* === clock ================================================================================== */

/* Monotonic time. */

static inline double idm_clock_read(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds since an unspecified start. */
static inline double idm_seconds(void)
{
  return idm_clock_read(CLOCK_MONOTONIC);
}

/* A point in time, by the monotonic clock and by the processor time of this process, in seconds. */
typedef struct idm_timestamp {
  double wall_time;
  double cpu_time;
} idm_timestamp;

static inline idm_timestamp idm_timestamp_now(void)
{
  return (idm_timestamp){idm_seconds(), idm_clock_read(CLOCK_PROCESS_CPUTIME_ID)};
}

/* Seconds of work since a point in time: the smaller of both clocks. Threads that run at the same
 * time count once; time in which other processes use the processors does not count. */
static inline double idm_seconds_worked(idm_timestamp since)
{
  const idm_timestamp now = idm_timestamp_now();
  const double wall_time = now.wall_time - since.wall_time,
               cpu_time = now.cpu_time - since.cpu_time;
  return wall_time < cpu_time ? wall_time : cpu_time;
}

/* === interrupt ============================================================================== */

/* Interruption of long loops: a callback every few milliseconds. */

typedef struct idm_interruption {
  idm_interrupt callback; /* NULL: no interruption */
  void *context;
} idm_interruption;

/* Call the callback at every 4096th iteration i of a loop whose iterations take microseconds.
 * Returns IDM_UNTRUSTED where it returns true. */
static inline idm_status idm_interruption_check(const idm_interruption *interruption, size_t i,
                                                idm_error *opt_error)
{
  enum { iterations = 4096 };
  if (i % iterations || !interruption->callback || !interruption->callback(interruption->context))
    return IDM_OK;
  return idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
}

/* === parallel =============================================================================== */

/* Independent tasks on several threads, with a periodic callback on the calling thread. */

/* Run task(context, i) for i = 0 .. count-1 on at most `threads` threads; threads take tasks in
 * order of i. The calling thread calls opt_watch(context) before the first task and about ten times
 * per second until all tasks are done; with one thread and no watch it runs the tasks itself.
 * IDM_SYSTEM only where no thread at all can be started. */
idm_status idm_parallel(size_t count, int threads, void (*task)(void *context, size_t index),
                        void (*opt_watch)(void *context), void *context, idm_error *opt_error);
/* Number of processors of this machine, at least 1. */
int idm_processors(void);

/* === library ================================================================================ */

/* Shared libraries that are loaded on first use.
 *
 * Linking a library that few commands need would lengthen every start of the program. The caller
 * keeps a table of function pointers and fills it with one call under pthread_once:
 *
 *     #define FUNCTIONS(X) X(nc_open) X(nc_close)
 *     static struct { FUNCTIONS(IDM_LIBRARY_POINTER) } netcdf;
 *     #define SYMBOL(name) IDM_LIBRARY_SYMBOL(netcdf, name)
 *     static const idm_symbol symbols[] = {FUNCTIONS(SYMBOL)}; */

typedef struct idm_symbol {
  const char *name;
  void *pointer; /* address of the function pointer to set */
} idm_symbol;

/* A member of the table, with the type of the function. */
#define IDM_LIBRARY_POINTER(name)       __typeof__(name) *(name);
#define IDM_LIBRARY_SYMBOL(table, name) {#name, &(table).name},

/* Load a library by its file name and set the function pointers. The library stays loaded. Returns
 * false if the library or one of the symbols is missing. */
bool idm_library_load(const char *file, const idm_symbol *symbols, size_t count);

#endif
