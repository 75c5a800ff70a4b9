/* Memory: zeroed arrays with a check for overflow, and copies of arrays and texts. */
#ifndef IDM_BASE_MEMORY_H
#define IDM_BASE_MEMORY_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Alignment of numeric arrays in bytes: a cache line, and the widest vector register. */
#define IDM_ALIGNMENT 64

/* A zeroed array of `count` elements of `size` bytes (at least one byte, so that NULL always means
 * failure). The caller frees it. */
static inline void *idm_new(size_t count, size_t size)
{
  return calloc(count ? count : 1, size ? size : 1);
}

/* A copy of an array; NULL for NULL, or where memory runs out. The caller frees it. */
static inline void *idm_duplicate(const void *source, size_t count, size_t size)
{
  if (!source) return NULL;
  void *copy = idm_new(count, size);
  if (copy) memcpy(copy, source, count * size);
  return copy;
}

/* A NUL-terminated copy of `length` bytes of text; NULL where memory runs out. The caller frees it.
 */
static inline char *idm_text_copy(const char *text, size_t length)
{
  char *copy = malloc(length + 1);
  if (!copy) return NULL;
  memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

/* a * b, or SIZE_MAX on overflow. */
static inline size_t idm_times(size_t a, size_t b)
{
  return b && a > (size_t)-1 / b ? (size_t)-1 : a * b;
}

#endif
