/* Reads and writes blocks of fields of a YAML problem.
 *
 * Contents: shape · fields · rows · writing · free entries · writing entries */
#include "io/problem/reader.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "setting/model.h"

/* --- shape ---------------------------------------------------------------------------------- */

static size_t count_fields(const idm_block_info *info)
{
  return idm_axis_length(info, IDM_AXIS_FIELD, (idm_sizes){0}, 1);
}

/* Count of the numbers of one field: one, or one per action. */
static size_t field_width(const idm_block_info *info, size_t actions)
{
  return info->axis[1] == IDM_AXIS_ACTION ? actions : 1;
}

static bool all_same(const double *value, size_t count)
{
  for (size_t i = 1; i < count; i++)
    if (value[i] != value[0]) return false;
  return true;
}

/* --- fields --------------------------------------------------------------------------------- */

static idm_status read_number(const idm_yaml_reader *reader, const idm_yaml_node *node,
                              const char *what, const idm_field *field, double *value)
{
  char expected[80];
  const idm_status status = idm_yaml_number(reader->tree, node, what, false, value);
  if (status != IDM_OK || (*value >= field->least && *value < field->below)) return status;
  idm_print(expected, sizeof expected, "a number in [%g, %g)", field->least, field->below);
  return idm_yaml_unexpected(reader->tree, node, what, expected);
}

/* Read one number for all actions, or a mapping of actions; actions not named keep the default. */
static idm_status read_field(const idm_yaml_reader *reader, const idm_yaml_node *node,
                             const idm_block_info *info, const idm_field *field, double *value)
{
  const size_t width = field_width(info, reader->sizes.actions);
  char what[80];
  idm_print(what, sizeof what, "%s.%s", info->name, field->name);
  if (info->axis[1] != IDM_AXIS_ACTION || !idm_yaml_is_mapping(node)) {
    const idm_status status = read_number(reader, node, what, field, &value[0]);
    for (size_t u = 1; u < width; u++) value[u] = value[0];
    return status;
  }
  const idm_yaml_node **by_action = idm_new(width, sizeof *by_action);
  if (!by_action) return idm_fail_memory(reader->opt_error);
  idm_status status = idm_yaml_by_action(reader, node, what, by_action);
  for (size_t u = 0; u < width && status == IDM_OK; u++)
    if (by_action[u]) status = read_number(reader, by_action[u], what, field, &value[u]);
  free(by_action);
  return status;
}

static idm_status read_all(const idm_yaml_reader *reader, const idm_yaml_node *node,
                           const idm_block_info *info, double *value)
{
  const size_t width = field_width(info, reader->sizes.actions);
  const char *keys[8] = {NULL};
  const size_t fields = count_fields(info);
  for (size_t i = 0; i < fields; i++) keys[i] = info->field[i].name;
  keys[fields] = info->rows;
  idm_status status = idm_yaml_check_keys(reader->tree, node, info->name, keys);
  for (size_t i = 0; i < fields && status == IDM_OK; i++) {
    const idm_field *field = &info->field[i];
    const idm_yaml_node *item = idm_yaml_find(reader->tree, node, field->name);
    for (size_t u = 0; u < width; u++) value[i * width + u] = field->default_number;
    if (!item && (info->rows || field->optional)) continue;
    if (!item)
      return idm_yaml_fail(reader->tree, node, "%s lacks the key '%s'; expected it", info->name,
                           field->name);
    status = read_field(reader, item, info, field, value + i * width);
  }
  return status;
}

/* --- rows ----------------------------------------------------------------------------------- */

/* Read one number per state: one for all of them, a list in their order, or a mapping by name. */
static idm_status read_states(const idm_yaml_reader *reader, const idm_yaml_node *node,
                              const char *what, double *value)
{
  const size_t states = reader->sizes.states;
  if (idm_yaml_is_list(node)) return idm_yaml_read_numbers(reader, node, what, states, NULL, value);
  const idm_yaml_node **entry = idm_new(states, sizeof *entry);
  if (!entry) return idm_fail_memory(reader->opt_error);
  idm_status status = IDM_OK;
  if (idm_yaml_is_mapping(node)) status = idm_yaml_by_state(reader, node, what, entry);
  for (size_t s = 0; s < states && status == IDM_OK; s++)
    status = idm_yaml_number(reader->tree, entry[s] ? entry[s] : node, what, false, &value[s]);
  free(entry);
  return status;
}

/* Find the list of each action's rows, NULL if it has none, and the length of the longest list. */
static idm_status find_lists(const idm_yaml_reader *reader, const idm_yaml_node *node,
                             const char *what, const idm_yaml_node **list, size_t *ret_rows)
{
  const bool by_action = idm_yaml_is_mapping(node);
  idm_status status = by_action ? idm_yaml_by_action(reader, node, what, list) : IDM_OK;
  for (size_t u = 0; u < reader->sizes.actions && status == IDM_OK; u++) {
    if (!by_action) list[u] = node;
    if (!list[u]) continue;
    status = idm_yaml_check_list(reader->tree, list[u], what,
                                 "rows, each a list by state, a mapping or a number", 0);
    if (status == IDM_OK && idm_yaml_count(list[u]) > *ret_rows)
      *ret_rows = idm_yaml_count(list[u]);
  }
  if (status == IDM_OK && !*ret_rows)
    status = idm_yaml_unexpected(reader->tree, node, what, "a list of rows for some action");
  return status;
}

/* Read the rows of one action into [row][action][state]. An action with fewer rows than others
 * repeats its last, which does not change the maximum over its rows. */
static idm_status read_rows(const idm_yaml_reader *reader, const idm_yaml_node *list,
                            const char *what, size_t action, size_t rows, double *value)
{
  const size_t states = reader->sizes.states;
  const size_t stride = reader->sizes.actions * states;
  double *row = value + action * states;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < rows && status == IDM_OK; i++, row += stride) {
    if (i < idm_yaml_count(list))
      status = read_states(reader, idm_yaml_item(reader->tree, list, i), what, row);
    else
      memcpy(row, row - stride, states * sizeof *row);
  }
  return status;
}

/* Read fields, then rows. */
static idm_status read_with_rows(const idm_yaml_reader *reader, size_t id,
                                 const idm_yaml_node *node, const idm_yaml_node **list)
{
  idm_theta *theta = reader->problem->theta;
  const idm_block_info *info = theta->block[id].info;
  const size_t actions = reader->sizes.actions;
  const size_t numbers = idm_block_size(info, reader->sizes, theta->models);
  const idm_yaml_node *given =
      idm_yaml_is_mapping(node) ? idm_yaml_find(reader->tree, node, info->rows) : NULL;
  char what[80];
  size_t rows = 0;
  idm_print(what, sizeof what, "%s.%s", info->name, info->rows);
  idm_status status = given ? find_lists(reader, given, what, list, &rows) : IDM_OK;
  const size_t size = numbers + idm_times(rows, actions * reader->sizes.states);
  if (status == IDM_OK) status = idm_theta_resize(theta, id, size, 1, reader->opt_error);
  if (status == IDM_OK) status = read_all(reader, node, info, theta->block[id].value);
  for (size_t u = 0; u < actions && rows && status == IDM_OK; u++)
    if (list[u])
      status = read_rows(reader, list[u], what, u, rows, theta->block[id].value + numbers);
  return status;
}

idm_status idm_yaml_read_fields(const idm_yaml_reader *reader, size_t id, const idm_yaml_node *node)
{
  const idm_block *block = &reader->problem->theta->block[id];
  if (!block->info->rows) return read_all(reader, node, block->info, block->value);
  const idm_yaml_node **list = idm_new(reader->sizes.actions, sizeof *list);
  if (!list) return idm_fail_memory(reader->opt_error);
  const idm_status status = read_with_rows(reader, id, node, list);
  free(list);
  return status;
}

/* --- writing -------------------------------------------------------------------------------- */

static void put_field(idm_emitter *out, const idm_labels *actions, const idm_field *field,
                      const double *value, size_t width)
{
  if (all_same(value, width)) {
    if (!field->optional || value[0] != field->default_number)
      idm_emit_number(out, field->name, value[0]);
    return;
  }
  idm_emit_mapping(out, field->name, IDM_EMIT_FLOW);
  for (size_t u = 0; u < width; u++)
    if (value[u] != field->default_number) idm_emit_number(out, actions->name[u], value[u]);
  idm_emit_mapping_end(out);
}

/* Write the rows of one action, or of all actions, under a key. */
static void put_list(idm_emitter *out, const char *key, const double *value, size_t rows,
                     size_t stride, size_t states)
{
  idm_emit_list(out, key, IDM_EMIT_FLOW);
  for (size_t i = 0; i < rows; i++) idm_emit_numbers(out, NULL, value + i * stride, states);
  idm_emit_list_end(out);
}

/* Returns true if an action's rows equal those of another action; with NULL, if they are all 0. */
static bool same_rows(const double *value, const double *opt_other, size_t rows, size_t stride,
                      size_t states)
{
  for (size_t i = 0; i < rows; i++)
    for (size_t s = 0; s < states; s++)
      if (value[i * stride + s] != (opt_other ? opt_other[i * stride + s] : 0)) return false;
  return true;
}

static void put_rows(idm_emitter *out, const idm_setting *setting, const char *key,
                     const double *value, size_t rows)
{
  const size_t actions = setting->actions.count, states = setting->states.count;
  const size_t stride = actions * states;
  bool all_equal = true;
  for (size_t u = 1; u < actions; u++)
    all_equal = all_equal && same_rows(value + u * states, value, rows, stride, states);
  if (all_equal) {
    put_list(out, key, value, rows, stride, states);
    return;
  }
  idm_emit_mapping(out, key, IDM_EMIT_FLOW);
  for (size_t u = 0; u < actions; u++)
    if (!same_rows(value + u * states, NULL, rows, stride, states))
      put_list(out, setting->actions.name[u], value + u * states, rows, stride, states);
  idm_emit_mapping_end(out);
}

void idm_yaml_put_fields(idm_emitter *out, const idm_setting *setting, const idm_block *block)
{
  const idm_block_info *info = block->info;
  const size_t width = field_width(info, setting->actions.count);
  const size_t numbers = count_fields(info) * width;
  const size_t row = setting->actions.count * setting->states.count;
  bool default_value = block->size == numbers;
  assert(width > 0 && row > 0); /* settings have states and actions */
  for (size_t i = 0; i < numbers; i++)
    default_value = default_value && block->value[i] == info->field[i / width].default_number;
  if (default_value) return;
  idm_emit_mapping(out, info->name, IDM_EMIT_FLOW);
  for (size_t i = 0; i < numbers; i += width)
    put_field(out, &setting->actions, &info->field[i / width], block->value + i, width);
  if (block->size > numbers)
    put_rows(out, setting, info->rows, block->value + numbers, (block->size - numbers) / row);
  idm_emit_mapping_end(out);
}

/* --- free entries --------------------------------------------------------------------------- */

/* State of the selection: coordinate[number], -1 if the number is fixed. */
typedef struct free_fields_reader {
  idm_yaml_reader *reader;
  const idm_block *block;
  size_t width;        /* numbers per field */
  int32_t *coordinate; /* [number] */
  char **name;         /* [coordinate] */
  size_t count;
  char what[80];
} free_fields_reader;

/* Fail with IDM_INPUT; the message lists the valid entries. */
static idm_status fail_entry(const free_fields_reader *f, const idm_yaml_node *node)
{
  char expected[160];
  size_t used = 0;
  for (const idm_field *field = f->block->info->field; field->name; field++)
    if (field->is_linear)
      used += (size_t)idm_print(expected + used, sizeof expected - used, "%s%s", used ? " or " : "",
                                field->name);
  if (f->width > 1)
    idm_print(expected + used, sizeof expected - used, ", of one action as FIELD.ACTION");
  return idm_yaml_unexpected(f->reader->tree, node, f->what, expected);
}

/* First number and count of the numbers that FIELD or FIELD.ACTION names. */
static idm_status find_numbers(const free_fields_reader *f, const idm_yaml_node *node,
                               const char *text, size_t *ret_first, size_t *ret_count)
{
  const idm_field *field = f->block->info->field;
  const idm_labels *actions = &f->reader->problem->setting->actions;
  const size_t length = strcspn(text, ".");
  for (size_t i = 0; field[i].name; i++) {
    if (strlen(field[i].name) != length || strncmp(field[i].name, text, length) != 0) continue;
    const bool whole = !text[length];
    const char *rest = text + length + !whole;
    const long action = whole ? 0 : idm_labels_find(actions, rest, strlen(rest));
    if (!field[i].is_linear || action < 0 || (!whole && f->block->info->axis[1] != IDM_AXIS_ACTION))
      return fail_entry(f, node);
    *ret_first = i * f->width + (size_t)action;
    *ret_count = whole ? f->width : 1;
    return IDM_OK;
  }
  return fail_entry(f, node);
}

static idm_status add_name(free_fields_reader *f, const char *text)
{
  f->name[f->count] = idm_text_copy(text, strlen(text));
  return f->name[f->count++] ? IDM_OK : idm_fail_memory(f->reader->opt_error);
}

static idm_status assign_coordinate(free_fields_reader *f, const idm_yaml_node *node, size_t i,
                                    size_t coordinate)
{
  if (f->coordinate[i] >= 0)
    return idm_yaml_fail(f->reader->tree, node, "%s names an entry twice; expected it once",
                         f->what);
  f->coordinate[i] = (int32_t)coordinate;
  return IDM_OK;
}

/* Make numbers separate coordinates; a whole field that is the same for all actions is one
 * coordinate. */
static idm_status free_numbers(free_fields_reader *f, const idm_yaml_node *node, size_t first,
                               size_t count)
{
  const idm_setting *setting = f->reader->problem->setting;
  const bool one = count == f->width && all_same(f->block->value + first, count);
  idm_status status = IDM_OK;
  for (size_t i = first; i < first + count && status == IDM_OK; i++) {
    char name[IDM_ENTRY_SIZE];
    status = assign_coordinate(f, node, i, one && i > first ? f->count - 1 : f->count);
    if (status != IDM_OK || (one && i > first)) continue;
    idm_block_entry_name(f->block->info, setting, 1, i, name, sizeof name);
    status = add_name(f, one ? f->block->info->field[first / f->width].name : name);
  }
  return status;
}

/* Text of an entry after its prefix; NULL if the prefix differs. */
static const char *entry_text(const idm_yaml_node *node, const char *opt_before)
{
  if (!idm_yaml_is_scalar(node)) return NULL;
  const char *text = idm_yaml_text(node);
  const size_t length = opt_before ? strlen(opt_before) : 0;
  return strncmp(text, opt_before ? opt_before : "", length) == 0 ? text + length : NULL;
}

/* Free one entry, or each entry of a list. */
static idm_status free_entries(free_fields_reader *f, const idm_yaml_node *node,
                               const char *opt_before)
{
  const bool list = idm_yaml_is_list(node);
  idm_status status = IDM_OK;
  for (size_t k = 0; k < (list ? idm_yaml_count(node) : 1) && status == IDM_OK; k++) {
    const idm_yaml_node *item = list ? idm_yaml_item(f->reader->tree, node, k) : node;
    const char *text = entry_text(item, opt_before);
    size_t first = 0, count = 0;
    if (!text && opt_before) continue;
    status = text ? find_numbers(f, item, text, &first, &count) : fail_entry(f, item);
    if (status == IDM_OK) status = free_numbers(f, item, first, count);
  }
  return status;
}

/* Assign entries to the coordinate that gets the next name. */
static idm_status tie_entries(free_fields_reader *f, const idm_yaml_node *node)
{
  const bool list = idm_yaml_is_list(node);
  idm_status status = IDM_OK;
  if (list && !idm_yaml_count(node))
    return idm_yaml_unexpected(f->reader->tree, node, f->what, "at least one entry");
  for (size_t k = 0; k < (list ? idm_yaml_count(node) : 1) && status == IDM_OK; k++) {
    const idm_yaml_node *item = list ? idm_yaml_item(f->reader->tree, node, k) : node;
    const char *text = entry_text(item, NULL);
    size_t first = 0, count = 0;
    status = text ? find_numbers(f, item, text, &first, &count) : fail_entry(f, item);
    for (size_t i = first; i < first + count && status == IDM_OK; i++)
      status = assign_coordinate(f, item, i, f->count);
  }
  return status;
}

/* Returns true if a name is the default name of the first number of the next coordinate. */
static bool is_own_name(const free_fields_reader *f, const char *text)
{
  char name[IDM_ENTRY_SIZE];
  for (size_t i = 0; i < f->block->size; i++)
    if (f->coordinate[i] == (int32_t)f->count) {
      idm_block_entry_name(f->block->info, f->reader->problem->setting, 1, i, name, sizeof name);
      return strcmp(name, text) == 0;
    }
  return false;
}

/* Read {NAME: entries, ...}. */
static idm_status free_ties(free_fields_reader *f, const idm_yaml_node *node)
{
  const idm_yaml_tree *tree = f->reader->tree;
  idm_status status = IDM_OK;
  for (size_t k = 0; k < idm_yaml_count(node) && status == IDM_OK; k++) {
    const idm_yaml_node *key = idm_yaml_key(tree, node, k);
    status = tie_entries(f, idm_yaml_item(tree, node, k));
    const char *name = idm_yaml_is_scalar(key) ? idm_yaml_text(key) : "";
    const bool legal = name[0] && !strpbrk(name, "/[]\n");
    if (status == IDM_OK && !legal && !is_own_name(f, name))
      status = idm_yaml_unexpected(tree, key, f->what, "a name without '/', '[' and ']'");
    if (status == IDM_OK) status = add_name(f, name);
  }
  return status;
}

static idm_status free_fields(free_fields_reader *f, const idm_yaml_node *node)
{
  const idm_field *field = f->block->info->field;
  idm_status status = IDM_OK;
  for (size_t i = 0; field[i].name && status == IDM_OK; i++)
    if (field[i].is_linear) status = free_numbers(f, node, i * f->width, f->width);
  return status;
}

idm_status idm_yaml_free_fields(idm_yaml_reader *reader, size_t id, const idm_yaml_node *node,
                                const idm_yaml_node *opt_entries, const char *opt_before)
{
  idm_block *block = &reader->problem->theta->block[id];
  free_fields_reader f = {.reader = reader,
                          .block = block,
                          .width = field_width(block->info, reader->sizes.actions),
                          .coordinate = idm_new(block->size, sizeof *f.coordinate),
                          .name = idm_new(block->size, sizeof *f.name)};
  idm_print(f.what, sizeof f.what, "free.%s%s", block->info->name, opt_before ? "" : ".entries");
  idm_status status = f.coordinate && f.name ? IDM_OK : idm_fail_memory(reader->opt_error);
  for (size_t i = 0; i < block->size && status == IDM_OK; i++) f.coordinate[i] = -1;
  if (status == IDM_OK && !opt_entries)
    status = free_fields(&f, node);
  else if (status == IDM_OK && idm_yaml_is_mapping(opt_entries))
    status = free_ties(&f, opt_entries);
  else if (status == IDM_OK)
    status = free_entries(&f, opt_entries, opt_before);
  if (status == IDM_OK && !f.count)
    status = idm_yaml_fail(reader->tree, node, "%s leaves no entry free; expected one", f.what);
  if (status == IDM_OK)
    status = idm_yaml_set_coordinates(block, f.count, f.name, &f.coordinate, reader->opt_error);
  for (size_t i = 0; f.name && i < f.count; i++) free(f.name[i]);
  free(f.name);
  free(f.coordinate);
  return status;
}

/* --- writing entries ------------------------------------------------------------------------ */

/* Write the name of number i as an entry: FIELD or FIELD.ACTION. */
static void put_entry(idm_emitter *out, const idm_setting *setting, const idm_block *block,
                      size_t i)
{
  const size_t width = field_width(block->info, setting->actions.count);
  const char *field = block->info->field[i / width].name;
  const char *action = width > 1 ? setting->actions.name[i % width] : "";
  const size_t size = strlen(field) + strlen(action) + 2;
  char *text = idm_new(size, 1);
  if (!text) {
    (void)idm_fail_memory(&out->error);
    return;
  }
  idm_print(text, size, "%s%s%s", field, width > 1 ? "." : "", action);
  idm_emit_text(out, NULL, text);
  free(text);
}

void idm_yaml_put_field_entries(idm_emitter *out, const idm_setting *setting,
                                const idm_block *block)
{
  idm_emit_mapping(out, "entries", IDM_EMIT_FLOW);
  for (size_t c = 0; c < block->coordinate_name.count; c++) {
    idm_emit_list(out, block->coordinate_name.name[c], IDM_EMIT_FLOW);
    for (size_t i = 0; i < block->size; i++)
      if (block->coordinate[i] == (int32_t)c) put_entry(out, setting, block, i);
    idm_emit_list_end(out);
  }
  idm_emit_mapping_end(out);
}
