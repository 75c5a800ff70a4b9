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
  for (size_t i = 0; i < own_width(lines->data->sizes) && status == IDM_OK; i++) {
    const char *label;
    const char *word = word_of(lines, i, &label);
    status = idm_lines_header(lines, word, label, opt_error);
  }
  return status;
}

static idm_status put_row(idm_lines *lines, const void *content, size_t row, idm_error *opt_error)
{
  (void)opt_error;
  const idm_trials *trials = content;
  const size_t first = trials->node[row] * trials->width;
  for (size_t i = first; i < first + own_width(trials->sizes); i++)
    idm_lines_number(lines, trials->mean[i], trials->low ? trials->low[i] : 0,
                     trials->high ? trials->high[i] : 0);
  return IDM_OK;
}

idm_status idm_trials_write_csv(const idm_trials *trials, const idm_data *data,
                                const idm_setting *setting, const char *path, idm_error *opt_error)
{
  idm_require(trials, data, setting, path);
  if (trials->rows != data->rows || !idm_sizes_same(trials->sizes, idm_setting_sizes(setting)))
    return idm_fail(opt_error, IDM_USAGE, "the trials are of other data");
  const idm_lines_content content = {trials, put_header, put_row};
  return idm_lines_write(data, setting, trials->low != NULL, &content, -1, path, opt_error);
}
