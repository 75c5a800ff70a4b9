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

void idm_filter_emitter(const idm_world *world, const double *z, double *emitter)
{
  if (world->before)
    memcpy(emitter, z, world->states * sizeof *emitter);
  else
    idm_filter_predict(world->states, world->transition, z, emitter);
}

double idm_filter_correct(const idm_world *world, const double *emitter, size_t x,
                          double *posterior)
{
  const size_t k = world->states;
  const double *emission = world->emission + x;
  double total = 0;
  for (size_t s = 0; s < k; s++) total += emitter[s] * emission[s * world->observations];
  if (!(total > 0)) return 0;
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
