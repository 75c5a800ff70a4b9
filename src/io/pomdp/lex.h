/* What the files that read Cassandra's format share: tokens, names, and the store of rewards. */
#ifndef IDM_IO_POMDP_LEX_H
#define IDM_IO_POMDP_LEX_H

#include <stdint.h>

#include "idm/setting.h"

/* --- tokens --------------------------------------------------------------------------------- */

typedef enum idm_pomdp_kind {
  IDM_POMDP_END,
  IDM_POMDP_COLON,
  IDM_POMDP_WORD,
  IDM_POMDP_NUMBER
} idm_pomdp_kind;

/* A piece of the text; it points into the text and owns nothing. */
typedef struct idm_pomdp_token {
  idm_pomdp_kind kind;
  const char *text;
  size_t length;
  long line;
  const char *line_start;
} idm_pomdp_token;

/* Where the reader stands. A plain copy of it looks ahead without moving the original. */
typedef struct idm_pomdp_lexer {
  const char *text;
  const char *file;
  idm_error *error; /* where failures are described; may be NULL */
  const char *at;
  const char *end;
  const char *line_start;
  long line;
} idm_pomdp_lexer;

/* `opt_file` is the name in messages. */
void idm_pomdp_lexer_start(idm_pomdp_lexer *lexer, const char *text, size_t length,
                           const char *opt_file, idm_error *opt_error);
idm_pomdp_token idm_pomdp_next(idm_pomdp_lexer *lexer);
idm_pomdp_token idm_pomdp_peek(const idm_pomdp_lexer *lexer);

/* Whether a key, or the end, comes next: a word with a colon, or start include: and start exclude:.
 * Lists of words stop there. */
bool idm_pomdp_at_key(const idm_pomdp_lexer *lexer);
/* "found TOKEN, expected ...", with the token's place. */
idm_status idm_pomdp_fail(const idm_pomdp_lexer *lexer, const idm_pomdp_token *token,
                          const char *format, ...) IDM_PRINTF(3, 4);
/* An empty token at a place of the text, with its line. Counting is put off until it is needed:
 * lines and columns kept for every row would cost more than the rows where a file is one long line.
 */
idm_pomdp_token idm_pomdp_locate(const idm_pomdp_lexer *lexer, const char *at);
/* The next token as a finite number; `what` it is, number `index` (from 0) of `count`, in messages.
 */
idm_status idm_pomdp_read_real(idm_pomdp_lexer *lexer, const char *what, size_t index, size_t count,
                               double *ret_value);
/* The same for a number from 0 to 1. */
idm_status idm_pomdp_read_probability(idm_pomdp_lexer *lexer, const char *what, size_t index,
                                      size_t count, double *ret_value);

/* Column of a token in characters, from 1. */
long idm_pomdp_column(const idm_pomdp_token *token);
bool idm_pomdp_is(const idm_pomdp_token *token, const char *word);
/* Value of a token of plain digits; false for anything else. Large values saturate at SIZE_MAX. */
bool idm_pomdp_count(const idm_pomdp_token *token, size_t *ret_value);
/* Whether a text reads in full as a number: sign, digits, point, exponent. */
bool idm_pomdp_numeric(const char *text, size_t length);

/* --- names ---------------------------------------------------------------------------------- */

/* States, actions or observations: a count, or names with a hash index. Zero-initialise. */
typedef struct idm_pomdp_names {
  size_t count;
  size_t capacity;       /* of name; 0 where the file gives a count only */
  idm_pomdp_token *name; /* [count] */
  size_t slots;          /* a power of two, above twice the names */
  uint32_t *slot;        /* [slots]: index + 1; 0 is empty */
} idm_pomdp_names;

/* One element or, for '*', all of them: indices first .. end - 1. */
typedef struct idm_pomdp_range {
  size_t first;
  size_t end;
  bool any;
} idm_pomdp_range;

/* Read a count, or names up to the next key. `what` is one of them, with its article. */
idm_status idm_pomdp_read_names(idm_pomdp_lexer *lexer, idm_pomdp_names *names, const char *what);
/* Read a name, a number in range, or '*'. */
idm_status idm_pomdp_read_element(idm_pomdp_lexer *lexer, const idm_pomdp_names *names,
                                  const char *what, idm_pomdp_range *ret_range);
/* Index of a name, or -1. */
long idm_pomdp_names_find(const idm_pomdp_names *names, const idm_pomdp_token *token);
/* Copy the names, where there are any, over labels of the same count. */
idm_status idm_pomdp_names_copy(const idm_pomdp_names *names, idm_labels *labels,
                                idm_error *opt_error);
void idm_pomdp_names_destroy(idm_pomdp_names *names);

#endif
