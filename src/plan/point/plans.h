/* How the plans of a lower bound's vectors go on: each begins with its vector's action at the
 * belief that it was made for, and goes on, outcome by outcome, as another's. */
#ifndef IDM_PLAN_POINT_PLANS_H
#define IDM_PLAN_POINT_PLANS_H

#include <stdint.h>

#include "idm/status.h"

typedef struct plans {
  size_t width; /* outcomes of an action, at most; 0: nothing is kept */
  size_t count;
  size_t capacity;
  uint32_t *owner; /* [count]: node of the belief */
  uint32_t *after; /* [count][width]: vector that follows an outcome */
} plans;

void idm_plans_free(plans *p);
/* The plan of the next vector. */
idm_status idm_plans_add(plans *p, uint32_t owner, const uint32_t *after, idm_error *opt_error);
/* Close ranks as vectors do: see idm_alphas_compact. */
void idm_plans_compact(plans *p, const uint32_t *map, const uint32_t *before);

#endif
