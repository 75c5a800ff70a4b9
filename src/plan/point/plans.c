/* How plans go on. */
#include "plan/point/plans.h"

#include <string.h>

#include "base/memory.h"

void idm_plans_free(plans *p)
{
  free(p->owner);
  free(p->after);
  *p = (plans){0};
}

idm_status idm_plans_add(plans *p, uint32_t owner, const uint32_t *after, idm_error *opt_error)
{
  if (!p->width) return IDM_OK;
  if (p->count == p->capacity) {
    const size_t capacity = 2 * p->capacity + 64;
    const size_t bytes = idm_times(capacity * p->width, sizeof *p->after);
    uint32_t *owners = realloc(p->owner, capacity * sizeof *owners);
    if (owners) p->owner = owners;
    uint32_t *afters = bytes ? realloc(p->after, bytes) : NULL;
    if (afters) p->after = afters;
    if (!owners || !afters) return idm_fail_memory(opt_error);
    p->capacity = capacity;
  }
  p->owner[p->count] = owner;
  memcpy(p->after + p->count * p->width, after, p->width * sizeof *after);
  p->count++;
  return IDM_OK;
}

void idm_plans_compact(plans *p, const uint32_t *map, const uint32_t *before)
{
  size_t left = 0;
  for (size_t i = 0; i < p->count; i++) {
    if (before[i] == before[i + 1]) continue; /* it is dead */
    for (size_t o = 0; o < p->width; o++)
      p->after[left * p->width + o] = map[p->after[i * p->width + o]];
    p->owner[left++] = p->owner[i];
  }
  p->count = left;
}
