/* Which entries of the utility are free, which are tied, which one is the reference. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "idm/problem.h"
#include "io/problem/entries.h"

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

/* "ACTION", "ACTION.STATE" or [ACTION, STATE]. */
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

/* Under construction: coordinate[entry], -2 where nothing was said yet. */
enum { UNSAID = -2, HELD = -1 };

typedef struct freedom {
  idm_yaml_reader *reader;
  int32_t *coordinate; /* [entry] */
  char **name;         /* [coordinate] */
  size_t count;
} freedom;

static bool comes_from_column(const idm_problem *problem, size_t action, size_t state)
{
  for (size_t i = 0; i < problem->utility_sources; i++)
    if (problem->utility_source[i].action == action && problem->utility_source[i].state == state)
      return true;
  return false;
}

/* Give every number that the node names to coordinate `at`. */
static idm_status mark(freedom *f, const idm_yaml_node *node, const char *what, int32_t at)
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
    if (*to != UNSAID)
      return idm_yaml_fail(reader->tree, node, "%s names an entry twice; expected it once", what);
    if (at != HELD && comes_from_column(reader->problem, entry.action, s))
      return idm_yaml_fail(reader->tree, node,
                           "%s frees an entry that comes from a data column; expected a number",
                           what);
    *to = at;
  }
  return IDM_OK;
}

static idm_status add_name(freedom *f, const char *text, size_t length)
{
  f->name[f->count] = idm_text_copy(text, length);
  return f->name[f->count++] ? IDM_OK : idm_fail_memory(f->reader->opt_error);
}

/* A list of entries, each a coordinate of its own once all are known. */
static idm_status mark_list(freedom *f, const idm_yaml_node *node, const char *what, int32_t at)
{
  if (!idm_yaml_is_list(node)) return mark(f, node, what, at);
  if (!idm_yaml_count(node))
    return idm_yaml_unexpected(f->reader->tree, node, what, "at least one entry");
  idm_status status = IDM_OK;
  for (size_t i = 0; i < idm_yaml_count(node) && status == IDM_OK; i++)
    status = mark(f, idm_yaml_item(f->reader->tree, node, i), what, at);
  return status;
}

int idm_yaml_entry_name(const idm_setting *setting, size_t entry, char *name, size_t size)
{
  idm_block_entry(idm_block_describe(IDM_UTILITY), setting, 1, entry, name, size);
  return (int)strlen(name);
}

/* Whether coordinate `at` is one entry that goes by its own name, whatever the labels are made of.
 */
static bool is_own(const freedom *f, int32_t at)
{
  char name[IDM_ENTRY];
  size_t entries = 0;
  bool own = false;
  for (size_t i = 0; i < f->reader->sizes.actions * f->reader->sizes.states; i++) {
    if (f->coordinate[i] != at) continue;
    idm_yaml_entry_name(f->reader->problem->setting, i, name, sizeof name);
    own = entries++ == 0 && strcmp(name, f->name[at]) == 0;
  }
  return own;
}

/* {NAME: entries, ...}: each name is one number, shared by its entries. */
static idm_status mark_ties(freedom *f, const idm_yaml_node *node)
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
    /* A pair [ACTION, STATE] looks like a list of two actions: lists of lists are pairs. */
    if (status == IDM_OK) status = mark_list(f, item, "free.utility.entries", (int32_t)i);
    if (status == IDM_OK && strpbrk(idm_yaml_text(key), "/[]\n") && !is_own(f, (int32_t)i))
      status =
          idm_yaml_unexpected(tree, key, "free.utility.entries", "a name without '/', '[' and ']'");
  }
  return status;
}

/* Number the entries marked free one by one, each with its own name. */
static idm_status separate(freedom *f, int32_t marked)
{
  const idm_setting *setting = f->reader->problem->setting;
  const size_t states = f->reader->sizes.states;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < f->reader->sizes.actions * states && status == IDM_OK; i++) {
    if (f->coordinate[i] != marked || setting->terminal_state[i % states] ||
        comes_from_column(f->reader->problem, i / states, i % states)) {
      f->coordinate[i] = HELD;
      continue;
    }
    char name[IDM_ENTRY];
    const int length = idm_yaml_entry_name(setting, i, name, sizeof name);
    f->coordinate[i] = (int32_t)f->count;
    status = add_name(f, name, (size_t)length);
  }
  return status;
}

idm_status idm_yaml_give_coordinates(idm_block *block, size_t count, char **name,
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
  freedom f = {.reader = reader};
  f.coordinate = idm_new(size, sizeof *f.coordinate);
  f.name = idm_new(size, sizeof *f.name);
  idm_status status = f.coordinate && f.name ? IDM_OK : idm_fail_memory(reader->opt_error);
  for (size_t i = 0; status == IDM_OK && i < size; i++) f.coordinate[i] = UNSAID;
  if (status == IDM_OK && opt_reference)
    status = mark_list(&f, node, "free.utility.reference", HELD);
  if (status == IDM_OK && !opt_entries) {
    status = separate(&f, UNSAID);
  } else if (status == IDM_OK && idm_yaml_is_mapping(node)) {
    status = mark_ties(&f, node);
    for (size_t i = 0; i < size; i++)
      f.coordinate[i] = f.coordinate[i] < 0 ? HELD : f.coordinate[i];
  } else if (status == IDM_OK) {
    status = mark_list(&f, node, "free.utility.entries", 0);
    if (status == IDM_OK) status = separate(&f, 0);
  }
  if (status == IDM_OK && !f.count)
    status = idm_yaml_fail(reader->tree, node, "free.utility leaves no entry free; expected one");
  if (status == IDM_OK)
    status = idm_yaml_give_coordinates(&reader->problem->theta->block[IDM_UTILITY], f.count, f.name,
                                       &f.coordinate, reader->opt_error);
  for (size_t i = 0; f.name && i < f.count; i++) free(f.name[i]);
  free(f.name);
  free(f.coordinate);
  return status;
}
