/* What the data bound of one free number: how far its profile falls towards its limits, where it is
 * within the drop of the maximum, and how much narrower than its prior the posterior is. */
#ifndef IDM_INVERT_ASSESS_BOUND_H
#define IDM_INVERT_ASSESS_BOUND_H

#include "invert/assess/region.h"

/* Fill id, its sentence too, from the regions of a scan; the profile, of q's fit, is fixed at the
 * item and knows the maximum. */
idm_status idm_bound(const inquiry *q, const parameter *item, profile *p, const scan *s,
                     idm_identification *id, idm_error *opt_error);

#endif
