/* Applies `--set` and `--free` to a problem, and replaces the states of a problem.
 *
 * Contents: set · renew */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "idm/extension/dynamics.h"
#include "idm/extension/planner.h"
#include "io/problem/reader.h"
#include "io/problem/yaml.h"
#include "io/problem_file.h"
#include "plan/plan.h"
#include "setting/model.h"

/* === set ==================================================================================== */

/* Overrides of a problem: --set KEY=VALUE, read by the same parts as the YAML file. */

static const char utility_prefix[] = "utility.";
static const char agent_prefix[] = "agent.";
static const char weight_prefix[] = "feature_weights.";

/* Keys other than those of the agent. */
static const char *const other_keys[] = {"discount",
                                         "horizon",
                                         "start",
                                         "utility.ACTION",
                                         "utility.ACTION.STATE",
                                         "transition.NAME",
                                         "emission.NAME",
                                         "feature_weights.NAME"};

static bool has_prefix(const char *text, const char *prefix)
{
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* --- keys ----------------------------------------------------------------------------------- */

static idm_status unknown_key(const idm_problem *problem, const char *key, idm_error *error)
{
  const char *known[IDM_YAML_AGENT_KEYS + sizeof other_keys / sizeof other_keys[0]];
  size_t count = idm_yaml_agent_keys(problem, known);
  for (size_t i = 0; i < sizeof other_keys / sizeof other_keys[0]; i++)
    known[count++] = other_keys[i];
  char list[560] = "";
  size_t length = 0;
  for (size_t i = 0; i < count && length < sizeof list - 40; i++)
    length +=
        (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", known[i]);
  const char *nearest = idm_suggest(key, known, count);
  if (nearest)
    return idm_fail(error, IDM_USAGE,
                    "the key '%.60s' is unknown; did you mean '%s'? Expected one of %s", key,
                    nearest, list);
  return idm_fail(error, IDM_USAGE, "the key '%.60s' is unknown; expected one of %s", key, list);
}

/* --- values --------------------------------------------------------------------------------- */

static idm_status set_horizon(idm_yaml_reader *reader)
{
  const idm_yaml_node *node = reader->root;
  long horizon = 0;
  /* inf: no horizon */
  const bool none = idm_yaml_is_scalar(node) && strcmp(idm_yaml_text(node), "inf") == 0;
  const idm_status status =
      none ? IDM_OK : idm_yaml_integer(reader->tree, node, "horizon", 0, &horizon);
  if (status == IDM_OK) reader->problem->setting->horizon = (int)horizon;
  return status;
}

/* Keep the references of entries that the override does not change. */
static idm_status keep_references(const idm_problem *problem, const idm_yaml_entry *entry,
                                  idm_yaml_references *references, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < problem->utility_sources && status == IDM_OK; i++) {
    const idm_utility_source *source = &problem->utility_source[i];
    if (source->action == entry->action && (!entry->one_state || source->state == entry->state))
      continue;
    const idm_yaml_reference kept_references = {source->action, source->state, source->scale,
                                                problem->columns.utility.name[source->column]};
    status = idm_yaml_add_reference(references, kept_references, opt_error);
  }
  return status;
}

/* IDM_INPUT if a value is given by name for a terminal state, where it has no effect. */
static idm_status check_has_effect(const idm_yaml_reader *reader, const idm_yaml_entry *entry,
                                   double value, size_t references, size_t kept_references)
{
  const idm_setting *setting = reader->problem->setting;
  if (!entry->one_state || !setting->terminal_state[entry->state] ||
      (value == 0 && references == kept_references))
    return IDM_OK;
  return idm_yaml_fail(reader->tree, reader->root,
                       "'%.60s' is terminal, and nothing is done there; expected 0, or another "
                       "state",
                       setting->states.name[entry->state]);
}

static idm_status set_utility(idm_yaml_reader *reader, const idm_yaml_entry *entry)
{
  idm_problem *problem = reader->problem;
  if (problem->theta->block[IDM_UTILITY].features)
    return idm_yaml_fail(reader->tree, reader->root,
                         "the utility is linear in features; expected feature_weights.NAME=...");
  const size_t first = entry->one_state ? entry->state : 0;
  const size_t count = entry->one_state ? 1 : reader->sizes.states;
  idm_yaml_references references = {0};
  double *values = idm_new(count, sizeof *values);
  idm_status status = values ? IDM_OK : idm_fail_memory(reader->opt_error);
  if (status == IDM_OK) status = keep_references(problem, entry, &references, reader->opt_error);
  const size_t kept_references = references.count;
  if (status == IDM_OK)
    status = entry->one_state ? idm_yaml_read_utility_entry(reader, reader->root, entry->action,
                                                            entry->state, values, &references)
                              : idm_yaml_read_utility_of(reader, reader->root, entry->action,
                                                         values, &references);
  if (status == IDM_OK)
    status = check_has_effect(reader, entry, values[0], references.count, kept_references);
  if (status == IDM_OK) status = idm_yaml_store_references(problem, &references, reader->opt_error);
  if (status == IDM_OK) {
    const idm_block *utility = &problem->theta->block[IDM_UTILITY];
    for (size_t v = 0; v < utility->variants; v++)
      memcpy(utility->value + v * utility->size + entry->action * reader->sizes.states + first,
             values, count * sizeof *values);
  }
  free(references.item);
  free(values);
  return status;
}

/* Find the entries that share a free number by "BLOCK.NAME": returns their coordinate, and their
 * block in *ret_block; -1 if there are none. */
static int32_t find_tie(const idm_problem *problem, const char *key, size_t *ret_block)
{
  for (size_t id = 0; id < problem->theta->blocks; id++) {
    const idm_block *block = &problem->theta->block[id];
    const size_t length = strlen(block->info->name);
    if (!block->share || !has_prefix(key, block->info->name) || key[length] != '.') continue;
    *ret_block = id;
    for (size_t c = 0; c < block->coordinate_name.count; c++)
      if (strcmp(block->coordinate_name.name[c], key + length + 1) == 0) return (int32_t)c;
  }
  return -1;
}

static idm_status set_tie(const idm_yaml_reader *reader, const char *key, size_t id, int32_t at)
{
  idm_theta *theta = reader->problem->theta;
  const double most = idm_tie_upper_bound(theta, id, at);
  double value = 0;
  char expected[60];
  const idm_status status = idm_yaml_number(reader->tree, reader->root, key, false, &value);
  if (status != IDM_OK) return status;
  snprintf(expected, sizeof expected, "a number between 0 and %g", most);
  if (!(value > 0 && value < most))
    return idm_yaml_unexpected(reader->tree, reader->root, key, expected);
  idm_tie_set_value(theta, id, at, value);
  return IDM_OK;
}

static bool is_agent_key(const idm_problem *problem, const char *key)
{
  const char *known[IDM_YAML_AGENT_KEYS];
  const size_t count = idm_yaml_agent_keys(problem, known);
  for (size_t i = 0; i < count; i++)
    if (strcmp(known[i], key) == 0) return true;
  return false;
}

/* Pass a value to the function that reads the key. */
static idm_status set_value(idm_yaml_reader *reader, const char *key,
                            const idm_yaml_entry *opt_target)
{
  const char *agent_key = has_prefix(key, agent_prefix) ? key + strlen(agent_prefix) : key;
  size_t block = 0;
  const int32_t tie = find_tie(reader->problem, key, &block);
  if (opt_target) return set_utility(reader, opt_target);
  if (tie >= 0) return set_tie(reader, key, block, tie);
  if (is_agent_key(reader->problem, agent_key))
    return idm_yaml_set_agent(reader, agent_key, reader->root);
  if (has_prefix(key, weight_prefix))
    return idm_yaml_set_weight(reader, key + strlen(weight_prefix));
  if (strcmp(key, "discount") == 0) return idm_yaml_read_discount(reader, reader->root);
  if (strcmp(key, "horizon") == 0) return set_horizon(reader);
  if (strcmp(key, "environment") == 0) return idm_yaml_enter_environment(reader, reader->root);
  if (strcmp(key, "start") == 0) return idm_yaml_read_start(reader, reader->root);
  return unknown_key(reader->problem, key, reader->opt_error);
}

/* Parse a value and set the key. */
static idm_status apply_value(idm_problem *problem, const char *key, const char *value,
                              const idm_yaml_entry *opt_target, idm_error *error)
{
  if (value[strspn(value, " \t")] == '\0')
    return idm_fail(error, IDM_USAGE, "%.60s has no value; expected KEY=VALUE", key);
  idm_yaml_tree *tree = NULL;
  idm_status status = idm_yaml_load(value, strlen(value), "--set", &tree, error);
  if (status != IDM_OK) return status;
  idm_yaml_reader reader = {.tree = tree,
                            .root = idm_yaml_root(tree),
                            .problem = problem,
                            .opt_error = error,
                            .sizes = idm_setting_sizes(problem->setting)};
  status = idm_yaml_index_labels(&reader);
  if (status == IDM_OK) status = set_value(&reader, key, opt_target);
  if (status == IDM_OK) idm_problem_absorb(problem);
  /* Default priors of utilities from columns are known only with the log. */
  if (status == IDM_OK && !problem->utility_sources)
    status = idm_problem_reset_priors(problem, error);
  idm_names_destroy(&reader.states);
  idm_names_destroy(&reader.actions);
  idm_yaml_destroy(tree);
  return status;
}

/* A label may contain `=`: the first `=` after which the text before it names an entry separates
 * key and value. */
static idm_status apply_utility(idm_problem *problem, const char *assignment, idm_error *error)
{
  const char *path = assignment + strlen(utility_prefix);
  for (const char *equals = strchr(path, '='); equals; equals = strchr(equals + 1, '=')) {
    idm_yaml_entry entry;
    const size_t length = (size_t)(equals - path);
    const size_t readings = idm_yaml_resolve_entry(problem, path, length, &entry);
    if (readings > 1)
      return idm_fail(error, IDM_USAGE,
                      "'%.*s' can be read in %zu ways as ACTION.STATE; expected one", (int)length,
                      path, readings);
    if (readings == 1) return apply_value(problem, "utility", equals + 1, &entry, error);
  }
  return idm_fail(error, IDM_USAGE,
                  "'%.*s' names no action, nor an action and a state; expected utility.ACTION or "
                  "utility.ACTION.STATE",
                  (int)strcspn(path, "="), path);
}

static idm_status apply_assignment(idm_problem *problem, const char *assignment, idm_error *error)
{
  const char *equals = strchr(assignment, '=');
  if (!equals || equals == assignment)
    return idm_fail(error, IDM_USAGE, "there is no KEY=VALUE; expected it");
  if (has_prefix(assignment, utility_prefix)) return apply_utility(problem, assignment, error);
  char *key = idm_text_copy(assignment, (size_t)(equals - assignment));
  if (!key) return idm_fail_memory(error);
  const idm_status status = apply_value(problem, key, equals + 1, NULL, error);
  free(key);
  return status;
}

/* Fail with IDM_USAGE, with the option and its value in the message. */
static idm_status fail_option(const char *option, const char *value, idm_status status,
                              idm_error *error, idm_error *opt_error)
{
  if (status == IDM_MEMORY) return idm_fail_memory(opt_error);
  char shown[84];
  snprintf(shown, sizeof shown, strlen(value) > 80 ? "%.80s..." : "%.80s", value);
  for (char *c = shown; *c; c++)
    if (iscntrl((unsigned char)*c)) *c = '?';
  for (char *c = error->message; *c; c++)
    if (iscntrl((unsigned char)*c)) *c = '?';
  return idm_fail(opt_error, IDM_USAGE, "%s %s: %.640s", option, shown, error->message);
}

idm_status idm_problem_set(idm_problem *problem, const char *assignment, idm_error *opt_error)
{
  idm_require(problem, assignment);
  idm_error error = {0};
  const idm_status status = apply_assignment(problem, assignment, &error);
  return status == IDM_OK ? IDM_OK : fail_option("--set", assignment, status, &error, opt_error);
}

/* Free blocks; "beta, eta" abbreviates the list [beta, eta]. */
static idm_status free_blocks(idm_problem *problem, const char *text, idm_error *error)
{
  const char first = text[strspn(text, " \t")];
  const bool bare = first != '[' && first != '{';
  const size_t size = strlen(text) + 3;
  char *value = idm_new(size, 1);
  if (!value) return idm_fail_memory(error);
  snprintf(value, size, bare ? "[%s]" : "%s", text);
  idm_yaml_tree *tree = NULL;
  idm_status status = idm_yaml_load(value, strlen(value), "--free", &tree, error);
  free(value);
  if (status != IDM_OK) return status;
  idm_yaml_reader reader = {.tree = tree,
                            .root = idm_yaml_root(tree),
                            .problem = problem,
                            .opt_error = error,
                            .sizes = idm_setting_sizes(problem->setting)};
  /* Work on a copy: a rejected request leaves the problem unchanged. */
  idm_theta *old = problem->theta;
  status = idm_theta_copy(old, &problem->theta, error);
  if (status == IDM_OK) status = idm_yaml_index_labels(&reader);
  if (status == IDM_OK) {
    idm_theta_clamp(problem->theta);
    status = idm_yaml_read_free_blocks(&reader, reader.root);
  }
  if (status == IDM_OK) {
    idm_theta_destroy(old);
  } else {
    idm_theta_destroy(problem->theta);
    problem->theta = old;
  }
  idm_names_destroy(&reader.states);
  idm_names_destroy(&reader.actions);
  idm_yaml_destroy(tree);
  return status;
}

idm_status idm_problem_set_free(idm_problem *problem, const char *text, idm_error *opt_error)
{
  idm_require(problem, text);
  idm_error error = {0};
  const idm_status status = free_blocks(problem, text, &error);
  return status == IDM_OK ? IDM_OK : fail_option("--free", text, status, &error, opt_error);
}

/* === renew ================================================================================== */

/* A problem with new states, of which only the number is known. */

static idm_status name_states(idm_setting *setting, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t s = 0; s < setting->states.count && status == IDM_OK; s++) {
    char name[32];
    const int length = snprintf(name, sizeof name, "state%zu", s + 1);
    status = idm_labels_set(&setting->states, s, name, (size_t)length, opt_error);
  }
  return status;
}

/* Copy everything of the setting except its states, and set uniform transitions and observation
 * probabilities. */
static idm_status copy_setting_except_states(const idm_setting *from, idm_setting *to,
                                             idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(to);
  idm_labels_destroy(&to->actions);
  idm_labels_destroy(&to->observations);
  char *name = idm_text_copy(from->name, strlen(from->name));
  if (!name) return idm_fail_memory(opt_error);
  free(to->name);
  to->name = name;
  idm_status status = idm_labels_copy(&from->actions, &to->actions, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&from->observations, &to->observations, opt_error);
  if (status == IDM_OK) status = name_states(to, opt_error);
  if (status != IDM_OK) return status;
  for (size_t u = 0; u < n.actions; u++) {
    to->terminal[u] = from->terminal[u];
    to->ends[u] = from->ends[u];
    to->transition_shared[u] = from->transition_shared[u];
    to->emission_shared[u] = from->emission_shared[u];
  }
  to->horizon = from->horizon;
  to->emits_before = from->emits_before;
  for (size_t i = 0; i < n.actions * n.states * n.states; i++)
    to->transition[i] = 1.0 / (double)n.states;
  for (size_t i = 0; i < n.actions * n.states * n.observations; i++)
    to->emission[i] = 1.0 / (double)n.observations;
  return IDM_OK;
}

static bool is_state_independent(const idm_problem *problem, size_t action)
{
  const size_t k = problem->theta->sizes.states;
  const double *utility = problem->theta->block[IDM_UTILITY].value + action * k;
  for (size_t i = 0; i < problem->utility_sources; i++)
    if (problem->utility_source[i].action == action) return false;
  for (size_t s = 1; s < k; s++)
    if (utility[s] != utility[0]) return false;
  return true;
}

/* Copy the utilities of actions whose utility does not depend on the state; the others become
 * placeholders. Only the utilities of the problem are read. */
static idm_status copy_utility(idm_problem *problem, idm_theta *to, size_t *ret_unknown,
                               idm_error *opt_error)
{
  const idm_sizes n = to->sizes;
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  idm_utility_source *source = idm_new(n.actions * n.states, sizeof *source);
  idm_labels column = {0};
  size_t sources = 0;
  *ret_unknown = 0;
  if (!source) return idm_fail_memory(opt_error);
  for (size_t u = 0; u < n.actions; u++) {
    const bool known = is_state_independent(problem, u);
    *ret_unknown += !known;
    for (size_t s = 0; s < n.states; s++) {
      if (known)
        to->block[IDM_UTILITY].value[u * n.states + s] = utility[u * problem->theta->sizes.states];
      else
        source[sources++] = (idm_utility_source){u, s, 0, 1};
    }
  }
  idm_status status = *ret_unknown ? idm_labels_create(&column, 1, opt_error) : IDM_OK;
  if (status == IDM_OK && *ret_unknown)
    status = idm_labels_set(&column, 0, IDM_PLACEHOLDER, strlen(IDM_PLACEHOLDER), opt_error);
  if (status != IDM_OK) {
    idm_labels_destroy(&column);
    free(source);
    return status;
  }
  idm_labels_destroy(&problem->columns.utility);
  free(problem->utility_source);
  problem->columns.utility = column;
  problem->utility_source = source;
  problem->utility_sources = sources;
  return IDM_OK;
}

/* Returns true if a block has a number per state or per model. */
static bool by_state(const idm_block_info *info)
{
  for (size_t i = 0; i < sizeof info->axis / sizeof *info->axis && info->axis[i]; i++)
    if (info->axis[i] != IDM_AXIS_ACTION && info->axis[i] != IDM_AXIS_FIELD) return true;
  return false;
}

/* Copy a block that is not by state, with its role, scale and prior. */
static idm_status copy_block(const idm_block *old, idm_theta *theta, size_t id,
                             idm_error *opt_error)
{
  const bool shaped = old->info->opaque && !old->info->count;
  if (by_state(old->info) || shaped || old->coordinate) return IDM_OK;
  idm_status status = IDM_OK;
  if (theta->block[id].size != old->size)
    status = idm_theta_resize(theta, id, old->size, 1, opt_error);
  if (status != IDM_OK) return status;
  idm_block *block = &theta->block[id];
  double *argument = idm_duplicate(old->prior.argument, old->prior.count, sizeof *argument);
  if (old->prior.argument && !argument) return idm_fail_memory(opt_error);
  memcpy(block->value, old->value, old->size * sizeof *old->value);
  free(block->prior.argument);
  block->role = old->role;
  block->scale = old->scale;
  block->default_prior = old->default_prior;
  block->prior = (idm_prior){old->prior.kind, old->prior.count, argument};
  return IDM_OK;
}

static idm_status copy_theta(const idm_problem *problem, idm_theta *to, idm_error *opt_error)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  idm_status status = idm_theta_set_own_blocks(to, planner->own, planner->own_count, opt_error);
  if (status == IDM_OK) status = idm_planner_shape(planner, &problem->agent, to, opt_error);
  for (size_t i = 0; i < to->blocks && status == IDM_OK; i++)
    status = copy_block(&problem->theta->block[i], to, i, opt_error);
  return status;
}

idm_status idm_problem_reset_states(idm_problem *problem, size_t states, size_t *ret_unknown,
                                    idm_error *opt_error)
{
  idm_require(problem, ret_unknown);
  idm_sizes sizes = idm_setting_sizes(problem->setting);
  idm_problem *renewed = NULL;
  if (!states) return idm_fail(opt_error, IDM_USAGE, "a problem needs at least one state");
  sizes.states = states;
  idm_status status = idm_problem_create(sizes, 1, true, true, &renewed, opt_error);
  if (status == IDM_OK)
    status = copy_setting_except_states(problem->setting, renewed->setting, opt_error);
  if (status == IDM_OK) status = copy_theta(problem, renewed->theta, opt_error);
  if (status == IDM_OK) status = copy_utility(problem, renewed->theta, ret_unknown, opt_error);
  if (status == IDM_OK) {
    idm_setting *setting = problem->setting;
    idm_theta *theta = problem->theta;
    problem->setting = renewed->setting;
    problem->theta = renewed->theta;
    renewed->setting = setting;
    renewed->theta = theta;
    const idm_model_rule rule = problem->models;
    status = idm_problem_apply_rule(problem, &rule, opt_error);
  }
  idm_problem_destroy(renewed);
  return status;
}
