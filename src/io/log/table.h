/* CSV on its way to a file: cells, quoted where they must be, through a buffer. */
#ifndef IDM_IO_LOG_TABLE_H
#define IDM_IO_LOG_TABLE_H

#include <stddef.h>

#include "idm/file.h"

/* Characters that a cell is quoted for: all that a reader may take for a separator. */
#define IDM_TABLE_SPECIAL ",;\t\"\r\n"

/* Zero-initialise, then set the file. */
typedef struct idm_table {
  idm_file *file;
  size_t used;
  char bytes[1 << 16];
} idm_table;

/* Bytes as they are. */
void idm_table_put(idm_table *table, const char *bytes, size_t length);
/* A cell: a whole number, a number that reads back (nothing for NaN), a text. */
void idm_table_whole(idm_table *table, size_t number);
void idm_table_number(idm_table *table, double value);
void idm_table_text(idm_table *table, const char *text, size_t length);
/* What is left in the buffer, and the file into place. */
idm_status idm_table_commit(idm_table *table, idm_error *opt_error);

#endif
