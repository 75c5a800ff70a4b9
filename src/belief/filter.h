/* The Bayes filter of one candidate model: prediction, and correction by what was seen.
 *
 * What is seen comes from the state after the action, or with `observation_from: before` from the
 * state acted in. Either way it comes from one state, the emitter: p(x) = sum_s emitter[s]
 * omega(x|u,s), where the emitter is distributed as the prediction or as z itself. */
#ifndef IDM_BELIEF_FILTER_H
#define IDM_BELIEF_FILTER_H

#include <stddef.h>

#include "idm/setting.h"

/* How a belief takes up what was seen (Grether 1980): the emitter's posterior is proportional to
 * its prior to one power times the likelihood to another, and what is 0 stays 0. Predictions are
 * those of probability theory all the same. */
typedef struct idm_update {
  bool bent; /* false: Bayes' rule, and nothing below counts */
  double prior;
  double evidence;
} idm_update;

/* One action under one model. */
typedef struct idm_world {
  size_t states;
  size_t observations;
  const double *transition; /* [s][s'] */
  const double *emission;   /* [emitter][x] */
  bool before;              /* the emitter is the state acted in */
  idm_update update;
} idm_world;

/* The environment's own, of an action; its dynamics are known. */
static inline idm_world idm_world_of_setting(const idm_setting *setting, size_t action)
{
  const idm_sizes n = idm_setting_sizes(setting);
  return (idm_world){.states = n.states,
                     .observations = n.observations,
                     .transition = setting->transition + action * n.states * n.states,
                     .emission = setting->emission + action * n.states * n.observations,
                     .before = setting->emits_before};
}

/* next[s'] = sum_s z_s tau(s'|s,u); transition is the action's matrix [s][s']. */
void idm_filter_predict(size_t states, const double *transition, const double *z, double *next);

/* The same by moves, and how likely one of the next states is. */
void idm_filter_move(const idm_moves *moves, size_t action, size_t states, const double *z,
                     double *next);
double idm_filter_arrive(const idm_moves *moves, size_t action, size_t states, const double *z,
                         size_t next);

/* How the emitter is distributed at z. */
void idm_filter_emitter(const idm_world *world, const double *z, double *emitter);

/* p(x), and posterior[s'] = p(s'|z,u,x), normalised where p(x) > 0 and left alone elsewhere. */
double idm_filter_correct(const idm_world *world, const double *emitter, size_t x,
                          double *posterior);

/* p(s'|z,u,x) times p(x) where the update is bent; returns p(x). */
double idm_filter_bent_joint(const idm_world *world, const double *z, size_t x, double *joint);

/* Two states: what takes z to p(s', x | z, u), joint[i] = z[0] from[0][i] + z[1] from[1][i]. */
typedef struct idm_world_pair {
  double from[2][2];
} idm_world_pair;

/* `emission` is the column of what was seen, a stride of `observations` apart. */
static inline idm_world_pair idm_world_pair_of(const double *transition, const double *emission,
                                               size_t observations, bool before)
{
  const double low = emission[0];
  const double high = emission[observations];
  return (idm_world_pair){{{transition[0] * low, transition[1] * (before ? low : high)},
                           {transition[2] * (before ? high : low), transition[3] * high}}};
}

/* joint[s'] = p(s', x | z, u); returns their sum p(x). Where the update is bent, the belief after
 * times p(x). */
static inline double idm_filter_joint(const idm_world *world, const double *z, size_t x,
                                      double *joint)
{
  const size_t k = world->states;
  const double *emission = world->emission + x;
  if (world->update.bent) return idm_filter_bent_joint(world, z, x, joint);
  if (k == 2) { /* the loops below, unrolled */
    const idm_world_pair pair =
        idm_world_pair_of(world->transition, emission, world->observations, world->before);
    joint[0] = z[0] * pair.from[0][0] + z[1] * pair.from[1][0];
    joint[1] = z[0] * pair.from[0][1] + z[1] * pair.from[1][1];
    return joint[0] + joint[1];
  }
  double total = 0;
  for (size_t t = 0; t < k; t++) {
    double next = 0;
    for (size_t s = 0; s < k; s++)
      next += z[s] * world->transition[s * k + t] *
              (world->before ? emission[s * world->observations] : 1);
    joint[t] = world->before ? next : next * emission[t * world->observations];
    total += joint[t];
  }
  return total;
}

/* --- derivatives, backwards ----------------------------------------------------------------- */

/* sum_s' tau(s'|s,u) slope[s']. */
static inline double idm_filter_ahead(const idm_world *world, const double *slope, size_t s)
{
  double sum = 0;
  for (size_t t = 0; t < world->states; t++)
    sum += world->transition[s * world->states + t] * slope[t];
  return sum;
}

/* From slopes by the state after, [s'], to those by the emitter. */
static inline double idm_filter_by_emitter(const idm_world *world, const double *slope, size_t s)
{
  return world->before ? idm_filter_ahead(world, slope, s) : slope[s];
}

/* From slopes by the emitter to those by the state acted in. */
static inline double idm_filter_by_state(const idm_world *world, const double *slope, size_t s)
{
  return world->before ? slope[s] : idm_filter_ahead(world, slope, s);
}

/* back[s] += factor sum_s' (slope[s'] - offset) d joint[s'] / d z_s, by Bayes' rule. */
static inline void idm_filter_recall(const idm_world *world, size_t x, const double *slope,
                                     double offset, double factor, double *back)
{
  const size_t k = world->states;
  const double *emission = world->emission + x;
  for (size_t t = 0; t < k; t++)
    for (size_t s = 0; s < k; s++)
      back[s] += factor * (slope[t] - offset) * world->transition[s * k + t] *
                 emission[(world->before ? s : t) * world->observations];
}

#endif
