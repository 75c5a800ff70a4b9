/* Whether a point is the top that it is said to be. */
#ifndef IDM_INVERT_ASSESS_TOP_H
#define IDM_INVERT_ASSESS_TOP_H

#include "invert/assess/inquiry.h"

/* Hold a point against the maximum of the likelihood, y, found without it: where the posterior is
 * higher there, the point is not the most probable one, and fails. */
void idm_judge_top(const inquiry *q, const double *y, double log_likelihood);

#endif
