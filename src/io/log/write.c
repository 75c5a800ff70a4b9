/* Writes evidence as CSV that idm_data_read_csv reads back with the same problem.
 *
 * Contents: layout · write */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/log.h"
#include "idm/extension/data.h"
#include "io/csv.h"
#include "io/file.h"
#include "io/log/log.h"
#include "io/log_file.h"
#include "setting/model.h"

/* === layout =================================================================================== */

/* Columns of a log to be written, with the names that the problem maps. */

static const char belief_prefix[] = "belief.";

static void idm_layout_destroy(idm_layout *layout)
{
  for (size_t i = 0; i < layout->count; i++) free(layout->column[i].name);
  free(layout->column);
  *layout = (idm_layout){0};
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

bool idm_layout_piece(const char *text, size_t count, size_t part, const char **ret_piece,
                      size_t *ret_length)
{
  for (size_t i = 0; i < count; i++) {
    const size_t length = i + 1 < count ? strcspn(text, "/") : strlen(text);
    if (!length || is_blank(text[0]) || is_blank(text[length - 1])) return false;
    if (i + 1 < count && !text[length]) return false;
    if (i == part) {
      *ret_piece = text;
      *ret_length = length;
    }
    text += length + 1;
  }
  return true;
}

/* --- creation -------------------------------------------------------------------------------- */

static const char *what_of(size_t role)
{
  return role < IDM_COLUMN_COUNT    ? idm_column_describe((idm_column)role)->what
         : role == IDM_ROLE_UTILITY ? "a utility"
         : role == IDM_ROLE_BELIEF  ? "a start belief"
         : role == IDM_LAYOUT_STATE ? "the hidden state"
                                    : "the step";
}

static const idm_layout_column *find(const idm_layout *layout, const char *name)
{
  for (size_t i = 0; i < layout->count; i++)
    if (strcmp(layout->column[i].name, name) == 0) return &layout->column[i];
  return NULL;
}

static idm_status add(idm_layout *layout, const char *name, size_t role, size_t part,
                      idm_error *opt_error)
{
  const idm_layout_column *taken = find(layout, name);
  if (taken)
    return idm_fail(opt_error, IDM_INPUT,
                    "the column '%s' cannot hold both %s and %s; map one of them to another column "
                    "under `data:`",
                    name, what_of(taken->role), what_of(role));
  idm_layout_column *larger = realloc(layout->column, (layout->count + 1) * sizeof *layout->column);
  if (larger) layout->column = larger;
  char *own = larger ? idm_text_copy(name, strlen(name)) : NULL;
  if (!own) return idm_fail_memory(opt_error);
  layout->column[layout->count++] = (idm_layout_column){own, role, part};
  return IDM_OK;
}

static idm_status add_role(idm_layout *layout, const idm_columns *columns, idm_column role,
                           idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < idm_columns_count(columns, role) && status == IDM_OK; i++) {
    if (role == IDM_COLUMN_TRAJECTORY && idm_columns_shared(columns, role, i, IDM_COLUMN_AGENT))
      continue;
    status = add(layout, idm_columns_name(columns, role, i), role, i, opt_error);
  }
  return status;
}

static bool has_sets(const idm_data *data)
{
  for (size_t row = 0; row < data->rows; row++)
    if (data->available[row] && !idm_data_missed(data, row)) return true;
  return false;
}

/* Returns true if a trajectory has a start belief other than the setting's. */
static bool has_beliefs(const idm_data *data, const idm_setting *setting)
{
  const size_t k = data->sizes.states;
  for (size_t i = 0; i < data->trajectories; i++)
    if (data->start[i] >= 0 && memcmp(data->start_belief + (size_t)data->start[i] * k,
                                      setting->start, k * sizeof *setting->start) != 0)
      return true;
  return false;
}

/* Returns true if states are observed and recorded on every first row, so that they determine the
 * starts. */
static bool starts_are_states(const idm_data *data, const idm_setting *setting)
{
  if (!setting->fully_observed || !data->state) return false;
  for (size_t i = 0; i < data->trajectories; i++)
    if (data->state[data->first[i]] < 0) return false;
  return true;
}

static idm_status add_beliefs(idm_layout *layout, const idm_labels *states, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t s = 0; s < states->count && status == IDM_OK; s++) {
    char number[24];
    const char *state = states->name[s];
    /* The reader trims blanks at the end of a header, and accepts an index for such a state. */
    snprintf(number, sizeof number, "%zu", s);
    if (!*state || is_blank(state[strlen(state) - 1])) state = number;
    const size_t size = sizeof belief_prefix + strlen(state);
    char *name = idm_new(size, 1);
    if (!name) return idm_fail_memory(opt_error);
    snprintf(name, size, "%s%s", belief_prefix, state);
    status = add(layout, name, IDM_ROLE_BELIEF, s, opt_error);
    free(name);
  }
  return status;
}

/* Add the evidence that the problem maps, and that which the data contain in addition. */
static idm_status add_evidence(idm_layout *layout, const idm_data *data, const idm_columns *columns,
                               idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t c = 0; c < IDM_COLUMN_COUNT && status == IDM_OK; c++)
    if (idm_column_describe((idm_column)c)->evidence &&
        (columns->role[c].count || data->number[c] || data->label[c]))
      status = add_role(layout, columns, (idm_column)c, opt_error);
  return status;
}

/* IDM_INPUT if the reader would map a role that is not written to another column by its default
 * name. */
static idm_status check_defaults(const idm_layout *layout, const idm_columns *columns,
                                 const idm_setting *setting, idm_error *opt_error)
{
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    bool written =
        info->evidence || columns->role[c].count || !idm_column_applies((idm_column)c, setting);
    for (size_t i = 0; i < layout->count; i++) written = written || layout->column[i].role == c;
    for (size_t i = 0; i < info->defaults && !written; i++) {
      const idm_layout_column *taken = find(layout, info->names[i]);
      if (taken)
        return idm_fail(opt_error, IDM_INPUT,
                        "the column '%s' holds %s and would be read as %s too; map %s under "
                        "`data:`",
                        taken->name, what_of(taken->role), info->what, info->key);
    }
  }
  return IDM_OK;
}

/* Columns of evidence, in the order in which they are written. A column shared by agent and
 * trajectory is written once, as the agent's. IDM_INPUT if the log would not be read as it is
 * written: a column with two roles, or one that the reader maps to another role by default. */
static idm_status idm_layout_create(idm_layout *layout, const idm_data *data,
                                    const idm_problem *problem, idm_error *opt_error)
{
  const idm_columns *columns = &problem->columns;
  const bool states = starts_are_states(data, problem->setting);
  idm_status status = add_role(layout, columns, IDM_COLUMN_AGENT, opt_error);
  if (status == IDM_OK) status = add_role(layout, columns, IDM_COLUMN_TRAJECTORY, opt_error);
  const size_t ids = layout->count;
  if (status == IDM_OK && columns->role[IDM_COLUMN_TIME].count)
    status = add_role(layout, columns, IDM_COLUMN_TIME, opt_error);
  if (status == IDM_OK && states) status = add_role(layout, columns, IDM_COLUMN_STATE, opt_error);
  if (status == IDM_OK) status = add_role(layout, columns, IDM_COLUMN_ACTION, opt_error);
  if (status == IDM_OK) status = add_role(layout, columns, IDM_COLUMN_OBSERVATION, opt_error);
  if (status == IDM_OK && !states && has_beliefs(data, problem->setting))
    status = add_beliefs(layout, &problem->setting->states, opt_error);
  if (status == IDM_OK && (columns->role[IDM_COLUMN_AVAILABLE].count || has_sets(data)))
    status = add_role(layout, columns, IDM_COLUMN_AVAILABLE, opt_error);
  for (size_t c = 0; c < columns->utility.count && status == IDM_OK; c++)
    status = add(layout, columns->utility.name[c], IDM_ROLE_UTILITY, c, opt_error);
  if (status == IDM_OK) status = add_evidence(layout, data, columns, opt_error);
  if (status == IDM_OK && data->state && !problem->setting->fully_observed)
    status = add(layout, "state", IDM_LAYOUT_STATE, 0, opt_error);
  if (status == IDM_OK) status = check_defaults(layout, columns, problem->setting, opt_error);
  /* The step is for human readers; a column with the same name takes precedence. */
  if (status == IDM_OK && !columns->role[IDM_COLUMN_TIME].count && !find(layout, "step")) {
    status = add(layout, "step", IDM_LAYOUT_STEP, 0, opt_error);
    if (status != IDM_OK) return status;
    const idm_layout_column step = layout->column[layout->count - 1];
    memmove(layout->column + ids + 1, layout->column + ids,
            (layout->count - 1 - ids) * sizeof *layout->column);
    layout->column[ids] = step;
  }
  return status;
}

/* === write ==================================================================================== */

/* --- cells ---------------------------------------------------------------------------------- */

/* Texts of cells, built once and written many times. */
typedef struct text_list {
  size_t count;
  size_t *offset; /* [count + 2]: the last is the end of the cell being built */
  char *text;
  size_t capacity;
} text_list;

static void destroy_cells(text_list *list)
{
  free(list->offset);
  free(list->text);
}

/* Allocate `count` cells. */
static bool create_cells(text_list *list, size_t count)
{
  *list = (text_list){.offset = idm_new(count + 2, sizeof *list->offset)};
  return list->offset;
}

/* Append to the cell being built. */
static bool append(text_list *list, const char *text, size_t length)
{
  const size_t used = list->offset[list->count + 1];
  if (used + length > list->capacity) {
    char *larger = realloc(list->text, 2 * (used + length) + 64);
    if (!larger) return false;
    list->text = larger;
    list->capacity = 2 * (used + length) + 64;
  }
  if (list->text) memcpy(list->text + used, text, length);
  list->offset[list->count + 1] = used + length;
  return true;
}

static void end_cell(text_list *list)
{
  list->count++;
  list->offset[list->count + 1] = list->offset[list->count];
}

static bool needs_quotes(const char *text)
{
  return text[strcspn(text, IDM_CSV_SPECIAL)] != '\0';
}

static bool append_quoted(text_list *list, const char *text)
{
  if (!needs_quotes(text)) return append(list, text, strlen(text));
  bool whole = append(list, "\"", 1);
  for (; *text && whole; text++)
    whole = append(list, text, 1) && (*text != '"' || append(list, text, 1));
  return whole && append(list, "\"", 1);
}

static void put_cell(idm_csv_writer *out, const text_list *list, size_t index)
{
  idm_csv_writer_put(out, list->text + list->offset[index],
                     list->offset[index + 1] - list->offset[index]);
}

static void put_text(idm_csv_writer *out, const char *text)
{
  idm_csv_writer_text(out, text, strlen(text));
}

/* --- numbers that are not read as missing ---------------------------------------------------- */

enum { max_digits = 96 };

/* Index of a name in a list, or the length of the list. */
static size_t place_of(const idm_labels *labels, const char *name, size_t length)
{
  size_t i = 0;
  while (i < labels->count &&
         (strlen(labels->name[i]) != length || strncmp(labels->name[i], name, length) != 0))
    i++;
  return i;
}

static bool is_missing(const idm_labels *missing, const char *text, size_t length)
{
  return place_of(missing, text, length) < missing->count;
}

/* Prefix a number with zeros until its text is none of those that mark a missing value. Returns its
 * length. */
static size_t spell_number(const idm_labels *missing, char *text, size_t length, size_t size)
{
  const size_t sign = text[0] == '-';
  while (missing->count && length + 1 < size && is_missing(missing, text, length)) {
    memmove(text + sign + 1, text + sign, length - sign);
    text[sign] = '0';
    length++;
  }
  return length;
}

static size_t number_text(const idm_labels *missing, double value, char *text, size_t size)
{
  return spell_number(missing, text, (size_t)idm_number_text(value, text, size), size);
}

/* --- names that can be read back ------------------------------------------------------------- */

/* Returns true if a label, written to `columns` columns, is read back unchanged. */
static bool is_plain(const char *name, size_t columns, const char *forbidden)
{
  const char *piece;
  size_t length;
  return idm_layout_piece(name, columns, 0, &piece, &length) &&
         name[strcspn(name, forbidden)] == '\0';
}

/* Text of a label: the label itself, or its index, written to number [size], if the label would not
 * be read back. */
static idm_status spell_label(const idm_labels *labels, size_t index, size_t columns,
                              const char *forbidden, char *number, size_t size,
                              const char **ret_text, idm_error *opt_error)
{
  const char *name = labels->name[index];
  *ret_text = name;
  if (is_plain(name, columns, forbidden)) return IDM_OK;
  snprintf(number, size, "%zu", index);
  *ret_text = number;
  if (columns == 1 && idm_labels_find(labels, number, strlen(number)) == (long)index) return IDM_OK;
  if (columns > 1)
    return idm_fail(opt_error, IDM_INPUT,
                    "the label '%s' cannot be written in %zu columns: expected as many parts, "
                    "joined by '/'",
                    name, columns);
  return idm_fail(opt_error, IDM_INPUT, "the label '%s' cannot be written in a CSV file", name);
}

/* Code of a label; NULL if it has none, or if a reader would take the code for another label, which
 * takes precedence. */
static const char *coded(const idm_code *opt_code, const idm_labels *labels, size_t index,
                         char *number, size_t size)
{
  const char *text = NULL;
  if (!opt_code) return NULL;
  snprintf(number, size, "%zu", index);
  if (opt_code->index) text = number;
  for (size_t i = 0; i < opt_code->text.count && !text; i++)
    if (strcmp(opt_code->target_label.name[i], labels->name[index]) == 0)
      text = opt_code->text.name[i];
  const size_t same = text ? place_of(labels, text, strlen(text)) : labels->count;
  return same == labels->count || same == index ? text : NULL;
}

/* Texts of a role's labels in one of its columns. */
typedef struct column_text {
  const idm_code *opt_code;
  idm_labels levels; /* levels that the codes map to: distinct parts of labels; borrowed if this is
                        the only column, empty without codes */
} column_text;

/* Append the code of a cell, or its own text if it has no code. IDM_INPUT if the text marks a
 * missing value. */
static idm_status append_label(const column_text *column, const idm_labels *missing,
                               const char *piece, size_t length, text_list *list,
                               idm_error *opt_error)
{
  char number[24];
  const size_t level = place_of(&column->levels, piece, length);
  const char *text = level < column->levels.count
                         ? coded(column->opt_code, &column->levels, level, number, sizeof number)
                         : NULL;
  if (text && is_missing(missing, text, strlen(text))) text = NULL;
  if (!text && is_missing(missing, piece, length))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%.*s' would be read as not recorded: it is one of the texts of data.missing",
                    (int)length, piece);
  char *own = text ? idm_text_copy(text, strlen(text)) : idm_text_copy(piece, length);
  const bool appended = own && append_quoted(list, own);
  free(own);
  end_cell(list);
  return appended ? IDM_OK : idm_fail_memory(opt_error);
}

/* Append one cell per label and column: label i in column c has index i * columns + c. */
static idm_status append_labels(const idm_labels *labels, const column_text *column, size_t columns,
                                const idm_labels *missing, text_list *list, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < labels->count && status == IDM_OK; i++) {
    char number[24];
    const char *text;
    status = spell_label(labels, i, columns, "", number, sizeof number, &text, opt_error);
    for (size_t c = 0; c < columns && status == IDM_OK; c++) {
      const char *piece = text;
      size_t length = strlen(text);
      idm_layout_piece(text, columns, c, &piece, &length);
      status = append_label(&column[c], missing, piece, length, list, opt_error);
    }
  }
  return status;
}

static idm_status make_labels(const idm_labels *labels, const idm_columns *map, idm_column role,
                              text_list *list, idm_error *opt_error)
{
  const size_t columns = idm_columns_count(map, role);
  const idm_codes *codes = &map->codes[role];
  /* As in idm_label_decoder_create: codes of whole labels do not apply to parts in several columns.
   */
  const bool coded_by_column =
      columns == 1 || codes->count > 1 || (codes->count == 1 && codes->code[0].index);
  column_text *column = idm_new(columns, sizeof *column);
  idm_status status = column && create_cells(list, idm_times(labels->count, columns))
                          ? IDM_OK
                          : idm_fail_memory(opt_error);
  for (size_t c = 0; c < columns && status == IDM_OK; c++) {
    if (!codes->count || !coded_by_column) break;
    column[c].opt_code = &codes->code[codes->count == 1 ? 0 : c];
    if (columns == 1)
      column[c].levels = *labels;
    else
      status = idm_labels_level(labels, columns, c, &column[c].levels, opt_error);
  }
  if (status == IDM_OK)
    status = append_labels(labels, column, columns, &map->missing, list, opt_error);
  for (size_t c = 0; column && columns > 1 && c < columns; c++)
    idm_labels_destroy(&column[c].levels);
  free(column);
  return status;
}

static idm_status make_states(const idm_labels *states, text_list *list, idm_error *opt_error)
{
  if (!create_cells(list, states->count)) return idm_fail_memory(opt_error);
  for (size_t s = 0; s < states->count; s++) {
    if (!append_quoted(list, states->name[s])) return idm_fail_memory(opt_error);
    end_cell(list);
  }
  return IDM_OK;
}

/* One cell per set: its actions joined by '|'; empty for the set of all actions. */
static idm_status make_sets(const idm_data *data, const idm_setting *setting, text_list *list,
                            idm_error *opt_error)
{
  const size_t actions = data->sizes.actions;
  if (!create_cells(list, data->available_sets)) return idm_fail_memory(opt_error);
  text_list joined;
  if (!create_cells(&joined, 1)) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < data->available_sets && status == IDM_OK; i++) {
    joined.offset[1] = 0;
    for (size_t u = 0; u < actions && i && status == IDM_OK; u++) {
      if (!data->available_set[i * actions + u]) continue;
      char number[24];
      const char *text;
      status = spell_label(&setting->actions, u, 1, "|", number, sizeof number, &text, opt_error);
      if (status == IDM_OK &&
          ((joined.offset[1] && !append(&joined, "|", 1)) || !append(&joined, text, strlen(text))))
        status = idm_fail_memory(opt_error);
    }
    if (status == IDM_OK && !(append(&joined, "", 1) && append_quoted(list, joined.text)))
      status = idm_fail_memory(opt_error);
    end_cell(list);
  }
  destroy_cells(&joined);
  return status;
}

/* One cell per start and state. The last start is the setting's own; its cells are empty. */
static idm_status make_starts(const idm_data *data, const idm_problem *problem, text_list *list,
                              idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  const size_t states = data->sizes.states;
  if (!create_cells(list, (data->starts + 1) * states)) return idm_fail_memory(opt_error);
  for (size_t i = 0; i <= data->starts; i++) {
    const double *belief = i < data->starts ? data->start_belief + i * states : setting->start;
    const bool own = memcmp(belief, setting->start, states * sizeof *belief) == 0;
    for (size_t s = 0; s < states; s++) {
      char number[max_digits];
      const size_t length =
          own ? 0 : number_text(&problem->columns.missing, belief[s], number, sizeof number);
      if (!append(list, number, length)) return idm_fail_memory(opt_error);
      end_cell(list);
    }
  }
  return IDM_OK;
}

/* One cell per variant and utility column. */
static idm_status make_utilities(const idm_data *data, const idm_labels *missing, text_list *list,
                                 idm_error *opt_error)
{
  const size_t count = idm_times(data->variants, data->columns);
  if (!create_cells(list, count)) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++) {
    char number[max_digits];
    const size_t length = number_text(missing, data->variant_value[i], number, sizeof number);
    if (!append(list, number, length)) return idm_fail_memory(opt_error);
    end_cell(list);
  }
  return IDM_OK;
}

/* --- rows ----------------------------------------------------------------------------------- */

typedef struct writer {
  const idm_data *data;
  const idm_problem *problem;
  idm_layout layout;
  text_list actions;
  text_list observations;
  text_list states;
  text_list sets;
  text_list starts;
  text_list utilities;
  bool split_agents;       /* the agents' names have one part per column */
  bool split_trajectories; /* the trajectories' names have one part per column */
  idm_csv_writer out;
} writer;

/* Returns true if every name of an id has one part for each of its columns. */
static bool splits(const idm_labels *names, size_t count, size_t columns)
{
  const char *piece;
  size_t length;
  bool whole = names->count && names->count == count;
  for (size_t i = 0; i < names->count && whole; i++) {
    whole = idm_layout_piece(names->name[i], columns, 0, &piece, &length);
    /* With several parts, none may contain '/': two ids could become equal. */
    size_t slashes = 0;
    for (const char *c = names->name[i]; *c; c++) slashes += *c == '/';
    whole = whole && (columns == 1 || slashes + 1 == columns);
  }
  return whole;
}

static void put_number(writer *w, double value)
{
  char text[max_digits];
  idm_csv_writer_put(&w->out, text,
                     number_text(&w->problem->columns.missing, value, text, sizeof text));
}

static void put_integer(writer *w, size_t number)
{
  char text[max_digits];
  const size_t length = (size_t)snprintf(text, sizeof text, "%zu", number);
  idm_csv_writer_put(&w->out, text,
                     spell_number(&w->problem->columns.missing, text, length, sizeof text));
}

/* Write a part of an id; the index of the id in every column if it has no such part. */
static void put_id(writer *w, const idm_labels *names, bool split, size_t index, size_t columns,
                   size_t part)
{
  const char *piece = NULL;
  size_t length = 0;
  if (!split || index >= names->count ||
      !idm_layout_piece(names->name[index], columns, part, &piece, &length) ||
      is_missing(&w->problem->columns.missing, piece, length))
    put_integer(w, index + 1);
  else
    idm_csv_writer_text(&w->out, piece, length);
}

/* Write evidence that the problem maps; if the data lack it, the least valid number, or the label
 * 1. */
static void put_evidence(writer *w, size_t c, size_t trajectory, size_t row)
{
  const idm_data *data = w->data;
  const idm_column_info *info = idm_column_describe((idm_column)c);
  const size_t at = info->by_trajectory ? trajectory : row;
  if (data->number[c])
    put_number(w, data->number[c][at]);
  else if (data->label[c])
    put_text(&w->out, data->label_name[c].name[data->label[c][at]]);
  else
    put_number(w, info->kind == IDM_COLUMN_LABEL ? 1 : isfinite(info->least) ? info->least : 0);
}

static void put_label(writer *w, const text_list *list, idm_column role, size_t part, int32_t label)
{
  if (label >= 0)
    put_cell(&w->out, list, (size_t)label * idm_columns_count(&w->problem->columns, role) + part);
}

/* Write the text of a missed response in each column of the action; otherwise the action. */
static void put_action(writer *w, size_t part, size_t row)
{
  const idm_data *data = w->data;
  if (idm_data_missed(data, row))
    put_text(&w->out, w->problem->columns.missed.name[data->missed[row]]);
  else
    put_label(w, &w->actions, IDM_COLUMN_ACTION, part, data->action[row]);
}

static void put_column(writer *w, const idm_layout_column *column, size_t trajectory, size_t row)
{
  const idm_data *data = w->data;
  const idm_columns *columns = &w->problem->columns;
  const size_t step = row - data->first[trajectory];
  const int32_t start = step ? -1 : data->start[trajectory];
  switch (column->role) {
  case IDM_COLUMN_AGENT:
    put_id(w, &data->agent_name, w->split_agents, data->agent[trajectory],
           idm_columns_count(columns, IDM_COLUMN_AGENT), column->part);
    break;
  case IDM_COLUMN_TRAJECTORY:
    put_id(w, &data->trajectory_name, w->split_trajectories, trajectory,
           idm_columns_count(columns, IDM_COLUMN_TRAJECTORY), column->part);
    break;
  case IDM_COLUMN_TIME:
  case IDM_LAYOUT_STEP:
    put_integer(w, step + 1);
    break;
  case IDM_COLUMN_ACTION:
    put_action(w, column->part, row);
    break;
  case IDM_COLUMN_STATE:
    put_label(w, &w->states, IDM_COLUMN_STATE, column->part, data->state[row]);
    break;
  case IDM_COLUMN_OBSERVATION:
    put_label(w, &w->observations, IDM_COLUMN_OBSERVATION, column->part, data->observation[row]);
    break;
  case IDM_COLUMN_AVAILABLE: /* written once: several columns are read as their union */
    if (!column->part && !idm_data_missed(data, row))
      put_cell(&w->out, &w->sets, data->available[row]);
    break;
  case IDM_ROLE_BELIEF:
    put_cell(&w->out, &w->starts,
             (start < 0 ? data->starts : (size_t)start) * data->sizes.states + column->part);
    break;
  case IDM_ROLE_UTILITY:
    put_cell(&w->out, &w->utilities, data->variant[trajectory] * data->columns + column->part);
    break;
  case IDM_LAYOUT_STATE:
    put_cell(&w->out, &w->states, (size_t)data->state[row]);
    break;
  default:
    put_evidence(w, column->role, trajectory, row);
  }
}

static void put_row(writer *w, size_t trajectory, size_t row)
{
  for (size_t i = 0; i < w->layout.count; i++) {
    if (i) idm_csv_writer_put(&w->out, ",", 1);
    put_column(w, &w->layout.column[i], trajectory, row);
  }
  idm_csv_writer_put(&w->out, "\n", 1);
}

static void put_header(writer *w)
{
  for (size_t i = 0; i < w->layout.count; i++) {
    if (i) idm_csv_writer_put(&w->out, ",", 1);
    put_text(&w->out, w->layout.column[i].name);
  }
  idm_csv_writer_put(&w->out, "\n", 1);
}

/* --- file ------------------------------------------------------------------------------------ */

/* IDM_INPUT if the columns do not distinguish the trajectories of an agent. */
static idm_status check_ids(const writer *w, idm_error *opt_error)
{
  const idm_data *data = w->data;
  for (size_t i = 0; i < w->layout.count; i++)
    if (w->layout.column[i].role == IDM_COLUMN_TRAJECTORY) return IDM_OK;
  bool *seen = idm_new(data->agent_name.count, sizeof *seen);
  if (!seen) return idm_fail_memory(opt_error);
  bool twice = false;
  for (size_t i = 0; i < data->trajectories && !twice; i++) {
    twice = data->agent[i] >= data->agent_name.count || seen[data->agent[i]];
    if (!twice) seen[data->agent[i]] = true;
  }
  free(seen);
  if (!twice) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "an agent has several trajectories, and the problem takes both from the column "
                  "'%s': map the trajectory to a column of its own",
                  idm_columns_name(&w->problem->columns, IDM_COLUMN_AGENT, 0));
}

/* IDM_INPUT if the problem does not name a text for a missed response of the data. */
static idm_status check_missed(const idm_data *data, const idm_columns *columns,
                               idm_error *opt_error)
{
  for (size_t row = 0; data->missed && row < data->rows; row++)
    if (data->missed[row] >= (int64_t)columns->missed.count)
      return idm_fail(
          opt_error, IDM_INPUT,
          "row %zu is missed response %ld, and data.missed of the problem has %zu texts", row,
          (long)data->missed[row], columns->missed.count);
  return IDM_OK;
}

static idm_status make_texts(writer *w, idm_error *opt_error)
{
  const idm_data *data = w->data;
  const idm_setting *setting = w->problem->setting;
  const idm_columns *columns = &w->problem->columns;
  if (data->columns != columns->utility.count)
    return idm_fail(opt_error, IDM_INPUT,
                    "the data have %zu columns of utilities; the problem names %zu", data->columns,
                    columns->utility.count);
  idm_status status = check_ids(w, opt_error);
  if (status == IDM_OK) status = check_missed(data, columns, opt_error);
  if (status == IDM_OK)
    status = make_labels(&setting->actions, columns, IDM_COLUMN_ACTION, &w->actions, opt_error);
  if (status == IDM_OK)
    status = make_labels(&setting->observations, columns, IDM_COLUMN_OBSERVATION, &w->observations,
                         opt_error);
  if (status == IDM_OK && data->state)
    status = setting->fully_observed
                 ? make_labels(&setting->states, columns, IDM_COLUMN_STATE, &w->states, opt_error)
                 : make_states(&setting->states, &w->states, opt_error);
  if (status == IDM_OK) status = make_sets(data, setting, &w->sets, opt_error);
  if (status == IDM_OK) status = make_starts(data, w->problem, &w->starts, opt_error);
  if (status == IDM_OK) status = make_utilities(data, &columns->missing, &w->utilities, opt_error);
  w->split_agents = splits(&data->agent_name, data->agent_name.count,
                           idm_columns_count(columns, IDM_COLUMN_AGENT));
  w->split_trajectories = splits(&data->trajectory_name, data->trajectories,
                                 idm_columns_count(columns, IDM_COLUMN_TRAJECTORY));
  return status;
}

idm_status idm_data_write_csv(const idm_data *data, const idm_problem *problem, const char *path,
                              idm_error *opt_error)
{
  idm_require(data, problem, path);
  const idm_status legal = idm_data_validate(data, problem->setting, opt_error);
  if (legal != IDM_OK) return legal;
  writer *w = idm_new(1, sizeof *w);
  if (!w) return idm_fail_memory(opt_error);
  w->data = data;
  w->problem = problem;
  idm_status status = idm_layout_create(&w->layout, data, problem, opt_error);
  if (status == IDM_OK) status = make_texts(w, opt_error);
  if (status == IDM_OK) status = idm_file_create(path, &w->out.file, opt_error);
  if (status == IDM_OK) {
    put_header(w);
    for (size_t i = 0; i < data->trajectories; i++)
      for (size_t row = data->first[i]; row < data->first[i + 1]; row++) put_row(w, i, row);
    status = idm_csv_writer_commit(&w->out, opt_error);
  }
  text_list *const lists[] = {&w->actions, &w->observations, &w->states,
                              &w->sets,    &w->starts,       &w->utilities};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) destroy_cells(lists[i]);
  idm_layout_destroy(&w->layout);
  free(w);
  return status;
}
