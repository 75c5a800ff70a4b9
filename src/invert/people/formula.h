/* Formulas: what the population's mean of a block may depend on.
 *
 *   formula  blocks '~' sum
 *   blocks   name {',' name}
 *   sum      product {'+' product}
 *   product  pair {'*' pair}          a * b is a + b + a:b
 *   pair     factor {':' factor}
 *   factor   column | C(column [, ref = level]) | 1
 *
 * Names are letters, digits, '_' and '.', or anything between backticks; a level may stand in
 * quotes. The intercept is always there. */
#ifndef IDM_INVERT_PEOPLE_FORMULA_H
#define IDM_INVERT_PEOPLE_FORMULA_H

#include <stdint.h>

#include "idm/setting.h"

/* A column in a formula. */
typedef struct idm_factor {
  char *column;
  bool category;       /* C(): a category whatever its cells hold */
  char *opt_reference; /* the level that the others are compared with; NULL: the first */
  size_t place;        /* in the formula, from 1 */
} idm_factor;

/* Terms are sets of factors as bits, those of fewer factors first, in the order they appear; the
 * intercept, which has none, is left out. */
enum { IDM_MOST_FACTORS = 32, IDM_MOST_TERMS = 200 };
typedef struct idm_formula {
  char *text;
  idm_labels block;
  size_t *block_place; /* [block] */
  size_t factors;
  idm_factor factor[IDM_MOST_FACTORS];
  size_t terms;
  uint32_t term[IDM_MOST_TERMS];
} idm_formula;

/* IDM_USAGE names the place, what was found there and what was expected. */
idm_status idm_formula_parse(const char *text, idm_formula **ret_formula, idm_error *opt_error);
void idm_formula_destroy(idm_formula *formula);

#endif
