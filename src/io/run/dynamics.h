/* Runs of learnt dynamics that fits and audits rest on. */
#ifndef IDM_IO_RUN_DYNAMICS_H
#define IDM_IO_RUN_DYNAMICS_H

#include "idm/run.h"

/* Add to the failures of a fit that the draws of dynamics of the folder are not to be trusted,
 * where they are not: what is given each of them is as good as they are. Of a joint fit, which
 * draws the dynamics anew, only a mode that they miss counts. */
idm_status idm_dynamics_judge(const idm_posterior *learnt, const char *folder, bool joint,
                              idm_assessment *assessment, idm_error *opt_error);

#endif
