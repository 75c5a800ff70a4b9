/* Status codes, errors, checks of arguments, and the version.
 *
 * Contents: status · arguments · version */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/text.h"
#include "idm/status.h"

/* === status ================================================================================= */

/* Status codes, errors with a place in a file, and warnings. */

static const struct {
  const char *name;
  int exit_code;
  const char *text;
} statuses[] = {
#define STATUS_ROW(name, exit_code, text) {#name, exit_code, text},
    IDM_STATUS_LIST(STATUS_ROW)
#undef STATUS_ROW
};

static size_t status_index(idm_status status)
{
  const size_t i = (size_t)status;
  return i < sizeof statuses / sizeof statuses[0] ? i : (size_t)IDM_SYSTEM;
}

const char *idm_status_name(idm_status status)
{
  return statuses[status_index(status)].name;
}

const char *idm_status_text(idm_status status)
{
  return statuses[status_index(status)].text;
}

int idm_status_exit_code(idm_status status)
{
  return statuses[status_index(status)].exit_code;
}

void idm_error_set(idm_error *opt_error, idm_status status, const char *opt_file, long line,
                   long column, const char *format, ...)
{
  if (!opt_error) return;
  opt_error->status = status;
  opt_error->line = line;
  opt_error->column = column;
  snprintf(opt_error->file, sizeof opt_error->file, "%s", opt_file ? opt_file : "");
  va_list arguments;
  va_start(arguments, format);
  idm_print_list(opt_error->message, sizeof opt_error->message, format, arguments);
  va_end(arguments);
  idm_utf8_sanitise(opt_error->file);
  idm_utf8_sanitise(opt_error->message);
}

char *idm_error_text(const idm_error *error, char *buffer, size_t size)
{
  if (!error || !buffer) return NULL;
  if (!error->file[0])
    snprintf(buffer, size, "%s", error->message);
  else if (error->line > 0 && error->column > 0)
    snprintf(buffer, size, "%s:%ld:%ld: %s", error->file, error->line, error->column,
             error->message);
  else if (error->line > 0)
    snprintf(buffer, size, "%s:%ld: %s", error->file, error->line, error->message);
  else
    snprintf(buffer, size, "%s: %s", error->file, error->message);
  return buffer;
}

void idm_notes_add(idm_notes *opt_notes, const char *format, ...)
{
  if (!opt_notes) return;
  if (opt_notes->count == opt_notes->capacity) {
    const size_t capacity = opt_notes->capacity ? 2 * opt_notes->capacity : 8;
    char **larger = realloc(opt_notes->text, capacity * sizeof *larger);
    if (!larger) return;
    opt_notes->text = larger;
    opt_notes->capacity = capacity;
  }
  va_list arguments;
  va_start(arguments, format);
  const int length = idm_print_list(NULL, 0, format, arguments);
  va_end(arguments);
  char *text = length < 0 ? NULL : malloc((size_t)length + 1);
  if (!text) return;
  va_start(arguments, format);
  idm_print_list(text, (size_t)length + 1, format, arguments);
  va_end(arguments);
  idm_utf8_sanitise(text);
  opt_notes->text[opt_notes->count++] = text;
}

void idm_notes_clear(idm_notes *notes)
{
  if (!notes) return;
  for (size_t i = 0; i < notes->count; i++) free(notes->text[i]);
  free(notes->text);
  *notes = (idm_notes){0};
}

/* === arguments ============================================================================== */

/* Checks of the pointer arguments of public functions. */

idm_status idm_check_arguments(const char *function, const void *const *pointers, size_t count,
                               const char *names, idm_error *opt_error)
{
  size_t i = 0;
  while (i < count && pointers[i]) i++;
  if (i == count) return IDM_OK;
  for (; i; i--) names = strchr(names, ',') + 2;
  return idm_fail(opt_error, IDM_USAGE, "%s was called with NULL for '%.*s'", function,
                  (int)strcspn(names, ","), names);
}

/* Largest size of a struct of a caller: a larger number is not a size. */
enum { max_struct = 4096 };

idm_status idm_struct_read(void *to, size_t known, size_t least, const void *from, const char *name,
                           idm_error *opt_error)
{
  size_t size;
  memcpy(&size, from, sizeof size);
  if (size < least || size > max_struct)
    return idm_fail(opt_error, IDM_USAGE, "%s.size is %zu; expected sizeof(%s), %zu", name, size,
                    name, known);
  for (size_t i = known; i < size; i++)
    if (((const unsigned char *)from)[i])
      return idm_fail(opt_error, IDM_USAGE,
                      "%s has fields of a later version, which version %s lacks: set them to 0",
                      name, idm_version());
  memset(to, 0, known);
  memcpy(to, from, size < known ? size : known);
  return IDM_OK;
}

/* === version ================================================================================ */

/* The version that the build defines. */

const char *idm_version(void)
{
  return IDM_VERSION;
}
