/* Reader of CSV (RFC 4180): a stream of records, with the position of every field.
 *
 * Fields are separated by commas, tabs or semicolons: by the one that occurs in the first record
 * outside quotes (by commas if none does; more than one is an error). A quoted field may contain
 * separators, line ends and doubled quotes. Lines end in LF, CRLF or CR; blank lines are skipped,
 * and so is a UTF-8 byte order mark. Every record has as many fields as the first. A stream may be
 * compressed by gzip. */
#ifndef IDM_IO_CSV_H
#define IDM_IO_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "idm/status.h"

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

#endif
