/* A lower bound on the value: the largest of a set of vectors, each of them what some plan is worth
 * by state, and the action that plan begins with. */
#ifndef IDM_PLAN_POINT_ALPHAS_H
#define IDM_PLAN_POINT_ALPHAS_H

#include <stdint.h>

#include "idm/status.h"
#include "plan/point/belief.h"

/* Vectors lie side by side in slices of so many. */
enum { ALPHA_LANES = 16 };

typedef struct alphas {
  size_t states;
  size_t count;
  size_t capacity;
  size_t dead;       /* of them */
  double *value;     /* [slice][state][lane]; -inf of a lane that is dead, or none yet */
  uint32_t *action;  /* [count] */
  uint32_t *instead; /* [count]: one that is nowhere below; itself while it lives */
} alphas;

/* A vector and what it is worth at some belief. */
typedef struct alpha_choice {
  uint32_t vector;
  double value;
} alpha_choice;

void idm_alphas_free(alphas *a);
double idm_alphas_bytes(const alphas *a);
/* Add a vector, [state]; those that it is nowhere below die. */
idm_status idm_alphas_add(alphas *a, const double *vector, size_t action, idm_error *opt_error);
/* The best of the vectors from `from` on, or `known` where none of them is better. */
alpha_choice idm_alphas_best(const alphas *a, const belief *b, size_t from, alpha_choice known);
/* Let the vectors die that are not used, [count]; one at least is. */
void idm_alphas_keep(alphas *a, const bool *used);
/* Close ranks over the dead. map[i] is what became of vector i, [count] before; map[count] the
 * number left; and before[i], [count + 1], how many of those below i are left. */
void idm_alphas_compact(alphas *a, uint32_t *map, uint32_t *before);

static inline double alpha_at(const alphas *a, size_t vector, size_t state)
{
  return a->value[(vector / ALPHA_LANES * a->states + state) * ALPHA_LANES + vector % ALPHA_LANES];
}

/* The vector that stands for another: itself, or one that is nowhere below. */
static inline uint32_t alpha_living(const alphas *a, uint32_t vector)
{
  while (a->instead[vector] != vector) vector = a->instead[vector];
  return vector;
}

#endif
