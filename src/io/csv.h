/* CSV: a reader of records, and a writer of tables with one line per row of a log.
 *
 * Contents: reader · table · row writer */
#ifndef IDM_IO_CSV_H
#define IDM_IO_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "idm/extension/data.h"
#include "idm/status.h"
#include "io/file.h"

/* === reader ================================================================================= */

/* Reader of CSV (RFC 4180): a stream of records, with the position of every field.
 *
 * Fields are separated by commas, tabs or semicolons: by the one that occurs in the first record
 * outside quotes (by commas if none does; more than one is an error). A quoted field may contain
 * separators, line ends and doubled quotes. Lines end in LF, CRLF or CR; blank lines are skipped,
 * and so is a UTF-8 byte order mark. Every record has as many fields as the first. A stream may be
 * compressed by gzip. */

/* Limits of memory on a file that is not a table. */
#define IDM_CSV_FIELD_LIMIT  ((size_t)1 << 20) /* bytes of a field */
#define IDM_CSV_RECORD_LIMIT ((size_t)1 << 24) /* bytes of a record */
#define IDM_CSV_FIELDS_LIMIT ((size_t)1 << 16) /* fields of a record */

typedef struct idm_csv_field {
  const char *text; /* not NUL-terminated; valid until the next record is read */
  uint32_t length;
  uint32_t line;   /* line where the field begins, from 1 */
  uint32_t column; /* byte of that line, from 1; of the opening quote if the field is quoted */
  bool quoted;
  bool escaped; /* contained doubled quotes */
} idm_csv_field;

/* Form of a file, as far as it has been read. */
typedef struct idm_csv_form {
  bool compressed;
  bool mark;       /* begins with a byte order mark */
  char separator;  /* 0 before the first record */
  size_t feed;     /* records that end in LF, */
  size_t pair;     /* in CRLF, */
  size_t carriage; /* in CR */
} idm_csv_form;

typedef struct idm_csv idm_csv;

/* Read from a stream, which the caller closes; `file` is its name in messages. */
idm_status idm_csv_open_stream(FILE *stream, const char *file, idm_csv **ret_csv,
                               idm_error *opt_error);
/* Read from memory, which must outlive the reader. */
idm_status idm_csv_open_memory(const char *text, size_t length, const char *file, idm_csv **ret_csv,
                               idm_error *opt_error);
/* The next record; *ret_count is 0 after the last. */
idm_status idm_csv_next(idm_csv *csv, const idm_csv_field **ret_field, size_t *ret_count,
                        idm_error *opt_error);
idm_csv_form idm_csv_describe(const idm_csv *csv);
/* NULL is allowed. */
void idm_csv_close(idm_csv *csv);

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

/* === row writer ============================================================================= */

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
