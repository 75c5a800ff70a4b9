/* Text: numbers, UTF-8, spelling, interned strings and checksums.
 *
 * Contents: number · texts · utf8 · suggest · intern · checksum */
#ifndef IDM_BASE_TEXT_H
#define IDM_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "idm/status.h"

/* === number ================================================================================= */

/* Numbers as text, whatever the host's locale, and when two count as the same. */

/* strtod, snprintf and vsnprintf with a decimal point, also where the host program has set a locale
 * with a decimal comma. */
double idm_number_read(const char *text, char **opt_end);
int idm_print(char *buffer, size_t size, const char *format, ...) IDM_PRINTF(3, 4);
int idm_print_list(char *buffer, size_t size, const char *format, va_list arguments);

/* A finite decimal number, the whole text: sign, digits, point, digits, exponent. False for
 * anything else. */
bool idm_number_decimal(const char *text, size_t length, double *ret_number);
/* The number rounded to as few digits as read back as the same number; inf, -inf, -0.0. Returns the
 * text's length. */
int idm_number_text(double value, char *buffer, size_t size);
/* Equal to a relative tolerance (of 1 below 1); 0: bit for bit, the sign of zero included. NaN is
 * the same as NaN. */
bool idm_number_same(double a, double b, double tolerance);

/* === texts ================================================================================== */

/* Texts that stand one a line in one array of characters: the fields of IDM_KEY_TEXTS. */

/* Text i, which begins at *ret_text and is as long as is returned; 0 past the last. */
size_t idm_texts_at(const char *texts, size_t i, const char **ret_text);
/* All of them as a list that one free() gives back; NULL where memory ran out. */
char **idm_texts_split(const char *texts, size_t *ret_count);
/* Append a text. IDM_USAGE where it does not fit into `size` bytes, is empty or holds a line end.
 */
idm_status idm_texts_add(char *texts, size_t size, const char *text, idm_error *opt_error);

/* === utf8 =================================================================================== */

/* Well-formed UTF-8: what names may be made of, so that every output can carry them. */

/* Bytes of the character at `text` and its code, or 0 where it is malformed, overlong or a
 * surrogate. */
size_t idm_utf8_decode(const char *text, size_t length, unsigned long *ret_code);
bool idm_utf8_valid(const char *text, size_t length);
/* Well-formed, without such characters: what a name may be made of. */
bool idm_utf8_is_printable(const char *text, size_t length);
/* Columns of a terminal that a text takes: none for marks that go onto the letter before, two for
 * wide characters (Unicode Standard Annex 11). */
size_t idm_utf8_width(const char *text, size_t length);
/* Bytes of the longest beginning, in whole characters, that takes at most so many columns. */
size_t idm_utf8_fit(const char *text, size_t columns);
/* Put '?' in place of every control character and every byte that is no character. */
void idm_utf8_sanitise(char *text);

/* === suggest ================================================================================ */

/* The known word that somebody may have meant. */

/* The known word nearest to `word` in spelling, or NULL where none is near. */
const char *idm_suggest(const char *word, const char *const *known, size_t count);

/* === intern ================================================================================= */

/* Interning: distinct byte strings numbered 0, 1, ... in order of first appearance. */

#define IDM_INTERN_NONE UINT32_MAX

/* Zero-initialise. Strings may hold any byte; they are kept one after another without terminators.
 */
typedef struct idm_intern {
  uint32_t count;
  size_t *offset; /* [count + 1]: string i is text[offset[i]] .. text[offset[i + 1] - 1] */
  char *text;
  size_t offset_capacity;
  size_t text_capacity;
  uint64_t *slot; /* high half: of the hash; low half: number + 1, or 0 for a free slot */
  size_t slots;   /* a power of two, or 0 */
} idm_intern;

/* The string's number, new or old, into *ret_index. False where memory ran out. */
bool idm_intern_add(idm_intern *intern, const char *text, size_t length, uint32_t *ret_index);
/* The string's number or IDM_INTERN_NONE. */
uint32_t idm_intern_find(const idm_intern *intern, const char *text, size_t length);
/* Whether string `index` is this one; false where there is no such string. */
bool idm_intern_is(const idm_intern *intern, uint32_t index, const char *text, size_t length);
/* String `index`; not NUL-terminated, and moved by the next add. */
const char *idm_intern_text(const idm_intern *intern, uint32_t index, size_t *ret_length);
/* Free what it holds; it can be used again. */
void idm_intern_clear(idm_intern *intern);

/* === checksum =============================================================================== */

/* FNV-1a in 64 bits (Fowler, Noll and Vo): tells texts apart, and damaged bytes from whole ones. No
 * guard against forgery. */

#define IDM_CHECKSUM_START UINT64_C(14695981039346656037)

/* The checksum so far, and more bytes. */
static inline uint64_t idm_checksum(uint64_t so_far, const char *bytes, size_t length)
{
  for (size_t i = 0; i < length; i++)
    so_far = (so_far ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
  return so_far;
}

#endif
