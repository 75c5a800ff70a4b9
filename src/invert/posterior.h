/* Posteriors, from within. */
#ifndef IDM_INVERT_POSTERIOR_H
#define IDM_INVERT_POSTERIOR_H

#include "idm/parameters.h"
#include "idm/posterior.h"

/* Whether the draws are of the numbers that these parameters free; IDM_INPUT where not. */
idm_status idm_posterior_check(const idm_posterior *posterior, const idm_parameters *parameters,
                               idm_error *opt_error);

#endif
