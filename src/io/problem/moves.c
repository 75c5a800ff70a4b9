/* Reads sparse transitions of observed states: {action: {from: {to: probability}}}, or a table with
 * the columns action, from, to and probability. */
#include "io/problem/reader.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "setting/model.h"

/* One probability and its position. */
typedef struct move_entry {
  size_t row; /* action * states + state before the action */
  uint32_t next;
  uint32_t line; /* line of the table or of the file */
  uint32_t column;
  double probability;
} move_entry;

typedef struct move_reader {
  idm_yaml_reader *reader;
  const char *file; /* name in messages */
  move_entry *move_entry;
  size_t count;
  size_t capacity;
} move_reader;

static bool names_table(const idm_yaml_node *node)
{
  return idm_yaml_is_scalar(node) && strcmp(idm_yaml_text(node), "identity") != 0 &&
         strcmp(idm_yaml_text(node), "uniform") != 0;
}

bool idm_yaml_has_moves(const idm_yaml_reader *reader)
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

static idm_status add_entry(move_reader *g, move_entry one)
{
  if (g->count == g->capacity) {
    const size_t capacity = 2 * g->capacity + 256;
    move_entry *larger = realloc(g->move_entry, idm_times(capacity, sizeof *larger));
    if (!larger) return idm_fail_memory(g->reader->opt_error);
    g->move_entry = larger;
    g->capacity = capacity;
  }
  g->move_entry[g->count++] = one;
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

static move_entry entry_at(const idm_yaml_node *node, size_t row, size_t next, double probability)
{
  return (move_entry){.row = row,
                      .next = (uint32_t)next,
                      .line = (uint32_t)node->start_mark.line + 1,
                      .column = (uint32_t)node->start_mark.column + 1,
                      .probability = probability};
}

/* Read {to: probability}, or the name of the only next state. */
static idm_status read_row(move_reader *g, const idm_yaml_node *node, const char *what, size_t row)
{
  const idm_yaml_reader *reader = g->reader;
  size_t next = 0;
  if (idm_yaml_is_scalar(node)) {
    const idm_status status = find_state(reader, node, what, &next);
    return status == IDM_OK ? add_entry(g, entry_at(node, row, next, 1)) : status;
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
    if (status == IDM_OK) status = add_entry(g, entry_at(key, row, next, p));
  }
  return status;
}

/* Read the rows of one action: {from: row}, "*" for states not named, or `identity`. */
static idm_status read_action(move_reader *g, const idm_yaml_node *node, size_t u)
{
  const idm_yaml_reader *reader = g->reader;
  const size_t states = reader->sizes.states;
  char what[100];
  snprintf(what, sizeof what, "transition.%.60s", reader->problem->setting->actions.name[u]);
  idm_status status = IDM_OK;
  if (idm_yaml_is_scalar(node) && strcmp(idm_yaml_text(node), "identity") == 0) {
    for (size_t s = 0; s < states && status == IDM_OK; s++)
      status = add_entry(g, entry_at(node, u * states + s, s, 1));
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

static idm_status read_mapping(move_reader *g, const idm_yaml_node *node)
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

static idm_status read_record(move_reader *g, const idm_yaml_table *table,
                              const size_t place[COLUMNS])
{
  size_t u = 0, from = 0, to = 0;
  const idm_csv_field *cell = &table->field[place[PROBABILITY]];
  move_entry one = {.line = cell->line, .column = cell->column};
  idm_status status = idm_yaml_table_label(table, place[ACTION], &g->reader->actions, "action", &u);
  if (status == IDM_OK)
    status = idm_yaml_table_label(table, place[FROM], &g->reader->states, "state", &from);
  if (status == IDM_OK)
    status = idm_yaml_table_label(table, place[TO], &g->reader->states, "state", &to);
  if (status == IDM_OK)
    status = idm_yaml_table_number(table, place[PROBABILITY], "a probability", &one.probability);
  one.row = u * g->reader->sizes.states + from;
  one.next = (uint32_t)to;
  return status == IDM_OK ? add_entry(g, one) : status;
}

/* Read the records of a table. It stays open, since later errors refer to positions in it. */
static idm_status read_table(move_reader *g, const idm_yaml_node *node, idm_yaml_table *table)
{
  size_t place[COLUMNS];
  idm_status status = idm_yaml_table_open(
      g->reader, node, "a table of transitions, identity, or a mapping of actions", table);
  if (status == IDM_OK) status = idm_yaml_table_columns(table, column_name, COLUMNS, place);
  if (status == IDM_OK) status = idm_yaml_table_next(table);
  while (status == IDM_OK && table->count) {
    status = read_record(g, table, place);
    if (status == IDM_OK) status = idm_yaml_table_next(table);
  }
  g->file = table->path;
  return status;
}

/* --- rows ----------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
  const move_entry *x = a;
  const move_entry *y = b;
  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  return (x->next > y->next) - (x->next < y->next);
}

#define fail_entry(g, e, ...)                                                                      \
  idm_fail_at((g)->reader->opt_error, (g)->file, (long)(e)->line, (long)(e)->column, __VA_ARGS__)

static idm_status check_entries(const move_reader *g)
{
  const char *const *state = (const char *const *)g->reader->problem->setting->states.name;
  for (size_t i = 0; i < g->count; i++) {
    const move_entry *e = &g->move_entry[i];
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

/* Make one sparse row from its entries, without those of probability 0. A terminal action or state
 * without entries leaves the state unchanged. */
static idm_status make_row(move_reader *g, size_t row, size_t begin, size_t end,
                           idm_sparse_rows *moves)
{
  const idm_yaml_reader *reader = g->reader;
  const idm_setting *setting = reader->problem->setting;
  const size_t states = reader->sizes.states;
  size_t at = moves->first[row];
  double sum = 0;
  for (size_t i = begin; i < end; i++) {
    if (!(g->move_entry[i].probability > 0)) continue;
    moves->next[at] = g->move_entry[i].next;
    moves->probability[at++] = g->move_entry[i].probability;
    sum += g->move_entry[i].probability;
  }
  if (begin == end && (setting->terminal[row / states] || setting->terminal_state[row % states])) {
    moves->next[at] = (uint32_t)(row % states);
    moves->probability[at++] = 1;
    sum = 1;
  }
  if (begin == end && !(sum > 0))
    return idm_yaml_fail(reader->tree, idm_yaml_find(reader->tree, reader->root, "transition"),
                         "transition has no entry for '%.60s' in '%.60s'; expected the "
                         "probabilities of the next states",
                         setting->actions.name[row / states], setting->states.name[row % states]);
  const double sum_deviation =
      idm_normalise(moves->probability + moves->first[row], at - moves->first[row]);
  if (sum_deviation < 0) {
    assert(g->move_entry && begin < end); /* the single entry of a terminal row sums to 1 */
    return fail_entry(
        g, &g->move_entry[begin],
        "the next states after '%.60s' in '%.60s' have probabilities that sum to %.9g; expected 1",
        setting->actions.name[row / states], setting->states.name[row % states], sum);
  }
  idm_yaml_rescaled *rescaled = &g->reader->rescaled[IDM_YAML_TRANSITION];
  if (sum_deviation > 1e-9) rescaled->rows++;
  if (sum_deviation > 1e-9 && sum_deviation > rescaled->largest) rescaled->largest = sum_deviation;
  moves->first[row + 1] = at;
  return IDM_OK;
}

static idm_status make_moves(move_reader *g)
{
  const size_t rows = g->reader->sizes.actions * g->reader->sizes.states;
  if (g->count) qsort(g->move_entry, g->count, sizeof *g->move_entry, compare);
  idm_status status = check_entries(g);
  idm_sparse_rows *moves = NULL;
  /* A terminal action or state that is not named adds one entry per row. */
  if (status == IDM_OK)
    status = idm_sparse_rows_create(rows, g->count + rows, &moves, g->reader->opt_error);
  size_t begin = 0;
  for (size_t row = 0; row < rows && status == IDM_OK; row++) {
    size_t end = begin;
    while (end < g->count && g->move_entry[end].row == row) end++;
    status = make_row(g, row, begin, end, moves);
    begin = end;
  }
  if (status != IDM_OK)
    idm_sparse_rows_destroy(moves);
  else
    g->reader->problem->setting->moves = moves;
  return status;
}

idm_status idm_yaml_read_moves(idm_yaml_reader *reader)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "transition");
  move_reader g = {.reader = reader, .file = reader->tree->file};
  idm_yaml_table table = {0};
  idm_status status;
  if (!node) return IDM_OK; /* given by the environments */
  status = idm_yaml_is_scalar(node) ? read_table(&g, node, &table) : read_mapping(&g, node);
  if (status == IDM_OK) status = make_moves(&g);
  free(g.move_entry);
  idm_yaml_table_close(&table);
  return status;
}
