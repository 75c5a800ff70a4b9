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

#ifdef __cplusplus
}
#endif
#endif
