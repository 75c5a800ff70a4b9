/* The sampler `pcn`, for those that name it. */
#ifndef IDM_INFER_PCN_H
#define IDM_INFER_PCN_H

#include "idm/sampler.h"

extern const idm_sampler idm_sampler_pcn;

#endif
