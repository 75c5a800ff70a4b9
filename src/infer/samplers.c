/* The registry of samplers. */
#include "infer/chains.h"

#include <stdio.h>
#include <string.h>

#define SAMPLERS(X)                                                                                \
  X(idm_sampler_metropolis)                                                                        \
  X(idm_sampler_nuts)                                                                              \
  X(idm_sampler_hmc)                                                                               \
  X(idm_sampler_pcn)                                                                               \
  X(idm_sampler_slice)                                                                             \
  X(idm_sampler_paper)

#define DECLARE(sampler) extern const idm_sampler sampler;
SAMPLERS(DECLARE)

#define ENTRY(sampler) &(sampler),
static const idm_sampler *const samplers[] = {SAMPLERS(ENTRY)};

const idm_sampler *idm_sampler_at(size_t index)
{
  return index < sizeof samplers / sizeof samplers[0] ? samplers[index] : NULL;
}

const idm_sampler *idm_sampler_find(const char *name)
{
  if (!name) return NULL;
  for (size_t i = 0; idm_sampler_at(i); i++)
    if (strcmp(idm_sampler_at(i)->name, name) == 0) return idm_sampler_at(i);
  return NULL;
}

const char *idm_sampler_names(char *buffer, size_t size)
{
  if (!buffer) return NULL;
  size_t used = 0;
  buffer[0] = '\0';
  for (size_t i = 0; idm_sampler_at(i) && used < size; i++)
    used += (size_t)snprintf(buffer + used, size - used, "%s%s",
                             !i                      ? ""
                             : idm_sampler_at(i + 1) ? ", "
                                                     : " or ",
                             idm_sampler_at(i)->name);
  return buffer;
}
