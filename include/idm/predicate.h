/* Predicates over a column of a log: COLUMN OP VALUE, as `--where`, `--group` and rules state them.
 *
 * OP is =, !=, <, <=, > or >=. A value that is a decimal number is compared as a number, else as a
 * text, byte by byte. A missing cell meets no predicate, and its negation neither: whoever asks
 * counts it. An empty value asks for just that: `COLUMN=` is met by cells that are missing, and
 * `COLUMN!=` by those that are not. */
#ifndef IDM_PREDICATE_H
#define IDM_PREDICATE_H

#include "idm/setting.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum idm_comparison {
  IDM_EQUAL,
  IDM_UNEQUAL,
  IDM_LESS_EQUAL,
  IDM_GREATER_EQUAL,
  IDM_LESS,
  IDM_GREATER
} idm_comparison;

/* Zero-initialise. */
typedef struct idm_predicate {
  char *column;
  idm_comparison comparison;
  char *value;  /* without surrounding blanks */
  bool numeric; /* the value is a number */
  double number;
} idm_predicate;

typedef enum idm_predicate_result {
  IDM_PREDICATE_FALSE,
  IDM_PREDICATE_TRUE,
  IDM_PREDICATE_MISSING, /* the cell is missing */
  IDM_PREDICATE_INVALID  /* an order of numbers, and a cell that is none: somebody made a mistake */
} idm_predicate_result;

/* Read a predicate. Names may hold operators: of the operators in the text the first that stands
 * behind a name of opt_columns divides it, else the first of all. IDM_USAGE where the text is no
 * predicate, or an order against nothing. */
IDM_API idm_status idm_predicate_parse(const char *text, const idm_labels *opt_columns,
                                       idm_predicate *ret_predicate, idm_error *opt_error);
/* Whether a cell meets it; NULL or no text is a missing cell. */
IDM_API idm_predicate_result idm_predicate_evaluate(const idm_predicate *predicate,
                                                    const char *opt_text, size_t length);
/* "COLUMN OP VALUE" without blanks between, for messages and files. Returns buffer. */
IDM_API char *idm_predicate_text(const idm_predicate *predicate, char *buffer, size_t size);
IDM_API bool idm_predicate_same(const idm_predicate *a, const idm_predicate *b);
/* Frees what it holds. */
IDM_API void idm_predicate_clear(idm_predicate *predicate);

#ifdef __cplusplus
}
#endif
#endif
