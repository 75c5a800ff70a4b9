/* Folders of runs and campaigns: what lies there, and who may write there. */
#ifndef IDM_IO_RUN_FOLDER_H
#define IDM_IO_RUN_FOLDER_H

#include "idm/run.h"

/* Files of a run; of a campaign there are the first and the last. */
#define IDM_FILE_CONFIG       "config.yaml"
#define IDM_FILE_POSTERIOR    "run.nc"
#define IDM_FILE_SUMMARY      "summary.json"
#define IDM_FILE_CHECKPOINT   "checkpoint"
#define IDM_FILE_REPLICATIONS "replications.jsonl"

/* Whether a path is a folder, and whether a file is in one. */
bool idm_folder_is(const char *path);
bool idm_folder_has(const char *folder, const char *file);
/* Path of a file of a folder; returns path. What does not fit is longer than any system allows, and
 * is refused by it as it is. */
const char *idm_folder_path(const char *folder, const char *file, char path[IDM_PATH]);
/* The same of chain i, counted from 0, in CmdStan's layout. */
const char *idm_folder_chain(const char *folder, size_t chain, char path[IDM_PATH]);
/* Make a folder, unless it is there. */
idm_status idm_folder_make(const char *folder, bool *ret_made, idm_error *opt_error);

/* The folder of a run: made, or found as the mode allows. */
idm_status idm_folder_open(const char *run, idm_run_mode mode, bool *ret_made,
                           idm_error *opt_error);
/* A fit that was stopped early, or is under way, has no run.nc yet. (A campaign never has.) */
bool idm_folder_unfinished(const char *run);
/* Results belong to the config.yaml beside them: they go before it changes. */
void idm_folder_clear(const char *run);
/* A fit that failed leaves nothing behind, unless it can be gone on with. `made`: nor the folder.
 */
void idm_folder_abandon(const char *run, bool made);

#endif
