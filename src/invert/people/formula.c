/* Parses regression formulas, and converts their columns to regressors (docs/method/people.md, 2).
 *
 * Contents: formula · covariate */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "invert/people/people.h"

/* === formula ================================================================================ */

/* Parser of formulas such as "alpha, beta ~ drug * group + age". */

typedef struct parser {
  const char *text;
  const char *at;
  idm_formula *formula;
  idm_error *opt_error;
} parser;

/* Terms of a sum during parsing, including the intercept. */
typedef struct term_list {
  size_t count;
  uint32_t term[IDM_MAX_TERMS];
} term_list;

void idm_formula_destroy(idm_formula *formula)
{
  if (!formula) return;
  for (size_t i = 0; i < formula->factors; i++) {
    free(formula->factor[i].column);
    free(formula->factor[i].opt_reference);
  }
  idm_labels_destroy(&formula->block);
  free(formula->block_position);
  free(formula->text);
  free(formula);
}

/* --- tokens ---------------------------------------------------------------------------------- */

static void skip_blanks(parser *p)
{
  while (*p->at == ' ' || *p->at == '\t') p->at++;
}

static size_t position_of(const parser *p, const char *at)
{
  return (size_t)(at - p->text) + 1;
}

static idm_status fail_unexpected(parser *p, const char *expected)
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
                  position_of(p, p->at), expected);
}

static bool accept_symbol(parser *p, char symbol)
{
  skip_blanks(p);
  if (*p->at != symbol) return false;
  p->at++;
  return true;
}

static bool is_name_char(char c)
{
  return isalnum((unsigned char)c) || c == '_' || c == '.' || (unsigned char)c >= 0x80;
}

/* Parse text up to the closing quote, or a plain name. The caller frees *ret_name. */
static idm_status parse_name(parser *p, const char *quotes, const char *expected, char **ret_name)
{
  *ret_name = NULL;
  skip_blanks(p);
  const char *first = p->at;
  size_t length = 0;
  if (*p->at && strchr(quotes, *p->at)) {
    first++;
    const char *end = strchr(first, *p->at);
    if (!end || end == first)
      return fail_unexpected(p, "a name between two quotes of the same kind");
    length = (size_t)(end - first);
    p->at = end + 1;
  } else {
    while (is_name_char(*p->at)) p->at++;
    length = (size_t)(p->at - first);
    if (!length) return fail_unexpected(p, expected);
  }
  *ret_name = idm_text_copy(first, length);
  return *ret_name ? IDM_OK : idm_fail_memory(p->opt_error);
}

/* --- factors -------------------------------------------------------------------------------- */

/* Add a factor. Repeated occurrences of a column are one factor, and options of C() apply to all of
 * them. Takes ownership of the strings in `new`. */
static idm_status add_factor(parser *p, idm_factor new, uint32_t *ret_term)
{
  idm_formula *f = p->formula;
  size_t i = 0;
  while (i < f->factors && strcmp(f->factor[i].column, new.column) != 0) i++;
  idm_factor *old = &f->factor[i];
  idm_status status = IDM_OK;
  *ret_term = 0;
  if (i == IDM_MAX_FACTORS) {
    status = idm_fail(p->opt_error, IDM_USAGE, "the formula '%.200s' has more than %d columns",
                      p->text, IDM_MAX_FACTORS);
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

/* Parse the rest of C(column, ref=level), after the opening bracket. */
static idm_status parse_category(parser *p, idm_factor *factor)
{
  char *word = NULL;
  idm_status status = parse_name(p, "`", "the name of a column", &factor->column);
  if (status != IDM_OK) return status;
  factor->category = true;
  if (accept_symbol(p, ',')) {
    skip_blanks(p);
    const char *at = p->at;
    status = parse_name(p, "", "ref=LEVEL", &word);
    const bool known = status == IDM_OK && strcmp(word, "ref") == 0;
    free(word);
    if (!known) p->at = at;
    if (!known || !accept_symbol(p, '='))
      return status == IDM_OK ? fail_unexpected(p, "ref=LEVEL") : status;
    status = parse_name(p, "'\"`", "a level of the column", &factor->opt_reference);
  }
  if (status == IDM_OK && !accept_symbol(p, ')'))
    status = fail_unexpected(p, factor->opt_reference ? "')'" : "')' or ', ref=LEVEL'");
  return status;
}

/* Whether the text starts with "C(". */
static bool is_category_start(const char *at)
{
  if (*at != 'C') return false;
  at++;
  while (*at == ' ') at++;
  return *at == '(';
}

/* Whether the text starts with this digit alone, as in 1 for the intercept. */
static bool is_digit(const char *at, char digit)
{
  return at[0] == digit && !is_name_char(at[1]);
}

static idm_status parse_factor(parser *p, uint32_t *ret_term)
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
    return fail_unexpected(p, "a column: the intercept cannot be left out");
  factor.position = position_of(p, p->at);
  idm_status status;
  if (is_category_start(p->at)) {
    p->at = strchr(p->at, '(') + 1;
    status = parse_category(p, &factor);
  } else {
    status = parse_name(p, "`", expected, &factor.column);
  }
  if (status == IDM_OK) return add_factor(p, factor, ret_term);
  free(factor.column);
  free(factor.opt_reference);
  return status;
}

/* --- terms ---------------------------------------------------------------------------------- */

static idm_status add_term(parser *p, term_list *terms, uint32_t term)
{
  for (size_t i = 0; i < terms->count; i++)
    if (terms->term[i] == term) return IDM_OK;
  if (terms->count == IDM_MAX_TERMS)
    return idm_fail(p->opt_error, IDM_USAGE, "the formula '%.200s' has more than %d terms", p->text,
                    IDM_MAX_TERMS - 1);
  terms->term[terms->count++] = term;
  return IDM_OK;
}

static idm_status parse_pair(parser *p, uint32_t *ret_term)
{
  *ret_term = 0;
  idm_status status = IDM_OK;
  do {
    uint32_t factor = 0;
    status = parse_factor(p, &factor);
    *ret_term |= factor;
  } while (status == IDM_OK && accept_symbol(p, ':'));
  return status;
}

/* a * b is a + b + a:b; the product of all terms to the left is multiplied. */
static idm_status parse_product(parser *p, term_list *terms)
{
  term_list product = {0};
  idm_status status = IDM_OK;
  do {
    uint32_t pair = 0;
    const size_t before = product.count;
    status = parse_pair(p, &pair);
    if (status == IDM_OK) status = add_term(p, &product, pair);
    for (size_t i = 0; i < before && status == IDM_OK; i++)
      status = add_term(p, &product, product.term[i] | pair);
  } while (status == IDM_OK && accept_symbol(p, '*'));
  for (size_t i = 0; i < product.count && status == IDM_OK; i++)
    status = add_term(p, terms, product.term[i]);
  return status;
}

static int count_bits(uint32_t term)
{
  int count = 0;
  for (; term; term &= term - 1) count++;
  return count;
}

/* Order terms by number of factors, then by appearance. */
static void order_terms(const term_list *terms, idm_formula *f)
{
  for (int size = 1; size <= IDM_MAX_FACTORS; size++)
    for (size_t i = 0; i < terms->count; i++)
      if (count_bits(terms->term[i]) == size) f->term[f->terms++] = terms->term[i];
}

/* --- formulas ------------------------------------------------------------------------------- */

static idm_status parse_blocks(parser *p)
{
  idm_formula *f = p->formula;
  size_t capacity = 1;
  for (const char *c = p->text; *c; c++) capacity += *c == ',';
  f->block_position = idm_new(capacity, sizeof *f->block_position);
  if (!f->block_position) return idm_fail_memory(p->opt_error);
  idm_status status = idm_labels_create(&f->block, capacity, p->opt_error);
  size_t count = 0;
  do {
    char *name = NULL;
    skip_blanks(p);
    if (status == IDM_OK) f->block_position[count] = position_of(p, p->at);
    if (status == IDM_OK) status = parse_name(p, "`", "the name of a free block", &name);
    for (size_t i = 0; i < count && status == IDM_OK; i++)
      if (strcmp(f->block.name[i], name) == 0)
        status = idm_fail(p->opt_error, IDM_USAGE,
                          "the formula '%.200s' names '%.60s' twice before '~'; expected it once",
                          p->text, name);
    if (status == IDM_OK)
      status = idm_labels_set(&f->block, count++, name, strlen(name), p->opt_error);
    free(name);
  } while (status == IDM_OK && accept_symbol(p, ','));
  for (size_t i = count; i < f->block.count; i++) free(f->block.name[i]);
  f->block.count = count;
  if (status == IDM_OK && !accept_symbol(p, '~')) status = fail_unexpected(p, "',' or '~'");
  return status;
}

static idm_status parse_formula(parser *p)
{
  term_list terms = {0};
  idm_status status = parse_blocks(p);
  if (status != IDM_OK) return status;
  do status = parse_product(p, &terms);
  while (status == IDM_OK && accept_symbol(p, '+'));
  skip_blanks(p);
  if (status == IDM_OK && *p->at) status = fail_unexpected(p, "'+', '*', ':' or the end");
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
  const idm_status status = parse_formula(&p);
  if (status == IDM_OK)
    *ret_formula = formula;
  else
    idm_formula_destroy(formula);
  return status;
}

/* === covariate ============================================================================== */

/* Columns of a formula as numbers, by trajectory. */

/* A column under construction. */
typedef struct covariate_builder {
  const idm_data *data;
  const idm_person_map *person_map;
  const idm_factor *factor;
  const char *formula;
  size_t column;           /* index among the covariates of the data */
  const idm_labels *level; /* its levels */
  idm_covariate *covariate;
  idm_notes *opt_notes;
  idm_error *opt_error;
} covariate_builder;

void idm_covariate_clear(idm_covariate *covariate)
{
  idm_labels_destroy(&covariate->name);
  free(covariate->value);
  free(covariate->level);
  *covariate = (idm_covariate){0};
}

#define FAIL(m, ...) idm_fail((m)->opt_error, IDM_INPUT, __VA_ARGS__)

/* --- missing values -------------------------------------------------------------------------- */

/* Whether a person has two different levels. own[person] is set to one of them, or to IDM_MISSING.
 */
static bool varies_within(const covariate_builder *m, int32_t *own)
{
  bool within = false;
  for (size_t i = 0; i < m->person_map->people; i++) own[i] = IDM_MISSING;
  for (size_t t = 0; t < m->data->trajectories; t++) {
    const int32_t level = m->covariate->level[t];
    int32_t *of_person = &own[m->person_map->of_trajectory[t]];
    if (level == IDM_MISSING) continue;
    if (*of_person == IDM_MISSING) *of_person = level;
    within = within || *of_person != level;
  }
  return within;
}

/* Fill missing values from the person's other trajectories, unless the column varies within people.
 * IDM_INPUT if values are still missing. */
static idm_status fill_gaps(const covariate_builder *m, const int32_t *own)
{
  const char *column = m->factor->column;
  size_t filled = 0;
  size_t missing = 0;
  size_t first = 0;
  for (size_t t = 0; t < m->data->trajectories; t++) {
    const int32_t level = m->covariate->within ? IDM_MISSING : own[m->person_map->of_trajectory[t]];
    if (m->covariate->level[t] != IDM_MISSING) continue;
    m->covariate->level[t] = level;
    if (level != IDM_MISSING)
      filled++;
    else if (!missing++)
      first = t;
  }
  if (filled)
    idm_notes_add(m->opt_notes,
                  "'%s' is empty in %zu trajectories: taken from the same people's others", column,
                  filled);
  if (!missing) return IDM_OK;
  char number[24];
  const idm_status status = FAIL(
      m,
      "the column '%.60s' is empty for %zu trajectories, the first of them '%.60s' of '%.60s'; "
      "fill it in, leave it out of '%.200s', or leave these rows out by --where '%.60s!='",
      column, missing, idm_trajectory_label(m->data, first, number, sizeof number),
      m->person_map->name.name[m->person_map->of_trajectory[first]], m->formula, column);
  idm_data_locate(m->data, m->data->first[first], m->opt_error);
  return status;
}

/* --- numbers -------------------------------------------------------------------------------- */

static bool read_number(const char *text, double *ret_number)
{
  char *end;
  *ret_number = idm_number_read(text, &end);
  return end != text && !*end && isfinite(*ret_number);
}

/* Whether all levels that occur are numbers. IDM_INPUT if only some are. */
static idm_status find_numeric(const covariate_builder *m, bool *ret_numeric)
{
  size_t numbers = 0;
  size_t other = m->data->trajectories;
  double number;
  for (size_t t = 0; t < m->data->trajectories; t++) {
    const bool is_number = read_number(m->level->name[m->covariate->level[t]], &number);
    numbers += is_number;
    if (!is_number && other == m->data->trajectories) other = t;
  }
  *ret_numeric = numbers == m->data->trajectories;
  if (*ret_numeric || !numbers) return IDM_OK;
  const char *column = m->factor->column;
  const idm_status status =
      FAIL(m,
           "the column '%.60s' contains numbers and '%.60s'; expected numbers only (with a decimal "
           "point), or C(%.60s) in the formula if it is a category, or data.missing: ['%.60s'] in "
           "the problem if it is a missing value",
           column, m->level->name[m->covariate->level[other]], column,
           m->level->name[m->covariate->level[other]]);
  idm_data_locate(m->data, m->data->first[other], m->opt_error);
  return status;
}

typedef struct numeric_level {
  double number;
  int32_t level;
} numeric_level;

static int by_number(const void *a, const void *b)
{
  const numeric_level *x = a;
  const numeric_level *y = b;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return (x->level > y->level) - (x->level < y->level);
}

/* Merge levels that are equal numbers, such as 30 and 30.0, into the first of them; otherwise a
 * person with both would appear to vary. */
static idm_status merge_equal_numbers(const covariate_builder *m)
{
  const size_t levels = m->level->count;
  numeric_level *list = idm_new(levels, sizeof *list);
  int32_t *first = idm_new(levels, sizeof *first);
  size_t count = 0;
  for (size_t i = 0; list && first && i < levels; i++) {
    first[i] = (int32_t)i;
    if (read_number(m->level->name[i], &list[count].number)) list[count++].level = (int32_t)i;
  }
  const bool covariate = list && first;
  if (covariate) qsort(list, count, sizeof *list, by_number);
  for (size_t i = 1; covariate && i < count; i++)
    if (list[i].number == list[i - 1].number) first[list[i].level] = first[list[i - 1].level];
  for (size_t t = 0; covariate && t < m->data->trajectories; t++)
    if (m->covariate->level[t] != IDM_MISSING)
      m->covariate->level[t] = first[m->covariate->level[t]];
  free(list);
  free(first);
  return covariate ? IDM_OK : idm_fail_memory(m->opt_error);
}

/* Compute mean[person] of the column and the number of values of each; both arrays must be zero. */
static void mean_by_person(const covariate_builder *m, double *mean, size_t *count)
{
  for (size_t t = 0; t < m->data->trajectories; t++) {
    mean[m->person_map->of_trajectory[t]] += m->covariate->value[t];
    count[m->person_map->of_trajectory[t]]++;
  }
  for (size_t i = 0; i < m->person_map->people; i++) mean[i] /= (double)count[i];
}

static double sd_of(const double *x, size_t count, double centre)
{
  return count > 1 ? sqrt(idm_squares_about(x, count, centre) / (double)(count - 1)) : 0;
}

/* IDM_INPUT if the sd is so large or small that squares of products of several columns could
 * overflow. */
static idm_status check_sd(const covariate_builder *m)
{
  static const double limit = 1e30;
  if (m->covariate->sd < limit && m->covariate->sd > 1 / limit) return IDM_OK;
  return FAIL(m,
              "the column '%.60s' has an sd of %g; expected one between %g and %g: use another "
              "unit",
              m->factor->column, m->covariate->sd, 1 / limit, limit);
}

static idm_status make_numeric(const covariate_builder *m)
{
  idm_covariate *c = m->covariate;
  const size_t trajectories = m->data->trajectories;
  c->columns = 1;
  c->value = idm_new(trajectories, sizeof *c->value);
  double *mean = idm_new(m->person_map->people, sizeof *mean);
  size_t *count = idm_new(m->person_map->people, sizeof *count);
  idm_status status = c->value && mean && count ? IDM_OK : idm_fail_memory(m->opt_error);
  if (status == IDM_OK) status = idm_labels_create(&c->name, 1, m->opt_error);
  if (status == IDM_OK)
    status =
        idm_labels_set(&c->name, 0, m->factor->column, strlen(m->factor->column), m->opt_error);
  if (status == IDM_OK) {
    for (size_t t = 0; t < trajectories; t++)
      read_number(m->level->name[c->level[t]], &c->value[t]);
    mean_by_person(m, mean, count);
    const double centre = idm_mean(mean, m->person_map->people);
    for (size_t t = 0; t < trajectories; t++) c->value[t] -= centre;
    c->sd =
        c->within ? sd_of(c->value, trajectories, 0) : sd_of(mean, m->person_map->people, centre);
    status = check_sd(m);
  }
  free(mean);
  free(count);
  return status;
}

/* --- categories ----------------------------------------------------------------------------- */

typedef struct category {
  const char *text;
  int32_t level;
  size_t person;  /* first person with the level, counted from 1; 0: none */
  bool is_shared; /* other people have it too */
} category;

static int by_text(const void *a, const void *b)
{
  return strcmp(((const category *)a)->text, ((const category *)b)->text);
}

/* List the levels that occur, in alphabetical order. Returns their number. */
static size_t list_categories(const covariate_builder *m, category *list)
{
  size_t count = 0;
  for (size_t i = 0; i < m->level->count; i++)
    list[i] = (category){.text = m->level->name[i], .level = (int32_t)i};
  for (size_t t = 0; t < m->data->trajectories; t++) {
    category *entry = &list[m->covariate->level[t]];
    const size_t person = (size_t)m->person_map->of_trajectory[t] + 1;
    if (!entry->person) entry->person = person;
    entry->is_shared = entry->is_shared || entry->person != person;
  }
  for (size_t i = 0; i < m->level->count; i++)
    if (list[i].person) list[count++] = list[i];
  qsort(list, count, sizeof *list, by_text);
  return count;
}

static idm_status unknown_reference(const covariate_builder *m, const category *list, size_t count)
{
  enum { limit = 100 };
  const char *names[limit];
  char level_list[300] = "";
  size_t used = 0;
  size_t known = 0;
  for (size_t i = 0; i < count && i < limit; i++) {
    names[known++] = list[i].text;
    if (used < 240)
      used += (size_t)snprintf(level_list + used, sizeof level_list - used, "%s%.40s",
                               i ? ", " : "", list[i].text);
  }
  const char *nearest = idm_suggest(m->factor->opt_reference, names, known);
  return idm_fail(m->opt_error, IDM_USAGE,
                  "the formula '%.200s': the column '%.60s' at character %zu has no level '%.60s'; "
                  "%s%.60s%s; it has %s",
                  m->formula, m->factor->column, m->factor->position, m->factor->opt_reference,
                  nearest ? "did you mean '" : "expected one that is in the log",
                  nearest ? nearest : "", nearest ? "'?" : "", level_list);
}

/* Move the reference level to the front. IDM_USAGE if it does not occur. */
static idm_status put_reference_first(const covariate_builder *m, category *list, size_t count)
{
  const char *reference = m->factor->opt_reference;
  size_t at = 0;
  if (!reference) return IDM_OK;
  while (at < count && strcmp(list[at].text, reference) != 0) at++;
  if (at == count) return unknown_reference(m, list, count);
  const category first = list[at];
  memmove(list + 1, list, at * sizeof *list);
  list[0] = first;
  return IDM_OK;
}

/* Note levels that only one person has. */
static void warn_of_few(const covariate_builder *m, const category *list, size_t count)
{
  char person_map[300] = "";
  size_t used = 0;
  size_t few = 0;
  for (size_t i = 0; i < count; i++) {
    if (list[i].is_shared) continue;
    if (used < 200)
      used += (size_t)snprintf(person_map + used, sizeof person_map - used,
                               "%s'%.30s' has only '%.30s'", used ? ", " : "", list[i].text,
                               m->person_map->name.name[list[i].person - 1]);
    few++;
  }
  if (few)
    idm_notes_add(m->opt_notes,
                  "%zu of %zu levels of '%s' have one person (%s%s): estimates of such a level "
                  "depend on that person and the prior",
                  few, count, m->factor->column, person_map, used < 200 ? "" : ", ...");
}

static idm_status make_category(const covariate_builder *m)
{
  idm_covariate *c = m->covariate;
  const size_t trajectories = m->data->trajectories;
  category *list = idm_new(m->level->count, sizeof *list);
  if (!list) return idm_fail_memory(m->opt_error);
  const size_t count = list_categories(m, list);
  idm_status status = put_reference_first(m, list, count);
  if (status == IDM_OK) warn_of_few(m, list, count);
  c->sd = 1;
  c->columns = count ? count - 1 : 0;
  if (status == IDM_OK) {
    c->value = idm_new(idm_times(c->columns, trajectories), sizeof *c->value);
    status = c->value ? idm_labels_create(&c->name, c->columns, m->opt_error)
                      : idm_fail_memory(m->opt_error);
  }
  for (size_t i = 1; i < count && status == IDM_OK; i++) {
    char name[2200];
    snprintf(name, sizeof name, "%.1000s[T.%.1000s]", m->factor->column, list[i].text);
    status = idm_labels_set(&c->name, i - 1, name, strlen(name), m->opt_error);
    for (size_t t = 0; t < trajectories; t++)
      c->value[(i - 1) * trajectories + t] = c->level[t] == list[i].level;
  }
  free(list);
  return status;
}

/* --- columns -------------------------------------------------------------------------------- */

/* IDM_INPUT for a constant column, which is collinear with the intercept. */
static idm_status check_not_constant(const covariate_builder *m)
{
  const int32_t *level = m->covariate->level;
  for (size_t t = 1; t < m->data->trajectories; t++)
    if (level[t] != level[0]) return IDM_OK;
  return FAIL(m,
              "the column '%.60s' is '%.60s' everywhere: its coefficient is not distinguishable "
              "from the intercept; leave it out of '%.200s'",
              m->factor->column, m->level->name[level[0]], m->formula);
}

static idm_status build_covariate(const covariate_builder *m, int32_t *own)
{
  bool numeric = false;
  idm_status status = idm_covariate_levels(m->data, m->column, m->covariate->level, m->opt_error);
  if (status != IDM_OK) return status;
  if (!m->factor->category) status = merge_equal_numbers(m);
  if (status != IDM_OK) return status;
  m->covariate->within = varies_within(m, own);
  status = fill_gaps(m, own);
  if (status == IDM_OK) status = check_not_constant(m);
  if (status == IDM_OK && !m->factor->category) status = find_numeric(m, &numeric);
  if (status != IDM_OK) return status;
  m->covariate->category = !numeric;
  return numeric ? make_numeric(m) : make_category(m);
}

idm_status idm_covariate_create(const idm_data *data, const idm_person_map *person_map,
                                const idm_factor *factor, const char *formula,
                                idm_covariate *covariate, idm_notes *opt_notes,
                                idm_error *opt_error)
{
  *covariate = (idm_covariate){0};
  covariate_builder m = {.data = data,
                         .person_map = person_map,
                         .factor = factor,
                         .formula = formula,
                         .column = idm_covariate_find(data, factor->column),
                         .covariate = covariate,
                         .opt_notes = opt_notes,
                         .opt_error = opt_error};
  if (m.column == data->covariates)
    return idm_fail(opt_error, IDM_USAGE, "the column '%.60s' was not kept when reading the log",
                    factor->column);
  m.level = &data->covariate_level[m.column];
  covariate->level = idm_new(data->trajectories, sizeof *covariate->level);
  int32_t *own = idm_new(person_map->people, sizeof *own);
  const idm_status status =
      covariate->level && own ? build_covariate(&m, own) : idm_fail_memory(opt_error);
  free(own);
  if (status != IDM_OK) idm_covariate_clear(covariate);
  return status;
}
