/* The Bayes filter of one candidate model. */
#include "belief/filter.h"

#include <string.h>

void idm_filter_predict(size_t states, const double *transition, const double *z, double *next)
{
  memset(next, 0, states * sizeof *next);
  for (size_t s = 0; s < states; s++) {
    if (z[s] == 0) continue;
    const double *row = transition + s * states;
    for (size_t t = 0; t < states; t++) next[t] += z[s] * row[t];
  }
}

double idm_filter_correct(size_t states, size_t observations, const double *emission,
                          const double *next, size_t x, double *posterior)
{
  double total = 0;
  for (size_t t = 0; t < states; t++) total += next[t] * emission[t * observations + x];
  if (!(total > 0)) return 0;
  for (size_t t = 0; t < states; t++)
    posterior[t] = next[t] * emission[t * observations + x] / total;
  return total;
}
