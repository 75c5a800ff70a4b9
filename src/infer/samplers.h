/* Registry of samplers. */
#ifndef IDM_INFER_SAMPLERS_H
#define IDM_INFER_SAMPLERS_H

#include <stddef.h>

#include "base/door.h"
#include "idm/extension/sampler.h"
#include "idm/status.h"

/* Registry: sampler number `index`, or NULL past the last. */
IDM_CHECKED const idm_sampler *idm_sampler_at(size_t index);
/* Registry: the sampler of that name, or NULL. */
IDM_CHECKED const idm_sampler *idm_sampler_find(const char *name);
/* Names of all samplers for a message, as in "metropolis, nuts, slice or paper". Returns buffer. */
IDM_CHECKED const char *idm_sampler_names(char *buffer, size_t size);

#endif
