/* A run that is being written, in an empty folder or in place of another run. */
#ifndef IDM_IO_RUN_WRITER_H
#define IDM_IO_RUN_WRITER_H

#include "idm/run.h"
#include "io/run/files.h"
#include "io/run/lock.h"

typedef struct idm_run_writer {
  idm_folder run;
  idm_folder next;        /* of a run that replaces another; not open otherwise */
  const idm_folder *work; /* the one of the two that files are written to */
  idm_lock lock;
  bool made; /* by this writer */
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
idm_status idm_run_settle(const char *run, idm_error *opt_error);

#endif
