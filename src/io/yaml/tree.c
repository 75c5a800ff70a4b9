/* Reads YAML documents: nodes, keys and names.
 *
 * Contents: names · tree · key */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/key.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/yaml/yaml.h"

/* === names ================================================================================== */

/* Sorted names: lookup and detection of duplicates. */

static int compare(const void *a, const void *b)
{
  const idm_name *x = a;
  const idm_name *y = b;
  const int order = strcmp(x->text, y->text);
  if (order != 0) return order;
  return (x->index > y->index) - (x->index < y->index);
}

void idm_names_sort(idm_names *names)
{
  qsort(names->entry, names->count, sizeof *names->entry, compare);
}

idm_status idm_names_create(const idm_labels *labels, idm_names *ret_names, idm_error *opt_error)
{
  *ret_names = (idm_names){0};
  idm_name *entry = idm_new(labels->count, sizeof *entry);
  if (!entry) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < labels->count; i++) entry[i] = (idm_name){labels->name[i], i};
  *ret_names = (idm_names){labels->count, entry};
  idm_names_sort(ret_names);
  return IDM_OK;
}

void idm_names_destroy(idm_names *names)
{
  free(names->entry);
  *names = (idm_names){0};
}

long idm_names_repeated(const idm_names *names)
{
  long first = -1;
  for (size_t i = 1; i < names->count; i++) {
    const long index = (long)names->entry[i].index;
    if (strcmp(names->entry[i - 1].text, names->entry[i].text) == 0 && (first < 0 || index < first))
      first = index;
  }
  return first;
}

long idm_names_find(const idm_names *names, const char *text)
{
  size_t low = 0;
  size_t high = names->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (strcmp(names->entry[middle].text, text) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < names->count && strcmp(names->entry[low].text, text) == 0)
    return (long)names->entry[low].index;
  const size_t length = strlen(text);
  if (length == 0 || length > 9 || strspn(text, "0123456789") != length) return -1;
  const long number = strtol(text, NULL, 10);
  return (size_t)number < names->count ? number : -1;
}

/* === tree =================================================================================== */

/* YAML document as a tree of nodes with positions.
 *
 * Contents: loading and its checks; nodes; failures; values. */

/* Largest number of nested levels, and of anchors. */
enum { max_depth = 32, max_anchors = 1000 };

/* --- loading -------------------------------------------------------------------------------- */

static idm_status fail_mark(const idm_yaml_tree *tree, const yaml_mark_t *mark, const char *context,
                            const char *problem)
{
  return idm_fail_at(tree->opt_error, tree->file, (long)mark->line + 1, (long)mark->column + 1,
                     "this is not YAML: %s%s%s", context ? context : "", context ? ", " : "",
                     problem ? problem : "unknown error");
}

static idm_status parser_failure(const idm_yaml_tree *tree, const yaml_parser_t *parser,
                                 const char *text, size_t length)
{
  if (parser->error == YAML_MEMORY_ERROR) return idm_fail_memory(tree->opt_error);
  if (parser->error != YAML_READER_ERROR)
    return fail_mark(tree, &parser->problem_mark, parser->context, parser->problem);
  /* The decoder reports a byte offset only; find its line and column. */
  yaml_mark_t mark = {0};
  const size_t end = parser->problem_offset < length ? parser->problem_offset : length;
  for (size_t i = 0; i < end; i++) {
    mark.column = text[i] == '\n' ? 0 : mark.column + 1;
    mark.line += text[i] == '\n';
  }
  return fail_mark(tree, &mark, NULL, parser->problem);
}

static idm_status fail_event(const idm_yaml_tree *tree, const yaml_event_t *event,
                             const char *words)
{
  return idm_fail_at(tree->opt_error, tree->file, (long)event->start_mark.line + 1,
                     (long)event->start_mark.column + 1, "%s", words);
}

/* Counts over the events of a stream. */
typedef struct stream_counts {
  int documents;
  int depth;
  int anchors;
} stream_counts;

static idm_status check_event(const idm_yaml_tree *tree, const yaml_event_t *event,
                              stream_counts *counts)
{
  const yaml_char_t *anchor = NULL;
  switch (event->type) {
  case YAML_DOCUMENT_START_EVENT:
    if (counts->documents++)
      return fail_event(tree, event, "a second YAML document begins here; expected one only");
    break;
  case YAML_SCALAR_EVENT:
    anchor = event->data.scalar.anchor;
    break;
  case YAML_SEQUENCE_START_EVENT:
    anchor = event->data.sequence_start.anchor;
    counts->depth++;
    break;
  case YAML_MAPPING_START_EVENT:
    anchor = event->data.mapping_start.anchor;
    counts->depth++;
    break;
  case YAML_SEQUENCE_END_EVENT:
  case YAML_MAPPING_END_EVENT:
    counts->depth--;
    break;
  default:
    break;
  }
  counts->anchors += anchor != NULL;
  if (counts->depth > max_depth)
    return fail_event(tree, event, "lists are nested too deeply; expected at most 32 levels");
  if (counts->anchors > max_anchors)
    return fail_event(tree, event, "there are too many anchors; expected at most 1000");
  return IDM_OK;
}

/* The document API of libyaml takes quadratic time on deep nesting, many anchors and many tag
 * directives: a pass over the events rejects these first. */
static idm_status check_stream_limits(const idm_yaml_tree *tree, const char *text, size_t length)
{
  yaml_parser_t parser;
  if (!yaml_parser_initialize(&parser)) return idm_fail_memory(tree->opt_error);
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
  stream_counts counts = {0};
  idm_status status = IDM_OK;
  for (bool end = false; !end && status == IDM_OK;) {
    yaml_event_t event;
    if (!yaml_parser_parse(&parser, &event)) {
      status = parser_failure(tree, &parser, text, length);
      break;
    }
    end = event.type == YAML_STREAM_END_EVENT;
    status = check_event(tree, &event, &counts);
    yaml_event_delete(&event);
  }
  if (status == IDM_OK && !counts.documents)
    status =
        idm_fail_at(tree->opt_error, tree->file, 1, 1, "this is empty; expected a YAML document");
  yaml_parser_delete(&parser);
  return status;
}

static idm_status check_directives(const idm_yaml_tree *tree, const char *text, size_t length)
{
  long line = 1;
  for (size_t i = 0; i + 4 <= length; i++) {
    if ((i == 0 || text[i - 1] == '\n' || text[i - 1] == '\r') && memcmp(text + i, "%TAG", 4) == 0)
      return idm_fail_at(tree->opt_error, tree->file, line, 1,
                         "a %%TAG directive; expected plain YAML");
    line += text[i] == '\n';
  }
  return IDM_OK;
}

static idm_status load_document(idm_yaml_tree *tree, const char *text, size_t length)
{
  yaml_parser_t parser;
  if (!yaml_parser_initialize(&parser)) return idm_fail_memory(tree->opt_error);
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
  idm_status status = IDM_OK;
  if (!yaml_parser_load(&parser, &tree->document))
    status = parser_failure(tree, &parser, text, length);
  yaml_parser_delete(&parser);
  return status;
}

static idm_status check_tag(const idm_yaml_tree *tree, const idm_yaml_node *node)
{
  static const char prefix[] = "tag:yaml.org,2002:";
  static const char *const plain[] = {"str", "int", "float", "bool", "null", "seq", "map"};
  const char *tag = (const char *)node->tag;
  if (!tag) return IDM_OK;
  if (strncmp(tag, prefix, sizeof prefix - 1) == 0)
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
      if (strcmp(tag + sizeof prefix - 1, plain[i]) == 0) return IDM_OK;
  return idm_yaml_fail(tree, node, "the tag '%.60s' is unknown here; expected plain YAML", tag);
}

static idm_status check_pairs(const idm_yaml_tree *tree, const idm_yaml_node *node)
{
  idm_names names = {idm_yaml_count(node), NULL};
  for (size_t i = 0; i < names.count; i++) {
    const idm_yaml_node *key = idm_yaml_key(tree, node, i);
    if (!idm_yaml_is_scalar(key)) return idm_yaml_unexpected(tree, key, "a key", "a word");
  }
  names.entry = idm_new(names.count, sizeof *names.entry);
  if (!names.entry) return idm_fail_memory(tree->opt_error);
  for (size_t i = 0; i < names.count; i++)
    names.entry[i] = (idm_name){idm_yaml_text(idm_yaml_key(tree, node, i)), i};
  idm_names_sort(&names);
  const long repeated = idm_names_repeated(&names);
  idm_names_destroy(&names);
  if (repeated < 0) return IDM_OK;
  const idm_yaml_node *key = idm_yaml_key(tree, node, (size_t)repeated);
  return idm_yaml_fail(tree, key, "the key '%.60s' is given twice; expected it once",
                       idm_yaml_text(key));
}

static idm_status check_nodes(const idm_yaml_tree *tree)
{
  idm_status status = IDM_OK;
  for (const idm_yaml_node *node = tree->document.nodes.start;
       node < tree->document.nodes.top && status == IDM_OK; node++) {
    status = check_tag(tree, node);
    if (status != IDM_OK) break;
    if (idm_yaml_is_scalar(node) && strlen(idm_yaml_text(node)) != node->data.scalar.length)
      status = idm_yaml_fail(tree, node, "a NUL character; expected text");
  }
  /* Keys are compared as texts, so every text is checked first. */
  for (const idm_yaml_node *node = tree->document.nodes.start;
       node < tree->document.nodes.top && status == IDM_OK; node++)
    if (idm_yaml_is_mapping(node)) status = check_pairs(tree, node);
  return status;
}

idm_status idm_yaml_load(const char *text, size_t length, const char *file,
                         idm_yaml_tree **ret_tree, idm_error *opt_error)
{
  *ret_tree = NULL;
  idm_yaml_tree *tree = idm_new(1, sizeof *tree);
  if (!tree) return idm_fail_memory(opt_error);
  tree->file = file;
  tree->opt_error = opt_error;
  idm_status status = check_directives(tree, text, length);
  if (status == IDM_OK) status = check_stream_limits(tree, text, length);
  if (status == IDM_OK) status = load_document(tree, text, length);
  if (status == IDM_OK) status = check_nodes(tree);
  if (status == IDM_OK)
    *ret_tree = tree;
  else
    idm_yaml_destroy(tree);
  return status;
}

void idm_yaml_destroy(idm_yaml_tree *tree)
{
  if (!tree) return;
  yaml_document_delete(&tree->document);
  free(tree);
}

/* --- nodes ---------------------------------------------------------------------------------- */

/* libyaml numbers nodes from 1. */
static const idm_yaml_node *node_at(const idm_yaml_tree *tree, int number)
{
  return tree->document.nodes.start + number - 1;
}

const idm_yaml_node *idm_yaml_root(const idm_yaml_tree *tree)
{
  return node_at(tree, 1);
}

bool idm_yaml_is_scalar(const idm_yaml_node *node)
{
  return node->type == YAML_SCALAR_NODE;
}

bool idm_yaml_is_list(const idm_yaml_node *node)
{
  return node->type == YAML_SEQUENCE_NODE;
}

bool idm_yaml_is_mapping(const idm_yaml_node *node)
{
  return node->type == YAML_MAPPING_NODE;
}

bool idm_yaml_is_null(const idm_yaml_node *node)
{
  if (!idm_yaml_is_scalar(node) || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return false;
  const char *text = idm_yaml_text(node);
  return !text[0] || strcmp(text, "~") == 0 || strcmp(text, "null") == 0;
}

const char *idm_yaml_text(const idm_yaml_node *node)
{
  return (const char *)node->data.scalar.value;
}

size_t idm_yaml_count(const idm_yaml_node *node)
{
  if (idm_yaml_is_list(node))
    return (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
  if (idm_yaml_is_mapping(node))
    return (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
  return 0;
}

const idm_yaml_node *idm_yaml_item(const idm_yaml_tree *tree, const idm_yaml_node *node, size_t i)
{
  if (idm_yaml_is_list(node)) return node_at(tree, node->data.sequence.items.start[i]);
  return node_at(tree, node->data.mapping.pairs.start[i].value);
}

const idm_yaml_node *idm_yaml_key(const idm_yaml_tree *tree, const idm_yaml_node *node, size_t i)
{
  return node_at(tree, node->data.mapping.pairs.start[i].key);
}

const idm_yaml_node *idm_yaml_find(const idm_yaml_tree *tree, const idm_yaml_node *node,
                                   const char *key)
{
  if (!idm_yaml_is_mapping(node)) return NULL;
  for (size_t i = 0; i < idm_yaml_count(node); i++)
    if (strcmp(idm_yaml_text(idm_yaml_key(tree, node, i)), key) == 0)
      return idm_yaml_item(tree, node, i);
  return NULL;
}

/* --- failures ------------------------------------------------------------------------------- */

idm_status idm_yaml_fail(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *format,
                         ...)
{
  char message[sizeof tree->opt_error->message];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  /* Replace control characters, so that a message is one line. */
  for (char *c = message; *c; c++)
    if (iscntrl((unsigned char)*c)) *c = '?';
  return idm_fail_at(tree->opt_error, tree->file, (long)node->start_mark.line + 1,
                     (long)node->start_mark.column + 1, "%s", message);
}

/* Describe a node in a few words. */
static const char *describe(const idm_yaml_node *node, char *buffer, size_t size)
{
  const size_t count = idm_yaml_count(node);
  if (idm_yaml_is_list(node))
    snprintf(buffer, size, "a list of %zu", count);
  else if (idm_yaml_is_mapping(node))
    snprintf(buffer, size, "a mapping of %zu", count);
  else if (idm_yaml_is_null(node))
    snprintf(buffer, size, "empty");
  else
    snprintf(buffer, size, strlen(idm_yaml_text(node)) > 60 ? "'%.60s...'" : "'%s'",
             idm_yaml_text(node));
  return buffer;
}

idm_status idm_yaml_unexpected(const idm_yaml_tree *tree, const idm_yaml_node *node,
                               const char *what, const char *expected)
{
  char found[80];
  return idm_yaml_fail(tree, node, "%s is %s; expected %s", what,
                       describe(node, found, sizeof found), expected);
}

idm_status idm_yaml_unknown(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *what,
                            const char *const *allowed, size_t count)
{
  return idm_yaml_unknown_word(tree, node, what, idm_yaml_text(node), allowed, count);
}

idm_status idm_yaml_unknown_word(const idm_yaml_tree *tree, const idm_yaml_node *node,
                                 const char *what, const char *word, const char *const *allowed,
                                 size_t count)
{
  const char *nearest = idm_suggest(word, allowed, count);
  if (nearest)
    return idm_yaml_fail(tree, node, "%s '%.60s' is unknown; did you mean '%.60s'?", what, word,
                         nearest);
  char list[480] = "";
  size_t length = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t room = sizeof list - length;
    if (strlen(allowed[i]) + 8 > room) {
      snprintf(list + length, room, ", ...");
      break;
    }
    length += (size_t)snprintf(list + length, room, "%s%s", i ? ", " : "", allowed[i]);
  }
  return idm_yaml_fail(tree, node, "%s '%.60s' is unknown; expected one of %s", what, word, list);
}

idm_status idm_yaml_check_keys(const idm_yaml_tree *tree, const idm_yaml_node *node,
                               const char *what, const char *const *allowed)
{
  if (!idm_yaml_is_mapping(node))
    return idm_yaml_unexpected(tree, node, what, "a mapping of keys to values");
  size_t allowed_count = 0;
  while (allowed[allowed_count]) allowed_count++;
  for (size_t i = 0; i < idm_yaml_count(node); i++) {
    const idm_yaml_node *key = idm_yaml_key(tree, node, i);
    size_t k = 0;
    while (k < allowed_count && strcmp(allowed[k], idm_yaml_text(key)) != 0) k++;
    if (k < allowed_count) continue;
    char place[120];
    snprintf(place, sizeof place, "in %.100s, the key", what);
    return idm_yaml_unknown(tree, key, place, allowed, allowed_count);
  }
  return IDM_OK;
}

idm_status idm_yaml_check_list(const idm_yaml_tree *tree, const idm_yaml_node *node,
                               const char *what, const char *expected, size_t count)
{
  if (idm_yaml_is_list(node) && (count ? idm_yaml_count(node) == count : idm_yaml_count(node) > 0))
    return IDM_OK;
  char text[160];
  if (count)
    snprintf(text, sizeof text, "a list of %zu %.100s", count, expected);
  else
    snprintf(text, sizeof text, "a list of %.100s", expected);
  return idm_yaml_unexpected(tree, node, what, text);
}

/* --- values --------------------------------------------------------------------------------- */

static bool is_word(const char *text, const char *word)
{
  if (*text == '.') text++;
  for (; *text && *word; text++, word++)
    if (tolower((unsigned char)*text) != *word) return false;
  return *text == *word;
}

static size_t digits(const char *text)
{
  return strspn(text, "0123456789");
}

/* strtod accepts more: spaces, hexadecimal, "infinity". */
static bool is_decimal(const char *text)
{
  const size_t whole = digits(text);
  text += whole;
  size_t fraction = 0;
  if (*text == '.') {
    fraction = digits(text + 1);
    text += 1 + fraction;
  }
  if (!whole && !fraction) return false;
  if (*text == 'e' || *text == 'E') {
    text++;
    if (*text == '+' || *text == '-') text++;
    if (!digits(text)) return false;
    text += digits(text);
  }
  return !*text;
}

idm_yaml_numeral idm_yaml_parse_number(const char *text, double *ret_value)
{
  const bool negative = *text == '-';
  const char *body = text + (negative || *text == '+');
  if (is_word(body, "nan")) return IDM_YAML_ILLEGAL;
  if (is_word(body, "inf")) {
    *ret_value = negative ? -INFINITY : INFINITY;
    return IDM_YAML_NUMBER;
  }
  if (body[0] == '0' && (body[1] == 'x' || body[1] == 'X')) return IDM_YAML_ILLEGAL;
  if (!is_decimal(body)) return IDM_YAML_TEXT;
  char *end = NULL;
  const double value = idm_number_read(text, &end);
  if (*end || !isfinite(value)) return IDM_YAML_ILLEGAL;
  *ret_value = value;
  return IDM_YAML_NUMBER;
}

idm_status idm_yaml_number(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *what,
                           bool infinite, double *ret_value)
{
  double value = 0;
  const idm_yaml_numeral kind =
      idm_yaml_is_scalar(node) ? idm_yaml_parse_number(idm_yaml_text(node), &value) : IDM_YAML_TEXT;
  if (kind != IDM_YAML_NUMBER)
    return idm_yaml_unexpected(tree, node, what,
                               infinite ? "a number, inf or -inf" : "a finite number");
  if (!infinite && !isfinite(value))
    return idm_yaml_unexpected(tree, node, what, "a finite number");
  *ret_value = value;
  return IDM_OK;
}

idm_status idm_yaml_integer(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *what,
                            long least, long *ret_value)
{
  char expected[64];
  snprintf(expected, sizeof expected, "an integer from %ld to 1000000000", least);
  double value = 0;
  if (!idm_yaml_is_scalar(node) ||
      idm_yaml_parse_number(idm_yaml_text(node), &value) != IDM_YAML_NUMBER ||
      !(value >= (double)least && value <= 1e9) || value != floor(value))
    return idm_yaml_unexpected(tree, node, what, expected);
  *ret_value = (long)value;
  return IDM_OK;
}

idm_status idm_yaml_boolean(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *what,
                            bool *ret_value)
{
  static const char *const words[] = {"false", "true"};
  size_t index = 0;
  const idm_status status = idm_yaml_choice(tree, node, what, words, 2, &index);
  if (status == IDM_OK) *ret_value = index == 1;
  return status;
}

idm_status idm_yaml_choice(const idm_yaml_tree *tree, const idm_yaml_node *node, const char *what,
                           const char *const *words, size_t count, size_t *ret_index)
{
  for (size_t i = 0; i < count && idm_yaml_is_scalar(node); i++)
    if (strcmp(idm_yaml_text(node), words[i]) == 0) {
      *ret_index = i;
      return IDM_OK;
    }
  char expected[256] = "";
  size_t length = 0;
  for (size_t i = 0; i < count && length < sizeof expected - 40; i++)
    length += (size_t)snprintf(expected + length, sizeof expected - length, "%s%s",
                               i == 0           ? ""
                               : i + 1 == count ? " or "
                                                : ", ",
                               words[i]);
  return idm_yaml_unexpected(tree, node, what, expected);
}

/* === key ==================================================================================== */

/* Field of a settings struct, read from a YAML node as its key specifies. */

static idm_status fail_unexpected(const idm_yaml_tree *tree, const idm_yaml_node *node,
                                  const idm_key *key, const char *what)
{
  char expected[160];
  return idm_yaml_unexpected(tree, node, what, idm_key_expected(key, expected, sizeof expected));
}

static idm_status read_number(const idm_yaml_tree *tree, const idm_yaml_node *node,
                              const idm_key *key, const char *what, void *fields)
{
  double value = 0;
  const idm_status status = idm_yaml_number(tree, node, what, false, &value);
  if (status != IDM_OK) return status;
  if (value < key->least || value > key->most || (key->above && value == key->least))
    return fail_unexpected(tree, node, key, what);
  idm_key_set_number(key, fields, value);
  return IDM_OK;
}

static idm_status read_word(const idm_yaml_tree *tree, const idm_yaml_node *node,
                            const idm_key *key, const char *what, void *fields)
{
  size_t count = 0;
  size_t index = 0;
  while (key->words[count]) count++;
  const idm_status status = idm_yaml_choice(tree, node, what, key->words, count, &index);
  if (status == IDM_OK) idm_key_set_number(key, fields, (double)index);
  return status;
}

/* Parse a text as it is written by a user. */
static idm_status read_text(const idm_yaml_tree *tree, const idm_yaml_node *node,
                            const idm_key *key, const char *what, void *fields)
{
  if (idm_yaml_is_scalar(node) &&
      idm_key_set_text(key, fields, idm_yaml_text(node), NULL) == IDM_OK)
    return IDM_OK;
  return fail_unexpected(tree, node, key, what);
}

/* One text, or a list of them. */
static idm_status read_texts(const idm_yaml_tree *tree, const idm_yaml_node *node,
                             const idm_key *key, const char *what, void *fields)
{
  char *texts = (char *)fields + key->offset;
  const bool list = idm_yaml_is_list(node);
  texts[0] = '\0';
  for (size_t i = 0; i < (list ? idm_yaml_count(node) : 1); i++) {
    const idm_yaml_node *item = list ? idm_yaml_item(tree, node, i) : node;
    if (!idm_yaml_is_scalar(item) ||
        idm_texts_add(texts, (size_t)key->most, idm_yaml_text(item), NULL) != IDM_OK)
      return fail_unexpected(tree, item, key, what);
  }
  return IDM_OK;
}

idm_status idm_yaml_read_key(const idm_yaml_tree *tree, const idm_yaml_node *node,
                             const idm_key *key, const char *what, void *fields)
{
  long whole = 0;
  bool truth = false;
  idm_status status;
  switch (key->kind) {
  case IDM_KEY_NUMBER:
    return key->zero ? read_text(tree, node, key, what, fields)
                     : read_number(tree, node, key, what, fields);
  case IDM_KEY_ENUM:
    return read_word(tree, node, key, what, fields);
  case IDM_KEY_BOOL:
    status = idm_yaml_boolean(tree, node, what, &truth);
    if (status == IDM_OK) idm_key_set_number(key, fields, truth);
    return status;
  case IDM_KEY_TEXTS:
    return read_texts(tree, node, key, what, fields);
  case IDM_KEY_TEXT:
  case IDM_KEY_SEED:
    return read_text(tree, node, key, what, fields);
  default:
    if (key->zero) return read_text(tree, node, key, what, fields);
    status = idm_yaml_integer(tree, node, what, (long)key->least, &whole);
    if (status != IDM_OK) return status;
    if ((double)whole > key->most) return fail_unexpected(tree, node, key, what);
    idm_key_set_number(key, fields, (double)whole);
    return IDM_OK;
  }
}
