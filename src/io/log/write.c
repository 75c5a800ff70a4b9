/* Evidence as CSV: what idm_data_read_csv reads back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "base/number.h"
#include "idm/data.h"
#include "idm/file.h"
#include "idm/log_file.h"

/* --- a buffer before the file --------------------------------------------------------------- */

typedef struct output {
  idm_file *file;
  size_t used;
  char bytes[1 << 16];
} output;

static void put(output *out, const char *bytes, size_t length)
{
  if (length > sizeof out->bytes - out->used) {
    idm_file_write(out->file, out->bytes, out->used);
    out->used = 0;
    if (length > sizeof out->bytes) {
      idm_file_write(out->file, bytes, length);
      return;
    }
  }
  memcpy(out->bytes + out->used, bytes, length);
  out->used += length;
}

static void put_number(output *out, size_t number)
{
  char digits[24];
  size_t first = sizeof digits;
  do {
    digits[--first] = (char)('0' + number % 10);
    number /= 10;
  } while (number);
  put(out, digits + first, sizeof digits - first);
}

/* --- cells ---------------------------------------------------------------------------------- */

/* Cells made once, written many times. */
typedef struct cells {
  size_t count;
  size_t *offset; /* [count + 2]: the last is where the cell being made ends */
  char *text;
  size_t capacity;
} cells;

static void destroy_cells(cells *list)
{
  free(list->offset);
  free(list->text);
}

/* Room for `count` cells. */
static bool create_cells(cells *list, size_t count)
{
  *list = (cells){.offset = idm_new(count + 2, sizeof *list->offset)};
  return list->offset;
}

/* Append to the cell that comes after the last one ended. */
static bool append(cells *list, const char *text, size_t length)
{
  const size_t used = list->offset[list->count + 1];
  if (used + length > list->capacity) {
    char *larger = realloc(list->text, 2 * (used + length) + 64);
    if (!larger) return false;
    list->text = larger;
    list->capacity = 2 * (used + length) + 64;
  }
  if (length) memcpy(list->text + used, text, length);
  list->offset[list->count + 1] = used + length;
  return true;
}

static void end_cell(cells *list)
{
  list->count++;
  list->offset[list->count + 1] = list->offset[list->count];
}

static bool needs_quotes(const char *text)
{
  return text[strcspn(text, ",\"\r\n")] != '\0';
}

static bool append_quoted(cells *list, const char *text)
{
  if (!needs_quotes(text)) return append(list, text, strlen(text));
  bool whole = append(list, "\"", 1);
  for (; *text && whole; text++)
    whole = append(list, text, 1) && (*text != '"' || append(list, text, 1));
  return whole && append(list, "\"", 1);
}

static void put_cell(output *out, const cells *list, size_t index)
{
  put(out, list->text + list->offset[index], list->offset[index + 1] - list->offset[index]);
}

static void put_text(output *out, const char *text)
{
  if (!needs_quotes(text)) {
    put(out, text, strlen(text));
    return;
  }
  put(out, "\"", 1);
  for (; *text; text++) {
    put(out, text, 1);
    if (*text == '"') put(out, text, 1);
  }
  put(out, "\"", 1);
}

/* --- names that a reader finds again -------------------------------------------------------- */

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

/* The label, or its number where a reader would not take the label as it is. */
static idm_status spell(const idm_labels *labels, size_t index, const char *forbidden, char *number,
                        size_t size, const char **ret_text, idm_error *opt_error)
{
  const char *name = labels->name[index];
  const size_t length = strlen(name);
  *ret_text = name;
  if (length && !is_blank(name[0]) && !is_blank(name[length - 1]) &&
      name[strcspn(name, forbidden)] == '\0')
    return IDM_OK;
  snprintf(number, size, "%zu", index);
  *ret_text = number;
  if (idm_labels_find(labels, number, strlen(number)) == (long)index) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT, "the label '%s' cannot be written in a CSV file", name);
}

static idm_status make_labels(const idm_labels *labels, cells *list, idm_error *opt_error)
{
  if (!create_cells(list, labels->count)) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < labels->count; i++) {
    char number[24];
    const char *text;
    const idm_status status = spell(labels, i, "", number, sizeof number, &text, opt_error);
    if (status != IDM_OK) return status;
    if (!append_quoted(list, text)) return idm_fail_memory(opt_error);
    end_cell(list);
  }
  return IDM_OK;
}

/* One cell a set: its actions joined by '|'; nothing for the set of all. */
static idm_status make_sets(const idm_data *data, const idm_setting *setting, cells *list,
                            idm_error *opt_error)
{
  const size_t actions = data->sizes.actions;
  if (!create_cells(list, data->available_sets)) return idm_fail_memory(opt_error);
  cells joined;
  if (!create_cells(&joined, 1)) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < data->available_sets && status == IDM_OK; i++) {
    joined.offset[1] = 0;
    for (size_t u = 0; u < actions && i && status == IDM_OK; u++) {
      if (!data->available_set[i * actions + u]) continue;
      char number[24];
      const char *text;
      status = spell(&setting->actions, u, "|", number, sizeof number, &text, opt_error);
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

/* One cell a start: ",p,q,..." for all states. The last one stands for the setting's own: empty. */
static idm_status make_starts(const idm_data *data, const idm_setting *setting, cells *list,
                              bool *ret_any, idm_error *opt_error)
{
  const size_t states = data->sizes.states;
  *ret_any = false;
  if (!create_cells(list, data->starts + 1)) return idm_fail_memory(opt_error);
  for (size_t i = 0; i <= data->starts; i++) {
    const double *belief = i < data->starts ? data->start_belief + i * states : setting->start;
    const bool own = memcmp(belief, setting->start, states * sizeof *belief) == 0;
    if (!own) *ret_any = true;
    for (size_t s = 0; s < states; s++) {
      char number[40] = ",";
      const int length = own ? 0 : idm_number_text(belief[s], number + 1, sizeof number - 1);
      if (!append(list, number, 1 + (size_t)length)) return idm_fail_memory(opt_error);
    }
    end_cell(list);
  }
  return IDM_OK;
}

/* --- rows ----------------------------------------------------------------------------------- */

typedef struct writer {
  const idm_data *data;
  cells actions;
  cells observations;
  cells sets;
  cells starts;
  bool with_beliefs;
  bool with_sets;
  output out;
} writer;

static idm_status put_header(writer *w, const idm_setting *setting, idm_error *opt_error)
{
  const char header[] = "agent,trajectory,step,action,observation";
  put(&w->out, header, sizeof header - 1);
  for (size_t s = 0; s < setting->states.count && w->with_beliefs; s++) {
    const char *state = setting->states.name[s];
    char number[24];
    const char *text;
    const idm_status status =
        spell(&setting->states, s, "", number, sizeof number, &text, opt_error);
    if (status != IDM_OK) return status;
    /* A prefix inside the quotes, where there are any. */
    const bool quoted = text == state && needs_quotes(state);
    put(&w->out, quoted ? ",\"belief." : ",belief.", quoted ? 9 : 8);
    for (; *text; text++) {
      put(&w->out, text, 1);
      if (*text == '"') put(&w->out, text, 1);
    }
    if (quoted) put(&w->out, "\"", 1);
  }
  if (w->with_sets) put(&w->out, ",available", 10);
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    if (!w->data->number[c] && !w->data->label[c]) continue;
    put(&w->out, ",", 1);
    put_text(&w->out, idm_column_describe((idm_column)c)->names[0]);
  }
  put(&w->out, "\n", 1);
  return IDM_OK;
}

static void put_name(output *out, const idm_labels *names, size_t index)
{
  if (index < names->count)
    put_text(out, names->name[index]);
  else
    put_number(out, index + 1);
}

static void put_evidence(writer *w, size_t trajectory, size_t row)
{
  const idm_data *data = w->data;
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    const size_t at = idm_column_describe((idm_column)c)->by_trajectory ? trajectory : row;
    char number[40] = ",";
    if (data->number[c])
      put(&w->out, number,
          1 + (size_t)idm_number_text(data->number[c][at], number + 1, sizeof number - 1));
    if (data->label[c]) {
      put(&w->out, ",", 1);
      put_text(&w->out, data->label_name[c].name[data->label[c][at]]);
    }
  }
}

static void put_row(writer *w, size_t trajectory, size_t row)
{
  const idm_data *data = w->data;
  output *out = &w->out;
  const size_t step = row - data->first[trajectory];
  put_name(out, &data->agent_name, data->agent[trajectory]);
  put(out, ",", 1);
  put_name(out, &data->trajectory_name, trajectory);
  put(out, ",", 1);
  put_number(out, step + 1);
  put(out, ",", 1);
  if (data->action[row] >= 0) put_cell(out, &w->actions, (size_t)data->action[row]);
  put(out, ",", 1);
  if (data->observation[row] >= 0) put_cell(out, &w->observations, (size_t)data->observation[row]);
  if (w->with_beliefs) {
    const int32_t start = step ? -1 : data->start[trajectory];
    put_cell(out, &w->starts, start < 0 ? data->starts : (size_t)start);
  }
  if (w->with_sets) {
    put(out, ",", 1);
    put_cell(out, &w->sets, data->available[row]);
  }
  put_evidence(w, trajectory, row);
  put(out, "\n", 1);
}

static idm_status make_cells(writer *w, const idm_setting *setting, idm_error *opt_error)
{
  const idm_data *data = w->data;
  idm_status status = make_labels(&setting->actions, &w->actions, opt_error);
  if (status == IDM_OK) status = make_labels(&setting->observations, &w->observations, opt_error);
  if (status == IDM_OK) status = make_sets(data, setting, &w->sets, opt_error);
  if (status == IDM_OK)
    status = make_starts(data, setting, &w->starts, &w->with_beliefs, opt_error);
  for (size_t row = 0; row < data->rows && !w->with_sets; row++)
    w->with_sets = data->available[row] != 0;
  return status;
}

idm_status idm_data_write_csv(const idm_data *data, const idm_setting *setting, const char *path,
                              idm_error *opt_error)
{
  idm_require(data, setting, path);
  const idm_status legal = idm_data_validate(data, setting, opt_error);
  if (legal != IDM_OK) return legal;
  writer *w = idm_new(1, sizeof *w);
  if (!w) return idm_fail_memory(opt_error);
  w->data = data;
  idm_status status = make_cells(w, setting, opt_error);
  if (status == IDM_OK) status = idm_file_create(path, &w->out.file, opt_error);
  if (status == IDM_OK) status = put_header(w, setting, opt_error);
  if (status == IDM_OK) {
    for (size_t i = 0; i < data->trajectories; i++)
      for (size_t row = data->first[i]; row < data->first[i + 1]; row++) put_row(w, i, row);
    idm_file_write(w->out.file, w->out.bytes, w->out.used);
    status = idm_file_commit(w->out.file, opt_error);
  } else {
    idm_file_abandon(w->out.file);
  }
  destroy_cells(&w->actions);
  destroy_cells(&w->observations);
  destroy_cells(&w->sets);
  destroy_cells(&w->starts);
  free(w);
  return status;
}
