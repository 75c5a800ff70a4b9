/* Reads and writes ties: entries of transitions or emissions that share one free number, given by
 * patterns of letters.
 *
 * Contents: letters · one row · one name · all names · writing */
#include "io/problem/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "setting/model.h"

static const char rest[] = ".";
static const char expected_pattern[] =
    "rows of letters such as [[a, b], [b, a]], or a mapping of actions to them";

/* --- letters -------------------------------------------------------------------------------- */

/* State of the reading of one name. */
typedef struct tie_reader {
  idm_yaml_reader *reader;
  size_t id;
  size_t columns;
  int32_t *coordinate; /* [model][action][state][column] */
  char what[200];
  int32_t at;                      /* index of the coordinate */
  const char *letter[2];           /* in the order of the file; NULL: none yet */
  double value[2];                 /* value of the entries with the letter; NaN before the first */
  size_t count[2];                 /* number per row */
  const idm_yaml_node **by_action; /* [action]: patterns */
} tie_reader;

/* Letter of a cell: 0 or 1; -1 if it is not tied. */
static int letter_of(const tie_reader *t, const idm_yaml_node *cell)
{
  for (int i = 0; i < 2; i++)
    if (t->letter[i] && strcmp(t->letter[i], idm_yaml_text(cell)) == 0) return i;
  return -1;
}

/* Letter of the free number: the second of two, since the first takes the remaining probability. */
static int number_of(const tie_reader *t)
{
  return t->letter[1] ? 1 : 0;
}

static idm_status record_letter(tie_reader *t, const idm_yaml_node *cell)
{
  const idm_yaml_tree *tree = t->reader->tree;
  double number;
  if (!idm_yaml_is_scalar(cell) || !idm_yaml_text(cell)[0] ||
      idm_yaml_parse_number(idm_yaml_text(cell), &number) != IDM_YAML_TEXT)
    return idm_yaml_unexpected(tree, cell, t->what, "a letter, or . for what is not tied");
  if (strcmp(idm_yaml_text(cell), rest) == 0 || letter_of(t, cell) >= 0) return IDM_OK;
  if (t->letter[1])
    return idm_yaml_unexpected(tree, cell, t->what,
                               "one letter, or two of which the first takes the remaining "
                               "probability; use another name for a further number");
  t->letter[t->letter[0] ? 1 : 0] = idm_yaml_text(cell);
  return IDM_OK;
}

/* Record the letters of one action's pattern, and check its shape. */
static idm_status record_letters(tie_reader *t, const idm_yaml_node *pattern)
{
  const idm_yaml_reader *reader = t->reader;
  idm_status status = idm_yaml_check_list(reader->tree, pattern, t->what, "rows, one per state",
                                          reader->sizes.states);
  for (size_t s = 0; s < reader->sizes.states && status == IDM_OK; s++) {
    const idm_yaml_node *row = idm_yaml_item(reader->tree, pattern, s);
    status = idm_yaml_check_list(reader->tree, row, t->what, "letters, one per column", t->columns);
    for (size_t i = 0; i < t->columns && status == IDM_OK; i++)
      status = record_letter(t, idm_yaml_item(reader->tree, row, i));
  }
  return status;
}

/* --- one row -------------------------------------------------------------------------------- */

/* IDM_INPUT unless the entries of a letter are positive and equal in every row and model. */
static idm_status check_value(tie_reader *t, const idm_yaml_node *row, int letter, double value)
{
  static const double same = 1e-9;
  if (isnan(t->value[letter])) t->value[letter] = value;
  if (!(value > 0))
    return idm_yaml_fail(t->reader->tree, row,
                         "%s has the letter '%.40s' at a probability of 0 of the agent's model, "
                         "which stays 0; expected . there",
                         t->what, t->letter[letter]);
  if (fabs(value - t->value[letter]) <= same) return IDM_OK;
  return idm_yaml_fail(t->reader->tree, row,
                       "%s has the letter '%.40s' for %.9g and for %.9g; expected numbers of the "
                       "agent's models that are equal, since they move as one",
                       t->what, t->letter[letter], t->value[letter], value);
}

/* Tie the entries of a row of one model: values [column], and their coordinates [column]. */
static idm_status tie_row(tie_reader *t, const idm_yaml_node *row, const double *values,
                          int32_t *coordinate)
{
  size_t count[2] = {0};
  double remaining = 0;
  double rest_mass = 0;
  for (size_t i = 0; i < t->columns; i++) {
    const int letter = letter_of(t, idm_yaml_item(t->reader->tree, row, i));
    if (letter != number_of(t)) remaining += values[i];
    if (letter < 0) rest_mass += values[i];
    if (letter < 0) continue;
    count[letter]++;
    const idm_status status = check_value(t, row, letter, values[i]);
    if (status != IDM_OK) return status;
    if (letter == number_of(t)) coordinate[i] = t->at;
  }
  if (!count[0] && !count[1]) return IDM_OK;
  if (!(remaining > 0) && count[number_of(t)])
    return idm_yaml_fail(t->reader->tree, row,
                         "%s leaves no entry in a row that can absorb a change of '%.40s'; "
                         "expected . or another letter there",
                         t->what, t->letter[number_of(t)]);
  if (!t->letter[1]) return IDM_OK;
  if (!t->count[0] && !t->count[1]) memcpy(t->count, count, sizeof count);
  if (rest_mass > 0 || !count[0] || !count[1] || memcmp(t->count, count, sizeof count) != 0)
    return idm_yaml_fail(t->reader->tree, row,
                         "%s cannot be expressed by one number: all rows with '%.40s' and '%.40s' "
                         "must have the same count of each, and no other entry that is not 0",
                         t->what, t->letter[0], t->letter[1]);
  return IDM_OK;
}

/* --- one name ------------------------------------------------------------------------------- */

/* Apply the pattern of one action in every model. */
static idm_status tie_action(tie_reader *t, size_t u, const idm_yaml_node *pattern)
{
  const idm_yaml_reader *reader = t->reader;
  const idm_theta *theta = reader->problem->theta;
  idm_status status = IDM_OK;
  for (size_t m = 0; m < theta->models; m++)
    for (size_t s = 0; s < reader->sizes.states && status == IDM_OK; s++) {
      const size_t at = ((m * reader->sizes.actions + u) * reader->sizes.states + s) * t->columns;
      const idm_yaml_node *row = idm_yaml_item(reader->tree, pattern, s);
      bool taken = false;
      bool lettered = false;
      for (size_t i = 0; i < t->columns; i++) {
        taken = taken || t->coordinate[at + i] >= 0;
        lettered = lettered || letter_of(t, idm_yaml_item(reader->tree, row, i)) >= 0;
      }
      if (taken && lettered)
        return idm_yaml_fail(reader->tree, row,
                             "%s ties a row that another name ties; expected one name per row",
                             t->what);
      if (!taken) status = tie_row(t, row, theta->block[t->id].value + at, t->coordinate + at);
    }
  return status;
}

static idm_status tie_name(tie_reader *t, const idm_yaml_node *node)
{
  const idm_yaml_reader *reader = t->reader;
  const bool *terminal = reader->problem->setting->terminal;
  idm_status status = IDM_OK;
  for (int i = 0; i < 2; i++) {
    t->letter[i] = NULL;
    t->value[i] = NAN;
    t->count[i] = 0;
  }
  if (idm_yaml_is_scalar(node))
    return idm_yaml_unexpected(reader->tree, node, t->what, expected_pattern);
  if (idm_yaml_is_mapping(node)) status = idm_yaml_by_action(reader, node, t->what, t->by_action);
  for (size_t u = 0; idm_yaml_is_list(node) && u < reader->sizes.actions; u++)
    t->by_action[u] = node;
  for (size_t u = 0; u < reader->sizes.actions && status == IDM_OK; u++)
    if (t->by_action[u]) status = record_letters(t, t->by_action[u]);
  /* The matrices of a terminal action have no effect. */
  for (size_t u = 0; u < reader->sizes.actions && status == IDM_OK; u++)
    if (t->by_action[u] && !terminal[u]) status = tie_action(t, u, t->by_action[u]);
  if (status == IDM_OK && isnan(t->value[number_of(t)]))
    status = idm_yaml_fail(reader->tree, node,
                           "%s ties no entry of an action that is not terminal; expected a letter",
                           t->what);
  return status;
}

/* --- all names ------------------------------------------------------------------------------- */

static bool is_field(const idm_yaml_node *key)
{
  return strcmp(idm_yaml_text(key), "scale") == 0 || strcmp(idm_yaml_text(key), "prior") == 0;
}

static idm_status check_name(const tie_reader *t, const idm_yaml_node *key)
{
  const char *name = idm_yaml_text(key);
  if (name[0] && !strpbrk(name, "/[]\n")) return IDM_OK;
  return idm_yaml_unexpected(t->reader->tree, key, "a name of tied entries",
                             "one without '/', '[' and ']'");
}

static idm_status tie_names(tie_reader *t, const idm_yaml_node *node, idm_labels *names)
{
  const idm_yaml_reader *reader = t->reader;
  const char *block = reader->problem->theta->block[t->id].info->name;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < idm_yaml_count(node) && status == IDM_OK; i++) {
    const idm_yaml_node *key = idm_yaml_key(reader->tree, node, i);
    if (is_field(key)) continue;
    const char *name = idm_yaml_text(key);
    snprintf(t->what, sizeof t->what, "free.%s.%.100s", block, name);
    status = check_name(t, key);
    if (status == IDM_OK) status = tie_name(t, idm_yaml_item(reader->tree, node, i));
    if (status == IDM_OK)
      status = idm_labels_set(names, (size_t)t->at, name, strlen(name), reader->opt_error);
    t->at++;
  }
  return status;
}

idm_status idm_yaml_read_ties(idm_yaml_reader *reader, const idm_yaml_node *opt_node, size_t id)
{
  idm_theta *theta = reader->problem->theta;
  idm_block *block = &theta->block[id];
  const idm_setting *setting = reader->problem->setting;
  size_t names = 0;
  for (size_t i = 0; opt_node && idm_yaml_is_mapping(opt_node) && i < idm_yaml_count(opt_node); i++)
    names += !is_field(idm_yaml_key(reader->tree, opt_node, i));
  if (setting->fully_observed && id == IDM_EMISSION)
    return idm_yaml_fail(reader->tree, opt_node,
                         "observations are the states: emission is identity, and nothing of it can "
                         "be free");
  if (!names) return IDM_OK; /* every row is free separately */
  tie_reader t = {.reader = reader,
                  .id = id,
                  .columns = idm_block_width(theta->block[id].info, theta->sizes, theta->models)};
  t.coordinate = idm_new(block->size, sizeof *t.coordinate);
  t.by_action = idm_new(reader->sizes.actions, sizeof *t.by_action);
  idm_status status = t.coordinate && t.by_action ? IDM_OK : idm_fail_memory(reader->opt_error);
  for (size_t i = 0; status == IDM_OK && i < block->size; i++) t.coordinate[i] = -1;
  if (status == IDM_OK)
    status = idm_labels_create(&block->coordinate_name, names, reader->opt_error);
  if (status == IDM_OK) status = tie_names(&t, opt_node, &block->coordinate_name);
  if (status == IDM_OK) {
    status = idm_tie_set_shares(theta, id, t.coordinate, reader->opt_error);
    t.coordinate = NULL;
  }
  free(t.coordinate);
  free(t.by_action);
  return status;
}

/* --- writing -------------------------------------------------------------------------------- */

/* Write one action's pattern of a coordinate; nothing if it has none. */
static void put_pattern(idm_emitter *out, const idm_setting *setting, const int32_t *coordinate,
                        size_t columns, size_t u, int32_t at)
{
  const size_t states = setting->states.count;
  const int32_t *matrix = coordinate + u * states * columns;
  bool any = false;
  for (size_t i = 0; i < states * columns; i++) any = any || matrix[i] == at;
  if (!any) return;
  idm_emit_list(out, setting->actions.name[u], IDM_EMIT_FLOW);
  for (size_t s = 0; s < states; s++) {
    idm_emit_list(out, NULL, IDM_EMIT_FLOW);
    for (size_t i = 0; i < columns; i++)
      idm_emit_word(out, NULL, matrix[s * columns + i] == at ? "x" : rest);
    idm_emit_list_end(out);
  }
  idm_emit_list_end(out);
}

void idm_yaml_put_ties(idm_emitter *out, const idm_setting *setting, const idm_block *block)
{
  const size_t columns = block->info->axis[3] == IDM_AXIS_OBSERVATION ? setting->observations.count
                                                                      : setting->states.count;
  for (size_t c = 0; c < block->coordinate_name.count; c++) {
    idm_emit_mapping(out, block->coordinate_name.name[c], IDM_EMIT_FLOW);
    for (size_t u = 0; u < setting->actions.count; u++)
      put_pattern(out, setting, block->coordinate, columns, u, (int32_t)c);
    idm_emit_mapping_end(out);
  }
}
