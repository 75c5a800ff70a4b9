/* Texts that stand one a line in one array of characters. */
#include "base/texts.h"

#include <stdlib.h>
#include <string.h>

size_t idm_texts_at(const char *texts, size_t i, const char **ret_text)
{
  for (; i && *texts; i--) {
    texts += strcspn(texts, "\n");
    texts += *texts == '\n';
  }
  *ret_text = texts;
  return strcspn(texts, "\n");
}

char **idm_texts_split(const char *texts, size_t *ret_count)
{
  const char *text;
  size_t count = 0;
  while (idm_texts_at(texts, count, &text)) count++;
  *ret_count = count;
  char **list = malloc((count + 1) * sizeof *list + strlen(texts) + 1);
  if (!list) return NULL;
  char *at = (char *)(list + count + 1);
  for (size_t i = 0; i < count; i++) {
    const size_t length = idm_texts_at(texts, i, &text);
    list[i] = at;
    memcpy(at, text, length);
    at[length] = '\0';
    at += length + 1;
  }
  list[count] = NULL;
  return list;
}

idm_status idm_texts_add(char *texts, size_t size, const char *text, idm_error *opt_error)
{
  const size_t used = strlen(texts);
  const size_t length = strlen(text);
  if (!length || strchr(text, '\n'))
    return idm_fail(opt_error, IDM_USAGE, "'%.60s' is empty or holds a line end; expected a text",
                    text);
  if (length >= size || used + (used > 0) >= size - length)
    return idm_fail(opt_error, IDM_USAGE, "more than %zu bytes of texts: '%.60s' does not fit",
                    size - 1, text);
  if (used) texts[used] = '\n';
  memcpy(texts + used + (used > 0), text, length + 1);
  return IDM_OK;
}
