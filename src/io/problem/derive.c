/* Reads and writes `data` of a YAML problem: codes, derived columns and rules.
 *
 * Contents: codes · derive */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/problem/reader.h"
#include "setting/model.h"

/* === codes ================================================================================== */

/* Meaning of cells of a log: `codes`, `missing` and `missed` under `data` of a YAML problem. */

/* Labels that codes map to: those of a role, or one column's part of them. */
typedef struct code_target {
  const char *what; /* data.codes.action */
  const char *noun; /* action */
  const idm_labels *labels;
} code_target;

static long find_label(const idm_labels *labels, const char *text)
{
  for (size_t i = 0; i < labels->count; i++)
    if (strcmp(labels->name[i], text) == 0) return (long)i;
  return -1;
}

/* Read one pair of a map: a text that is not another label, and a label. */
static idm_status read_pair(const idm_yaml_reader *reader, const code_target *of,
                            const idm_yaml_node *node, size_t i, idm_code *code)
{
  const idm_yaml_node *key = idm_yaml_key(reader->tree, node, i);
  const idm_yaml_node *value = idm_yaml_item(reader->tree, node, i);
  if (!idm_yaml_is_scalar(value))
    return idm_yaml_unexpected(reader->tree, value, of->what, "a label for every text");
  const char *text = idm_yaml_text(key);
  const char *label = idm_yaml_text(value);
  if (find_label(of->labels, label) < 0)
    return idm_yaml_unknown(reader->tree, value, of->what, (const char *const *)of->labels->name,
                            of->labels->count);
  const long own = find_label(of->labels, text);
  if (own >= 0 && strcmp(text, label) != 0)
    return idm_yaml_fail(reader->tree, key,
                         "%s: '%.60s' is the name of an %s itself and cannot be a code of '%.60s'",
                         of->what, text, of->noun, label);
  if (!text[0])
    return idm_yaml_fail(reader->tree, key, "%s: an empty cell is not recorded; expected a text",
                         of->what);
  const idm_status status =
      idm_labels_set(&code->text, i, text, key->data.scalar.length, reader->opt_error);
  if (status != IDM_OK) return status;
  return idm_labels_set(&code->target_label, i, label, value->data.scalar.length,
                        reader->opt_error);
}

/* Read `index`, `labels` or a map. */
static idm_status read_code(const idm_yaml_reader *reader, const code_target *of,
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
  if (status == IDM_OK) status = idm_labels_create(&code->target_label, count, reader->opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    status = read_pair(reader, of, node, i, code);
  return status;
}

/* Read one entry per column, each for its own part of the label. */
static idm_status read_by_column(const idm_yaml_reader *reader, const code_target *of,
                                 const idm_yaml_node *node, size_t columns, idm_codes *codes)
{
  if (columns < 2 || idm_yaml_count(node) != columns)
    return idm_yaml_fail(reader->tree, node,
                         "%s lists %zu code%s for %zu column%s; expected one per column, or one "
                         "for the joined label",
                         of->what, idm_yaml_count(node), idm_yaml_count(node) == 1 ? "" : "s",
                         columns, columns == 1 ? "" : "s");
  idm_status status = idm_codes_create(codes, columns, reader->opt_error);
  for (size_t i = 0; i < columns && status == IDM_OK; i++) {
    idm_error error = {0};
    idm_labels levels;
    status = idm_labels_level(of->labels, columns, i, &levels, &error);
    if (status != IDM_OK) return idm_yaml_fail(reader->tree, node, "%s", error.message);
    const code_target part = {of->what, of->noun, &levels};
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
  const code_target of = {action ? "data.codes.action" : "data.codes.observation",
                          action ? "action" : "observation",
                          action ? &problem->setting->actions : &problem->setting->observations};
  if (idm_yaml_is_list(node)) return read_by_column(reader, &of, node, columns, codes);
  idm_status status = idm_codes_create(codes, 1, reader->opt_error);
  if (status == IDM_OK) status = read_code(reader, &of, node, &codes->code[0]);
  if (status != IDM_OK || !codes->code[0].index || columns == 1) return status;
  /* With an index in every column, the labels must split into parts. */
  idm_error error = {0};
  idm_labels levels;
  status = idm_labels_level(of.labels, columns, 0, &levels, &error);
  idm_labels_destroy(&levels);
  return status == IDM_OK ? IDM_OK : idm_yaml_fail(reader->tree, node, "%s", error.message);
}

/* IDM_INPUT if a text of data.missing is also an action, an observation or a code. */
static idm_status check_missing(const idm_yaml_reader *reader, const idm_yaml_node *node)
{
  const idm_problem *problem = reader->problem;
  const idm_labels *missing = &problem->columns.missing;
  const idm_labels *spaces[] = {&problem->setting->actions, &problem->setting->observations};
  for (size_t i = 0; i < missing->count; i++) {
    const idm_yaml_node *place =
        idm_yaml_is_list(node) ? idm_yaml_item(reader->tree, node, i) : node;
    bool taken = false;
    for (size_t k = 0; k < 2; k++) taken = taken || find_label(spaces[k], missing->name[i]) >= 0;
    for (size_t c = 0; c < IDM_COLUMN_COUNT; c++)
      for (size_t k = 0; k < problem->columns.codes[c].count; k++)
        taken = taken || find_label(&problem->columns.codes[c].code[k].text, missing->name[i]) >= 0;
    if (taken)
      return idm_yaml_fail(reader->tree, place,
                           "data.missing: '%.60s' is an action, an observation or a code as well; "
                           "expected a text that means nothing else",
                           missing->name[i]);
  }
  return IDM_OK;
}

/* --- missed responses ----------------------------------------------------------------------- */

/* Returns true if this text in a cell of the action's column is an action. */
static bool is_action(const idm_problem *problem, const char *text)
{
  const idm_labels *actions = &problem->setting->actions;
  const idm_codes *codes = &problem->columns.codes[IDM_COLUMN_ACTION];
  if (find_label(actions, text) >= 0) return true;
  for (size_t k = 0; k < codes->count; k++) {
    if (find_label(&codes->code[k].text, text) >= 0) return true;
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

/* Action that is applied to the environment when a response is missed. It must not end the
 * trajectory. */
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

/* Read texts alone, or {values: texts, action: name}. */
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

/* === derive ================================================================================= */

/* Derived columns and rules of a log: `derive` and `rules` under `data` of a YAML problem.
 *
 * Contents: texts and numbers; derived columns; rules; writing. */

enum { what_size = 120 };

/* --- texts and numbers ---------------------------------------------------------------------- */

/* Read a label that a table can contain. */
static idm_status read_text(const idm_yaml_reader *reader, const idm_yaml_node *node,
                            const char *what, char **ret_text)
{
  const idm_status status = idm_yaml_check_label(reader, node, what, false);
  if (status != IDM_OK) return status;
  free(*ret_text);
  *ret_text = idm_text_copy(idm_yaml_text(node), node->data.scalar.length);
  return *ret_text ? IDM_OK : idm_fail_memory(reader->opt_error);
}

/* The same for an optional key. */
static idm_status read_optional(const idm_yaml_reader *reader, const idm_yaml_node *map,
                                const char *key, const char *within, char **ret_text)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, map, key);
  char what[what_size];
  if (!node) return IDM_OK;
  idm_print(what, sizeof what, "%.80s.%s", within, key);
  return read_text(reader, node, what, ret_text);
}

/* Read increasing numbers. */
static idm_status read_points(const idm_yaml_reader *reader, const idm_yaml_node *node,
                              const char *what, size_t *count, double **ret_points)
{
  idm_status status = idm_yaml_check_list(reader->tree, node, what, "increasing numbers", *count);
  if (status != IDM_OK) return status;
  *count = idm_yaml_count(node);
  *ret_points = idm_new(*count, sizeof **ret_points);
  if (!*ret_points) return idm_fail_memory(reader->opt_error);
  status = idm_yaml_read_numbers(reader, node, what, *count, NULL, *ret_points);
  for (size_t i = 1; i < *count && status == IDM_OK; i++)
    if ((*ret_points)[i] <= (*ret_points)[i - 1])
      status = idm_yaml_unexpected(reader->tree, idm_yaml_item(reader->tree, node, i), what,
                                   "a number above the one before it");
  return status;
}

/* --- derived columns ------------------------------------------------------------------------ */

static idm_status read_labels_of_breakpoints(const idm_yaml_reader *reader,
                                             const idm_yaml_node *map, const char *within,
                                             idm_derived *derived)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, map, "labels");
  char what[what_size];
  idm_print(what, sizeof what, "%.80s.labels", within);
  if (node && idm_yaml_is_list(node) && idm_yaml_count(node) == derived->cuts + 1)
    return idm_yaml_read_names(reader, node, what, &derived->label);
  return idm_yaml_fail(
      reader->tree, node ? node : map,
      "%s: %zu cut point%s make%s %zu intervals; expected a list of as many labels", what,
      derived->cuts, derived->cuts == 1 ? "" : "s", derived->cuts == 1 ? "s" : "",
      derived->cuts + 1);
}

/* {cut: COLUMN, at: [...] or sd: [...], labels: [...], closed: left, missing: LABEL} */
static idm_status read_breakpoints(const idm_yaml_reader *reader, const idm_yaml_node *map,
                                   const char *within, idm_derived *derived)
{
  const idm_yaml_node *at = idm_yaml_find(reader->tree, map, "at");
  const idm_yaml_node *sd = idm_yaml_find(reader->tree, map, "sd");
  const idm_yaml_node *closed = idm_yaml_find(reader->tree, map, "closed");
  char what[what_size];
  if (!at && !sd)
    return idm_yaml_fail(reader->tree, map,
                         "%s has no cut points; expected at: [...], or sd: [...] for standard "
                         "deviations from the column's mean",
                         within);
  idm_print(what, sizeof what, "%.80s.sd", within);
  idm_status status =
      sd ? read_points(reader, sd, what, &derived->cuts, &derived->deviation) : IDM_OK;
  idm_print(what, sizeof what, "%.80s.at", within);
  if (status == IDM_OK && at) status = read_points(reader, at, what, &derived->cuts, &derived->at);
  if (status == IDM_OK && closed) {
    static const char *const words[] = {"right", "left"};
    size_t word = 0;
    idm_print(what, sizeof what, "%.80s.closed", within);
    status = idm_yaml_choice(reader->tree, closed, what, words, 2, &word);
    derived->closed_left = word == 1;
  }
  return status == IDM_OK ? read_labels_of_breakpoints(reader, map, within, derived) : status;
}

/* {recode: COLUMN, labels: {TEXT: LABEL}, missing: LABEL, else: LABEL} */
static idm_status read_recode(const idm_yaml_reader *reader, const idm_yaml_node *map,
                              const char *within, idm_derived *derived)
{
  const idm_yaml_node *labels = idm_yaml_find(reader->tree, map, "labels");
  char what[what_size];
  idm_status status = read_optional(reader, map, "else", within, &derived->other);
  if (status != IDM_OK) return status;
  if (!labels && derived->other) return IDM_OK;
  idm_print(what, sizeof what, "%.80s.labels", within);
  if (!labels || !idm_yaml_is_mapping(labels) || !idm_yaml_count(labels))
    return idm_yaml_unexpected(reader->tree, labels ? labels : map, labels ? what : within,
                               "labels: {TEXT: LABEL, ...}, else: LABEL, or both");
  const size_t count = idm_yaml_count(labels);
  status = idm_labels_create(&derived->text, count, reader->opt_error);
  if (status == IDM_OK) status = idm_labels_create(&derived->label, count, reader->opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    char *label = NULL;
    char *text = NULL;
    status = read_text(reader, idm_yaml_key(reader->tree, labels, i), what, &text);
    if (status == IDM_OK)
      status = read_text(reader, idm_yaml_item(reader->tree, labels, i), what, &label);
    if (status == IDM_OK)
      status = idm_labels_set(&derived->text, i, text, strlen(text), reader->opt_error);
    if (status == IDM_OK)
      status = idm_labels_set(&derived->label, i, label, strlen(label), reader->opt_error);
    free(text);
    free(label);
  }
  return status;
}

/* Kind of derivation of a map, which must have exactly one of their keys. */
static idm_status find_kind(const idm_yaml_reader *reader, const idm_yaml_node *map,
                            const char *within, idm_derivation *ret_kind)
{
  size_t found = 0;
  for (size_t k = 0; idm_yaml_is_mapping(map) && idm_derivation_name((idm_derivation)k); k++)
    if (idm_yaml_find(reader->tree, map, idm_derivation_name((idm_derivation)k))) {
      *ret_kind = (idm_derivation)k;
      found++;
    }
  if (found == 1) return IDM_OK;
  return idm_yaml_unexpected(reader->tree, map, within,
                             "a mapping with one of the keys cut, recode, product, next");
}

/* IDM_INPUT unless every source is a column of the log or a column derived above, so that there are
 * no cycles. */
static idm_status check_sources(const idm_yaml_reader *reader, const idm_yaml_node *derive,
                                const idm_yaml_node *node, const idm_derived *derived,
                                const char *within)
{
  size_t own = 0;
  while (strcmp(idm_yaml_text(idm_yaml_key(reader->tree, derive, own)), derived->name) != 0) own++;
  for (size_t s = 0; s < derived->source.count; s++)
    for (size_t i = own; i < idm_yaml_count(derive); i++)
      if (strcmp(idm_yaml_text(idm_yaml_key(reader->tree, derive, i)), derived->source.name[s]) ==
          0)
        return idm_yaml_fail(reader->tree, node,
                             "%s is made from '%.60s', which is %s; expected a column of the log, "
                             "or one that is derived above",
                             within, derived->source.name[s],
                             i == own ? "itself" : "derived below it");
  return IDM_OK;
}

static idm_status read_derived(const idm_yaml_reader *reader, const idm_yaml_node *derive, size_t i,
                               idm_derived *derived)
{
  static const char *const keys[][7] = {
      [IDM_DERIVE_INTERVALS] = {"cut", "at", "sd", "labels", "closed", "missing", NULL},
      [IDM_DERIVE_RECODE] = {"recode", "labels", "missing", "else", NULL},
      [IDM_DERIVE_PRODUCT] = {"product", "missing", NULL},
      [IDM_DERIVE_NEXT] = {"next", "missing", NULL}};
  const idm_yaml_node *map = idm_yaml_item(reader->tree, derive, i);
  char within[what_size];
  char what[what_size];
  idm_status status = read_text(reader, idm_yaml_key(reader->tree, derive, i),
                                "data.derive, the name of a column", &derived->name);
  if (status != IDM_OK) return status;
  idm_print(within, sizeof within, "data.derive.%.60s", derived->name);
  status = find_kind(reader, map, within, &derived->kind);
  if (status == IDM_OK)
    status = idm_yaml_check_keys(reader->tree, map, within, keys[derived->kind]);
  if (status != IDM_OK) return status;
  const char *key = idm_derivation_name(derived->kind);
  const idm_yaml_node *source = idm_yaml_find(reader->tree, map, key);
  idm_print(what, sizeof what, "%.100s.%s", within, key);
  if (derived->kind != IDM_DERIVE_PRODUCT && !idm_yaml_is_scalar(source))
    return idm_yaml_unexpected(reader->tree, source, what, "one column");
  if (derived->kind == IDM_DERIVE_PRODUCT &&
      (idm_yaml_count(source) < 2 || idm_yaml_count(source) > IDM_YAML_FACTORS))
    return idm_yaml_unexpected(reader->tree, source, what, "a list of 2 to 16 columns");
  status = idm_yaml_read_names(reader, source, what, &derived->source);
  if (status == IDM_OK) status = check_sources(reader, derive, source, derived, within);
  if (status == IDM_OK) status = read_optional(reader, map, "missing", within, &derived->missing);
  if (status == IDM_OK && derived->kind == IDM_DERIVE_INTERVALS)
    status = read_breakpoints(reader, map, within, derived);
  if (status == IDM_OK && derived->kind == IDM_DERIVE_RECODE)
    status = read_recode(reader, map, within, derived);
  return status;
}

static idm_status read_derive(const idm_yaml_reader *reader, const idm_yaml_node *derive)
{
  idm_columns *columns = &reader->problem->columns;
  if (!idm_yaml_is_mapping(derive) || !idm_yaml_count(derive))
    return idm_yaml_unexpected(reader->tree, derive, "data.derive",
                               "a mapping of new columns, as {old: {cut: AGE, at: [75], labels: "
                               "[no, yes]}}");
  columns->derived = idm_new(idm_yaml_count(derive), sizeof *columns->derived);
  if (!columns->derived) return idm_fail_memory(reader->opt_error);
  columns->derived_count = idm_yaml_count(derive);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < columns->derived_count && status == IDM_OK; i++)
    status = read_derived(reader, derive, i, &columns->derived[i]);
  return status;
}

/* --- rules ---------------------------------------------------------------------------------- */

static idm_status read_truncate(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                idm_rule *rule)
{
  static const char *const keys[] = {"column", "every", NULL};
  static const char within[] = "data.rules.truncate";
  idm_status status = idm_yaml_check_keys(reader->tree, node, within, keys);
  if (status != IDM_OK) return status;
  const idm_yaml_node *every = idm_yaml_find(reader->tree, node, "every");
  status = read_optional(reader, node, "column", within, &rule->column);
  if (status == IDM_OK && (!rule->column || !every))
    return idm_yaml_unexpected(reader->tree, node, within, "{column: COLUMN, every: STEP}");
  if (status == IDM_OK)
    status = idm_yaml_number(reader->tree, every, "data.rules.truncate.every", false, &rule->every);
  if (status == IDM_OK && rule->every <= 0)
    status =
        idm_yaml_unexpected(reader->tree, every, "data.rules.truncate.every", "a step above 0");
  return status;
}

static idm_status read_ends(const idm_yaml_reader *reader, const idm_yaml_node *node,
                            idm_rule *rule)
{
  static const char *const keys[] = {"column", "in", NULL};
  static const char within[] = "data.rules.ends";
  idm_status status = idm_yaml_check_keys(reader->tree, node, within, keys);
  if (status != IDM_OK) return status;
  const idm_yaml_node *in = idm_yaml_find(reader->tree, node, "in");
  status = read_optional(reader, node, "column", within, &rule->column);
  if (status == IDM_OK && (!rule->column || !in))
    return idm_yaml_unexpected(reader->tree, node, within, "{column: COLUMN, in: [LABEL, ...]}");
  return status == IDM_OK ? idm_yaml_read_names(reader, in, "data.rules.ends.in", &rule->in)
                          : status;
}

static idm_status read_predicate(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                 idm_rule *rule)
{
  char what[what_size];
  idm_error error = {0};
  idm_print(what, sizeof what, "data.rules.%s", idm_rule_kind_name(rule->kind));
  if (!idm_yaml_is_scalar(node))
    return idm_yaml_unexpected(reader->tree, node, what, "a predicate, as \"AGE>=55\"");
  idm_status status = idm_yaml_check_label(reader, node, what, false);
  if (status != IDM_OK) return status;
  status = idm_predicate_parse(idm_yaml_text(node), NULL, &rule->predicate, &error);
  if (status == IDM_MEMORY) return idm_fail_memory(reader->opt_error);
  return status == IDM_OK ? IDM_OK
                          : idm_yaml_fail(reader->tree, node, "%s: %s", what, error.message);
}

static idm_status read_rule(const idm_yaml_reader *reader, const idm_yaml_node *node,
                            idm_rule *rule)
{
  switch (rule->kind) {
  case IDM_RULE_KEEP:
  case IDM_RULE_DROP:
    return read_predicate(reader, node, rule);
  case IDM_RULE_DUPLICATES: {
    static const char *const words[] = {"first", "last"};
    size_t word = 0;
    const idm_status status =
        idm_yaml_choice(reader->tree, node, "data.rules.duplicates", words, 2, &word);
    rule->last = word == 1;
    return status;
  }
  case IDM_RULE_TRUNCATE:
    return read_truncate(reader, node, rule);
  case IDM_RULE_ENDS:
    return read_ends(reader, node, rule);
  case IDM_RULE_MIN_ROWS: {
    long least = 0;
    const idm_status status = idm_yaml_integer(reader->tree, node, "data.rules.least", 1, &least);
    rule->least = (size_t)least;
    return status;
  }
  default:
    return read_text(reader, node, "data.rules.require", &rule->column);
  }
}

/* A rule is a mapping of one pair. */
static idm_status find_rule(const idm_yaml_reader *reader, const idm_yaml_node *node,
                            idm_rule_kind *ret_kind)
{
  const char *names[16] = {NULL};
  size_t count = 0;
  while (idm_rule_kind_name((idm_rule_kind)count)) {
    names[count] = idm_rule_kind_name((idm_rule_kind)count);
    count++;
  }
  if (!idm_yaml_is_mapping(node) || idm_yaml_count(node) != 1)
    return idm_yaml_unexpected(reader->tree, node, "an entry of data.rules",
                               "one rule, as {require: COLUMN}");
  size_t kind = 0;
  const idm_status status = idm_yaml_choice(reader->tree, idm_yaml_key(reader->tree, node, 0),
                                            "the rule", names, count, &kind);
  *ret_kind = (idm_rule_kind)kind;
  return status;
}

static idm_status read_rules(const idm_yaml_reader *reader, const idm_yaml_node *rules)
{
  idm_columns *columns = &reader->problem->columns;
  idm_status status = idm_yaml_check_list(reader->tree, rules, "data.rules", "rules", 0);
  if (status != IDM_OK) return status;
  columns->rule = idm_new(idm_yaml_count(rules), sizeof *columns->rule);
  if (!columns->rule) return idm_fail_memory(reader->opt_error);
  columns->rules = idm_yaml_count(rules);
  for (size_t i = 0; i < columns->rules && status == IDM_OK; i++) {
    const idm_yaml_node *node = idm_yaml_item(reader->tree, rules, i);
    idm_rule *rule = &columns->rule[i];
    status = find_rule(reader, node, &rule->kind);
    if (status == IDM_OK) status = read_rule(reader, idm_yaml_item(reader->tree, node, 0), rule);
    if (status == IDM_OK && i && idm_rule_stage(rule->kind) < idm_rule_stage(rule[-1].kind))
      status = idm_yaml_fail(reader->tree, node,
                             "'%s' follows '%s'; expected rules on rows (require, keep, drop) "
                             "first, then duplicates, then rules on whole trajectories",
                             idm_rule_kind_name(rule->kind), idm_rule_kind_name(rule[-1].kind));
  }
  return status;
}

idm_status idm_yaml_read_coding(const idm_yaml_reader *reader, const idm_yaml_node *data)
{
  const idm_yaml_node *derive = idm_yaml_find(reader->tree, data, "derive");
  const idm_yaml_node *rules = idm_yaml_find(reader->tree, data, "rules");
  const idm_status status = derive ? read_derive(reader, derive) : IDM_OK;
  return status == IDM_OK && rules ? read_rules(reader, rules) : status;
}

/* --- writing -------------------------------------------------------------------------------- */

static void put_derived(idm_emitter *out, const idm_derived *derived)
{
  idm_emit_mapping(out, derived->name, IDM_EMIT_FLOW);
  const char *key = idm_derivation_name(derived->kind);
  if (derived->kind == IDM_DERIVE_PRODUCT)
    idm_emit_texts(out, key, (const char *const *)derived->source.name, derived->source.count);
  else
    idm_emit_text(out, key, derived->source.name[0]);
  if (derived->deviation) idm_emit_numbers(out, "sd", derived->deviation, derived->cuts);
  if (derived->at) idm_emit_numbers(out, "at", derived->at, derived->cuts);
  if (derived->closed_left) idm_emit_word(out, "closed", "left");
  if (derived->kind == IDM_DERIVE_INTERVALS)
    idm_emit_texts(out, "labels", (const char *const *)derived->label.name, derived->label.count);
  if (derived->text.count) {
    idm_emit_mapping(out, "labels", IDM_EMIT_FLOW);
    for (size_t i = 0; i < derived->text.count; i++)
      idm_emit_text(out, derived->text.name[i], derived->label.name[i]);
    idm_emit_mapping_end(out);
  }
  if (derived->missing) idm_emit_text(out, "missing", derived->missing);
  if (derived->other) idm_emit_text(out, "else", derived->other);
  idm_emit_mapping_end(out);
}

static void put_rule(idm_emitter *out, const idm_rule *rule)
{
  const char *key = idm_rule_kind_name(rule->kind);
  char text[2 * IDM_YAML_LABEL + 8];
  idm_emit_mapping(out, NULL, IDM_EMIT_FLOW);
  switch (rule->kind) {
  case IDM_RULE_KEEP:
  case IDM_RULE_DROP:
    idm_emit_text(out, key, idm_predicate_text(&rule->predicate, text, sizeof text));
    break;
  case IDM_RULE_DUPLICATES:
    idm_emit_word(out, key, rule->last ? "last" : "first");
    break;
  case IDM_RULE_TRUNCATE:
    idm_emit_mapping(out, key, IDM_EMIT_FLOW);
    idm_emit_text(out, "column", rule->column);
    idm_emit_number(out, "every", rule->every);
    idm_emit_mapping_end(out);
    break;
  case IDM_RULE_ENDS:
    idm_emit_mapping(out, key, IDM_EMIT_FLOW);
    idm_emit_text(out, "column", rule->column);
    idm_emit_texts(out, "in", (const char *const *)rule->in.name, rule->in.count);
    idm_emit_mapping_end(out);
    break;
  case IDM_RULE_MIN_ROWS:
    idm_emit_integer(out, key, rule->least);
    break;
  default:
    idm_emit_text(out, key, rule->column);
  }
  idm_emit_mapping_end(out);
}

void idm_yaml_put_coding(idm_emitter *out, const idm_columns *columns)
{
  if (columns->derived_count) {
    idm_emit_mapping(out, "derive", IDM_EMIT_BLOCK);
    for (size_t i = 0; i < columns->derived_count; i++) put_derived(out, &columns->derived[i]);
    idm_emit_mapping_end(out);
  }
  if (!columns->rules) return;
  idm_emit_list(out, "rules", IDM_EMIT_BLOCK);
  for (size_t i = 0; i < columns->rules; i++) put_rule(out, &columns->rule[i]);
  idm_emit_list_end(out);
}
