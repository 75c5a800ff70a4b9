/* Decodes the cells of a log: labels, numbers, sets of actions and beliefs.
 *
 * Contents: choice · cells */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "idm/extension/behavior.h"
#include "idm/extension/planner.h"
#include "io/log/log.h"
#include "io/yaml/yaml.h"
#include "plan/plan.h"
#include "setting/model.h"

/* === choice ================================================================================= */

/* Decoding of cells of actions, states and observations: from text to label index, by label or by
 * code. */

/* --- creation -------------------------------------------------------------------------------- */

static idm_status intern_all(idm_intern *intern, const idm_labels *labels, idm_error *opt_error)
{
  for (size_t i = 0; i < labels->count; i++) {
    uint32_t index;
    if (!idm_intern_add(intern, labels->name[i], strlen(labels->name[i]), &index))
      return idm_fail_memory(opt_error);
    if (index != i) return idm_fail(opt_error, IDM_INPUT, "'%s' is named twice", labels->name[i]);
  }
  return IDM_OK;
}

static idm_status prepare_code(idm_label_codes *cell, const idm_labels *labels,
                               const idm_code *opt_code, idm_error *opt_error)
{
  idm_status status = intern_all(&cell->labels, labels, opt_error);
  if (status != IDM_OK || !opt_code) return status;
  cell->index = opt_code->index;
  status = intern_all(&cell->texts, &opt_code->text, opt_error);
  cell->means = idm_new(opt_code->text.count, sizeof *cell->means);
  if (status == IDM_OK && !cell->means) status = idm_fail_memory(opt_error);
  for (size_t i = 0; i < opt_code->text.count && status == IDM_OK; i++) {
    const char *label = opt_code->target_label.name[i];
    const uint32_t found = idm_intern_find(&cell->labels, label, strlen(label));
    if (found == IDM_INTERN_NONE)
      return idm_fail(opt_error, IDM_INPUT,
                      "the code '%.60s' maps to '%.60s', which is not a label",
                      opt_code->text.name[i], label);
    cell->means[i] = (int32_t)found;
  }
  return status;
}

static idm_status prepare_part(idm_label_codes *part, const idm_labels *labels,
                               const idm_code *code, size_t columns, size_t column,
                               idm_error *opt_error)
{
  idm_labels levels;
  idm_status status = idm_labels_level(labels, columns, column, &levels, opt_error);
  if (status == IDM_OK) status = prepare_code(part, &levels, code, opt_error);
  idm_labels_destroy(&levels);
  return status;
}

idm_status idm_label_decoder_create(idm_label_decoder *choice, const idm_labels *labels,
                                    const idm_codes *codes, size_t columns, idm_error *opt_error)
{
  const bool one = codes->count == 1;
  const bool by_column = columns > 1 && (codes->count > 1 || (one && codes->code[0].index));
  if (codes->count > 1 && codes->count != columns)
    return idm_fail(opt_error, IDM_INPUT, "%zu codes for %zu columns of a label", codes->count,
                    columns);
  idm_status status =
      prepare_code(&choice->whole, labels, one && !by_column ? codes->code : NULL, opt_error);
  if (status != IDM_OK || !by_column) return status;
  choice->part = idm_new(columns, sizeof *choice->part);
  if (!choice->part) return idm_fail_memory(opt_error);
  choice->parts = columns;
  for (size_t i = 0; i < columns && status == IDM_OK; i++)
    status =
        prepare_part(&choice->part[i], labels, &codes->code[one ? 0 : i], columns, i, opt_error);
  return status;
}

static void clear_code(idm_label_codes *cell)
{
  idm_intern_clear(&cell->labels);
  idm_intern_clear(&cell->texts);
  free(cell->means);
}

void idm_label_decoder_clear(idm_label_decoder *choice)
{
  clear_code(&choice->whole);
  for (size_t i = 0; i < choice->parts; i++) clear_code(&choice->part[i]);
  free(choice->part);
  *choice = (idm_label_decoder){0};
}

/* --- lookup ---------------------------------------------------------------------------------- */

bool idm_cell_is_index(const char *text, size_t length, uint32_t *ret_index)
{
  *ret_index = UINT32_MAX;
  if (!length) return false;
  uint32_t number = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    number = number < 100000000 ? 10 * number + (uint32_t)(text[i] - '0') : UINT32_MAX;
  }
  *ret_index = number;
  return true;
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

/* Returns true if no cell can contain a label: it is empty, has leading or trailing blanks, which
 * are trimmed, or has a forbidden character. */
static bool is_unwritable(const idm_intern *labels, uint32_t index, const char *forbidden)
{
  size_t length;
  const char *text = idm_intern_text(labels, index, &length);
  if (!length || is_blank(text[0]) || is_blank(text[length - 1])) return true;
  for (const char *c = forbidden; *c; c++)
    if (memchr(text, *c, length)) return true;
  return false;
}

int32_t idm_label_codes_find(const idm_label_codes *code, const char *text, size_t length,
                             const char *forbidden)
{
  uint32_t found = idm_intern_find(&code->labels, text, length);
  if (found != IDM_INTERN_NONE) return (int32_t)found;
  found = code->texts.count ? idm_intern_find(&code->texts, text, length) : IDM_INTERN_NONE;
  if (found != IDM_INTERN_NONE) return code->means[found];
  if (!idm_cell_is_index(text, length, &found) || found >= code->labels.count) return -1;
  return code->index || is_unwritable(&code->labels, found, forbidden) ? (int32_t)found : -1;
}

/* === cells ================================================================================== */

/* Cells of a log: labels, numbers, sets of actions and beliefs. */

idm_status idm_log_scratch(idm_log *log, size_t size, idm_error *opt_error)
{
  if (size <= log->scratch_capacity) return IDM_OK;
  char *larger = realloc(log->scratch, 2 * size);
  if (!larger) return idm_fail_memory(opt_error);
  log->scratch = larger;
  log->scratch_capacity = 2 * size;
  return IDM_OK;
}

idm_status idm_log_check_name(const idm_log *log, const idm_csv_field *cell, const char *what,
                              idm_error *opt_error)
{
  if (idm_utf8_is_printable(cell->text, cell->length)) return IDM_OK;
  return idm_fail_at(opt_error, log->file, (long)cell->line, (long)cell->column,
                     "%s is not UTF-8 without control characters; save the table as UTF-8, without "
                     "tabs and ends of lines in it",
                     what);
}

/* --- numbers -------------------------------------------------------------------------------- */

bool idm_cell_number(const idm_csv_field *cell, double *ret_number)
{
  return idm_number_decimal(cell->text, cell->length, ret_number);
}

idm_status idm_log_number(const idm_log *log, const idm_csv_field *cell, size_t column,
                          double *ret_number, idm_error *opt_error)
{
  if (idm_cell_number(cell, ret_number)) return IDM_OK;
  const bool comma = cell->length && memchr(cell->text, ',', cell->length);
  return idm_fail_at(opt_error, log->file, (long)cell->line, (long)cell->column,
                     "'%.*s' in column '%s'; expected a finite number%s", IDM_CELL_FORMAT(*cell),
                     log->header.name.name[column], comma ? " (with a decimal point)" : "");
}

idm_status idm_log_read_time(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  const idm_log_role *role = &log->header.role[IDM_COLUMN_TIME];
  if (!role->count) return IDM_OK;
  log->time_line[log->rows] = field[role->column[0]].line;
  log->time_column[log->rows] = field[role->column[0]].column;
  for (size_t i = 0; i < role->count; i++) {
    const idm_csv_field cell = idm_log_cell(log, &field[role->column[i]]);
    double *time = &log->time[log->rows * role->count + i];
    const idm_status status = idm_log_number(log, &cell, role->column[i], time, opt_error);
    if (status != IDM_OK) return status;
  }
  return IDM_OK;
}

/* --- labels --------------------------------------------------------------------------------- */

/* Returns true if a text commonly marks a missing value. */
bool idm_cell_is_missing_text(const char *text, size_t length)
{
  static const char *const words[] = {"NA", "N/A", "n/a", "na", "NaN", "nan", "NULL", "#N/A", "."};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0) return true;
  return false;
}

/* Suggest a correction for an unknown label: a similar label, a code, or a new label. */
static void suggest(const idm_csv_field *cell, const char *noun, const idm_labels *labels,
                    char *cure, size_t size)
{
  char text[61];
  idm_print(text, sizeof text, "%.*s", IDM_CELL_FORMAT(*cell));
  const char *near = idm_suggest(text, (const char *const *)labels->name, labels->count);
  if (near)
    snprintf(cure, size,
             "; did you mean '%.60s'? correct the cell, or map its text by data: "
             "{codes: {%s: {...}}}",
             near, noun);
  else
    snprintf(cure, size,
             "; correct the cell, map its text by data: {codes: {%s: {...}}}, or add "
             "the label to the problem",
             noun);
}

/* Fail with IDM_INPUT at a text that is not a label, and suggest a correction. */
static idm_status fail_label(const idm_log *log, const idm_csv_field *cell, size_t id,
                             const idm_labels *labels, idm_error *opt_error)
{
  char list[400];
  char cure[300] = "";
  uint32_t index;
  const char *noun = idm_column_describe((idm_column)id)->key;
  const char *code = id == IDM_COLUMN_STATE
                         ? "observation"
                         : noun; /* section of data.codes; states share that of observations */
  idm_labels_list(labels, list, sizeof list);
  if (idm_cell_is_missing_text(cell->text, cell->length))
    snprintf(cure, sizeof cure,
             "; if it marks a missing value, add data: {missing: [\"%.*s\"]} to the problem file%s",
             IDM_CELL_FORMAT(*cell),
             id == IDM_COLUMN_ACTION ? "; if it marks a missed response, add data: {missed: ...}"
                                     : "");
  else if (idm_cell_is_index(cell->text, cell->length, &index))
    snprintf(
        cure, sizeof cure,
        "; a number is accepted in place of a name only if the problem file maps it: data: {codes: "
        "{%s: {%.*s: NAME, ...}}}, or codes: index for indices into this list, counted from 0",
        code, IDM_CELL_FORMAT(*cell));
  else
    suggest(cell, code, labels, cure, sizeof cure);
  return idm_fail_at(opt_error, log->file, (long)cell->line, (long)cell->column,
                     "'%.*s' is no %s; expected one of: %s%s", IDM_CELL_FORMAT(*cell), noun, list,
                     cure);
}

/* Replace the cell of one column of a joined label, which has codes of its own, by the name of its
 * level. */
static idm_status label_index(const idm_log *log, size_t id, const idm_label_decoder *choice,
                              size_t column, idm_csv_field *cell, idm_error *opt_error)
{
  if (!choice->parts || !cell->length) return IDM_OK;
  const idm_label_codes *code = &choice->part[column];
  const int32_t level = idm_label_codes_find(code, cell->text, cell->length, "");
  size_t length;
  if (level >= 0) {
    cell->text = idm_intern_text(&code->labels, (uint32_t)level, &length);
    cell->length = (uint32_t)length;
    return IDM_OK;
  }
  return idm_fail_at(opt_error, log->file, (long)cell->line, (long)cell->column,
                     "'%.*s' in column '%s' is neither a level of it nor a code for one",
                     IDM_CELL_FORMAT(*cell),
                     log->header.name.name[log->header.role[id].column[column]]);
}

/* Label of a row: the cells of its columns, joined by '/', at the position of the first. Empty if
 * all cells are empty; IDM_INPUT if only some are. */
static idm_status read_label(idm_log *log, size_t id, const idm_label_decoder *choice,
                             const idm_csv_field *field, idm_csv_field *ret_cell,
                             idm_error *opt_error)
{
  const idm_log_role *role = &log->header.role[id];
  *ret_cell = idm_log_cell(log, &field[role->column[0]]);
  if (role->count == 1) return IDM_OK;
  size_t used = 0;
  size_t empty = 0;
  const idm_csv_field *empty_cell = NULL;
  for (size_t i = 0; i < role->count; i++) {
    idm_csv_field cell = idm_log_cell(log, &field[role->column[i]]);
    idm_status status = label_index(log, id, choice, i, &cell, opt_error);
    if (status == IDM_OK) status = idm_log_scratch(log, used + cell.length + 1, opt_error);
    if (status != IDM_OK) return status;
    if (!cell.length) {
      empty++;
      empty_cell = &field[role->column[i]];
    }
    if (i) log->scratch[used++] = '/';
    memcpy(log->scratch + used, cell.text, cell.length);
    used += cell.length;
  }
  if (empty && empty < role->count)
    return idm_fail_at(opt_error, log->file, (long)empty_cell->line, (long)empty_cell->column,
                       "an empty cell in a label of %zu columns; fill all of them or none",
                       role->count);
  ret_cell->text = log->scratch;
  ret_cell->length = empty ? 0 : (uint32_t)used;
  return IDM_OK;
}

/* Returns true if all cells of the action contain texts that mark a missed response; *ret_text is
 * the index of the first. A text that is also in data.missing marks a missed response here. */
static bool find_missed(const idm_log *log, const idm_csv_field *field, int32_t *ret_text)
{
  const idm_log_role *role = &log->header.role[IDM_COLUMN_ACTION];
  *ret_text = IDM_MISSING;
  if (!log->missed) return false;
  for (size_t i = 0; i < role->count; i++) {
    const idm_csv_field cell = idm_cell_trim(field[role->column[i]]);
    const uint32_t text = idm_intern_find(&log->missed_text, cell.text, cell.length);
    if (text == IDM_INTERN_NONE) {
      *ret_text = IDM_MISSING;
      return false;
    }
    if (!i) *ret_text = (int32_t)text;
  }
  return *ret_text >= 0;
}

/* Record a missed response: the problem's action for it, or IDM_MISSING if the planner accepts
 * steps without an action; IDM_INPUT otherwise. */
static idm_status record_missed(idm_log *log, const idm_csv_field *cell, idm_error *opt_error)
{
  const size_t action = log->problem->columns.missed_action;
  const idm_planner *planner = idm_agent_planner(&log->problem->agent);
  log->action[log->rows] = action ? (int32_t)action - 1 : IDM_MISSING;
  if (action || idm_planner_behavior(planner)->accepts_no_action) return IDM_OK;
  return idm_fail_at(opt_error, log->file, (long)cell->line, (long)cell->column,
                     "'%.*s' is a missed response, and the problem does not define what happens "
                     "then: the planner '%s' needs an action; expected data: {missed: {values: "
                     "[...], action: ACTION}} in the problem file",
                     IDM_CELL_FORMAT(*cell), planner->name);
}

idm_status idm_log_read_action(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  idm_csv_field cell;
  int32_t text;
  if (find_missed(log, field, &text)) {
    cell = idm_cell_trim(field[log->header.role[IDM_COLUMN_ACTION].column[0]]);
    log->line[log->rows] = cell.line;
    log->action_column[log->rows] = cell.column;
    log->missed[log->rows] = text;
    return record_missed(log, &cell, opt_error);
  }
  if (log->missed) log->missed[log->rows] = IDM_MISSING;
  const idm_status status =
      read_label(log, IDM_COLUMN_ACTION, &log->actions, field, &cell, opt_error);
  if (status != IDM_OK) return status;
  log->line[log->rows] = cell.line;
  log->action_column[log->rows] = cell.column;
  const int32_t action = cell.length
                             ? idm_label_codes_find(&log->actions.whole, cell.text, cell.length, "")
                             : IDM_MISSING;
  if (cell.length && action < 0)
    return fail_label(log, &cell, IDM_COLUMN_ACTION, &log->problem->setting->actions, opt_error);
  log->action[log->rows] = action;
  return IDM_OK;
}

idm_status idm_log_read_state(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  if (!log->header.role[IDM_COLUMN_STATE].count) return IDM_OK;
  idm_csv_field cell;
  const idm_status status =
      read_label(log, IDM_COLUMN_STATE, &log->states, field, &cell, opt_error);
  if (status != IDM_OK) return status;
  const int32_t state = cell.length
                            ? idm_label_codes_find(&log->states.whole, cell.text, cell.length, "")
                            : IDM_MISSING;
  if (cell.length && state < 0)
    return fail_label(log, &cell, IDM_COLUMN_STATE, &log->problem->setting->states, opt_error);
  log->state[log->rows] = state;
  return IDM_OK;
}

idm_status idm_log_read_observation(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  idm_csv_field cell;
  if (!log->header.role[IDM_COLUMN_OBSERVATION].count) {
    /* The state on the next row gives the observation. If there is only one observation, it is
     * known. */
    log->observation[log->rows] = log->problem->setting->observations.count == 1 ? 0 : IDM_MISSING;
    return IDM_OK;
  }
  const idm_status status =
      read_label(log, IDM_COLUMN_OBSERVATION, &log->observations, field, &cell, opt_error);
  if (status != IDM_OK) return status;
  const idm_setting *setting = log->problem->setting;
  const int32_t action = log->action[log->rows];
  const int32_t observation =
      cell.length ? idm_label_codes_find(&log->observations.whole, cell.text, cell.length, "")
                  : IDM_MISSING;
  if (cell.length && observation < 0) {
    /* No recognition follows a terminal action, so an unknown observation there is counted and
     * ignored. */
    if (action < 0 || !setting->terminal[action])
      return fail_label(log, &cell, IDM_COLUMN_OBSERVATION, &setting->observations, opt_error);
    if (!log->unknown_observations++) log->unknown_observation_line = cell.line;
  }
  log->observation[log->rows] = observation;
  return IDM_OK;
}

/* --- available actions ---------------------------------------------------------------------- */

/* Set log->open for the actions that a cell lists. */
static idm_status mark_open(idm_log *log, const idm_csv_field *cell, idm_error *opt_error)
{
  const char *text = cell->text;
  const char *const end = text + cell->length;
  for (;;) {
    const char *bar = memchr(text, '|', (size_t)(end - text));
    idm_csv_field part = *cell;
    part.text = text;
    part.length = (uint32_t)((bar ? bar : end) - text);
    part = idm_cell_trim(part);
    const int32_t action = idm_label_codes_find(&log->actions.whole, part.text, part.length, "|");
    if (action < 0)
      return fail_label(log, &part, IDM_COLUMN_ACTION, &log->problem->setting->actions, opt_error);
    log->open[action] = true;
    if (!bar) return IDM_OK;
    text = bar + 1;
  }
}

/* Index of the set of actions that the cells list: their union if there are several columns; 0 if
 * none is listed. */
static idm_status read_set(idm_log *log, const idm_csv_field *field, uint32_t *ret_set,
                           idm_error *opt_error)
{
  const idm_log_role *role = &log->header.role[IDM_COLUMN_AVAILABLE];
  const size_t actions = log->problem->setting->actions.count;
  bool listed = false;
  memset(log->open, 0, actions * sizeof *log->open);
  for (size_t i = 0; i < role->count; i++) {
    const idm_csv_field cell = idm_log_cell(log, &field[role->column[i]]);
    if (!cell.length) continue;
    const idm_status status = mark_open(log, &cell, opt_error);
    if (status != IDM_OK) return status;
    listed = true;
  }
  *ret_set = 0;
  if (!listed) return IDM_OK;
  if (!idm_intern_add(&log->available_sets, (const char *)log->open, actions, ret_set))
    return idm_fail_memory(opt_error);
  return IDM_OK;
}

/* As read_set, cached by the text of the cell: a log repeats a few sets many times. */
static idm_status find_set(idm_log *log, const idm_csv_field *field, uint32_t *ret_set,
                           idm_error *opt_error)
{
  const idm_log_role *role = &log->header.role[IDM_COLUMN_AVAILABLE];
  if (role->count > 1) return read_set(log, field, ret_set, opt_error);
  const idm_csv_field *cell = &field[role->column[0]];
  uint32_t text = idm_intern_find(&log->available_text, cell->text, cell->length);
  if (text == IDM_INTERN_NONE) {
    uint32_t set;
    const idm_status status = read_set(log, field, &set, opt_error);
    if (status != IDM_OK) return status;
    if (log->available_text.count == log->available_capacity) {
      const size_t capacity = 2 * log->available_capacity + 16;
      uint32_t *larger = realloc(log->available_of, capacity * sizeof *larger);
      if (!larger) return idm_fail_memory(opt_error);
      log->available_of = larger;
      log->available_capacity = capacity;
    }
    if (!idm_intern_add(&log->available_text, cell->text, cell->length, &text))
      return idm_fail_memory(opt_error);
    log->available_of[text] = set;
  }
  *ret_set = log->available_of[text];
  return IDM_OK;
}

idm_status idm_log_read_available(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  const idm_log_role *role = &log->header.role[IDM_COLUMN_AVAILABLE];
  uint32_t set = 0;
  if (idm_log_is_missed(log, log->rows)) { /* the available actions do not matter */
    log->available[log->rows] = log->missed_set;
    return IDM_OK;
  }
  if (role->count) {
    const idm_status status = find_set(log, field, &set, opt_error);
    if (status != IDM_OK) return status;
  }
  log->available[log->rows] = set;
  const int32_t action = log->action[log->rows];
  size_t length;
  if (!set || action < 0 || idm_intern_text(&log->available_sets, set, &length)[action])
    return IDM_OK;
  const idm_csv_field cell = idm_log_cell(log, &field[role->column[0]]);
  return idm_fail_at(opt_error, log->file, (long)cell.line, (long)cell.column,
                     "the action taken, '%s', is not among those available: %.*s",
                     log->problem->setting->actions.name[action], IDM_CELL_FORMAT(cell));
}

/* --- utilities, beliefs, covariates --------------------------------------------------------- */

/* Intern log->number[0 .. count - 1] by its bytes. */
static idm_status intern_numbers(idm_log *log, idm_intern *intern, size_t count,
                                 uint32_t *ret_index, idm_error *opt_error)
{
  for (size_t i = 0; i < count; i++) log->number[i] += 0.0; /* -0 becomes 0 */
  if (idm_intern_add(intern, (const char *)log->number, count * sizeof *log->number, ret_index))
    return IDM_OK;
  return idm_fail_memory(opt_error);
}

/* Fail with IDM_INPUT at the cell whose number differs from that of the trajectory's first row. */
static idm_status fail_variant(const idm_log *log, const idm_csv_field *field, uint32_t variant,
                               uint32_t seen, idm_error *opt_error)
{
  const idm_log_role *role = &log->header.role[IDM_ROLE_UTILITY];
  size_t length;
  const char *bytes = idm_intern_text(&log->variants, variant, &length);
  size_t i = 0;
  while (i + 1 < role->count &&
         memcmp(bytes + i * sizeof(double), &log->number[i], sizeof(double)) == 0)
    i++;
  double before;
  memcpy(&before, bytes + i * sizeof before, sizeof before);
  const idm_csv_field *cell = &field[role->column[i]];
  return idm_fail_at(opt_error, log->file, (long)cell->line, (long)cell->column,
                     "'%s' is %g here and %g on line %lu of the same trajectory; a utility must "
                     "stay the same within a trajectory",
                     log->header.name.name[role->column[i]], log->number[i], before,
                     (unsigned long)log->line[seen]);
}

idm_status idm_log_read_utility(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  const idm_log_role *role = &log->header.role[IDM_ROLE_UTILITY];
  idm_log_trajectory *known = &log->known[log->trajectory[log->rows]];
  if (!role->count) return IDM_OK;
  for (size_t i = 0; i < role->count; i++) {
    const idm_csv_field cell = idm_log_cell(log, &field[role->column[i]]);
    const idm_status status =
        idm_log_number(log, &cell, role->column[i], &log->number[i], opt_error);
    if (status != IDM_OK) return status;
  }
  uint32_t variant;
  const idm_status status = intern_numbers(log, &log->variants, role->count, &variant, opt_error);
  if (status != IDM_OK) return status;
  if (known->first_row == log->rows) known->variant = variant;
  if (known->variant == variant) return IDM_OK;
  return fail_variant(log, field, known->variant, known->first_row, opt_error);
}

/* Returns true if this row is the earliest of its trajectory so far. */
static bool is_first(const idm_log *log, const idm_log_trajectory *known)
{
  const size_t count = log->header.role[IDM_COLUMN_TIME].count;
  if (known->first_row == log->rows) return true;
  if (!count) return false;
  const double *now = log->time + log->rows * count;
  const double *then = log->time + known->earliest * count;
  for (size_t i = 0; i < count; i++)
    if (now[i] != then[i]) return now[i] < then[i];
  return false;
}

/* Read the beliefs of a row into log->number. *ret_filled is false if all cells are empty;
 * IDM_INPUT if only some are. */
static idm_status read_cells(idm_log *log, const idm_csv_field *field, bool *ret_filled,
                             idm_error *opt_error)
{
  const idm_log_role *role = &log->header.role[IDM_ROLE_BELIEF];
  const idm_csv_field *empty_cell = NULL;
  size_t filled = 0;
  for (size_t s = 0; s < role->count; s++) {
    const idm_csv_field cell = idm_log_cell(log, &field[role->column[s]]);
    if (!cell.length) {
      empty_cell = &field[role->column[s]];
      continue;
    }
    const idm_status status =
        idm_log_number(log, &cell, role->column[s], &log->number[s], opt_error);
    if (status != IDM_OK) return status;
    filled++;
  }
  *ret_filled = filled > 0;
  if (!filled || !empty_cell) return IDM_OK;
  return idm_fail_at(opt_error, log->file, (long)empty_cell->line, (long)empty_cell->column,
                     "an empty belief on a row with other beliefs; expected a number for every "
                     "state, or none for the setting's own start");
}

idm_status idm_log_read_belief(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  const idm_log_role *role = &log->header.role[IDM_ROLE_BELIEF];
  idm_log_trajectory *known = &log->known[log->trajectory[log->rows]];
  if (!is_first(log, known)) {
    bool given = false;
    for (size_t s = 0; s < role->count; s++)
      given = given || idm_log_cell(log, &field[role->column[s]]).length > 0;
    if (given && !log->later_beliefs++) log->later_line = field[role->column[0]].line;
    return IDM_OK;
  }
  known->earliest = (uint32_t)log->rows;
  known->start = -1;
  if (!role->count) return IDM_OK;
  bool filled;
  idm_status status = read_cells(log, field, &filled, opt_error);
  if (status != IDM_OK || !filled) return status;
  const idm_csv_field *place = &field[role->column[0]];
  const double sum_error = idm_normalise(log->number, role->count);
  if (sum_error < 0) {
    double sum = 0;
    for (size_t s = 0; s < role->count; s++) sum += log->number[s];
    return idm_fail_at(opt_error, log->file, (long)place->line, (long)place->column,
                       "the start belief is no distribution: its entries must be non-negative and "
                       "sum to 1, and they sum to %.9g",
                       sum);
  }
  if (sum_error > 1e-9 && !log->rounded_beliefs++) log->rounded_line = place->line;
  uint32_t start;
  status = intern_numbers(log, &log->starts, role->count, &start, opt_error);
  if (status == IDM_OK) known->start = (int32_t)start;
  return status;
}

idm_status idm_log_read_covariates(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  const idm_log_role *role = &log->header.role[IDM_ROLE_KEEP];
  for (size_t i = 0; i < role->count; i++) {
    const idm_csv_field cell = idm_log_cell(log, &field[role->column[i]]);
    uint32_t level = 0;
    const idm_status status = idm_log_check_name(log, &cell, "the value of a covariate", opt_error);
    if (status != IDM_OK) return status;
    if (cell.length && !idm_intern_add(&log->levels[i], cell.text, cell.length, &level))
      return idm_fail_memory(opt_error);
    log->covariate[log->rows * role->count + i] = cell.length ? (int32_t)level : IDM_MISSING;
  }
  return IDM_OK;
}
