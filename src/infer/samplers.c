/* Registry of samplers. */
#include "idm/samplers.h"

#include <string.h>

#include "infer/metropolis.h"
#include "infer/nuts.h"
#include "infer/paper.h"
#include "infer/slice.h"

static const idm_sampler *const samplers[] = {
    &idm_sampler_metropolis,
    &idm_sampler_nuts,
    &idm_sampler_slice,
    &idm_sampler_paper,
};

const idm_sampler *idm_sampler_at(size_t index)
{
  return index < sizeof samplers / sizeof samplers[0] ? samplers[index] : NULL;
}

const idm_sampler *idm_sampler_find(const char *name)
{
  for (size_t i = 0; idm_sampler_at(i); i++)
    if (strcmp(idm_sampler_at(i)->name, name) == 0) return idm_sampler_at(i);
  return NULL;
}
