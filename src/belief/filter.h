/* The Bayes filter of one candidate model: prediction, then correction by what was seen. */
#ifndef IDM_BELIEF_FILTER_H
#define IDM_BELIEF_FILTER_H

#include <stddef.h>

/* next[s'] = sum_s z_s tau(s'|s,u); transition is the action's matrix [s][s']. */
void idm_filter_predict(size_t states, const double *transition, const double *z, double *next);

/* p(x) = sum_s' next[s'] omega(x|u,s'), and posterior[s'] proportional to next[s'] omega(x|u,s'),
 * normalised where p(x) > 0 and left alone elsewhere. emission is the action's matrix [s'][x]. */
double idm_filter_correct(size_t states, size_t observations, const double *emission,
                          const double *next, size_t x, double *posterior);

/* Both at once: the posterior of z after seeing x, and p(x). */
static inline double idm_filter_update(size_t states, size_t observations, const double *transition,
                                       const double *emission, const double *z, size_t x,
                                       double *posterior)
{
  if (states == 2) { /* the loops below, unrolled */
    const double a = (z[0] * transition[0] + z[1] * transition[2]) * emission[x];
    const double b = (z[0] * transition[1] + z[1] * transition[3]) * emission[observations + x];
    if (!(a + b > 0)) return 0;
    posterior[0] = a / (a + b);
    posterior[1] = b / (a + b);
    return a + b;
  }
  double total = 0;
  for (size_t t = 0; t < states; t++) {
    double next = 0;
    for (size_t s = 0; s < states; s++) next += z[s] * transition[s * states + t];
    posterior[t] = next * emission[t * observations + x];
    total += posterior[t];
  }
  for (size_t t = 0; total > 0 && t < states; t++) posterior[t] /= total;
  return total;
}

#endif
