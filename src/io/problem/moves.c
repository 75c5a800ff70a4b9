/* Transitions of observed states, row by row: {action: {from: {to: probability}}}, or a table with
 * the columns action, from, to and probability. */
#include "io/problem/moves.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "io/csv.h"
#include "io/problem/spaces.h"

/* One probability, as it was read. */
typedef struct entry {
  size_t row; /* action and state acted in */
  uint32_t next;
  uint32_t line; /* of a table, or of the file */
  uint32_t column;
  double probability;
} entry;

typedef struct gathering {
  idm_yaml_reader *reader;
  const char *file; /* in messages */
  entry *entry;
  size_t count;
  size_t capacity;
} gathering;

static bool names_table(const idm_yaml_node *node)
{
  return idm_yaml_is_scalar(node) && strcmp(idm_yaml_text(node), "identity") != 0 &&
         strcmp(idm_yaml_text(node), "uniform") != 0;
}

bool idm_yaml_gives_moves(const idm_yaml_reader *reader)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "transition");
  const idm_yaml_node *family = idm_yaml_find(reader->tree, reader->root, "environments");
  if (!node && family && idm_yaml_is_mapping(family) && idm_yaml_count(family))
    node = idm_yaml_find(reader->tree, idm_yaml_item(reader->tree, family, 0), "transition");
  if (!reader->fully_observed || !node) return false;
  if (!idm_yaml_is_mapping(node)) return names_table(node);
  for (size_t i = 0; i < idm_yaml_count(node); i++)
    if (idm_yaml_is_mapping(idm_yaml_item(reader->tree, node, i))) return true;
  return false;
}

static idm_status add(gathering *g, entry one)
{
  if (g->count == g->capacity) {
    const size_t capacity = 2 * g->capacity + 256;
    entry *larger = realloc(g->entry, idm_times(capacity, sizeof *larger));
    if (!larger) return idm_fail_memory(g->reader->opt_error);
    g->entry = larger;
    g->capacity = capacity;
  }
  g->entry[g->count++] = one;
  return IDM_OK;
}

/* --- the file itself ------------------------------------------------------------------------ */

static idm_status find_state(const idm_yaml_reader *reader, const idm_yaml_node *node,
                             const char *what, size_t *ret_state)
{
  if (!idm_yaml_is_scalar(node))
    return idm_yaml_unexpected(reader->tree, node, what, "the name of a state");
  const long state = idm_names_find(&reader->states, idm_yaml_text(node));
  if (state < 0)
    return idm_yaml_unknown(reader->tree, node, what,
                            (const char *const *)reader->problem->setting->states.name,
                            reader->problem->setting->states.count);
  *ret_state = (size_t)state;
  return IDM_OK;
}

static entry entry_at(const idm_yaml_node *node, size_t row, size_t next, double probability)
{
  return (entry){.row = row,
                 .next = (uint32_t)next,
                 .line = (uint32_t)node->start_mark.line + 1,
                 .column = (uint32_t)node->start_mark.column + 1,
                 .probability = probability};
}

/* {to: probability}, or the name of the state that follows for certain. */
static idm_status read_row(gathering *g, const idm_yaml_node *node, const char *what, size_t row)
{
  const idm_yaml_reader *reader = g->reader;
  size_t next = 0;
  if (idm_yaml_is_scalar(node)) {
    const idm_status status = find_state(reader, node, what, &next);
    return status == IDM_OK ? add(g, entry_at(node, row, next, 1)) : status;
  }
  if (!idm_yaml_is_mapping(node))
    return idm_yaml_unexpected(reader->tree, node, what,
                               "{to: probability}, or the name of a state");
  idm_status status = IDM_OK;
  for (size_t i = 0; i < idm_yaml_count(node) && status == IDM_OK; i++) {
    const idm_yaml_node *key = idm_yaml_key(reader->tree, node, i);
    double p = 0;
    status = find_state(reader, key, what, &next);
    if (status == IDM_OK)
      status = idm_yaml_number(reader->tree, idm_yaml_item(reader->tree, node, i), what, false, &p);
    if (status == IDM_OK) status = add(g, entry_at(key, row, next, p));
  }
  return status;
}

/* Rows of one action: {from: row}, "*" for those not named, or `identity`. */
static idm_status read_action(gathering *g, const idm_yaml_node *node, size_t u)
{
  const idm_yaml_reader *reader = g->reader;
  const size_t states = reader->sizes.states;
  char what[100];
  snprintf(what, sizeof what, "transition.%.60s", reader->problem->setting->actions.name[u]);
  idm_status status = IDM_OK;
  if (idm_yaml_is_scalar(node) && strcmp(idm_yaml_text(node), "identity") == 0) {
    for (size_t s = 0; s < states && status == IDM_OK; s++)
      status = add(g, entry_at(node, u * states + s, s, 1));
    return status;
  }
  if (!idm_yaml_is_mapping(node))
    return idm_yaml_unexpected(reader->tree, node, what,
                               "{from: {to: probability}} or identity, as for another action");
  bool *named = idm_new(states, sizeof *named);
  if (!named) return idm_fail_memory(reader->opt_error);
  const idm_yaml_node *star = NULL;
  for (size_t i = 0; i < idm_yaml_count(node) && status == IDM_OK; i++) {
    const idm_yaml_node *key = idm_yaml_key(reader->tree, node, i);
    const idm_yaml_node *value = idm_yaml_item(reader->tree, node, i);
    size_t from = 0;
    if (idm_yaml_is_scalar(key) && strcmp(idm_yaml_text(key), "*") == 0) {
      star = value;
      continue;
    }
    status = find_state(reader, key, what, &from);
    if (status == IDM_OK) named[from] = true;
    if (status == IDM_OK) status = read_row(g, value, what, u * states + from);
  }
  for (size_t s = 0; star && s < states && status == IDM_OK; s++)
    if (!named[s]) status = read_row(g, star, what, u * states + s);
  free(named);
  return status;
}

static idm_status read_mapping(gathering *g, const idm_yaml_node *node)
{
  const size_t actions = g->reader->sizes.actions;
  const idm_yaml_node **value = idm_new(actions, sizeof *value);
  if (!value) return idm_fail_memory(g->reader->opt_error);
  idm_status status = idm_yaml_by_action(g->reader, node, "transition", value);
  for (size_t u = 0; u < actions && status == IDM_OK; u++)
    if (value[u]) status = read_action(g, value[u], u);
  free(value);
  return status;
}

/* --- a table -------------------------------------------------------------------------------- */

enum { ACTION, FROM, TO, PROBABILITY, COLUMNS };
static const char *const column_name[COLUMNS] = {"action", "from", "to", "probability"};

#define fail_cell(g, cell, ...)                                                                    \
  idm_fail_at((g)->reader->opt_error, (g)->file, (long)(cell)->line, (long)(cell)->column,         \
              __VA_ARGS__)

static bool is_word(const idm_csv_field *cell, const char *word)
{
  return cell->length == strlen(word) && memcmp(cell->text, word, cell->length) == 0;
}

static idm_status map_header(const gathering *g, const idm_csv_field *field, size_t count,
                             size_t place[COLUMNS])
{
  for (size_t c = 0; c < COLUMNS; c++) {
    place[c] = count;
    for (size_t i = 0; i < count; i++)
      if (is_word(&field[i], column_name[c])) place[c] = i;
    if (place[c] == count)
      return idm_fail_at(g->reader->opt_error, g->file, 1, 1,
                         "no column '%s'; expected action, from, to and probability",
                         column_name[c]);
  }
  return IDM_OK;
}

static idm_status find_label(const gathering *g, const idm_names *names, const idm_csv_field *cell,
                             const char *what, size_t *ret_index)
{
  char text[IDM_YAML_LABEL + 1];
  const bool fits = cell->length < sizeof text;
  if (fits) memcpy(text, cell->text, cell->length);
  text[fits ? cell->length : 0] = '\0';
  const long index = fits ? idm_names_find(names, text) : -1;
  if (index < 0)
    return fail_cell(g, cell, "'%.*s' is no %s of the problem",
                     (int)(cell->length < 60 ? cell->length : 60), cell->text, what);
  *ret_index = (size_t)index;
  return IDM_OK;
}

static idm_status read_record(gathering *g, const idm_csv_field *field, const size_t place[COLUMNS])
{
  size_t u = 0, from = 0, to = 0;
  const idm_csv_field *cell = &field[place[PROBABILITY]];
  entry one = {.line = cell->line, .column = cell->column};
  idm_status status = find_label(g, &g->reader->actions, &field[place[ACTION]], "action", &u);
  if (status == IDM_OK)
    status = find_label(g, &g->reader->states, &field[place[FROM]], "state", &from);
  if (status == IDM_OK) status = find_label(g, &g->reader->states, &field[place[TO]], "state", &to);
  if (status == IDM_OK && !idm_number_decimal(cell->text, cell->length, &one.probability))
    status = fail_cell(g, cell, "'%.*s' for a probability; expected a number",
                       (int)(cell->length < 60 ? cell->length : 60), cell->text);
  one.row = u * g->reader->sizes.states + from;
  one.next = (uint32_t)to;
  return status == IDM_OK ? add(g, one) : status;
}

/* The table's path, seen from the problem file. */
static char *path_of(const idm_yaml_reader *reader, const char *name)
{
  const char *file = reader->tree->file ? reader->tree->file : "";
  const char *slash = strrchr(file, '/');
  const size_t folder = slash && name[0] != '/' ? (size_t)(slash - file) + 1 : 0;
  char *path = idm_new(folder + strlen(name) + 1, 1);
  if (!path) return NULL;
  memcpy(path, file, folder);
  memcpy(path + folder, name, strlen(name) + 1);
  return path;
}

static idm_status read_records(gathering *g, FILE *stream)
{
  idm_csv *csv;
  const idm_csv_field *field;
  size_t count = 0, place[COLUMNS];
  idm_status status = idm_csv_open_stream(stream, g->file, &csv, g->reader->opt_error);
  if (status == IDM_OK) status = idm_csv_next(csv, &field, &count, g->reader->opt_error);
  if (status == IDM_OK) status = map_header(g, field, count, place);
  while (status == IDM_OK) {
    status = idm_csv_next(csv, &field, &count, g->reader->opt_error);
    if (status != IDM_OK || !count) break;
    status = read_record(g, field, place);
  }
  idm_csv_close(csv);
  return status;
}

static idm_status read_table(gathering *g, const idm_yaml_node *node, char *path)
{
  FILE *stream = fopen(path, "rb");
  if (!stream)
    return idm_yaml_fail(g->reader->tree, node,
                         "cannot open '%.200s': %s; expected a table of transitions, identity, or "
                         "a mapping of actions",
                         path, strerror(errno));
  g->file = path;
  const idm_status status = read_records(g, stream);
  fclose(stream);
  return status;
}

/* --- rows ----------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
  const entry *x = a;
  const entry *y = b;
  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  return (x->next > y->next) - (x->next < y->next);
}

#define fail_entry(g, e, ...)                                                                      \
  idm_fail_at((g)->reader->opt_error, (g)->file, (long)(e)->line, (long)(e)->column, __VA_ARGS__)

static idm_status check_entries(const gathering *g)
{
  const char *const *state = (const char *const *)g->reader->problem->setting->states.name;
  for (size_t i = 0; i < g->count; i++) {
    const entry *e = &g->entry[i];
    if (!(e->probability >= 0) || !(e->probability <= 1))
      return fail_entry(g, e, "a probability of %g; expected a number between 0 and 1",
                        e->probability);
    if (i && compare(e - 1, e) == 0)
      return fail_entry(g, e, "'%.60s' follows '%.60s' twice (before on line %lu); expected once",
                        state[e->next], state[e->row % g->reader->sizes.states],
                        (unsigned long)e[-1].line);
  }
  return IDM_OK;
}

/* One row of moves from its entries, those of probability 0 left out. */
static idm_status settle_row(gathering *g, size_t row, size_t begin, size_t end, idm_moves *moves)
{
  const idm_yaml_reader *reader = g->reader;
  const idm_setting *setting = reader->problem->setting;
  const size_t states = reader->sizes.states;
  size_t at = moves->first[row];
  double sum = 0;
  for (size_t i = begin; i < end; i++) {
    if (!(g->entry[i].probability > 0)) continue;
    moves->next[at] = g->entry[i].next;
    moves->probability[at++] = g->entry[i].probability;
    sum += g->entry[i].probability;
  }
  if (begin == end && setting->terminal[row / states]) {
    moves->next[at] = (uint32_t)(row % states);
    moves->probability[at++] = 1;
    sum = 1;
  }
  if (begin == end && !(sum > 0))
    return idm_yaml_fail(reader->tree, idm_yaml_find(reader->tree, reader->root, "transition"),
                         "transition says nothing of '%.60s' in '%.60s'; expected what may follow",
                         setting->actions.name[row / states], setting->states.name[row % states]);
  const double off = idm_normalise(moves->probability + moves->first[row], at - moves->first[row]);
  if (off < 0) {
    assert(g->entry && begin < end); /* the one move of a terminal action sums to 1 */
    return fail_entry(
        g, &g->entry[begin],
        "what follows '%.60s' in '%.60s' has probabilities that sum to %.9g; expected "
        "1",
        setting->actions.name[row / states], setting->states.name[row % states], sum);
  }
  idm_yaml_mended *mended = &g->reader->mended[IDM_YAML_TRANSITION];
  if (off > 1e-9) mended->rows++;
  if (off > 1e-9 && off > mended->largest) mended->largest = off;
  moves->first[row + 1] = at;
  return IDM_OK;
}

static idm_status settle(gathering *g)
{
  const size_t rows = g->reader->sizes.actions * g->reader->sizes.states;
  if (g->count) qsort(g->entry, g->count, sizeof *g->entry, compare);
  idm_status status = check_entries(g);
  idm_moves *moves = NULL;
  /* A terminal action that is not named has a row of one entry. */
  if (status == IDM_OK)
    status = idm_moves_create(rows, g->count + rows, &moves, g->reader->opt_error);
  size_t begin = 0;
  for (size_t row = 0; row < rows && status == IDM_OK; row++) {
    size_t end = begin;
    while (end < g->count && g->entry[end].row == row) end++;
    status = settle_row(g, row, begin, end, moves);
    begin = end;
  }
  if (status != IDM_OK)
    idm_moves_destroy(moves);
  else
    g->reader->problem->setting->moves = moves;
  return status;
}

idm_status idm_yaml_read_moves(idm_yaml_reader *reader)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "transition");
  gathering g = {.reader = reader, .file = reader->tree->file};
  char *path = NULL;
  idm_status status;
  if (!node) return IDM_OK; /* environments give it, each for itself */
  if (idm_yaml_is_scalar(node)) {
    path = path_of(reader, idm_yaml_text(node));
    status = path ? read_table(&g, node, path) : idm_fail_memory(reader->opt_error);
  } else {
    status = read_mapping(&g, node);
  }
  if (status == IDM_OK) status = settle(&g);
  free(g.entry);
  free(path);
  return status;
}
