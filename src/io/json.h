/* Numbers and texts in JSON: infinities as strings, NaN as null.
 *
 * A value is NULL if memory is exhausted, and an object or array to which it is added is freed and
 * becomes NULL. A non-NULL object is therefore complete, and only the function that writes it needs
 * a check. */
#ifndef IDM_IO_JSON_H
#define IDM_IO_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "idm/status.h"

/* --- creation -------------------------------------------------------------------------------- */

/* Add a value to an object, which takes ownership of it, under a key that the object does not have.
 */
void idm_json_set(json_t **object, const char *key, json_t *value);
void idm_json_append(json_t **array, json_t *value);
json_t *idm_json_number(double value);
json_t *idm_json_numbers(const double *values, size_t count);
/* String of a text that may be a file name, which need not be UTF-8: invalid bytes become '?'. */
json_t *idm_json_text(const char *text);
json_t *idm_json_texts(const idm_notes *notes);

/* --- text ----------------------------------------------------------------------------------- */

/* Text of an object; NULL if memory is exhausted. The object is freed; the caller frees the text.
 */
char *idm_json_dump(json_t *object, size_t flags);
/* Parse a text; IDM_INPUT with the position in `file`. */
idm_status idm_json_load(const char *text, size_t length, const char *file, json_t **ret_object,
                         idm_error *opt_error);
/* Number written by idm_json_number; returns false for any other value. */
bool idm_json_read_number(const json_t *item, double *ret_value);

#endif
