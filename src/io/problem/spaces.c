/* Reads the spaces and the tables of a YAML problem.
 *
 * Contents: spaces · table */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/problem/reader.h"

/* === spaces ================================================================================= */

/* Spaces of a YAML problem: states, actions and observations, their labels, and lookups by label.
 *
 * Contents: sizes; labels; lookups; lists of numbers. */

/* --- sizes ---------------------------------------------------------------------------------- */

/* Count labels, given as a list or as their number. */
static idm_status count_labels(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const char *what, size_t *ret_count)
{
  if (idm_yaml_is_scalar(node)) {
    double number = 0;
    if (idm_yaml_parse_number(idm_yaml_text(node), &number) == IDM_YAML_TEXT)
      return idm_yaml_unexpected(reader->tree, node, what, "a list of labels or their number");
    long count = 0;
    const idm_status status = idm_yaml_integer(reader->tree, node, what, 1, &count);
    *ret_count = (size_t)count;
    return status;
  }
  *ret_count = idm_yaml_count(node);
  return idm_yaml_check_list(reader->tree, node, what, "labels, or their number", 0);
}

static const char *factor_name(const idm_yaml_reader *reader, size_t f)
{
  return idm_yaml_text(idm_yaml_key(reader->tree, reader->factors, f));
}

size_t idm_yaml_factor_size(const idm_yaml_reader *reader, size_t f)
{
  const idm_yaml_node *node = idm_yaml_item(reader->tree, reader->factors, f);
  /* A count was checked when the spaces were measured. */
  return idm_yaml_is_list(node) ? idm_yaml_count(node)
                                : (size_t)strtol(idm_yaml_text(node), NULL, 10);
}

static idm_status measure_factors(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  reader->factors = node;
  const size_t factors = idm_yaml_count(node);
  if (factors < 1 || factors > IDM_YAML_FACTORS)
    return idm_yaml_unexpected(reader->tree, node, "observations", "1 to 16 factors");
  reader->sizes.observations = 1;
  for (size_t f = 0; f < factors; f++) {
    char what[100];
    idm_print(what, sizeof what, "observations.%.60s", factor_name(reader, f));
    const idm_yaml_node *levels = idm_yaml_item(reader->tree, node, f);
    size_t count = 0;
    const idm_status status = count_labels(reader, levels, what, &count);
    if (status != IDM_OK) return status;
    if (idm_yaml_is_scalar(levels) &&
        strspn(idm_yaml_text(levels), "0123456789") != strlen(idm_yaml_text(levels)))
      return idm_yaml_unexpected(reader->tree, levels, what, "a number in plain digits");
    reader->sizes.observations = idm_times(reader->sizes.observations, count);
  }
  return IDM_OK;
}

static void set_observed_states(idm_yaml_reader *reader)
{
  reader->fully_observed = true;
  reader->sizes.observations = reader->sizes.states;
}

static idm_status measure_observations(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  if (idm_yaml_is_mapping(node)) return measure_factors(reader, node);
  if (idm_yaml_is_scalar(node) && strcmp(idm_yaml_text(node), "states") == 0) {
    set_observed_states(reader);
    return IDM_OK;
  }
  return count_labels(reader, node, "observations", &reader->sizes.observations);
}

idm_status idm_yaml_measure_spaces(idm_yaml_reader *reader)
{
  static const char *const keys[] = {"states", "actions", "observations"};
  size_t *const size[] = {&reader->sizes.states, &reader->sizes.actions};
  idm_status status = IDM_OK;
  for (size_t i = 0; i < 3 && status == IDM_OK; i++) {
    const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, keys[i]);
    if (node)
      status =
          i < 2 ? count_labels(reader, node, keys[i], size[i]) : measure_observations(reader, node);
    else if (i == 2 && reader->sizes.states == 1)
      set_observed_states(reader); /* there is nothing to observe */
    else
      status = idm_yaml_fail(reader->tree, reader->root,
                             "the key '%s' is missing; expected a list of labels", keys[i]);
  }
  return status;
}

static size_t saturating_add(size_t a, size_t b)
{
  return a > (size_t)-1 - b ? (size_t)-1 : a + b;
}

/* Bytes of the product labels: each level appears in (product / its factor's size) of them. */
static size_t product_label_bytes(const idm_yaml_reader *reader)
{
  size_t bytes = 0;
  for (size_t f = 0; reader->factors && f < idm_yaml_count(reader->factors); f++) {
    const idm_yaml_node *levels = idm_yaml_item(reader->tree, reader->factors, f);
    size_t length = 0;
    for (size_t i = 0; idm_yaml_is_list(levels) && i < idm_yaml_count(levels); i++) {
      const idm_yaml_node *level = idm_yaml_item(reader->tree, levels, i);
      length += idm_yaml_is_scalar(level) ? level->data.scalar.length : 0;
    }
    const size_t times = reader->sizes.observations / idm_yaml_factor_size(reader, f);
    bytes = saturating_add(bytes, idm_times(times, length));
  }
  return bytes;
}

idm_status idm_yaml_check_memory(const idm_yaml_reader *reader, size_t models)
{
  const idm_sizes n = reader->sizes;
  const size_t label_bytes = 64; /* a pointer and a small allocation, twice during sorting */
  const size_t pairs = idm_times(n.actions, n.states);
  const size_t entries =
      reader->moves ? pairs : idm_times(pairs, saturating_add(n.states, n.observations));
  const size_t labels = saturating_add(saturating_add(n.states, n.actions), n.observations);
  size_t bytes = idm_times(idm_times(entries, saturating_add(models, 1)), sizeof(double));
  bytes = saturating_add(bytes, idm_times(labels, label_bytes));
  bytes = saturating_add(bytes, product_label_bytes(reader));
  if (bytes <= IDM_YAML_DENSE_LIMIT) return IDM_OK;
  return idm_yaml_fail(
      reader->tree, idm_yaml_find(reader->tree, reader->root, "states"),
      "%zu states, %zu actions, %zu observations and %zu models make matrices of %.3g GiB; "
      "expected at most 1 GiB",
      n.states, n.actions, n.observations, models, ldexp((double)bytes, -30));
}

/* --- labels --------------------------------------------------------------------------------- */

const char *idm_yaml_label_fault(const char *text, bool action)
{
  const size_t length = strlen(text);
  if (!idm_utf8_is_printable(text, length))
    return "a label in UTF-8 without control characters, such as the end of a line";
  if (text[0] == ' ' || (length && text[length - 1] == ' '))
    return "a label without blanks at its ends";
  if (action && strchr(text, '|')) return "a label without '|', which joins actions in a table";
  return NULL;
}

idm_status idm_yaml_check_label(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                const char *what, bool action)
{
  if (!idm_yaml_is_scalar(node)) return idm_yaml_unexpected(reader->tree, node, what, "a label");
  if (!idm_yaml_text(node)[0])
    return idm_yaml_fail(reader->tree, node, "%s is empty; expected a label", what);
  if (node->data.scalar.length > IDM_YAML_LABEL)
    return idm_yaml_fail(reader->tree, node, "%s has %zu bytes; expected at most %d", what,
                         node->data.scalar.length, IDM_YAML_LABEL);
  const char *fault = idm_yaml_label_fault(idm_yaml_text(node), action);
  return fault ? idm_yaml_unexpected(reader->tree, node, what, fault) : IDM_OK;
}

/* Replace labels, which are numbers at first, by those of a list; a count leaves them unchanged. */
static idm_status fill_labels(const idm_yaml_reader *reader, const idm_yaml_node *node,
                              const char *what, idm_labels *labels)
{
  if (!idm_yaml_is_list(node)) return IDM_OK;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < labels->count && status == IDM_OK; i++) {
    const idm_yaml_node *item = idm_yaml_item(reader->tree, node, i);
    status = idm_yaml_check_label(reader, item, what, labels == &reader->problem->setting->actions);
    if (status == IDM_OK)
      status = idm_labels_set(labels, i, idm_yaml_text(item), item->data.scalar.length,
                              reader->opt_error);
  }
  return status;
}

/* IDM_INPUT if a label is repeated, at the item that repeats it; at the node if that is not a list.
 */
static idm_status check_unique(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const char *what, const idm_labels *labels)
{
  idm_names names;
  const idm_status status = idm_names_create(labels, &names, reader->opt_error);
  if (status != IDM_OK) return status;
  const long repeated = idm_names_repeated(&names);
  idm_names_destroy(&names);
  if (repeated < 0) return IDM_OK;
  const idm_yaml_node *place =
      idm_yaml_is_list(node) ? idm_yaml_item(reader->tree, node, (size_t)repeated) : node;
  return idm_yaml_fail(reader->tree, place, "%s '%.60s' is named twice; expected it once", what,
                       labels->name[repeated]);
}

/* Append a level of factor f to the label of an observation; returns the length of the text. */
static size_t append_level(const idm_yaml_reader *reader, size_t f, size_t level, char *buffer,
                           size_t size)
{
  const idm_yaml_node *levels = idm_yaml_item(reader->tree, reader->factors, f);
  const int length = idm_yaml_is_list(levels)
                         ? idm_print(buffer, size, "%s%s", f ? "/" : "",
                                     idm_yaml_text(idm_yaml_item(reader->tree, levels, level)))
                         : idm_print(buffer, size, "%s%zu", f ? "/" : "", level);
  return (size_t)length;
}

/* Make the labels of the product of factors; the first factor varies slowest. */
static idm_status fill_product(const idm_yaml_reader *reader, idm_labels *labels)
{
  const size_t factors = idm_yaml_count(reader->factors);
  idm_status status = IDM_OK;
  for (size_t f = 0; f < factors && status == IDM_OK; f++) {
    const idm_yaml_node *levels = idm_yaml_item(reader->tree, reader->factors, f);
    for (size_t i = 0; idm_yaml_is_list(levels) && i < idm_yaml_count(levels); i++) {
      status = idm_yaml_check_label(reader, idm_yaml_item(reader->tree, levels, i),
                                    "an observation", false);
      if (status != IDM_OK) return status;
    }
  }
  for (size_t x = 0; x < labels->count && status == IDM_OK; x++) {
    char name[IDM_YAML_FACTORS * (IDM_YAML_LABEL + 1) + 1];
    size_t length = 0;
    size_t stride = labels->count;
    for (size_t f = 0; f < factors; f++) {
      const size_t size = idm_yaml_factor_size(reader, f);
      stride /= size;
      length += append_level(reader, f, x / stride % size, name + length, sizeof name - length);
    }
    if (length > IDM_YAML_LABEL)
      return idm_yaml_fail(reader->tree, reader->factors,
                           "the label '%.60s...' has %zu bytes; expected at most %d", name, length,
                           IDM_YAML_LABEL);
    status = idm_labels_set(labels, x, name, length, reader->opt_error);
  }
  return status;
}

static idm_status read_observation_labels(idm_yaml_reader *reader)
{
  idm_setting *setting = reader->problem->setting;
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "observations");
  if (reader->fully_observed) {
    idm_labels_destroy(&setting->observations);
    return idm_labels_copy(&setting->states, &setting->observations, reader->opt_error);
  }
  idm_status status = reader->factors
                          ? fill_product(reader, &setting->observations)
                          : fill_labels(reader, node, "an observation", &setting->observations);
  if (status == IDM_OK) status = check_unique(reader, node, "observation", &setting->observations);
  return status;
}

idm_status idm_yaml_index_labels(idm_yaml_reader *reader)
{
  const idm_setting *setting = reader->problem->setting;
  idm_status status = idm_names_create(&setting->states, &reader->states, reader->opt_error);
  if (status == IDM_OK)
    status = idm_names_create(&setting->actions, &reader->actions, reader->opt_error);
  return status;
}

idm_status idm_yaml_read_labels(idm_yaml_reader *reader)
{
  idm_setting *setting = reader->problem->setting;
  const idm_yaml_node *states = idm_yaml_find(reader->tree, reader->root, "states");
  const idm_yaml_node *actions = idm_yaml_find(reader->tree, reader->root, "actions");
  idm_status status = fill_labels(reader, states, "a state", &setting->states);
  if (status == IDM_OK) status = check_unique(reader, states, "state", &setting->states);
  if (status == IDM_OK) status = fill_labels(reader, actions, "an action", &setting->actions);
  if (status == IDM_OK) status = check_unique(reader, actions, "action", &setting->actions);
  if (status == IDM_OK) status = read_observation_labels(reader);
  if (status == IDM_OK) status = idm_yaml_index_labels(reader);
  if (status != IDM_OK) return status;
  const long star = idm_names_find(&reader->actions, "*");
  if (star < 0) return IDM_OK;
  return idm_yaml_fail(
      reader->tree, idm_yaml_item(reader->tree, actions, (size_t)star),
      "an action is called '*', which denotes every action not named; expected another label");
}

idm_status idm_yaml_read_names(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const char *what, idm_labels *ret_labels)
{
  if (idm_yaml_is_scalar(node)) {
    idm_status status = idm_yaml_check_label(reader, node, what, false);
    if (status == IDM_OK) status = idm_labels_create(ret_labels, 1, reader->opt_error);
    if (status == IDM_OK)
      status = idm_labels_set(ret_labels, 0, idm_yaml_text(node), node->data.scalar.length,
                              reader->opt_error);
    return status;
  }
  idm_status status = idm_yaml_check_list(reader->tree, node, what, "names, or a name", 0);
  if (status == IDM_OK)
    status = idm_labels_create(ret_labels, idm_yaml_count(node), reader->opt_error);
  if (status == IDM_OK) status = fill_labels(reader, node, what, ret_labels);
  if (status == IDM_OK) status = check_unique(reader, node, what, ret_labels);
  return status;
}

/* --- lookups -------------------------------------------------------------------------------- */

static idm_status find_label(const idm_yaml_reader *reader, const idm_names *names,
                             const idm_labels *labels, const idm_yaml_node *node, const char *what,
                             const char *noun, size_t *ret_index)
{
  char place[120];
  idm_print(place, sizeof place, "in %.80s, the %s", what, noun);
  if (!idm_yaml_is_scalar(node)) return idm_yaml_unexpected(reader->tree, node, place, "a label");
  const long index = idm_names_find(names, idm_yaml_text(node));
  if (index < 0)
    return idm_yaml_unknown(reader->tree, node, place, (const char *const *)labels->name,
                            labels->count);
  *ret_index = (size_t)index;
  return IDM_OK;
}

idm_status idm_yaml_find_action(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                const char *what, size_t *ret_action)
{
  return find_label(reader, &reader->actions, &reader->problem->setting->actions, node, what,
                    "action", ret_action);
}

idm_status idm_yaml_find_state(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const char *what, size_t *ret_state)
{
  return find_label(reader, &reader->states, &reader->problem->setting->states, node, what, "state",
                    ret_state);
}

idm_status idm_yaml_by_action(const idm_yaml_reader *reader, const idm_yaml_node *node,
                              const char *what, const idm_yaml_node **ret_value)
{
  for (size_t u = 0; u < reader->sizes.actions; u++) ret_value[u] = NULL;
  if (!idm_yaml_is_mapping(node))
    return idm_yaml_unexpected(reader->tree, node, what, "a mapping of actions to values");
  const idm_yaml_node *star = NULL;
  for (size_t i = 0; i < idm_yaml_count(node); i++) {
    const idm_yaml_node *key = idm_yaml_key(reader->tree, node, i);
    const idm_yaml_node *value = idm_yaml_item(reader->tree, node, i);
    if (strcmp(idm_yaml_text(key), "*") == 0) {
      star = value;
      continue;
    }
    size_t u = 0;
    const idm_status status = idm_yaml_find_action(reader, key, what, &u);
    if (status != IDM_OK) return status;
    if (ret_value[u])
      return idm_yaml_fail(reader->tree, key,
                           "in %s, the action '%.60s' is given twice; expected it once", what,
                           reader->problem->setting->actions.name[u]);
    ret_value[u] = value;
  }
  for (size_t u = 0; u < reader->sizes.actions; u++)
    if (!ret_value[u]) ret_value[u] = star;
  return IDM_OK;
}

idm_status idm_yaml_by_state(const idm_yaml_reader *reader, const idm_yaml_node *node,
                             const char *what, const idm_yaml_node **ret_value)
{
  const idm_yaml_node *rest = idm_yaml_find(reader->tree, node, "*");
  idm_status status = IDM_OK;
  for (size_t s = 0; s < reader->sizes.states; s++) ret_value[s] = NULL;
  for (size_t i = 0; i < idm_yaml_count(node) && status == IDM_OK; i++) {
    size_t s = 0;
    const idm_yaml_node *key = idm_yaml_key(reader->tree, node, i);
    if (strcmp(idm_yaml_text(key), "*") == 0) continue;
    status = idm_yaml_find_state(reader, key, what, &s);
    if (status == IDM_OK) ret_value[s] = idm_yaml_item(reader->tree, node, i);
  }
  for (size_t s = 0; s < reader->sizes.states && status == IDM_OK; s++) {
    if (!ret_value[s]) ret_value[s] = rest;
    if (!ret_value[s])
      status = idm_yaml_fail(reader->tree, node,
                             "%s lacks the state '%.60s'; expected an entry for it, or \"*\"", what,
                             reader->problem->setting->states.name[s]);
  }
  return status;
}

/* --- lists of numbers ----------------------------------------------------------------------- */

idm_status idm_yaml_read_numbers(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                 const char *what, size_t count, const double *opt_least,
                                 double *values)
{
  idm_status status = idm_yaml_check_list(reader->tree, node, what, "numbers", count);
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    const idm_yaml_node *item = idm_yaml_item(reader->tree, node, i);
    status = idm_yaml_number(reader->tree, item, what, false, &values[i]);
    if (status == IDM_OK && opt_least && values[i] < *opt_least) {
      char expected[64];
      idm_print(expected, sizeof expected, "a number of at least %g", *opt_least);
      status = idm_yaml_unexpected(reader->tree, item, what, expected);
    }
  }
  return status;
}

bool idm_yaml_scale_weights(double *weights, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += weights[i];
  if (!(sum > 0) || !isfinite(sum)) return false;
  /* The same tolerance as idm_normalise, so that weights are read back unchanged. */
  if (fabs(sum - 1) <= 4e-16 * (double)count) return true;
  for (size_t i = 0; i < count; i++) weights[i] /= sum;
  return true;
}

/* === table ================================================================================== */

/* Tables of a YAML problem. */

bool idm_yaml_is_table(const idm_yaml_node *node)
{
  static const char suffix[] = ".csv";
  if (!idm_yaml_is_scalar(node)) return false;
  const char *text = idm_yaml_text(node);
  const size_t length = strlen(text);
  return length >= sizeof suffix && strcmp(text + length - (sizeof suffix - 1), suffix) == 0;
}

/* Path of a table, which is relative to the problem file. */
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

static idm_status read_header(idm_yaml_table *t)
{
  idm_status status = idm_yaml_table_next(t);
  if (status == IDM_OK && !t->count)
    return idm_fail_at(t->reader->opt_error, t->path, 1, 1, "an empty table; expected a header");
  if (status == IDM_OK) status = idm_labels_create(&t->column, t->count, t->reader->opt_error);
  for (size_t i = 0; i < t->count && status == IDM_OK; i++)
    status =
        idm_labels_set(&t->column, i, t->field[i].text, t->field[i].length, t->reader->opt_error);
  return status;
}

/* Open the file of a table. A table of a run must be in the folder of the run. */
static idm_status open_stream(idm_yaml_table *t, const char *name, idm_error *opt_error)
{
  const idm_location *document = t->reader->opt_location;
  idm_location place = idm_location_of(t->path);
  int descriptor = -1;
  if (document && idm_location_in_folder(document)) {
    if (strchr(name, '/'))
      return idm_fail(opt_error, IDM_INPUT, "'%.200s' is not a file in the folder of the run",
                      name);
    place.folder = document->folder;
    place.name = name;
  }
  const idm_status status = idm_location_open_named(&place, &descriptor, opt_error);
  if (status != IDM_OK) return status;
  t->stream = fdopen(descriptor, "rb");
  if (t->stream) return IDM_OK;
  close(descriptor);
  return idm_fail_memory(opt_error);
}

idm_status idm_yaml_table_open(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const char *expected, idm_yaml_table *table)
{
  *table = (idm_yaml_table){.reader = reader, .path = path_of(reader, idm_yaml_text(node))};
  if (!table->path) return idm_fail_memory(reader->opt_error);
  idm_error error = {0};
  idm_status status = open_stream(table, idm_yaml_text(node), &error);
  if (status == IDM_MEMORY) return idm_fail_memory(reader->opt_error);
  if (status != IDM_OK)
    return idm_yaml_fail(reader->tree, node, "%.400s; expected %s", error.message, expected);
  status = idm_csv_open_stream(table->stream, table->path, &table->csv, reader->opt_error);
  return status == IDM_OK ? read_header(table) : status;
}

void idm_yaml_table_close(idm_yaml_table *table)
{
  idm_csv_close(table->csv);
  if (table->stream) fclose(table->stream);
  idm_labels_destroy(&table->column);
  free(table->path);
}

size_t idm_yaml_table_column(const idm_yaml_table *table, const char *name)
{
  size_t place = table->column.count;
  for (size_t i = 0; i < table->column.count; i++)
    if (strcmp(table->column.name[i], name) == 0) place = i;
  return place;
}

idm_status idm_yaml_table_columns(const idm_yaml_table *table, const char *const *name,
                                  size_t count, size_t *place)
{
  char list[200] = "";
  for (size_t i = 0; i < count; i++) {
    const size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s",
             !i              ? ""
             : i + 1 < count ? ", "
                             : " and ",
             name[i]);
  }
  for (size_t i = 0; i < count; i++) {
    place[i] = idm_yaml_table_column(table, name[i]);
    if (place[i] == table->column.count)
      return idm_fail_at(table->reader->opt_error, table->path, 1, 1, "no column '%s'; expected %s",
                         name[i], list);
  }
  return IDM_OK;
}

idm_status idm_yaml_table_next(idm_yaml_table *table)
{
  return idm_csv_next(table->csv, &table->field, &table->count, table->reader->opt_error);
}

static int print_length(const idm_csv_field *cell)
{
  return (int)(cell->length < 60 ? cell->length : 60);
}

idm_status idm_yaml_table_label(const idm_yaml_table *table, size_t column, const idm_names *names,
                                const char *what, size_t *ret_index)
{
  const idm_csv_field *cell = &table->field[column];
  char text[IDM_YAML_LABEL + 1];
  const bool fits = cell->length < sizeof text;
  if (fits) memcpy(text, cell->text, cell->length);
  text[fits ? cell->length : 0] = '\0';
  const long index = fits ? idm_names_find(names, text) : -1;
  if (index < 0)
    return idm_yaml_table_fail(table, column, "'%.*s' is no %s of the problem", print_length(cell),
                               cell->text, what);
  *ret_index = (size_t)index;
  return IDM_OK;
}

idm_status idm_yaml_table_number(const idm_yaml_table *table, size_t column, const char *what,
                                 double *ret_value)
{
  const idm_csv_field *cell = &table->field[column];
  if (idm_number_decimal(cell->text, cell->length, ret_value) && isfinite(*ret_value))
    return IDM_OK;
  return idm_yaml_table_fail(table, column, "'%.*s' for %s; expected a number", print_length(cell),
                             cell->text, what);
}

idm_status idm_yaml_table_complete(const idm_yaml_table *table, const bool *given, const char *what)
{
  const idm_setting *setting = table->reader->problem->setting;
  const size_t states = setting->states.count;
  for (size_t i = 0; i < setting->actions.count * states; i++)
    if (!given[i] && !setting->terminal_state[i % states])
      return idm_fail_at(table->reader->opt_error, table->path, 1, 1,
                         "no %s of '%.60s' in '%.60s'; expected every state, or every state and "
                         "action",
                         what, setting->actions.name[i / states], setting->states.name[i % states]);
  return IDM_OK;
}
