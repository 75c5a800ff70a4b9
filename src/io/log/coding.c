/* Rows that are held until they are coded. */
#include "io/log/coding.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/log/derive.h"
#include "io/log/rules.h"

/* --- life ----------------------------------------------------------------------------------- */

static idm_status create(const idm_columns *columns, idm_coding **ret_coding, idm_error *opt_error)
{
  idm_coding *coding = idm_new(1, sizeof *coding);
  if (!coding) return idm_fail_memory(opt_error);
  *ret_coding = coding;
  coding->columns = columns;
  const size_t n = columns->deriveds;
  coding->late = idm_new(n, sizeof *coding->late);
  coding->asked = idm_new(n, sizeof *coding->asked);
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
  if (!coding->late || !coding->asked || !coding->sources || !coding->found || !coding->width ||
      !coding->source || !coding->scratch || !coding->scratch_capacity || !coding->rule_column)
    return idm_fail_memory(opt_error);
  for (size_t d = 0; d < n; d++) {
    const idm_derived *derived = &columns->derived[d];
    coding->width[d] = derived->source.count;
    coding->source[d] = idm_new(derived->source.count, sizeof *coding->source[d]);
    if (!coding->source[d]) return idm_fail_memory(opt_error);
    coding->found[d].wanted = derived->kind == IDM_DERIVE_CUT && !derived->at;
    coding->late[d] = derived->kind == IDM_DERIVE_NEXT || coding->found[d].wanted;
    for (size_t s = 0; s < derived->source.count; s++)
      for (size_t e = 0; e < d; e++)
        if (coding->late[e] && strcmp(columns->derived[e].name, derived->source.name[s]) == 0)
          coding->late[d] = true;
  }
  return IDM_OK;
}

void idm_coding_destroy(idm_coding *coding)
{
  if (!coding) return;
  for (size_t d = 0; d < coding->columns->deriveds; d++) {
    if (coding->found) free(coding->found[d].at);
    if (coding->source) free(coding->source[d]);
    if (coding->scratch) free(coding->scratch[d]);
  }
  for (size_t i = 0; i < coding->held_columns; i++) {
    idm_intern_clear(&coding->held[i].text);
    free(coding->held[i].cell);
    free(coding->held[i].line);
    free(coding->held[i].place);
  }
  idm_labels_destroy(&coding->held_name);
  void *const arrays[] = {
      coding->late,        coding->asked,  coding->sources, coding->found,
      coding->width,       coding->source, coding->scratch, coding->scratch_capacity,
      coding->rule_column, coding->field,  coding->held,    coding->held_at,
      coding->trajectory,  coding->file,   coding->reason,  coding->order};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
  free(coding);
}

/* --- columns -------------------------------------------------------------------------------- */

static bool is_derived(const idm_columns *columns, const char *name)
{
  for (size_t d = 0; d < columns->deriveds; d++)
    if (strcmp(columns->derived[d].name, name) == 0) return true;
  return false;
}

/* Whether a derived column plays a role. */
static bool has_role(const idm_columns *columns, const char *name)
{
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++)
    for (size_t i = 0; i < idm_columns_count(columns, (idm_column)c); i++)
      if (strcmp(idm_columns_name(columns, (idm_column)c, i), name) == 0) return true;
  return false;
}

/* Derived columns that a header holds already: none, or all that play a role and nothing that they
 * are made from (a log that `simulate` wrote). */
static idm_status look_for_derived(const idm_columns *columns, const idm_log_header *header,
                                   bool *ret_coded, idm_error *opt_error)
{
  const char *present = NULL;
  const char *absent = NULL;
  const char *made_from = NULL;
  for (size_t d = 0; d < columns->deriveds; d++) {
    const idm_derived *derived = &columns->derived[d];
    const bool there = idm_log_header_has(header, derived->name);
    if (there) present = derived->name;
    if (!there && has_role(columns, derived->name)) absent = derived->name;
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
      "the log has a column '%s', which data.derive makes, beside %s '%s'; rename "
      "one of the two",
      present, made_from ? "what it is made from," : "none called", made_from ? made_from : absent);
}

idm_status idm_coding_extend(idm_log *log, idm_log_header *header, idm_error *opt_error)
{
  const idm_columns *columns = &log->problem->columns;
  if (!columns->deriveds && !columns->rules) return IDM_OK;
  bool coded = false;
  idm_status status = look_for_derived(columns, header, &coded, opt_error);
  if (status != IDM_OK) return status;
  if (log->at && coded != log->coded)
    return idm_fail_at(opt_error, header->file, (long)header->place[0].line, 1,
                       "one of this file and %s holds the columns that data.derive makes and the "
                       "other does not; files that are read together have the same columns",
                       log->files[0]);
  log->coded = coded;
  if (coded) return IDM_OK;
  if (!log->coding) status = create(columns, &log->coding, opt_error);
  if (status != IDM_OK) return status;
  log->coding->raw = header->name.count;
  for (size_t d = 0; d < columns->deriveds && status == IDM_OK; d++) {
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
  for (size_t d = 0; d < coding->columns->deriveds; d++) {
    const idm_derived *derived = &coding->columns->derived[d];
    char what[120];
    snprintf(what, sizeof what, "data.derive.%.60s", derived->name);
    for (size_t s = 0; s < coding->width[d] && status == IDM_OK; s++)
      status = idm_log_header_find(&log->header, derived->source.name[s], what,
                                   &coding->source[d][s], opt_error);
  }
  return status;
}

/* What a condition or a rule on rows asks for, with what it is made from; it cannot ask for what is
 * known only when all rows are. */
static idm_status ask(const idm_log *log, size_t column, const char *who, idm_error *opt_error)
{
  const idm_coding *coding = log->coding;
  if (column < coding->raw) return IDM_OK;
  const size_t d = column - coding->raw;
  if (!coding->late[d]) {
    idm_status status = IDM_OK;
    coding->asked[d] = true;
    for (size_t s = 0; s < coding->width[d] && status == IDM_OK; s++)
      status = ask(log, coding->source[d][s], who, opt_error);
    return status;
  }
  return idm_log_header_fail(
      &log->header, column, opt_error,
      "%s asks for '%s' row by row, which is known only when all rows are read; name "
      "the column that it is made from",
      who, log->header.name.name[column]);
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
      status = ask(log, coding->rule_column[r], what, opt_error);
    if (status == IDM_OK && coding->rule_column[r] >= coding->raw &&
        coding->columns->derived[coding->rule_column[r] - coding->raw].kind == IDM_DERIVE_NEXT)
      status = idm_log_header_fail(
          &log->header, coding->rule_column[r], opt_error,
          "%s asks for '%s', which is known only when rules have been applied", what, name);
  }
  for (size_t i = 0; i < log->where.count && status == IDM_OK; i++)
    status = ask(log, log->where.condition[i].column, "--where", opt_error);
  for (size_t d = 0; d < coding->columns->deriveds && status == IDM_OK; d++)
    if (coding->found[d].wanted)
      status = ask(log, coding->source[d][0], "a cut in standard deviations", opt_error);
  return status;
}

/* Which columns are held: those with a role, those of rules on trajectories, and all that is
 * derived with what is late made from. */
static void choose_held(const idm_log *log, bool *held)
{
  const idm_coding *coding = log->coding;
  for (size_t r = 0; r < IDM_ROLE_COUNT; r++)
    for (size_t i = 0; i < log->header.role[r].count; i++)
      held[log->header.role[r].column[i]] = true;
  for (size_t r = 0; r < coding->columns->rules; r++)
    if (coding->columns->rule[r].column) held[coding->rule_column[r]] = true;
  for (size_t d = 0; d < coding->columns->deriveds; d++) {
    held[coding->raw + d] = true;
    for (size_t s = 0; s < coding->width[d] && coding->late[d]; s++)
      held[coding->source[d][s]] = true;
  }
}

static idm_status create_held(idm_log *log, const bool *held, idm_error *opt_error)
{
  idm_coding *coding = log->coding;
  size_t count = 0;
  for (size_t i = 0; i < log->header.name.count; i++) count += held[i];
  coding->held = idm_new(count, sizeof *coding->held);
  if (!coding->held) return idm_fail_memory(opt_error);
  coding->held_columns = count;
  idm_status status = idm_labels_create(&coding->held_name, count, opt_error);
  for (size_t i = 0, at = 0; i < log->header.name.count && status == IDM_OK; i++) {
    const char *name = log->header.name.name[i];
    if (held[i]) status = idm_labels_set(&coding->held_name, at++, name, strlen(name), opt_error);
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
  free(coding->held_at);
  coding->fields = count;
  coding->field = idm_new(count, sizeof *coding->field);
  coding->held_at = idm_new(count, sizeof *coding->held_at);
  if (!coding->field || !coding->held_at) return idm_fail_memory(opt_error);
  if (!coding->held) {
    bool *held = idm_new(count, sizeof *held);
    if (held) choose_held(log, held);
    status = held ? create_held(log, held, opt_error) : idm_fail_memory(opt_error);
    free(held);
  }
  for (size_t i = 0; i < count; i++) coding->held_at[i] = coding->held_columns;
  for (size_t h = 0; coding->held && h < coding->held_columns && status == IDM_OK; h++) {
    status = idm_log_header_find(&log->header, coding->held_name.name[h], "of the first file",
                                 &coding->held[h].column, opt_error);
    if (status == IDM_OK) coding->held_at[coding->held[h].column] = h;
  }
  return status;
}

/* --- rows ----------------------------------------------------------------------------------- */

/* The derived cells of a record that it alone decides: those that rules on rows ask for, or the
 * others. */
static idm_status derive_record(idm_log *log, bool asked, idm_error *opt_error)
{
  idm_coding *coding = log->coding;
  idm_status status = IDM_OK;
  for (size_t d = 0; d < coding->columns->deriveds && status == IDM_OK; d++) {
    if (coding->asked[d] != asked) continue;
    idm_csv_field *cell = &coding->field[coding->raw + d];
    *cell = coding->field[coding->source[d][0]];
    cell->text = "";
    cell->length = 0;
    for (size_t s = 0; s < coding->width[d]; s++)
      coding->sources[s] = idm_log_cell(log, &coding->field[coding->source[d][s]]);
    if (!coding->late[d]) status = idm_derive_cell(log, d, coding->sources, cell, opt_error);
  }
  return status;
}

idm_status idm_coding_take(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  size_t reason = 0;
  size_t rule = 0;
  bool missing = false;
  uint32_t trajectory;
  idm_status status = idm_ledger_enter(log, field, &trajectory, opt_error);
  memcpy(log->coding->field, field, log->coding->raw * sizeof *field);
  if (status == IDM_OK) status = derive_record(log, true, opt_error);
  if (status == IDM_OK)
    status = idm_where_fails(&log->where, &log->missing, &log->header, log->coding->field, &reason,
                             &missing, opt_error);
  bool empty = false;
  if (status == IDM_OK) status = idm_rules_take_row(log, &rule, &empty, opt_error);
  if (status == IDM_OK && rule == log->problem->columns.rules)
    status = idm_derive_measure(log, opt_error);
  if (status != IDM_OK) return status;
  if (reason == log->where.count) {
    reason += rule;
    missing = empty;
  }
  if (reason < log->ledger.reasons) {
    idm_ledger_settle(log, trajectory, reason, missing);
    return IDM_OK;
  }
  /* A row that is left out need not make sense: that may be why it is. */
  status = derive_record(log, false, opt_error);
  return status == IDM_OK ? idm_hold(log, trajectory, opt_error) : status;
}

/* --- the end -------------------------------------------------------------------------------- */

static idm_status hand_over(idm_log *log, size_t row, idm_coding_sink *sink, idm_error *opt_error)
{
  idm_coding *coding = log->coding;
  for (size_t h = 0; h < coding->held_columns; h++)
    coding->field[coding->held[h].column] = idm_held_cell(coding, coding->held[h].column, row);
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
  if (status == IDM_OK) status = idm_rules_take_trajectories(log, opt_error);
  for (size_t row = 0; row < coding->rows && status == IDM_OK; row++)
    idm_ledger_settle(log, coding->trajectory[row], coding->reason[row], false);
  if (status == IDM_OK) status = idm_derive_late(log, opt_error);
  memset(coding->field, 0, coding->fields * sizeof *coding->field);
  for (size_t i = 0; i < coding->fields; i++) coding->field[i].text = "";
  for (size_t row = 0; row < coding->rows && status == IDM_OK; row++)
    if (coding->reason[row] == log->ledger.reasons) status = hand_over(log, row, sink, opt_error);
  log->at = files;
  return status;
}

size_t idm_coding_cuts(const idm_coding *coding)
{
  size_t cuts = 0;
  for (size_t d = 0; d < coding->columns->deriveds; d++) cuts += coding->found[d].at != NULL;
  return cuts;
}

idm_status idm_coding_report(const idm_coding *coding, idm_intake *intake, idm_error *opt_error)
{
  for (size_t d = 0, at = 0; d < coding->columns->deriveds; d++) {
    const idm_found_cut *found = &coding->found[d];
    const size_t count = coding->columns->derived[d].cuts;
    if (!found->at) continue;
    idm_cut *cut = &intake->cut[at++];
    *cut = (idm_cut){d,
                     found->numbers.count,
                     found->numbers.mean,
                     found->sd,
                     count,
                     idm_duplicate(found->at, count, sizeof *found->at)};
    if (!cut->at) return idm_fail_memory(opt_error);
  }
  return IDM_OK;
}
