/* Vectors of a lower bound. */
#include "plan/point/alphas.h"

#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"

void idm_alphas_free(alphas *a)
{
  free(a->value);
  free(a->action);
  free(a->instead);
  *a = (alphas){.states = a->states};
}

double idm_alphas_bytes(const alphas *a)
{
  return (double)a->capacity *
         (double)(a->states * sizeof *a->value + sizeof *a->action + sizeof *a->instead);
}

/* Slices follow each other, so that the array grows in place where it can. Half as much again is
 * enough: vectors are most of the memory of a large problem. Slices without vectors stay unwritten,
 * so that they take no pages. */
static idm_status grow(alphas *a, idm_error *opt_error)
{
  const size_t slices = a->capacity / ALPHA_LANES;
  const size_t capacity = (slices + slices / 2 + 4) * ALPHA_LANES;
  const size_t numbers = idm_times(capacity, a->states);
  const size_t bytes = idm_times(numbers, sizeof *a->value);
  assert(bytes > 0); /* a vector has a number per state */
  double *value = bytes < SIZE_MAX ? realloc(a->value, bytes) : NULL;
  if (value) a->value = value;
  uint32_t *action = realloc(a->action, capacity * sizeof *action);
  if (action) a->action = action;
  uint32_t *instead = realloc(a->instead, capacity * sizeof *instead);
  if (instead) a->instead = instead;
  if (!value || !action || !instead) return idm_fail_memory(opt_error);
  a->capacity = capacity;
  return IDM_OK;
}

/* Which lanes of a slice a vector is nowhere below. */
IDM_KERNEL(static, find_covered,
           (const double *slice, size_t states, const double *vector, int64_t covered[ALPHA_LANES]),
           (slice, states, vector, covered))
{
  for (size_t i = 0; i < ALPHA_LANES; i++) covered[i] = 1;
  int64_t any = 1;
  for (size_t s = 0; s < states && any; s++) {
    any = 0;
    for (size_t i = 0; i < ALPHA_LANES; i++) {
      covered[i] &= vector[s] >= slice[s * ALPHA_LANES + i];
      any |= covered[i];
    }
  }
}

static void set_lane(alphas *a, size_t vector, const double *opt_value)
{
  double *lane = a->value + vector / ALPHA_LANES * a->states * ALPHA_LANES + vector % ALPHA_LANES;
  for (size_t s = 0; s < a->states; s++)
    lane[s * ALPHA_LANES] = opt_value ? opt_value[s] : -INFINITY;
}

/* Leave the slice that begins with a vector without any. */
static void clear_slice(alphas *a, size_t first)
{
  double *slice = a->value + first * a->states;
  for (size_t i = 0; i < a->states * ALPHA_LANES; i++) slice[i] = -INFINITY;
}

idm_status idm_alphas_add(alphas *a, const double *vector, size_t action, idm_error *opt_error)
{
  if (a->count == a->capacity) {
    const idm_status status = grow(a, opt_error);
    if (status != IDM_OK) return status;
  }
  for (size_t from = 0; from < a->count; from += ALPHA_LANES) {
    int64_t covered[ALPHA_LANES];
    find_covered(a->value + from * a->states, a->states, vector, covered);
    for (size_t i = from; i < from + ALPHA_LANES && i < a->count; i++) {
      if (!covered[i - from] || a->instead[i] != i) continue;
      a->instead[i] = (uint32_t)a->count;
      a->dead++;
      set_lane(a, i, NULL);
    }
  }
  if (a->count % ALPHA_LANES == 0) clear_slice(a, a->count);
  set_lane(a, a->count, vector);
  a->action[a->count] = (uint32_t)action;
  a->instead[a->count] = (uint32_t)a->count;
  a->count++;
  return IDM_OK;
}

/* What the vectors of a slice are worth at a belief. */
IDM_KERNEL(static, weigh, (const double *slice, const belief *b, double value[ALPHA_LANES]),
           (slice, b, value))
{
  double sum[ALPHA_LANES] = {0};
  for (size_t k = 0; k < b->count; k++) {
    const double mass = b->mass[k];
    const double *row = slice + (size_t)b->state[k] * ALPHA_LANES;
    for (size_t i = 0; i < ALPHA_LANES; i++) sum[i] += mass * row[i];
  }
  for (size_t i = 0; i < ALPHA_LANES; i++) value[i] = sum[i];
}

alpha_choice idm_alphas_best(const alphas *a, const belief *b, size_t from, alpha_choice known)
{
  for (size_t first = from / ALPHA_LANES * ALPHA_LANES; first < a->count; first += ALPHA_LANES) {
    double value[ALPHA_LANES];
    weigh(a->value + first * a->states, b, value);
    for (size_t i = 0; i < ALPHA_LANES; i++)
      if (value[i] > known.value) known = (alpha_choice){(uint32_t)(first + i), value[i]};
  }
  return known;
}

void idm_alphas_keep(alphas *a, const bool *used)
{
  uint32_t first = 0;
  while (!used[first]) first++;
  for (size_t i = 0; i < a->count; i++) {
    if (used[i] || a->instead[i] != i) continue;
    a->instead[i] = first;
    a->dead++;
    set_lane(a, i, NULL);
  }
}

void idm_alphas_compact(alphas *a, uint32_t *map, uint32_t *before)
{
  uint32_t left = 0;
  for (size_t i = 0; i < a->count; i++) {
    before[i] = left;
    left += a->instead[i] == i;
  }
  before[a->count] = left;
  for (size_t i = 0; i < a->count; i++) map[i] = before[alpha_living(a, (uint32_t)i)];
  for (size_t i = 0; i < a->count; i++) {
    if (a->instead[i] != i) continue;
    const size_t to = before[i];
    for (size_t s = 0; to != i && s < a->states; s++) {
      double *lane = a->value + (to / ALPHA_LANES * a->states + s) * ALPHA_LANES + to % ALPHA_LANES;
      *lane = alpha_at(a, i, s);
    }
    a->action[to] = a->action[i];
  }
  for (size_t i = left; i % ALPHA_LANES; i++) set_lane(a, i, NULL);
  for (uint32_t i = 0; i < left; i++) a->instead[i] = i;
  a->count = left;
  a->dead = 0;
}
