/* Reads the utility of a YAML problem and its free entries.
 *
 * Contents: entries · utility */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "idm/extension/problem.h"
#include "io/problem/reader.h"
#include "setting/model.h"

/* === entries ================================================================================ */

/* Free entries of the utility, ties, and the reference. */

size_t idm_yaml_resolve_entry(const idm_problem *problem, const char *path, size_t length,
                              idm_yaml_entry *ret)
{
  const idm_setting *setting = problem->setting;
  const long whole = idm_labels_find(&setting->actions, path, length);
  if (whole >= 0) {
    *ret = (idm_yaml_entry){(size_t)whole, 0, false};
    return 1;
  }
  size_t readings = 0;
  for (size_t i = 0; i < length; i++) {
    if (path[i] != '.') continue;
    const long action = idm_labels_find(&setting->actions, path, i);
    const long state = idm_labels_find(&setting->states, path + i + 1, length - i - 1);
    if (action < 0 || state < 0) continue;
    *ret = (idm_yaml_entry){(size_t)action, (size_t)state, true};
    readings++;
  }
  return readings;
}

/* --- one entry ------------------------------------------------------------------------------ */

static const char expected_entry[] = "ACTION, ACTION.STATE or [ACTION, STATE]";

/* Find the entry "ACTION", "ACTION.STATE" or [ACTION, STATE]. */
static idm_status find_entry(const idm_yaml_reader *reader, const idm_yaml_node *node,
                             const char *what, idm_yaml_entry *ret)
{
  const idm_setting *setting = reader->problem->setting;
  if (idm_yaml_is_scalar(node)) {
    const char *text = idm_yaml_text(node);
    if (idm_yaml_resolve_entry(reader->problem, text, strlen(text), ret) == 1) return IDM_OK;
    return idm_yaml_unexpected(reader->tree, node, what, expected_entry);
  }
  if (!idm_yaml_is_list(node) || idm_yaml_count(node) != 2)
    return idm_yaml_unexpected(reader->tree, node, what, expected_entry);
  const idm_labels *labels[] = {&setting->actions, &setting->states};
  size_t index[2] = {0};
  for (size_t i = 0; i < 2; i++) {
    const idm_yaml_node *item = idm_yaml_item(reader->tree, node, i);
    long found = -1;
    if (idm_yaml_is_scalar(item))
      found = idm_labels_find(labels[i], idm_yaml_text(item), strlen(idm_yaml_text(item)));
    if (found < 0)
      return idm_yaml_unexpected(reader->tree, item, what, i ? "a state" : "an action");
    index[i] = (size_t)found;
  }
  *ret = (idm_yaml_entry){index[0], index[1], true};
  return IDM_OK;
}

/* --- coordinates ---------------------------------------------------------------------------- */

/* State of the selection: coordinate[entry], UNDECIDED until the file names the entry. */
enum { UNDECIDED = -2, FIXED = -1 };

typedef struct utility_coordinates {
  idm_yaml_reader *reader;
  int32_t *coordinate; /* [entry] */
  char **name;         /* [coordinate] */
  size_t count;
} utility_coordinates;

static bool comes_from_column(const idm_problem *problem, size_t action, size_t state)
{
  for (size_t i = 0; i < problem->utility_sources; i++)
    if (problem->utility_source[i].action == action && problem->utility_source[i].state == state)
      return true;
  return false;
}

/* Assign every entry that the node names to coordinate `at`. */
static idm_status mark_entries(utility_coordinates *f, const idm_yaml_node *node, const char *what,
                               int32_t at)
{
  const idm_yaml_reader *reader = f->reader;
  const size_t states = reader->sizes.states;
  idm_yaml_entry entry = {0};
  const idm_status status = find_entry(reader, node, what, &entry);
  if (status != IDM_OK) return status;
  for (size_t s = 0; s < states; s++) {
    if (entry.one_state && s != entry.state) continue;
    if (reader->problem->setting->terminal_state[s]) {
      if (!entry.one_state) continue;
      return idm_yaml_fail(reader->tree, node,
                           "%s names the terminal state '%.60s', where nothing is done; expected "
                           "another state",
                           what, reader->problem->setting->states.name[s]);
    }
    int32_t *to = &f->coordinate[entry.action * states + s];
    if (*to != UNDECIDED)
      return idm_yaml_fail(reader->tree, node, "%s names an entry twice; expected it once", what);
    if (at != FIXED && comes_from_column(reader->problem, entry.action, s))
      return idm_yaml_fail(reader->tree, node,
                           "%s frees an entry that comes from a data column; expected a number",
                           what);
    *to = at;
  }
  return IDM_OK;
}

static idm_status add_name(utility_coordinates *f, const char *text, size_t length)
{
  f->name[f->count] = idm_text_copy(text, length);
  return f->name[f->count++] ? IDM_OK : idm_fail_memory(f->reader->opt_error);
}

/* Assign every entry of a list to coordinate `at`. */
static idm_status mark_list(utility_coordinates *f, const idm_yaml_node *node, const char *what,
                            int32_t at)
{
  if (!idm_yaml_is_list(node)) return mark_entries(f, node, what, at);
  if (!idm_yaml_count(node))
    return idm_yaml_unexpected(f->reader->tree, node, what, "at least one entry");
  idm_status status = IDM_OK;
  for (size_t i = 0; i < idm_yaml_count(node) && status == IDM_OK; i++)
    status = mark_entries(f, idm_yaml_item(f->reader->tree, node, i), what, at);
  return status;
}

int idm_yaml_entry_name(const idm_setting *setting, size_t entry, char *name, size_t size)
{
  idm_block_entry_name(idm_block_describe(IDM_UTILITY), setting, 1, entry, name, size);
  return (int)strlen(name);
}

/* Returns true if coordinate `at` is a single entry with its default name. */
static bool is_single_entry(const utility_coordinates *f, int32_t at)
{
  char name[IDM_ENTRY_SIZE];
  size_t entries = 0;
  bool own = false;
  for (size_t i = 0; i < f->reader->sizes.actions * f->reader->sizes.states; i++) {
    if (f->coordinate[i] != at) continue;
    idm_yaml_entry_name(f->reader->problem->setting, i, name, sizeof name);
    own = entries++ == 0 && strcmp(name, f->name[at]) == 0;
  }
  return own;
}

/* Read {NAME: entries, ...}: each name is one number, shared by its entries. */
static idm_status mark_ties(utility_coordinates *f, const idm_yaml_node *node)
{
  const idm_yaml_tree *tree = f->reader->tree;
  idm_status status = IDM_OK;
  if (idm_yaml_count(node) > f->reader->sizes.actions * f->reader->sizes.states)
    return idm_yaml_fail(tree, node, "free.utility.entries has more names than there are entries");
  for (size_t i = 0; i < idm_yaml_count(node) && status == IDM_OK; i++) {
    const idm_yaml_node *key = idm_yaml_key(tree, node, i);
    if (!idm_yaml_is_scalar(key) || !idm_yaml_text(key)[0])
      return idm_yaml_unexpected(tree, key, "free.utility.entries", "a name");
    status = add_name(f, idm_yaml_text(key), strlen(idm_yaml_text(key)));
    const idm_yaml_node *item = idm_yaml_item(tree, node, i);
    /* A pair [ACTION, STATE] has the form of a list of two actions: only lists inside a list are
     * pairs. */
    if (status == IDM_OK) status = mark_list(f, item, "free.utility.entries", (int32_t)i);
    if (status == IDM_OK && strpbrk(idm_yaml_text(key), "/[]\n") && !is_single_entry(f, (int32_t)i))
      status =
          idm_yaml_unexpected(tree, key, "free.utility.entries", "a name without '/', '[' and ']'");
  }
  return status;
}

/* Make the entries marked `marked` separate coordinates, each with its default name; fix the
 * others. */
static idm_status split_coordinates(utility_coordinates *f, int32_t marked)
{
  const idm_setting *setting = f->reader->problem->setting;
  const size_t states = f->reader->sizes.states;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < f->reader->sizes.actions * states && status == IDM_OK; i++) {
    if (f->coordinate[i] != marked || setting->terminal_state[i % states] ||
        comes_from_column(f->reader->problem, i / states, i % states)) {
      f->coordinate[i] = FIXED;
      continue;
    }
    char name[IDM_ENTRY_SIZE];
    const int length = idm_yaml_entry_name(setting, i, name, sizeof name);
    f->coordinate[i] = (int32_t)f->count;
    status = add_name(f, name, (size_t)length);
  }
  return status;
}

idm_status idm_yaml_set_coordinates(idm_block *block, size_t count, char **name,
                                    int32_t **coordinate, idm_error *opt_error)
{
  const idm_status status = idm_labels_create(&block->coordinate_name, count, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < count; i++) {
    free(block->coordinate_name.name[i]);
    block->coordinate_name.name[i] = name[i];
    name[i] = NULL;
  }
  block->coordinate = *coordinate;
  *coordinate = NULL;
  return IDM_OK;
}

idm_status idm_yaml_read_entries(idm_yaml_reader *reader, const idm_yaml_node *opt_entries,
                                 const idm_yaml_node *opt_reference)
{
  const idm_yaml_node *node = opt_entries     ? opt_entries
                              : opt_reference ? opt_reference
                                              : reader->root;
  const size_t size = reader->problem->theta->block[IDM_UTILITY].size;
  if (opt_entries && opt_reference)
    return idm_yaml_fail(reader->tree, opt_reference,
                         "free.utility has entries and a reference; expected one of the two");
  utility_coordinates f = {.reader = reader};
  f.coordinate = idm_new(size, sizeof *f.coordinate);
  f.name = idm_new(size, sizeof *f.name);
  idm_status status = f.coordinate && f.name ? IDM_OK : idm_fail_memory(reader->opt_error);
  for (size_t i = 0; status == IDM_OK && i < size; i++) f.coordinate[i] = UNDECIDED;
  if (status == IDM_OK && opt_reference)
    status = mark_list(&f, node, "free.utility.reference", FIXED);
  if (status == IDM_OK && !opt_entries) {
    status = split_coordinates(&f, UNDECIDED);
  } else if (status == IDM_OK && idm_yaml_is_mapping(node)) {
    status = mark_ties(&f, node);
    for (size_t i = 0; i < size; i++)
      f.coordinate[i] = f.coordinate[i] < 0 ? FIXED : f.coordinate[i];
  } else if (status == IDM_OK) {
    status = mark_list(&f, node, "free.utility.entries", 0);
    if (status == IDM_OK) status = split_coordinates(&f, 0);
  }
  if (status == IDM_OK && !f.count)
    status = idm_yaml_fail(reader->tree, node, "free.utility leaves no entry free; expected one");
  if (status == IDM_OK)
    status = idm_yaml_set_coordinates(&reader->problem->theta->block[IDM_UTILITY], f.count, f.name,
                                      &f.coordinate, reader->opt_error);
  for (size_t i = 0; f.name && i < f.count; i++) free(f.name[i]);
  free(f.name);
  free(f.coordinate);
  return status;
}

/* === utility ================================================================================ */

/* Utility of a YAML problem: numbers, lists by state, and columns of the data. */

/* --- references to columns ------------------------------------------------------------------ */

idm_status idm_yaml_add_reference(idm_yaml_references *references, idm_yaml_reference reference,
                                  idm_error *opt_error)
{
  if (references->count == references->capacity) {
    const size_t capacity = references->capacity ? 2 * references->capacity : 16;
    idm_yaml_reference *item = realloc(references->item, capacity * sizeof *item);
    if (!item) return idm_fail_memory(opt_error);
    references->item = item;
    references->capacity = capacity;
  }
  references->item[references->count++] = reference;
  return IDM_OK;
}

static int by_entry(const void *a, const void *b)
{
  const idm_yaml_reference *x = a;
  const idm_yaml_reference *y = b;
  if (x->action != y->action) return x->action < y->action ? -1 : 1;
  return (x->state > y->state) - (x->state < y->state);
}

/* Number the distinct names in order of appearance; column[i] is the number of the name of
 * reference i. */
static idm_status number_columns(const idm_yaml_references *references, size_t *column,
                                 idm_labels *ret_labels, idm_error *opt_error)
{
  const size_t count = references->count;
  idm_names names = {count, idm_new(count, sizeof *names.entry)};
  if (!names.entry) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++) names.entry[i] = (idm_name){references->item[i].name, i};
  idm_names_sort(&names);
  /* First, column[i] is the first reference with the same name; equal names are sorted by index. */
  for (size_t i = 0; i < count; i++) {
    const bool repeats = i && strcmp(names.entry[i - 1].text, names.entry[i].text) == 0;
    column[names.entry[i].index] =
        repeats ? column[names.entry[i - 1].index] : names.entry[i].index;
  }
  idm_names_destroy(&names);
  size_t columns = 0;
  for (size_t i = 0; i < count; i++) columns += column[i] == i;
  idm_status status = idm_labels_create(ret_labels, columns, opt_error);
  size_t next = 0;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    if (column[i] != i) {
      column[i] = column[column[i]];
      continue;
    }
    const char *name = references->item[i].name;
    status = idm_labels_set(ret_labels, next, name, strlen(name), opt_error);
    column[i] = next++;
  }
  return status;
}

idm_status idm_yaml_store_references(idm_problem *problem, idm_yaml_references *references,
                                     idm_error *opt_error)
{
  const size_t count = references->count;
  if (count) qsort(references->item, count, sizeof *references->item, by_entry);
  idm_labels labels = {0};
  size_t *column = idm_new(count, sizeof *column);
  idm_utility_source *source = idm_new(count, sizeof *source);
  idm_status status = column && source ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK && count) status = number_columns(references, column, &labels, opt_error);
  if (status == IDM_OK) {
    for (size_t i = 0; i < count; i++) {
      const idm_yaml_reference *from = &references->item[i];
      source[i] = (idm_utility_source){from->action, from->state, column[i], from->scale};
    }
    /* Free the old names last: the references may borrow them. */
    idm_labels_destroy(&problem->columns.utility);
    free(problem->utility_source);
    problem->columns.utility = labels;
    problem->utility_source = source;
    problem->utility_sources = count;
    labels = (idm_labels){0};
    source = NULL;
  }
  idm_labels_destroy(&labels);
  free(source);
  free(column);
  return status;
}

/* --- entries -------------------------------------------------------------------------------- */

/* Read a number, or the name of a column with an optional minus. */
static idm_status read_value(const idm_yaml_reader *reader, const idm_yaml_node *node,
                             const char *what, double *ret_value, idm_yaml_reference *ret_column)
{
  static const char expected[] = "a finite number or the name of a data column";
  *ret_value = 0;
  ret_column->name = NULL;
  if (!idm_yaml_is_scalar(node) || idm_yaml_is_null(node))
    return idm_yaml_unexpected(reader->tree, node, what, expected);
  const char *text = idm_yaml_text(node);
  double value = 0;
  const idm_yaml_numeral kind = idm_yaml_parse_number(text, &value);
  if (kind != IDM_YAML_TEXT) return idm_yaml_number(reader->tree, node, what, false, ret_value);
  ret_column->scale = text[0] == '-' ? -1 : 1;
  ret_column->name = text + (text[0] == '-');
  if (!ret_column->name[0] || strlen(ret_column->name) > IDM_YAML_LABEL)
    return idm_yaml_unexpected(reader->tree, node, what, expected);
  const char *fault = idm_yaml_label_fault(ret_column->name, false);
  return fault ? idm_yaml_unexpected(reader->tree, node, what, fault) : IDM_OK;
}

static void name_entry(const idm_yaml_reader *reader, size_t action, char *buffer, size_t size)
{
  snprintf(buffer, size, "utility.%.60s", reader->problem->setting->actions.name[action]);
}

idm_status idm_yaml_read_utility_entry(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                       size_t action, size_t state, double *ret_value,
                                       idm_yaml_references *references)
{
  char what[80];
  name_entry(reader, action, what, sizeof what);
  idm_yaml_reference column = {action, state, 1, NULL};
  const idm_status status = read_value(reader, node, what, ret_value, &column);
  if (status != IDM_OK || !column.name) return status;
  return idm_yaml_add_reference(references, column, reader->opt_error);
}

idm_status idm_yaml_read_utility_of(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                    size_t action, double *values, idm_yaml_references *references)
{
  const bool list = idm_yaml_is_list(node);
  const size_t states = reader->sizes.states;
  char what[80];
  name_entry(reader, action, what, sizeof what);
  const idm_yaml_node **entry = idm_new(states, sizeof *entry);
  idm_status status = entry ? IDM_OK : idm_fail_memory(reader->opt_error);
  if (status == IDM_OK && list)
    status = idm_yaml_check_list(reader->tree, node, what,
                                 "entries (one per state, in their order), a number or a column",
                                 states);
  else if (status == IDM_OK && idm_yaml_is_mapping(node))
    status = idm_yaml_by_state(reader, node, what, entry);
  for (size_t s = 0; s < states && status == IDM_OK; s++) {
    const idm_yaml_node *item = list ? idm_yaml_item(reader->tree, node, s) : node;
    status = idm_yaml_read_utility_entry(reader, entry[s] ? entry[s] : item, action, s, &values[s],
                                         references);
  }
  free(entry);
  return status;
}

/* Returns true if an action's utility in a state is given for that state, not by one value for all
 * states. */
static bool names_state(const idm_yaml_reader *reader, const idm_yaml_node *node, size_t state)
{
  return idm_yaml_is_list(node) ||
         (idm_yaml_is_mapping(node) &&
          idm_yaml_find(reader->tree, node, reader->problem->setting->states.name[state]));
}

/* Add a remark on utilities that are given for terminal states. One value for every state applies
 * to the other states only. opt_value: the node of every action; NULL for a table, which names its
 * states. */
static void note_terminal(const idm_yaml_reader *reader, const idm_yaml_node *const *opt_value)
{
  const idm_problem *problem = reader->problem;
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  const size_t states = reader->sizes.states;
  size_t count = 0, first = 0;
  for (size_t i = 0; i < reader->sizes.actions * states; i++) {
    const size_t s = i % states;
    bool is_paid = utility[i] != 0;
    if (!problem->setting->terminal_state[s]) continue;
    for (size_t k = 0; k < problem->utility_sources && !is_paid; k++)
      is_paid =
          problem->utility_source[k].action == i / states && problem->utility_source[k].state == s;
    if (!is_paid || (opt_value && !names_state(reader, opt_value[i / states], s))) continue;
    if (!count++) first = s;
  }
  if (count)
    idm_notes_add(reader->opt_notes,
                  "utility: %zu entr%s of terminal states (as '%.60s') %s not used: an episode "
                  "ends on arrival, and nothing is done there; a utility of arriving is given for "
                  "the actions that lead there",
                  count, count == 1 ? "y" : "ies", problem->setting->states.name[first],
                  count == 1 ? "is" : "are");
}

static idm_status read_each(idm_yaml_reader *reader, const idm_yaml_node *node,
                            const idm_yaml_node *const *value, idm_yaml_references *references)
{
  double *utility = reader->problem->theta->block[IDM_UTILITY].value;
  idm_status status = IDM_OK;
  for (size_t u = 0; u < reader->sizes.actions && status == IDM_OK; u++) {
    if (!value[u])
      return idm_yaml_fail(reader->tree, node,
                           "utility lacks the action '%.60s'; expected an entry for it, or \"*\"",
                           reader->problem->setting->actions.name[u]);
    status = idm_yaml_read_utility_of(reader, value[u], u, utility + u * reader->sizes.states,
                                      references);
  }
  return status;
}

/* --- a table -------------------------------------------------------------------------------- */

/* Read one record of action, state and utility; without a column of actions it applies to all
 * actions. */
static idm_status read_record(const idm_yaml_table *table, const size_t place[2], size_t by_action,
                              bool *given, double *utility)
{
  const idm_yaml_reader *reader = table->reader;
  const bool all = by_action == table->column.count;
  const size_t states = reader->sizes.states;
  size_t u = 0, s = 0;
  double value = 0;
  idm_status status = idm_yaml_table_label(table, place[0], &reader->states, "state", &s);
  if (status == IDM_OK && !all)
    status = idm_yaml_table_label(table, by_action, &reader->actions, "action", &u);
  if (status == IDM_OK) status = idm_yaml_table_number(table, place[1], "a utility", &value);
  if (status != IDM_OK) return status;
  if (given[u * states + s])
    return idm_yaml_table_fail(table, place[0],
                               "the utility of '%.60s' is given twice; expected "
                               "it once",
                               reader->problem->setting->states.name[s]);
  for (size_t i = u; i < (all ? reader->sizes.actions : u + 1); i++) {
    utility[i * states + s] = value;
    given[i * states + s] = true;
  }
  return IDM_OK;
}

static idm_status read_records(idm_yaml_table *table, bool *given, double *utility)
{
  static const char *const needed[] = {"state", "utility"};
  const size_t by_action = idm_yaml_table_column(table, "action");
  size_t place[2];
  idm_status status = idm_yaml_table_columns(table, needed, 2, place);
  if (status == IDM_OK) status = idm_yaml_table_next(table);
  while (status == IDM_OK && table->count) {
    status = read_record(table, place, by_action, given, utility);
    if (status == IDM_OK) status = idm_yaml_table_next(table);
  }
  return status == IDM_OK ? idm_yaml_table_complete(table, given, "utility") : status;
}

static idm_status read_table(const idm_yaml_reader *reader, const idm_yaml_node *node)
{
  idm_yaml_table table;
  bool *given = idm_new(reader->sizes.actions * reader->sizes.states, sizeof *given);
  if (!given) return idm_fail_memory(reader->opt_error);
  idm_status status = idm_yaml_table_open(
      reader, node, "a table of utilities, or a mapping of actions to values", &table);
  if (status == IDM_OK)
    status = read_records(&table, given, reader->problem->theta->block[IDM_UTILITY].value);
  if (status == IDM_OK) note_terminal(reader, NULL);
  idm_yaml_table_close(&table);
  free(given);
  return status;
}

idm_status idm_yaml_read_utility(idm_yaml_reader *reader)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "utility");
  if (!node && idm_yaml_find(reader->tree, reader->root, "features")) return IDM_OK;
  if (!node) {
    idm_notes_add(reader->opt_notes, "no utility is given: all utilities are 0");
    return IDM_OK;
  }
  if (idm_yaml_is_table(node)) return read_table(reader, node);
  const idm_yaml_node **value = idm_new(reader->sizes.actions, sizeof *value);
  if (!value) return idm_fail_memory(reader->opt_error);
  idm_yaml_references references = {0};
  idm_status status = idm_yaml_by_action(reader, node, "utility", value);
  if (status == IDM_OK) status = read_each(reader, node, value, &references);
  if (status == IDM_OK)
    status = idm_yaml_store_references(reader->problem, &references, reader->opt_error);
  if (status == IDM_OK) note_terminal(reader, value);
  free(references.item);
  free(value);
  return status;
}
