/* Folders of runs and campaigns, opened: every file in one is reached through its descriptor.
 *
 * The path of a folder may lead through links, since the caller names it. What lies in the folder
 * may come from a stranger: its files are regular files and its inner folders are folders, and
 * links, pipes, sockets and devices of these names are IDM_INPUT. */
#ifndef IDM_IO_RUN_FOLDER_H
#define IDM_IO_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "idm/status.h"
#include "io/place.h"

/* Every name that the program creates in a folder; beside these there are only the temporary names
 * of files (idm/file.h). tests/folders.py reads this list. */
#define IDM_FILE_CONFIG       "config.yaml"
#define IDM_FILE_POSTERIOR    "run.nc"
#define IDM_FILE_SUMMARY      "summary.json"
#define IDM_FILE_CHECKPOINT   "checkpoint"
#define IDM_FILE_CHAIN        "chain-%zu.csv"
#define IDM_FILE_REPORT       "report.html"
#define IDM_FILE_REPLICATIONS "replications.jsonl"
#define IDM_FILE_LOCK         ".idm-lock"
#define IDM_FOLDER_NEXT       ".idm-next"
#define IDM_FOLDER_READY      ".idm-ready"

/* Text near the beginning of a page that the program wrote. */
#define IDM_REPORT_MARK "name=\"generator\" content=\"idm "

typedef struct idm_folder {
  int descriptor; /* -1: not open */
  char path[IDM_PATH];
} idm_folder;

/* Whether a path is a folder. */
bool idm_folder_is(const char *path);
/* Create a folder, unless it exists. */
idm_status idm_folder_make(const char *path, bool *ret_made, idm_error *opt_error);
/* Open a folder by its path. On failure, as for a folder that is not open, closing does nothing. */
idm_status idm_folder_open(idm_folder *folder, const char *path, idm_error *opt_error);
/* Open a folder in a folder; one that does not exist is left unopened. */
idm_status idm_folder_open_inner(const idm_folder *outer, const char *name, idm_folder *inner,
                                 idm_error *opt_error);
void idm_folder_close(idm_folder *folder);

/* Place of a file of a folder; its path is written to `path`. A folder that is not open has no
 * files. */
idm_place idm_folder_place(const idm_folder *folder, const char *name, char path[IDM_PATH]);
bool idm_folder_has(const idm_folder *folder, const char *name);
/* Name of chain i, counted from 0. */
enum { IDM_CHAIN_NAME = 40 };
const char *idm_chain_name(size_t chain, char name[IDM_CHAIN_NAME]);
bool idm_chain_name_is(const char *name);

/* Call a function with every name in a folder, hidden ones included, until it returns false. */
void idm_folder_each(const idm_folder *folder, bool (*visit)(void *context, const char *name),
                     void *context);
/* A name in a folder that is neither hidden nor that of a file being written; empty if there is
 * none. Dead temporary files are removed. */
void idm_folder_content(const idm_folder *folder, char name[256]);
/* Remove a temporary file that its process left behind; true for every temporary name. */
bool idm_folder_sweep(const idm_folder *folder, const char *name);

/* Check the kind of everything in a folder that has one of the names above. */
idm_status idm_folder_check(const idm_folder *folder, idm_error *opt_error);
/* Rename a file from one folder into another. */
idm_status idm_folder_move(const idm_folder *from, const char *name, const idm_folder *to,
                           idm_error *opt_error);
/* Remove a file, if it exists; a folder of that name stays. */
void idm_folder_remove(const idm_folder *folder, const char *name);
/* Remove an inner folder, if it is empty. */
void idm_folder_remove_inner(const idm_folder *folder, const char *name);

#endif
