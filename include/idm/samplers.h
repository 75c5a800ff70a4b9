/* The samplers there are. */
#ifndef IDM_SAMPLERS_H
#define IDM_SAMPLERS_H

#include <stddef.h>

#include "idm/sampler.h"
#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Registry: sampler i, or NULL past the last; by name, or NULL. */
IDM_API const idm_sampler *idm_sampler_at(size_t index);
IDM_API const idm_sampler *idm_sampler_find(const char *name);
/* "metropolis, nuts, slice or paper": their names, for a message. Returns buffer. */
IDM_API const char *idm_sampler_names(char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
