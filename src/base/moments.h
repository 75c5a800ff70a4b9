/* Mean and variance of numbers, in one pass (Welford 1962). */
#ifndef IDM_BASE_MOMENTS_H
#define IDM_BASE_MOMENTS_H

#include <stddef.h>

typedef struct idm_moments {
  double mean;
  double variance; /* with n - 1; NaN of one number */
} idm_moments;

idm_moments idm_moments_of(const double *x, size_t count);

#endif
