/* Free numbers that cannot matter: wherever they are within their prior, the log is as likely. */
#ifndef IDM_INVERT_ASSESS_MATTER_H
#define IDM_INVERT_ASSESS_MATTER_H

#include "invert/assess/inquiry.h"

/* Names each of them among the misfits, with the cure. */
idm_status idm_assess_matter(const inquiry *q, uint64_t decisions, idm_error *opt_error);

#endif
