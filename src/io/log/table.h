/* Tables that are written as CSV.
 *
 * Contents: table · lines */
#ifndef IDM_IO_LOG_TABLE_H
#define IDM_IO_LOG_TABLE_H

#include <stddef.h>

#include "idm/data.h"
#include "idm/file.h"

/* === table ================================================================================== */

/* CSV on its way to a file: cells, quoted where they must be, through a buffer. */

/* Characters that a cell is quoted for: all that a reader may take for a separator. */
#define IDM_CSV_SPECIAL ",;\t\"\r\n"

/* Zero-initialise, then set the file. */
typedef struct idm_csv_writer {
  idm_file *file;
  size_t used;
  char bytes[1 << 16];
} idm_csv_writer;

/* Bytes as they are. */
void idm_csv_writer_put(idm_csv_writer *table, const char *bytes, size_t length);
/* A cell: a whole number, a number that reads back (nothing for NaN), a text. */
void idm_csv_writer_integer(idm_csv_writer *table, size_t number);
void idm_csv_writer_number(idm_csv_writer *table, double value);
void idm_csv_writer_text(idm_csv_writer *table, const char *text, size_t length);
/* What is left in the buffer, and the file into place. */
idm_status idm_csv_writer_commit(idm_csv_writer *table, idm_error *opt_error);

/* === lines ================================================================================== */

/* Lines of CSV about rows of a log: what trials and explanations have in common. */

typedef struct idm_row_writer {
  const idm_data *data; /* borrowed, as is the setting */
  const idm_setting *setting;
  bool quantiles; /* every number is followed by its quantiles */
  idm_csv_writer table;
} idm_row_writer;

/* What lines are about: how its headers and the cells of a row are put. */
typedef struct idm_row_content {
  const void *content;
  idm_status (*header)(idm_row_writer *writer, idm_error *opt_error);
  idm_status (*row)(idm_row_writer *writer, const void *content, size_t row, idm_error *opt_error);
} idm_row_content;

/* A file with a line for every row of a log, or of one trajectory (-1: all): agent, trajectory,
 * step, line, action, observation, then the content's own cells. */
idm_status idm_row_writer_write(const idm_data *data, const idm_setting *setting, bool quantiles,
                                const idm_row_content *content, int64_t trajectory,
                                const char *path, idm_error *opt_error);

/* A header, ",WORD" or ",WORD.LABEL", with .q5 and .q95 beside it. */
idm_status idm_row_writer_header(idm_row_writer *writer, const char *word, const char *opt_label,
                                 idm_error *opt_error);
/* Cells. */
void idm_row_writer_number(idm_row_writer *writer, double mean, double low, double high);
void idm_row_writer_text(idm_row_writer *writer, const char *text);

#endif
