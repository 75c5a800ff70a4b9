/* CSV tables with one line per row of a log.
 *
 * Contents: table · lines */
#ifndef IDM_IO_LOG_TABLE_H
#define IDM_IO_LOG_TABLE_H

#include <stddef.h>

#include "idm/extension/data.h"
#include "io/file.h"

/* === table ================================================================================== */

/* Buffered writer of CSV; cells are quoted where necessary. */

/* Characters that make a cell quoted: all that a reader may treat as a separator. */
#define IDM_CSV_SPECIAL ",;\t\"\r\n"

/* Zero-initialise, then set the file. */
typedef struct idm_csv_writer {
  idm_file *file;
  size_t used;
  char bytes[1 << 16];
} idm_csv_writer;

/* Write bytes without quotes. */
void idm_csv_writer_put(idm_csv_writer *table, const char *bytes, size_t length);
/* Write a cell: a whole number; a number that reads back exactly (NaN: an empty cell); a text. */
void idm_csv_writer_integer(idm_csv_writer *table, size_t number);
void idm_csv_writer_number(idm_csv_writer *table, double value);
void idm_csv_writer_text(idm_csv_writer *table, const char *text, size_t length);
/* Write what is left in the buffer and commit the file. */
idm_status idm_csv_writer_commit(idm_csv_writer *table, idm_error *opt_error);

/* === lines ================================================================================== */

/* CSV lines about rows of a log, shared by trials and explanations. */

typedef struct idm_row_writer {
  const idm_data *data; /* borrowed, as is the setting */
  const idm_setting *setting;
  bool quantiles; /* every number is followed by its quantiles */
  idm_csv_writer table;
} idm_row_writer;

/* Content of the lines: functions that write the header cells and the cells of a row. */
typedef struct idm_row_content {
  const void *content;
  idm_status (*header)(idm_row_writer *writer, idm_error *opt_error);
  idm_status (*row)(idm_row_writer *writer, const void *content, size_t row, idm_error *opt_error);
} idm_row_content;

/* Write a file with one line per row of a log, or of one trajectory (-1: all): agent, trajectory,
 * step, line, action, observation, then the cells of `content`. */
idm_status idm_row_writer_write(const idm_data *data, const idm_setting *setting, bool quantiles,
                                const idm_row_content *content, int64_t trajectory,
                                const char *path, idm_error *opt_error);

/* Write a header cell, ",WORD" or ",WORD.LABEL", followed by cells with .q5 and .q95 if the writer
 * has quantiles. */
idm_status idm_row_writer_header(idm_row_writer *writer, const char *word, const char *opt_label,
                                 idm_error *opt_error);
/* Write a number, with its quantiles if the writer has them, or a text. */
void idm_row_writer_number(idm_row_writer *writer, double mean, double low, double high);
void idm_row_writer_text(idm_row_writer *writer, const char *text);

#endif
