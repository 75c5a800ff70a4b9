/* Well-formed UTF-8: what names may be made of, so that every output can carry them. */
#ifndef IDM_BASE_UTF8_H
#define IDM_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the character at `text` and its code, or 0 where it is malformed, overlong or a
 * surrogate. */
size_t idm_utf8_decode(const char *text, size_t length, unsigned long *ret_code);
bool idm_utf8_valid(const char *text, size_t length);
/* Well-formed, without such characters: what a name may be made of. */
bool idm_utf8_plain(const char *text, size_t length);
/* Columns of a terminal that a text takes: none for marks that go onto the letter before, two for
 * wide characters (Unicode Standard Annex 11). */
size_t idm_utf8_width(const char *text, size_t length);
/* Bytes of the longest beginning, in whole characters, that takes at most so many columns. */
size_t idm_utf8_fit(const char *text, size_t columns);
/* Put '?' in place of every control character and every byte that is no character. */
void idm_utf8_show(char *text);

#endif
