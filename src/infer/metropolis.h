/* "metropolis": independence proposals fitted in warm-up, and a random walk. */
#ifndef IDM_INFER_METROPOLIS_H
#define IDM_INFER_METROPOLIS_H

#include "idm/sampler.h"

extern const idm_sampler idm_sampler_metropolis;

/* Its steps a draw, where the settings leave them to it. */
long idm_metropolis_thin(size_t dimension);

#endif
