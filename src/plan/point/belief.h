/* A belief by the states that it holds possible. */
#ifndef IDM_PLAN_POINT_BELIEF_H
#define IDM_PLAN_POINT_BELIEF_H

#include <stddef.h>
#include <stdint.h>

typedef struct belief {
  const uint32_t *state; /* [count], ascending */
  const double *mass;    /* [count], all above 0 */
  size_t count;
  uint64_t sign; /* a bit a state modulo 64: one that a belief has not, none of its parts has */
} belief;

static inline uint64_t belief_bit(uint32_t state)
{
  return (uint64_t)1 << (state & 63);
}

#endif
