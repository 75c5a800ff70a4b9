/* Reads preferences between trajectories from a CSV table with columns worse, better and,
 * optionally, weight; one preference per row. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/log.h"
#include "io/csv.h"
#include "io/log/log.h"
#include "io/log_file.h"

enum { WORSE, BETTER, WEIGHT, COLUMNS };
static const char *const column_name[COLUMNS] = {"worse", "better", "weight"};

/* State of the reader. */
typedef struct preference_reader {
  const char *file;
  idm_intern name; /* names of trajectories, by index */
  size_t column_index[COLUMNS];
  size_t width;
  size_t capacity;
  idm_preferences *preferences;
  idm_error *opt_error;
} preference_reader;

#define fail_cell(t, cell, ...)                                                                    \
  idm_fail_at((t)->opt_error, (t)->file, (long)(cell).line, (long)(cell).column, __VA_ARGS__)

/* --- the header ----------------------------------------------------------------------------- */

static bool is_word(const idm_csv_field *cell, const char *word)
{
  return cell->length == strlen(word) && memcmp(cell->text, word, cell->length) == 0;
}

static idm_status map_header(preference_reader *t, const idm_csv_field *field, size_t count)
{
  t->width = count;
  for (size_t c = 0; c < COLUMNS; c++) {
    t->column_index[c] = count;
    for (size_t i = 0; i < count; i++) {
      const idm_csv_field cell = idm_cell_trim(field[i]);
      if (!is_word(&cell, column_name[c])) continue;
      if (t->column_index[c] < count)
        return fail_cell(t, cell, "a second column '%s'", column_name[c]);
      t->column_index[c] = i;
    }
    if (t->column_index[c] == count && c != WEIGHT)
      return idm_fail_at(t->opt_error, t->file, 1, 1,
                         "no column '%s' of preferences; expected worse and better, which name "
                         "trajectories of the log, and, optionally, weight",
                         column_name[c]);
  }
  return IDM_OK;
}

/* --- rows ----------------------------------------------------------------------------------- */

static idm_status find_trajectory(const preference_reader *t, const idm_csv_field *field,
                                  size_t column, uint32_t *ret_trajectory)
{
  const idm_csv_field cell = idm_cell_trim(field[t->column_index[column]]);
  *ret_trajectory = idm_intern_find(&t->name, cell.text, cell.length);
  if (*ret_trajectory != IDM_INTERN_NONE) return IDM_OK;
  size_t length = 0;
  const char *first = t->name.count ? idm_intern_text(&t->name, 0, &length) : "";
  return fail_cell(t, cell,
                   "'%.*s' under %s is no trajectory of the log as it was read; expected the id of "
                   "one of its %lu trajectories, such as '%.*s'",
                   IDM_CELL_FORMAT(cell), column_name[column], (unsigned long)t->name.count,
                   (int)(length < 60 ? length : 60), first);
}

static idm_status read_weight(const preference_reader *t, const idm_csv_field *field,
                              double *ret_weight)
{
  *ret_weight = 1;
  if (t->column_index[WEIGHT] == t->width) return IDM_OK;
  const idm_csv_field cell = idm_cell_trim(field[t->column_index[WEIGHT]]);
  if (idm_number_decimal(cell.text, cell.length, ret_weight) && *ret_weight > 0) return IDM_OK;
  return fail_cell(t, cell, "'%.*s' for the weight of a preference; expected a number above 0",
                   IDM_CELL_FORMAT(cell));
}

static bool grow(preference_reader *t)
{
  idm_preferences *p = t->preferences;
  if (p->count < t->capacity) return true;
  const size_t capacity = 2 * t->capacity + 64;
  uint32_t *worse = realloc(p->worse, idm_times(capacity, sizeof *worse));
  if (worse) p->worse = worse;
  uint32_t *better = realloc(p->better, idm_times(capacity, sizeof *better));
  if (better) p->better = better;
  double *weight = realloc(p->weight, idm_times(capacity, sizeof *weight));
  if (weight) p->weight = weight;
  if (!worse || !better || !weight) return false;
  t->capacity = capacity;
  return true;
}

static idm_status read_row(preference_reader *t, const idm_csv_field *field)
{
  idm_preferences *p = t->preferences;
  if (!grow(t)) return idm_fail_memory(t->opt_error);
  idm_status status = find_trajectory(t, field, WORSE, &p->worse[p->count]);
  if (status == IDM_OK) status = find_trajectory(t, field, BETTER, &p->better[p->count]);
  if (status == IDM_OK) status = read_weight(t, field, &p->weight[p->count]);
  if (status != IDM_OK) return status;
  const idm_csv_field cell = idm_cell_trim(field[t->column_index[BETTER]]);
  if (p->worse[p->count] == p->better[p->count])
    return fail_cell(t, cell,
                     "'%.*s' is called better than itself; expected two trajectories that differ",
                     IDM_CELL_FORMAT(cell));
  p->count++;
  return IDM_OK;
}

/* --- cycles ---------------------------------------------------------------------------------- */

/* Add a remark if preferences form a cycle. Cycles are valid, since judgements are noisy, but the
 * author of the table may not be aware of them. */
static idm_status note_cycle(const preference_reader *t, idm_notes *opt_notes)
{
  enum { shown = 5 };
  char list[600] = "";
  size_t length = 0;
  uint32_t *cycle = idm_new(t->name.count, sizeof *cycle);
  if (!cycle) return idm_fail_memory(t->opt_error);
  const idm_status status =
      idm_preferences_cycle(t->preferences, t->name.count, cycle, &length, t->opt_error);
  for (size_t i = 0, used = 0; i <= length && i <= shown; i++) {
    size_t bytes = 0;
    const bool is_truncated = i == shown && i < length;
    const char *name = length ? idm_intern_text(&t->name, cycle[i % length], &bytes) : "";
    used += (size_t)idm_print(list + used, sizeof list - used, "%s%.*s", i ? " over " : "",
                              is_truncated ? 3 : (int)(bytes < 60 ? bytes : 60),
                              is_truncated ? "..." : name);
  }
  if (length)
    idm_notes_add(opt_notes,
                  "preferences form a cycle, as in %s: no utility agrees with all of them, and "
                  "each is taken as a noisy judgement",
                  list);
  free(cycle);
  return status;
}

/* --- the table ------------------------------------------------------------------------------ */

static idm_status name_trajectories(preference_reader *t, const idm_data *data)
{
  for (size_t i = 0; i < data->trajectories; i++) {
    char number[32];
    uint32_t index;
    snprintf(number, sizeof number, "%zu", i + 1);
    const char *name = data->trajectory_name.count ? data->trajectory_name.name[i] : number;
    if (!idm_intern_add(&t->name, name, strlen(name), &index)) return idm_fail_memory(t->opt_error);
  }
  return IDM_OK;
}

static idm_status read_rows(preference_reader *t, idm_csv *csv)
{
  const idm_csv_field *field;
  size_t count = 0;
  idm_status status = idm_csv_next(csv, &field, &count, t->opt_error);
  if (status == IDM_OK) status = map_header(t, field, count);
  while (status == IDM_OK) {
    status = idm_csv_next(csv, &field, &count, t->opt_error);
    if (status != IDM_OK || !count) break;
    status = read_row(t, field);
  }
  if (status == IDM_OK && !t->preferences->count)
    status = idm_fail_at(t->opt_error, t->file, 1, 1,
                         "no preferences below the header; expected one per row");
  return status;
}

/* Read preferences and replace those of the data. */
static idm_status read_table(idm_csv *csv, const char *file, idm_data *data, idm_notes *opt_notes,
                             idm_error *opt_error)
{
  preference_reader t = {.file = file, .opt_error = opt_error};
  idm_status status = idm_preferences_create(0, &t.preferences, opt_error);
  if (status == IDM_OK) status = name_trajectories(&t, data);
  if (status == IDM_OK) status = read_rows(&t, csv);
  if (status == IDM_OK) status = note_cycle(&t, opt_notes);
  if (status == IDM_OK) {
    idm_preferences_destroy(data->preferences);
    data->preferences = t.preferences;
  } else {
    idm_preferences_destroy(t.preferences);
  }
  idm_intern_clear(&t.name);
  return status;
}

idm_status idm_preferences_read_csv(const char *path, idm_data *data, idm_notes *opt_notes,
                                    idm_error *opt_error)
{
  idm_require(path, data);
  idm_csv *csv = NULL;
  FILE *stream = fopen(path, "rb");
  if (!stream) return idm_fail(opt_error, IDM_INPUT, "cannot open '%s': %s", path, strerror(errno));
  idm_status status = idm_csv_open_stream(stream, path, &csv, opt_error);
  if (status == IDM_OK) status = read_table(csv, path, data, opt_notes, opt_error);
  idm_csv_close(csv);
  fclose(stream);
  return status;
}

idm_status idm_preferences_parse_csv(const char *text, size_t length, const char *opt_file,
                                     idm_data *data, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(text, data);
  const char *file = opt_file ? opt_file : "preferences";
  idm_csv *csv = NULL;
  idm_status status = idm_csv_open_memory(text, length, file, &csv, opt_error);
  if (status == IDM_OK) status = read_table(csv, file, data, opt_notes, opt_error);
  idm_csv_close(csv);
  return status;
}
