/* The derivative of one step of the filter in reverse.
 *
 * With E the distribution of the emitter (the prediction, or with `before` z itself), p = sum E
 * omega(x) and w proportional to E^a omega(x)^b, a = b = 1 by Bayes' rule, the belief after is w,
 * or with `before` what tau makes of it. */
#include "belief/filter_slope.h"

#include <math.h>

#include "base/log_sum.h"

typedef struct step {
  double *emitter; /* [state]: E */
  double *weight;  /* [state]: w */
  double *slope;   /* [state]: by w, then by E */
  double power[2]; /* a, b */
  double log_size; /* logarithm of what w was divided by */
} step;

size_t idm_filter_slope_scratch(size_t states)
{
  return 3 * states;
}

static double seen_of(const idm_world *world, size_t e, size_t x)
{
  return world->emission[e * world->observations + x];
}

/* E and w, by Bayes' rule with one division. */
static void retrace(const idm_world *world, const double *z, size_t x, step *s)
{
  double total = 0;
  idm_filter_emitter(world, z, s->emitter);
  for (size_t e = 0; e < world->states; e++) {
    const double seen = seen_of(world, e, x);
    const bool possible = s->emitter[e] > 0 && seen > 0;
    if (!world->update.bent)
      s->weight[e] = s->emitter[e] * seen;
    else
      s->weight[e] =
          possible ? s->power[0] * log(s->emitter[e]) + s->power[1] * log(seen) : -INFINITY;
    total += s->weight[e];
  }
  if (world->update.bent) {
    s->log_size = idm_softmax(s->weight, world->states, s->weight);
    return;
  }
  for (size_t e = 0; e < world->states; e++) s->weight[e] /= total;
  s->log_size = log(total);
}

/* d w / d E or d omega, before w is made to sum to 1, at a place where the factor x has power[i]
 * and the other one power[!i]. What is 0 moves by Bayes' rule only: under other powers it stays. */
static double lever(const step *s, size_t e, int i, double x, double other)
{
  if (x > 0) return s->power[i] * s->weight[e] / x;
  if (s->power[i] != 1 || !(other > 0)) return 0;
  return exp(s->power[!i] * log(other) - s->log_size);
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

/* By the powers themselves. */
static void by_power(const idm_world *world, size_t x, const step *s, const idm_filter_sink *to)
{
  for (size_t e = 0; e < world->states; e++) {
    const double pull = s->weight[e] * s->slope[e];
    if (!(s->weight[e] > 0)) continue;
    if (to->prior) *to->prior += pull * log(s->emitter[e]);
    if (to->evidence) *to->evidence += pull * log(seen_of(world, e, x));
  }
}

void idm_filter_slope(const idm_world *world, const double *z, size_t x, const double *after,
                      double scale, double seen, const idm_filter_sink *to, double *scratch)
{
  const size_t k = world->states;
  const idm_update update = world->update;
  step s = {.emitter = scratch, .weight = scratch + k, .slope = scratch + 2 * k, .power = {1, 1}};
  if (update.bent) {
    s.power[0] = update.prior;
    s.power[1] = update.evidence;
  }
  retrace(world, z, x, &s);
  by_weight(world, after, scale, &s);
  if (to->prior || to->evidence) by_power(world, x, &s, to);
  for (size_t e = 0; e < k; e++) {
    const double omega = seen_of(world, e, x);
    if (to->emission)
      to->emission[e * world->observations + x] +=
          s.slope[e] * lever(&s, e, 1, omega, s.emitter[e]) + seen * s.emitter[e];
    s.slope[e] = s.slope[e] * lever(&s, e, 0, s.emitter[e], omega) + seen * omega;
  }
  for (size_t from = 0; from < k; from++) {
    if (to->belief) to->belief[from] += idm_filter_by_state(world, s.slope, from);
    for (size_t next = 0; to->transition && next < k; next++)
      to->transition[from * k + next] +=
          world->before ? scale * s.weight[from] * after[next] : z[from] * s.slope[next];
  }
}
