/* Columns of a log: codes of labels, the table of columns, predicates, derived columns and rules.
 *
 * Contents: codes · column · predicate · derive */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "idm/extension/column.h"
#include "idm/extension/derive.h"
#include "idm/extension/predicate.h"
#include "idm/extension/problem.h"
#include "setting/model.h"

/* === codes ================================================================================== */

/* Codes: texts and numbers that are used for labels in the cells of a log. */

void idm_codes_destroy(idm_codes *codes)
{
  if (!codes) return;
  for (size_t i = 0; i < codes->count; i++) {
    idm_labels_destroy(&codes->code[i].text);
    idm_labels_destroy(&codes->code[i].target_label);
  }
  free(codes->code);
  *codes = (idm_codes){0};
}

idm_status idm_codes_create(idm_codes *codes, size_t count, idm_error *opt_error)
{
  idm_require(codes);
  *codes = (idm_codes){.code = idm_new(count, sizeof *codes->code)};
  if (!codes->code) return idm_fail_memory(opt_error);
  codes->count = count;
  return IDM_OK;
}

/* Part number `part` of a label of `parts` parts joined by '/'; NULL where it has another number of
 * parts. */
static const char *part_of(const char *label, size_t parts, size_t part, size_t *ret_length)
{
  const char *found = NULL;
  for (size_t i = 0; i < parts; i++) {
    const size_t length = strcspn(label, "/");
    if (i == part) {
      found = label;
      *ret_length = length;
    }
    if ((i + 1 < parts) != (label[length] == '/')) return NULL;
    label += length + 1;
  }
  return found;
}

static bool is_listed(const idm_labels *levels, size_t count, const char *text, size_t length)
{
  for (size_t i = 0; i < count; i++)
    if (strlen(levels->name[i]) == length && memcmp(levels->name[i], text, length) == 0)
      return true;
  return false;
}

idm_status idm_labels_level(const idm_labels *labels, size_t parts, size_t part,
                            idm_labels *ret_labels, idm_error *opt_error)
{
  idm_require(labels, ret_labels);
  idm_labels levels;
  *ret_labels = (idm_labels){0};
  idm_status status = idm_labels_create(&levels, labels->count, opt_error);
  size_t count = 0;
  for (size_t i = 0; i < labels->count && status == IDM_OK; i++) {
    size_t length = 0;
    const char *text = part_of(labels->name[i], parts, part, &length);
    if (!text)
      status = idm_fail(
          opt_error, IDM_INPUT,
          "the label '%.60s' does not have %zu parts joined by '/', which codes by column need",
          labels->name[i], parts);
    else if (!is_listed(&levels, count, text, length))
      status = idm_labels_set(&levels, count++, text, length, opt_error);
  }
  if (status != IDM_OK) {
    idm_labels_destroy(&levels);
    return status;
  }
  levels.count = count;
  *ret_labels = levels;
  return IDM_OK;
}

/* === column ================================================================================= */

/* The table of columns. */

static const idm_column_info column_table[] = {
#define COLUMN_ROW(id, ...) [id] = {__VA_ARGS__},
    IDM_COLUMN_LIST(COLUMN_ROW)
#undef COLUMN_ROW
};

const idm_column_info *idm_column_describe(idm_column column)
{
  return (size_t)column < IDM_COLUMN_COUNT ? &column_table[column] : NULL;
}

bool idm_column_applies(idm_column column, const idm_setting *setting)
{
  const idm_column_info *info = idm_column_describe(column);
  return info && (!info->of_state || setting->fully_observed);
}

/* === predicate ============================================================================== */

/* Predicates over a column of a log. */

/* In the order of idm_comparison; operators of two characters precede their prefixes. */
static const char *const operators[] = {"=", "!=", "<=", ">=", "<", ">"};
enum { operator_count = sizeof operators / sizeof operators[0] };

/* A substring. */
typedef struct span {
  const char *text;
  size_t length;
} span;

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

static span trim(span s)
{
  for (; s.length && is_blank(s.text[0]); s.length--) s.text++;
  while (s.length && is_blank(s.text[s.length - 1])) s.length--;
  return s;
}

/* Whether a text begins with an operator, and with which. */
static bool operator_at(const char *text, idm_comparison *ret_comparison)
{
  size_t i = 0;
  while (i < operator_count && strncmp(text, operators[i], strlen(operators[i])) != 0) i++;
  *ret_comparison = (idm_comparison)i;
  return i < operator_count;
}

static bool is_name(const idm_labels *columns, span name)
{
  for (size_t i = 0; i < columns->count; i++)
    if (columns->name[i] && strlen(columns->name[i]) == name.length &&
        memcmp(columns->name[i], name.text, name.length) == 0)
      return true;
  return false;
}

/* The operator of a predicate, or NULL. With a list of columns, the first operator that follows a
 * column name, else the first operator. */
static const char *find_operator(const char *text, const idm_labels *opt_columns,
                                 idm_comparison *ret_comparison)
{
  const char *first = NULL;
  for (const char *c = text; *c; c++) {
    idm_comparison comparison;
    if (!operator_at(c, &comparison)) continue;
    const span name = trim((span){text, (size_t)(c - text)});
    const bool is_column = opt_columns && is_name(opt_columns, name);
    if (!first || is_column) {
      first = c;
      *ret_comparison = comparison;
    }
    if (is_column || !opt_columns) break;
  }
  return first;
}

idm_status idm_predicate_parse(const char *text, const idm_labels *opt_columns,
                               idm_predicate *ret_predicate, idm_error *opt_error)
{
  idm_require(text, ret_predicate);
  *ret_predicate = (idm_predicate){0};
  idm_comparison comparison = IDM_EQUAL;
  const char *at = find_operator(text, opt_columns, &comparison);
  const span column = trim((span){text, at ? (size_t)(at - text) : 0});
  if (!at || !column.length)
    return idm_fail(opt_error, IDM_USAGE,
                    "'%.80s' is no predicate; expected a column, one of = != < <= > >=, and a "
                    "value, as in 'AGE>75'",
                    text);
  const char *remainder = at + strlen(operators[comparison]);
  const span value = trim((span){remainder, strlen(remainder)});
  const bool is_ordering = comparison != IDM_EQUAL && comparison != IDM_UNEQUAL;
  if (is_ordering && !value.length)
    return idm_fail(opt_error, IDM_USAGE,
                    "'%.80s' has no value to compare with; expected one after '%s'", text,
                    operators[comparison]);
  *ret_predicate = (idm_predicate){.column = idm_text_copy(column.text, column.length),
                                   .comparison = comparison,
                                   .value = idm_text_copy(value.text, value.length)};
  if (!ret_predicate->column || !ret_predicate->value) {
    idm_predicate_clear(ret_predicate);
    return idm_fail_memory(opt_error);
  }
  ret_predicate->numeric = idm_number_decimal(value.text, value.length, &ret_predicate->number);
  return IDM_OK;
}

static idm_predicate_result compare(idm_comparison comparison, int sign)
{
  const bool satisfied[] = {[IDM_EQUAL] = sign == 0,
                            [IDM_UNEQUAL] = sign != 0,
                            [IDM_LESS_EQUAL] = sign <= 0,
                            [IDM_GREATER_EQUAL] = sign >= 0,
                            [IDM_LESS] = sign<0, [IDM_GREATER] = sign> 0};
  return satisfied[comparison] ? IDM_PREDICATE_TRUE : IDM_PREDICATE_FALSE;
}

/* Byte by byte; a proper prefix is less. */
static int compare_texts(span a, span b)
{
  const int prefix_order = memcmp(a.text, b.text, a.length < b.length ? a.length : b.length);
  return prefix_order ? prefix_order : a.length < b.length ? -1 : a.length > b.length;
}

idm_predicate_result idm_predicate_evaluate(const idm_predicate *predicate, const char *opt_text,
                                            size_t length)
{
  if (!predicate || !predicate->value || (size_t)predicate->comparison >= operator_count)
    return IDM_PREDICATE_FALSE;
  const span cell = trim((span){opt_text, opt_text ? length : 0});
  const span value = {predicate->value, strlen(predicate->value)};
  if (!value.length) return compare(predicate->comparison, cell.length > 0);
  if (!cell.length) return IDM_PREDICATE_MISSING;
  double number;
  if (predicate->numeric && idm_number_decimal(cell.text, cell.length, &number))
    return compare(predicate->comparison,
                   (number > predicate->number) - (number < predicate->number));
  const bool is_ordering =
      predicate->comparison != IDM_EQUAL && predicate->comparison != IDM_UNEQUAL;
  if (predicate->numeric && is_ordering) return IDM_PREDICATE_INVALID;
  return compare(predicate->comparison, compare_texts(cell, value));
}

char *idm_predicate_text(const idm_predicate *predicate, char *buffer, size_t size)
{
  if (!buffer || !size) return buffer;
  buffer[0] = '\0';
  if (predicate && predicate->column && predicate->value &&
      (size_t)predicate->comparison < operator_count)
    snprintf(buffer, size, "%s%s%s", predicate->column, operators[predicate->comparison],
             predicate->value);
  return buffer;
}

bool idm_predicate_same(const idm_predicate *a, const idm_predicate *b)
{
  return a && b && a->column && b->column && a->value && b->value &&
         a->comparison == b->comparison && strcmp(a->column, b->column) == 0 &&
         strcmp(a->value, b->value) == 0;
}

void idm_predicate_clear(idm_predicate *predicate)
{
  if (!predicate) return;
  free(predicate->column);
  free(predicate->value);
  *predicate = (idm_predicate){0};
}

/* === derive ================================================================================= */

/* Derived columns and rules. */

static const char *const derivations[] = {[IDM_DERIVE_INTERVALS] = "cut",
                                          [IDM_DERIVE_RECODE] = "recode",
                                          [IDM_DERIVE_PRODUCT] = "product",
                                          [IDM_DERIVE_NEXT] = "next"};
static const char *const rules[] = {
    [IDM_RULE_REQUIRE] = "require",   [IDM_RULE_KEEP] = "keep",
    [IDM_RULE_DROP] = "drop",         [IDM_RULE_DUPLICATES] = "duplicates",
    [IDM_RULE_TRUNCATE] = "truncate", [IDM_RULE_ENDS] = "ends",
    [IDM_RULE_MIN_ROWS] = "least"};

const char *idm_derivation_name(idm_derivation kind)
{
  return (size_t)kind < sizeof derivations / sizeof derivations[0] ? derivations[kind] : NULL;
}

const char *idm_rule_kind_name(idm_rule_kind kind)
{
  return (size_t)kind < sizeof rules / sizeof rules[0] ? rules[kind] : NULL;
}

int idm_rule_stage(idm_rule_kind kind)
{
  return kind < IDM_RULE_DUPLICATES ? 0 : kind == IDM_RULE_DUPLICATES ? 1 : 2;
}

char *idm_rule_text(const idm_rule *rule, char *buffer, size_t size)
{
  if (!buffer || !size) return buffer;
  buffer[0] = '\0';
  const char *name = rule ? idm_rule_kind_name(rule->kind) : NULL;
  if (!name) return buffer;
  size_t used = (size_t)snprintf(buffer, size, "%s ", name);
  if (used >= size) return buffer;
  char *remainder = buffer + used;
  const size_t capacity = size - used;
  switch (rule->kind) {
  case IDM_RULE_KEEP:
  case IDM_RULE_DROP:
    idm_predicate_text(&rule->predicate, remainder, capacity);
    break;
  case IDM_RULE_DUPLICATES:
    snprintf(remainder, capacity, rule->last ? "last" : "first");
    break;
  case IDM_RULE_TRUNCATE:
    idm_print(remainder, capacity, "%s every %g", rule->column, rule->every);
    break;
  case IDM_RULE_ENDS:
    used = (size_t)snprintf(remainder, capacity, "%s in", rule->column);
    for (size_t i = 0; i < rule->in.count && used < capacity; i++)
      used += (size_t)snprintf(remainder + used, capacity - used, "%s %s", i ? "," : "",
                               rule->in.name[i]);
    break;
  case IDM_RULE_MIN_ROWS:
    snprintf(remainder, capacity, "%zu", rule->least);
    break;
  default:
    snprintf(remainder, capacity, "%s", rule->column);
  }
  return buffer;
}

static bool same_text(const char *opt_a, const char *opt_b)
{
  return opt_a && opt_b ? strcmp(opt_a, opt_b) == 0 : opt_a == opt_b;
}

static bool same_numbers(const double *opt_a, const double *opt_b, size_t count)
{
  bool same = !opt_a == !opt_b;
  for (size_t i = 0; opt_a && opt_b && i < count; i++) same = same && opt_a[i] == opt_b[i];
  return same;
}

bool idm_derived_same(const idm_derived *a, const idm_derived *b)
{
  return a && b && a->kind == b->kind && a->cuts == b->cuts && a->closed_left == b->closed_left &&
         same_text(a->name, b->name) && same_text(a->missing, b->missing) &&
         same_text(a->other, b->other) && idm_labels_same(&a->source, &b->source) &&
         idm_labels_same(&a->text, &b->text) && idm_labels_same(&a->label, &b->label) &&
         same_numbers(a->at, b->at, a->cuts) && same_numbers(a->deviation, b->deviation, a->cuts);
}

bool idm_rule_same(const idm_rule *a, const idm_rule *b)
{
  if (!a || !b || a->kind != b->kind) return false;
  if (a->kind == IDM_RULE_KEEP || a->kind == IDM_RULE_DROP)
    return idm_predicate_same(&a->predicate, &b->predicate);
  return a->last == b->last && a->every == b->every && a->least == b->least &&
         same_text(a->column, b->column) && idm_labels_same(&a->in, &b->in);
}

void idm_derived_clear(idm_derived *derived)
{
  if (!derived) return;
  free(derived->name);
  free(derived->at);
  free(derived->deviation);
  free(derived->missing);
  free(derived->other);
  idm_labels_destroy(&derived->source);
  idm_labels_destroy(&derived->text);
  idm_labels_destroy(&derived->label);
  *derived = (idm_derived){0};
}

void idm_rule_clear(idm_rule *rule)
{
  if (!rule) return;
  free(rule->column);
  idm_predicate_clear(&rule->predicate);
  idm_labels_destroy(&rule->in);
  *rule = (idm_rule){0};
}
