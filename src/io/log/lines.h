/* Lines of CSV about rows of a log: what trials and explanations have in common. */
#ifndef IDM_IO_LOG_LINES_H
#define IDM_IO_LOG_LINES_H

#include "idm/data.h"
#include "io/log/table.h"

typedef struct idm_lines {
  const idm_data *data; /* borrowed, as is the setting */
  const idm_setting *setting;
  bool quantiles; /* every number is followed by its quantiles */
  idm_table table;
} idm_lines;

/* Headers: of the row itself, then ",WORD" or ",WORD.LABEL", with .q5 and .q95 beside it. */
void idm_lines_begin(idm_lines *lines);
idm_status idm_lines_header(idm_lines *lines, const char *word, const char *opt_label,
                            idm_error *opt_error);
/* Cells: agent, trajectory, step, line, action, observation of a row; then numbers. */
void idm_lines_row(idm_lines *lines, size_t trajectory, size_t row);
void idm_lines_number(idm_lines *lines, double mean, double low, double high);
void idm_lines_text(idm_lines *lines, const char *text);
void idm_lines_end(idm_lines *lines);

#endif
