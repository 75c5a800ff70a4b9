/* Numbers and texts in JSON: infinities as strings, NaN as null (DESIGN, section 6).
 *
 * A value that could not be made is NULL, and whatever it was to be part of becomes NULL with it:
 * an object is whole or it is not there, so that only who writes it out needs a check. */
#ifndef IDM_IO_JSON_H
#define IDM_IO_JSON_H

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "idm/status.h"

/* --- making --------------------------------------------------------------------------------- */

/* Keep what was made of *whole, or drop it. */
static inline void idm_json_keep(json_t **whole, int failed)
{
  if (!failed) return;
  json_decref(*whole);
  *whole = NULL;
}

/* Hand a value over to an object, under a key that it does not have yet. */
static inline void idm_json_set(json_t **object, const char *key, json_t *value)
{
  idm_json_keep(object, json_object_set_new(*object, key, value));
}

static inline void idm_json_append(json_t **array, json_t *value)
{
  idm_json_keep(array, json_array_append_new(*array, value));
}

static inline json_t *idm_json_number(double value)
{
  if (isnan(value)) return json_null();
  if (isinf(value)) return json_string(value > 0 ? "inf" : "-inf");
  return json_real(value);
}

/* Back again; false where it is none of these. */
static inline int idm_json_read_number(const json_t *item, double *ret_value)
{
  const char *text = json_string_value(item);
  const int infinite = text && (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0);
  *ret_value = infinite               ? (text[0] == '-' ? -INFINITY : INFINITY)
               : json_is_number(item) ? json_number_value(item)
                                      : NAN;
  return infinite || json_is_number(item) || json_is_null(item);
}

static inline json_t *idm_json_numbers(const double *values, size_t count)
{
  json_t *array = json_array();
  for (size_t i = 0; i < count; i++) idm_json_append(&array, idm_json_number(values[i]));
  return array;
}

/* A text that may be the name of a file, which need not be UTF-8: bytes that are none are '?'. */
static inline json_t *idm_json_text(const char *text)
{
  const size_t length = strlen(text);
  if (idm_utf8_valid(text, length)) return json_stringn(text, length);
  char *shown = (char *)malloc(length + 1);
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

static inline json_t *idm_json_texts(const idm_notes *notes)
{
  json_t *array = json_array();
  for (size_t i = 0; i < notes->count; i++) idm_json_append(&array, idm_json_text(notes->text[i]));
  return array;
}

/* --- text ----------------------------------------------------------------------------------- */

/* The text of an object, which is freed, for the caller to free; NULL where memory ran out. */
static inline char *idm_json_dump(json_t *object, size_t flags)
{
  char *text = object ? json_dumps(object, flags | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(object);
  return text;
}

#endif
