/* Keys: one descriptor a field of a settings struct, which reading, writing, comparing, options of
 * the command line and help follow from. */
#ifndef IDM_KEY_H
#define IDM_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The C type of the field. */
typedef enum idm_key_kind {
  IDM_KEY_NUMBER, /* double; NaN: not given */
  IDM_KEY_INT,
  IDM_KEY_LONG,
  IDM_KEY_SIZE, /* size_t */
  IDM_KEY_SEED, /* uint64_t */
  IDM_KEY_BOOL, /* bool */
  IDM_KEY_ENUM, /* an enum, stored as int: one of `words` */
  IDM_KEY_TEXT, /* char[most] */
  IDM_KEY_TEXTS /* char[most]: texts without line ends, one a line; in files a list of them */
} idm_key_kind;

typedef struct idm_key {
  const char *name; /* in files; an option of the command line has '-' for '_'. NULL ends a list */
  idm_key_kind kind;
  size_t offset; /* of the field in its struct */
  double least;  /* legal range of a number; of a text `most` is its room in bytes */
  double most;
  bool above;               /* `least` itself is not legal */
  bool infinite;            /* and inf is */
  const char *const *words; /* of IDM_KEY_ENUM, NULL at the end */
  const char *zero;         /* the word for 0 of a number that has one, as in auto */
  double replaced_default;  /* what the word replaces as the default: labels count it as this */
  const char *value;        /* what its value is called in help, as in N */
  const char *help;
  bool later; /* came after requests had labels: while it is 0 they are what they were without it */
  bool affects_shape; /* of an agent: sizes of its planner's blocks, or what they start from, follow
                         it */
  bool place; /* says where things lie or what is written beside: results do not depend on it */
} idm_key;

/* The key of that name in a list, or NULL. */
IDM_API const idm_key *idm_key_find(const idm_key *keys, const char *name);
/* The field of a number, whole or not, as a double; and back, where the field can
 * hold it. Words are their index. */
IDM_API double idm_key_number(const idm_key *key, const void *fields);
IDM_API void idm_key_set_number(const idm_key *key, void *fields, double value);
/* Whether every field holds what its key allows: IDM_USAGE with "NAME is 'TEXT'; expected ...". */
IDM_API idm_status idm_keys_check(const idm_key *keys, const void *fields, idm_error *opt_error);
/* Set a field from text as a person writes it. IDM_USAGE with "NAME is 'TEXT'; expected ...". */
IDM_API idm_status idm_key_set_text(const idm_key *key, void *fields, const char *text,
                                    idm_error *opt_error);
/* A field as text, which idm_key_set_text reads back; empty where nothing is set. Returns buffer.
 */
IDM_API const char *idm_key_text(const idm_key *key, const void *fields, char *buffer, size_t size);
/* "a whole number from 1 to 1000", "mean or sampled": what may stand there. Returns buffer. */
IDM_API const char *idm_key_expected(const idm_key *key, char *buffer, size_t size);
/* Whether two structs hold the same in a field, numbers to a relative tolerance (0: bit for bit).
 */
IDM_API bool idm_key_same(const idm_key *key, const void *a, const void *b, double tolerance);

#ifdef __cplusplus
}
#endif
#endif
