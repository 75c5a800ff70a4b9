/* Which parameters move together. */
#ifndef IDM_INVERT_ASSESS_RIDGE_H
#define IDM_INVERT_ASSESS_RIDGE_H

#include "invert/assess/inquiry.h"

idm_status idm_identify_ridge(const inquiry *q, idm_error *opt_error);
void idm_judge_ridge(const inquiry *q);

#endif
