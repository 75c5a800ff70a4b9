/* Converts numbers and texts to and from JSON. */
#include "io/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* --- creation -------------------------------------------------------------------------------- */

/* Free *whole and set it to NULL if an operation on it failed. */
static void keep(json_t **whole, int failed)
{
  if (!failed) return;
  json_decref(*whole);
  *whole = NULL;
}

void idm_json_set(json_t **object, const char *key, json_t *value)
{
  keep(object, json_object_set_new(*object, key, value));
}

void idm_json_append(json_t **array, json_t *value)
{
  keep(array, json_array_append_new(*array, value));
}

json_t *idm_json_number(double value)
{
  if (isnan(value)) return json_null();
  if (isinf(value)) return json_string(value > 0 ? "inf" : "-inf");
  return json_real(value);
}

json_t *idm_json_numbers(const double *values, size_t count)
{
  json_t *array = json_array();
  for (size_t i = 0; i < count; i++) idm_json_append(&array, idm_json_number(values[i]));
  return array;
}

json_t *idm_json_text(const char *text)
{
  const size_t length = strlen(text);
  if (idm_utf8_valid(text, length)) return json_stringn(text, length);
  char *shown = malloc(length + 1);
  if (!shown) return NULL;
  for (size_t i = 0; i < length;) {
    unsigned long code;
    const size_t bytes = idm_utf8_decode(text + i, length - i, &code);
    if (bytes)
      memcpy(shown + i, text + i, bytes);
    else
      shown[i] = '?';
    i += bytes ? bytes : 1;
  }
  json_t *string = json_stringn(shown, length);
  free(shown);
  return string;
}

json_t *idm_json_texts(const idm_notes *notes)
{
  json_t *array = json_array();
  for (size_t i = 0; i < notes->count; i++) idm_json_append(&array, idm_json_text(notes->text[i]));
  return array;
}

/* --- text ----------------------------------------------------------------------------------- */

typedef struct buffer {
  char *bytes;
  size_t used;
  size_t capacity;
  bool failed;
} buffer;

/* jansson 2.14 continues after a failed append, and so does its json_dumps: a piece of the text is
 * then missing. Here a failure is kept. */
static int append(const char *bytes, size_t length, void *context)
{
  buffer *b = context;
  if (!b->failed && b->used + length >= b->capacity) {
    const size_t capacity = 2 * (b->used + length) + 256;
    char *larger = realloc(b->bytes, capacity);
    b->failed = !larger;
    if (larger) {
      b->bytes = larger;
      b->capacity = capacity;
    }
  }
  if (b->failed) return -1;
  memcpy(b->bytes + b->used, bytes, length);
  b->used += length;
  b->bytes[b->used] = '\0';
  return 0;
}

char *idm_json_dump(json_t *object, size_t flags)
{
  buffer b = {0};
  if (!object || json_dump_callback(object, append, &b, flags | JSON_REAL_PRECISION(17)) != 0)
    b.failed = true;
  json_decref(object);
  if (!b.failed) return b.bytes;
  free(b.bytes);
  return NULL;
}

/* When memory is exhausted, jansson sets no message, and not always a code. */
idm_status idm_json_load(const char *text, size_t length, const char *file, json_t **ret_object,
                         idm_error *opt_error)
{
  json_error_t where = {0};
  *ret_object = json_loadb(text, length, 0, &where);
  if (*ret_object) return IDM_OK;
  if (!where.text[0] || json_error_code(&where) == json_error_out_of_memory)
    return idm_fail_memory(opt_error);
  return idm_fail_at(opt_error, file, where.line, where.column, "%s", where.text);
}

bool idm_json_read_number(const json_t *item, double *ret_value)
{
  const char *text = json_string_value(item);
  const bool infinite = text && (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0);
  *ret_value = infinite               ? (text[0] == '-' ? -INFINITY : INFINITY)
               : json_is_number(item) ? json_number_value(item)
                                      : NAN;
  return infinite || json_is_number(item) || json_is_null(item);
}
