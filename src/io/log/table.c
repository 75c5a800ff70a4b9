/* CSV on its way to a file: cells, quoted where they must be, through a buffer. */
#include "io/log/table.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

void idm_table_put(idm_table *table, const char *bytes, size_t length)
{
  if (length > sizeof table->bytes - table->used) {
    idm_file_write(table->file, table->bytes, table->used);
    table->used = 0;
    if (length > sizeof table->bytes) {
      idm_file_write(table->file, bytes, length);
      return;
    }
  }
  memcpy(table->bytes + table->used, bytes, length);
  table->used += length;
}

void idm_table_whole(idm_table *table, size_t number)
{
  char digits[24];
  size_t first = sizeof digits;
  do {
    digits[--first] = (char)('0' + number % 10);
    number /= 10;
  } while (number);
  idm_table_put(table, digits + first, sizeof digits - first);
}

void idm_table_number(idm_table *table, double value)
{
  if (isnan(value)) return;
  char number[40];
  const int length = idm_number_text(value, number, sizeof number);
  idm_table_put(table, number, (size_t)length);
}

void idm_table_text(idm_table *table, const char *text, size_t length)
{
  bool quoted = false;
  for (size_t i = 0; i < length; i++) quoted = quoted || strchr(IDM_TABLE_SPECIAL, text[i]);
  if (!quoted) {
    idm_table_put(table, text, length);
    return;
  }
  idm_table_put(table, "\"", 1);
  for (size_t i = 0; i < length; i++) {
    idm_table_put(table, text + i, 1);
    if (text[i] == '"') idm_table_put(table, text + i, 1);
  }
  idm_table_put(table, "\"", 1);
}

idm_status idm_table_commit(idm_table *table, idm_error *opt_error)
{
  idm_file_write(table->file, table->bytes, table->used);
  return idm_file_commit(table->file, opt_error);
}
