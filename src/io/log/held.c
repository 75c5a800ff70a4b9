/* Rows held by column while a log is coded. */
#include "io/log/held.h"

#include <stdlib.h>

static bool grow(uint32_t **array, size_t capacity)
{
  uint32_t *larger = realloc(*array, capacity * sizeof *larger);
  if (larger) *array = larger;
  return larger != NULL;
}

static bool make_room(idm_coding *coding)
{
  if (coding->rows < coding->capacity) return true;
  const size_t capacity = 2 * coding->capacity + 1024;
  bool grown = grow(&coding->trajectory, capacity) && grow(&coding->file, capacity) &&
               grow(&coding->reason, capacity);
  for (size_t h = 0; h < coding->held_columns && grown; h++)
    grown = grow(&coding->held[h].cell, capacity) && grow(&coding->held[h].line, capacity) &&
            grow(&coding->held[h].place, capacity);
  if (grown) coding->capacity = capacity;
  return grown;
}

idm_status idm_hold(idm_log *log, uint32_t trajectory, idm_error *opt_error)
{
  idm_coding *coding = log->coding;
  if (!make_room(coding)) return idm_fail_memory(opt_error);
  const size_t row = coding->rows;
  for (size_t h = 0; h < coding->held_columns; h++) {
    idm_held_column *held = &coding->held[h];
    const idm_csv_field cell = idm_log_cell(log, &coding->field[held->column]);
    held->line[row] = cell.line;
    held->place[row] = cell.column;
    held->cell[row] = IDM_INTERN_NONE;
    if (cell.length && !idm_intern_add(&held->text, cell.text, cell.length, &held->cell[row]))
      return idm_fail_memory(opt_error);
  }
  coding->trajectory[row] = trajectory;
  coding->file[row] = (uint32_t)log->at;
  coding->reason[row] = (uint32_t)log->ledger.reasons;
  coding->rows++;
  return IDM_OK;
}

idm_csv_field idm_held_cell(const idm_coding *coding, size_t column, size_t row)
{
  const idm_held_column *held = &coding->held[coding->held_at[column]];
  idm_csv_field cell = {.text = "", .line = held->line[row], .column = held->place[row]};
  size_t length = 0;
  if (held->cell[row] != IDM_INTERN_NONE)
    cell.text = idm_intern_text(&held->text, held->cell[row], &length);
  cell.length = (uint32_t)length;
  return cell;
}
