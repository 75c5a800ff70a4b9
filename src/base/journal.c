/* The journal of work in steps: results of finished steps as bytes, saved to and read from
 * checkpoints. */
#include "base/record.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"

static const char entry_kind[] = "idmstep";

typedef struct entry {
  uint64_t step;
  char *bytes;
  size_t length;
} entry;

struct idm_journal {
  pthread_mutex_t mutex; /* guards the entries */
  size_t count;
  size_t capacity;
  entry *entry;
  const char *kind;
  uint64_t label;
  size_t next_step;
  entry running; /* step that the checkpoint was made in; no bytes: there was none */
};

void idm_journal_destroy(idm_journal *j)
{
  if (!j) return;
  for (size_t i = 0; i < j->count; i++) free(j->entry[i].bytes);
  free(j->entry);
  free(j->running.bytes);
  pthread_mutex_destroy(&j->mutex);
  free(j);
}

size_t idm_journal_count(idm_journal *j)
{
  return j->next_step++;
}

/* Allocate space for one more entry; false where memory runs out. */
static bool make_room(idm_journal *j)
{
  if (j->count < j->capacity) return true;
  const size_t capacity = 2 * j->capacity + 16;
  entry *more = realloc(j->entry, capacity * sizeof *more);
  if (!more) return false;
  j->entry = more;
  j->capacity = capacity;
  return true;
}

/* Write an entry to the record, or read it. False where memory runs out or the record is too short.
 */
static bool transfer_entry(idm_record *r, entry *e)
{
  uint64_t length = e->length;
  idm_record_transfer(r, &e->step, sizeof e->step);
  idm_record_transfer(r, &length, sizeof length);
  if (r->reading) {
    if (r->truncated || length > r->length - r->at) return false;
    e->length = (size_t)length;
    e->bytes = idm_new(e->length ? e->length : 1, 1);
    if (!e->bytes) return false;
  }
  idm_record_transfer(r, e->bytes, e->length);
  return !r->truncated;
}

static idm_status load(idm_journal *j, const idm_fit_monitor *watch, idm_error *opt_error)
{
  idm_record r;
  uint64_t count = 0;
  idm_status status = idm_record_resume(&r, j->kind, watch, opt_error);
  if (status == IDM_OK) {
    idm_record_transfer(&r, &count, sizeof count);
    bool fits = !r.truncated;
    for (uint64_t i = 0; i < count && fits; i++) {
      if (!make_room(j)) return idm_fail_memory(opt_error);
      j->entry[j->count] = (entry){0};
      fits = transfer_entry(&r, &j->entry[j->count++]);
    }
    fits = fits && transfer_entry(&r, &j->running);
    status = idm_record_close(&r, fits, opt_error);
  }
  return idm_record_name_file(watch, status, opt_error);
}

idm_status idm_journal_create(const char *kind, const idm_fit_monitor *opt_monitor,
                              idm_journal **ret_journal, idm_error *opt_error)
{
  idm_journal *j = *ret_journal = idm_new(1, sizeof *j);
  if (!j) return idm_fail_memory(opt_error);
  pthread_mutex_init(&j->mutex, NULL);
  j->kind = kind;
  if (!opt_monitor) return IDM_OK;
  j->label = opt_monitor->label;
  const idm_status status = opt_monitor->checkpoint ? load(j, opt_monitor, opt_error) : IDM_OK;
  if (status == IDM_OK) return IDM_OK;
  idm_journal_destroy(j);
  *ret_journal = NULL;
  return status;
}

bool idm_journal_get(idm_journal *j, uint64_t step, idm_record *record)
{
  const entry *found = NULL;
  pthread_mutex_lock(&j->mutex);
  for (size_t i = 0; i < j->count && !found; i++)
    if (j->entry[i].step == step) found = &j->entry[i];
  const entry copy = found ? *found : (entry){0};
  pthread_mutex_unlock(&j->mutex);
  return copy.bytes &&
         idm_record_open(record, entry_kind, step, copy.bytes, copy.length, NULL) == IDM_OK;
}

void idm_journal_begin(uint64_t step, idm_record *record)
{
  idm_record_begin(record, entry_kind, step);
}

idm_status idm_journal_put(idm_journal *j, uint64_t step, idm_record *record, idm_error *opt_error)
{
  entry new_entry = {.step = step};
  const idm_status status =
      idm_record_finish(record, &new_entry.bytes, &new_entry.length, opt_error);
  if (status != IDM_OK) return status;
  pthread_mutex_lock(&j->mutex);
  const bool kept = make_room(j);
  if (kept) j->entry[j->count++] = new_entry;
  pthread_mutex_unlock(&j->mutex);
  if (kept) return IDM_OK;
  free(new_entry.bytes);
  return idm_fail_memory(opt_error);
}

void idm_journal_resume_step(const idm_journal *j, uint64_t step, idm_fit_monitor *watch)
{
  watch->label = step;
  if (!j->running.length || j->running.step != step) return;
  watch->checkpoint = j->running.bytes;
  watch->checkpoint_length = j->running.length;
}

idm_status idm_journal_save(const void *journal_step, char **ret_bytes, size_t *ret_length,
                            idm_error *opt_error)
{
  const idm_journal_step *w = journal_step;
  idm_journal *j = w->journal;
  idm_record r;
  entry running = {.step = w->step};
  idm_status status = IDM_OK;
  if (w->opt_inner && w->opt_inner->save)
    status = idm_progress_save(w->opt_inner, &running.bytes, &running.length, opt_error);
  if (status != IDM_OK) return status;
  idm_record_begin(&r, j->kind, j->label);
  pthread_mutex_lock(&j->mutex);
  uint64_t count = j->count;
  idm_record_transfer(&r, &count, sizeof count);
  for (size_t i = 0; i < j->count; i++) transfer_entry(&r, &j->entry[i]);
  pthread_mutex_unlock(&j->mutex);
  /* Keep the checkpoint of the step that the loaded checkpoint was made in, where that step has not
   * begun again. */
  transfer_entry(&r, running.bytes || !j->running.bytes ? &running : &j->running);
  free(running.bytes);
  return idm_record_finish(&r, ret_bytes, ret_length, opt_error);
}
