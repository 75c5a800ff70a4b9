/* Compares drawings by structure and numbers, with tolerances for rounding. */
#include "report/drawing_support.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A piece of a drawing: a tag with its brackets, or the text between two tags. */
typedef struct piece {
  const char *at;
  size_t length;
} piece;

typedef struct leeway {
  double absolute;
  double relative;
  bool path; /* path data: numbers may follow letters */
} leeway;

/* --- values --------------------------------------------------------------------------------- */

/* Returns true if a number begins at p.at[i]; unless `path`, digits inside a name do not count. */
static bool is_number(piece p, size_t i, bool path)
{
  const char c = p.at[i], next = i + 1 < p.length ? p.at[i + 1] : ' ';
  const char before = i ? p.at[i - 1] : ' ';
  if (!isdigit((unsigned char)c) && !(strchr("-.", c) && isdigit((unsigned char)next)))
    return false;
  return path || !(isalnum((unsigned char)before) || strchr("_-#.", before));
}

static bool is_near(double a, double b, leeway l)
{
  return fabs(a - b) <= l.absolute + l.relative * fmax(fabs(a), fabs(b));
}

/* Compares texts exactly or, if l.absolute > 0, numbers within the tolerance; `differ` receives the
 * position in each text where the comparison ended. */
static bool is_same(piece a, piece b, leeway l, const char *differ[2])
{
  const bool exact = !(l.absolute > 0);
  size_t i = 0, k = 0;
  while (i < a.length && k < b.length) {
    differ[0] = a.at + i;
    differ[1] = b.at + k;
    if (!exact && is_number(a, i, l.path) && is_number(b, k, l.path)) {
      char *ends[2];
      if (!is_near(strtod(a.at + i, &ends[0]), strtod(b.at + k, &ends[1]), l)) return false;
      i = (size_t)(ends[0] - a.at);
      k = (size_t)(ends[1] - b.at);
    } else if (a.at[i++] != b.at[k++]) {
      return false;
    }
  }
  differ[0] = a.at + i;
  differ[1] = b.at + k;
  return i == a.length && k == b.length;
}

static bool is_called(piece p, const char *name)
{
  return p.length == strlen(name) && strncmp(p.at, name, p.length) == 0;
}

static leeway leeway_of(piece attribute)
{
  static const char *const exact[] = {"class", "id", "data-name", "data-kind", "clip-path"};
  for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
    if (is_called(attribute, exact[i])) return (leeway){0};
  if (is_called(attribute, "data-x") || is_called(attribute, "data-y"))
    return (leeway){.absolute = 1e-9, .relative = 1e-4};
  if (is_called(attribute, "opacity") || is_called(attribute, "fill-opacity"))
    return (leeway){.absolute = 0.011};
  return (leeway){.absolute = 0.05, .path = is_called(attribute, "d")};
}

/* --- elements ------------------------------------------------------------------------------- */

/* Reads the next tag with its brackets, or the text before the next tag; returns false at the end.
 */
static bool next_piece(const char **at, piece *ret_piece)
{
  const char *from = *at + strspn(*at, " \n");
  if (!*from) return false;
  /* Text keeps its leading space. */
  if (*from != '<') from = *at;
  const size_t length = *from == '<' ? strcspn(from, ">") + 1 : strcspn(from, "<");
  *ret_piece = (piece){from, length};
  *at = from + length;
  return true;
}

static piece name_of(piece tag)
{
  const size_t skip = tag.at[1] == '/' ? 2 : 1;
  return (piece){tag.at + skip, strcspn(tag.at + skip, " />")};
}

/* Returns what follows `part` in `whole`. */
static piece behind(piece whole, piece part)
{
  const char *from = part.at + part.length;
  return (piece){from, whole.length - (size_t)(from - whole.at)};
}

/* Reads the next ` name="value"`; returns false if there is none. */
static bool next_attribute(piece *rest, piece *ret_name, piece *ret_value)
{
  const char *end = rest->at + rest->length, *quote = memchr(rest->at, '"', rest->length);
  if (!quote) return false;
  const char *from = rest->at;
  while (*from == ' ') from++;
  const char *second = memchr(quote + 1, '"', (size_t)(end - quote) - 1);
  if (!second) return false;
  *ret_name = (piece){from, (size_t)(quote - 1 - from)};
  *ret_value = (piece){quote + 1, (size_t)(second - quote) - 1};
  *rest = (piece){second + 1, (size_t)(end - second) - 1};
  return true;
}

static bool is_same_tag(piece a, piece b, const char *differ[2])
{
  piece name[2], value[2];
  const piece called[2] = {name_of(a), name_of(b)};
  if (!is_same(called[0], called[1], (leeway){0}, differ) || (a.at[1] == '/') != (b.at[1] == '/'))
    return false;
  piece rest[2] = {behind(a, called[0]), behind(b, called[1])};
  for (;;) {
    const bool more = next_attribute(&rest[0], &name[0], &value[0]);
    differ[0] = rest[0].at;
    differ[1] = rest[1].at;
    if (more != next_attribute(&rest[1], &name[1], &value[1])) return false;
    if (!more) break;
    if (!is_same(name[0], name[1], (leeway){0}, differ) ||
        !is_same(value[0], value[1], leeway_of(name[0]), differ))
      return false;
  }
  return is_same(rest[0], rest[1], (leeway){0}, differ); /* whether the element is self-closing */
}

const char *drawing_difference(const char *expected, const char *found, char *room, size_t size)
{
  static const leeway hint = {.absolute = 1e-6, .relative = 2e-3};
  const char *at[2] = {expected, found};
  bool in_title = false;
  for (size_t count = 1;; count++) {
    piece p[2] = {{"the end", 7}, {"the end", 7}};
    const bool more[2] = {next_piece(&at[0], &p[0]), next_piece(&at[1], &p[1])};
    const char *differ[2] = {p[0].at, p[1].at};
    if (!more[0] && !more[1]) return NULL;
    const bool tags = *p[0].at == '<' && *p[1].at == '<';
    if (more[0] && more[1] &&
        (tags ? is_same_tag(p[0], p[1], differ)
              : is_same(p[0], p[1], in_title ? hint : (leeway){0}, differ))) {
      if (tags) in_title = p[0].at[1] != '/' && is_called(name_of(p[0]), "title");
      continue;
    }
    snprintf(room, size, "piece %zu, '%.60s...': '%.60s...' was '%.60s...'", count, p[1].at,
             differ[1], differ[0]);
    return room;
  }
}

size_t drawing_count(const char *text, const char *word)
{
  size_t count = 0;
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) count++;
  return count;
}

char *drawing_in_lines(const char *drawing)
{
  const size_t length = strlen(drawing);
  char *lines = malloc(2 * length + 1);
  size_t at = 0;
  for (size_t i = 0; lines && i < length; i++) {
    lines[at++] = drawing[i];
    if (drawing[i] == '>' && drawing[i + 1] == '<') lines[at++] = '\n';
  }
  if (lines) lines[at] = '\0';
  return lines;
}
