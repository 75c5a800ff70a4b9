/* Writes a first problem file from a table: labels are taken from the table, and placeholders mark
 * what it does not contain.
 *
 * Contents: survey · init */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/log/log.h"
#include "io/problem/yaml.h"
#include "io/yaml/yaml.h"
#include "setting/model.h"

/* === survey ================================================================================= */

/* Schema of a table of unknown meaning, inferred in one pass: columns, labels, final actions of
 * trajectories. */

/* --- columns -------------------------------------------------------------------------------- */

static char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Comparison without regard to case (ASCII). */
static bool same_word(const char *a, const char *b)
{
  while (*a && lower(*a) == lower(*b)) {
    a++;
    b++;
  }
  return lower(*a) == lower(*b);
}

/* Add the column with that name, in any case, to a role. */
static idm_status add_column(idm_log_schema *s, size_t id, const char *name, idm_error *opt_error)
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

/* Names that idm uses by default take precedence over guesses. Trials are often numbered within
 * runs or sessions. */
static idm_status find_columns(idm_log_schema *s, idm_error *opt_error)
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
    s->has_trial = s->header.role[IDM_COLUMN_TRAJECTORY].count >
                   before; /* true for the last of them, `trial` */
  }
  return status;
}

/* --- rows ------------------------------------------------------------------------------------ */

static idm_status check_utf8(const idm_log_schema *s, const idm_csv_field *place, const char *text,
                             size_t length, idm_error *opt_error)
{
  if (idm_utf8_is_printable(text, length)) return IDM_OK;
  return idm_fail_at(
      opt_error, s->file, (long)place->line, (long)place->column,
      "a text that is not UTF-8 without control characters; save the table as UTF-8, "
      "without tabs and ends of lines in its names");
}

/* Index of the label in a cell; -1 if the cell is missing or there is no such column. */
static idm_status read_label(idm_log_schema *s, size_t id, idm_label_column *column,
                             const idm_csv_field *field, int *ret_label, idm_error *opt_error)
{
  const idm_log_role *role = &s->header.role[id];
  *ret_label = -1;
  if (!role->count) return IDM_OK;
  const idm_csv_field cell = idm_cell_trim(field[role->column[0]]);
  if (!cell.length || idm_cell_is_missing_text(cell.text, cell.length)) {
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
                         IDM_CELL_FORMAT(cell));
    if (id == IDM_COLUMN_ACTION && cell.length == 1 && cell.text[0] == '*')
      return idm_fail_at(opt_error, s->file, (long)cell.line, (long)cell.column,
                         "'*' as an action; in a problem file it denotes every action; rename it");
    if (column->labels.count == idm_label_limit)
      return idm_fail_at(opt_error, s->file, (long)cell.line, (long)cell.column,
                         "column '%s' holds more than %d distinct texts (here '%.*s'); it does not "
                         "look like a column of labels",
                         s->header.name.name[role->column[0]], (int)idm_label_limit,
                         IDM_CELL_FORMAT(cell));
    if (!idm_intern_add(&column->labels, cell.text, cell.length, &label))
      return idm_fail_memory(opt_error);
  }
  *ret_label = (int)label;
  return IDM_OK;
}

/* Append the first `columns` cells of an id to `used` bytes of scratch, and intern the result. */
static idm_status read_id(idm_log_schema *s, size_t id, size_t columns, const idm_csv_field *field,
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

/* Action of a trajectory that has no rows yet. */
enum { no_row = -2 };

/* Of this row and the last row so far, mark the action of the earlier one as inner. Time decides
 * which is earlier. */
static idm_status update_endings(idm_division *division, uint32_t trajectory, int action,
                                 double time, idm_error *opt_error)
{
  if (trajectory == division->ending_capacity) {
    const size_t capacity = 2 * division->ending_capacity + 64;
    idm_ending *larger = realloc(division->endings, capacity * sizeof *larger);
    if (!larger) return idm_fail_memory(opt_error);
    for (size_t i = division->ending_capacity; i < capacity; i++)
      larger[i] = (idm_ending){.action = no_row};
    division->endings = larger;
    division->ending_capacity = capacity;
  }
  idm_ending *last = &division->endings[trajectory];
  const bool is_first = last->action == no_row;
  const bool later = is_first || time >= last->time;
  const int inner_action = later ? last->action : action;
  if (!is_first && inner_action >= 0) division->is_inner[inner_action] = true;
  if (later) *last = (idm_ending){action, time};
  return IDM_OK;
}

/* Add the row to its trajectory, identified by the agent's id, which is in the scratch, and the
 * first `columns` columns of the trajectory's id. */
static idm_status add_to_division(idm_log_schema *s, idm_division *division, size_t columns,
                                  const idm_csv_field *field, size_t used, idm_ending row,
                                  idm_error *opt_error)
{
  uint32_t trajectory = 0;
  const idm_status status = read_id(s, IDM_COLUMN_TRAJECTORY, columns, field, used,
                                    &division->trajectories, &trajectory, opt_error);
  if (status == IDM_OK && s->rows) division->adjacent_rows += trajectory == division->last;
  division->last = trajectory;
  return status == IDM_OK ? update_endings(division, trajectory, row.action, row.time, opt_error)
                          : status;
}

static idm_status read_row(idm_log_schema *s, const idm_csv_field *field, idm_error *opt_error)
{
  int action;
  int observation;
  idm_status status = read_label(s, IDM_COLUMN_ACTION, &s->actions, field, &action, opt_error);
  if (status == IDM_OK)
    status =
        read_label(s, IDM_COLUMN_OBSERVATION, &s->observations, field, &observation, opt_error);
  double time = 0;
  const idm_log_role *time_role = &s->header.role[IDM_COLUMN_TIME];
  if (status == IDM_OK && time_role->count) {
    const idm_csv_field cell = idm_cell_trim(field[time_role->column[0]]);
    if (!idm_cell_number(&cell, &time))
      status = idm_fail_at(opt_error, s->file, (long)cell.line, (long)cell.column,
                           "'%.*s' in column '%s'; expected a finite number", IDM_CELL_FORMAT(cell),
                           s->header.name.name[time_role->column[0]]);
  }
  uint32_t agent = 0;
  const size_t columns = s->header.role[IDM_COLUMN_TRAJECTORY].count;
  if (status == IDM_OK)
    status = read_id(s, IDM_COLUMN_AGENT, s->header.role[IDM_COLUMN_AGENT].count, field, 0,
                     &s->agents, &agent, opt_error);
  /* The scratch contains the agent's id already; agent and id identify a trajectory. */
  size_t length = 0;
  const idm_ending row = {action, time};
  if (status == IDM_OK) {
    idm_intern_text(&s->agents, agent, &length);
    status = add_to_division(s, &s->division, columns, field, length, row, opt_error);
  }
  if (status == IDM_OK && s->has_trial)
    status = add_to_division(s, &s->coarser_division, columns - 1, field, length, row, opt_error);
  s->rows++;
  return status;
}

/* A column `trial` numbers the rows of longer trajectories, and is removed from the id, if it makes
 * every row a trajectory of its own, or changes on every row of a table without a time column:
 * rows 1, 2, 3, 1, 2, 3 are two blocks, not three trajectories of two rows. */
static void drop_row_counter(idm_log_schema *s)
{
  const bool single = s->division.trajectories.count == s->rows;
  const bool changing = !s->division.adjacent_rows && !s->header.role[IDM_COLUMN_TIME].count;
  if (!s->has_trial || (!single && !changing) || s->coarser_division.trajectories.count == s->rows)
    return;
  const idm_division rows = s->division;
  s->division = s->coarser_division;
  s->coarser_division = rows;
  s->header.role[IDM_COLUMN_TRAJECTORY].count--;
  s->counts_rows = true;
}

static int compare_labels(const void *a, const void *b)
{
  const char *x = *(const char *const *)a;
  const char *y = *(const char *const *)b;
  const size_t m = strlen(x);
  const size_t n = strlen(y);
  /* Whole numbers by value, so that 10 comes after 2. */
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

idm_status idm_log_schema_infer(idm_log_schema *s, idm_csv *csv, idm_error *opt_error)
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
  if (status == IDM_OK) drop_row_counter(s);
  if (status == IDM_OK) status = sort_labels(&s->actions, opt_error);
  if (status == IDM_OK) status = sort_labels(&s->observations, opt_error);
  return status;
}

void idm_log_schema_clear(idm_log_schema *s)
{
  idm_label_column *const columns[] = {&s->actions, &s->observations};
  for (size_t c = 0; c < 2; c++) {
    for (size_t i = 0; i < columns[c]->count; i++) free(columns[c]->sorted[i]);
    idm_intern_clear(&columns[c]->labels);
  }
  idm_intern_clear(&s->missing);
  idm_intern_clear(&s->agents);
  for (size_t i = 0; i < 2; i++) {
    idm_division *division = i ? &s->coarser_division : &s->division;
    idm_intern_clear(&division->trajectories);
    free(division->endings);
  }
  idm_log_header_destroy(&s->header);
  free(s->scratch);
}

size_t idm_log_schema_endings(const idm_log_schema *s, const char *ret_action[idm_label_limit])
{
  size_t count = 0;
  const bool has_ids =
      s->header.role[IDM_COLUMN_AGENT].count || s->header.role[IDM_COLUMN_TRAJECTORY].count;
  for (size_t i = 0; i < s->actions.count && has_ids; i++) {
    const char *action = s->actions.sorted[i];
    if (!s->division.is_inner[idm_intern_find(&s->actions.labels, action, strlen(action))])
      ret_action[count++] = action;
  }
  return count;
}

/* === init ===================================================================================== */

/* The file, and the first error, after which the file is abandoned. */
typedef struct problem_writer {
  idm_file *file;
  idm_error error;
} problem_writer;

static void put(problem_writer *out, const char *words)
{
  idm_file_write(out->file, words, strlen(words));
}

static void put_text(problem_writer *out, const char *text)
{
  char *piece;
  if (idm_emit_text_piece(text, &piece, &out->error) == IDM_OK) put(out, piece);
  free(piece);
}

static void put_list(problem_writer *out, const char *const *text, size_t count)
{
  char *piece;
  if (idm_emit_texts_piece(text, count, &piece, &out->error) == IDM_OK) put(out, piece);
  free(piece);
}

/* Write the name of the table without folder and extension. */
static void put_name(problem_writer *out, const char *path)
{
  const char *slash = strrchr(path, '/');
  const char *file = strcmp(path, "-") == 0 ? "data" : slash ? slash + 1 : path;
  const char *dot = strrchr(file, '.');
  char *name = idm_text_copy(file, dot && dot > file ? (size_t)(dot - file) : strlen(file));
  if (!name) {
    (void)idm_fail_memory(&out->error);
    return;
  }
  for (char *c = name; *c; c++) {
    const bool kept = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                      (*c >= '0' && *c <= '9') || *c == '-';
    if (!kept) *c = '_';
  }
  put(out, "name: ");
  put_text(out, name);
  put(out, "\n");
  free(name);
}

/* Write a placeholder for what a table does not contain. */
static void put_placeholder(problem_writer *out, const char *key)
{
  put(out, key);
  put(out, ": " IDM_PLACEHOLDER "\n");
}

static void put_labels(problem_writer *out, const char *key, const idm_label_column *column,
                       const char *words)
{
  if (!column->count) {
    put(out, words);
    put_placeholder(out, key);
    return;
  }
  put(out, key);
  put(out, ": ");
  put_list(out, (const char *const *)column->sorted, column->count);
  put(out, "\n");
}

static void put_spaces(problem_writer *out, const idm_log_schema *s)
{
  put(out, "\n# FILL IN: hidden states, which the agent infers: a list of names.\n");
  put_placeholder(out, "states");
  put(out, "\n");
  put_labels(out, "actions", &s->actions,
             "# FILL IN: actions: a list. No column of actions was found.\n");
  put_labels(
      out, "observations", &s->observations,
      "\n# FILL IN: observations after an action: a list. No column of observations was found.\n");
}

static void put_episode(problem_writer *out, const idm_log_schema *s)
{
  const char *endings[idm_label_limit];
  const size_t count = idm_log_schema_endings(s, endings);
  put(out, "\n# FILL IN: belief before the first action: one number per state, or uniform.\n");
  put_placeholder(out, "start");
  put(out, "\n# FILL IN: discount factor per step, from 0 to below 1; or 1, with a horizon.\n");
  put_placeholder(out, "discount");
  put(out, "\n# Check: actions after which a trajectory stops. Listed are those that occur on last "
           "rows only.\n"
           "# If such an action also ends the decision problem itself, use 'terminal' in place of "
           "'ends'.\n"
           "ends: ");
  put_list(out, endings, count);
  put(out, "\n");
}

static void put_dynamics(problem_writer *out, const idm_log_schema *s)
{
  put(out,
      "\n# FILL IN: transition probabilities: one matrix per action, rows the state before, "
      "columns the\n"
      "# state after; 'identity' if the state does not change. \"*\" is every action not named.\n"
      "transition: {\"*\": " IDM_PLACEHOLDER "}\n\n"
      "# FILL IN: observation probabilities: one matrix per action, rows the state after it, "
      "columns the\n"
      "# observations in the order above; each row sums to 1. If they depend on the state before, "
      "add\n"
      "# 'observation_from: before'.\n"
      "observation: {\"*\": " IDM_PLACEHOLDER "}\n\n"
      "# FILL IN: utility of an action: one number, or a list with one per state.\n"
      "utility:\n");
  for (size_t i = 0; i < s->actions.count; i++) {
    put(out, "  ");
    put_text(out, s->actions.sorted[i]);
    put_placeholder(out, "");
  }
  if (!s->actions.count) put_placeholder(out, "  \"*\"");
}

static bool is_integer(const char *text)
{
  return text[0] && text[strspn(text, "0123456789")] == '\0';
}

/* Write a comment on codes, if all labels are whole numbers. */
static void put_codes(problem_writer *out, const char *key, const idm_label_column *column)
{
  bool whole = column->count > 0;
  for (size_t i = 0; i < column->count; i++) whole = whole && is_integer(column->sorted[i]);
  if (!whole) return;
  put(out, "  # The numbers are used as names. To replace them, list better names above and map "
           "the numbers:\n"
           "  # codes: {");
  put(out, key);
  put(out, ": {");
  for (size_t i = 0; i < column->count; i++) {
    put(out, i ? ", " : "");
    put(out, column->sorted[i]);
    put(out, ": NAME");
  }
  put(out, "}}\n");
}

static void put_missing(problem_writer *out, const idm_log_schema *s)
{
  if (!s->missing.count) return;
  const char *texts[64];
  char *owned[64];
  size_t count = 0;
  for (uint32_t i = 0; i < s->missing.count && count < 64; i++) {
    size_t length;
    const char *text = idm_intern_text(&s->missing, i, &length);
    owned[count] = idm_text_copy(text, length);
    if (!owned[count]) (void)idm_fail_memory(&out->error);
    if (owned[count]) texts[count] = owned[count], count++;
  }
  put(out, "  # Check: texts that mark missing values (observed by the agent, not recorded). If "
           "one means\n"
           "  # that the agent observed nothing, list it as an observation instead.\n"
           "  missing: ");
  put_list(out, texts, count);
  put(out, "\n");
  for (size_t i = 0; i < count; i++) free(owned[i]);
}

static void put_columns(problem_writer *out, const idm_log_schema *s)
{
  put(out, "\n# Columns by role; a list joins several columns.\n");
  const bool grouped =
      s->header.role[IDM_COLUMN_AGENT].count || s->header.role[IDM_COLUMN_TRAJECTORY].count;
  put(out, "data:\n");
  if (!grouped) {
    put(out, "  # FILL IN: no column assigns rows to trajectories: name it, as the trajectory or "
             "the agent.\n");
    put_placeholder(out, "  trajectory");
  }
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    const idm_log_role *role = &s->header.role[c];
    if (!role->count && info->required) {
      put(out, "  # FILL IN: the name of a column.\n"
               "  ");
      put_placeholder(out, info->key);
    }
    if (!role->count) continue;
    put(out, "  ");
    put(out, info->key);
    put(out, ": ");
    /* One column, or up to four for a trajectory. */
    const char *names[sizeof info->names / sizeof info->names[0]];
    for (size_t i = 0; i < role->count; i++) names[i] = s->header.name.name[role->column[i]];
    if (role->count > 1)
      put_list(out, names, role->count);
    else
      put_text(out, names[0]);
    put(out, "\n");
  }
  put_codes(out, "action", &s->actions);
  put_codes(out, "observation", &s->observations);
  put_missing(out, s);
}

static void put_problem(problem_writer *out, const idm_log_schema *s, const char *path)
{
  put(out,
      "# A first problem file. The labels are those of the table; what the table does not contain "
      "is marked by a\n"
      "# comment that begins with \"FILL IN:\", and " IDM_PLACEHOLDER " is its placeholder.\n");
  put_name(out, path);
  put_spaces(out, s);
  put_episode(out, s);
  put_dynamics(out, s);
  put(out, "\n# Check: initial agent. 1/alpha: flexibility of its policy; 1/beta: optimism about "
           "its models\n"
           "# (beta inf: neutral); 1/eta: adaptivity of its beliefs.\n"
           "agent: {planner: bounded-rational, alpha: 1, beta: inf, eta: 0}\n\n"
           "# Check: free parameters of a fit, and their priors.\n"
           "free: {alpha: {scale: log, prior: {normal: [0, 2]}}}\n");
  put_columns(out, s);
}

static void add_notes(const idm_log_schema *s, idm_notes *opt_notes)
{
  const bool agents = s->header.role[IDM_COLUMN_AGENT].count;
  const bool trajectories = s->header.role[IDM_COLUMN_TRAJECTORY].count;
  idm_notes_add(
      opt_notes,
      "rows: %zu, trajectories: %lu, agents: %lu; empty cells: %zu of the action, %zu of the "
      "observation",
      s->rows, (unsigned long)s->division.trajectories.count, (unsigned long)s->agents.count,
      s->actions.missing, s->observations.missing);
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    const idm_log_role *role = &s->header.role[c];
    for (size_t i = 0; i < role->count; i++) {
      const char *name = s->header.name.name[role->column[i]];
      bool guess = true;
      for (size_t d = 0; d < info->defaults; d++)
        guess = guess && strcmp(name, info->names[d]) != 0;
      idm_notes_add(opt_notes, "column '%.200s' is taken for %s%s", name, info->what,
                    guess ? " (a guess: check it)" : "");
    }
    if (!role->count && info->required)
      idm_notes_add(opt_notes, "no column looks like %s; name it under data: in the problem file",
                    info->what);
  }
  for (uint32_t i = 0; i < s->missing.count; i++) {
    size_t length;
    const char *text = idm_intern_text(&s->missing, i, &length);
    idm_notes_add(opt_notes,
                  "'%.*s' is taken for what was not recorded (data.missing in the problem file: "
                  "check it)",
                  (int)length, text);
  }
  if (s->counts_rows)
    idm_notes_add(opt_notes, "column 'trial' changes on every row: it is "
                             "taken for the number of the row, not for the trajectory");
  if (!agents && !trajectories)
    idm_notes_add(
        opt_notes,
        "no column assigns rows to trajectories; name one under data: in the problem file");
  else if (!agents)
    idm_notes_add(opt_notes, "no column looks like the agent; all trajectories are one agent's");
  else if (!trajectories)
    idm_notes_add(opt_notes,
                  "no column looks like the trajectory; each agent's rows are one trajectory");
}

static idm_status write_problem(const idm_log_schema *s, const char *data_path,
                                const char *problem_path, idm_error *opt_error)
{
  problem_writer out = {0};
  const idm_status status = idm_file_create(problem_path, &out.file, opt_error);
  if (status != IDM_OK) return status;
  put_problem(&out, s, data_path);
  if (out.error.status == IDM_OK) return idm_file_commit(out.file, opt_error);
  idm_file_abandon(out.file);
  if (opt_error) *opt_error = out.error;
  return out.error.status;
}

idm_status idm_init_write(const char *data_path, const char *problem_path, idm_notes *opt_notes,
                          idm_error *opt_error)
{
  idm_require(data_path, problem_path);
  const bool standard = strcmp(data_path, "-") == 0;
  FILE *stream = standard ? stdin : fopen(data_path, "rb");
  if (!stream)
    return idm_fail(opt_error, IDM_INPUT, "cannot open '%s': %s", data_path, strerror(errno));
  idm_log_schema s = {.file = standard ? "standard input" : data_path};
  idm_csv *csv;
  idm_status status = idm_csv_open_stream(stream, s.file, &csv, opt_error);
  if (status == IDM_OK) status = idm_log_schema_infer(&s, csv, opt_error);
  if (status == IDM_OK) status = write_problem(&s, data_path, problem_path, opt_error);
  if (status == IDM_OK) add_notes(&s, opt_notes);
  idm_csv_close(csv);
  idm_log_schema_clear(&s);
  if (!standard) fclose(stream);
  return status;
}
