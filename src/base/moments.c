/* Mean and variance: see the header. */
#include "base/moments.h"

#include <math.h>

idm_moments idm_moments_of(const double *x, size_t count)
{
  double mean = 0;
  double square = 0;
  for (size_t i = 0; i < count; i++) {
    const double step = x[i] - mean;
    mean += step / (double)(i + 1);
    square += step * (x[i] - mean);
  }
  return (idm_moments){mean, count > 1 ? square / (double)(count - 1) : NAN};
}
