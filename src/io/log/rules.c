/* Buffers rows of a log by column, and applies the rules that drop rows and trajectories.
 *
 * Contents: held · rules */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/log/log.h"
#include "setting/model.h"

/* === held =================================================================================== */

/* Buffer of rows, by column, while a log is coded. */

static bool grow_array(uint32_t **array, size_t capacity)
{
  uint32_t *larger = realloc(*array, capacity * sizeof *larger);
  if (larger) *array = larger;
  return larger != NULL;
}

static bool make_room(idm_coding *coding)
{
  if (coding->rows < coding->capacity) return true;
  const size_t capacity = 2 * coding->capacity + 1024;
  bool grown = grow_array(&coding->trajectory, capacity) && grow_array(&coding->file, capacity) &&
               grow_array(&coding->reason, capacity);
  for (size_t h = 0; h < coding->buffered_columns && grown; h++)
    grown = grow_array(&coding->buffered[h].cell, capacity) &&
            grow_array(&coding->buffered[h].line, capacity) &&
            grow_array(&coding->buffered[h].place, capacity);
  if (grown) coding->capacity = capacity;
  return grown;
}

idm_status idm_buffer_row(idm_log *log, uint32_t trajectory, idm_error *opt_error)
{
  idm_coding *coding = log->coding;
  if (!make_room(coding)) return idm_fail_memory(opt_error);
  const size_t row = coding->rows;
  for (size_t h = 0; h < coding->buffered_columns; h++) {
    idm_buffered_column *buffered = &coding->buffered[h];
    const idm_csv_field cell = idm_log_cell(log, &coding->field[buffered->column]);
    buffered->line[row] = cell.line;
    buffered->place[row] = cell.column;
    buffered->cell[row] = IDM_INTERN_NONE;
    if (cell.length &&
        !idm_intern_add(&buffered->text, cell.text, cell.length, &buffered->cell[row]))
      return idm_fail_memory(opt_error);
  }
  coding->trajectory[row] = trajectory;
  coding->file[row] = (uint32_t)log->at;
  coding->reason[row] = (uint32_t)log->ledger.reasons;
  coding->rows++;
  return IDM_OK;
}

idm_csv_field idm_buffered_cell(const idm_coding *coding, size_t column, size_t row)
{
  const idm_buffered_column *buffered = &coding->buffered[coding->buffered_index[column]];
  idm_csv_field cell = {.text = "", .line = buffered->line[row], .column = buffered->place[row]};
  size_t length = 0;
  if (buffered->cell[row] != IDM_INTERN_NONE)
    cell.text = idm_intern_text(&buffered->text, buffered->cell[row], &length);
  cell.length = (uint32_t)length;
  return cell;
}

/* === rules ================================================================================== */

/* Rules that drop rows, and the reason recorded for each dropped row. */

/* --- rows ----------------------------------------------------------------------------------- */

static idm_status apply_row_rule(const idm_log *log, size_t r, bool *ret_drop, bool *ret_missing,
                                 idm_error *opt_error)
{
  const idm_rule *rule = &log->coding->columns->rule[r];
  const idm_csv_field cell = idm_log_cell(log, &log->coding->field[log->coding->rule_column[r]]);
  if (rule->kind == IDM_RULE_REQUIRE) {
    *ret_drop = *ret_missing = !cell.length;
    return IDM_OK;
  }
  idm_predicate_result match;
  const idm_status status = idm_cell_matches(
      &rule->predicate, rule->kind == IDM_RULE_KEEP ? "the rule keep" : "the rule drop", log->file,
      &cell, &match, opt_error);
  *ret_drop =
      rule->kind == IDM_RULE_KEEP ? match != IDM_PREDICATE_TRUE : match == IDM_PREDICATE_TRUE;
  *ret_missing = match == IDM_PREDICATE_MISSING;
  return status;
}

idm_status idm_rules_drop_row(const idm_log *log, size_t *ret_rule, bool *ret_missing,
                              idm_error *opt_error)
{
  const idm_columns *columns = log->coding->columns;
  for (size_t r = 0; r < columns->rules; r++) {
    if (idm_rule_stage(columns->rule[r].kind) > 0) continue;
    bool drop = false;
    const idm_status status = apply_row_rule(log, r, &drop, ret_missing, opt_error);
    *ret_rule = r;
    if (status != IDM_OK || drop) return status;
  }
  *ret_rule = columns->rules;
  *ret_missing = false;
  return IDM_OK;
}

/* --- order ---------------------------------------------------------------------------------- */

typedef struct timed {
  uint32_t trajectory;
  uint32_t row;
  size_t count;
  const double *time; /* [count] */
} timed;

static int compare_times(const timed *a, const timed *b)
{
  for (size_t i = 0; i < a->count; i++)
    if (a->time[i] != b->time[i]) return a->time[i] < b->time[i] ? -1 : 1;
  return 0;
}

static int compare_rows(const void *a, const void *b)
{
  const timed *x = a;
  const timed *y = b;
  if (x->trajectory != y->trajectory) return x->trajectory < y->trajectory ? -1 : 1;
  const int order = compare_times(x, y);
  return order ? order : x->row < y->row ? -1 : x->row > y->row;
}

/* Keep one of several rows of a trajectory with the same time, the first or the last as the rule
 * `duplicates` requires. IDM_INPUT without such a rule. */
static idm_status drop_duplicates(const idm_log *log, const timed *row, idm_error *opt_error)
{
  const idm_coding *coding = log->coding;
  const size_t rules = coding->columns->rules;
  size_t r = 0;
  while (r < rules && coding->columns->rule[r].kind != IDM_RULE_DUPLICATES) r++;
  if (!row[0].count && r < rules)
    return idm_log_header_fail(
        &log->header, 0, opt_error,
        "the rule duplicates needs a time, and the log has none: map it, as in data: "
        "{time: COLUMN}");
  for (size_t i = 1; i < coding->rows && row[0].count; i++) {
    if (row[i].trajectory != row[i - 1].trajectory || compare_times(&row[i - 1], &row[i]) != 0)
      continue;
    if (r == rules) {
      const size_t column = log->header.role[IDM_COLUMN_TIME].column[0];
      const idm_csv_field first = idm_buffered_cell(coding, column, row[i - 1].row);
      const idm_csv_field second = idm_buffered_cell(coding, column, row[i].row);
      return idm_log_fail_duplicate(log->file_count > 1 ? log->files[coding->file[row[i].row]]
                                                        : log->file,
                                    first.line, second.line, second.column, opt_error);
    }
    size_t last = i;
    while (last + 1 < coding->rows && row[last + 1].trajectory == row[i].trajectory &&
           compare_times(&row[i], &row[last + 1]) == 0)
      last++;
    const size_t kept = coding->columns->rule[r].last ? last : i - 1;
    for (size_t k = i - 1; k <= last; k++)
      if (k != kept) coding->reason[row[k].row] = (uint32_t)(log->where.count + r);
    i = last;
  }
  return IDM_OK;
}

static idm_status read_times(idm_log *log, double *time, timed *row, idm_error *opt_error)
{
  const idm_coding *coding = log->coding;
  const idm_log_role *role = &log->header.role[IDM_COLUMN_TIME];
  for (size_t i = 0; i < coding->rows; i++) {
    row[i] = (timed){coding->trajectory[i], (uint32_t)i, role->count, time + i * role->count};
    if (log->file_count > 1) log->file = log->files[coding->file[i]];
    for (size_t k = 0; k < role->count; k++) {
      const idm_csv_field cell = idm_buffered_cell(coding, role->column[k], i);
      const idm_status status =
          idm_log_number(log, &cell, role->column[k], &time[i * role->count + k], opt_error);
      if (status != IDM_OK) return status;
    }
  }
  return IDM_OK;
}

static idm_status order_rows(idm_log *log, idm_error *opt_error)
{
  idm_coding *coding = log->coding;
  const size_t times = log->header.role[IDM_COLUMN_TIME].count;
  timed *row = idm_new(coding->rows, sizeof *row);
  double *time = idm_new(idm_times(coding->rows, times), sizeof *time);
  coding->order = idm_new(coding->rows, sizeof *coding->order);
  idm_status status = row && time && coding->order ? read_times(log, time, row, opt_error)
                                                   : idm_fail_memory(opt_error);
  if (status == IDM_OK && coding->rows) {
    qsort(row, coding->rows, sizeof *row, compare_rows);
    for (size_t i = 0; i < coding->rows; i++) coding->order[i] = row[i].row;
    status = drop_duplicates(log, row, opt_error);
  }
  free(row);
  free(time);
  return status;
}

/* --- trajectories --------------------------------------------------------------------------- */

/* Rows of one trajectory that are not dropped, in the order of time. */
typedef struct trajectory_rows {
  uint32_t *row;
  size_t count;
} trajectory_rows;

static void drop_from(const idm_log *log, trajectory_rows *rows, size_t first, size_t rule)
{
  for (size_t i = first; i < rows->count; i++)
    log->coding->reason[rows->row[i]] = (uint32_t)(log->where.count + rule);
  rows->count = first;
}

/* Truncate a trajectory at its first gap: the column must increase by exactly `every` (relative
 * tolerance 1e-9) from one row to the next. */
static idm_status truncate_trajectory(idm_log *log, size_t r, trajectory_rows *rows,
                                      idm_error *opt_error)
{
  const idm_coding *coding = log->coding;
  const idm_rule *rule = &coding->columns->rule[r];
  double previous = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const idm_csv_field cell = idm_buffered_cell(coding, coding->rule_column[r], rows->row[i]);
    double number;
    if (log->file_count > 1) log->file = log->files[coding->file[rows->row[i]]];
    const idm_status status =
        idm_log_number(log, &cell, coding->rule_column[r], &number, opt_error);
    if (status != IDM_OK) return status;
    if (i && fabs(number - previous - rule->every) > 1e-9 * (fabs(number) + rule->every)) {
      drop_from(log, rows, i, r);
      break;
    }
    previous = number;
  }
  return IDM_OK;
}

static bool has_allowed_end(const idm_log *log, size_t r, const trajectory_rows *rows)
{
  const idm_coding *coding = log->coding;
  const idm_rule *rule = &coding->columns->rule[r];
  const size_t column = coding->rule_column[r];
  const size_t last = rows->row[rows->count - 1];
  idm_csv_field cell = idm_buffered_cell(coding, column, last);
  for (size_t i = 0; i < rule->in.count; i++)
    if (strlen(rule->in.name[i]) == cell.length &&
        memcmp(rule->in.name[i], cell.text, cell.length) == 0)
      return true;
  return false;
}

static idm_status apply_trajectory_rules(idm_log *log, trajectory_rows *rows, idm_error *opt_error)
{
  const idm_columns *columns = log->coding->columns;
  idm_status status = IDM_OK;
  for (size_t r = 0; r < columns->rules && rows->count && status == IDM_OK; r++) {
    const idm_rule *rule = &columns->rule[r];
    if (rule->kind == IDM_RULE_TRUNCATE)
      status = truncate_trajectory(log, r, rows, opt_error);
    else if ((rule->kind == IDM_RULE_ENDS && !has_allowed_end(log, r, rows)) ||
             (rule->kind == IDM_RULE_MIN_ROWS && rows->count < rule->least))
      drop_from(log, rows, 0, r);
  }
  return status;
}

idm_status idm_rules_drop_trajectories(idm_log *log, idm_error *opt_error)
{
  const idm_coding *coding = log->coding;
  idm_status status = order_rows(log, opt_error);
  trajectory_rows rows = {idm_new(coding->rows, sizeof *rows.row), 0};
  if (status == IDM_OK && !rows.row) status = idm_fail_memory(opt_error);
  for (size_t i = 0; i < coding->rows && status == IDM_OK;) {
    const uint32_t trajectory = coding->trajectory[coding->order[i]];
    rows.count = 0;
    for (; i < coding->rows && coding->trajectory[coding->order[i]] == trajectory; i++)
      if (coding->reason[coding->order[i]] == log->ledger.reasons)
        rows.row[rows.count++] = coding->order[i];
    status = apply_trajectory_rules(log, &rows, opt_error);
  }
  free(rows.row);
  return status;
}
