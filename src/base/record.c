/* Checkpoints as bytes: see the header. */
#include "base/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/number.h"

enum { kind_length = 8 };

void idm_record_pass(idm_record *r, void *data, size_t length)
{
  if (r->cut || !length) return;
  if (r->reading) {
    r->cut = length > r->length - r->at;
    if (!r->cut) memcpy(data, r->from + r->at, length);
    if (!r->cut) r->at += length;
    return;
  }
  if (length > r->capacity - r->length) {
    const size_t capacity = 2 * (r->length + length) + 4096;
    char *more = realloc(r->bytes, capacity);
    if (!more) {
      r->cut = true;
      return;
    }
    r->bytes = more;
    r->capacity = capacity;
  }
  memcpy(r->bytes + r->length, data, length);
  r->length += length;
}

void idm_record_pass_flag(idm_record *r, bool *flag)
{
  unsigned char byte = *flag ? 1 : 0;
  idm_record_pass(r, &byte, sizeof byte);
  if (r->reading && byte > 1) r->cut = true;
  if (!r->cut) *flag = byte == 1;
}

bool idm_record_same(idm_record *r, uint64_t value)
{
  uint64_t found = value;
  idm_record_pass(r, &found, sizeof found);
  return found == value;
}

void idm_record_begin(idm_record *r, const char *kind, uint64_t label)
{
  char name[kind_length] = "";
  strncpy(name, kind, kind_length - 1);
  *r = (idm_record){0};
  idm_record_pass(r, name, sizeof name);
  idm_record_pass(r, &label, sizeof label);
}

static idm_status refuse(const char *why, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT, "the checkpoint %s", why);
}

idm_status idm_record_open(idm_record *r, const char *kind, uint64_t label, const char *bytes,
                           size_t length, idm_error *opt_error)
{
  char name[kind_length] = "";
  uint64_t sum = 0, own = 0;
  if (length < sizeof name + sizeof own + sizeof sum) return refuse("is cut short", opt_error);
  *r = (idm_record){.from = bytes, .length = length - sizeof sum, .reading = true};
  idm_record_pass(r, name, sizeof name);
  idm_record_pass(r, &own, sizeof own);
  memcpy(&sum, bytes + r->length, sizeof sum);
  if (strncmp(name, kind, kind_length) != 0)
    return refuse("is no checkpoint of this version", opt_error);
  if (sum != idm_checksum(IDM_CHECKSUM_START, bytes, r->length))
    return refuse("is damaged", opt_error);
  return own == label ? IDM_OK : refuse("belongs to another request", opt_error);
}

idm_status idm_record_resume(idm_record *r, const char *kind, const idm_fit_watch *watch,
                             idm_error *opt_error)
{
  return idm_record_open(r, kind, watch->label, watch->checkpoint, watch->checkpoint_length,
                         opt_error);
}

idm_status idm_record_blame(const idm_fit_watch *watch, idm_status status, idm_error *opt_error)
{
  if (status == IDM_INPUT && opt_error && watch->checkpoint_file)
    idm_print(opt_error->file, sizeof opt_error->file, "%s", watch->checkpoint_file);
  return status;
}

idm_status idm_record_seal(idm_record *r, char **ret_bytes, size_t *ret_length,
                           idm_error *opt_error)
{
  *ret_bytes = NULL;
  uint64_t sum = r->cut ? 0 : idm_checksum(IDM_CHECKSUM_START, r->bytes, r->length);
  idm_record_pass(r, &sum, sizeof sum);
  if (r->cut) {
    free(r->bytes);
    return idm_fail_memory(opt_error);
  }
  *ret_bytes = r->bytes;
  *ret_length = r->length;
  return IDM_OK;
}

idm_status idm_record_close(const idm_record *r, bool fits, idm_error *opt_error)
{
  if (!fits) return refuse("belongs to another request", opt_error);
  if (r->cut) return refuse("is cut short or damaged", opt_error);
  return r->at == r->length ? IDM_OK : refuse("is longer than its draws", opt_error);
}
