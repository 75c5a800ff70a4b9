/* How far draws of dynamics are below the highest mode that a search found. */
#ifndef IDM_INVERT_ASSESS_HIGHER_MODE_H
#define IDM_INVERT_ASSESS_HIGHER_MODE_H

#include "idm/status.h"

#include <stddef.h>

/* The log-likelihood `highest` of the best start less the highest that draws reach, given their
 * log-likelihoods x [chain][draw] and the mode `attained` from the best of them. */
idm_status idm_higher_mode_gap(const double *x, size_t chains, size_t draws, double highest,
                               double attained, double *ret_gap, idm_error *opt_error);

#endif
