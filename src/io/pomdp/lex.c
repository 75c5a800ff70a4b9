/* Splits Cassandra's format into tokens with positions, and stores names in a hash index. */
#include "io/pomdp/pomdp.h"

#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Largest number of states, actions or observations. */
#define MAX_NAMES ((size_t)1000000)
/* A probability may exceed 1 by as much as the sum of a row may. */
#define MAX_PROBABILITY (1 + 1e-4)

/* --- tokens --------------------------------------------------------------------------------- */

static bool is_space(char c)
{
  return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

void idm_pomdp_lexer_start(idm_pomdp_lexer *lexer, const char *text, size_t length,
                           const char *opt_file, idm_error *opt_error)
{
  /* A byte order mark, which some editors write, is not part of the first word. */
  const size_t mark = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  *lexer = (idm_pomdp_lexer){.text = text + mark,
                             .file = opt_file ? opt_file : "",
                             .error = opt_error,
                             .at = text + mark,
                             .end = text + length,
                             .line_start = text + mark,
                             .line = 1};
}

static void skip_blank(idm_pomdp_lexer *lexer)
{
  bool comment = false;
  for (; lexer->at < lexer->end; lexer->at++) {
    const char c = *lexer->at;
    if (c == '\n') {
      lexer->line++;
      lexer->line_start = lexer->at + 1;
      comment = false;
    } else if (c == '#') {
      comment = true;
    } else if (!comment && !is_space(c)) {
      return;
    }
  }
}

static const char *word_end(const char *at, const char *end)
{
  while (at < end && !is_space(*at) && *at != ':' && *at != '#') at++;
  return at;
}

static size_t digits(const char *text, size_t from, size_t length)
{
  size_t i = from;
  while (i < length && is_digit(text[i])) i++;
  return i - from;
}

bool idm_pomdp_numeric(const char *text, size_t length)
{
  size_t i = length > 0 && (text[0] == '+' || text[0] == '-') ? 1 : 0;
  const size_t whole = digits(text, i, length);
  i += whole;
  size_t fraction = 0;
  if (i < length && text[i] == '.') {
    fraction = digits(text, i + 1, length);
    i += 1 + fraction;
  }
  if (whole + fraction == 0) return false;
  if (i < length && (text[i] == 'e' || text[i] == 'E')) {
    i++;
    if (i < length && (text[i] == '+' || text[i] == '-')) i++;
    const size_t exponent = digits(text, i, length);
    if (exponent == 0) return false;
    i += exponent;
  }
  return i == length;
}

/* The grammar allows blanks between a sign and its number: the end of that number, or `sign_end`.
 */
static const char *signed_end(const char *sign_end, const char *end)
{
  const char *at = sign_end;
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  const char *number_end = word_end(at, end);
  const bool number = at < number_end && *at != '+' && *at != '-' &&
                      idm_pomdp_numeric(at, (size_t)(number_end - at));
  return number ? number_end : sign_end;
}

idm_pomdp_token idm_pomdp_next(idm_pomdp_lexer *lexer)
{
  skip_blank(lexer);
  idm_pomdp_token token = {IDM_POMDP_END, lexer->at, 0, lexer->line, lexer->line_start};
  if (lexer->at == lexer->end) return token;
  if (*lexer->at == ':') {
    token.kind = IDM_POMDP_COLON;
    token.length = 1;
    lexer->at++;
    return token;
  }
  const char *last = word_end(lexer->at, lexer->end);
  token.kind = idm_pomdp_numeric(token.text, (size_t)(last - token.text)) ? IDM_POMDP_NUMBER
                                                                          : IDM_POMDP_WORD;
  if (last == token.text + 1 && (*token.text == '+' || *token.text == '-')) {
    const char *joined = signed_end(last, lexer->end);
    if (joined != last) token.kind = IDM_POMDP_NUMBER;
    last = joined;
  }
  token.length = (size_t)(last - token.text);
  lexer->at = last;
  return token;
}

idm_pomdp_token idm_pomdp_peek(const idm_pomdp_lexer *lexer)
{
  idm_pomdp_lexer ahead = *lexer;
  return idm_pomdp_next(&ahead);
}

bool idm_pomdp_at_key(const idm_pomdp_lexer *lexer)
{
  idm_pomdp_lexer ahead = *lexer;
  const idm_pomdp_token word = idm_pomdp_next(&ahead);
  if (word.kind == IDM_POMDP_END) return true;
  if (word.kind == IDM_POMDP_COLON) return false;
  idm_pomdp_token next = idm_pomdp_next(&ahead);
  if (idm_pomdp_is(&word, "start") &&
      (idm_pomdp_is(&next, "include") || idm_pomdp_is(&next, "exclude")))
    next = idm_pomdp_next(&ahead);
  return next.kind == IDM_POMDP_COLON;
}

idm_pomdp_token idm_pomdp_locate(const idm_pomdp_lexer *lexer, const char *at)
{
  idm_pomdp_token token = {IDM_POMDP_WORD, at, 0, 1, lexer->text};
  for (const char *c = lexer->text; c < at; c++)
    if (*c == '\n') {
      token.line++;
      token.line_start = c + 1;
    }
  return token;
}

long idm_pomdp_column(const idm_pomdp_token *token)
{
  long column = 1;
  for (const char *at = token->line_start; at < token->text; at++)
    if (((unsigned char)*at & 0xc0) != 0x80) column++;
  return column;
}

bool idm_pomdp_is(const idm_pomdp_token *token, const char *word)
{
  return token->kind == IDM_POMDP_WORD && strlen(word) == token->length &&
         memcmp(token->text, word, token->length) == 0;
}

/* Value of a number token; returns false if the token is not a number, is too long, or overflows.
 */
static bool token_real(const idm_pomdp_token *token, double *ret_value)
{
  char buffer[512];
  if (token->kind != IDM_POMDP_NUMBER || token->length >= sizeof buffer) return false;
  size_t length = 0;
  for (size_t i = 0; i < token->length; i++)
    if (!is_space(token->text[i])) buffer[length++] = token->text[i];
  buffer[length] = '\0';
  char *end = NULL;
  *ret_value = idm_number_read(buffer, &end);
  /* The locale of a host program may use another decimal point: reject the number rather than
   * truncate it. */
  return end == buffer + length && isfinite(*ret_value);
}

bool idm_pomdp_count(const idm_pomdp_token *token, size_t *ret_value)
{
  if (token->length == 0 || digits(token->text, 0, token->length) != token->length) return false;
  size_t value = 0;
  for (size_t i = 0; i < token->length; i++) {
    const size_t digit = (size_t)(token->text[i] - '0');
    value = value > (SIZE_MAX - digit) / 10 ? SIZE_MAX : 10 * value + digit;
  }
  *ret_value = value;
  return true;
}

/* Bytes of the UTF-8 character at `text`; 0 if it is malformed. */
static size_t character_length(const char *text, size_t length)
{
  unsigned long code;
  return idm_utf8_decode(text, length, &code);
}

/* Returns true for well-formed UTF-8 without control characters. */
static bool is_legible(const char *text, size_t length)
{
  for (size_t i = 0; i < length;) {
    const size_t size = character_length(text + i, length - i);
    const unsigned char c = (unsigned char)text[i];
    if (size == 0 || c < 0x20 || c == 0x7f) return false;
    i += size;
  }
  return true;
}

/* "'word'", "':'" or "the end of the file", printable and truncated to size; returns buffer. */
static char *token_text(const idm_pomdp_token *token, char *buffer, size_t size)
{
  if (token->kind == IDM_POMDP_END) {
    snprintf(buffer, size, "the end of the file");
    return buffer;
  }
  const size_t room = size - sizeof "'...'";
  const bool cut = token->length > room;
  size_t length = 0;
  buffer[length++] = '\'';
  for (size_t i = 0; i < token->length;) {
    const size_t width = character_length(token->text + i, token->length - i);
    const unsigned char c = (unsigned char)token->text[i];
    if (length - 1 + (width ? width : 1) > room) break;
    if (width == 0 || c < 0x20 || c == 0x7f) {
      buffer[length++] = '?';
      i++;
    } else {
      memcpy(buffer + length, token->text + i, width);
      length += width;
      i += width;
    }
  }
  snprintf(buffer + length, size - length, "%s", cut ? "...'" : "'");
  return buffer;
}

idm_status idm_pomdp_fail(const idm_pomdp_lexer *lexer, const idm_pomdp_token *token,
                          const char *format, ...)
{
  char found[64];
  char expected[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(expected, sizeof expected, format, arguments);
  va_end(arguments);
  return idm_fail_at(lexer->error, lexer->file, token->line, idm_pomdp_column(token),
                     "found %s, expected %s", token_text(token, found, sizeof found), expected);
}

idm_status idm_pomdp_read_real(idm_pomdp_lexer *lexer, const char *what, size_t index, size_t count,
                               double *ret_value)
{
  const idm_pomdp_token token = idm_pomdp_next(lexer);
  if (token_real(&token, ret_value)) return IDM_OK;
  const char *fits = token.kind == IDM_POMDP_NUMBER ? " that fits into a double" : "";
  if (count == 1) return idm_pomdp_fail(lexer, &token, "%s%s", what, fits);
  return idm_pomdp_fail(lexer, &token, "%s%s, number %zu of %zu", what, fits, index + 1, count);
}

idm_status idm_pomdp_read_probability(idm_pomdp_lexer *lexer, const char *what, size_t index,
                                      size_t count, double *ret_value)
{
  const idm_pomdp_lexer before = *lexer;
  const idm_status status = idm_pomdp_read_real(lexer, what, index, count, ret_value);
  if (status != IDM_OK) return status;
  if (!(*ret_value >= 0 && *ret_value <= MAX_PROBABILITY)) {
    const idm_pomdp_token token = idm_pomdp_peek(&before);
    return idm_pomdp_fail(lexer, &token, "%s from 0 to 1", what);
  }
  if (*ret_value == 0) *ret_value = 0; /* no negative zero */
  return IDM_OK;
}

/* --- names ---------------------------------------------------------------------------------- */

static uint64_t hash_text(const char *text, size_t length)
{
  const uint64_t hash = idm_checksum(IDM_CHECKSUM_START, text, length);
  return hash ^ (hash >> 32);
}

/* The slot that contains the name, or the empty slot where it belongs. */
static size_t name_slot(const idm_pomdp_names *names, const idm_pomdp_token *token)
{
  size_t i = (size_t)hash_text(token->text, token->length) & (names->slots - 1);
  while (names->slot[i]) {
    const idm_pomdp_token *other = &names->name[names->slot[i] - 1];
    if (other->length == token->length && memcmp(other->text, token->text, token->length) == 0)
      break;
    i = (i + 1) & (names->slots - 1);
  }
  return i;
}

static idm_status grow_names(idm_pomdp_names *names, idm_error *opt_error)
{
  const size_t capacity = names->capacity ? 2 * names->capacity : 16;
  idm_pomdp_token *name = realloc(names->name, capacity * sizeof *name);
  if (!name) return idm_fail_memory(opt_error);
  names->name = name;
  uint32_t *slot = idm_new(4 * capacity, sizeof *slot);
  if (!slot) return idm_fail_memory(opt_error);
  free(names->slot);
  names->slot = slot;
  names->slots = 4 * capacity;
  names->capacity = capacity;
  for (size_t i = 0; i < names->count; i++)
    names->slot[name_slot(names, &names->name[i])] = (uint32_t)(i + 1);
  return IDM_OK;
}

/* Append a name. *ret_new is false, and nothing changes, if it exists already. */
static idm_status add_name(idm_pomdp_names *names, const idm_pomdp_token *token, bool *ret_new,
                           idm_error *opt_error)
{
  *ret_new = false;
  if (names->count == names->capacity) {
    const idm_status status = grow_names(names, opt_error);
    if (status != IDM_OK) return status;
  }
  const size_t slot = name_slot(names, token);
  if (names->slot[slot]) return IDM_OK;
  names->name[names->count] = *token;
  names->slot[slot] = (uint32_t)++names->count;
  *ret_new = true;
  return IDM_OK;
}

long idm_pomdp_names_find(const idm_pomdp_names *names, const idm_pomdp_token *token)
{
  if (!names->slots) return -1;
  return (long)names->slot[name_slot(names, token)] - 1;
}

/* Returns true for words that are not meant as names: in a list they indicate a key without its
 * colon. The format reserves more words, but existing files use start, reset, T, O and R as names.
 */
static bool is_reserved(const idm_pomdp_token *token)
{
  static const char *const words[] = {"discount",     "values",  "states",  "actions", "include",
                                      "observations", "exclude", "uniform", "identity"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (idm_pomdp_is(token, words[i])) return true;
  return false;
}

static idm_status read_name(idm_pomdp_lexer *lexer, idm_pomdp_names *names, const char *what)
{
  const idm_pomdp_token token = idm_pomdp_next(lexer);
  if (token.kind != IDM_POMDP_WORD || idm_pomdp_is(&token, "*"))
    return idm_pomdp_fail(lexer, &token, "the name of %s, which must not read as a number", what);
  if (is_reserved(&token))
    return idm_pomdp_fail(lexer, &token, "the name of %s, or a key with its colon", what);
  if (!is_legible(token.text, token.length))
    return idm_pomdp_fail(lexer, &token, "the name of %s in UTF-8 without control characters",
                          what);
  if (names->count == MAX_NAMES)
    return idm_pomdp_fail(lexer, &token, "at most %zu names", MAX_NAMES);
  bool fresh = false;
  const idm_status status = add_name(names, &token, &fresh, lexer->error);
  if (status == IDM_OK && !fresh)
    return idm_pomdp_fail(lexer, &token, "a name that is not taken: this one is on line %ld",
                          names->name[idm_pomdp_names_find(names, &token)].line);
  return status;
}

idm_status idm_pomdp_read_names(idm_pomdp_lexer *lexer, idm_pomdp_names *names, const char *what)
{
  const idm_pomdp_token first = idm_pomdp_peek(lexer);
  if (first.kind == IDM_POMDP_NUMBER) {
    idm_pomdp_next(lexer);
    if (idm_pomdp_count(&first, &names->count) && names->count >= 1 && names->count <= MAX_NAMES)
      return IDM_OK;
    names->count = 0;
    return idm_pomdp_fail(lexer, &first, "a count from 1 to %zu, or the name of %s", MAX_NAMES,
                          what);
  }
  if (idm_pomdp_at_key(lexer))
    return idm_pomdp_fail(lexer, &first, "a count, or the name of %s", what);
  idm_status status = IDM_OK;
  while (status == IDM_OK && !idm_pomdp_at_key(lexer)) status = read_name(lexer, names, what);
  return status;
}

idm_status idm_pomdp_read_element(idm_pomdp_lexer *lexer, const idm_pomdp_names *names,
                                  const char *what, idm_pomdp_range *ret_range)
{
  const idm_pomdp_token token = idm_pomdp_next(lexer);
  if (idm_pomdp_is(&token, "*")) {
    *ret_range = (idm_pomdp_range){0, names->count, true};
    return IDM_OK;
  }
  const long found = token.kind == IDM_POMDP_WORD ? idm_pomdp_names_find(names, &token) : -1;
  size_t index = found >= 0 ? (size_t)found : names->count;
  if (token.kind == IDM_POMDP_NUMBER && !idm_pomdp_count(&token, &index)) index = names->count;
  if (index >= names->count)
    return idm_pomdp_fail(lexer, &token, "%s: %sa number from 0 to %zu, or *", what,
                          names->slots ? "one of the names, " : "", names->count - 1);
  *ret_range = (idm_pomdp_range){index, index + 1, false};
  return IDM_OK;
}

idm_status idm_pomdp_names_copy(const idm_pomdp_names *names, idm_labels *labels,
                                idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; names->name && i < names->count && status == IDM_OK; i++)
    status = idm_labels_set(labels, i, names->name[i].text, names->name[i].length, opt_error);
  return status;
}

void idm_pomdp_names_destroy(idm_pomdp_names *names)
{
  free(names->name);
  free(names->slot);
  *names = (idm_pomdp_names){0};
}
