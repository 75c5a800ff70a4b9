/* Sorted numbers and their quantiles: see the header. */
#include "base/quantile.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void idm_sort(double *x, size_t count)
{
  if (count) qsort(x, count, sizeof *x, ascending);
}

/* Hyndman and Fan (1996), definition 7. */
double idm_sorted_quantile(const double *sorted, size_t count, double q)
{
  double place = q * (double)(count - 1);
  /* q = 0.05 is not a binary number: a place that would be an integer in decimals is rounded. */
  const double nearest = floor(place + 0.5);
  if (fabs(place - nearest) <= 4 * DBL_EPSILON * (double)count) place = nearest;
  const size_t below = (size_t)place;
  const double share = place - (double)below;
  const double low = sorted[below];
  if (!(share > 0) || !(low < sorted[below + 1])) return low;
  return low + share * (sorted[below + 1] - low);
}

double idm_quantile(double *x, size_t count, double q)
{
  if (!x || count == 0 || !(q >= 0 && q <= 1)) return NAN;
  for (size_t i = 0; i < count; i++)
    if (isnan(x[i])) return NAN;
  idm_sort(x, count);
  return idm_sorted_quantile(x, count, q);
}
