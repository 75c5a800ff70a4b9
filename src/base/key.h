/* Keys: one descriptor per field of a settings struct. Reading, writing, comparison, command-line
 * options and help are derived from it. */
#ifndef IDM_BASE_KEY_H
#define IDM_BASE_KEY_H

#include "base/arguments.h"
#include <stdbool.h>
#include <stdint.h>

#include "idm/status.h"

/* The C type of the field. */
typedef enum idm_key_kind {
  IDM_KEY_NUMBER, /* double; NaN: not given */
  IDM_KEY_INT,
  IDM_KEY_LONG,
  IDM_KEY_SIZE, /* size_t */
  IDM_KEY_SEED, /* uint64_t */
  IDM_KEY_BOOL, /* bool */
  IDM_KEY_ENUM, /* an enum, stored as int: index in `words` */
  IDM_KEY_TEXT, /* char[most] */
  IDM_KEY_TEXTS /* char[most]: texts separated by line ends; a list in files */
} idm_key_kind;

typedef struct idm_key {
  const char *name; /* in files; '_' becomes '-' in the command-line option. NULL ends a list */
  idm_key_kind kind;
  size_t offset; /* offset of the field in its struct */
  double least;  /* smallest legal number; for a text `most` is the array size in bytes */
  double most;
  bool above;               /* `least` itself is excluded */
  bool infinite;            /* infinity is legal */
  const char *const *words; /* words of IDM_KEY_ENUM; ends with NULL */
  const char *zero;         /* word for the value 0, such as auto; NULL: none */
  double replaced_default;  /* number that the default used to be before that word; labels use it */
  const char *value;        /* placeholder of the value in help, such as N */
  const char *help;
  bool later; /* added after the first labels of requests: the value 0 leaves a label unchanged */
  bool affects_shape; /* of an agent: its planner's blocks depend on it in size or start */
  bool place;         /* a path or an additional output: results do not depend on it */
} idm_key;

/* The key of that name in a list that ends with a NULL name; NULL if there is none. */
IDM_CHECKED const idm_key *idm_key_find(const idm_key *keys, const char *name);
/* Value of a numeric field as a double. A word counts as its index. NaN if the field is a text. */
IDM_CHECKED double idm_key_number(const idm_key *key, const void *fields);
/* Set a numeric field, if its type can represent the value; otherwise the field is unchanged. */
IDM_CHECKED void idm_key_set_number(const idm_key *key, void *fields, double value);
/* Check that every field has a legal value. IDM_USAGE with "NAME is 'TEXT'; expected ...". */
IDM_CHECKED idm_status idm_keys_check(const idm_key *keys, const void *fields,
                                      idm_error *opt_error);
/* Set a field from text. IDM_USAGE with "NAME is 'TEXT'; expected ...". */
IDM_CHECKED idm_status idm_key_set_text(const idm_key *key, void *fields, const char *text,
                                        idm_error *opt_error);
/* Write a field as text that idm_key_set_text can read; empty if the field is not set. Returns
 * buffer. */
IDM_CHECKED const char *idm_key_text(const idm_key *key, const void *fields, char *buffer,
                                     size_t size);
/* Describe the legal values of a key, as in "a whole number from 1 to 1000" or "mean or sampled".
 * Returns buffer. */
IDM_CHECKED const char *idm_key_expected(const idm_key *key, char *buffer, size_t size);
/* True if a field has the same value in two structs. Numbers are compared with a relative tolerance
 * (0: bitwise). */
IDM_CHECKED bool idm_key_same(const idm_key *key, const void *a, const void *b, double tolerance);

#endif
