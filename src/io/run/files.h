/* The files of a run to read, whether or not they are in their place yet. Nothing in the folder is
 * changed. */
#ifndef IDM_IO_RUN_FILES_H
#define IDM_IO_RUN_FILES_H

#include "io/run/folder.h"

/* A run's folder and the folders within, those that do not exist left unopened.
 *
 * A run that replaces another is written to `next`. When it is complete, `next` is renamed to
 * `ready`: from that instant the new run counts. Its files then move up, one by one. */
typedef struct idm_run_files {
  idm_folder run;
  idm_folder next;
  idm_folder ready;
} idm_run_files;

idm_status idm_run_files_open(idm_run_files *files, const char *run, idm_error *opt_error);
/* The same for a folder that is open already. */
idm_status idm_run_files_of(idm_run_files *files, const idm_folder *run, idm_error *opt_error);
void idm_run_files_close(idm_run_files *files);
/* Place of a file of the run that counts, whether or not it has moved up. */
idm_place idm_run_files_place(const idm_run_files *files, const char *name, char path[IDM_PATH]);
/* Whether it exists there. */
bool idm_run_files_have(const idm_run_files *files, const char *name);
/* Whether a complete run waits to be moved to its place. */
bool idm_run_files_wait(const idm_run_files *files);
/* Whether a folder holds a complete run. */
bool idm_folder_is_whole(const idm_folder *folder);
/* The folder of the fit that --resume continues: `next` where it holds one, else the run. */
const idm_folder *idm_run_files_unfinished(const idm_run_files *files);

/* Place of an output: in the open folder where the path names a file of it, else the path as it
 * is. */
idm_place idm_folder_output(const idm_folder *folder, const char *path);

#endif
