/* A checkpoint as bytes: what is passed goes into it or comes out of it, in one order for both, so
 * that its layout stands once. */
#ifndef IDM_BASE_RECORD_H
#define IDM_BASE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "idm/status.h"
#include "idm/work.h"

typedef struct idm_record {
  char *bytes;      /* written */
  const char *from; /* read */
  size_t length;
  size_t capacity; /* 0 while reading */
  size_t at;       /* the next byte to read */
  bool reading;
  bool cut; /* while reading: it ended too soon; while writing: memory ran out */
} idm_record;

/* To write to. `kind` is 7 letters; `label` names the request. */
void idm_record_begin(idm_record *record, const char *kind, uint64_t label);
/* To read from; the bytes are borrowed. IDM_INPUT, in the words of checkpoints, where they are
 * damaged or of another kind or request. */
idm_status idm_record_open(idm_record *record, const char *kind, uint64_t label, const char *bytes,
                           size_t length, idm_error *opt_error);
/* `length` bytes there or back. */
void idm_record_pass(idm_record *record, void *data, size_t length);
/* A flag there or back; a byte that is neither 0 nor 1 cuts the record. */
void idm_record_pass_flag(idm_record *record, bool *flag);
/* Whether `value` is what was written: the shape of what follows. Writes it. */
bool idm_record_same(idm_record *record, uint64_t value);
/* The bytes for the caller, sealed. */
idm_status idm_record_seal(idm_record *record, char **ret_bytes, size_t *ret_length,
                           idm_error *opt_error);
/* Open the checkpoint that a watch goes on from, of the watch's own request. */
idm_status idm_record_resume(idm_record *record, const char *kind, const idm_fit_watch *watch,
                             idm_error *opt_error);
/* Returns `status`. Where it is IDM_INPUT, the error names the file of the watch's checkpoint. */
idm_status idm_record_blame(const idm_fit_watch *watch, idm_status status, idm_error *opt_error);
/* IDM_INPUT where not everything was read, or there was not enough, or `fits` is false. */
idm_status idm_record_close(const idm_record *record, bool fits, idm_error *opt_error);

#endif
