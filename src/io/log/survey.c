/* One pass over a table of unknown meaning: columns, labels, ends of trajectories. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "io/log/cells.h"
#include "io/log/survey.h"

/* --- columns -------------------------------------------------------------------------------- */

static char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* In any case (ASCII). */
static bool same_word(const char *a, const char *b)
{
  while (*a && lower(*a) == lower(*b)) {
    a++;
    b++;
  }
  return lower(*a) == lower(*b);
}

/* Add the column of that name, in any case, to a role. */
static idm_status add_column(idm_survey *s, size_t id, const char *name, idm_error *opt_error)
{
  idm_log_role *role = &s->header.role[id];
  for (size_t i = 0; i < s->header.name.count; i++) {
    if (!same_word(s->header.name.name[i], name)) continue;
    size_t *column = realloc(role->column, (role->count + 1) * sizeof *column);
    if (!column) return idm_fail_memory(opt_error);
    role->column = column;
    role->column[role->count++] = i;
    break;
  }
  return IDM_OK;
}

/* First the names that idm takes by default, then guesses; trials are often numbered within runs or
 * sessions. */
static idm_status find_columns(idm_survey *s, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    if (info->evidence) continue;
    status = idm_log_header_default(&s->header, c, info->names, 1, opt_error);
    for (size_t i = 1; status == IDM_OK && !s->header.role[c].count && info->names[i]; i++)
      status = add_column(s, c, info->names[i], opt_error);
    if (status != IDM_OK) return status;
  }
  if (s->header.role[IDM_COLUMN_TRAJECTORY].count) return IDM_OK;
  static const char *const nested[] = {"session", "run", "round", "trial"};
  for (size_t i = 0; i < sizeof nested / sizeof nested[0] && status == IDM_OK; i++) {
    const size_t before = s->header.role[IDM_COLUMN_TRAJECTORY].count;
    status = add_column(s, IDM_COLUMN_TRAJECTORY, nested[i], opt_error);
    s->has_trial = s->header.role[IDM_COLUMN_TRAJECTORY].count > before; /* of the last of them */
  }
  return status;
}

/* --- survey --------------------------------------------------------------------------------- */

static idm_status check_utf8(const idm_survey *s, const idm_csv_field *place, const char *text,
                             size_t length, idm_error *opt_error)
{
  if (idm_utf8_plain(text, length)) return IDM_OK;
  return idm_fail_at(
      opt_error, s->file, (long)place->line, (long)place->column,
      "a text that is not UTF-8 without control characters; save the table as UTF-8, "
      "without tabs and ends of lines in its names");
}

/* The number of the cell's label, -1 where the cell is empty or there is no such column. */
static idm_status read_label(idm_survey *s, size_t id, idm_label_column *column,
                             const idm_csv_field *field, int *ret_label, idm_error *opt_error)
{
  const idm_log_role *role = &s->header.role[id];
  *ret_label = -1;
  if (!role->count) return IDM_OK;
  const idm_csv_field cell = idm_cell_trim(field[role->column[0]]);
  if (!cell.length || idm_cell_looks_missing(cell.text, cell.length)) {
    uint32_t text;
    column->missing++;
    if (!cell.length || idm_intern_add(&s->missing, cell.text, cell.length, &text)) return IDM_OK;
    return idm_fail_memory(opt_error);
  }
  uint32_t label = idm_intern_find(&column->labels, cell.text, cell.length);
  if (label == IDM_INTERN_NONE) {
    const idm_status status = check_utf8(s, &cell, cell.text, cell.length, opt_error);
    if (status != IDM_OK) return status;
    if (cell.length > idm_label_bytes)
      return idm_fail_at(opt_error, s->file, (long)cell.line, (long)cell.column,
                         "a text of %lu bytes in column '%s' ('%.*s...'); it does not look like a "
                         "label",
                         (unsigned long)cell.length, s->header.name.name[role->column[0]],
                         IDM_CELL_SHOWN(cell));
    if (id == IDM_COLUMN_ACTION && cell.length == 1 && cell.text[0] == '*')
      return idm_fail_at(opt_error, s->file, (long)cell.line, (long)cell.column,
                         "'*' as an action; in a problem file it stands for every action, so call "
                         "it otherwise");
    if (column->labels.count == idm_label_limit)
      return idm_fail_at(opt_error, s->file, (long)cell.line, (long)cell.column,
                         "column '%s' holds more than %d distinct texts (here '%.*s'); it does not "
                         "look like a column of labels",
                         s->header.name.name[role->column[0]], (int)idm_label_limit,
                         IDM_CELL_SHOWN(cell));
    if (!idm_intern_add(&column->labels, cell.text, cell.length, &label))
      return idm_fail_memory(opt_error);
  }
  *ret_label = (int)label;
  return IDM_OK;
}

/* Join the first `columns` cells of an id behind `used` bytes of scratch and number it. */
static idm_status read_id(idm_survey *s, size_t id, size_t columns, const idm_csv_field *field,
                          size_t used, idm_intern *intern, uint32_t *ret_index,
                          idm_error *opt_error)
{
  const idm_log_role *role = &s->header.role[id];
  for (size_t i = 0; i < columns; i++) {
    const idm_csv_field cell = idm_cell_trim(field[role->column[i]]);
    const size_t needed = used + cell.length + 1;
    if (needed > s->scratch_capacity) {
      char *larger = realloc(s->scratch, 2 * needed);
      if (!larger) return idm_fail_memory(opt_error);
      s->scratch = larger;
      s->scratch_capacity = 2 * needed;
    }
    memcpy(s->scratch + used, cell.text, cell.length);
    used += cell.length;
    s->scratch[used++] = '\0';
  }
  return idm_intern_add(intern, s->scratch, used, ret_index) ? IDM_OK : idm_fail_memory(opt_error);
}

/* The action of a trajectory that has no row yet. */
enum { no_row = -2 };

/* This row's action, or that of the last row so far, is followed by another: which, time tells. */
static idm_status pass_row(idm_division *by, uint32_t trajectory, int action, double time,
                           idm_error *opt_error)
{
  if (trajectory == by->ending_capacity) {
    const size_t capacity = 2 * by->ending_capacity + 64;
    idm_ending *larger = realloc(by->endings, capacity * sizeof *larger);
    if (!larger) return idm_fail_memory(opt_error);
    for (size_t i = by->ending_capacity; i < capacity; i++)
      larger[i] = (idm_ending){.action = no_row};
    by->endings = larger;
    by->ending_capacity = capacity;
  }
  idm_ending *last = &by->endings[trajectory];
  const bool fresh = last->action == no_row;
  const bool later = fresh || time >= last->time;
  const int passed = later ? last->action : action;
  if (!fresh && passed >= 0) by->goes_on[passed] = true;
  if (later) *last = (idm_ending){action, time};
  return IDM_OK;
}

/* The row in its trajectory, by so many columns behind the agent's id, which is in the scratch. */
static idm_status divide(idm_survey *s, idm_division *by, size_t columns,
                         const idm_csv_field *field, size_t used, idm_ending row,
                         idm_error *opt_error)
{
  uint32_t trajectory = 0;
  const idm_status status = read_id(s, IDM_COLUMN_TRAJECTORY, columns, field, used,
                                    &by->trajectories, &trajectory, opt_error);
  return status == IDM_OK ? pass_row(by, trajectory, row.action, row.time, opt_error) : status;
}

static idm_status read_row(idm_survey *s, const idm_csv_field *field, idm_error *opt_error)
{
  int action;
  int observation;
  idm_status status = read_label(s, IDM_COLUMN_ACTION, &s->actions, field, &action, opt_error);
  if (status == IDM_OK)
    status =
        read_label(s, IDM_COLUMN_OBSERVATION, &s->observations, field, &observation, opt_error);
  double time = 0;
  const idm_log_role *clock = &s->header.role[IDM_COLUMN_TIME];
  if (status == IDM_OK && clock->count) {
    const idm_csv_field cell = idm_cell_trim(field[clock->column[0]]);
    if (!idm_cell_number(&cell, &time))
      status = idm_fail_at(opt_error, s->file, (long)cell.line, (long)cell.column,
                           "'%.*s' in column '%s'; expected a finite number", IDM_CELL_SHOWN(cell),
                           s->header.name.name[clock->column[0]]);
  }
  uint32_t agent = 0;
  const size_t columns = s->header.role[IDM_COLUMN_TRAJECTORY].count;
  if (status == IDM_OK)
    status = read_id(s, IDM_COLUMN_AGENT, s->header.role[IDM_COLUMN_AGENT].count, field, 0,
                     &s->agents, &agent, opt_error);
  /* The agent's id is in the scratch already: a trajectory is the pair. */
  size_t length = 0;
  const idm_ending row = {action, time};
  if (status == IDM_OK) {
    idm_intern_text(&s->agents, agent, &length);
    status = divide(s, &s->by, columns, field, length, row, opt_error);
  }
  if (status == IDM_OK && s->has_trial)
    status = divide(s, &s->coarser, columns - 1, field, length, row, opt_error);
  s->rows++;
  return status;
}

/* A column `trial` that makes a trajectory of every row numbers the rows of longer ones. */
static void leave_counter_out(idm_survey *s)
{
  if (!s->has_trial || s->by.trajectories.count < s->rows ||
      s->coarser.trajectories.count == s->rows)
    return;
  const idm_division rows = s->by;
  s->by = s->coarser;
  s->coarser = rows;
  s->header.role[IDM_COLUMN_TRAJECTORY].count--;
  s->counts_rows = true;
}

static int compare_labels(const void *a, const void *b)
{
  const char *x = *(const char *const *)a;
  const char *y = *(const char *const *)b;
  const size_t m = strlen(x);
  const size_t n = strlen(y);
  /* Whole numbers by size, so that 10 comes after 2. */
  if (m != n && strspn(x, "0123456789") == m && strspn(y, "0123456789") == n) return m < n ? -1 : 1;
  return strcmp(x, y);
}

static idm_status sort_labels(idm_label_column *column, idm_error *opt_error)
{
  for (uint32_t i = 0; i < column->labels.count; i++) {
    size_t length;
    const char *text = idm_intern_text(&column->labels, i, &length);
    column->sorted[i] = idm_text_copy(text, length);
    if (!column->sorted[i]) return idm_fail_memory(opt_error);
    column->count++;
  }
  qsort(column->sorted, column->count, sizeof column->sorted[0], compare_labels);
  return IDM_OK;
}

idm_status idm_survey_take(idm_survey *s, idm_csv *csv, idm_error *opt_error)
{
  const idm_csv_field *field;
  size_t count;
  idm_status status = idm_csv_next(csv, &field, &count, opt_error);
  if (status == IDM_OK && !count)
    status = idm_fail_at(opt_error, s->file, 1, 1,
                         "the file is empty; expected a header and a row for every step");
  if (status == IDM_OK)
    status = idm_log_header_create(&s->header, s->file, field, count, opt_error);
  for (size_t i = 0; status == IDM_OK && i < count; i++)
    status = check_utf8(s, &field[i], field[i].text, field[i].length, opt_error);
  if (status == IDM_OK) status = find_columns(s, opt_error);
  while (status == IDM_OK) {
    status = idm_csv_next(csv, &field, &count, opt_error);
    if (status != IDM_OK || !count) break;
    status = read_row(s, field, opt_error);
  }
  if (status == IDM_OK && !s->rows)
    status = idm_fail_at(opt_error, s->file, (long)s->header.place[0].line, 1,
                         "a header and no rows; expected a row for every step");
  if (status == IDM_OK) leave_counter_out(s);
  if (status == IDM_OK) status = sort_labels(&s->actions, opt_error);
  if (status == IDM_OK) status = sort_labels(&s->observations, opt_error);
  return status;
}

void idm_survey_clear(idm_survey *s)
{
  idm_label_column *const columns[] = {&s->actions, &s->observations};
  for (size_t c = 0; c < 2; c++) {
    for (size_t i = 0; i < columns[c]->count; i++) free(columns[c]->sorted[i]);
    idm_intern_clear(&columns[c]->labels);
  }
  idm_intern_clear(&s->missing);
  idm_intern_clear(&s->agents);
  for (size_t i = 0; i < 2; i++) {
    idm_division *by = i ? &s->coarser : &s->by;
    idm_intern_clear(&by->trajectories);
    free(by->endings);
  }
  idm_log_header_destroy(&s->header);
  free(s->scratch);
}

size_t idm_survey_endings(const idm_survey *s, const char *ret_action[idm_label_limit])
{
  size_t count = 0;
  const bool known =
      s->header.role[IDM_COLUMN_AGENT].count || s->header.role[IDM_COLUMN_TRAJECTORY].count;
  for (size_t i = 0; i < s->actions.count && known; i++) {
    const char *action = s->actions.sorted[i];
    if (!s->by.goes_on[idm_intern_find(&s->actions.labels, action, strlen(action))])
      ret_action[count++] = action;
  }
  return count;
}
