/* The Bayes filter of one candidate model. */
#include "belief/filter.h"

#include <math.h>
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

void idm_filter_emitter(const idm_world *world, const double *z, double *emitter)
{
  if (world->before)
    memcpy(emitter, z, world->states * sizeof *emitter);
  else
    idm_filter_predict(world->states, world->transition, z, emitter);
}

/* Logarithm of the emitter's weight after the update; -inf where it cannot be. */
static double bent_log(const idm_world *world, const double *emitter, size_t x, size_t s)
{
  const double seen = world->emission[s * world->observations + x];
  if (!(emitter[s] > 0 && seen > 0)) return -INFINITY;
  return world->update.prior * log(emitter[s]) + world->update.evidence * log(seen);
}

/* The weights of two emitters after the update: one logistic function of the log-odds. */
static void bend_pair(const idm_world *world, const double *emitter, size_t x, double *weight)
{
  const double low = world->emission[x];
  const double high = world->emission[world->observations + x];
  const bool possible[2] = {emitter[0] > 0 && low > 0, emitter[1] > 0 && high > 0};
  weight[0] = possible[0];
  weight[1] = possible[1];
  if (!possible[0] || !possible[1]) return;
  const double odds = exp(world->update.prior * log(emitter[1] / emitter[0]) +
                          world->update.evidence * log(high / low));
  weight[0] = 1 / (1 + odds);
  weight[1] = 1 / (1 + 1 / odds); /* what is small stays so, and is not lost as 1 - 1 */
}

/* The belief after a bent update from what is possible; `posterior` may be the emitter, where that
 * is the state after. The filter has no scratch for an array of logarithms, so that idm_softmax has
 * no place here. */
static void bend(const idm_world *world, const double *emitter, size_t x, double *posterior)
{
  const size_t k = world->states;
  double most = -INFINITY;
  double total = 0;
  if (k == 2) { /* a fifth of the logarithms */
    double weight[2];
    bend_pair(world, emitter, x, weight);
    const double *t = world->transition;
    posterior[0] = world->before ? weight[0] * t[0] + weight[1] * t[2] : weight[0];
    posterior[1] = world->before ? weight[0] * t[1] + weight[1] * t[3] : weight[1];
    return;
  }
  for (size_t s = 0; s < k; s++) most = fmax(most, bent_log(world, emitter, x, s));
  if (world->before) memset(posterior, 0, k * sizeof *posterior);
  for (size_t s = 0; s < k; s++) {
    const double weight = exp(bent_log(world, emitter, x, s) - most);
    total += weight;
    if (!world->before) posterior[s] = weight;
    for (size_t t = 0; world->before && t < k; t++)
      posterior[t] += weight * world->transition[s * k + t];
  }
  for (size_t t = 0; t < k; t++) posterior[t] /= total;
}

double idm_filter_bent_joint(const idm_world *world, const double *z, size_t x, double *joint)
{
  const double *emitter = z;
  double p = 0;
  if (!world->before) {
    idm_filter_predict(world->states, world->transition, z, joint);
    emitter = joint;
  }
  for (size_t s = 0; s < world->states; s++)
    p += emitter[s] * world->emission[s * world->observations + x];
  if (p > 0) bend(world, emitter, x, joint);
  for (size_t s = 0; s < world->states; s++) joint[s] *= p;
  return p;
}

double idm_filter_correct(const idm_world *world, const double *emitter, size_t x,
                          double *posterior)
{
  const size_t k = world->states;
  const double *emission = world->emission + x;
  double total = 0;
  for (size_t s = 0; s < k; s++) total += emitter[s] * emission[s * world->observations];
  if (!(total > 0)) return 0;
  if (world->update.bent) {
    bend(world, emitter, x, posterior);
    return total;
  }
  if (!world->before) {
    for (size_t t = 0; t < k; t++)
      posterior[t] = emitter[t] * emission[t * world->observations] / total;
    return total;
  }
  memset(posterior, 0, k * sizeof *posterior);
  for (size_t s = 0; s < k; s++) {
    const double seen = emitter[s] * emission[s * world->observations] / total;
    if (seen == 0) continue;
    for (size_t t = 0; t < k; t++) posterior[t] += seen * world->transition[s * k + t];
  }
  return total;
}

void idm_filter_move(const idm_moves *moves, size_t action, size_t states, const double *z,
                     double *next)
{
  for (size_t s = 0; s < states; s++) next[s] = 0;
  for (size_t s = 0; s < states; s++) {
    if (!(z[s] > 0)) continue;
    const size_t row = action * states + s;
    for (size_t i = moves->first[row]; i < moves->first[row + 1]; i++)
      next[moves->next[i]] += z[s] * moves->probability[i];
  }
}

double idm_filter_arrive(const idm_moves *moves, size_t action, size_t states, const double *z,
                         size_t next)
{
  double p = 0;
  for (size_t s = 0; s < states; s++)
    if (z[s] > 0) p += z[s] * idm_moves_find(moves, action * states + s, next);
  return p;
}
