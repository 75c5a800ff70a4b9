/* Internal interface of the .POMDP format: tokens, rewards, rows of distributions, and the reader.
 *
 * Contents: lex · reward · rows · read */
#ifndef IDM_IO_POMDP_POMDP_H
#define IDM_IO_POMDP_POMDP_H

#include <stdbool.h>
#include <stdint.h>

#include "idm/extension/problem.h"
#include "idm/extension/setting.h"

/* === lex ==================================================================================== */

/* Tokens and names of Cassandra's format. */

/* --- tokens --------------------------------------------------------------------------------- */

typedef enum idm_pomdp_kind {
  IDM_POMDP_END,
  IDM_POMDP_COLON,
  IDM_POMDP_WORD,
  IDM_POMDP_NUMBER
} idm_pomdp_kind;

/* A token; it points into the text and owns nothing. */
typedef struct idm_pomdp_token {
  idm_pomdp_kind kind;
  const char *text;
  size_t length;
  long line;
  const char *line_start;
} idm_pomdp_token;

/* State of the lexer. A plain copy looks ahead without moving the original. */
typedef struct idm_pomdp_lexer {
  const char *text;
  const char *file;
  idm_error *error; /* destination of errors; may be NULL */
  const char *at;
  const char *end;
  const char *line_start;
  long line;
} idm_pomdp_lexer;

/* `opt_file` is the name of the file in messages. */
void idm_pomdp_lexer_start(idm_pomdp_lexer *lexer, const char *text, size_t length,
                           const char *opt_file, idm_error *opt_error);
idm_pomdp_token idm_pomdp_next(idm_pomdp_lexer *lexer);
idm_pomdp_token idm_pomdp_peek(const idm_pomdp_lexer *lexer);

/* Returns true if a key or the end of the text follows: a word with a colon, or start include: or
 * start exclude:. Lists of words end there. */
bool idm_pomdp_at_key(const idm_pomdp_lexer *lexer);
/* Fail with IDM_INPUT at a token: "found TOKEN, expected ...". */
idm_status idm_pomdp_fail(const idm_pomdp_lexer *lexer, const idm_pomdp_token *token,
                          const char *format, ...) IDM_PRINTF(3, 4);
/* An empty token at a position in the text, with its line. Lines are counted only when they are
 * needed: storing lines and columns of every row would cost more than the rows in a file of one
 * long line. */
idm_pomdp_token idm_pomdp_locate(const idm_pomdp_lexer *lexer, const char *at);
/* Read the next token as a finite number. In messages it is described by `what`, as number `index`
 * (from 0) of `count`. */
idm_status idm_pomdp_read_real(idm_pomdp_lexer *lexer, const char *what, size_t index, size_t count,
                               double *ret_value);
/* The same for a probability from 0 to 1. */
idm_status idm_pomdp_read_probability(idm_pomdp_lexer *lexer, const char *what, size_t index,
                                      size_t count, double *ret_value);

/* Column of a token in characters, from 1. */
long idm_pomdp_column(const idm_pomdp_token *token);
bool idm_pomdp_is(const idm_pomdp_token *token, const char *word);
/* Value of a token of digits only; returns false for any other token. Large values saturate at
 * SIZE_MAX. */
bool idm_pomdp_count(const idm_pomdp_token *token, size_t *ret_value);
/* Returns true if the whole text is a number: sign, digits, point, exponent. */
bool idm_pomdp_numeric(const char *text, size_t length);

/* --- names ---------------------------------------------------------------------------------- */

/* States, actions or observations: a count, or names with a hash index. Zero-initialise. */
typedef struct idm_pomdp_names {
  size_t count;
  size_t capacity;       /* of name; 0 if the file gives a count only */
  idm_pomdp_token *name; /* [count] */
  size_t slots;          /* a power of two, more than twice the number of names */
  uint32_t *slot;        /* [slots]: index + 1; 0 is empty */
} idm_pomdp_names;

/* One element or, for '*', all of them: indices first .. end - 1. */
typedef struct idm_pomdp_range {
  size_t first;
  size_t end;
  bool any;
} idm_pomdp_range;

/* Read a count, or names up to the next key. `what` is the singular of an element with its article,
 * for messages. */
idm_status idm_pomdp_read_names(idm_pomdp_lexer *lexer, idm_pomdp_names *names, const char *what);
/* Read a name, a number in range, or '*'. */
idm_status idm_pomdp_read_element(idm_pomdp_lexer *lexer, const idm_pomdp_names *names,
                                  const char *what, idm_pomdp_range *ret_range);
/* Index of a name, or -1. */
long idm_pomdp_names_find(const idm_pomdp_names *names, const idm_pomdp_token *token);
/* Copy the names, if there are any, to labels of the same count. */
idm_status idm_pomdp_names_copy(const idm_pomdp_names *names, idm_labels *labels,
                                idm_error *opt_error);
void idm_pomdp_names_destroy(idm_pomdp_names *names);

/* === reward ================================================================================= */

/* Rewards of a .POMDP file: rules, and their expectation as a utility. */

/* Coordinates of a reward rule: index + 1, or one of these. */
#define IDM_POMDP_ANY 0u         /* every action, state, next state or observation */
#define IDM_POMDP_ROW UINT32_MAX /* as observation: one stored number per observation */
#define IDM_POMDP_MATRIX                                                                           \
  (UINT32_MAX) /* as next state: stored numbers [next state][observation]                          \
                */

typedef struct idm_pomdp_rule_key {
  uint32_t action;
  uint32_t state;
  uint32_t next;
  uint32_t observation;
} idm_pomdp_rule_key;

/* Rules in file order; a later rule overrides earlier ones. Memory is proportional to the size of
 * the file. */
typedef struct idm_pomdp_rewards idm_pomdp_rewards;

idm_status idm_pomdp_rewards_create(idm_pomdp_rewards **ret_rewards, idm_error *opt_error);
void idm_pomdp_rewards_destroy(idm_pomdp_rewards *rewards);
/* Store one number of a row or matrix; a rule refers to its first number. */
idm_status idm_pomdp_rewards_push(idm_pomdp_rewards *rewards, double value, idm_error *opt_error);
/* Count of the numbers stored so far: the index of the next one. */
size_t idm_pomdp_rewards_stored(const idm_pomdp_rewards *rewards);
/* Add a rule with one value. */
idm_status idm_pomdp_rewards_set(idm_pomdp_rewards *rewards, idm_pomdp_rule_key key, double value,
                                 idm_error *opt_error);
/* Add a rule whose numbers are stored from `first` on. */
idm_status idm_pomdp_rewards_set_stored(idm_pomdp_rewards *rewards, idm_pomdp_rule_key key,
                                        size_t first, idm_error *opt_error);
/* utility[action][state] = sum over s' of T times sum over o of O times R. A reward that is the
 * same for all possible successors is returned without rounding. */
idm_status idm_pomdp_rewards_expect(const idm_pomdp_rewards *rewards, const idm_setting *setting,
                                    double *utility, idm_error *opt_error);

/* === rows =================================================================================== */

/* Rows of distributions of a .POMDP file. Only non-zero entries are stored, so that memory is
 * proportional to the content of the file and not to the square of the number of states. */

/* One row. */
typedef struct idm_pomdp_row {
  uint32_t count;
  uint32_t capacity;
  uint32_t *column; /* [count], ascending */
  double *value;    /* [count] */
  bool reset;       /* the row is the start belief, which may be read later; count is 0 */
} idm_pomdp_row;

typedef struct idm_pomdp_rows {
  size_t count;
  size_t width;
  idm_pomdp_row *row; /* [count] */
} idm_pomdp_rows;

/* Create `count` rows of zeros. */
idm_status idm_pomdp_rows_create(size_t count, size_t width, idm_pomdp_rows *rows,
                                 idm_error *opt_error);
void idm_pomdp_rows_destroy(idm_pomdp_rows *rows);
/* Replace a row by a dense one, [width]. */
idm_status idm_pomdp_rows_set(idm_pomdp_rows *rows, size_t index, const double *dense,
                              idm_error *opt_error);
/* Replace a row by the start belief, which may be read later. */
void idm_pomdp_rows_reset(idm_pomdp_rows *rows, size_t index);
/* Set the entries from column `first` to `end` - 1 of a row to one value. */
idm_status idm_pomdp_rows_put(idm_pomdp_rows *rows, size_t index, size_t first, size_t end,
                              double value, idm_error *opt_error);
/* Write a row to dense [width]; NaN in place of entries of the start belief. */
void idm_pomdp_rows_get(const idm_pomdp_rows *rows, size_t index, double *dense);
/* All rows as sparse transitions; entries that are not positive are omitted. */
idm_status idm_pomdp_rows_moves(const idm_pomdp_rows *rows, idm_sparse_rows **ret_sparse,
                                idm_error *opt_error);

/* === read =================================================================================== */

/* Reader of Cassandra's .POMDP format, which can keep transitions as sparse rows. */

/* As idm_problem_parse_pomdp. With `by_rows`, transitions of many hidden states are kept as sparse
 * rows; see idm_problem_read_by_rows. */
idm_status idm_pomdp_parse(const char *text, size_t length, const char *opt_file, bool by_rows,
                           idm_problem **ret_problem, idm_notes *opt_notes, idm_error *opt_error);

#endif
