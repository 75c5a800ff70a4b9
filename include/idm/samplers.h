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

#ifdef __cplusplus
}
#endif
#endif
