/* Checkpoints: state as bytes, and the journal of work in steps.
 *
 * Contents: record · journal */
#ifndef IDM_BASE_RECORD_H
#define IDM_BASE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "idm/status.h"
#include "idm/work.h"

/* === record ================================================================================= */

/* A checkpoint as bytes: what is passed goes into it or comes out of it, in one order for both, so
 * that its layout stands once. */

typedef struct idm_record {
  char *bytes;      /* written */
  const char *from; /* read */
  size_t length;
  size_t capacity; /* 0 while reading */
  size_t at;       /* the next byte to read */
  bool reading;
  bool truncated; /* while reading: it ended too soon; while writing: memory ran out */
} idm_record;

/* To write to. `kind` is 7 letters; `label` names the request. */
void idm_record_begin(idm_record *record, const char *kind, uint64_t label);
/* To read from; the bytes are borrowed. IDM_INPUT, in the words of checkpoints, where they are
 * damaged or of another kind or request. */
idm_status idm_record_open(idm_record *record, const char *kind, uint64_t label, const char *bytes,
                           size_t length, idm_error *opt_error);
/* `length` bytes there or back. */
void idm_record_transfer(idm_record *record, void *data, size_t length);
/* A flag there or back; a byte that is neither 0 nor 1 cuts the record. */
void idm_record_transfer_flag(idm_record *record, bool *flag);
/* Whether `value` is what was written: the shape of what follows. Writes it. */
bool idm_record_match(idm_record *record, uint64_t value);
/* The bytes for the caller, sealed. */
idm_status idm_record_finish(idm_record *record, char **ret_bytes, size_t *ret_length,
                             idm_error *opt_error);
/* Open the checkpoint that a watch goes on from, of the watch's own request. */
idm_status idm_record_resume(idm_record *record, const char *kind, const idm_fit_monitor *watch,
                             idm_error *opt_error);
/* Returns `status`. Where it is IDM_INPUT, the error names the file of the watch's checkpoint. */
idm_status idm_record_name_file(const idm_fit_monitor *watch, idm_status status,
                                idm_error *opt_error);
/* IDM_INPUT where not everything was read, or there was not enough, or `fits` is false. */
idm_status idm_record_close(const idm_record *record, bool fits, idm_error *opt_error);

/* === journal ================================================================================ */

/* What work in steps has done so far, so that it can go on.
 *
 * Each step is a function of the request. The journal keeps the result of every step that is done,
 * as bytes under the step's own number. Work that goes on takes them from there and computes the
 * rest anew, so that it ends as if it had never stopped. A checkpoint is the journal, and that of
 * the step under way. */

typedef struct idm_journal idm_journal;

/* With the steps of the watch's checkpoint, where it has one. IDM_INPUT where that is damaged, or
 * of another request. `kind` is 7 letters, of the work; it is borrowed. */
idm_status idm_journal_create(const char *kind, const idm_fit_monitor *opt_monitor,
                              idm_journal **ret_journal, idm_error *opt_error);
void idm_journal_destroy(idm_journal *journal);

/* 0, 1, 2, ...: numbers for steps that follow each other in the same order whenever the work is
 * done. */
size_t idm_journal_count(idm_journal *journal);
/* Whether a step is done: then a record to read its result from. On any thread. */
bool idm_journal_get(idm_journal *journal, uint64_t step, idm_record *record);
/* A record to write the result of a step to, and keep it. On any thread. */
void idm_journal_begin(uint64_t step, idm_record *record);
idm_status idm_journal_put(idm_journal *journal, uint64_t step, idm_record *record,
                           idm_error *opt_error);

/* Where the step is the one that the checkpoint was made in, let it go on from there. */
void idm_journal_resume_step(const idm_journal *journal, uint64_t step, idm_fit_monitor *watch);

/* A step under way, as content of work whose `save` is idm_journal_save. */
typedef struct idm_journal_step {
  idm_journal *journal;
  uint64_t step;
  const idm_progress_state *opt_inner; /* of the step */
} idm_journal_step;
/* A checkpoint: the journal and, where there is one, that of the step under way. */
idm_status idm_journal_save(const void *journal_step, char **ret_bytes, size_t *ret_length,
                            idm_error *opt_error);

#endif
