/* Whether draws of a normal approximation stand for the posterior. */
#ifndef IDM_INVERT_ASSESS_APPROXIMATION_H
#define IDM_INVERT_ASSESS_APPROXIMATION_H

#include "idm/assess.h"

/* Weigh the draws by the posterior, where they are of a normal approximation, and add to failures
 * where it is too far from it. */
idm_status idm_judge_approximation(const idm_posterior *posterior, idm_assessment *assessment,
                                   idm_error *opt_error);

#endif
