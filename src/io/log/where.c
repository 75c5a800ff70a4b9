/* Which rows of a log are wanted. */
#include "io/log/where.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void idm_where_clear(idm_where *where)
{
  for (size_t i = 0; where->condition && i < where->count; i++)
    idm_predicate_clear(&where->condition[i].predicate);
  free(where->condition);
  *where = (idm_where){0};
}

static idm_status map_one(idm_condition *condition, const char *text, const idm_log_header *header,
                          idm_error *opt_error)
{
  idm_error error = {0};
  idm_predicate_clear(&condition->predicate);
  const idm_status status = idm_predicate_parse(text, &header->name, &condition->predicate, &error);
  if (status == IDM_USAGE) return idm_fail(opt_error, IDM_USAGE, "--where: %s", error.message);
  if (status != IDM_OK) return idm_fail_memory(opt_error);
  return idm_log_header_find(header, condition->predicate.column, "--where", &condition->column,
                             opt_error);
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

idm_status idm_cell_meets(const idm_predicate *predicate, const char *option, const char *file,
                          const idm_csv_field *cell, idm_meeting *ret_meeting, idm_error *opt_error)
{
  *ret_meeting = idm_predicate_meets(predicate, cell->text, cell->length);
  if (*ret_meeting != IDM_INCOMPARABLE) return IDM_OK;
  char text[200];
  return idm_fail_at(opt_error, file, (long)cell->line, (long)cell->column,
                     "'%.*s' is no number, and %s %s compares numbers; correct the cell%s, or list "
                     "its text under data.missing",
                     IDM_CELL_SHOWN(*cell), option,
                     idm_predicate_text(predicate, text, sizeof text),
                     memchr(cell->text, ',', cell->length) ? " (with a decimal point)" : "");
}

static idm_status meets(const idm_condition *condition, const idm_intern *missing,
                        const idm_log_header *header, const idm_csv_field *field,
                        idm_meeting *ret_meeting, idm_error *opt_error)
{
  idm_csv_field cell = idm_cell_trim(field[condition->column]);
  if (idm_intern_find(missing, cell.text, cell.length) != IDM_INTERN_NONE) cell.length = 0;
  return idm_cell_meets(&condition->predicate, "--where", header->file, &cell, ret_meeting,
                        opt_error);
}

idm_status idm_where_fails(const idm_where *where, const idm_intern *missing,
                           const idm_log_header *header, const idm_csv_field *field,
                           size_t *ret_condition, bool *ret_missing, idm_error *opt_error)
{
  for (size_t i = 0; i < where->count; i++) {
    const idm_condition *one = &where->condition[i];
    idm_meeting answer;
    idm_status status = meets(one, missing, header, field, &answer, opt_error);
    const bool untold = answer == IDM_UNTOLD;
    const bool equal = one->predicate.comparison == IDM_EQUAL;
    for (size_t k = 0; k < where->count && status == IDM_OK && answer != IDM_MET && equal; k++) {
      const idm_condition *other = &where->condition[k];
      if (other->predicate.comparison == IDM_EQUAL && other->column == one->column)
        status = meets(other, missing, header, field, &answer, opt_error);
    }
    if (status != IDM_OK) return status;
    if (answer == IDM_MET) continue;
    *ret_condition = i;
    *ret_missing = untold;
    return IDM_OK;
  }
  *ret_condition = where->count;
  return IDM_OK;
}
