/* Counter-based random streams by the Philox generator of Random123. */
#include "idm/extension/random.h"

#include <Random123/philox.h>
#include <math.h>

void idm_random_init(idm_random *random, uint64_t seed, uint64_t stream)
{
  if (!random) return;
  *random = (idm_random){.seed = seed, .stream = stream};
}

static uint32_t next_word(idm_random *random)
{
  if (random->left == 0) {
    const philox4x32_ctr_t counter = {{(uint32_t)random->block, (uint32_t)(random->block >> 32),
                                       (uint32_t)random->stream, (uint32_t)(random->stream >> 32)}};
    const philox4x32_key_t key = {{(uint32_t)random->seed, (uint32_t)(random->seed >> 32)}};
    const philox4x32_ctr_t block_words = philox4x32(counter, key);
    for (int i = 0; i < 4; i++) random->word[i] = block_words.v[i];
    random->block++;
    random->left = 4;
  }
  return random->word[4 - random->left--];
}

double idm_random_uniform(idm_random *random)
{
  if (!random) return NAN;
  const uint64_t high = next_word(random);
  const uint64_t bits = (high << 32 | next_word(random)) >> 12;
  return ((double)bits + 0.5) * 0x1p-52;
}

double idm_random_normal(idm_random *random)
{
  if (!random) return NAN;
  const double radius = sqrt(-2 * log(idm_random_uniform(random)));
  return radius * sin(6.283185307179586477 * idm_random_uniform(random));
}

double idm_random_gamma(idm_random *random, double shape)
{
  if (!random || !(shape > 0) || isinf(shape)) return NAN;
  /* Shape below 1: a draw of shape + 1, times a uniform to the power of 1 / shape. */
  if (shape < 1)
    return idm_random_gamma(random, shape + 1) * pow(idm_random_uniform(random), 1 / shape);
  const double d = shape - 1.0 / 3;
  const double c = 1 / sqrt(9 * d);
  for (;;) {
    const double x = idm_random_normal(random);
    const double root = 1 + c * x;
    if (!(root > 0)) continue;
    const double v = root * root * root;
    if (log(idm_random_uniform(random)) < 0.5 * x * x + d * (1 - v + log(v))) return d * v;
  }
}

size_t idm_random_choice(idm_random *random, const double *weight, size_t count)
{
  if (!random || !weight) return 0;
  double total = 0;
  for (size_t i = 0; i < count; i++) total += weight[i];
  double remaining = idm_random_uniform(random) * total;
  size_t last = 0;
  for (size_t i = 0; i < count; i++) {
    if (!(weight[i] > 0)) continue;
    last = i;
    remaining -= weight[i];
    if (remaining < 0) break;
  }
  return last;
}
