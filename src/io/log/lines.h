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

/* What lines are about: how its headers and the cells of a row are put. */
typedef struct idm_lines_content {
  const void *content;
  idm_status (*header)(idm_lines *lines, idm_error *opt_error);
  idm_status (*row)(idm_lines *lines, const void *content, size_t row, idm_error *opt_error);
} idm_lines_content;

/* A file with a line for every row of a log, or of one trajectory (-1: all): agent, trajectory,
 * step, line, action, observation, then the content's own cells. */
idm_status idm_lines_write(const idm_data *data, const idm_setting *setting, bool quantiles,
                           const idm_lines_content *content, int64_t trajectory, const char *path,
                           idm_error *opt_error);

/* A header, ",WORD" or ",WORD.LABEL", with .q5 and .q95 beside it. */
idm_status idm_lines_header(idm_lines *lines, const char *word, const char *opt_label,
                            idm_error *opt_error);
/* Cells. */
void idm_lines_number(idm_lines *lines, double mean, double low, double high);
void idm_lines_text(idm_lines *lines, const char *text);

#endif
