/* Copies CSV so that a spreadsheet does not execute its cells as formulas. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/text.h"
#include "io/file.h"
#include "io/log_file.h"

static const size_t max_bytes = (size_t)1 << 36;

/* Returns true if a cell is a number, which a spreadsheet displays as such. */
static bool is_number(const char *cell, size_t length)
{
  double number;
  if (length == 4 && (memcmp(cell, "-inf", 4) == 0 || memcmp(cell, "+inf", 4) == 0)) return true;
  return idm_number_decimal(cell, length, &number);
}

/* Returns true if a spreadsheet would interpret a cell as a formula. Leading blanks are skipped, as
 * some programs do. */
static bool is_formula(const char *cell, size_t length)
{
  size_t first = 0;
  while (first < length && cell[first] == ' ') first++;
  if (first == length || !strchr("=+-@\t\r\n", cell[first])) return false;
  return !is_number(cell + first, length - first);
}

/* Length of the cell at `text`, including its quotes. */
static size_t measure(const char *text, size_t length)
{
  size_t at = 0;
  bool inside = length && text[0] == '"';
  if (inside) at++;
  for (; at < length && (inside || !strchr(",;\t\r\n", text[at])); at++)
    if (text[at] == '"') inside = !inside;
  return at;
}

static void put_cell(idm_file *file, const char *cell, size_t length)
{
  const bool quoted = length >= 2 && cell[0] == '"';
  const char *content = quoted ? cell + 1 : cell;
  const size_t count = quoted ? length - 2 : length;
  if (!is_formula(content, count)) {
    idm_file_write(file, cell, length);
    return;
  }
  /* Doubled quotes stay doubled; a cell without quotes contains none. */
  idm_file_write(file, "\"'", 2);
  idm_file_write(file, content, count);
  idm_file_write(file, "\"", 1);
}

idm_status idm_csv_escape_formulas(const char *from, const char *to, idm_error *opt_error)
{
  idm_require(from, to);
  char *text;
  size_t length;
  idm_file *file = NULL;
  idm_status status = idm_file_read(from, max_bytes, &text, &length, opt_error);
  if (status == IDM_OK) status = idm_file_create(to, &file, opt_error);
  for (size_t at = 0; status == IDM_OK && at < length;) {
    const size_t cell = measure(text + at, length - at);
    put_cell(file, text + at, cell);
    at += cell;
    if (at < length) idm_file_write(file, text + at++, 1);
  }
  free(text);
  return status == IDM_OK ? idm_file_commit(file, opt_error) : status;
}
