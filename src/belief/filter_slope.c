/* The derivative of one step of the filter in reverse.
 *
 * With E the distribution of the emitter (the prediction, or with `before` z itself), p = sum E
 * omega(x) and w = E omega(x) / p, the belief after is w, or with `before` what tau makes of it. */
#include "belief/filter_slope.h"

typedef struct step {
  double *emitter; /* [state]: E */
  double *weight;  /* [state]: w */
  double *slope;   /* [state]: by w, then by E */
} step;

size_t idm_filter_slope_scratch(size_t states)
{
  return 3 * states;
}

/* E and w; returns p. */
static double retrace(const idm_world *world, const double *z, size_t x, const step *s)
{
  const double *emission = world->emission + x;
  double p = 0;
  idm_filter_emitter(world, z, s->emitter);
  for (size_t e = 0; e < world->states; e++) {
    s->weight[e] = s->emitter[e] * emission[e * world->observations];
    p += s->weight[e];
  }
  for (size_t e = 0; e < world->states; e++) s->weight[e] /= p;
  return p;
}

/* Slopes by w, less their mean under it: w sums to 1. */
static void by_weight(const idm_world *world, const double *after, double scale, const step *s)
{
  double mean = 0;
  for (size_t e = 0; e < world->states; e++) {
    s->slope[e] = scale * idm_filter_by_emitter(world, after, e);
    mean += s->weight[e] * s->slope[e];
  }
  for (size_t e = 0; e < world->states; e++) s->slope[e] -= mean;
}

void idm_filter_slope(const idm_world *world, const double *z, size_t x, const double *after,
                      double scale, double seen, const idm_filter_sink *to, double *scratch)
{
  const size_t k = world->states;
  const double *emission = world->emission + x;
  const step s = {scratch, scratch + k, scratch + 2 * k};
  const double p = retrace(world, z, x, &s);
  by_weight(world, after, scale, &s);
  for (size_t e = 0; e < k; e++) {
    const double by_joint = s.slope[e] / p + seen;
    if (to->emission) to->emission[e * world->observations + x] += by_joint * s.emitter[e];
    s.slope[e] = by_joint * emission[e * world->observations];
  }
  for (size_t from = 0; from < k; from++) {
    if (to->belief) to->belief[from] += idm_filter_by_state(world, s.slope, from);
    for (size_t next = 0; to->transition && next < k; next++)
      to->transition[from * k + next] +=
          world->before ? scale * s.weight[from] * after[next] : z[from] * s.slope[next];
  }
}
