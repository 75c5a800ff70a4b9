/* Reads and writes the features of a YAML problem's utility, as a table or by name in the form of a
 * utility, and their weights. */
#include "io/problem/reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "setting/model.h"

enum { max_features = 1000 };

static idm_block *utility_of(const idm_yaml_reader *reader)
{
  return &reader->problem->theta->block[IDM_UTILITY];
}

/* --- a table -------------------------------------------------------------------------------- */

/* Find the columns of features, by name and index: all except those of states and actions. */
static idm_status find_columns(const idm_yaml_table *table, size_t *place, idm_labels *ret_name)
{
  idm_error *error = table->reader->opt_error;
  size_t count = 0;
  size_t state;
  idm_status status = idm_yaml_table_columns(table, (const char *const[]){"state"}, 1, &state);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < table->column.count; i++)
    if (strcmp(table->column.name[i], "state") != 0 && strcmp(table->column.name[i], "action") != 0)
      place[count++] = i;
  if (!count || count > max_features)
    return idm_fail_at(error, table->path, 1, 1,
                       "%zu columns of features; expected 1 to %d in addition to state and action",
                       count, max_features);
  status = idm_labels_create(ret_name, count, error);
  for (size_t k = 0; k < count && status == IDM_OK; k++) {
    const char *name = table->column.name[place[k]];
    if (!name[0] || strpbrk(name, "/[]\n"))
      return idm_fail_at(error, table->path, 1, 1,
                         "the feature '%.60s'; expected a name without '/', '[' and ']'", name);
    for (size_t j = 0; j < k; j++)
      if (strcmp(table->column.name[place[j]], name) == 0)
        return idm_fail_at(error, table->path, 1, 1, "two columns are called '%.60s'", name);
    status = idm_labels_set(ret_name, k, name, strlen(name), error);
  }
  return status;
}

/* Read one record, of a state and an action; without a column of actions it applies to all actions.
 */
static idm_status read_record(const idm_yaml_table *table, const size_t *place, bool *given,
                              idm_features *f)
{
  const idm_yaml_reader *reader = table->reader;
  const size_t by_action = idm_yaml_table_column(table, "action");
  const size_t by_state = idm_yaml_table_column(table, "state");
  const bool all = by_action == table->column.count;
  const size_t states = reader->sizes.states, features = f->name.count;
  size_t u = 0, s = 0;
  idm_status status = idm_yaml_table_label(table, by_state, &reader->states, "state", &s);
  if (status == IDM_OK && !all)
    status = idm_yaml_table_label(table, by_action, &reader->actions, "action", &u);
  if (status == IDM_OK && given[u * states + s])
    return idm_yaml_table_fail(table, by_state, "features of '%.60s' are given twice",
                               reader->problem->setting->states.name[s]);
  const size_t end = all ? reader->sizes.actions : u + 1;
  for (size_t k = 0; k < features && status == IDM_OK; k++) {
    double value = 0;
    status = idm_yaml_table_number(table, place[k], "a feature", &value);
    for (size_t i = u; i < end; i++) f->value[(i * states + s) * features + k] = value;
  }
  for (size_t i = u; i < end; i++) given[i * states + s] = true;
  return status;
}

static idm_status read_records(idm_yaml_table *table, const size_t *place, idm_features *f)
{
  const size_t numbers = table->reader->sizes.actions * table->reader->sizes.states;
  bool *given = idm_new(numbers, sizeof *given);
  if (!given) return idm_fail_memory(table->reader->opt_error);
  idm_status status = idm_yaml_table_next(table);
  while (status == IDM_OK && table->count) {
    status = read_record(table, place, given, f);
    if (status == IDM_OK) status = idm_yaml_table_next(table);
  }
  if (status == IDM_OK) status = idm_yaml_table_complete(table, given, "features");
  free(given);
  return status;
}

static idm_status read_table(const idm_yaml_reader *reader, const idm_yaml_node *node)
{
  idm_block *utility = utility_of(reader);
  idm_yaml_table table;
  idm_labels name = {0};
  size_t *place = NULL;
  idm_status status =
      idm_yaml_table_open(reader, node, "a table of features, or a mapping of their names", &table);
  if (status == IDM_OK) {
    place = idm_new(table.column.count, sizeof *place);
    status = place ? find_columns(&table, place, &name) : idm_fail_memory(reader->opt_error);
  }
  if (status == IDM_OK)
    status = idm_features_create(utility->size, &name, &utility->features, reader->opt_error);
  if (status == IDM_OK) status = read_records(&table, place, utility->features);
  idm_labels_destroy(&name);
  free(place);
  idm_yaml_table_close(&table);
  return status;
}

/* --- the file itself ------------------------------------------------------------------------ */

/* Read one feature in the form of a utility. */
static idm_status read_feature(const idm_yaml_reader *reader, const idm_yaml_node *node, size_t k)
{
  const idm_features *f = utility_of(reader)->features;
  const size_t states = reader->sizes.states, features = f->name.count;
  const idm_yaml_node **by_action = idm_new(reader->sizes.actions, sizeof *by_action);
  double *row = idm_new(states, sizeof *row);
  idm_yaml_references columns = {0};
  idm_status status = by_action && row ? IDM_OK : idm_fail_memory(reader->opt_error);
  if (status == IDM_OK) status = idm_yaml_by_action(reader, node, "features", by_action);
  for (size_t u = 0; status == IDM_OK && u < reader->sizes.actions; u++) {
    if (by_action[u])
      status = idm_yaml_read_utility_of(reader, by_action[u], u, row, &columns);
    else
      memset(row, 0, states * sizeof *row);
    for (size_t s = 0; s < states; s++) f->value[(u * states + s) * features + k] = row[s];
  }
  if (status == IDM_OK && columns.count)
    status = idm_yaml_unexpected(reader->tree, node, "features", "numbers");
  free(columns.item);
  free(by_action);
  free(row);
  return status;
}

static idm_status read_mapping(const idm_yaml_reader *reader, const idm_yaml_node *node)
{
  idm_block *utility = utility_of(reader);
  const size_t count = idm_yaml_is_mapping(node) ? idm_yaml_count(node) : 0;
  idm_labels name = {0};
  if (!count || count > max_features)
    return idm_yaml_unexpected(reader->tree, node, "features",
                               "a table (FILE.csv), or a mapping of 1 to 1000 names");
  idm_status status = idm_labels_create(&name, count, reader->opt_error);
  for (size_t k = 0; k < count && status == IDM_OK; k++) {
    const idm_yaml_node *key = idm_yaml_key(reader->tree, node, k);
    const char *text = idm_yaml_text(key);
    status =
        !text[0] || strpbrk(text, "/[]\n")
            ? idm_yaml_unexpected(reader->tree, key, "features", "a name without '/', '[' and ']'")
            : idm_labels_set(&name, k, text, strlen(text), reader->opt_error);
  }
  if (status == IDM_OK)
    status = idm_features_create(utility->size, &name, &utility->features, reader->opt_error);
  for (size_t k = 0; k < count && status == IDM_OK; k++)
    status = read_feature(reader, idm_yaml_item(reader->tree, node, k), k);
  idm_labels_destroy(&name);
  return status;
}

/* --- weights -------------------------------------------------------------------------------- */

static idm_status find_feature(const idm_yaml_reader *reader, const idm_yaml_node *at,
                               const char *what, const char *name, size_t *ret_feature)
{
  const idm_labels *names = &utility_of(reader)->features->name;
  for (*ret_feature = 0; *ret_feature < names->count; ++*ret_feature)
    if (strcmp(names->name[*ret_feature], name) == 0) return IDM_OK;
  return idm_yaml_unknown_word(reader->tree, at, what, name, (const char *const *)names->name,
                               names->count);
}

static idm_status read_weight(const idm_yaml_reader *reader, const idm_yaml_node *key,
                              const char *name, const idm_yaml_node *value)
{
  size_t k = 0;
  const idm_status status = find_feature(reader, key, "in feature_weights, the feature", name, &k);
  if (status != IDM_OK) return status;
  return idm_yaml_number(reader->tree, value, "feature_weights", false,
                         &utility_of(reader)->features->weight[k]);
}

static idm_status read_weights(const idm_yaml_reader *reader)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "feature_weights");
  idm_status status = IDM_OK;
  if (!node) return IDM_OK;
  if (!idm_yaml_is_mapping(node) || !utility_of(reader)->features)
    return idm_yaml_unexpected(
        reader->tree, node, "feature_weights",
        "a mapping of names of features to numbers, together with `features`");
  for (size_t i = 0; i < idm_yaml_count(node) && status == IDM_OK; i++) {
    const idm_yaml_node *key = idm_yaml_key(reader->tree, node, i);
    status = read_weight(reader, key, idm_yaml_text(key), idm_yaml_item(reader->tree, node, i));
  }
  return status;
}

idm_status idm_yaml_set_weight(const idm_yaml_reader *reader, const char *name)
{
  if (!utility_of(reader)->features)
    return idm_yaml_fail(reader->tree, reader->root, "the problem has no features; expected them");
  const idm_status status = read_weight(reader, reader->root, name, reader->root);
  if (status == IDM_OK) idm_features_apply(utility_of(reader));
  return status;
}

/* Fix all weights except those of a list of names. */
static idm_status fix_other_weights(const idm_yaml_reader *reader, const idm_yaml_node *entries)
{
  const idm_features *f = utility_of(reader)->features;
  if (!idm_yaml_is_list(entries) || !idm_yaml_count(entries))
    return idm_yaml_unexpected(reader->tree, entries, "free.utility.entries",
                               "a list of names of features, whose weights are free");
  for (size_t k = 0; k < f->name.count; k++) f->fixed[k] = true;
  for (size_t i = 0; i < idm_yaml_count(entries); i++) {
    const idm_yaml_node *item = idm_yaml_item(reader->tree, entries, i);
    size_t k = 0;
    if (!idm_yaml_is_scalar(item))
      return idm_yaml_unexpected(reader->tree, item, "free.utility.entries", "a name of a feature");
    const idm_status status =
        find_feature(reader, item, "in free.utility.entries, the feature", idm_yaml_text(item), &k);
    if (status != IDM_OK) return status;
    if (!f->fixed[k])
      return idm_yaml_fail(reader->tree, item,
                           "free.utility.entries names a feature twice; expected it once");
    f->fixed[k] = false;
  }
  return IDM_OK;
}

idm_status idm_yaml_free_features(const idm_yaml_reader *reader, const idm_yaml_node *opt_entries,
                                  const idm_yaml_node *opt_reference)
{
  idm_features *f = utility_of(reader)->features;
  idm_status status = IDM_OK;
  bool some = false;
  if (opt_reference)
    return idm_yaml_fail(reader->tree, opt_reference,
                         "free.utility has a reference, and the utility is linear in features; "
                         "expected `entries`, the names of features whose weights are free");
  if (opt_entries) {
    f->fixed = idm_new(f->name.count, sizeof *f->fixed);
    status = f->fixed ? fix_other_weights(reader, opt_entries) : idm_fail_memory(reader->opt_error);
  }
  for (size_t k = 0; status == IDM_OK && k < f->name.count; k++) some |= f->fixed && f->fixed[k];
  if (!some) {
    free(f->fixed);
    f->fixed = NULL;
  }
  return status == IDM_OK ? idm_features_set_free(utility_of(reader), reader->opt_error) : status;
}

/* Set feature k of terminal states to 0, as their utilities are. */
static void clear_terminal(const idm_yaml_reader *reader, size_t k)
{
  const idm_features *f = utility_of(reader)->features;
  const size_t states = reader->sizes.states;
  bool cleared = false, kept_rows = false;
  for (size_t i = 0; i < reader->sizes.actions * states; i++) {
    double *value = &f->value[i * f->name.count + k];
    const bool over = reader->problem->setting->terminal_state[i % states];
    cleared = cleared || (over && *value != 0);
    kept_rows = kept_rows || (!over && *value != 0);
    if (over) *value = 0;
  }
  if (cleared && !kept_rows)
    idm_notes_add(reader->opt_notes,
                  "the feature '%.60s' differs from 0 in terminal states only, where nothing is "
                  "done: its weight is not used",
                  f->name.name[k]);
}

idm_status idm_yaml_read_features(idm_yaml_reader *reader)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "features");
  const idm_yaml_node *utility = idm_yaml_find(reader->tree, reader->root, "utility");
  if (node && utility)
    return idm_yaml_fail(reader->tree, utility,
                         "utility and features are both given; expected one of the two");
  idm_status status = IDM_OK;
  if (node)
    status = idm_yaml_is_table(node) ? read_table(reader, node) : read_mapping(reader, node);
  if (status == IDM_OK) status = read_weights(reader);
  if (status != IDM_OK || !node) return status;
  for (size_t k = 0; k < utility_of(reader)->features->name.count; k++) clear_terminal(reader, k);
  idm_features_apply(utility_of(reader));
  return IDM_OK;
}

/* --- writing -------------------------------------------------------------------------------- */

static void put_feature(idm_emitter *out, const idm_setting *setting, const idm_features *f,
                        size_t k)
{
  const size_t states = setting->states.count, features = f->name.count;
  idm_emit_mapping(out, f->name.name[k], IDM_EMIT_BLOCK);
  for (size_t u = 0; u < setting->actions.count; u++) {
    idm_emit_list(out, setting->actions.name[u], IDM_EMIT_FLOW);
    for (size_t s = 0; s < states; s++)
      idm_emit_number(out, NULL, f->value[(u * states + s) * features + k]);
    idm_emit_list_end(out);
  }
  idm_emit_mapping_end(out);
}

void idm_yaml_put_free_features(idm_emitter *out, const idm_block *block)
{
  if (!block->features->fixed) return;
  idm_emit_list(out, "entries", IDM_EMIT_FLOW);
  for (size_t c = 0; c < block->coordinate_name.count; c++)
    idm_emit_text(out, NULL, block->coordinate_name.name[c]);
  idm_emit_list_end(out);
}

void idm_yaml_put_features(idm_emitter *out, const idm_problem *problem)
{
  const idm_features *f = problem->theta->block[IDM_UTILITY].features;
  idm_emit_mapping(out, "features", IDM_EMIT_BLOCK);
  for (size_t k = 0; k < f->name.count; k++) put_feature(out, problem->setting, f, k);
  idm_emit_mapping_end(out);
  idm_emit_mapping(out, "feature_weights", IDM_EMIT_FLOW);
  for (size_t k = 0; k < f->name.count; k++) idm_emit_number(out, f->name.name[k], f->weight[k]);
  idm_emit_mapping_end(out);
}
