/* What work in steps has done so far, so that it can go on.
 *
 * Each step is a function of the request. The journal keeps the result of every step that is done,
 * as bytes under the step's own number. Work that goes on takes them from there and computes the
 * rest anew, so that it ends as if it had never stopped. A checkpoint is the journal, and that of
 * the step under way. */
#ifndef IDM_BASE_JOURNAL_H
#define IDM_BASE_JOURNAL_H

#include "base/record.h"
#include "idm/work.h"

typedef struct idm_journal idm_journal;

/* With the steps of the watch's checkpoint, where it has one. IDM_INPUT where that is damaged, or
 * of another request. `kind` is 7 letters, of the work; it is borrowed. */
idm_status idm_journal_create(const char *kind, const idm_fit_watch *opt_watch,
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
void idm_journal_go_on(const idm_journal *journal, uint64_t step, idm_fit_watch *watch);

/* A step under way, as content of work whose `save` is idm_journal_save. */
typedef struct idm_journal_work {
  idm_journal *journal;
  uint64_t step;
  const idm_work *opt_inner; /* of the step */
} idm_journal_work;
/* A checkpoint: the journal and, where there is one, that of the step under way. */
idm_status idm_journal_save(const void *journal_work, char **ret_bytes, size_t *ret_length,
                            idm_error *opt_error);

#endif
