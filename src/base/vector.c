/* Elementary functions over arrays. */
#include "base/vector.h"

IDM_KERNEL(, idm_vector_log, (size_t count, const double *x, double *y), (count, x, y))
{
  for (size_t i = 0; i < count; i++) y[i] = idm_vlog(x[i]);
}
