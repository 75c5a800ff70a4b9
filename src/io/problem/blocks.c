/* Blocks of theta in a YAML problem, each in the form that its descriptor gives. */
#include "io/problem/blocks.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"
#include "idm/theta.h"
#include "io/problem/fields.h"
#include "io/problem/spaces.h"

static const double zero = 0;

/* --- numbers -------------------------------------------------------------------------------- */

static const char *expected_number(idm_support support)
{
  return support == IDM_POSITIVE ? "a finite number above 0" : "a finite number of at least 0";
}

static idm_status check_number(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const idm_block_info *info, double number)
{
  if (info->support == IDM_NOT_NEGATIVE && info->infinite && number < 0)
    return idm_yaml_unexpected(reader->tree, node, info->name, "a number of at least 0, or inf");
  if ((info->support == IDM_NOT_NEGATIVE && number < 0) ||
      (info->support == IDM_POSITIVE && !(number > 0)))
    return idm_yaml_unexpected(reader->tree, node, info->name, expected_number(info->support));
  if (info->support == IDM_FRACTION && !(number >= 0 && number <= 1))
    return idm_yaml_unexpected(reader->tree, node, info->name, "a number in [0, 1]");
  return IDM_OK;
}

static idm_status read_number(const idm_yaml_reader *reader, const idm_yaml_node *node,
                              const idm_block_info *info, double *value)
{
  double number = 0;
  idm_status status = idm_yaml_number(reader->tree, node, info->name, info->infinite, &number);
  if (status == IDM_OK) status = check_number(reader, node, info, number);
  if (status == IDM_OK) *value = number;
  return status;
}

static idm_status read_list(const idm_yaml_reader *reader, const idm_yaml_node *node,
                            const idm_block_info *info, size_t count, double *value)
{
  idm_status status = idm_yaml_read_numbers(reader, node, info->name, count, NULL, value);
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    status = check_number(reader, idm_yaml_item(reader->tree, node, i), info, value[i]);
  return status;
}

/* Where states are observed: a weight a state, in their order or by name. */
static idm_status read_state_weights(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                     const char *name, size_t states, double *value)
{
  const idm_yaml_node **entry = idm_new(states, sizeof *entry);
  if (!entry) return idm_fail_memory(reader->opt_error);
  const bool by_name = idm_yaml_is_mapping(node);
  idm_status status = by_name ? idm_yaml_by_state(reader, node, name, entry)
                              : idm_yaml_read_numbers(reader, node, name, states, NULL, value);
  for (size_t s = 0; s < states && status == IDM_OK; s++) {
    const idm_yaml_node *item = by_name ? entry[s] : idm_yaml_item(reader->tree, node, s);
    if (by_name) status = idm_yaml_number(reader->tree, item, name, false, &value[s]);
    if (status == IDM_OK && !(value[s] > 0))
      status = idm_yaml_unexpected(reader->tree, item, name, expected_number(IDM_POSITIVE));
  }
  free(entry);
  if (status == IDM_OK && !idm_yaml_scale_weights(value, states))
    return idm_yaml_fail(reader->tree, node, "%s sums to infinity; expected a finite sum", name);
  return status;
}

static idm_status read_dirichlet(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                 const idm_block_info *info, size_t count, double *value)
{
  static const char *const keys[] = {"dirichlet", NULL};
  if (reader->problem->setting->fully_observed)
    return read_state_weights(reader, node, info->name, count, value);
  idm_status status = idm_yaml_check_keys(reader->tree, node, info->name, keys);
  if (status != IDM_OK) return status;
  const idm_yaml_node *list = idm_yaml_find(reader->tree, node, keys[0]);
  if (!list) return idm_yaml_unexpected(reader->tree, node, info->name, "the key 'dirichlet'");
  char what[80];
  idm_print(what, sizeof what, "%s.%s", info->name, keys[0]);
  status = idm_yaml_read_numbers(reader, list, what, count, NULL, value);
  for (size_t s = 0; s < count && status == IDM_OK; s++)
    if (!(value[s] > 0))
      status = idm_yaml_unexpected(reader->tree, idm_yaml_item(reader->tree, list, s), what,
                                   expected_number(info->support));
  return status;
}

/* --- by action ------------------------------------------------------------------------------ */

/* Weights by action from a mapping; every action must be covered. */
static idm_status read_weight_map(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                  const char *name, const idm_yaml_node *const *by_action,
                                  double *weights)
{
  idm_status status = IDM_OK;
  for (size_t u = 0; u < reader->sizes.actions && status == IDM_OK; u++) {
    if (!by_action[u])
      return idm_yaml_fail(reader->tree, node,
                           "%s lacks the action '%.60s'; expected a weight for it, or \"*\"", name,
                           reader->problem->setting->actions.name[u]);
    status = idm_yaml_number(reader->tree, by_action[u], name, false, &weights[u]);
    if (status == IDM_OK && weights[u] < 0)
      status =
          idm_yaml_unexpected(reader->tree, by_action[u], name, expected_number(IDM_NOT_NEGATIVE));
  }
  return status;
}

static idm_status read_weights(const idm_yaml_reader *reader, const idm_yaml_node *node,
                               const char *name, const idm_yaml_node *const *by_action,
                               double *weights)
{
  const size_t actions = reader->sizes.actions;
  const idm_status status =
      idm_yaml_is_mapping(node)
          ? read_weight_map(reader, node, name, by_action, weights)
          : idm_yaml_read_numbers(reader, node, name, actions, &zero, weights);
  if (status == IDM_OK && !idm_yaml_scale_weights(weights, actions))
    return idm_yaml_fail(reader->tree, node, "%s sums to 0 or to infinity; expected a positive sum",
                         name);
  return status;
}

/* One number a state, or a constant before them. */
static idm_status read_row(const idm_yaml_reader *reader, const idm_yaml_node *node,
                           const char *name, size_t action, double *row)
{
  const size_t states = reader->sizes.states;
  const bool constant = idm_yaml_count(node) == states + 1;
  char what[120];
  idm_print(what, sizeof what, "%s.%.60s", name, reader->problem->setting->actions.name[action]);
  if (!idm_yaml_is_list(node) || (!constant && idm_yaml_count(node) != states)) {
    char expected[100];
    idm_print(expected, sizeof expected, "a list of %zu numbers, or of %zu with a constant first",
              states, states + 1);
    return idm_yaml_unexpected(reader->tree, node, what, expected);
  }
  return idm_yaml_read_numbers(reader, node, what, states + constant, NULL, row + !constant);
}

/* One weight a state. */
static idm_status read_belief(const idm_yaml_reader *reader, const idm_yaml_node *node,
                              const char *name, size_t action, double *row)
{
  const size_t states = reader->sizes.states;
  char what[120];
  idm_print(what, sizeof what, "%s.%.60s", name, reader->problem->setting->actions.name[action]);
  const idm_status status = idm_yaml_read_numbers(reader, node, what, states, &zero, row);
  if (status == IDM_OK && !idm_yaml_scale_weights(row, states))
    return idm_yaml_fail(reader->tree, node, "%s sums to 0 or to infinity; expected a positive sum",
                         what);
  return status;
}

static idm_status read_rows(const idm_yaml_reader *reader, const idm_block_info *info,
                            const idm_yaml_node *const *by_action, double *value)
{
  const bool beliefs = info->support == IDM_DISTRIBUTION;
  const size_t width = idm_block_width(info, reader->sizes, reader->problem->theta->models);
  idm_status status = IDM_OK;
  for (size_t u = 0; u < reader->sizes.actions && status == IDM_OK; u++)
    if (by_action[u])
      status = (beliefs ? read_belief : read_row)(reader, by_action[u], info->name, u,
                                                  value + u * width);
  return status;
}

/* Forms that name actions. */
static idm_status read_by_action(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                 const idm_block_info *info, double *value)
{
  const idm_yaml_node **by_action = idm_new(reader->sizes.actions, sizeof *by_action);
  if (!by_action) return idm_fail_memory(reader->opt_error);
  const bool rows = info->form == IDM_FORM_ROWS;
  idm_status status = IDM_OK;
  if (rows || idm_yaml_is_mapping(node))
    status = idm_yaml_by_action(reader, node, info->name, by_action);
  if (status == IDM_OK)
    status = rows ? read_rows(reader, info, by_action, value)
                  : read_weights(reader, node, info->name, by_action, value);
  free(by_action);
  return status;
}

/* --- any of them ---------------------------------------------------------------------------- */

idm_status idm_yaml_read_block(const idm_yaml_reader *reader, size_t id, const idm_yaml_node *node)
{
  idm_theta *theta = reader->problem->theta;
  const idm_block_info *info = theta->block[id].info;
  const size_t chosen = idm_block_size(info, reader->sizes, theta->models);
  const size_t size = chosen ? chosen : theta->block[id].size; /* as its planner says */
  if (info->form == IDM_FORM_FIELDS) return idm_yaml_read_fields(reader, id, node);
  if (theta->block[id].size != size) {
    const idm_status status = idm_theta_resize(theta, id, size, 1, reader->opt_error);
    if (status != IDM_OK) return status;
  }
  double *value = theta->block[id].value;
  switch (info->form) {
  case IDM_FORM_NUMBER:
    return read_number(reader, node, info, value);
  case IDM_FORM_NUMBERS:
    return read_list(reader, node, info, size, value);
  case IDM_FORM_DIRICHLET:
    return read_dirichlet(reader, node, info, size, value);
  default:
    return read_by_action(reader, node, info, value);
  }
}

bool idm_yaml_is_block_key(const idm_block_info *info)
{
  return !info->of_agent && info->form != IDM_FORM_MODELS && info->form != IDM_FORM_UTILITY;
}

idm_status idm_yaml_read_blocks(idm_yaml_reader *reader)
{
  const idm_theta *theta = reader->problem->theta;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < theta->blocks && status == IDM_OK; i++) {
    const idm_block_info *info = theta->block[i].info;
    if (!idm_yaml_is_block_key(info) || i == IDM_DISCOUNT) continue; /* that one is the episode's */
    const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, info->name);
    if (node) status = idm_yaml_read_block(reader, i, node);
  }
  return status;
}
