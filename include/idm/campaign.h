/* A campaign: the folder that `idm recover -o` and `idm sbc -o` keep their replications in. */
#ifndef IDM_CAMPAIGN_H
#define IDM_CAMPAIGN_H

#include "idm/calibrate.h"
#include "idm/request.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Do what is not done of a calibration. With a folder (which is made where it is not there), take
 * in what an earlier call of the same request left in its replications.jsonl, and save what is done
 * every few seconds; config.yaml beside it says what was asked for. Replications of another request
 * are IDM_INPUT, a folder that holds a run or anything else IDM_USAGE, one that another process
 * writes into IDM_SYSTEM. Where opt_progress stops it early: IDM_UNTRUSTED, and the same call goes
 * on. */
IDM_API idm_status idm_replications_run(idm_calibration *calibration, const char *opt_folder,
                                        idm_progress opt_progress, void *context,
                                        idm_error *opt_error);

/* Whether a folder holds a campaign. */
IDM_API bool idm_replications_is(const char *folder);
/* What a folder holds of a campaign, to be looked at: quantities, and the replications that are
 * done. Its problem is NULL, and of its settings there is the number of replications alone. */
IDM_API idm_status idm_replications_read(const char *folder, idm_calibration **ret_calibration,
                                         idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
