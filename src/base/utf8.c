/* Decode, measure and sanitise UTF-8. */
#include "base/text.h"

#include <string.h>

size_t idm_utf8_decode(const char *text, size_t length, unsigned long *ret_code)
{
  static const unsigned long min_code[] = {0, 0, 0x80, 0x800, 0x10000};
  if (!length) return 0;
  const unsigned char first = (unsigned char)text[0];
  const size_t bytes = first < 0x80             ? 1
                       : (first & 0xe0) == 0xc0 ? 2
                       : (first & 0xf0) == 0xe0 ? 3
                       : (first & 0xf8) == 0xf0 ? 4
                                                : 0;
  if (!bytes || bytes > length) return 0;
  unsigned long code = bytes == 1 ? first : first & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; i++) {
    const unsigned char next = (unsigned char)text[i];
    if ((next & 0xc0) != 0x80) return 0;
    code = code << 6 | (next & 0x3fu);
  }
  *ret_code = code;
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < min_code[bytes] || code > 0x10ffff || surrogate ? 0 : bytes;
}

bool idm_utf8_valid(const char *text, size_t length)
{
  for (size_t i = 0; i < length;) {
    unsigned long code;
    const size_t bytes = idm_utf8_decode(text + i, length - i, &code);
    if (!bytes) return false;
    i += bytes;
  }
  return true;
}

/* Whether a character must not reach a terminal: controls, line separators and changes of
 * direction. */
static bool is_control(unsigned long code)
{
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

bool idm_utf8_is_printable(const char *text, size_t length)
{
  unsigned long code;
  for (size_t i = 0, bytes; i < length; i += bytes) {
    bytes = idm_utf8_decode(text + i, length - i, &code);
    if (!bytes || is_control(code)) return false;
  }
  return true;
}

/* Ranges of codes whose width is not one column, in ascending order: combining marks and characters
 * without width (0), wide characters (2). */
typedef struct span {
  unsigned long first;
  unsigned long last;
  size_t columns;
} span;

static size_t columns_of(unsigned long code)
{
  static const span spans[] = {
      {0x300, 0x36f, 0},     {0x483, 0x489, 0},     {0x591, 0x5bd, 0},     {0x610, 0x61a, 0},
      {0x64b, 0x65f, 0},     {0x900, 0x902, 0},     {0x93c, 0x93c, 0},     {0x941, 0x948, 0},
      {0x94d, 0x94d, 0},     {0xe31, 0xe31, 0},     {0xe34, 0xe3a, 0},     {0xe47, 0xe4e, 0},
      {0x1100, 0x115f, 2},   {0x1ab0, 0x1aff, 0},   {0x1dc0, 0x1dff, 0},   {0x200b, 0x200f, 0},
      {0x20d0, 0x20ff, 0},   {0x2e80, 0x303e, 2},   {0x3041, 0x3098, 2},   {0x3099, 0x309a, 0},
      {0x309b, 0x33ff, 2},   {0x3400, 0x4dbf, 2},   {0x4e00, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},
      {0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0},   {0xfe30, 0xfe6f, 2},
      {0xfeff, 0xfeff, 0},   {0xff01, 0xff60, 2},   {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2},
      {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2},
  };
  for (size_t i = 0; i < sizeof spans / sizeof spans[0] && spans[i].first <= code; i++)
    if (code <= spans[i].last) return spans[i].columns;
  return 1;
}

/* Length in bytes of the next character, and its columns; an invalid byte counts as one character
 * of one column. */
static size_t next_character(const char *text, size_t length, size_t *ret_columns)
{
  unsigned long code;
  const size_t bytes = idm_utf8_decode(text, length, &code);
  *ret_columns = bytes ? columns_of(code) : 1;
  return bytes ? bytes : 1;
}

size_t idm_utf8_width(const char *text, size_t length)
{
  size_t sum = 0;
  for (size_t i = 0, columns; i < length; sum += columns)
    i += next_character(text + i, length - i, &columns);
  return sum;
}

size_t idm_utf8_fit(const char *text, size_t columns)
{
  const size_t length = strlen(text);
  size_t used = 0;
  while (used < length) {
    size_t own;
    const size_t bytes = next_character(text + used, length - used, &own);
    if (own > columns) break;
    columns -= own;
    used += bytes;
  }
  return used;
}

void idm_utf8_sanitise(char *text)
{
  char *to = text;
  size_t left = strlen(text);
  for (const char *from = text; left;) {
    unsigned long code = 0;
    const size_t bytes = idm_utf8_decode(from, left, &code);
    const size_t step = bytes ? bytes : 1;
    if (bytes && !is_control(code)) {
      memmove(to, from, bytes);
      to += bytes;
    } else {
      *to++ = '?';
    }
    from += step;
    left -= step;
  }
  *to = '\0';
}
