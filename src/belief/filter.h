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

/* Both at once, without the normalisation: joint[s'] = p(s', x | z, u); returns their sum p(x). */
static inline double idm_filter_joint(size_t states, size_t observations, const double *transition,
                                      const double *emission, const double *z, size_t x,
                                      double *joint)
{
  if (states == 2) { /* the loops below, unrolled */
    joint[0] = (z[0] * transition[0] + z[1] * transition[2]) * emission[x];
    joint[1] = (z[0] * transition[1] + z[1] * transition[3]) * emission[observations + x];
    return joint[0] + joint[1];
  }
  double total = 0;
  for (size_t t = 0; t < states; t++) {
    double next = 0;
    for (size_t s = 0; s < states; s++) next += z[s] * transition[s * states + t];
    joint[t] = next * emission[t * observations + x];
    total += joint[t];
  }
  return total;
}

#endif
