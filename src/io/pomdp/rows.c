/* Rows of distributions, sparse. */
#include "io/pomdp/rows.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

idm_status idm_pomdp_rows_create(size_t count, size_t width, idm_pomdp_rows *rows,
                                 idm_error *opt_error)
{
  *rows = (idm_pomdp_rows){.width = width, .row = idm_new(count, sizeof *rows->row)};
  if (!rows->row) return idm_fail_memory(opt_error);
  rows->count = count;
  return IDM_OK;
}

void idm_pomdp_rows_destroy(idm_pomdp_rows *rows)
{
  for (size_t i = 0; i < rows->count; i++) {
    free(rows->row[i].column);
    free(rows->row[i].value);
  }
  free(rows->row);
  *rows = (idm_pomdp_rows){0};
}

static bool make_room(idm_pomdp_row *row, size_t entries, size_t width)
{
  if (entries <= row->capacity) return true;
  /* A row of single cells grows one by one: leave some room, never more than there are columns. */
  const size_t wanted = entries + entries / 2 < width ? entries + entries / 2 : width;
  assert(wanted > 0 && wanted < SIZE_MAX / sizeof *row->value);
  uint32_t *column = realloc(row->column, wanted * sizeof *column);
  if (column) row->column = column;
  double *value = realloc(row->value, wanted * sizeof *value);
  if (value) row->value = value;
  if (!column || !value) return false;
  row->capacity = (uint32_t)wanted;
  return true;
}

idm_status idm_pomdp_rows_set(idm_pomdp_rows *rows, size_t index, const double *dense,
                              idm_error *opt_error)
{
  idm_pomdp_row *row = &rows->row[index];
  size_t entries = 0;
  for (size_t i = 0; i < rows->width; i++) entries += dense[i] != 0;
  if (!make_room(row, entries, rows->width)) return idm_fail_memory(opt_error);
  row->reset = false;
  row->count = 0;
  for (size_t i = 0; i < rows->width; i++) {
    if (!(dense[i] != 0)) continue;
    row->column[row->count] = (uint32_t)i;
    row->value[row->count++] = dense[i];
  }
  return IDM_OK;
}

void idm_pomdp_rows_reset(idm_pomdp_rows *rows, size_t index)
{
  rows->row[index].count = 0;
  rows->row[index].reset = true;
}

void idm_pomdp_rows_get(const idm_pomdp_rows *rows, size_t index, double *dense)
{
  const idm_pomdp_row *row = &rows->row[index];
  for (size_t i = 0; i < rows->width; i++) dense[i] = row->reset ? NAN : 0;
  for (size_t i = 0; i < row->count; i++) dense[row->column[i]] = row->value[i];
}

/* Write out the entries of a row that is the start's, so that single ones can change. */
static bool expand(idm_pomdp_row *row, size_t width)
{
  if (!row->reset) return true;
  if (!make_room(row, width, width)) return false;
  for (size_t i = 0; i < width; i++) {
    row->column[i] = (uint32_t)i;
    row->value[i] = NAN;
  }
  row->count = (uint32_t)width;
  row->reset = false;
  return true;
}

/* Place of the first entry at or behind a column. */
static size_t find(const idm_pomdp_row *row, size_t column)
{
  size_t low = 0, high = row->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (row->column[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

idm_status idm_pomdp_rows_put(idm_pomdp_rows *rows, size_t index, size_t first, size_t end,
                              double value, idm_error *opt_error)
{
  idm_pomdp_row *row = &rows->row[index];
  if (!expand(row, rows->width)) return idm_fail_memory(opt_error);
  const size_t from = find(row, first), to = find(row, end);
  const size_t added = value != 0 ? end - first : 0;
  const size_t behind = row->count - to;
  if (!make_room(row, from + added + behind, rows->width)) return idm_fail_memory(opt_error);
  if (behind) {
    memmove(row->column + from + added, row->column + to, behind * sizeof *row->column);
    memmove(row->value + from + added, row->value + to, behind * sizeof *row->value);
  }
  for (size_t i = 0; i < added; i++) {
    row->column[from + i] = (uint32_t)(first + i);
    row->value[from + i] = value;
  }
  row->count = (uint32_t)(from + added + behind);
  return IDM_OK;
}

idm_status idm_pomdp_rows_moves(const idm_pomdp_rows *rows, idm_moves **ret_moves,
                                idm_error *opt_error)
{
  size_t entries = 0;
  for (size_t i = 0; i < rows->count; i++)
    for (size_t j = 0; j < rows->row[i].count; j++) entries += rows->row[i].value[j] > 0;
  const idm_status status = idm_moves_create(rows->count, entries, ret_moves, opt_error);
  if (status != IDM_OK) return status;
  idm_moves *m = *ret_moves;
  size_t at = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const idm_pomdp_row *row = &rows->row[i];
    m->first[i] = at;
    for (size_t j = 0; j < row->count; j++) {
      if (!(row->value[j] > 0)) continue;
      m->next[at] = row->column[j];
      m->probability[at++] = row->value[j];
    }
  }
  m->first[rows->count] = at;
  return IDM_OK;
}
