/* Checkpoints: records of bytes, the journal of work in steps, and progress reports.
 *
 * Contents: record · journal · progress */
#ifndef IDM_BASE_RECORD_H
#define IDM_BASE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arguments.h"
#include "idm/extension/progress.h"
#include "idm/status.h"

/* === record ================================================================================= */

/* A checkpoint as bytes. The same sequence of calls writes and reads a record, so that its layout
 * is defined once. */

typedef struct idm_record {
  char *bytes;      /* being written; owned until idm_record_finish */
  const char *from; /* being read; borrowed */
  size_t length;
  size_t capacity; /* 0 while reading */
  size_t at;       /* offset of the next byte to read */
  bool reading;
  bool truncated; /* reading: the bytes ended too early or are not valid; writing: memory ran out */
} idm_record;

/* Begin to write a record. `kind` has 7 letters; `label` identifies the request. */
void idm_record_begin(idm_record *record, const char *kind, uint64_t label);
/* Begin to read a record; the bytes are borrowed. IDM_INPUT, with a message about the checkpoint,
 * where they are damaged, or of another kind or request. */
idm_status idm_record_open(idm_record *record, const char *kind, uint64_t label, const char *bytes,
                           size_t length, idm_error *opt_error);
/* Write `length` bytes of data to the record, or read them from it into data. */
void idm_record_transfer(idm_record *record, void *data, size_t length);
/* Write or read a flag. While reading, a byte other than 0 and 1 sets `truncated`. */
void idm_record_transfer_flag(idm_record *record, bool *flag);
/* Write `value`, or read a number and return whether it equals `value`: a check of the shape of
 * what follows. */
bool idm_record_match(idm_record *record, uint64_t value);
/* End writing: append the checksum and hand the bytes to the caller, who frees them. */
idm_status idm_record_finish(idm_record *record, char **ret_bytes, size_t *ret_length,
                             idm_error *opt_error);
/* Begin to read the checkpoint of a monitor, with the label of the monitor's request. */
idm_status idm_record_resume(idm_record *record, const char *kind, const idm_fit_monitor *watch,
                             idm_error *opt_error);
/* Return `status`. For IDM_INPUT, set the file of the error to the monitor's checkpoint file. */
idm_status idm_record_name_file(const idm_fit_monitor *watch, idm_status status,
                                idm_error *opt_error);
/* End reading. IDM_INPUT where bytes are left, where there were too few, or where `fits` is false.
 */
idm_status idm_record_close(const idm_record *record, bool fits, idm_error *opt_error);

/* === journal ================================================================================ */

/* The results of work in steps so far, so that it can be continued.
 *
 * The result of a step depends on the request and on earlier steps alone. The journal keeps the
 * result of every finished step as bytes under the number of the step. Work that is continued reads
 * these results and computes the other steps, with the same results as without an interruption. A
 * checkpoint contains the journal and the checkpoint of the step under way. */

typedef struct idm_journal idm_journal;

/* Create a journal, with the steps of the monitor's checkpoint where it has one. IDM_INPUT where
 * that checkpoint is damaged or belongs to another request. `kind` has 7 letters and is borrowed.
 */
idm_status idm_journal_create(const char *kind, const idm_fit_monitor *opt_monitor,
                              idm_journal **ret_journal, idm_error *opt_error);
void idm_journal_destroy(idm_journal *journal);

/* The next number 0, 1, 2, ... for a step; for steps that run in the same order whenever the work
 * is done. */
size_t idm_journal_count(idm_journal *journal);
/* Whether a step is finished; then `record` reads its result. Safe on any thread. */
bool idm_journal_get(idm_journal *journal, uint64_t step, idm_record *record);
/* Begin a record for the result of a step, and keep it in the journal. Safe on any thread. */
void idm_journal_begin(uint64_t step, idm_record *record);
idm_status idm_journal_put(idm_journal *journal, uint64_t step, idm_record *record,
                           idm_error *opt_error);

/* Let the monitor of a step continue from the checkpoint of that step, where the journal's
 * checkpoint was made in it. Sets the label to the step. */
void idm_journal_resume_step(const idm_journal *journal, uint64_t step, idm_fit_monitor *watch);

/* A step under way: the content of an idm_progress_state whose `save` is idm_journal_save. */
typedef struct idm_journal_step {
  idm_journal *journal;
  uint64_t step;
  const idm_progress_state *opt_inner; /* progress of the step itself; NULL: none */
} idm_journal_step;
/* A checkpoint of the journal and, where there is one, of the step under way. The caller frees
 * *ret_bytes. */
idm_status idm_journal_save(const void *journal_step, char **ret_bytes, size_t *ret_length,
                            idm_error *opt_error);

/* --- progress ------------------------------------------------------------------------------ */

/* Status text of a computation; empty if it has none. Returns buffer. */
IDM_CHECKED const char *idm_progress_describe(const idm_progress_state *work, char *buffer,
                                              size_t size);
/* Create a checkpoint of *ret_length bytes; the caller frees *ret_bytes with free(). IDM_USAGE if
 * the computation has no checkpoints. */
IDM_CHECKED idm_status idm_progress_save(const idm_progress_state *work, char **ret_bytes,
                                         size_t *ret_length, idm_error *opt_error);

#endif
