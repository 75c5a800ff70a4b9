/* Folders of runs: files, locks, seals and checkpoints.
 *
 * Contents: folder · files · lock · writer · seal · checkpoint */
#ifndef IDM_IO_RUN_FOLDER_H
#define IDM_IO_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "idm/run.h"
#include "idm/status.h"
#include "io/file.h"

/* === folder ================================================================================= */

/* Folders of runs and campaigns, opened: every file in one is reached through its descriptor.
 *
 * The path of a folder may lead through links, since the caller names it. What lies in the folder
 * may come from a stranger: its files are regular files and its inner folders are folders, and
 * links, pipes, sockets and devices of these names are IDM_INPUT. */

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
#define IDM_REPORT_SIGNATURE "name=\"generator\" content=\"idm "

typedef struct idm_folder {
  int descriptor; /* -1: not open */
  char path[IDM_PATH_SIZE];
} idm_folder;

/* Whether a path is a folder. */
bool idm_folder_is(const char *path);
/* Create a folder, unless it exists. */
idm_status idm_folder_make(const char *path, bool *ret_created, idm_error *opt_error);
/* Open a folder by its path. On failure, as for a folder that is not open, closing does nothing. */
idm_status idm_folder_open(idm_folder *folder, const char *path, idm_error *opt_error);
/* Open a folder in a folder; one that does not exist is left unopened. */
idm_status idm_folder_open_inner(const idm_folder *outer, const char *name, idm_folder *inner,
                                 idm_error *opt_error);
void idm_folder_close(idm_folder *folder);

/* Place of a file of a folder; its path is written to `path`. A folder that is not open has no
 * files. */
idm_location idm_folder_location(const idm_folder *folder, const char *name,
                                 char path[IDM_PATH_SIZE]);
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
void idm_folder_first_name(const idm_folder *folder, char name[256]);
/* Remove a temporary file that its process left behind; true for every temporary name. */
bool idm_folder_remove_stale(const idm_folder *folder, const char *name);

/* Check the kind of everything in a folder that has one of the names above. */
idm_status idm_folder_check(const idm_folder *folder, idm_error *opt_error);
/* Rename a file from one folder into another. */
idm_status idm_folder_move(const idm_folder *from, const char *name, const idm_folder *to,
                           idm_error *opt_error);
/* Remove a file, if it exists; a folder of that name stays. */
void idm_folder_remove(const idm_folder *folder, const char *name);
/* Remove an inner folder, if it is empty. */
void idm_folder_remove_inner(const idm_folder *folder, const char *name);

/* === files ================================================================================== */

/* The files of a run to read, whether or not they are in their place yet. Nothing in the folder is
 * changed. */

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
idm_location idm_run_files_location(const idm_run_files *files, const char *name,
                                    char path[IDM_PATH_SIZE]);
/* Whether it exists there. */
bool idm_run_files_exist(const idm_run_files *files, const char *name);
/* Whether a complete run waits to be moved to its place. */
bool idm_run_files_is_pending(const idm_run_files *files);
/* Whether a folder holds a complete run. */
bool idm_folder_is_complete(const idm_folder *folder);
/* The folder of the fit that --resume continues: `next` where it holds one, else the run. */
const idm_folder *idm_run_files_unfinished(const idm_run_files *files);

/* Place of an output: in the open folder where the path names a file of it, else the path as it
 * is. */
idm_location idm_folder_output(const idm_folder *folder, const char *path);

/* === lock =================================================================================== */

/* One writer at a time: a lock that ends with the process that holds it. */

/* Zero-initialise. */
typedef struct idm_lock {
  char *path;     /* of the file that is locked; NULL where nothing is held */
  char *name;     /* the same relative to the folder */
  int folder;     /* descriptor of the folder; borrowed */
  int descriptor; /* of the file */
} idm_lock;

/* Take the lock that is a file at that place. IDM_SYSTEM where another process, or another caller
 * in this one, holds it; IDM_INPUT where the place is no regular file. A process that is killed
 * while it holds the lock leaves the file, and no lock. Only a file that this call created is
 * written to: one that exists may be another name of somebody's file. */
idm_status idm_lock_take(idm_lock *lock, const idm_location *location, idm_error *opt_error);
/* Release it, and remove its file. */
void idm_lock_release(idm_lock *lock);

/* === writer ================================================================================= */

/* A run that is being written, in an empty folder or in place of another run. */

typedef struct idm_run_writer {
  idm_folder run;
  idm_folder next;        /* of a run that replaces another; not open otherwise */
  const idm_folder *work; /* the one of the two that files are written to */
  idm_lock lock;
  bool created; /* by this writer */
} idm_run_writer;

/* Lock an open folder. */
idm_status idm_folder_lock(const idm_folder *folder, idm_lock *lock, idm_error *opt_error);
/* Create the folder, or check that the mode and everything in it allow the run, and lock it. On
 * failure nothing is changed. */
idm_status idm_run_begin(idm_run_writer *writer, const char *run, idm_run_mode mode,
                         const idm_request *request, idm_error *opt_error);
/* A complete run takes its place. */
idm_status idm_run_commit(idm_run_writer *writer, idm_error *opt_error);
/* Unlock. Files are removed unless they are to be kept or there is a checkpoint to resume from. */
void idm_run_end(idm_run_writer *writer, bool keep);
/* Move a complete run that a killed process left waiting to its place. */
idm_status idm_run_finish_move(const char *run, idm_error *opt_error);

/* === seal =================================================================================== */

/* The seal of run.nc. */

/* What stands before the 64 hexadecimal digits; a newline ends the seal. */
#define IDM_TRAILER_PREFIX "\n# idm run, SHA-256 "
enum { IDM_TRAILER_LENGTH = sizeof IDM_TRAILER_PREFIX - 1 + 64 + 1 };

/* The seal of an image, NUL-terminated. */
void idm_trailer(const void *image, size_t length, char trailer[IDM_TRAILER_LENGTH + 1]);
/* Write an image and its seal. */
idm_status idm_trailer_write(const void *image, size_t length, const idm_location *location,
                             idm_error *opt_error);

/* === checkpoint ============================================================================= */

/* Checkpoints of work under way in a run folder. */

/* Who watches, and when a checkpoint was last written. */
typedef struct idm_checkpointer {
  const idm_folder *folder;
  idm_progress progress; /* or NULL */
  void *context;
  char path[IDM_PATH_SIZE]; /* of the checkpoint, in messages */
  char *bytes;              /* of the checkpoint that the work goes on from; NULL: none */
  size_t length;
  double saved;        /* when the last checkpoint was written */
  double cost;         /* seconds that it took */
  double done;         /* share of the work then */
  bool stop_requested; /* to stop */
  idm_status status;   /* of writing checkpoints */
  idm_error error;
} idm_checkpointer;

/* With the checkpoint of a run that goes on; none is a beginning from the start. */
idm_status idm_checkpointer_begin(idm_checkpointer *checkpointer, const idm_folder *folder,
                                  idm_run_mode mode, idm_progress opt_progress, void *context,
                                  idm_error *opt_error);
void idm_checkpointer_end(idm_checkpointer *checkpointer);
/* What work is to be watched by: it writes a checkpoint every few seconds, or where that is large
 * as seldom as takes a twentieth of the time; when it is asked to stop; and when all is done. */
idm_fit_monitor idm_checkpointer_watch(idm_checkpointer *checkpointer, uint64_t label);

#endif
