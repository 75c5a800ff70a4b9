/* Which rows of a log are wanted. */
#include "io/log/where.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/log/cells.h"

void idm_where_clear(idm_where *where)
{
  free(where->condition);
  idm_intern_clear(&where->cut);
  *where = (idm_where){0};
}

static size_t find_column(const idm_log_header *header, const char *name, size_t length)
{
  size_t i = 0;
  while (i < header->name.count && (strlen(header->name.name[i]) != length ||
                                    memcmp(header->name.name[i], name, length) != 0))
    i++;
  return i;
}

/* Names and values may hold '=': the first one behind a column's name divides them. */
static idm_status map_one(idm_condition *condition, const char *text, const idm_log_header *header,
                          idm_error *opt_error)
{
  const size_t none = header->name.count;
  for (const char *equals = strchr(text, '='); equals; equals = strchr(equals + 1, '=')) {
    const size_t length = (size_t)(equals - text);
    const size_t plain = find_column(header, text, length);
    const size_t negated =
        length && equals[-1] == '!' ? find_column(header, text, length - 1) : none;
    if (plain == none && negated == none) continue;
    const idm_csv_field value = {.text = equals + 1, .length = (uint32_t)strlen(equals + 1)};
    *condition = (idm_condition){
        .column = plain < none ? plain : negated, .unequal = plain == none, .value = equals + 1};
    condition->numeric = idm_cell_number(&value, &condition->number);
    return IDM_OK;
  }
  char list[400];
  idm_labels_list(&header->name, list, sizeof list);
  if (!strchr(text, '='))
    return idm_fail(opt_error, IDM_USAGE, "--where %.80s: expected COLUMN=VALUE or COLUMN!=VALUE",
                    text);
  return idm_fail_at(
      opt_error, header->file, (long)header->place[0].line, (long)header->place[0].column,
      "no column '%.*s' (--where); the header has: %s", (int)strcspn(text, "=!"), text, list);
}

idm_status idm_where_map(idm_where *where, const idm_log_header *header, idm_error *opt_error)
{
  if (!where->condition) where->condition = idm_new(where->count, sizeof *where->condition);
  if (!where->condition) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < where->count && status == IDM_OK; i++)
    status = map_one(&where->condition[i], where->text[i], header, opt_error);
  return status;
}

/* The same text, or the same number. */
static bool is_met(const idm_condition *condition, const idm_intern *missing,
                   const idm_csv_field *field)
{
  idm_csv_field cell = idm_cell_trim(field[condition->column]);
  double number;
  if (idm_intern_find(missing, cell.text, cell.length) != IDM_INTERN_NONE) cell.length = 0;
  const bool same =
      (strlen(condition->value) == cell.length &&
       memcmp(condition->value, cell.text, cell.length) == 0) ||
      (condition->numeric && idm_cell_number(&cell, &number) && number == condition->number);
  return same != condition->unequal;
}

bool idm_where_keeps(const idm_where *where, const idm_intern *missing, const idm_csv_field *field)
{
  for (size_t i = 0; i < where->count; i++) {
    const idm_condition *one = &where->condition[i];
    bool met = is_met(one, missing, field);
    for (size_t k = 0; k < where->count && !met && !one->unequal; k++) {
      const idm_condition *other = &where->condition[k];
      met = !other->unequal && other->column == one->column && is_met(other, missing, field);
    }
    if (!met) return false;
  }
  return true;
}
