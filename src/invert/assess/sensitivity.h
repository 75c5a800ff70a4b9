/* How the answer moves with the numbers that were held. */
#ifndef IDM_INVERT_ASSESS_SENSITIVITY_H
#define IDM_INVERT_ASSESS_SENSITIVITY_H

#include "invert/assess/inquiry.h"

idm_status idm_assess_sensitivity(const inquiry *q, idm_error *opt_error);
/* Its part of the verdict. */
void idm_judge_sensitivity(const inquiry *q);

#endif
