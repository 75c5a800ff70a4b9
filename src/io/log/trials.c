/* Trials as CSV, for people and statistics programs. */
#include "base/door.h"
#include "base/memory.h"
#include "idm/log_file.h"
#include "io/log/lines.h"

/* Numbers of a row that are the trials' own. */
static size_t own_width(idm_sizes n)
{
  return n.states + 2 * n.actions + 2;
}

/* What number i of a row is called, and of which label. */
static const char *word_of(const idm_lines *lines, size_t i, const char **ret_label)
{
  const idm_sizes n = lines->data->sizes;
  *ret_label = NULL;
  if (i < n.states) {
    *ret_label = lines->setting->states.name[i];
    return "belief";
  }
  i -= n.states;
  if (i < 2 * n.actions) {
    *ret_label = lines->setting->actions.name[i % n.actions];
    return i < n.actions ? "probability" : "q";
  }
  return i == 2 * n.actions ? "surprise" : "log_likelihood";
}

static idm_status put_header(idm_lines *lines, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  idm_lines_begin(lines);
  for (size_t i = 0; i < own_width(lines->data->sizes) && status == IDM_OK; i++) {
    const char *label;
    const char *word = word_of(lines, i, &label);
    status = idm_lines_header(lines, word, label, opt_error);
  }
  idm_lines_end(lines);
  return status;
}

static void put_row(idm_lines *lines, const idm_trials *trials, size_t trajectory, size_t row)
{
  const size_t first = trials->node[row] * trials->width;
  idm_lines_row(lines, trajectory, row);
  for (size_t i = first; i < first + own_width(trials->sizes); i++)
    idm_lines_number(lines, trials->mean[i], trials->low ? trials->low[i] : 0,
                     trials->high ? trials->high[i] : 0);
  idm_lines_end(lines);
}

idm_status idm_trials_write_csv(const idm_trials *trials, const idm_data *data,
                                const idm_setting *setting, const char *path, idm_error *opt_error)
{
  idm_require(trials, data, setting, path);
  if (trials->rows != data->rows || !idm_sizes_same(trials->sizes, idm_setting_sizes(setting)))
    return idm_fail(opt_error, IDM_USAGE, "the trials are of other data");
  const idm_status legal = idm_data_validate(data, setting, opt_error);
  if (legal != IDM_OK) return legal;
  idm_lines *lines = idm_new(1, sizeof *lines);
  if (!lines) return idm_fail_memory(opt_error);
  lines->data = data;
  lines->setting = setting;
  lines->quantiles = trials->low != NULL;
  idm_status status = idm_file_create(path, &lines->table.file, opt_error);
  if (status == IDM_OK) {
    status = put_header(lines, opt_error);
    for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++)
      for (size_t row = data->first[t]; row < data->first[t + 1]; row++)
        put_row(lines, trials, t, row);
    if (status == IDM_OK)
      status = idm_table_commit(&lines->table, opt_error);
    else
      idm_file_abandon(lines->table.file);
  }
  free(lines);
  return status;
}
