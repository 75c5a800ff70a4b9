/* Checkpoints as bytes, with kind, label and checksum. */
#include "base/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { kind_length = 8 };

void idm_record_transfer(idm_record *r, void *data, size_t length)
{
  if (r->truncated || !length) return;
  if (r->reading) {
    r->truncated = length > r->length - r->at;
    if (!r->truncated) memcpy(data, r->from + r->at, length);
    if (!r->truncated) r->at += length;
    return;
  }
  if (length > r->capacity - r->length) {
    const size_t capacity = 2 * (r->length + length) + 4096;
    char *more = realloc(r->bytes, capacity);
    if (!more) {
      r->truncated = true;
      return;
    }
    r->bytes = more;
    r->capacity = capacity;
  }
  memcpy(r->bytes + r->length, data, length);
  r->length += length;
}

void idm_record_transfer_flag(idm_record *r, bool *flag)
{
  unsigned char byte = *flag ? 1 : 0;
  idm_record_transfer(r, &byte, sizeof byte);
  if (r->reading && byte > 1) r->truncated = true;
  if (!r->truncated) *flag = byte == 1;
}

bool idm_record_match(idm_record *r, uint64_t value)
{
  uint64_t found = value;
  idm_record_transfer(r, &found, sizeof found);
  return found == value;
}

void idm_record_begin(idm_record *r, const char *kind, uint64_t label)
{
  char name[kind_length] = "";
  strncpy(name, kind, kind_length - 1);
  *r = (idm_record){0};
  idm_record_transfer(r, name, sizeof name);
  idm_record_transfer(r, &label, sizeof label);
}

static idm_status refuse(const char *reason, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT, "the checkpoint %s", reason);
}

idm_status idm_record_open(idm_record *r, const char *kind, uint64_t label, const char *bytes,
                           size_t length, idm_error *opt_error)
{
  char name[kind_length] = "";
  uint64_t sum = 0, stored_label = 0;
  if (length < sizeof name + sizeof stored_label + sizeof sum)
    return refuse("is cut short", opt_error);
  *r = (idm_record){.from = bytes, .length = length - sizeof sum, .reading = true};
  idm_record_transfer(r, name, sizeof name);
  idm_record_transfer(r, &stored_label, sizeof stored_label);
  memcpy(&sum, bytes + r->length, sizeof sum);
  if (strncmp(name, kind, kind_length) != 0)
    return refuse("is no checkpoint of this version", opt_error);
  if (sum != idm_checksum(IDM_CHECKSUM_START, bytes, r->length))
    return refuse("is damaged", opt_error);
  return stored_label == label ? IDM_OK : refuse("belongs to another request", opt_error);
}

idm_status idm_record_resume(idm_record *r, const char *kind, const idm_fit_monitor *watch,
                             idm_error *opt_error)
{
  return idm_record_open(r, kind, watch->label, watch->checkpoint, watch->checkpoint_length,
                         opt_error);
}

idm_status idm_record_name_file(const idm_fit_monitor *watch, idm_status status,
                                idm_error *opt_error)
{
  if (status == IDM_INPUT && opt_error && watch->checkpoint_file)
    idm_print(opt_error->file, sizeof opt_error->file, "%s", watch->checkpoint_file);
  return status;
}

idm_status idm_record_finish(idm_record *r, char **ret_bytes, size_t *ret_length,
                             idm_error *opt_error)
{
  *ret_bytes = NULL;
  uint64_t sum = r->truncated ? 0 : idm_checksum(IDM_CHECKSUM_START, r->bytes, r->length);
  idm_record_transfer(r, &sum, sizeof sum);
  if (r->truncated) {
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
  if (r->truncated) return refuse("is cut short or damaged", opt_error);
  return r->at == r->length ? IDM_OK : refuse("is longer than expected", opt_error);
}
