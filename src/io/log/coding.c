/* Computes derived columns and applies rules to buffered rows.
 *
 * Contents: derive · coding */
#include "io/log/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "data/log.h"
#include "setting/model.h"

/* === derive =================================================================================== */

/* Derived columns: cells that are computed from other cells of the log. */

/* --- one cell ------------------------------------------------------------------------------- */

/* Set a cell to a label; empty if the label is NULL. */
static void set_cell_text(const char *opt_label, idm_csv_field *cell)
{
  cell->text = opt_label ? opt_label : "";
  cell->length = (uint32_t)strlen(cell->text);
}

static idm_status cut(const idm_log *log, size_t d, const idm_csv_field *source,
                      idm_csv_field *ret_cell, idm_error *opt_error)
{
  const idm_derived *derived = &log->coding->columns->derived[d];
  const double *at = derived->at ? derived->at : log->coding->found[d].at;
  double number;
  const idm_status status =
      idm_log_number(log, source, log->coding->source[d][0], &number, opt_error);
  if (status != IDM_OK) return status;
  size_t i = 0;
  while (i < derived->cuts && (number > at[i] || (derived->closed_left && number == at[i]))) i++;
  set_cell_text(derived->label.name[i], ret_cell);
  return IDM_OK;
}

/* Returns true if a text equals a cell, or if both are the same number. */
static bool matches_text(const char *text, const idm_csv_field *cell)
{
  const size_t length = strlen(text);
  double a;
  double b;
  return (length == cell->length && memcmp(text, cell->text, length) == 0) ||
         (idm_number_decimal(text, length, &a) && idm_cell_number(cell, &b) && a == b);
}

static idm_status recode(const idm_log *log, size_t d, const idm_csv_field *source,
                         idm_csv_field *ret_cell, idm_error *opt_error)
{
  const idm_derived *derived = &log->coding->columns->derived[d];
  size_t i = 0;
  while (i < derived->text.count && !matches_text(derived->text.name[i], source)) i++;
  if (i == derived->text.count && !derived->other) {
    char list[400];
    return idm_fail_at(opt_error, log->file, (long)source->line, (long)source->column,
                       "'%.*s' in column '%s' is none of the texts of data.derive.%s (%s); add it "
                       "to its labels, or add else: LABEL there",
                       IDM_CELL_FORMAT(*source), log->header.name.name[log->coding->source[d][0]],
                       derived->name, idm_labels_list(&derived->text, list, sizeof list));
  }
  set_cell_text(i < derived->text.count ? derived->label.name[i] : derived->other, ret_cell);
  return IDM_OK;
}

static idm_status join(const idm_log *log, size_t d, const idm_csv_field *source,
                       idm_csv_field *ret_cell, idm_error *opt_error)
{
  idm_coding *coding = log->coding;
  size_t needed = 0;
  for (size_t s = 0; s < coding->width[d]; s++) needed += source[s].length + 1;
  if (needed > coding->scratch_capacity[d]) {
    char *larger = realloc(coding->scratch[d], 2 * needed + 1);
    if (!larger) return idm_fail_memory(opt_error);
    coding->scratch[d] = larger;
    coding->scratch_capacity[d] = 2 * needed + 1;
  }
  char *to = coding->scratch[d];
  for (size_t s = 0; s < coding->width[d]; s++) {
    if (s) *to++ = '/';
    memcpy(to, source[s].text, source[s].length);
    to += source[s].length;
  }
  ret_cell->text = coding->scratch[d];
  ret_cell->length = (uint32_t)(to - coding->scratch[d]);
  return IDM_OK;
}

/* Cell of a derived column, computed from the cells of its sources, which are trimmed and empty if
 * missing. For the kind `next`, the source is the cell of the next row. The text is owned by the
 * problem, by a source or by the coding. */
static idm_status idm_derive_cell(const idm_log *log, size_t d, const idm_csv_field *source,
                                  idm_csv_field *ret_cell, idm_error *opt_error)
{
  const idm_derived *derived = &log->coding->columns->derived[d];
  const size_t width = log->coding->width[d];
  size_t empty = 0;
  size_t missing_source = 0;
  for (size_t s = 0; s < width; s++) {
    if (source[s].length) continue;
    empty++;
    missing_source = s;
  }
  if (empty == width || (empty && derived->missing)) {
    set_cell_text(derived->missing, ret_cell);
    return IDM_OK;
  }
  if (empty)
    return idm_fail_at(
        opt_error, log->file, (long)source[missing_source].line,
        (long)source[missing_source].column,
        "'%s' is missing here and the other columns of data.derive.%s are not; define a label for "
        "missing cells (missing: LABEL), or drop such rows (rules: [{require: %s}])",
        derived->source.name[missing_source], derived->name, derived->source.name[missing_source]);
  switch (derived->kind) {
  case IDM_DERIVE_INTERVALS:
    return cut(log, d, source, ret_cell, opt_error);
  case IDM_DERIVE_RECODE:
    return recode(log, d, source, ret_cell, opt_error);
  case IDM_DERIVE_PRODUCT:
    return join(log, d, source, ret_cell, opt_error);
  default:
    ret_cell->text = source[0].text;
    ret_cell->length = source[0].length;
    return IDM_OK;
  }
}

/* --- cut points in standard deviations ------------------------------------------------------- */

/* Add the record to the statistics of cut points in standard deviations. All rows that row rules
 * keep are included, whether --where selects them or not, so that a part of a log is coded like the
 * whole. */
static idm_status idm_derive_measure(const idm_log *log, idm_error *opt_error)
{
  const idm_coding *coding = log->coding;
  for (size_t d = 0; d < coding->columns->derived_count; d++) {
    idm_found_breakpoints *breakpoints = &coding->found[d];
    const size_t column = coding->source[d][0];
    if (!breakpoints->needed) continue;
    const idm_csv_field cell = idm_log_cell(log, &coding->field[column]);
    double number;
    if (!cell.length) continue;
    const idm_status status = idm_log_number(log, &cell, column, &number, opt_error);
    if (status != IDM_OK) return status;
    idm_welford_add(&breakpoints->numbers, number);
  }
  return IDM_OK;
}

/* Compute the cut points in standard deviations, after the last row is read. */
static idm_status idm_derive_cuts(const idm_log *log, idm_error *opt_error)
{
  const idm_coding *coding = log->coding;
  for (size_t d = 0; d < coding->columns->derived_count; d++) {
    const idm_derived *derived = &coding->columns->derived[d];
    idm_found_breakpoints *breakpoints = &coding->found[d];
    if (!breakpoints->needed) continue;
    const size_t rows = breakpoints->numbers.count;
    if (rows < 2 || !(breakpoints->numbers.squares > 0))
      return idm_log_header_fail(
          &log->header, coding->source[d][0], opt_error,
          "data.derive.%s cuts '%s' in standard deviations, and the rows that rules keep have no "
          "standard deviation (%zu number%s%s); give the cut points, as at: [...]",
          derived->name, log->header.name.name[coding->source[d][0]], rows, rows == 1 ? "" : "s",
          rows < 2 ? "" : ", all the same");
    breakpoints->sd = sqrt(idm_welford_variance(&breakpoints->numbers));
    breakpoints->at = idm_new(derived->cuts, sizeof *breakpoints->at);
    if (!breakpoints->at) return idm_fail_memory(opt_error);
    for (size_t i = 0; i < derived->cuts; i++)
      breakpoints->at[i] = breakpoints->numbers.mean + derived->deviation[i] * breakpoints->sd;
  }
  return IDM_OK;
}

/* --- deferred columns ------------------------------------------------------------------------ */

/* The next kept row of the trajectory after position `place` of the order; `rows` if there is none.
 */
static size_t next_row(const idm_coding *coding, size_t place, size_t kept)
{
  const uint32_t trajectory = coding->trajectory[coding->order[place]];
  for (size_t i = place + 1; i < coding->rows; i++) {
    const uint32_t row = coding->order[i];
    if (coding->trajectory[row] != trajectory) break;
    if (coding->reason[row] == kept) return row;
  }
  return coding->rows;
}

static idm_status derive_row(const idm_log *log, size_t d, size_t place, idm_error *opt_error)
{
  const idm_coding *coding = log->coding;
  idm_buffered_column *buffered =
      &coding->buffered[coding->buffered_index[coding->file_columns + d]];
  const size_t source_row = coding->order[place];
  size_t row = source_row;
  if (coding->columns->derived[d].kind == IDM_DERIVE_NEXT)
    row = next_row(coding, place, log->ledger.reasons);
  for (size_t s = 0; s < coding->width[d]; s++)
    coding->sources[s] = row < coding->rows ? idm_buffered_cell(coding, coding->source[d][s], row)
                                            : (idm_csv_field){.text = ""};
  idm_csv_field cell = {.text = ""};
  const idm_status status = idm_derive_cell(log, d, coding->sources, &cell, opt_error);
  if (status != IDM_OK) return status;
  buffered->cell[source_row] = IDM_INTERN_NONE;
  if (cell.length &&
      !idm_intern_add(&buffered->text, cell.text, cell.length, &buffered->cell[source_row]))
    return idm_fail_memory(opt_error);
  return IDM_OK;
}

/* Compute the deferred columns of the rows that are kept. */
static idm_status idm_derive_deferred(const idm_log *log, idm_error *opt_error)
{
  const idm_coding *coding = log->coding;
  idm_status status = IDM_OK;
  for (size_t d = 0; d < coding->columns->derived_count; d++)
    for (size_t i = 0; i < coding->rows && coding->deferred[d] && status == IDM_OK; i++)
      if (coding->reason[coding->order[i]] == log->ledger.reasons)
        status = derive_row(log, d, i, opt_error);
  return status;
}

/* === coding =================================================================================== */

/* --- creation and destruction ---------------------------------------------------------------- */

static idm_status create(const idm_columns *columns, idm_coding **ret_coding, idm_error *opt_error)
{
  idm_coding *coding = idm_new(1, sizeof *coding);
  if (!coding) return idm_fail_memory(opt_error);
  *ret_coding = coding;
  coding->columns = columns;
  const size_t n = columns->derived_count;
  coding->deferred = idm_new(n, sizeof *coding->deferred);
  coding->requested = idm_new(n, sizeof *coding->requested);
  coding->found = idm_new(n, sizeof *coding->found);
  coding->width = idm_new(n, sizeof *coding->width);
  coding->source = idm_new(n, sizeof *coding->source);
  coding->scratch = idm_new(n, sizeof *coding->scratch);
  coding->scratch_capacity = idm_new(n, sizeof *coding->scratch_capacity);
  coding->rule_column = idm_new(columns->rules, sizeof *coding->rule_column);
  size_t widest = 1;
  for (size_t d = 0; d < n; d++)
    if (columns->derived[d].source.count > widest) widest = columns->derived[d].source.count;
  coding->sources = idm_new(widest, sizeof *coding->sources);
  if (!coding->deferred || !coding->requested || !coding->sources || !coding->found ||
      !coding->width || !coding->source || !coding->scratch || !coding->scratch_capacity ||
      !coding->rule_column)
    return idm_fail_memory(opt_error);
  for (size_t d = 0; d < n; d++) {
    const idm_derived *derived = &columns->derived[d];
    coding->width[d] = derived->source.count;
    coding->source[d] = idm_new(derived->source.count, sizeof *coding->source[d]);
    if (!coding->source[d]) return idm_fail_memory(opt_error);
    coding->found[d].needed = derived->kind == IDM_DERIVE_INTERVALS && !derived->at;
    coding->deferred[d] = derived->kind == IDM_DERIVE_NEXT || coding->found[d].needed;
    for (size_t s = 0; s < derived->source.count; s++)
      for (size_t e = 0; e < d; e++)
        if (coding->deferred[e] && strcmp(columns->derived[e].name, derived->source.name[s]) == 0)
          coding->deferred[d] = true;
  }
  return IDM_OK;
}

void idm_coding_destroy(idm_coding *coding)
{
  if (!coding) return;
  for (size_t d = 0; d < coding->columns->derived_count; d++) {
    if (coding->found) free(coding->found[d].at);
    if (coding->source) free(coding->source[d]);
    if (coding->scratch) free(coding->scratch[d]);
  }
  for (size_t i = 0; i < coding->buffered_columns; i++) {
    idm_intern_clear(&coding->buffered[i].text);
    free(coding->buffered[i].cell);
    free(coding->buffered[i].line);
    free(coding->buffered[i].place);
  }
  idm_labels_destroy(&coding->buffered_name);
  void *const arrays[] = {
      coding->deferred,    coding->requested, coding->sources,  coding->found,
      coding->width,       coding->source,    coding->scratch,  coding->scratch_capacity,
      coding->rule_column, coding->field,     coding->buffered, coding->buffered_index,
      coding->trajectory,  coding->file,      coding->reason,   coding->order};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
  free(coding);
}

/* --- columns -------------------------------------------------------------------------------- */

static bool is_derived(const idm_columns *columns, const char *name)
{
  for (size_t d = 0; d < columns->derived_count; d++)
    if (strcmp(columns->derived[d].name, name) == 0) return true;
  return false;
}

/* Returns true if a column has a role. */
static bool has_role(const idm_columns *columns, const char *name)
{
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++)
    for (size_t i = 0; i < idm_columns_count(columns, (idm_column)c); i++)
      if (strcmp(idm_columns_name(columns, (idm_column)c, i), name) == 0) return true;
  return false;
}

/* *ret_coded is true if the header already contains all derived columns that have a role, and none
 * of their sources, as in a log written by `simulate`. IDM_INPUT if it contains derived columns
 * otherwise. */
static idm_status find_derived(const idm_columns *columns, const idm_log_header *header,
                               bool *ret_coded, idm_error *opt_error)
{
  const char *present = NULL;
  const char *absent = NULL;
  const char *made_from = NULL;
  for (size_t d = 0; d < columns->derived_count; d++) {
    const idm_derived *derived = &columns->derived[d];
    const bool exists = idm_log_header_has(header, derived->name);
    if (exists) present = derived->name;
    if (!exists && has_role(columns, derived->name)) absent = derived->name;
    for (size_t s = 0; s < derived->source.count; s++) {
      const char *source = derived->source.name[s];
      if (!is_derived(columns, source) && !has_role(columns, source) &&
          idm_log_header_has(header, source))
        made_from = source;
    }
  }
  *ret_coded = present && !absent && !made_from;
  if (!present || *ret_coded) return IDM_OK;
  return idm_fail_at(
      opt_error, header->file, (long)header->place[0].line, (long)header->place[0].column,
      "the log has a column '%s', which data.derive computes, and %s '%s'; rename one of the two",
      present, made_from ? "its source" : "no column", made_from ? made_from : absent);
}

idm_status idm_coding_extend(idm_log *log, idm_log_header *header, idm_error *opt_error)
{
  const idm_columns *columns = &log->problem->columns;
  if (!columns->derived_count && !columns->rules) return IDM_OK;
  bool coded = false;
  idm_status status = find_derived(columns, header, &coded, opt_error);
  if (status != IDM_OK) return status;
  if (log->at && coded != log->coded)
    return idm_fail_at(opt_error, header->file, (long)header->place[0].line, 1,
                       "only one of this file and %s has the columns that data.derive computes; "
                       "files that are read together must have the same columns",
                       log->files[0]);
  log->coded = coded;
  if (coded) return IDM_OK;
  if (!log->coding) status = create(columns, &log->coding, opt_error);
  if (status != IDM_OK) return status;
  log->coding->file_columns = header->name.count;
  for (size_t d = 0; d < columns->derived_count && status == IDM_OK; d++) {
    size_t place = 0;
    char what[120];
    snprintf(what, sizeof what, "data.derive.%.60s", columns->derived[d].name);
    status =
        idm_log_header_find(header, columns->derived[d].source.name[0], what, &place, opt_error);
    if (status == IDM_OK)
      status = idm_log_header_append(header, columns->derived[d].name, place, opt_error);
  }
  return status;
}

static idm_status map_derived(idm_log *log, idm_error *opt_error)
{
  const idm_coding *coding = log->coding;
  idm_status status = IDM_OK;
  for (size_t d = 0; d < coding->columns->derived_count; d++) {
    const idm_derived *derived = &coding->columns->derived[d];
    char what[120];
    snprintf(what, sizeof what, "data.derive.%.60s", derived->name);
    for (size_t s = 0; s < coding->width[d] && status == IDM_OK; s++)
      status = idm_log_header_find(&log->header, derived->source.name[s], what,
                                   &coding->source[d][s], opt_error);
  }
  return status;
}

/* Mark a column, and the derived columns that it depends on, as used by a condition or a row rule.
 * IDM_INPUT if one of them is computed only after the last row is read. */
static idm_status require_early(const idm_log *log, size_t column, const char *requester,
                                idm_error *opt_error)
{
  const idm_coding *coding = log->coding;
  if (column < coding->file_columns) return IDM_OK;
  const size_t d = column - coding->file_columns;
  if (!coding->deferred[d]) {
    idm_status status = IDM_OK;
    coding->requested[d] = true;
    for (size_t s = 0; s < coding->width[d] && status == IDM_OK; s++)
      status = require_early(log, coding->source[d][s], requester, opt_error);
    return status;
  }
  return idm_log_header_fail(&log->header, column, opt_error,
                             "%s uses '%s' row by row, which is computed only after all rows are "
                             "read; use its source column instead",
                             requester, log->header.name.name[column]);
}

static idm_status map_rules(idm_log *log, idm_error *opt_error)
{
  const idm_coding *coding = log->coding;
  idm_status status = IDM_OK;
  for (size_t r = 0; r < coding->columns->rules && status == IDM_OK; r++) {
    const idm_rule *rule = &coding->columns->rule[r];
    const char *name = rule->column ? rule->column : rule->predicate.column;
    char what[420] = "rule: ";
    idm_rule_text(rule, what + 6, sizeof what - 6);
    if (!name) continue;
    status = idm_log_header_find(&log->header, name, what, &coding->rule_column[r], opt_error);
    if (status == IDM_OK && idm_rule_stage(rule->kind) == 0)
      status = require_early(log, coding->rule_column[r], what, opt_error);
    if (status == IDM_OK && coding->rule_column[r] >= coding->file_columns &&
        coding->columns->derived[coding->rule_column[r] - coding->file_columns].kind ==
            IDM_DERIVE_NEXT)
      status = idm_log_header_fail(&log->header, coding->rule_column[r], opt_error,
                                   "%s uses '%s', which is computed only after rules are applied",
                                   what, name);
  }
  for (size_t i = 0; i < log->where.count && status == IDM_OK; i++)
    status = require_early(log, log->where.condition[i].column, "--where", opt_error);
  for (size_t d = 0; d < coding->columns->derived_count && status == IDM_OK; d++)
    if (coding->found[d].needed)
      status = require_early(log, coding->source[d][0], "a cut in standard deviations", opt_error);
  return status;
}

/* Select the columns to buffer: those with a role, those of trajectory rules, all derived columns,
 * and the sources of deferred columns. */
static void choose_buffered(const idm_log *log, bool *buffered)
{
  const idm_coding *coding = log->coding;
  for (size_t r = 0; r < IDM_ROLE_COUNT; r++)
    for (size_t i = 0; i < log->header.role[r].count; i++)
      buffered[log->header.role[r].column[i]] = true;
  for (size_t r = 0; r < coding->columns->rules; r++)
    if (coding->columns->rule[r].column) buffered[coding->rule_column[r]] = true;
  for (size_t d = 0; d < coding->columns->derived_count; d++) {
    buffered[coding->file_columns + d] = true;
    for (size_t s = 0; s < coding->width[d] && coding->deferred[d]; s++)
      buffered[coding->source[d][s]] = true;
  }
}

static idm_status create_buffered(idm_log *log, const bool *buffered, idm_error *opt_error)
{
  idm_coding *coding = log->coding;
  size_t count = 0;
  for (size_t i = 0; i < log->header.name.count; i++) count += buffered[i];
  coding->buffered = idm_new(count, sizeof *coding->buffered);
  if (!coding->buffered) return idm_fail_memory(opt_error);
  coding->buffered_columns = count;
  idm_status status = idm_labels_create(&coding->buffered_name, count, opt_error);
  for (size_t i = 0, at = 0; i < log->header.name.count && status == IDM_OK; i++) {
    const char *name = log->header.name.name[i];
    if (buffered[i])
      status = idm_labels_set(&coding->buffered_name, at++, name, strlen(name), opt_error);
  }
  return status;
}

idm_status idm_coding_map(idm_log *log, idm_error *opt_error)
{
  idm_coding *coding = log->coding;
  if (!coding) return IDM_OK;
  const size_t count = log->header.name.count;
  idm_status status = map_derived(log, opt_error);
  if (status == IDM_OK) status = map_rules(log, opt_error);
  if (status != IDM_OK) return status;
  free(coding->field);
  free(coding->buffered_index);
  coding->fields = count;
  coding->field = idm_new(count, sizeof *coding->field);
  coding->buffered_index = idm_new(count, sizeof *coding->buffered_index);
  if (!coding->field || !coding->buffered_index) return idm_fail_memory(opt_error);
  if (!coding->buffered) {
    bool *buffered = idm_new(count, sizeof *buffered);
    if (buffered) choose_buffered(log, buffered);
    status = buffered ? create_buffered(log, buffered, opt_error) : idm_fail_memory(opt_error);
    free(buffered);
  }
  for (size_t i = 0; i < count; i++) coding->buffered_index[i] = coding->buffered_columns;
  for (size_t h = 0; coding->buffered && h < coding->buffered_columns && status == IDM_OK; h++) {
    status = idm_log_header_find(&log->header, coding->buffered_name.name[h], "of the first file",
                                 &coding->buffered[h].column, opt_error);
    if (status == IDM_OK) coding->buffered_index[coding->buffered[h].column] = h;
  }
  return status;
}

/* --- rows ----------------------------------------------------------------------------------- */

/* Compute the derived cells that depend on this record alone: those that row rules use if
 * `requested`, the others if not. */
static idm_status derive_record(idm_log *log, bool requested, idm_error *opt_error)
{
  idm_coding *coding = log->coding;
  idm_status status = IDM_OK;
  for (size_t d = 0; d < coding->columns->derived_count && status == IDM_OK; d++) {
    if (coding->requested[d] != requested) continue;
    idm_csv_field *cell = &coding->field[coding->file_columns + d];
    *cell = coding->field[coding->source[d][0]];
    cell->text = "";
    cell->length = 0;
    for (size_t s = 0; s < coding->width[d]; s++)
      coding->sources[s] = idm_log_cell(log, &coding->field[coding->source[d][s]]);
    if (!coding->deferred[d]) status = idm_derive_cell(log, d, coding->sources, cell, opt_error);
  }
  return status;
}

idm_status idm_coding_take(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  size_t reason = 0;
  size_t rule = 0;
  bool missing = false;
  uint32_t trajectory;
  idm_status status = idm_row_counts_add(log, field, &trajectory, opt_error);
  memcpy(log->coding->field, field, log->coding->file_columns * sizeof *field);
  if (status == IDM_OK) status = derive_record(log, true, opt_error);
  if (status == IDM_OK)
    status = idm_where_fails(&log->where, &log->missing, &log->header, log->coding->field, &reason,
                             &missing, opt_error);
  bool empty = false;
  if (status == IDM_OK) status = idm_rules_drop_row(log, &rule, &empty, opt_error);
  if (status == IDM_OK && rule == log->problem->columns.rules)
    status = idm_derive_measure(log, opt_error);
  if (status != IDM_OK) return status;
  if (reason == log->where.count) {
    reason += rule;
    missing = empty;
  }
  if (reason < log->ledger.reasons) {
    idm_row_counts_record(log, trajectory, reason, missing);
    return IDM_OK;
  }
  /* A dropped row is not derived further: it may be invalid, which may be why it is dropped. */
  status = derive_record(log, false, opt_error);
  return status == IDM_OK ? idm_buffer_row(log, trajectory, opt_error) : status;
}

/* --- completion ------------------------------------------------------------------------------ */

static idm_status replay_row(idm_log *log, size_t row, idm_coding_sink *sink, idm_error *opt_error)
{
  idm_coding *coding = log->coding;
  for (size_t h = 0; h < coding->buffered_columns; h++)
    coding->field[coding->buffered[h].column] =
        idm_buffered_cell(coding, coding->buffered[h].column, row);
  log->at = coding->file[row];
  log->file = log->file_count > 1 ? log->files[log->at] : log->file;
  return sink(log, coding->field, opt_error);
}

idm_status idm_coding_finish(idm_log *log, idm_coding_sink *sink, idm_error *opt_error)
{
  idm_coding *coding = log->coding;
  if (!coding) return IDM_OK;
  const size_t files = log->at;
  idm_status status = idm_derive_cuts(log, opt_error);
  if (status == IDM_OK) status = idm_rules_drop_trajectories(log, opt_error);
  for (size_t row = 0; row < coding->rows && status == IDM_OK; row++)
    idm_row_counts_record(log, coding->trajectory[row], coding->reason[row], false);
  if (status == IDM_OK) status = idm_derive_deferred(log, opt_error);
  memset(coding->field, 0, coding->fields * sizeof *coding->field);
  for (size_t i = 0; i < coding->fields; i++) coding->field[i].text = "";
  for (size_t row = 0; row < coding->rows && status == IDM_OK; row++)
    if (coding->reason[row] == log->ledger.reasons) status = replay_row(log, row, sink, opt_error);
  log->at = files;
  return status;
}

size_t idm_coding_cuts(const idm_coding *coding)
{
  size_t cuts = 0;
  for (size_t d = 0; d < coding->columns->derived_count; d++) cuts += coding->found[d].at != NULL;
  return cuts;
}

idm_status idm_coding_report(const idm_coding *coding, idm_log_counts *log_counts,
                             idm_error *opt_error)
{
  for (size_t d = 0, at = 0; d < coding->columns->derived_count; d++) {
    const idm_found_breakpoints *breakpoints = &coding->found[d];
    const size_t count = coding->columns->derived[d].cuts;
    if (!breakpoints->at) continue;
    idm_breakpoints *cut = &log_counts->cut[at++];
    *cut = (idm_breakpoints){d,
                             breakpoints->numbers.count,
                             breakpoints->numbers.mean,
                             breakpoints->sd,
                             count,
                             idm_duplicate(breakpoints->at, count, sizeof *breakpoints->at)};
    if (!cut->at) return idm_fail_memory(opt_error);
  }
  return IDM_OK;
}
