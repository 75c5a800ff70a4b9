/* Time that only goes forward. */
#ifndef IDM_BASE_CLOCK_H
#define IDM_BASE_CLOCK_H

#include <time.h>

/* Seconds since some moment. */
static inline double idm_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
