/* Text: numbers, lists of texts, UTF-8, spelling suggestions, interned strings and checksums.
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

/* Conversion between numbers and text, independent of the locale, and comparison of numbers. */

/* strtod, snprintf and vsnprintf with a decimal point, even where the host program has set a locale
 * with a decimal comma. */
double idm_number_read(const char *text, char **opt_end);
int idm_print(char *buffer, size_t size, const char *format, ...) IDM_PRINTF(3, 4);
int idm_print_list(char *buffer, size_t size, const char *format, va_list arguments);

/* Read a finite decimal number from the whole text: sign, digits, point, digits, exponent. Returns
 * false for any other text. */
bool idm_number_decimal(const char *text, size_t length, double *ret_number);
/* Write the number with the fewest digits that read back as the same number; inf, -inf, -0.0.
 * Returns the length of the text. */
int idm_number_text(double value, char *buffer, size_t size);
/* Whether |a - b| <= tolerance * max(1, |a|, |b|). With tolerance 0 the numbers must be equal,
 * including the sign of zero. NaN equals NaN. */
bool idm_number_same(double a, double b, double tolerance);

/* === texts ================================================================================== */

/* Lists of texts in one array of characters, separated by line ends: the fields of IDM_KEY_TEXTS.
 */

/* Text i: sets *ret_text to its first byte and returns its length; 0 past the last. */
size_t idm_texts_at(const char *texts, size_t i, const char **ret_text);
/* All texts as a NULL-terminated list, which the caller releases by one free(); NULL where memory
 * runs out. */
char **idm_texts_split(const char *texts, size_t *ret_count);
/* Append a text. IDM_USAGE where it does not fit into `size` bytes, is empty or contains a line
 * end. */
idm_status idm_texts_add(char *texts, size_t size, const char *text, idm_error *opt_error);

/* === utf8 =================================================================================== */

/* Well-formed UTF-8. Names must be printable UTF-8, so that every output can contain them. */

/* Decode the character at `text`. Returns its length in bytes, or 0 where it is malformed, overlong
 * or a surrogate. */
size_t idm_utf8_decode(const char *text, size_t length, unsigned long *ret_code);
bool idm_utf8_valid(const char *text, size_t length);
/* Whether the text is well-formed and has no control characters, as names must be. */
bool idm_utf8_is_printable(const char *text, size_t length);
/* Terminal columns of a text: 0 for combining marks, 2 for wide characters (Unicode Standard Annex
 * 11). */
size_t idm_utf8_width(const char *text, size_t length);
/* Length in bytes of the longest prefix of whole characters that takes at most `columns` columns.
 */
size_t idm_utf8_fit(const char *text, size_t columns);
/* Replace every control character and every byte that is not part of a character by '?'. */
void idm_utf8_sanitise(char *text);

/* === suggest ================================================================================ */

/* Spelling suggestions for unknown words. */

/* The known word with the smallest edit distance to `word`, or NULL where none is close. */
const char *idm_suggest(const char *word, const char *const *known, size_t count);

/* === intern ================================================================================= */

/* Interned strings: distinct byte strings, numbered 0, 1, ... in order of first appearance. */

#define IDM_INTERN_NONE UINT32_MAX

/* Zero-initialise. Strings may contain any byte; they are stored contiguously, without terminators.
 */
typedef struct idm_intern {
  uint32_t count;
  size_t *offset; /* [count + 1]: string i is text[offset[i]] .. text[offset[i + 1] - 1] */
  char *text;
  size_t offset_capacity;
  size_t text_capacity;
  uint64_t *slot; /* high half: high half of the hash; low half: number + 1, or 0 for a free slot */
  size_t slots;   /* a power of two, or 0 */
} idm_intern;

/* Set *ret_index to the number of the string, which is added if it is new. False where memory runs
 * out or there are INT32_MAX strings. */
bool idm_intern_add(idm_intern *intern, const char *text, size_t length, uint32_t *ret_index);
/* The number of the string, or IDM_INTERN_NONE. */
uint32_t idm_intern_find(const idm_intern *intern, const char *text, size_t length);
/* Whether string `index` equals this text; false where there is no such string. */
bool idm_intern_is(const idm_intern *intern, uint32_t index, const char *text, size_t length);
/* String `index`, not NUL-terminated; valid until the next idm_intern_add. */
const char *idm_intern_text(const idm_intern *intern, uint32_t index, size_t *ret_length);
/* Free all memory of the table; the empty table can be used again. */
void idm_intern_clear(idm_intern *intern);

/* === checksum =============================================================================== */

/* FNV-1a in 64 bits (Fowler, Noll and Vo), to compare texts and to detect damaged bytes. It does
 * not protect against forgery. */

#define IDM_CHECKSUM_START UINT64_C(14695981039346656037)

/* Continue a checksum with `length` more bytes; the first call starts from IDM_CHECKSUM_START. */
static inline uint64_t idm_checksum(uint64_t so_far, const char *bytes, size_t length)
{
  for (size_t i = 0; i < length; i++)
    so_far = (so_far ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
  return so_far;
}

#endif
