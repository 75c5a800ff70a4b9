/* What a whole log bounds, where a part of it told what there is to bound. */
#ifndef IDM_INVERT_ASSESS_WHOLE_H
#define IDM_INVERT_ASSESS_WHOLE_H

#include "invert/assess/inquiry.h"

/* The assessment tells what the first trajectories bound, a `share` of all, with the maximum at y
 * and the covariance there: make it that of all of them. */
idm_status idm_identify_whole(const inquiry *q, const double *y, const double *covariance,
                              double share, idm_error *opt_error);

#endif
