/* The known word that somebody may have meant. */
#ifndef IDM_BASE_SUGGEST_H
#define IDM_BASE_SUGGEST_H

#include <stddef.h>

/* The known word nearest to `word` in spelling, or NULL where none is near. */
const char *idm_suggest(const char *word, const char *const *known, size_t count);

#endif
