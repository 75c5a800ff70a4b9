/* Reads the agent and the free blocks of a YAML problem.
 *
 * Contents: blocks · free · agent */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/key.h"
#include "base/memory.h"
#include "base/text.h"
#include "idm/extension/planner.h"
#include "idm/extension/theta.h"
#include "io/problem/reader.h"
#include "io/yaml/yaml.h"
#include "plan/plan.h"
#include "setting/model.h"

/* === blocks ================================================================================= */

/* Blocks of theta in a YAML problem, each in the form that its descriptor specifies. */

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

/* With observed states: one weight per state, in their order or by name. */
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

/* Read weights by action from a mapping, which must cover every action. */
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

/* Read one number per state, optionally with a constant before them. */
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

/* Read one weight per state. */
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

/* Read a form that names actions. */
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

/* --- any form -------------------------------------------------------------------------------- */

static idm_status idm_yaml_read_block(const idm_yaml_reader *reader, size_t id,
                                      const idm_yaml_node *node)
{
  idm_theta *theta = reader->problem->theta;
  const idm_block_info *info = theta->block[id].info;
  const size_t chosen = idm_block_size(info, reader->sizes, theta->models);
  const size_t size =
      chosen ? chosen : theta->block[id].size; /* the size that the planner has set */
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
    if (!idm_yaml_is_block_key(info) || i == IDM_DISCOUNT) continue; /* read with the episode */
    const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, info->name);
    if (node) status = idm_yaml_read_block(reader, i, node);
  }
  return status;
}

/* === free =================================================================================== */

/* Free blocks of a YAML problem: scale, prior, and default priors. */

/* Range that scales default priors; 1 if utilities come from columns, which are known only with the
 * log. */
static double prior_range(const idm_problem *problem, size_t id)
{
  return problem->utility_sources ? 1 : idm_problem_prior_range(problem, id);
}

/* --- priors from the file ------------------------------------------------------------------- */

/* Returns true for arguments that must be positive: sds, rates, shapes and concentrations. */
static bool must_be_positive(idm_prior_kind kind, size_t i)
{
  if (kind == IDM_PRIOR_NORMAL || kind == IDM_PRIOR_LOGNORMAL) return i == 1;
  return kind != IDM_PRIOR_UNIFORM;
}

static idm_status read_arguments(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                 const char *what, idm_block *block, idm_prior_kind kind)
{
  const int arguments = idm_prior_arguments(kind);
  const idm_theta *theta = reader->problem->theta;
  const size_t elements =
      block->info->tied ? idm_block_width(block->info, theta->sizes, theta->models) : block->size;
  const size_t count = arguments < 0 ? elements : (size_t)arguments;
  double *argument = idm_new(count, sizeof *argument);
  if (!argument) return idm_fail_memory(reader->opt_error);
  /* The block owns the arguments from here on, after a failure too. */
  block->prior = (idm_prior){kind, count, argument};
  const bool single = count == 1 && idm_yaml_is_scalar(node);
  const idm_status status = single
                                ? idm_yaml_number(reader->tree, node, what, false, argument)
                                : idm_yaml_read_numbers(reader, node, what, count, NULL, argument);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < count; i++)
    if (must_be_positive(kind, i) && !(argument[i] > 0))
      return idm_yaml_unexpected(reader->tree, single ? node : idm_yaml_item(reader->tree, node, i),
                                 what, "a positive number here");
  if (kind == IDM_PRIOR_UNIFORM && !(argument[0] < argument[1]))
    return idm_yaml_fail(reader->tree, node, "%s is [%g, %g]; expected the lower bound first", what,
                         argument[0], argument[1]);
  return IDM_OK;
}

/* Read `flat`, or one prior with its arguments. */
static idm_status read_prior(const idm_yaml_reader *reader, const idm_yaml_node *node,
                             idm_block *block)
{
#define PRIOR_NAME(id, name, arguments) name,
  static const char *const names[] = {IDM_PRIOR_LIST(PRIOR_NAME)};
#undef PRIOR_NAME
  const size_t count = sizeof names / sizeof names[0];
  char what[100];
  snprintf(what, sizeof what, "free.%s.prior", block->info->name);
  const idm_yaml_node *key = node;
  if (idm_yaml_is_mapping(node) && idm_yaml_count(node) == 1)
    key = idm_yaml_key(reader->tree, node, 0);
  if (!idm_yaml_is_scalar(key))
    return idm_yaml_unexpected(reader->tree, node, what,
                               "flat, or one prior such as {normal: [0, 2]}");
  const int kind = idm_prior_find(idm_yaml_text(key));
  if (kind < 0) return idm_yaml_unknown(reader->tree, key, what, names, count);
  if (key == node && kind != IDM_PRIOR_FLAT)
    return idm_yaml_unexpected(reader->tree, node, what,
                               "flat, or a prior with its arguments such as {normal: [0, 2]}");
  if (key != node && kind == IDM_PRIOR_FLAT)
    return idm_yaml_unexpected(reader->tree, node, what, "flat without arguments");
  if (kind == IDM_PRIOR_FLAT) return IDM_OK;
  if (kind == IDM_PRIOR_DIRICHLET && (block->info->support != IDM_DISTRIBUTION || block->share))
    return idm_yaml_unexpected(reader->tree, key, what,
                               "a prior of numbers: dirichlet is for distributions that are free "
                               "as a whole");
  if (kind != IDM_PRIOR_DIRICHLET && block->info->tied && !block->share)
    return idm_yaml_unexpected(reader->tree, key, what,
                               "flat or dirichlet: rows are distributions");
  snprintf(what, sizeof what, "free.%s.prior.%s", block->info->name, names[kind]);
  return read_arguments(reader, idm_yaml_item(reader->tree, node, 0), what, block,
                        (idm_prior_kind)kind);
}

/* Read one of the scales that the block supports. */
static idm_status read_scale(const idm_yaml_reader *reader, const idm_yaml_node *node,
                             idm_block *block)
{
  const char *names[8 * sizeof block->info->scales];
  idm_scale scale[8 * sizeof block->info->scales];
  size_t count = 0, chosen = 0;
  for (unsigned i = 0; idm_scale_name((idm_scale)i); i++) {
    if (!(block->info->scales & 1U << i)) continue;
    scale[count] = (idm_scale)i;
    names[count++] = idm_scale_name((idm_scale)i);
  }
  char what[60];
  snprintf(what, sizeof what, "free.%s.scale", block->info->name);
  const idm_status status = idm_yaml_choice(reader->tree, node, what, names, count, &chosen);
  if (status == IDM_OK) block->scale = scale[chosen];
  return status;
}

/* --- blocks --------------------------------------------------------------------------------- */

static idm_status unknown_block(const idm_yaml_reader *reader, const idm_yaml_node *key)
{
  enum { most = 100 };
  const idm_theta *theta = reader->problem->theta;
  const char *names[most];
  size_t count = 0;
  for (size_t i = 0; i < theta->blocks && count < most; i++)
    if (theta->block[i].info->scales) names[count++] = theta->block[i].info->name;
  return idm_yaml_unknown(reader->tree, key, "in free, the block", names, count);
}

/* Set the reference action of a contrast: the one named, or the default. With `none` or an empty
 * list there is none, and more numbers are free than are identified. */
static idm_status read_reference(idm_yaml_reader *reader, const idm_yaml_node *opt_node, size_t id)
{
  idm_theta *theta = reader->problem->theta;
  const idm_setting *setting = reader->problem->setting;
  char what[60];
  snprintf(what, sizeof what, "free.%s.reference", theta->block[id].info->name);
  if (opt_node && idm_yaml_is_list(opt_node) && !idm_yaml_count(opt_node)) return IDM_OK;
  if (opt_node && !idm_yaml_is_scalar(opt_node))
    return idm_yaml_unexpected(reader->tree, opt_node, what, "an action, or none");
  const char *name = opt_node ? idm_yaml_text(opt_node) : NULL;
  const long named = name ? idm_labels_find(&setting->actions, name, strlen(name)) : -1;
  if (name && named < 0 && strcmp(name, "none") == 0) return IDM_OK;
  if (name && named < 0)
    return idm_yaml_unexpected(reader->tree, opt_node, what, "an action, or none");
  return idm_theta_contrast(
      theta, setting, id, name ? (size_t)named : idm_theta_reference(theta, id), reader->opt_error);
}

/* Only ratios of the weights of observed states matter: the weight of a reference state is fixed.
 */
static idm_status read_reference_state(const idm_yaml_reader *reader, const idm_yaml_node *opt_node,
                                       size_t id)
{
  const idm_setting *setting = reader->problem->setting;
  const char *name = opt_node && idm_yaml_is_scalar(opt_node) ? idm_yaml_text(opt_node) : NULL;
  const long state = name ? idm_labels_find(&setting->states, name, strlen(name)) : 0;
  if ((opt_node && !name) || state < 0)
    return idm_yaml_unexpected(reader->tree, opt_node, "free.belief_prior.reference", "a state");
  idm_block *block = &reader->problem->theta->block[id];
  /* Express the weights in units of the fixed one, so that a prior centred at 1 means equal
   * weights. */
  const double unit = block->value[state];
  for (size_t i = 0; i < block->size; i++) block->value[i] /= unit;
  return idm_theta_fix_one(reader->problem->theta, setting, id, (size_t)state, reader->opt_error);
}

/* Selection of the free numbers of a block; members are NULL if the file does not give them. */
typedef struct free_selection {
  const idm_yaml_node *entries;
  const idm_yaml_node *reference;
  const char *before; /* "BLOCK.", the prefix of entries that name a block with a field */
} free_selection;

/* Select the free numbers, if the file chooses them, if they are a contrast, or if they are tied.
 */
static idm_status read_selection(idm_yaml_reader *reader, const idm_yaml_node *node,
                                 free_selection of, size_t id)
{
  const idm_block_info *info = reader->problem->theta->block[id].info;
  if (info->tied) return idm_yaml_read_ties(reader, node, id);
  if (info->field && !of.reference)
    return idm_yaml_free_fields(reader, id, node, of.entries, of.before);
  if (id == IDM_BELIEF_PRIOR && reader->problem->setting->fully_observed && !of.entries)
    return read_reference_state(reader, of.reference, id);
  if (info->contrast && !of.entries) return read_reference(reader, of.reference, id);
  idm_block *block = &reader->problem->theta->block[id];
  if (block->features) return idm_yaml_free_features(reader, of.entries, of.reference);
  const bool is_selected =
      id == IDM_UTILITY && idm_setting_has_terminal_states(reader->problem->setting);
  if (!of.entries && !of.reference && !is_selected) return IDM_OK;
  if (id == IDM_UTILITY) return idm_yaml_read_entries(reader, of.entries, of.reference);
  return idm_yaml_fail(reader->tree, of.entries ? of.entries : of.reference,
                       "free.%s has no %s to choose", info->name,
                       of.entries ? "entries" : "reference");
}

/* Mark a block as free. */
static idm_status mark_free(const idm_yaml_reader *reader, const idm_yaml_node *key, size_t id)
{
  idm_block *block = &reader->problem->theta->block[id];
  const char *name = block->info->name;
  if (block->role == IDM_DESCRIPTIVE)
    return idm_yaml_fail(reader->tree, key,
                         "in free, the block '%s' is given twice; expected it once", name);
  if (!block->size)
    return idm_yaml_fail(reader->tree, key,
                         "in free, the block '%s' has no values; expected %s%s in the file", name,
                         block->info->of_agent ? "agent." : "", name);
  block->role = IDM_DESCRIPTIVE;
  block->scale = block->info->scale;
  return IDM_OK;
}

/* Read scale, prior and free numbers of a block from the node under its name. */
static idm_status read_request(idm_yaml_reader *reader, const idm_yaml_node *node,
                               free_selection of, size_t id)
{
  static const char *const fields[] = {"scale", "prior", "entries", "reference", NULL};
  idm_theta *theta = reader->problem->theta;
  idm_block *block = &theta->block[id];
  char what[60];
  snprintf(what, sizeof what, "free.%s", block->info->name);
  /* Names of tied entries are defined by the file. */
  const bool own = block->info->tied && idm_yaml_is_mapping(node);
  idm_status status = own ? IDM_OK : idm_yaml_check_keys(reader->tree, node, what, fields);
  if (status != IDM_OK) return status;
  const idm_yaml_node *scale = idm_yaml_find(reader->tree, node, "scale");
  const idm_yaml_node *prior = idm_yaml_find(reader->tree, node, "prior");
  const idm_yaml_node *entries = own ? NULL : idm_yaml_find(reader->tree, node, "entries");
  if (!own) of.reference = idm_yaml_find(reader->tree, node, "reference");
  if (entries && of.entries)
    return idm_yaml_fail(reader->tree, entries,
                         "%s has entries, and its name is one already; expected one of the two",
                         what);
  if (entries) of.entries = entries;
  if (scale) status = read_scale(reader, scale, block);
  if (status == IDM_OK) status = read_selection(reader, node, of, id);
  if (status != IDM_OK) return status;
  return prior ? read_prior(reader, prior, block)
               : idm_theta_set_default_prior(theta, id, prior_range(reader->problem, id),
                                             reader->opt_error);
}

/* Returns true if a text is "BLOCK.REST" of a block with fields, and finds the block. */
static bool parse_field(const idm_theta *theta, const char *text, size_t *ret_id)
{
  const char *dot = strchr(text, '.');
  for (size_t i = 0; dot && i < theta->blocks; i++) {
    const idm_block_info *info = theta->block[i].info;
    const size_t length = strlen(info->name);
    if (!info->field || length != (size_t)(dot - text) || strncmp(info->name, text, length) != 0)
      continue;
    *ret_id = i;
    return true;
  }
  return false;
}

/* Free one block: `key` is its name or "BLOCK.FIELD...", opt_node has its scale and prior. In a
 * list, all names that begin with the same block are read together. */
static idm_status read_block(idm_yaml_reader *reader, const idm_yaml_node *key,
                             const idm_yaml_node *opt_node, const idm_yaml_node *opt_list)
{
  idm_theta *theta = reader->problem->theta;
  if (!idm_yaml_is_scalar(key))
    return idm_yaml_unexpected(reader->tree, key, "free", "names of blocks");
  size_t id = 0;
  char before[80];
  free_selection of = {0};
  if (parse_field(theta, idm_yaml_text(key), &id)) {
    snprintf(before, sizeof before, "%.70s.", theta->block[id].info->name);
    of = (free_selection){.entries = opt_list ? opt_list : key, .before = before};
  } else {
    const int found = idm_theta_find(theta, idm_yaml_text(key));
    if (found < 0 || !theta->block[found].info->scales) return unknown_block(reader, key);
    id = (size_t)found;
  }
  idm_status status = mark_free(reader, key, id);
  if (status != IDM_OK) return status;
  if (opt_node && !idm_yaml_is_null(opt_node)) return read_request(reader, opt_node, of, id);
  status = read_selection(reader, key, of, id);
  if (status != IDM_OK) return status;
  return idm_theta_set_default_prior(theta, id, prior_range(reader->problem, id),
                                     reader->opt_error);
}

/* Returns true if item i of a list names a field of a block that an earlier item names: it was read
 * with that item. */
static bool is_read(const idm_yaml_reader *reader, const idm_yaml_node *list, size_t i)
{
  const idm_theta *theta = reader->problem->theta;
  size_t id[2];
  const idm_yaml_node *item = idm_yaml_item(reader->tree, list, i);
  if (!idm_yaml_is_scalar(item) || !parse_field(theta, idm_yaml_text(item), &id[0])) return false;
  for (size_t k = 0; k < i; k++) {
    item = idm_yaml_item(reader->tree, list, k);
    if (parse_field(theta, idm_yaml_text(item), &id[1]) && id[0] == id[1]) return true;
  }
  return false;
}

idm_status idm_yaml_read_free(idm_yaml_reader *reader)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "free");
  return node ? idm_yaml_read_free_blocks(reader, node) : IDM_OK;
}

idm_status idm_yaml_read_free_blocks(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  if (idm_yaml_is_scalar(node))
    return idm_yaml_unexpected(reader->tree, node, "free",
                               "a list of blocks, or a mapping of blocks to scale and prior");
  const bool mapping = idm_yaml_is_mapping(node);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < idm_yaml_count(node) && status == IDM_OK; i++) {
    const idm_yaml_node *value = idm_yaml_item(reader->tree, node, i);
    if (!mapping && is_read(reader, node, i)) continue;
    status = mapping ? read_block(reader, idm_yaml_key(reader->tree, node, i), value, NULL)
                     : read_block(reader, value, NULL, node);
  }
  return status;
}

/* === agent ================================================================================== */

/* Agent of a YAML problem: its planner, its options, and the blocks of theta under `agent`. */

static const char planner_key[] = "planner";

size_t idm_yaml_agent_keys(const idm_problem *problem,
                           const char *allowed_keys[IDM_YAML_AGENT_KEYS])
{
  size_t count = 0;
  allowed_keys[count++] = planner_key;
  for (size_t i = 0; i < problem->theta->blocks && count < IDM_YAML_AGENT_KEYS; i++)
    if (problem->theta->block[i].info->of_agent)
      allowed_keys[count++] = problem->theta->block[i].info->name;
  for (const idm_key *key = idm_agent_option_keys(); key->name && count < IDM_YAML_AGENT_KEYS;
       key++)
    allowed_keys[count++] = key->name;
  return count;
}

static idm_status set_planner(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  const idm_planner *planner =
      idm_yaml_is_scalar(node) ? idm_planner_find(idm_yaml_text(node)) : NULL;
  if (!planner)
    return idm_yaml_unexpected(reader->tree, node, planner_key,
                               "the name of a planner or agent (`idm list planners`, "
                               "`idm list agents`), or one of a plug-in that --plugin loads");
  return idm_problem_set_planner(reader->problem, planner, reader->opt_error);
}

/* Set an option. If it determines the size or the initial values of blocks, they are initialised
 * again. */
static idm_status set_key(idm_yaml_reader *reader, const idm_key *key, const idm_yaml_node *node)
{
  idm_problem *problem = reader->problem;
  const idm_agent_options before = problem->agent;
  idm_status status = idm_yaml_read_key(reader->tree, node, key, key->name, &problem->agent);
  if (status == IDM_OK && key->affects_shape && !idm_key_same(key, &before, &problem->agent, 0))
    status = idm_planner_shape(idm_agent_planner(&problem->agent), &problem->agent, problem->theta,
                               reader->opt_error);
  return status;
}

idm_status idm_yaml_set_agent(idm_yaml_reader *reader, const char *name, const idm_yaml_node *node)
{
  if (strcmp(name, planner_key) == 0) return set_planner(reader, node);
  const idm_key *key = idm_key_find(idm_agent_option_keys(), name);
  if (key) return set_key(reader, key, node);
  return idm_yaml_read_block(reader, (size_t)idm_theta_find(reader->problem->theta, name), node);
}

idm_status idm_yaml_read_agent(idm_yaml_reader *reader)
{
  const idm_yaml_node *agent = idm_yaml_find(reader->tree, reader->root, "agent");
  if (!agent) return IDM_OK;
  /* The planner is read first, since it determines the blocks. */
  const idm_yaml_node *planner =
      idm_yaml_is_mapping(agent) ? idm_yaml_find(reader->tree, agent, planner_key) : NULL;
  idm_status status = planner ? set_planner(reader, planner) : IDM_OK;
  const char *allowed_keys[IDM_YAML_AGENT_KEYS + 1] = {NULL};
  idm_yaml_agent_keys(reader->problem, allowed_keys);
  if (status == IDM_OK) status = idm_yaml_check_keys(reader->tree, agent, "agent", allowed_keys);
  /* Options are read before blocks, since some determine the size of a block. */
  for (size_t i = 0; status == IDM_OK && i < 2 * idm_yaml_count(agent); i++) {
    const size_t at = i % idm_yaml_count(agent);
    const char *name = idm_yaml_text(idm_yaml_key(reader->tree, agent, at));
    const bool is_block = idm_theta_find(reader->problem->theta, name) >= 0;
    if (is_block == (i >= idm_yaml_count(agent)))
      status = idm_yaml_set_agent(reader, name, idm_yaml_item(reader->tree, agent, at));
  }
  return status;
}
