/* One sweep of `value-iteration-network`. */
#include "plan/network/value_iteration_sweep.h"

void idm_sweep_quality(const value_iteration *v, size_t variant, size_t sweep, size_t state,
                       double *quality, double *opt_future)
{
  const size_t k = v->sizes.states, n = v->sizes.actions;
  const double *weight = v->weight + sweep * SWEEP_WEIGHTS;
  const double *before = v->value + (variant * (v->sweeps + 1) + sweep) * k;
  for (size_t u = 0; u < n; u++) {
    const size_t *row = v->moves->first + u * k + state;
    double future = 0;
    for (size_t i = row[0]; !v->setting->terminal[u] && i < row[1]; i++)
      future += v->moves->probability[i] * before[v->moves->next[i]];
    if (opt_future) opt_future[u] = future;
    quality[u] = weight[SWEEP_UTILITY] * v->utility[(variant * n + u) * k + state] +
                 weight[SWEEP_FUTURE] * v->discount * future;
  }
}
