/* Texts that stand one a line in one array of characters: the fields of IDM_KEY_TEXTS. */
#ifndef IDM_BASE_TEXTS_H
#define IDM_BASE_TEXTS_H

#include "idm/status.h"

/* Text i, which begins at *ret_text and is as long as is returned; 0 past the last. */
size_t idm_texts_at(const char *texts, size_t i, const char **ret_text);
/* All of them as a list that one free() gives back; NULL where memory ran out. */
char **idm_texts_split(const char *texts, size_t *ret_count);
/* Append a text. IDM_USAGE where it does not fit into `size` bytes, is empty or holds a line end.
 */
idm_status idm_texts_add(char *texts, size_t size, const char *text, idm_error *opt_error);

#endif
