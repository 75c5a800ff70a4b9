/* Time that only goes forward. */
#ifndef IDM_BASE_CLOCK_H
#define IDM_BASE_CLOCK_H

#include <time.h>

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
typedef struct idm_moment {
  double wall;
  double busy;
} idm_moment;

static inline idm_moment idm_moment_now(void)
{
  return (idm_moment){idm_seconds(), idm_clock_read(CLOCK_PROCESS_CPUTIME_ID)};
}

/* Seconds of work since then: the lesser of both clocks. Threads that run at the same time count
 * once, and time in which other processes have the processors does not count. */
static inline double idm_worked(idm_moment since)
{
  const idm_moment now = idm_moment_now();
  const double wall = now.wall - since.wall, busy = now.busy - since.busy;
  return wall < busy ? wall : busy;
}

#endif
