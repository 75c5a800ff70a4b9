/* What an answer by the likelihood has in common with those that are not. */
#ifndef IDM_INVERT_ASSESS_FINDING_H
#define IDM_INVERT_ASSESS_FINDING_H

#include "invert/assess/inquiry.h"

/* Objective, certificate and policy into assessment->matched. */
idm_status idm_assess_matched(const inquiry *q, idm_error *opt_error);

#endif
