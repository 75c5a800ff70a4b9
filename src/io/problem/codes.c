/* What cells of a log mean: `codes`, `missing` and `missed` under `data` of a YAML problem. */
#include "io/problem/codes.h"

#include <stdio.h>
#include <string.h>

#include "io/problem/spaces.h"

/* Labels that codes are of: those of a role, or one column's part of them. */
typedef struct coded {
  const char *what; /* data.codes.action */
  const char *noun; /* action */
  const idm_labels *labels;
} coded;

static long find(const idm_labels *labels, const char *text)
{
  for (size_t i = 0; i < labels->count; i++)
    if (strcmp(labels->name[i], text) == 0) return (long)i;
  return -1;
}

/* One pair of a map: a text that is no label already, and a label. */
static idm_status read_pair(const idm_yaml_reader *reader, const coded *of,
                            const idm_yaml_node *node, size_t i, idm_code *code)
{
  const idm_yaml_node *key = idm_yaml_key(reader->tree, node, i);
  const idm_yaml_node *value = idm_yaml_item(reader->tree, node, i);
  if (!idm_yaml_is_scalar(value))
    return idm_yaml_unexpected(reader->tree, value, of->what, "a label for every text");
  const char *text = idm_yaml_text(key);
  const char *label = idm_yaml_text(value);
  if (find(of->labels, label) < 0)
    return idm_yaml_unknown(reader->tree, value, of->what, (const char *const *)of->labels->name,
                            of->labels->count);
  const long own = find(of->labels, text);
  if (own >= 0 && strcmp(text, label) != 0)
    return idm_yaml_fail(reader->tree, key,
                         "%s: '%.60s' is the name of an %s itself and cannot stand for '%.60s'",
                         of->what, text, of->noun, label);
  if (!text[0])
    return idm_yaml_fail(reader->tree, key, "%s: an empty cell is not recorded; expected a text",
                         of->what);
  const idm_status status =
      idm_labels_set(&code->text, i, text, key->data.scalar.length, reader->opt_error);
  if (status != IDM_OK) return status;
  return idm_labels_set(&code->means, i, label, value->data.scalar.length, reader->opt_error);
}

/* `index`, `labels` or a map. */
static idm_status read_code(const idm_yaml_reader *reader, const coded *of,
                            const idm_yaml_node *node, idm_code *code)
{
  if (idm_yaml_is_scalar(node)) {
    static const char *const words[] = {"labels", "index"};
    size_t word = 0;
    const idm_status status = idm_yaml_choice(reader->tree, node, of->what, words, 2, &word);
    code->index = word == 1;
    return status;
  }
  if (!idm_yaml_is_mapping(node) || !idm_yaml_count(node))
    return idm_yaml_unexpected(reader->tree, node, of->what,
                               "index, labels or a map of texts to labels, as {0: no, 1: yes}");
  const size_t count = idm_yaml_count(node);
  idm_status status = idm_labels_create(&code->text, count, reader->opt_error);
  if (status == IDM_OK) status = idm_labels_create(&code->means, count, reader->opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    status = read_pair(reader, of, node, i, code);
  return status;
}

/* One entry a column, each of its own part of the label. */
static idm_status read_by_column(const idm_yaml_reader *reader, const coded *of,
                                 const idm_yaml_node *node, size_t columns, idm_codes *codes)
{
  if (columns < 2 || idm_yaml_count(node) != columns)
    return idm_yaml_fail(reader->tree, node,
                         "%s lists %zu code%s for %zu column%s; expected one a column, or one for "
                         "the label that they make",
                         of->what, idm_yaml_count(node), idm_yaml_count(node) == 1 ? "" : "s",
                         columns, columns == 1 ? "" : "s");
  idm_status status = idm_codes_create(codes, columns, reader->opt_error);
  for (size_t i = 0; i < columns && status == IDM_OK; i++) {
    idm_error error = {0};
    idm_labels levels;
    status = idm_labels_level(of->labels, columns, i, &levels, &error);
    if (status != IDM_OK) return idm_yaml_fail(reader->tree, node, "%s", error.message);
    const coded part = {of->what, of->noun, &levels};
    status = read_code(reader, &part, idm_yaml_item(reader->tree, node, i), &codes->code[i]);
    idm_labels_destroy(&levels);
  }
  return status;
}

static idm_status read_role(const idm_yaml_reader *reader, idm_column role,
                            const idm_yaml_node *node)
{
  idm_problem *problem = reader->problem;
  const bool action = role == IDM_COLUMN_ACTION;
  const size_t columns = problem->columns.role[role].count ? problem->columns.role[role].count : 1;
  idm_codes *codes = &problem->columns.codes[role];
  const coded of = {action ? "data.codes.action" : "data.codes.observation",
                    action ? "action" : "observation",
                    action ? &problem->setting->actions : &problem->setting->observations};
  if (idm_yaml_is_list(node)) return read_by_column(reader, &of, node, columns, codes);
  idm_status status = idm_codes_create(codes, 1, reader->opt_error);
  if (status == IDM_OK) status = read_code(reader, &of, node, &codes->code[0]);
  if (status != IDM_OK || !codes->code[0].index || columns == 1) return status;
  /* Every column by index: its labels must come apart. */
  idm_error error = {0};
  idm_labels levels;
  status = idm_labels_level(of.labels, columns, 0, &levels, &error);
  idm_labels_destroy(&levels);
  return status == IDM_OK ? IDM_OK : idm_yaml_fail(reader->tree, node, "%s", error.message);
}

/* What is not recorded cannot be seen, nor stand for what is. */
static idm_status check_missing(const idm_yaml_reader *reader, const idm_yaml_node *node)
{
  const idm_problem *problem = reader->problem;
  const idm_labels *missing = &problem->columns.missing;
  const idm_labels *spaces[] = {&problem->setting->actions, &problem->setting->observations};
  for (size_t i = 0; i < missing->count; i++) {
    const idm_yaml_node *place =
        idm_yaml_is_list(node) ? idm_yaml_item(reader->tree, node, i) : node;
    bool taken = false;
    for (size_t k = 0; k < 2; k++) taken = taken || find(spaces[k], missing->name[i]) >= 0;
    for (size_t c = 0; c < IDM_COLUMN_COUNT; c++)
      for (size_t k = 0; k < problem->columns.codes[c].count; k++)
        taken = taken || find(&problem->columns.codes[c].code[k].text, missing->name[i]) >= 0;
    if (taken)
      return idm_yaml_fail(reader->tree, place,
                           "data.missing: '%.60s' is an action, an observation or a code as well; "
                           "expected a text that means nothing else",
                           missing->name[i]);
  }
  return IDM_OK;
}

/* --- missed responses ----------------------------------------------------------------------- */

/* Whether a cell of the action's column holds an action by this text. */
static bool is_action(const idm_problem *problem, const char *text)
{
  const idm_labels *actions = &problem->setting->actions;
  const idm_codes *codes = &problem->columns.codes[IDM_COLUMN_ACTION];
  if (find(actions, text) >= 0) return true;
  for (size_t k = 0; k < codes->count; k++) {
    if (find(&codes->code[k].text, text) >= 0) return true;
    for (size_t u = 0; codes->code[k].index && u < actions->count; u++) {
      char number[24];
      snprintf(number, sizeof number, "%zu", u);
      if (strcmp(number, text) == 0) return true;
    }
  }
  return false;
}

static idm_status read_missed_texts(const idm_yaml_reader *reader, const idm_yaml_node *node)
{
  idm_labels *missed = &reader->problem->columns.missed;
  const idm_status status = idm_yaml_read_names(reader, node, "data.missed", missed);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < missed->count; i++)
    if (is_action(reader->problem, missed->name[i]))
      return idm_yaml_fail(
          reader->tree, idm_yaml_is_list(node) ? idm_yaml_item(reader->tree, node, i) : node,
          "data.missed: '%.60s' is an action or a code of one; expected a text that "
          "means a missed response alone",
          missed->name[i]);
  return IDM_OK;
}

/* The action that moves the world when a response is missed. Time passes: it ends nothing. */
static idm_status read_missed_action(const idm_yaml_reader *reader, const idm_yaml_node *node)
{
  const idm_setting *setting = reader->problem->setting;
  size_t action = 0;
  const idm_status status = idm_yaml_find_action(reader, node, "data.missed.action", &action);
  if (status != IDM_OK) return status;
  if (setting->ends[action] || setting->terminal[action])
    return idm_yaml_fail(reader->tree, node,
                         "data.missed.action: '%.60s' ends a trajectory; expected an action after "
                         "which it continues",
                         setting->actions.name[action]);
  reader->problem->columns.missed_action = action + 1;
  return IDM_OK;
}

/* Texts alone, or {values: texts, action: name}. */
static idm_status read_missed(const idm_yaml_reader *reader, const idm_yaml_node *node)
{
  static const char *const keys[] = {"values", "action", NULL};
  if (!idm_yaml_is_mapping(node)) return read_missed_texts(reader, node);
  idm_status status = idm_yaml_check_keys(reader->tree, node, "data.missed", keys);
  if (status != IDM_OK) return status;
  const idm_yaml_node *values = idm_yaml_find(reader->tree, node, keys[0]);
  const idm_yaml_node *action = idm_yaml_find(reader->tree, node, keys[1]);
  if (!values)
    return idm_yaml_unexpected(reader->tree, node, "data.missed",
                               "{values: [TEXT, ...], action: ACTION}");
  status = read_missed_texts(reader, values);
  return status == IDM_OK && action ? read_missed_action(reader, action) : status;
}

idm_status idm_yaml_read_codes(const idm_yaml_reader *reader, const idm_yaml_node *data)
{
  static const idm_column roles[] = {IDM_COLUMN_ACTION, IDM_COLUMN_OBSERVATION};
  const idm_yaml_node *codes = idm_yaml_find(reader->tree, data, "codes");
  const idm_yaml_node *missing = idm_yaml_find(reader->tree, data, "missing");
  idm_status status = IDM_OK;
  if (codes && idm_yaml_is_mapping(codes)) {
    const char *keys[] = {idm_column_describe(roles[0])->key, idm_column_describe(roles[1])->key,
                          NULL};
    status = idm_yaml_check_keys(reader->tree, codes, "data.codes", keys);
  }
  for (size_t i = 0; codes && i < 2 && status == IDM_OK; i++) {
    const idm_yaml_node *node =
        idm_yaml_is_mapping(codes)
            ? idm_yaml_find(reader->tree, codes, idm_column_describe(roles[i])->key)
            : codes;
    if (node && !idm_yaml_is_mapping(codes) && !idm_yaml_is_scalar(codes))
      return idm_yaml_unexpected(reader->tree, codes, "data.codes",
                                 "index, or a mapping with action and observation");
    if (node) status = read_role(reader, roles[i], node);
  }
  if (status == IDM_OK && missing)
    status =
        idm_yaml_read_names(reader, missing, "data.missing", &reader->problem->columns.missing);
  if (status == IDM_OK && missing) status = check_missing(reader, missing);
  const idm_yaml_node *missed = idm_yaml_find(reader->tree, data, "missed");
  return status == IDM_OK && missed ? read_missed(reader, missed) : status;
}
