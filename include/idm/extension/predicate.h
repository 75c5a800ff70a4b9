/* Predicates over a column of a log: COLUMN OP VALUE, as in `--where`, `--group` and rules.
 *
 * OP is =, !=, <, <=, > or >=. A value that is a decimal number is compared numerically, any other
 * value as text, byte by byte. A missing cell satisfies neither a predicate nor its negation: the
 * caller counts it. An empty value tests for missing cells: `COLUMN=` is true of missing cells,
 * `COLUMN!=` of all others. */
#ifndef IDM_EXTENSION_PREDICATE_H
#define IDM_EXTENSION_PREDICATE_H

#include "idm/extension/setting.h"

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
  char *value;  /* without leading and trailing blanks */
  bool numeric; /* the value is a number */
  double number;
} idm_predicate;

typedef enum idm_predicate_result {
  IDM_PREDICATE_FALSE,
  IDM_PREDICATE_TRUE,
  IDM_PREDICATE_MISSING, /* the cell is missing */
  IDM_PREDICATE_INVALID  /* numeric order, but the cell is not a number: an error in the log */
} idm_predicate_result;

/* Parse a predicate. Column names may contain operators: the text is split at the first operator
 * that follows a name of opt_columns, else at the first operator. IDM_USAGE if the text is not a
 * predicate, or compares with an empty value by order. */
IDM_API idm_status idm_predicate_parse(const char *text, const idm_labels *opt_columns,
                                       idm_predicate *ret_predicate, idm_error *opt_error);
/* Evaluate a predicate for a cell of `length` bytes. NULL or an empty text is a missing cell. */
IDM_API idm_predicate_result idm_predicate_evaluate(const idm_predicate *predicate,
                                                    const char *opt_text, size_t length);
/* Write a predicate as "COLUMN OP VALUE" without blanks, for messages and files. Returns buffer. */
IDM_API char *idm_predicate_text(const idm_predicate *predicate, char *buffer, size_t size);
/* True if column, comparison and value are equal. */
IDM_API bool idm_predicate_same(const idm_predicate *a, const idm_predicate *b);
/* Free the content of a predicate. Accepts NULL. */
IDM_API void idm_predicate_clear(idm_predicate *predicate);

#ifdef __cplusplus
}
#endif
#endif
