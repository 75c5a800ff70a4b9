/* An explanation as CSV: a line a row, beside what a rational agent would have done. */
#include <math.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/log_file.h"
#include "io/log/lines.h"

/* Columns by state or action, in their order in the file. */
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

static idm_status put_header(idm_lines *lines, idm_error *opt_error)
{
  idm_status status = idm_lines_header(lines, "surprise", NULL, opt_error);
  if (status == IDM_OK) status = idm_lines_header(lines, "regret", NULL, opt_error);
  idm_lines_text(lines, "rational");
  idm_lines_text(lines, "rational_at_belief");
  for (size_t c = 0; c < column_count; c++) {
    const idm_labels *labels = labels_of(lines->setting, &columns[c]);
    for (size_t i = 0; i < labels->count && status == IDM_OK; i++)
      status = idm_lines_header(lines, columns[c].word, labels->name[i], opt_error);
  }
  return status;
}

static void put_interval(idm_lines *lines, idm_interval number)
{
  idm_lines_number(lines, number.mean, number.low, number.high);
}

static idm_status put_row(idm_lines *lines, const void *content, size_t row, idm_error *opt_error)
{
  const idm_explanation *e = content;
  static const idm_explain_part named[] = {IDM_EXPLAIN_RATIONAL, IDM_EXPLAIN_RATIONAL_AT_BELIEF};
  put_interval(lines, idm_explained_surprise(e, lines->data, row));
  put_interval(lines, idm_explained(e, row, IDM_EXPLAIN_REGRET, 0));
  for (size_t i = 0; i < 2; i++) {
    char *name;
    const idm_status status =
        idm_explained_actions(e, lines->setting, row, named[i], &name, opt_error);
    if (status != IDM_OK) return status;
    idm_lines_text(lines, name);
    free(name);
  }
  for (size_t c = 0; c < column_count; c++)
    for (size_t i = 0; i < labels_of(lines->setting, &columns[c])->count; i++)
      put_interval(lines, idm_explained(e, row, columns[c].part, i));
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
  const idm_lines_content content = {explanation, put_header, put_row};
  return idm_lines_write(data, setting, explanation->trials->low != NULL, &content, trajectory,
                         path, opt_error);
}
