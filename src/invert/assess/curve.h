/* The profile of one free number as a curve, to be looked at: what stands behind the ends of its
 * interval. */
#ifndef IDM_INVERT_ASSESS_CURVE_H
#define IDM_INVERT_ASSESS_CURVE_H

#include "invert/assess/region.h"

/* From p's maximum to a third of the way beyond the ends of the regions that the scan found:
 * points, value and drop of `to`. Changes p->enough and p->left. */
idm_status idm_profile_trace(const parameter *item, profile *p, const scan *s,
                             idm_identification *to, idm_error *opt_error);

#endif
