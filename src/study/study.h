/* Functions that fits, audits and learnt dynamics share. */
#ifndef IDM_STUDY_STUDY_H
#define IDM_STUDY_STUDY_H

#include "idm/assess.h"

/* Record in an assessment whether the draws of dynamics in a folder are trusted; where they are
 * not, add a failure, since an answer given these draws depends on them. A joint fit draws the
 * dynamics again: there, only a mode that the draws miss is a failure. */
idm_status idm_dynamics_assess(const idm_posterior *learnt, const char *folder, bool joint,
                               idm_assessment *assessment, idm_error *opt_error);

#endif
