/* Trials as CSV, for people and statistics programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/log_file.h"
#include "io/log/table.h"

typedef struct writer {
  const idm_trials *trials;
  const idm_data *data;
  const idm_setting *setting;
  idm_table table;
} writer;

static void put_text(writer *w, const char *text)
{
  idm_table_text(&w->table, text, strlen(text));
}

/* The cell of a name that a header or an id is made of; a number where there is none. */
static void put_name(writer *w, const idm_labels *names, size_t index)
{
  if (index < names->count)
    put_text(w, names->name[index]);
  else
    idm_table_whole(&w->table, index + 1);
}

/* --- header --------------------------------------------------------------------------------- */

/* What number i of a row is called, and of which label. */
static const char *word_of(const writer *w, size_t i, const char **ret_label)
{
  const idm_sizes n = w->trials->sizes;
  *ret_label = NULL;
  if (i < n.states) {
    *ret_label = w->setting->states.name[i];
    return "belief.";
  }
  i -= n.states;
  if (i < 2 * n.actions) {
    *ret_label = w->setting->actions.name[i % n.actions];
    return i < n.actions ? "probability." : "q.";
  }
  return i == 2 * n.actions ? "surprise" : "log_likelihood";
}

static idm_status put_column(writer *w, size_t i, const char *suffix, idm_error *opt_error)
{
  const char *label;
  const char *word = word_of(w, i, &label);
  const size_t size = strlen(word) + (label ? strlen(label) : 0) + strlen(suffix) + 1;
  char *name = idm_new(size, 1);
  if (!name) return idm_fail_memory(opt_error);
  snprintf(name, size, "%s%s%s", word, label ? label : "", suffix);
  idm_table_put(&w->table, ",", 1);
  put_text(w, name);
  free(name);
  return IDM_OK;
}

static idm_status put_header(writer *w, idm_error *opt_error)
{
  static const char *const suffix[] = {"", ".q5", ".q95"};
  const size_t columns = w->trials->low ? 3 : 1;
  static const char ids[] = "agent,trajectory,step,line,action,observation";
  idm_table_put(&w->table, ids, sizeof ids - 1);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < w->trials->width; i++)
    for (size_t c = 0; c < columns && status == IDM_OK; c++)
      status = put_column(w, i, suffix[c], opt_error);
  idm_table_put(&w->table, "\n", 1);
  return status;
}

/* --- rows ----------------------------------------------------------------------------------- */

static void put_label(writer *w, const idm_labels *labels, int32_t label)
{
  idm_table_put(&w->table, ",", 1);
  if (label >= 0) put_text(w, labels->name[label]);
}

static void put_row(writer *w, size_t trajectory, size_t row)
{
  const idm_data *data = w->data;
  const idm_trials *trials = w->trials;
  put_name(w, &data->agent_name, data->agent[trajectory]);
  idm_table_put(&w->table, ",", 1);
  put_name(w, &data->trajectory_name, trajectory);
  idm_table_put(&w->table, ",", 1);
  idm_table_whole(&w->table, row - data->first[trajectory] + 1);
  idm_table_put(&w->table, ",", 1);
  if (data->line[row]) idm_table_whole(&w->table, data->line[row]);
  put_label(w, &w->setting->actions, data->action[row]);
  put_label(w, &w->setting->observations, data->observation[row]);
  const double *const numbers[] = {trials->mean, trials->low, trials->high};
  const size_t first = trials->node[row] * trials->width;
  for (size_t i = first; i < first + trials->width; i++)
    for (size_t c = 0; c < 3 && numbers[c]; c++) {
      idm_table_put(&w->table, ",", 1);
      idm_table_number(&w->table, numbers[c][i]);
    }
  idm_table_put(&w->table, "\n", 1);
}

idm_status idm_trials_write_csv(const idm_trials *trials, const idm_data *data,
                                const idm_setting *setting, const char *path, idm_error *opt_error)
{
  idm_require(trials, data, setting, path);
  if (trials->rows != data->rows || !idm_sizes_same(trials->sizes, idm_setting_sizes(setting)))
    return idm_fail(opt_error, IDM_USAGE, "the trials are of other data");
  const idm_status legal = idm_data_validate(data, setting, opt_error);
  if (legal != IDM_OK) return legal;
  writer *w = idm_new(1, sizeof *w);
  if (!w) return idm_fail_memory(opt_error);
  w->trials = trials;
  w->data = data;
  w->setting = setting;
  idm_status status = idm_file_create(path, &w->table.file, opt_error);
  if (status == IDM_OK) {
    status = put_header(w, opt_error);
    for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++)
      for (size_t row = data->first[t]; row < data->first[t + 1]; row++) put_row(w, t, row);
    if (status == IDM_OK)
      status = idm_table_commit(&w->table, opt_error);
    else
      idm_file_abandon(w->table.file);
  }
  free(w);
  return status;
}
