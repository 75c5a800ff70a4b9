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

#endif
