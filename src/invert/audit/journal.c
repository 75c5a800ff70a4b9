/* What an audit has done so far: see the header. */
#include "invert/audit/journal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

static const char kind[] = "idmaud1";
static const char entry_kind[] = "idmstep";

typedef struct entry {
  uint64_t step;
  char *bytes;
  size_t length;
} entry;

struct audit_journal {
  pthread_mutex_t mutex; /* of the entries */
  size_t count;
  size_t capacity;
  entry *entry;
  uint64_t label;
  size_t samples; /* begun */
  entry running;  /* of the checkpoint; no bytes: none was under way */
};

void idm_journal_destroy(audit_journal *j)
{
  if (!j) return;
  for (size_t i = 0; i < j->count; i++) free(j->entry[i].bytes);
  free(j->entry);
  free(j->running.bytes);
  pthread_mutex_destroy(&j->mutex);
  free(j);
}

uint64_t idm_journal_step(audit_step step, size_t way, size_t index)
{
  return (uint64_t)step << 60 | (uint64_t)way << 32 | (uint64_t)index;
}

size_t idm_journal_count(audit_journal *j)
{
  return j->samples++;
}

/* Room for one more entry. */
static bool make_room(audit_journal *j)
{
  if (j->count < j->capacity) return true;
  const size_t capacity = 2 * j->capacity + 16;
  entry *more = realloc(j->entry, capacity * sizeof *more);
  if (!more) return false;
  j->entry = more;
  j->capacity = capacity;
  return true;
}

/* An entry there or back; false where there is no memory, or the record is too short. */
static bool pass_entry(idm_record *r, entry *e)
{
  uint64_t length = e->length;
  idm_record_pass(r, &e->step, sizeof e->step);
  idm_record_pass(r, &length, sizeof length);
  if (r->reading) {
    if (r->cut || length > r->length - r->at) return false;
    e->length = (size_t)length;
    e->bytes = idm_new(e->length ? e->length : 1, 1);
    if (!e->bytes) return false;
  }
  idm_record_pass(r, e->bytes, e->length);
  return !r->cut;
}

static idm_status load(audit_journal *j, const idm_fit_watch *watch, idm_error *opt_error)
{
  idm_record r;
  uint64_t count = 0;
  idm_status status = idm_record_open(&r, kind, watch->label, watch->checkpoint,
                                      watch->checkpoint_length, opt_error);
  if (status == IDM_OK) {
    idm_record_pass(&r, &count, sizeof count);
    bool fits = !r.cut;
    for (uint64_t i = 0; i < count && fits; i++) {
      if (!make_room(j)) return idm_fail_memory(opt_error);
      j->entry[j->count] = (entry){0};
      fits = pass_entry(&r, &j->entry[j->count++]);
    }
    fits = fits && pass_entry(&r, &j->running);
    status = idm_record_close(&r, fits, opt_error);
  }
  if (status == IDM_INPUT && opt_error && watch->checkpoint_file)
    idm_print(opt_error->file, sizeof opt_error->file, "%s", watch->checkpoint_file);
  return status;
}

idm_status idm_journal_create(const idm_fit_watch *opt_watch, audit_journal **ret_journal,
                              idm_error *opt_error)
{
  audit_journal *j = *ret_journal = idm_new(1, sizeof *j);
  if (!j) return idm_fail_memory(opt_error);
  pthread_mutex_init(&j->mutex, NULL);
  if (!opt_watch) return IDM_OK;
  j->label = opt_watch->label;
  const idm_status status = opt_watch->checkpoint ? load(j, opt_watch, opt_error) : IDM_OK;
  if (status == IDM_OK) return IDM_OK;
  idm_journal_destroy(j);
  *ret_journal = NULL;
  return status;
}

bool idm_journal_get(audit_journal *j, uint64_t step, idm_record *record)
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

idm_status idm_journal_put(audit_journal *j, uint64_t step, idm_record *record,
                           idm_error *opt_error)
{
  entry made = {.step = step};
  const idm_status status = idm_record_seal(record, &made.bytes, &made.length, opt_error);
  if (status != IDM_OK) return status;
  pthread_mutex_lock(&j->mutex);
  const bool kept = make_room(j);
  if (kept) j->entry[j->count++] = made;
  pthread_mutex_unlock(&j->mutex);
  if (kept) return IDM_OK;
  free(made.bytes);
  return idm_fail_memory(opt_error);
}

void idm_journal_go_on(const audit_journal *j, uint64_t step, idm_fit_watch *watch)
{
  watch->label = step;
  if (!j->running.length || j->running.step != step) return;
  watch->checkpoint = j->running.bytes;
  watch->checkpoint_length = j->running.length;
}

idm_status idm_journal_save(audit_journal *j, uint64_t step, const idm_work *opt_work,
                            char **ret_bytes, size_t *ret_length, idm_error *opt_error)
{
  idm_record r;
  entry running = {.step = step};
  idm_status status = IDM_OK;
  if (opt_work && opt_work->save)
    status = idm_work_save(opt_work, &running.bytes, &running.length, opt_error);
  if (status != IDM_OK) return status;
  idm_record_begin(&r, kind, j->label);
  pthread_mutex_lock(&j->mutex);
  uint64_t count = j->count;
  idm_record_pass(&r, &count, sizeof count);
  for (size_t i = 0; i < j->count; i++) pass_entry(&r, &j->entry[i]);
  pthread_mutex_unlock(&j->mutex);
  /* What is resumed and was not under way again when it stopped is kept as it was. */
  pass_entry(&r, running.bytes || !j->running.bytes ? &running : &j->running);
  free(running.bytes);
  return idm_record_seal(&r, ret_bytes, ret_length, opt_error);
}
