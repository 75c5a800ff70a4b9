/* Predicates over a column of a log. */
#include "idm/predicate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "base/number.h"

/* In the order of idm_comparison: those of two characters before those that begin them. */
static const char *const operators[] = {"=", "!=", "<=", ">=", "<", ">"};
enum { operator_count = sizeof operators / sizeof operators[0] };

/* A stretch of a text. */
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

/* Whether a text begins with an operator, and which. */
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

/* Where a text divides: its operator, or NULL. */
static const char *divide(const char *text, const idm_labels *opt_columns,
                          idm_comparison *ret_comparison)
{
  const char *first = NULL;
  for (const char *c = text; *c; c++) {
    idm_comparison comparison;
    if (!operator_at(c, &comparison)) continue;
    const span name = trim((span){text, (size_t)(c - text)});
    const bool known = opt_columns && is_name(opt_columns, name);
    if (!first || known) {
      first = c;
      *ret_comparison = comparison;
    }
    if (known || !opt_columns) break;
  }
  return first;
}

idm_status idm_predicate_parse(const char *text, const idm_labels *opt_columns,
                               idm_predicate *ret_predicate, idm_error *opt_error)
{
  idm_require(text, ret_predicate);
  *ret_predicate = (idm_predicate){0};
  idm_comparison comparison = IDM_EQUAL;
  const char *at = divide(text, opt_columns, &comparison);
  const span column = trim((span){text, at ? (size_t)(at - text) : 0});
  if (!at || !column.length)
    return idm_fail(opt_error, IDM_USAGE,
                    "'%.80s' is no predicate; expected a column, one of = != < <= > >=, and a "
                    "value, as in 'AGE>75'",
                    text);
  const char *rest = at + strlen(operators[comparison]);
  const span value = trim((span){rest, strlen(rest)});
  const bool order = comparison != IDM_EQUAL && comparison != IDM_UNEQUAL;
  if (order && !value.length)
    return idm_fail(opt_error, IDM_USAGE,
                    "'%.80s' compares with nothing; expected a value behind '%s'", text,
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

static idm_meeting meet(idm_comparison comparison, int sign)
{
  const bool holds[] = {[IDM_EQUAL] = sign == 0,
                        [IDM_UNEQUAL] = sign != 0,
                        [IDM_AT_MOST] = sign <= 0,
                        [IDM_AT_LEAST] = sign >= 0,
                        [IDM_LESS] = sign<0, [IDM_MORE] = sign> 0};
  return holds[comparison] ? IDM_MET : IDM_UNMET;
}

/* Byte by byte; the shorter of two that begin alike is less. */
static int compare_texts(span a, span b)
{
  const int head = memcmp(a.text, b.text, a.length < b.length ? a.length : b.length);
  return head ? head : a.length < b.length ? -1 : a.length > b.length;
}

idm_meeting idm_predicate_meets(const idm_predicate *predicate, const char *opt_text, size_t length)
{
  if (!predicate || !predicate->value || (size_t)predicate->comparison >= operator_count)
    return IDM_UNMET;
  const span cell = trim((span){opt_text, opt_text ? length : 0});
  const span value = {predicate->value, strlen(predicate->value)};
  if (!value.length) return meet(predicate->comparison, cell.length > 0);
  if (!cell.length) return IDM_UNTOLD;
  double number;
  if (predicate->numeric && idm_number_decimal(cell.text, cell.length, &number))
    return meet(predicate->comparison, (number > predicate->number) - (number < predicate->number));
  const bool order = predicate->comparison != IDM_EQUAL && predicate->comparison != IDM_UNEQUAL;
  if (predicate->numeric && order) return IDM_INCOMPARABLE;
  return meet(predicate->comparison, compare_texts(cell, value));
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
