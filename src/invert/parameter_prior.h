/* The prior over free numbers. */
#ifndef IDM_INVERT_PARAMETER_PRIOR_H
#define IDM_INVERT_PARAMETER_PRIOR_H

#include "invert/parameters.h"

/* log of the integral of exp(idm_parameters_log_prior): 0 but where a block's own support cuts a
 * prior off, or a prior is flat between two ends. The density of idm_parameters_draw is less by it.
 */
double idm_parameters_log_mass(const idm_parameters *parameters);

#endif
