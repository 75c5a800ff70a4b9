/* Studies in folders: the replications of `idm recover -o` and `idm sbc -o`. */
#ifndef IDM_STUDY_CAMPAIGN_H
#define IDM_STUDY_CAMPAIGN_H

#include "base/door.h"
#include "invert/calibrate.h"
#include "io/request.h"

/* Run the replications of a calibration that are not done. With a folder (created where it does not
 * exist), replications that an earlier call for the same request left in replications.jsonl are
 * read first, and results are saved every few seconds; config.yaml in the folder describes the
 * request. IDM_INPUT for replications of another request; IDM_USAGE for a folder with a run or
 * other files; IDM_SYSTEM for a folder that another process writes to. IDM_UNTRUSTED where
 * opt_progress stops it: the same call then continues. */
IDM_CHECKED idm_status idm_replications_run(idm_calibration *calibration, const char *opt_folder,
                                            idm_progress opt_progress, void *context,
                                            idm_error *opt_error);

/* Whether a folder contains replications of a study; false for NULL and where it cannot be read. */
IDM_CHECKED bool idm_replications_is(const char *folder);
/* Read the replications of a folder: the quantities, and the replications that are done. In
 * *ret_calibration, which is the caller's, `problem` is NULL, and of the settings only the number
 * of replications is set. IDM_INPUT where the folder contains no replications or the file is
 * damaged. */
IDM_CHECKED idm_status idm_replications_read(const char *folder, idm_calibration **ret_calibration,
                                             idm_error *opt_error);

#endif
