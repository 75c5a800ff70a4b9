/* How wide words are: see the header. */
#include "report/letters.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

/* Of a thousandth of the size, for codes 32 to 126 (Adobe's metrics of Helvetica). */
static const short ascii[] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584,
};

/* Of the character at text, whose bytes are *ret_bytes. */
static double width_of(const char *text, size_t left, size_t *ret_bytes)
{
  unsigned long code = 0;
  *ret_bytes = idm_utf8_decode(text, left, &code);
  if (!*ret_bytes) *ret_bytes = 1;
  if (code >= 32 && code < 127) return 1.15e-3 * ascii[code - 32];
  return 0.65 * (double)idm_utf8_width(text, *ret_bytes);
}

double idm_letters_width(const char *text)
{
  const size_t length = strlen(text);
  double sum = 0;
  for (size_t at = 0, bytes; at < length; at += bytes)
    sum += width_of(text + at, length - at, &bytes);
  return sum;
}

static const char ellipsis[] = "\xE2\x80\xA6";

/* How many bytes a text has from its beginning that are at most so wide, and so many. */
static size_t begins(const char *text, double width, size_t most)
{
  const size_t length = strlen(text);
  size_t kept = 0;
  double sum = 0;
  for (size_t bytes; kept < length; kept += bytes) {
    sum += width_of(text + kept, length - kept, &bytes);
    if (sum > width || kept + bytes > most) break;
  }
  return kept;
}

/* The text itself where it fits. */
static bool fits(const char *text, double width, char *buffer, size_t size)
{
  const size_t length = strlen(text);
  if (length >= size || idm_letters_width(text) > width) return false;
  memcpy(buffer, text, length + 1);
  return true;
}

const char *idm_letters_fit(const char *text, double width, char *buffer, size_t size)
{
  if (fits(text, width, buffer, size)) return buffer;
  const size_t kept = begins(text, width - 0.65, size - sizeof ellipsis);
  memcpy(buffer, text, kept);
  memcpy(buffer + kept, ellipsis, sizeof ellipsis);
  return buffer;
}

const char *idm_letters_squeeze(const char *text, double width, char *buffer, size_t size)
{
  if (fits(text, width, buffer, size)) return buffer;
  const double half = (width - 0.65) / 2;
  const size_t most = (size - sizeof ellipsis) / 2, kept = begins(text, half, most);
  /* From its end back: the first place from which the rest is narrow enough. */
  const size_t length = strlen(text);
  size_t from = kept;
  while (from < length && (length - from > most || idm_letters_width(text + from) > half)) {
    size_t bytes;
    width_of(text + from, length - from, &bytes);
    from += bytes;
  }
  memcpy(buffer, text, kept);
  memcpy(buffer + kept, ellipsis, sizeof ellipsis - 1);
  memcpy(buffer + kept + sizeof ellipsis - 1, text + from, length - from + 1);
  return buffer;
}
