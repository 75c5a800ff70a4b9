/* Derivatives of a log-likelihood by what is no part of theta. */
#ifndef IDM_PLAN_SCORE_H
#define IDM_PLAN_SCORE_H

#include "idm/score.h"

/* After a run of a gradient: the derivative by the start of the setting, [state], up to a number
 * common to all states. False where it cannot be had. */
bool idm_gradient_start(const idm_gradient *gradient, double *by_start);

#endif
