/* Elementary functions over arrays. */
#include "base/vector.h"

IDM_CLONES
void idm_vector_log(size_t count, const double *x, double *y)
{
  for (size_t i = 0; i < count; i++) y[i] = idm_vlog(x[i]);
}
