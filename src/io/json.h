/* Numbers and texts in JSON: infinities as strings, NaN as null.
 *
 * A value that could not be made is NULL, and whatever it was to be part of becomes NULL with it:
 * an object is whole or it is not there, so that only who writes it out needs a check. */
#ifndef IDM_IO_JSON_H
#define IDM_IO_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "idm/status.h"

/* --- making --------------------------------------------------------------------------------- */

/* Hand a value over to an object, under a key that it does not have yet. */
void idm_json_set(json_t **object, const char *key, json_t *value);
void idm_json_append(json_t **array, json_t *value);
json_t *idm_json_number(double value);
json_t *idm_json_numbers(const double *values, size_t count);
/* A text that may be the name of a file, which need not be UTF-8: bytes that are none are '?'. */
json_t *idm_json_text(const char *text);
json_t *idm_json_texts(const idm_notes *notes);

/* --- text ----------------------------------------------------------------------------------- */

/* The text of an object, which is freed, for the caller to free; NULL where memory ran out. */
char *idm_json_dump(json_t *object, size_t flags);
/* And back: IDM_INPUT at its place in `file`. */
idm_status idm_json_load(const char *text, size_t length, const char *file, json_t **ret_object,
                         idm_error *opt_error);
/* A number back again; false where it is none of these. */
bool idm_json_read_number(const json_t *item, double *ret_value);

#endif
