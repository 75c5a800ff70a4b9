/* Folders of runs and campaigns: what lies there, and who may write there. */
#ifndef IDM_IO_RUN_FOLDER_H
#define IDM_IO_RUN_FOLDER_H

#include "idm/run.h"
#include "io/run/lock.h"

/* Files of a run; of a campaign there are the first and the last. */
#define IDM_FILE_CONFIG     "config.yaml"
#define IDM_FILE_POSTERIOR  "run.nc"
#define IDM_FILE_SUMMARY    "summary.json"
#define IDM_FILE_CHECKPOINT "checkpoint"
/* A page that a run may have, and what it says of itself near its beginning. */
#define IDM_FILE_REPORT       "report.html"
#define IDM_REPORT_MARK       "name=\"generator\" content=\"idm "
#define IDM_FILE_REPLICATIONS "replications.jsonl"
/* Held by who writes. */
#define IDM_FILE_LOCK ".idm-lock"
/* A run that takes the place of another is made in a folder of its own within the other's. Once it
 * is whole that folder gets its second name, at which instant the new run is the one that counts;
 * then its files move up, one by one. */
#define IDM_FOLDER_NEXT  ".idm-next"
#define IDM_FOLDER_READY ".idm-ready"

/* Whether a path is a folder, and whether a file is in one. */
bool idm_folder_is(const char *path);
bool idm_folder_has(const char *folder, const char *file);
/* Path of a file of a folder; returns path. What does not fit is longer than any system allows, and
 * is refused by it as it is. */
const char *idm_folder_path(const char *folder, const char *file, char path[IDM_PATH]);
/* The same of chain i, counted from 0, in CmdStan's layout. */
const char *idm_folder_chain(const char *folder, size_t chain, char path[IDM_PATH]);
/* Be the only one who writes into a folder. */
idm_status idm_folder_lock(const char *folder, idm_lock *lock, idm_error *opt_error);
/* Make a folder, unless it is there. */
idm_status idm_folder_make(const char *folder, bool *ret_made, idm_error *opt_error);
/* Something that lies in a folder and is neither hidden nor a file that was being written, or empty
 * where there is no such thing. */
void idm_folder_content(const char *folder, char name[256]);

/* --- reading -------------------------------------------------------------------------------- */

/* Path of a file of the run that counts, whether or not it has moved up; returns path. */
const char *idm_folder_find(const char *run, const char *file, char path[IDM_PATH]);
/* Let files move up that somebody who was killed did not get to, where that can be done. */
void idm_folder_settle(const char *run);
/* The folder of the fit that --resume goes on with: the run itself, or the one that is to take its
 * place; returns path. */
const char *idm_folder_unfinished(const char *run, char path[IDM_PATH]);

/* --- writing -------------------------------------------------------------------------------- */

/* The folder of a run that is being written. */
typedef struct idm_folder {
  const char *path;
  char
      work[IDM_PATH]; /* where its files go: itself, or the folder of a run that replaces another */
  idm_lock lock;
  bool made; /* for this */
} idm_folder;

/* Make it, or find it as the mode allows, and lock it. Nothing that was there is changed. */
idm_status idm_folder_begin(idm_folder *folder, const char *run, idm_run_mode mode,
                            const idm_request *request, idm_error *opt_error);
/* A run that is whole takes its place. */
idm_status idm_folder_commit(idm_folder *folder, idm_error *opt_error);
/* Unlock it. Unless it is to be kept, or can be gone on with, what was written goes. */
void idm_folder_end(idm_folder *folder, bool keep);

#endif
