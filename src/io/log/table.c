/* Writes CSV tables about rows of a log (explanations, trials), and reads logs with history.
 *
 * Contents: table · row writer · explanation · trials · history */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/log.h"
#include "io/csv.h"
#include "io/log_file.h"
#include "setting/model.h"

/* === table ================================================================================== */

/* Buffered writer of CSV; cells are quoted where necessary. */

void idm_csv_writer_put(idm_csv_writer *table, const char *bytes, size_t length)
{
  if (length > sizeof table->bytes - table->used) {
    idm_file_write(table->file, table->bytes, table->used);
    table->used = 0;
    if (length > sizeof table->bytes) {
      idm_file_write(table->file, bytes, length);
      return;
    }
  }
  memcpy(table->bytes + table->used, bytes, length);
  table->used += length;
}

void idm_csv_writer_integer(idm_csv_writer *table, size_t number)
{
  char digits[24];
  size_t first = sizeof digits;
  do {
    digits[--first] = (char)('0' + number % 10);
    number /= 10;
  } while (number);
  idm_csv_writer_put(table, digits + first, sizeof digits - first);
}

void idm_csv_writer_number(idm_csv_writer *table, double value)
{
  if (isnan(value)) return;
  char number[40];
  const int length = idm_number_text(value, number, sizeof number);
  idm_csv_writer_put(table, number, (size_t)length);
}

void idm_csv_writer_text(idm_csv_writer *table, const char *text, size_t length)
{
  bool quoted = false;
  for (size_t i = 0; i < length; i++) quoted = quoted || strchr(IDM_CSV_SPECIAL, text[i]);
  if (!quoted) {
    idm_csv_writer_put(table, text, length);
    return;
  }
  idm_csv_writer_put(table, "\"", 1);
  for (size_t i = 0; i < length; i++) {
    idm_csv_writer_put(table, text + i, 1);
    if (text[i] == '"') idm_csv_writer_put(table, text + i, 1);
  }
  idm_csv_writer_put(table, "\"", 1);
}

idm_status idm_csv_writer_commit(idm_csv_writer *table, idm_error *opt_error)
{
  idm_file_write(table->file, table->bytes, table->used);
  return idm_file_commit(table->file, opt_error);
}

/* === row writer ============================================================================= */

/* CSV lines about rows of a log. */

static void put(idm_row_writer *writer, const char *text)
{
  idm_csv_writer_text(&writer->table, text, strlen(text));
}

static void comma(idm_row_writer *writer)
{
  idm_csv_writer_put(&writer->table, ",", 1);
}

static void put_ids(idm_row_writer *writer)
{
  static const char ids[] = "agent,trajectory,step,line,action,observation";
  idm_csv_writer_put(&writer->table, ids, sizeof ids - 1);
}

idm_status idm_row_writer_header(idm_row_writer *writer, const char *word, const char *opt_label,
                                 idm_error *opt_error)
{
  static const char *const suffix[] = {"", ".q5", ".q95"};
  const size_t size = strlen(word) + (opt_label ? strlen(opt_label) + 1 : 0) + sizeof ".q95";
  char *name = idm_new(size, 1);
  if (!name) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < (writer->quantiles ? 3 : 1); i++) {
    snprintf(name, size, "%s%s%s%s", word, opt_label ? "." : "", opt_label ? opt_label : "",
             suffix[i]);
    comma(writer);
    put(writer, name);
  }
  free(name);
  return IDM_OK;
}

/* Write an id; without a name, its index counted from 1. */
static void put_name(idm_row_writer *writer, const idm_labels *names, size_t index)
{
  if (index < names->count)
    put(writer, names->name[index]);
  else
    idm_csv_writer_integer(&writer->table, index + 1);
}

static void put_label(idm_row_writer *writer, const idm_labels *labels, int32_t label)
{
  comma(writer);
  if (label >= 0) put(writer, labels->name[label]);
}

static void put_row_ids(idm_row_writer *writer, size_t trajectory, size_t row)
{
  const idm_data *data = writer->data;
  put_name(writer, &data->agent_name, data->agent[trajectory]);
  comma(writer);
  put_name(writer, &data->trajectory_name, trajectory);
  comma(writer);
  idm_csv_writer_integer(&writer->table, row - data->first[trajectory] + 1);
  comma(writer);
  if (data->line[row]) idm_csv_writer_integer(&writer->table, data->line[row]);
  put_label(writer, &writer->setting->actions,
            idm_data_missed(data, row) ? IDM_MISSING : data->action[row]);
  put_label(writer, &writer->setting->observations, data->observation[row]);
}

void idm_row_writer_number(idm_row_writer *writer, double mean, double low, double high)
{
  const double numbers[] = {mean, low, high};
  for (size_t i = 0; i < (writer->quantiles ? 3 : 1); i++) {
    comma(writer);
    idm_csv_writer_number(&writer->table, numbers[i]);
  }
}

void idm_row_writer_text(idm_row_writer *writer, const char *text)
{
  comma(writer);
  put(writer, text);
}

static void put_end(idm_row_writer *writer)
{
  idm_csv_writer_put(&writer->table, "\n", 1);
}

static idm_status put_all(idm_row_writer *writer, const idm_row_content *content,
                          int64_t trajectory, idm_error *opt_error)
{
  const idm_data *data = writer->data;
  put_ids(writer);
  idm_status status = content->header(writer, opt_error);
  put_end(writer);
  for (size_t t = 0; t < data->trajectories; t++) {
    if (trajectory >= 0 && t != (size_t)trajectory) continue;
    for (size_t row = data->first[t]; row < data->first[t + 1] && status == IDM_OK; row++) {
      put_row_ids(writer, t, row);
      status = content->row(writer, content->content, row, opt_error);
      put_end(writer);
    }
  }
  return status;
}

idm_status idm_row_writer_write(const idm_data *data, const idm_setting *setting, bool quantiles,
                                const idm_row_content *content, int64_t trajectory,
                                const char *path, idm_error *opt_error)
{
  idm_status status = idm_data_validate(data, setting, opt_error);
  if (status != IDM_OK) return status;
  idm_row_writer *writer = idm_new(1, sizeof *writer);
  if (!writer) return idm_fail_memory(opt_error);
  writer->data = data;
  writer->setting = setting;
  writer->quantiles = quantiles;
  status = idm_file_create(path, &writer->table.file, opt_error);
  if (status == IDM_OK) {
    status = put_all(writer, content, trajectory, opt_error);
    if (status == IDM_OK)
      status = idm_csv_writer_commit(&writer->table, opt_error);
    else
      idm_file_abandon(writer->table.file);
  }
  free(writer);
  return status;
}

/* === explanation ============================================================================ */

/* Explanation as CSV: one line per row, with the behaviour of a rational agent for comparison. */

/* Columns per state or action, in the order of the file. */
static const struct column {
  const char *word;
  idm_explain_part part;
  bool by_state;
} columns[] = {{"belief", IDM_EXPLAIN_BELIEF, true},
               {"probability", IDM_EXPLAIN_PROBABILITY, false},
               {"rational_belief", IDM_EXPLAIN_RATIONAL_BELIEF, true},
               {"rational", IDM_EXPLAIN_RATIONAL, false},
               {"rational_at_belief", IDM_EXPLAIN_RATIONAL_AT_BELIEF, false},
               {"q", IDM_EXPLAIN_QUALITY, false}};
enum { column_count = sizeof columns / sizeof columns[0] };

static const idm_labels *labels_of(const idm_setting *setting, const struct column *column)
{
  return column->by_state ? &setting->states : &setting->actions;
}

static idm_status put_header(idm_row_writer *writer, idm_error *opt_error)
{
  idm_status status = idm_row_writer_header(writer, "surprise", NULL, opt_error);
  if (status == IDM_OK) status = idm_row_writer_header(writer, "regret", NULL, opt_error);
  idm_row_writer_text(writer, "rational");
  idm_row_writer_text(writer, "rational_at_belief");
  for (size_t c = 0; c < column_count; c++) {
    const idm_labels *labels = labels_of(writer->setting, &columns[c]);
    for (size_t i = 0; i < labels->count && status == IDM_OK; i++)
      status = idm_row_writer_header(writer, columns[c].word, labels->name[i], opt_error);
  }
  return status;
}

static void put_interval(idm_row_writer *writer, idm_interval number)
{
  idm_row_writer_number(writer, number.mean, number.low, number.high);
}

static idm_status put_row(idm_row_writer *writer, const void *content, size_t row,
                          idm_error *opt_error)
{
  const idm_explanation *e = content;
  static const idm_explain_part named[] = {IDM_EXPLAIN_RATIONAL, IDM_EXPLAIN_RATIONAL_AT_BELIEF};
  put_interval(writer, idm_explanation_surprise(e, writer->data, row));
  put_interval(writer, idm_explanation_interval(e, row, IDM_EXPLAIN_REGRET, 0));
  for (size_t i = 0; i < 2; i++) {
    char *name;
    const idm_status status =
        idm_explanation_actions(e, writer->setting, row, named[i], &name, opt_error);
    if (status != IDM_OK) return status;
    idm_row_writer_text(writer, name);
    free(name);
  }
  for (size_t c = 0; c < column_count; c++)
    for (size_t i = 0; i < labels_of(writer->setting, &columns[c])->count; i++)
      put_interval(writer, idm_explanation_interval(e, row, columns[c].part, i));
  return IDM_OK;
}

idm_status idm_explanation_write_csv(const idm_explanation *explanation, const idm_data *data,
                                     const idm_setting *setting, int64_t trajectory,
                                     const char *path, idm_error *opt_error)
{
  idm_require(explanation, data, setting, path);
  if (explanation->trials->rows != data->rows ||
      !idm_sizes_same(explanation->trials->sizes, idm_setting_sizes(setting)))
    return idm_fail(opt_error, IDM_USAGE, "the explanation is of other data");
  const idm_row_content content = {explanation, put_header, put_row};
  return idm_row_writer_write(data, setting, explanation->trials->low != NULL, &content, trajectory,
                              path, opt_error);
}

/* === trials ================================================================================= */

/* Trials as CSV. */

/* Number of values per row of trials. */
static size_t trials_width(idm_sizes n)
{
  return n.states + 2 * n.actions + 2;
}

/* Title of value i of a row, and its label (NULL if it has none). */
static const char *column_title(const idm_row_writer *writer, size_t i, const char **ret_label)
{
  const idm_sizes n = writer->data->sizes;
  *ret_label = NULL;
  if (i < n.states) {
    *ret_label = writer->setting->states.name[i];
    return "belief";
  }
  i -= n.states;
  if (i < 2 * n.actions) {
    *ret_label = writer->setting->actions.name[i % n.actions];
    return i < n.actions ? "probability" : "q";
  }
  return i == 2 * n.actions ? "surprise" : "log_likelihood";
}

static idm_status trials_put_header(idm_row_writer *writer, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < trials_width(writer->data->sizes) && status == IDM_OK; i++) {
    const char *label;
    const char *word = column_title(writer, i, &label);
    status = idm_row_writer_header(writer, word, label, opt_error);
  }
  return status;
}

static idm_status trials_put_row(idm_row_writer *writer, const void *content, size_t row,
                                 idm_error *opt_error)
{
  (void)opt_error;
  const idm_trials *trials = content;
  const size_t first = trials->node[row] * trials->width;
  for (size_t i = first; i < first + trials_width(trials->sizes); i++)
    idm_row_writer_number(writer, trials->mean[i], trials->low ? trials->low[i] : 0,
                          trials->high ? trials->high[i] : 0);
  return IDM_OK;
}

idm_status idm_trials_write_csv(const idm_trials *trials, const idm_data *data,
                                const idm_setting *setting, const char *path, idm_error *opt_error)
{
  idm_require(trials, data, setting, path);
  if (trials->rows != data->rows || !idm_sizes_same(trials->sizes, idm_setting_sizes(setting)))
    return idm_fail(opt_error, IDM_USAGE, "the trials are of other data");
  const idm_row_content content = {trials, trials_put_header, trials_put_row};
  return idm_row_writer_write(data, setting, trials->low != NULL, &content, -1, path, opt_error);
}

/* === history ================================================================================ */

/* Logs of which some rows are scored and the others are history. */

/* --- rows ----------------------------------------------------------------------------------- */

/* Key of a row: its file and line. */
static uint64_t row_position_of(const idm_data *data, size_t row)
{
  return (uint64_t)(data->file ? data->file[row] : 0) << 32 | data->line[row];
}

static int compare_positions(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Mark the rows of the whole log that are not scored as history. IDM_INPUT if a scored row is not
 * in the whole log. */
static idm_status mark_history(const idm_data *scored, idm_data *full_log, idm_error *opt_error)
{
  uint64_t *row_position = idm_new(scored->rows, sizeof *row_position);
  full_log->history = idm_new(full_log->rows, sizeof *full_log->history);
  size_t found = 0;
  if (!row_position || !full_log->history) {
    free(row_position);
    return idm_fail_memory(opt_error);
  }
  for (size_t r = 0; r < scored->rows; r++) row_position[r] = row_position_of(scored, r);
  qsort(row_position, scored->rows, sizeof *row_position, compare_positions);
  for (size_t r = 0; r < full_log->rows; r++) {
    const uint64_t at = row_position_of(full_log, r);
    full_log->history[r] = !bsearch(&at, row_position, scored->rows, sizeof at, compare_positions);
    found += !full_log->history[r];
  }
  free(row_position);
  if (found == scored->rows) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "of %zu rows that --where leaves in, %zu are left in the whole log: a rule drops "
                  "the others there, so that they cannot be scored with their history",
                  scored->rows, found);
}

/* --- agents --------------------------------------------------------------------------------- */

/* Drop the trajectories of agents without a scored row. */
static idm_status keep_agents(idm_data **data, idm_error *opt_error)
{
  idm_data *source = *data, *part = NULL;
  bool *kept = idm_new(source->agent_name.count, sizeof *kept);
  uint32_t *trajectory = idm_new(source->trajectories, sizeof *trajectory);
  idm_status status = kept && trajectory ? IDM_OK : idm_fail_memory(opt_error);
  size_t count = 0;
  for (size_t t = 0; t < source->trajectories && status == IDM_OK; t++)
    for (size_t r = source->first[t]; r < source->first[t + 1]; r++)
      kept[source->agent[t]] |= !source->history[r];
  for (size_t t = 0; t < source->trajectories && status == IDM_OK; t++)
    if (kept[source->agent[t]]) trajectory[count++] = (uint32_t)t;
  if (status == IDM_OK && count < source->trajectories)
    status = idm_data_subset(source, trajectory, count, &part, opt_error);
  free(kept);
  free(trajectory);
  if (!part) return status;
  part->log_counts = source->log_counts;
  source->log_counts = NULL;
  idm_data_destroy(source);
  *data = part;
  return IDM_OK;
}

/* --- reading --------------------------------------------------------------------------------- */

static void note_history(const idm_data *data, idm_notes *opt_notes)
{
  size_t history = 0;
  for (size_t r = 0; r < data->rows; r++) history += data->history[r];
  idm_notes_add(opt_notes,
                "--history keep: %zu rows are scored; %zu rows of the same agents that --where "
                "leaves out are read and not scored",
                data->rows - history, history);
}

idm_status idm_data_read_history(const char *const *paths, size_t count, const idm_problem *problem,
                                 const idm_csv_options *options, idm_data **ret_data,
                                 idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(paths, problem, options, ret_data);
  idm_csv_options all_options = *options;
  idm_data *scored = NULL, *full_log = NULL;
  *ret_data = NULL;
  all_options.where_count = 0;
  for (size_t i = 0; i < count; i++)
    if (strcmp(paths[i], "-") == 0)
      return idm_fail(opt_error, IDM_USAGE,
                      "a history is read in a second pass; expected files, not standard input");
  idm_status status = idm_data_read_files(paths, count, problem, options, &scored, NULL, opt_error);
  if (status == IDM_OK)
    status =
        idm_data_read_files(paths, count, problem, &all_options, &full_log, opt_notes, opt_error);
  if (status == IDM_OK) status = mark_history(scored, full_log, opt_error);
  if (status == IDM_OK) status = keep_agents(&full_log, opt_error);
  idm_data_destroy(scored);
  if (status != IDM_OK) {
    idm_data_destroy(full_log);
    return status;
  }
  note_history(full_log, opt_notes);
  *ret_data = full_log;
  return IDM_OK;
}
