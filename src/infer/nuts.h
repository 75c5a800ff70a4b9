/* "nuts": Hamiltonian trajectories that stop where they turn back. */
#ifndef IDM_INFER_NUTS_H
#define IDM_INFER_NUTS_H

#include "idm/sampler.h"

extern const idm_sampler idm_sampler_nuts;

#endif
