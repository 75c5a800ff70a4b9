/* Builds markup, and estimates the widths of texts.
 *
 * Contents: markup · letters */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/markup.h"

/* === markup ================================================================================= */

/* Growing text of markup. */

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

/* Returns true for characters that a document may contain (XML 1.0, section 2.2). */
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

/* Write hundredths as a decimal number; returns the index of its first character. printf is not
 * used: a page draws thousands of coordinates sixty times per second, and where long double is
 * emulated in software, printf would take most of the time. */
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

void idm_markup_coordinate(idm_markup *markup, double place)
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
  idm_markup_coordinate(markup, place);
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

/* === letters ================================================================================ */

/* Widths of texts. */

/* In thousandths of the font size, for codes 32 to 126 (Adobe's metrics of Helvetica). */
static const short ascii[] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584,
};

/* Width of the character at text, which has *ret_bytes bytes. */
static double width_of(const char *text, size_t left, size_t *ret_bytes)
{
  unsigned long code = 0;
  *ret_bytes = idm_utf8_decode(text, left, &code);
  if (!*ret_bytes) *ret_bytes = 1;
  if (code >= 32 && code < 127) return 1.15e-3 * ascii[code - 32];
  return 0.65 * (double)idm_utf8_width(text, *ret_bytes);
}

double idm_text_width(const char *text)
{
  const size_t length = strlen(text);
  double sum = 0;
  for (size_t at = 0, bytes; at < length; at += bytes)
    sum += width_of(text + at, length - at, &bytes);
  return sum;
}

static const char ellipsis[] = "\xE2\x80\xA6";

/* Bytes of the longest beginning of a text that is at most `width` wide and has at most max_letters
 * bytes. */
static size_t begins(const char *text, double width, size_t max_letters)
{
  const size_t length = strlen(text);
  size_t kept_letters = 0;
  double sum = 0;
  for (size_t bytes; kept_letters < length; kept_letters += bytes) {
    sum += width_of(text + kept_letters, length - kept_letters, &bytes);
    if (sum > width || kept_letters + bytes > max_letters) break;
  }
  return kept_letters;
}

/* Copy the text to buffer if it fits. */
static bool fits_width(const char *text, double width, char *buffer, size_t size)
{
  const size_t length = strlen(text);
  if (length >= size || idm_text_width(text) > width) return false;
  memcpy(buffer, text, length + 1);
  return true;
}

const char *idm_text_fit(const char *text, double width, char *buffer, size_t size)
{
  if (fits_width(text, width, buffer, size)) return buffer;
  const size_t kept_letters = begins(text, width - 0.65, size - sizeof ellipsis);
  memcpy(buffer, text, kept_letters);
  memcpy(buffer + kept_letters, ellipsis, sizeof ellipsis);
  return buffer;
}

const char *idm_text_elide(const char *text, double width, char *buffer, size_t size)
{
  if (fits_width(text, width, buffer, size)) return buffer;
  const double half = (width - 0.65) / 2;
  const size_t max_letters = (size - sizeof ellipsis) / 2,
               kept_letters = begins(text, half, max_letters);
  /* Find the first position from which the rest is narrow enough. */
  const size_t length = strlen(text);
  size_t from = kept_letters;
  while (from < length && (length - from > max_letters || idm_text_width(text + from) > half)) {
    size_t bytes;
    width_of(text + from, length - from, &bytes);
    from += bytes;
  }
  memcpy(buffer, text, kept_letters);
  memcpy(buffer + kept_letters, ellipsis, sizeof ellipsis - 1);
  memcpy(buffer + kept_letters + sizeof ellipsis - 1, text + from, length - from + 1);
  return buffer;
}
