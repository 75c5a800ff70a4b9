/* Utility of a YAML problem: numbers, lists by state, and columns of the data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/problem/spaces.h"
#include "io/problem/table.h"
#include "io/problem/utility.h"

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

/* Number the distinct names in order of appearance: column[i] for reference i, name by name. */
static idm_status number_columns(const idm_yaml_references *references, size_t *column,
                                 idm_labels *ret_labels, idm_error *opt_error)
{
  const size_t count = references->count;
  idm_names names = {count, idm_new(count, sizeof *names.entry)};
  if (!names.entry) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++) names.entry[i] = (idm_name){references->item[i].name, i};
  idm_names_sort(&names);
  /* First, column[i] is the first reference of the same name; equal names are sorted by place. */
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
    /* The old names are let go last: the references may borrow them. */
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

/* A number, or the name of a column with or without a minus. */
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
    status =
        idm_yaml_check_list(reader->tree, node, what,
                            "entries (one a state, in their order), a number or a column", states);
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

/* Whether an action's utility in a state is given by the state's own entry, not by one for all. */
static bool names_state(const idm_yaml_reader *reader, const idm_yaml_node *node, size_t state)
{
  return idm_yaml_is_list(node) ||
         (idm_yaml_is_mapping(node) &&
          idm_yaml_find(reader->tree, node, reader->problem->setting->states.name[state]));
}

/* Note utilities that terminal states are given; a number for every state is meant for the
 * others. opt_value: the node of every action, NULL for a table, which names its states. */
static void note_terminal(const idm_yaml_reader *reader, const idm_yaml_node *const *opt_value)
{
  const idm_problem *problem = reader->problem;
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  const size_t states = reader->sizes.states;
  size_t count = 0, first = 0;
  for (size_t i = 0; i < reader->sizes.actions * states; i++) {
    const size_t s = i % states;
    bool paid = utility[i] != 0;
    if (!problem->setting->terminal_state[s]) continue;
    for (size_t k = 0; k < problem->utility_sources && !paid; k++)
      paid =
          problem->utility_source[k].action == i / states && problem->utility_source[k].state == s;
    if (!paid || (opt_value && !names_state(reader, opt_value[i / states], s))) continue;
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

/* One record of action, state and utility; without a column of actions it is of all of them. */
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
    idm_notes_add(reader->opt_notes, "no utility is given: every action is worth 0");
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
