/* Text that grows: see the header. */
#include "report/markup.h"

#include <math.h>
#include <stdarg.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/utf8.h"

static bool make_room(idm_markup *m, size_t more)
{
  if (m->failed) return false;
  if (m->length + more + 1 <= m->capacity) return true;
  const size_t capacity = 2 * (m->length + more) + 256;
  char *text = realloc(m->text, capacity);
  m->failed = !text;
  if (!text) return false;
  m->text = text;
  m->capacity = capacity;
  return true;
}

void idm_markup_raw(idm_markup *markup, const char *bytes, size_t length)
{
  if (!make_room(markup, length)) return;
  memcpy(markup->text + markup->length, bytes, length);
  markup->length += length;
  markup->text[markup->length] = '\0';
}

void idm_markup_add(idm_markup *markup, const char *format, ...)
{
  char room[512];
  va_list arguments;
  va_start(arguments, format);
  const int length = idm_print_list(room, sizeof room, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  if ((size_t)length < sizeof room) {
    idm_markup_raw(markup, room, (size_t)length);
    return;
  }
  if (!make_room(markup, (size_t)length)) return;
  va_start(arguments, format);
  idm_print_list(markup->text + markup->length, (size_t)length + 1, format, arguments);
  va_end(arguments);
  markup->length += (size_t)length;
}

static const char *entity_of(unsigned long code)
{
  switch (code) {
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  case '&':
    return "&amp;";
  case '"':
    return "&quot;";
  case '\'':
    return "&#39;";
  default:
    return NULL;
  }
}

/* What a document may hold (XML 1.0, section 2.2). */
static bool is_legal(unsigned long code)
{
  return code >= 32 ? code != 0xFFFE && code != 0xFFFF
                    : code == '\t' || code == '\n' || code == '\r';
}

void idm_markup_text(idm_markup *markup, const char *text)
{
  static const char replacement[] = "\xEF\xBF\xBD";
  const size_t length = strlen(text);
  for (size_t at = 0, bytes; at < length; at += bytes) {
    unsigned long code = 0;
    bytes = idm_utf8_decode(text + at, length - at, &code);
    const bool legal = bytes && is_legal(code);
    const char *other = legal ? entity_of(code) : replacement;
    if (!bytes) bytes = 1;
    idm_markup_raw(markup, other ? other : text + at, other ? strlen(other) : bytes);
  }
}

/* Whole hundredths as a decimal number. By hand: a page draws thousands of places sixty times a
 * second, and where printf computes in long double's software that is most of the time. */
static size_t write_hundredths(long long number, char *room, size_t size)
{
  unsigned long long left =
      number < 0 ? 0ULL - (unsigned long long)number : (unsigned long long)number;
  size_t at = size;
  int skipped = 0, digit = 0;
  for (; digit < 3 || left; digit++, left /= 10) {
    if (digit == 2 && skipped < 2) room[--at] = '.';
    if (digit < 2 && skipped == digit && left % 10 == 0)
      skipped++;
    else
      room[--at] = (char)('0' + left % 10);
  }
  if (number < 0) room[--at] = '-';
  return at;
}

void idm_markup_place(idm_markup *markup, double place)
{
  char room[64];
  const double hundredths = round(100 * place);
  if (fabs(hundredths) < 1e15) {
    const size_t at = write_hundredths((long long)hundredths, room, sizeof room);
    idm_markup_raw(markup, room + at, sizeof room - at);
    return;
  }
  const int length = idm_number_text(hundredths / 100, room, sizeof room);
  if (length > 0) idm_markup_raw(markup, room, (size_t)length);
}

void idm_markup_at(idm_markup *markup, const char *name, double place)
{
  idm_markup_add(markup, " %s=\"", name);
  idm_markup_place(markup, place);
  idm_markup_raw(markup, "\"", 1);
}

idm_status idm_markup_take(idm_markup *markup, char **ret_text, idm_error *opt_error)
{
  *ret_text = NULL;
  idm_markup_raw(markup, "", 0);
  if (markup->failed) {
    free(markup->text);
    *markup = (idm_markup){0};
    return idm_fail_memory(opt_error);
  }
  *ret_text = markup->text;
  *markup = (idm_markup){0};
  return IDM_OK;
}
