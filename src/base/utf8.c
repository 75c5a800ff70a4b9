/* Well-formed UTF-8. */
#include "base/utf8.h"

#include <string.h>

size_t idm_utf8_decode(const char *text, size_t length, unsigned long *ret_code)
{
  static const unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
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
  return code < least[bytes] || code > 0x10ffff || surrogate ? 0 : bytes;
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

bool idm_utf8_is_control(unsigned long code)
{
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

bool idm_utf8_plain(const char *text, size_t length)
{
  unsigned long code;
  for (size_t i = 0, bytes; i < length; i += bytes) {
    bytes = idm_utf8_decode(text + i, length - i, &code);
    if (!bytes || idm_utf8_is_control(code)) return false;
  }
  return true;
}

void idm_utf8_show(char *text)
{
  char *to = text;
  size_t left = strlen(text);
  for (const char *from = text; left;) {
    unsigned long code = 0;
    const size_t bytes = idm_utf8_decode(from, left, &code);
    const size_t step = bytes ? bytes : 1;
    if (bytes && !idm_utf8_is_control(code)) {
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
