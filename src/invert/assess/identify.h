/* What the data bound: profile likelihoods and limits, by the first matching. */
#ifndef IDM_INVERT_ASSESS_IDENTIFY_H
#define IDM_INVERT_ASSESS_IDENTIFY_H

#include "invert/assess/inquiry.h"

idm_status idm_identify(const inquiry *q, idm_error *opt_error);
void idm_judge_identification(const inquiry *q);

#endif
