/* What an audit has done so far, so that it can go on.
 *
 * An audit is a sequence of steps, each a function of the request: groups opened, dynamics learnt,
 * samples drawn. The journal keeps the result of every step that is done, as bytes under the step's
 * own number. An audit that goes on takes them from there and computes the rest anew, so that it
 * ends as if it had never stopped. A checkpoint is the journal, and that of the sampling under way.
 */
#ifndef IDM_INVERT_AUDIT_JOURNAL_H
#define IDM_INVERT_AUDIT_JOURNAL_H

#include "base/record.h"
#include "idm/work.h"

typedef enum audit_step {
  AUDIT_STEP_OPEN,   /* of a cell */
  AUDIT_STEP_REFINE, /* of a cell: a finer grid */
  AUDIT_STEP_LEARN,  /* of a cell: its own dynamics */
  AUDIT_STEP_SAMPLE,
} audit_step;

typedef struct audit_journal audit_journal;

/* With the steps of the watch's checkpoint, where it has one. IDM_INPUT where that is damaged, or
 * of another request. */
idm_status idm_journal_create(const idm_fit_watch *opt_watch, audit_journal **ret_journal,
                              idm_error *opt_error);
void idm_journal_destroy(audit_journal *journal);

/* The number of a step: `way` counts draws of the dynamics over the whole audit, `index` is of the
 * cell, or counts samples. */
uint64_t idm_journal_step(audit_step step, size_t way, size_t index);
/* How many samples were begun before this one: they follow each other in the same order whenever
 * the audit is run. */
size_t idm_journal_count(audit_journal *journal);
/* Whether a step is done: then a record to read its result from. On any thread. */
bool idm_journal_get(audit_journal *journal, uint64_t step, idm_record *record);
/* A record to write the result of a step to, and keep it. On any thread. */
void idm_journal_begin(uint64_t step, idm_record *record);
idm_status idm_journal_put(audit_journal *journal, uint64_t step, idm_record *record,
                           idm_error *opt_error);

/* Where the step is the sampling that the checkpoint was made in, let it go on from there. */
void idm_journal_go_on(const audit_journal *journal, uint64_t step, idm_fit_watch *watch);
/* A checkpoint: the journal and, where there is one, that of the work under way in a step. */
idm_status idm_journal_save(audit_journal *journal, uint64_t step, const idm_work *opt_work,
                            char **ret_bytes, size_t *ret_length, idm_error *opt_error);

#endif
