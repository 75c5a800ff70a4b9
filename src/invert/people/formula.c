/* Formulas read: "alpha, beta ~ drug * group + age". */
#include "invert/people/formula.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

typedef struct parser {
  const char *text;
  const char *at;
  idm_formula *formula;
  idm_error *opt_error;
} parser;

/* A sum under way: its terms, the intercept among them. */
typedef struct sum {
  size_t count;
  uint32_t term[IDM_MOST_TERMS];
} sum;

void idm_formula_destroy(idm_formula *formula)
{
  if (!formula) return;
  for (size_t i = 0; i < formula->factors; i++) {
    free(formula->factor[i].column);
    free(formula->factor[i].opt_reference);
  }
  idm_labels_destroy(&formula->block);
  free(formula->block_place);
  free(formula->text);
  free(formula);
}

/* --- words ---------------------------------------------------------------------------------- */

static void skip_blanks(parser *p)
{
  while (*p->at == ' ' || *p->at == '\t') p->at++;
}

static size_t place_of(const parser *p, const char *at)
{
  return (size_t)(at - p->text) + 1;
}

static idm_status unexpected(parser *p, const char *expected)
{
  char found[80];
  skip_blanks(p);
  const int length = (int)strcspn(p->at, " \t+:*,~()=");
  if (*p->at)
    snprintf(found, sizeof found, "'%.*s'", length ? length < 60 ? length : 60 : 1, p->at);
  else
    snprintf(found, sizeof found, "the end");
  return idm_fail(p->opt_error, IDM_USAGE,
                  "the formula '%.200s': found %s at character %zu; expected %s", p->text, found,
                  place_of(p, p->at), expected);
}

static bool take(parser *p, char symbol)
{
  skip_blanks(p);
  if (*p->at != symbol) return false;
  p->at++;
  return true;
}

static bool is_of_name(char c)
{
  return isalnum((unsigned char)c) || c == '_' || c == '.' || (unsigned char)c >= 0x80;
}

/* Text up to the closing quote, or a plain name; for the caller to free. */
static idm_status take_name(parser *p, const char *quotes, const char *expected, char **ret_name)
{
  *ret_name = NULL;
  skip_blanks(p);
  const char *first = p->at;
  size_t length = 0;
  if (*p->at && strchr(quotes, *p->at)) {
    first++;
    const char *end = strchr(first, *p->at);
    if (!end || end == first) return unexpected(p, "a name between two quotes of the same kind");
    length = (size_t)(end - first);
    p->at = end + 1;
  } else {
    while (is_of_name(*p->at)) p->at++;
    length = (size_t)(p->at - first);
    if (!length) return unexpected(p, expected);
  }
  *ret_name = idm_text_copy(first, length);
  return *ret_name ? IDM_OK : idm_fail_memory(p->opt_error);
}

/* --- factors -------------------------------------------------------------------------------- */

/* A column that stands several times is one factor; what C() says of it holds everywhere. */
static idm_status add_factor(parser *p, idm_factor new, uint32_t *ret_term)
{
  idm_formula *f = p->formula;
  size_t i = 0;
  while (i < f->factors && strcmp(f->factor[i].column, new.column) != 0) i++;
  idm_factor *old = &f->factor[i];
  idm_status status = IDM_OK;
  *ret_term = 0;
  if (i == IDM_MOST_FACTORS) {
    status = idm_fail(p->opt_error, IDM_USAGE, "the formula '%.200s' has more than %d columns",
                      p->text, IDM_MOST_FACTORS);
  } else if (i == f->factors) {
    f->factor[f->factors++] = new;
    *ret_term = (uint32_t)1 << i;
    return IDM_OK;
  } else if (old->opt_reference && new.opt_reference &&
             strcmp(old->opt_reference, new.opt_reference) != 0) {
    status = idm_fail(p->opt_error, IDM_USAGE,
                      "the formula '%.200s' gives '%.60s' two references, '%.60s' and '%.60s'; "
                      "expected one",
                      p->text, old->column, old->opt_reference, new.opt_reference);
  } else {
    old->category = old->category || new.category;
    *ret_term = (uint32_t)1 << i;
    if (!old->opt_reference) {
      old->opt_reference = new.opt_reference;
      new.opt_reference = NULL;
    }
  }
  free(new.column);
  free(new.opt_reference);
  return status;
}

/* The rest of C(column, ref=level), after its bracket. */
static idm_status take_category(parser *p, idm_factor *factor)
{
  char *word = NULL;
  idm_status status = take_name(p, "`", "the name of a column", &factor->column);
  if (status != IDM_OK) return status;
  factor->category = true;
  if (take(p, ',')) {
    skip_blanks(p);
    const char *at = p->at;
    status = take_name(p, "", "ref=LEVEL", &word);
    const bool known = status == IDM_OK && strcmp(word, "ref") == 0;
    free(word);
    if (!known) p->at = at;
    if (!known || !take(p, '=')) return status == IDM_OK ? unexpected(p, "ref=LEVEL") : status;
    status = take_name(p, "'\"`", "a level of the column", &factor->opt_reference);
  }
  if (status == IDM_OK && !take(p, ')'))
    status = unexpected(p, factor->opt_reference ? "')'" : "')' or ', ref=LEVEL'");
  return status;
}

/* Whether C( stands here. */
static bool begins_category(const char *at)
{
  if (*at != 'C') return false;
  at++;
  while (*at == ' ') at++;
  return *at == '(';
}

/* A lone digit, as in 1 for the intercept. */
static bool is_digit(const char *at, char digit)
{
  return at[0] == digit && !is_of_name(at[1]);
}

static idm_status take_factor(parser *p, uint32_t *ret_term)
{
  static const char expected[] = "a column, C(column) or 1";
  idm_factor factor = {0};
  *ret_term = 0;
  skip_blanks(p);
  if (is_digit(p->at, '1')) {
    p->at++;
    return IDM_OK;
  }
  if (is_digit(p->at, '0') || *p->at == '-')
    return unexpected(p, "a column: the intercept cannot be left out");
  factor.place = place_of(p, p->at);
  idm_status status;
  if (begins_category(p->at)) {
    p->at = strchr(p->at, '(') + 1;
    status = take_category(p, &factor);
  } else {
    status = take_name(p, "`", expected, &factor.column);
  }
  if (status == IDM_OK) return add_factor(p, factor, ret_term);
  free(factor.column);
  free(factor.opt_reference);
  return status;
}

/* --- terms ---------------------------------------------------------------------------------- */

static idm_status add_term(parser *p, sum *terms, uint32_t term)
{
  for (size_t i = 0; i < terms->count; i++)
    if (terms->term[i] == term) return IDM_OK;
  if (terms->count == IDM_MOST_TERMS)
    return idm_fail(p->opt_error, IDM_USAGE, "the formula '%.200s' has more than %d terms", p->text,
                    IDM_MOST_TERMS - 1);
  terms->term[terms->count++] = term;
  return IDM_OK;
}

static idm_status take_pair(parser *p, uint32_t *ret_term)
{
  *ret_term = 0;
  idm_status status = IDM_OK;
  do {
    uint32_t factor = 0;
    status = take_factor(p, &factor);
    *ret_term |= factor;
  } while (status == IDM_OK && take(p, ':'));
  return status;
}

/* a * b is a + b + a:b; what stands before is multiplied as a whole. */
static idm_status take_product(parser *p, sum *terms)
{
  sum product = {0};
  idm_status status = IDM_OK;
  do {
    uint32_t pair = 0;
    const size_t before = product.count;
    status = take_pair(p, &pair);
    if (status == IDM_OK) status = add_term(p, &product, pair);
    for (size_t i = 0; i < before && status == IDM_OK; i++)
      status = add_term(p, &product, product.term[i] | pair);
  } while (status == IDM_OK && take(p, '*'));
  for (size_t i = 0; i < product.count && status == IDM_OK; i++)
    status = add_term(p, terms, product.term[i]);
  return status;
}

static int bits(uint32_t term)
{
  int count = 0;
  for (; term; term &= term - 1) count++;
  return count;
}

/* Main effects before interactions, as they appear. */
static void order_terms(const sum *terms, idm_formula *f)
{
  for (int size = 1; size <= IDM_MOST_FACTORS; size++)
    for (size_t i = 0; i < terms->count; i++)
      if (bits(terms->term[i]) == size) f->term[f->terms++] = terms->term[i];
}

/* --- formulas ------------------------------------------------------------------------------- */

static idm_status take_blocks(parser *p)
{
  idm_formula *f = p->formula;
  size_t room = 1;
  for (const char *c = p->text; *c; c++) room += *c == ',';
  f->block_place = idm_new(room, sizeof *f->block_place);
  if (!f->block_place) return idm_fail_memory(p->opt_error);
  idm_status status = idm_labels_create(&f->block, room, p->opt_error);
  size_t count = 0;
  do {
    char *name = NULL;
    skip_blanks(p);
    if (status == IDM_OK) f->block_place[count] = place_of(p, p->at);
    if (status == IDM_OK) status = take_name(p, "`", "the name of a free block", &name);
    for (size_t i = 0; i < count && status == IDM_OK; i++)
      if (strcmp(f->block.name[i], name) == 0)
        status = idm_fail(p->opt_error, IDM_USAGE,
                          "the formula '%.200s' names '%.60s' twice before '~'; expected it once",
                          p->text, name);
    if (status == IDM_OK)
      status = idm_labels_set(&f->block, count++, name, strlen(name), p->opt_error);
    free(name);
  } while (status == IDM_OK && take(p, ','));
  for (size_t i = count; i < f->block.count; i++) free(f->block.name[i]);
  f->block.count = count;
  if (status == IDM_OK && !take(p, '~')) status = unexpected(p, "',' or '~'");
  return status;
}

static idm_status take_formula(parser *p)
{
  sum terms = {0};
  idm_status status = take_blocks(p);
  if (status != IDM_OK) return status;
  do status = take_product(p, &terms);
  while (status == IDM_OK && take(p, '+'));
  skip_blanks(p);
  if (status == IDM_OK && *p->at) status = unexpected(p, "'+', '*', ':' or the end");
  if (status == IDM_OK) order_terms(&terms, p->formula);
  return status;
}

idm_status idm_formula_parse(const char *text, idm_formula **ret_formula, idm_error *opt_error)
{
  *ret_formula = NULL;
  idm_formula *formula = idm_new(1, sizeof *formula);
  if (formula) formula->text = idm_text_copy(text, strlen(text));
  if (!formula || !formula->text) {
    idm_formula_destroy(formula);
    return idm_fail_memory(opt_error);
  }
  parser p = {text, text, formula, opt_error};
  const idm_status status = take_formula(&p);
  if (status == IDM_OK)
    *ret_formula = formula;
  else
    idm_formula_destroy(formula);
  return status;
}
