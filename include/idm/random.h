/* Random streams: counter-based (Philox 4x32-10), so that a stream is a function of (seed, stream).
 */
#ifndef IDM_RANDOM_H
#define IDM_RANDOM_H

#include <stdint.h>

#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct idm_random {
  uint64_t seed;
  uint64_t stream;
  uint64_t block;   /* blocks of four words used up */
  uint32_t word[4]; /* the current block */
  unsigned left;    /* words of it not yet used */
} idm_random;

/* Start of stream `stream` under `seed`. Streams of one seed never overlap. */
IDM_API void idm_random_init(idm_random *random, uint64_t seed, uint64_t stream);
/* Uniform on (0, 1), 52 bits, never 0 or 1. */
IDM_API double idm_random_uniform(idm_random *random);
/* Standard normal, by Box and Muller's sine (two uniforms a number, nothing kept between calls). */
IDM_API double idm_random_normal(idm_random *random);
/* Gamma with the given shape > 0 and rate 1 (Marsaglia and Tsang 2000). */
IDM_API double idm_random_gamma(idm_random *random, double shape);
/* Index drawn in proportion to weight[0..count-1] (non-negative, not all 0). */
IDM_API size_t idm_random_choice(idm_random *random, const double *weight, size_t count);

#ifdef __cplusplus
}
#endif
#endif
