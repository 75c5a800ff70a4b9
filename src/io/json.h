/* Numbers and texts in JSON: infinities as strings, NaN as null (DESIGN, section 6). */
#ifndef IDM_IO_JSON_H
#define IDM_IO_JSON_H

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "idm/status.h"

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
  for (size_t i = 0; i < count; i++) json_array_append_new(array, idm_json_number(values[i]));
  return array;
}

static inline json_t *idm_json_texts(const idm_notes *notes)
{
  json_t *array = json_array();
  for (size_t i = 0; i < notes->count; i++)
    json_array_append_new(array, json_string(notes->text[i]));
  return array;
}

#endif
