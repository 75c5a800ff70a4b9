/* Registry of samplers. */
#ifndef IDM_SAMPLERS_H
#define IDM_SAMPLERS_H

#include <stddef.h>

#include "idm/sampler.h"
#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Registry: sampler number `index`, or NULL past the last. */
IDM_API const idm_sampler *idm_sampler_at(size_t index);
/* Registry: the sampler of that name, or NULL. */
IDM_API const idm_sampler *idm_sampler_find(const char *name);
/* Names of all samplers for a message, as in "metropolis, nuts, slice or paper". Returns buffer. */
IDM_API const char *idm_sampler_names(char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
