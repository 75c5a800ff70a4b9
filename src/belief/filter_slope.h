/* The derivative of one step of the filter in reverse: of the belief after and of the probability
 * of what was seen, by everything that they are made of. */
#ifndef IDM_BELIEF_FILTER_SLOPE_H
#define IDM_BELIEF_FILTER_SLOPE_H

#include "belief/filter.h"

/* Where derivatives are added; NULL: not wanted. Those by rows of the dynamics are determined up to
 * a number a row, since rows sum to 1. */
typedef struct idm_filter_sink {
  double *belief;     /* [state]: by z; a number common to all states is undetermined */
  double *transition; /* [state][next state] */
  double *emission;   /* [emitter][observation] */
  double *prior;      /* one number each: by the powers of a bent update; at Bayes' rule by those */
  double *evidence;   /* at 1 */
} idm_filter_sink;

/* Numbers of scratch that idm_filter_slope needs. */
size_t idm_filter_slope_scratch(size_t states);
/* One step at z after which x was seen, which is possible: f has the slopes after[s'] by the belief
 * that follows, times `scale`, and `seen` by p(x|z). */
void idm_filter_slope(const idm_world *world, const double *z, size_t x, const double *after,
                      double scale, double seen, const idm_filter_sink *to, double *scratch);

#endif
