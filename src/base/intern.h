/* Interning: distinct byte strings numbered 0, 1, ... in order of first appearance. */
#ifndef IDM_BASE_INTERN_H
#define IDM_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
