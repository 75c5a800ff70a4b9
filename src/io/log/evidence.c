/* Reads columns of evidence other than actions and observations: numbers and labels, as their
 * descriptors specify. */
#include "io/log/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "setting/model.h"

static bool is_number(const idm_log *log, size_t c)
{
  return log->header.role[c].count && idm_column_describe((idm_column)c)->kind == IDM_COLUMN_NUMBER;
}

static bool is_label(const idm_log *log, size_t c)
{
  return log->header.role[c].count && idm_column_describe((idm_column)c)->kind == IDM_COLUMN_LABEL;
}

bool idm_log_grow_evidence(idm_log *log, size_t capacity)
{
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    if (is_number(log, c)) {
      double *number = realloc(log->evidence_number[c], idm_times(capacity, sizeof *number));
      if (!number) return false;
      log->evidence_number[c] = number;
    }
    if (is_label(log, c)) {
      int32_t *label = realloc(log->evidence_label[c], idm_times(capacity, sizeof *label));
      if (!label) return false;
      log->evidence_label[c] = label;
    }
  }
  return true;
}

void idm_log_clear_evidence(idm_log *log)
{
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    free(log->evidence_number[c]);
    free(log->evidence_label[c]);
    idm_intern_clear(&log->evidence_text[c]);
  }
}

static idm_status fail_cell(const idm_log *log, const idm_csv_field *cell,
                            const idm_column_info *info, idm_error *opt_error)
{
  char expected[80] = "a label";
  if (info->kind == IDM_COLUMN_NUMBER) {
    const int used =
        idm_print(expected, sizeof expected, "a %s number", info->whole ? "whole" : "finite");
    if (isfinite(info->least))
      idm_print(expected + used, sizeof expected - (size_t)used, " of at least %g", info->least);
  }
  return idm_fail_at(opt_error, log->file, (long)cell->line, (long)cell->column,
                     "'%.*s' for %s; expected %s", IDM_CELL_FORMAT(*cell), info->what, expected);
}

static idm_status read_number(idm_log *log, size_t c, const idm_csv_field *cell,
                              idm_error *opt_error)
{
  const idm_column_info *info = idm_column_describe((idm_column)c);
  double *number = &log->evidence_number[c][log->rows];
  /* The number of a missed response is 0 unless the log gives one. */
  if (!cell->length && idm_log_is_missed(log, log->rows) && !info->by_trajectory) {
    *number = 0;
    return IDM_OK;
  }
  /* A row that only gives the final state of a trajectory is not a step and has no number. */
  if (!cell->length && log->state && log->action[log->rows] < 0 && !info->by_trajectory) {
    *number = NAN;
    return IDM_OK;
  }
  if (idm_cell_number(cell, number) && *number >= info->least &&
      (!info->whole || *number == floor(*number)))
    return IDM_OK;
  return fail_cell(log, cell, info, opt_error);
}

/* IDM_INPUT if the problem names environments and the cell is none of them. */
static idm_status check_environment(const idm_log *log, const idm_csv_field *cell,
                                    idm_error *opt_error)
{
  const idm_problem *problem = log->problem;
  char list[300] = "";
  for (size_t i = 0; i < problem->environments; i++) {
    const char *name = problem->environment[i].name;
    if (strlen(name) == cell->length && memcmp(name, cell->text, cell->length) == 0) return IDM_OK;
    const size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%.60s", i ? ", " : "", name);
  }
  if (!problem->environments) return IDM_OK;
  return idm_fail_at(opt_error, log->file, (long)cell->line, (long)cell->column,
                     "'%.*s' is no environment of the problem; expected one of: %s",
                     IDM_CELL_FORMAT(*cell), list);
}

static idm_status read_label(idm_log *log, size_t c, const idm_csv_field *cell,
                             idm_error *opt_error)
{
  uint32_t index;
  const idm_column_info *info = idm_column_describe((idm_column)c);
  if (!cell->length) return fail_cell(log, cell, info, opt_error);
  idm_status status = idm_log_check_name(log, cell, info->what, opt_error);
  if (status == IDM_OK && c == IDM_COLUMN_ENVIRONMENT)
    status = check_environment(log, cell, opt_error);
  if (status != IDM_OK) return status;
  if (!idm_intern_add(&log->evidence_text[c], cell->text, cell->length, &index))
    return idm_fail_memory(opt_error);
  log->evidence_label[c][log->rows] = (int32_t)index;
  return IDM_OK;
}

/* IDM_INPUT if a column per trajectory differs between rows of a trajectory. */
static idm_status check_same(const idm_log *log, size_t c, const idm_csv_field *cell,
                             idm_error *opt_error)
{
  const idm_column_info *info = idm_column_describe((idm_column)c);
  const uint32_t first_row = log->known[log->trajectory[log->rows]].first_row;
  const bool same = is_number(log, c)
                        ? log->evidence_number[c][first_row] == log->evidence_number[c][log->rows]
                        : log->evidence_label[c][first_row] == log->evidence_label[c][log->rows];
  if (!info->by_trajectory || same) return IDM_OK;
  return idm_fail_at(opt_error, log->file, (long)cell->line, (long)cell->column,
                     "'%.*s' for %s differs from line %lu of the same trajectory; it must stay the "
                     "same within a trajectory",
                     IDM_CELL_FORMAT(*cell), info->what, (unsigned long)log->line[first_row]);
}

idm_status idm_log_read_evidence(idm_log *log, const idm_csv_field *field, idm_error *opt_error)
{
  for (size_t c = 0; c < IDM_COLUMN_COUNT; c++) {
    if (!is_number(log, c) && !is_label(log, c)) continue;
    const idm_csv_field cell = idm_log_cell(log, &field[log->header.role[c].column[0]]);
    idm_status status = is_number(log, c) ? read_number(log, c, &cell, opt_error)
                                          : read_label(log, c, &cell, opt_error);
    if (status == IDM_OK) status = check_same(log, c, &cell, opt_error);
    if (status != IDM_OK) return status;
  }
  return IDM_OK;
}

/* Row of entry i of a column. */
static size_t row_of(const idm_data *data, const idm_column_info *info, const uint32_t *order,
                     size_t i)
{
  const size_t position = info->by_trajectory ? data->first[i] : i;
  return order ? order[position] : position;
}

idm_status idm_log_move_evidence(const idm_log *log, const uint32_t *order, idm_data *data,
                                 idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t c = 0; c < IDM_COLUMN_COUNT && status == IDM_OK; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    const size_t count = info->by_trajectory ? data->trajectories : data->rows;
    if (is_number(log, c)) {
      data->number[c] = idm_new(count, sizeof *data->number[c]);
      if (!data->number[c]) return idm_fail_memory(opt_error);
      for (size_t i = 0; i < count; i++)
        data->number[c][i] = log->evidence_number[c][row_of(data, info, order, i)];
    }
    if (is_label(log, c)) {
      data->label[c] = idm_new(count, sizeof *data->label[c]);
      if (!data->label[c]) return idm_fail_memory(opt_error);
      for (size_t i = 0; i < count; i++)
        data->label[c][i] = log->evidence_label[c][row_of(data, info, order, i)];
      status = idm_labels_create(&data->label_name[c], log->evidence_text[c].count, opt_error);
      for (uint32_t i = 0; i < log->evidence_text[c].count && status == IDM_OK; i++) {
        size_t length;
        const char *text = idm_intern_text(&log->evidence_text[c], i, &length);
        status = idm_labels_set(&data->label_name[c], i, text, length, opt_error);
      }
    }
  }
  return status;
}
