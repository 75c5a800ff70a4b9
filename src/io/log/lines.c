/* Lines of CSV about rows of a log: see the header. */
#include "io/log/lines.h"

#include <stdio.h>

#include "base/memory.h"

static void put(idm_lines *lines, const char *text)
{
  idm_table_text(&lines->table, text, strlen(text));
}

static void comma(idm_lines *lines)
{
  idm_table_put(&lines->table, ",", 1);
}

static void put_ids(idm_lines *lines)
{
  static const char ids[] = "agent,trajectory,step,line,action,observation";
  idm_table_put(&lines->table, ids, sizeof ids - 1);
}

idm_status idm_lines_header(idm_lines *lines, const char *word, const char *opt_label,
                            idm_error *opt_error)
{
  static const char *const suffix[] = {"", ".q5", ".q95"};
  const size_t size = strlen(word) + (opt_label ? strlen(opt_label) + 1 : 0) + sizeof ".q95";
  char *name = idm_new(size, 1);
  if (!name) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < (lines->quantiles ? 3 : 1); i++) {
    snprintf(name, size, "%s%s%s%s", word, opt_label ? "." : "", opt_label ? opt_label : "",
             suffix[i]);
    comma(lines);
    put(lines, name);
  }
  free(name);
  return IDM_OK;
}

/* The cell of an id; a number where there is no name. */
static void put_name(idm_lines *lines, const idm_labels *names, size_t index)
{
  if (index < names->count)
    put(lines, names->name[index]);
  else
    idm_table_whole(&lines->table, index + 1);
}

static void put_label(idm_lines *lines, const idm_labels *labels, int32_t label)
{
  comma(lines);
  if (label >= 0) put(lines, labels->name[label]);
}

static void put_who(idm_lines *lines, size_t trajectory, size_t row)
{
  const idm_data *data = lines->data;
  put_name(lines, &data->agent_name, data->agent[trajectory]);
  comma(lines);
  put_name(lines, &data->trajectory_name, trajectory);
  comma(lines);
  idm_table_whole(&lines->table, row - data->first[trajectory] + 1);
  comma(lines);
  if (data->line[row]) idm_table_whole(&lines->table, data->line[row]);
  put_label(lines, &lines->setting->actions,
            idm_data_missed(data, row) ? IDM_MISSING : data->action[row]);
  put_label(lines, &lines->setting->observations, data->observation[row]);
}

void idm_lines_number(idm_lines *lines, double mean, double low, double high)
{
  const double numbers[] = {mean, low, high};
  for (size_t i = 0; i < (lines->quantiles ? 3 : 1); i++) {
    comma(lines);
    idm_table_number(&lines->table, numbers[i]);
  }
}

void idm_lines_text(idm_lines *lines, const char *text)
{
  comma(lines);
  put(lines, text);
}

static void put_end(idm_lines *lines)
{
  idm_table_put(&lines->table, "\n", 1);
}

static idm_status put_all(idm_lines *lines, const idm_lines_content *content, int64_t trajectory,
                          idm_error *opt_error)
{
  const idm_data *data = lines->data;
  put_ids(lines);
  idm_status status = content->header(lines, opt_error);
  put_end(lines);
  for (size_t t = 0; t < data->trajectories; t++) {
    if (trajectory >= 0 && t != (size_t)trajectory) continue;
    for (size_t row = data->first[t]; row < data->first[t + 1] && status == IDM_OK; row++) {
      put_who(lines, t, row);
      status = content->row(lines, content->content, row, opt_error);
      put_end(lines);
    }
  }
  return status;
}

idm_status idm_lines_write(const idm_data *data, const idm_setting *setting, bool quantiles,
                           const idm_lines_content *content, int64_t trajectory, const char *path,
                           idm_error *opt_error)
{
  idm_status status = idm_data_validate(data, setting, opt_error);
  if (status != IDM_OK) return status;
  idm_lines *lines = idm_new(1, sizeof *lines);
  if (!lines) return idm_fail_memory(opt_error);
  lines->data = data;
  lines->setting = setting;
  lines->quantiles = quantiles;
  status = idm_file_create(path, &lines->table.file, opt_error);
  if (status == IDM_OK) {
    status = put_all(lines, content, trajectory, opt_error);
    if (status == IDM_OK)
      status = idm_table_commit(&lines->table, opt_error);
    else
      idm_file_abandon(lines->table.file);
  }
  free(lines);
  return status;
}
