/* Studies: what fits, audits and learnt dynamics share. */
#ifndef IDM_STUDY_STUDY_H
#define IDM_STUDY_STUDY_H

#include "idm/assess.h"

/* Add to the failures of a fit that the draws of dynamics of the folder are not to be trusted,
 * where they are not: what is given each of them is as good as they are. Of a joint fit, which
 * draws the dynamics anew, only a mode that they miss counts. */
idm_status idm_dynamics_assess(const idm_posterior *learnt, const char *folder, bool joint,
                               idm_assessment *assessment, idm_error *opt_error);

#endif
