/* Counter-based random streams over Random123's Philox. */
#include "idm/random.h"

#include <Random123/philox.h>

void idm_random_init(idm_random *random, uint64_t seed, uint64_t stream)
{
  *random = (idm_random){.seed = seed, .stream = stream};
}

static uint32_t next_word(idm_random *random)
{
  if (random->left == 0) {
    const philox4x32_ctr_t counter = {{(uint32_t)random->block, (uint32_t)(random->block >> 32),
                                       (uint32_t)random->stream, (uint32_t)(random->stream >> 32)}};
    const philox4x32_key_t key = {{(uint32_t)random->seed, (uint32_t)(random->seed >> 32)}};
    const philox4x32_ctr_t words = philox4x32(counter, key);
    for (int i = 0; i < 4; i++) random->word[i] = words.v[i];
    random->block++;
    random->left = 4;
  }
  return random->word[4 - random->left--];
}

double idm_random_uniform(idm_random *random)
{
  const uint64_t high = next_word(random);
  const uint64_t bits = (high << 32 | next_word(random)) >> 12;
  return ((double)bits + 0.5) * 0x1p-52;
}

size_t idm_random_choice(idm_random *random, const double *weight, size_t count)
{
  double total = 0;
  for (size_t i = 0; i < count; i++) total += weight[i];
  double mark = idm_random_uniform(random) * total;
  size_t last = 0;
  for (size_t i = 0; i < count; i++) {
    if (!(weight[i] > 0)) continue;
    last = i;
    mark -= weight[i];
    if (mark < 0) break;
  }
  return last;
}
