/* Counter-based random numbers (Philox 4x32-10): a stream is a function of (seed, stream). See
 * docs/method/inference.md, 5. */
#ifndef IDM_EXTENSION_RANDOM_H
#define IDM_EXTENSION_RANDOM_H

#include <stdint.h>

#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct idm_random {
  uint64_t seed;
  uint64_t stream;
  uint64_t block;   /* number of blocks of four words that are used up */
  uint32_t word[4]; /* the current block */
  unsigned left;    /* unused words of the current block */
} idm_random;

/* Initialise stream number `stream` of a seed. Streams of one seed do not overlap. */
IDM_API void idm_random_init(idm_random *random, uint64_t seed, uint64_t stream);
/* Uniform on (0, 1) with 52 bits; never 0 or 1. */
IDM_API double idm_random_uniform(idm_random *random);
/* Standard normal, by the Box-Muller transformation (two uniforms per number, no number is kept
 * between calls). */
IDM_API double idm_random_normal(idm_random *random);
/* Gamma with the given shape > 0 and rate 1 (Marsaglia and Tsang 2000). */
IDM_API double idm_random_gamma(idm_random *random, double shape);
/* Index drawn with probability proportional to weight[count] (non-negative, not all 0). */
IDM_API size_t idm_random_choice(idm_random *random, const double *weight, size_t count);

#ifdef __cplusplus
}
#endif
#endif
