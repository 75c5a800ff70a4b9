/* A problem from wherever it is: a YAML file, a .POMDP file, or a built-in example.
 *
 * Contents: columns · models · placeholder · population · parse · read */
#include "io/problem/read.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/column.h"
#include "idm/dynamics.h"
#include "idm/problem_file.h"
#include "idm/theta.h"
#include "io/file.h"
#include "io/pomdp/read.h"
#include "io/problem/reader.h"
#include "setting/terminal.h"

/* === columns ================================================================================== */

/* Roles of the columns of a log: the key `data` of a YAML problem. */

static idm_status idm_yaml_read_columns(idm_yaml_reader *reader)
{
  const char *keys[IDM_COLUMN_COUNT + 6] = {NULL};
  for (size_t i = 0; i < IDM_COLUMN_COUNT; i++) keys[i] = idm_column_describe((idm_column)i)->key;
  keys[IDM_COLUMN_COUNT] = "codes";
  keys[IDM_COLUMN_COUNT + 1] = "missing";
  keys[IDM_COLUMN_COUNT + 2] = "derive";
  keys[IDM_COLUMN_COUNT + 3] = "rules";
  keys[IDM_COLUMN_COUNT + 4] = "missed";
  const idm_yaml_node *data = idm_yaml_find(reader->tree, reader->root, "data");
  if (!data) return IDM_OK;
  idm_status status = idm_yaml_check_keys(reader->tree, data, "data", keys);
  for (size_t i = 0; i < IDM_COLUMN_COUNT && status == IDM_OK; i++) {
    const idm_yaml_node *node = idm_yaml_find(reader->tree, data, keys[i]);
    char what[40];
    snprintf(what, sizeof what, "data.%s", keys[i]);
    if (!node) continue;
    status = idm_yaml_read_names(reader, node, what, &reader->problem->columns.role[i]);
    if (status == IDM_OK && idm_column_describe((idm_column)i)->evidence &&
        reader->problem->columns.role[i].count > 1)
      status = idm_yaml_unexpected(reader->tree, node, what, "one column");
    if (status == IDM_OK && idm_column_describe((idm_column)i)->of_state && !reader->fully_observed)
      status = idm_yaml_fail(reader->tree, node,
                             "%s names a column of states, which are hidden in this problem; "
                             "expected `observations: states`, or no such column",
                             what);
  }
  if (status == IDM_OK) status = idm_yaml_read_codes(reader, data);
  return status == IDM_OK ? idm_yaml_read_coding(reader, data) : status;
}

/* === models =================================================================================== */

/* Candidate models of a YAML problem: written out, by a rule, or the environment's own. */

static const char *const kind_key[] = {"transition", "observation"};

static double *environment_of(const idm_yaml_reader *reader, idm_yaml_kind kind)
{
  const idm_setting *setting = reader->problem->setting;
  return kind == IDM_YAML_TRANSITION ? setting->transition : setting->emission;
}

/* Numbers of one model's matrices of a kind. */
static size_t model_size(const idm_yaml_reader *reader, idm_yaml_kind kind)
{
  return reader->sizes.actions * reader->sizes.states * idm_yaml_kind_columns(reader, kind);
}

static double *model_matrices(const idm_yaml_reader *reader, idm_yaml_kind kind, size_t m)
{
  const idm_block_id id = kind == IDM_YAML_TRANSITION ? IDM_TRANSITION : IDM_EMISSION;
  return reader->problem->theta->block[id].value + m * model_size(reader, kind);
}

/* Blocks for `count` models. */
static idm_status make_room(idm_yaml_reader *reader, size_t count)
{
  idm_status status = idm_yaml_check_memory(reader, count);
  if (status != IDM_OK) return status;
  idm_theta *theta = reader->problem->theta;
  theta->models = count;
  const struct {
    idm_block_id id;
    size_t size;
  } blocks[] = {{IDM_MODEL_PRIOR, count},
                {IDM_TRANSITION, count * model_size(reader, IDM_YAML_TRANSITION)},
                {IDM_EMISSION, count * model_size(reader, IDM_YAML_OBSERVATION)}};
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0] && status == IDM_OK; i++)
    status = idm_theta_resize(theta, blocks[i].id, blocks[i].size, 1, reader->opt_error);
  return status;
}

/* --- a list of models ----------------------------------------------------------------------- */

/* Matrices of model m from its own node, or the environment's where it gives none. */
static idm_status read_model_matrices(idm_yaml_reader *reader, const idm_yaml_node *model, size_t m,
                                      idm_yaml_kind kind)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, model, kind_key[kind]);
  const double *environment = environment_of(reader, kind);
  double *matrices = model_matrices(reader, kind, m);
  if (node && kind == IDM_YAML_OBSERVATION && reader->fully_observed)
    return idm_yaml_fail(reader->tree, node,
                         "observations are the states, so that observation is identity; expected "
                         "no matrices here");
  if (node) return idm_yaml_read_matrices(reader, kind, node, environment, matrices);
  if (!environment)
    return idm_yaml_fail(reader->tree, model,
                         "model %zu has no %s, nor has the problem; expected it in one of them",
                         m + 1, kind_key[kind]);
  memcpy(matrices, environment, model_size(reader, kind) * sizeof *matrices);
  return IDM_OK;
}

static idm_status read_model(idm_yaml_reader *reader, const idm_yaml_node *model, size_t m)
{
  static const char *const keys[] = {"weight", "transition", "observation", NULL};
  char what[40];
  snprintf(what, sizeof what, "models, item %zu", m + 1);
  idm_status status = idm_yaml_check_keys(reader->tree, model, what, keys);
  if (status != IDM_OK) return status;
  double weight = 1;
  const idm_yaml_node *node = idm_yaml_find(reader->tree, model, "weight");
  if (node) {
    status = idm_yaml_number(reader->tree, node, "weight", false, &weight);
    if (status != IDM_OK) return status;
    if (weight < 0)
      return idm_yaml_unexpected(reader->tree, node, "weight", "a number of at least 0");
  }
  reader->problem->theta->block[IDM_MODEL_PRIOR].value[m] = weight;
  status = read_model_matrices(reader, model, m, IDM_YAML_TRANSITION);
  if (status == IDM_OK) status = read_model_matrices(reader, model, m, IDM_YAML_OBSERVATION);
  return status;
}

static idm_status read_list(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  const size_t count = idm_yaml_count(node);
  idm_status status = make_room(reader, count);
  for (size_t m = 0; m < count && status == IDM_OK; m++)
    status = read_model(reader, idm_yaml_item(reader->tree, node, m), m);
  if (status == IDM_OK &&
      !idm_yaml_scale_weights(reader->problem->theta->block[IDM_MODEL_PRIOR].value, count))
    status =
        idm_yaml_fail(reader->tree, node,
                      "the weights of the models sum to 0 or to infinity; expected a positive sum");
  return status;
}

/* --- models by a rule ----------------------------------------------------------------------- */

/* A share between 0 and 1 (both left out). */
static idm_status read_share(const idm_yaml_reader *reader, const idm_yaml_node *node,
                             const char *what, double *ret_share)
{
  const idm_status status = idm_yaml_number(reader->tree, node, what, false, ret_share);
  if (status != IDM_OK || (*ret_share > 0 && *ret_share < 1)) return status;
  return idm_yaml_unexpected(reader->tree, node, what, "a number between 0 and 1");
}

static idm_status read_perturbation(const idm_yaml_reader *reader, const idm_yaml_node *perturb,
                                    idm_model_rule *rule)
{
  static const char *const kinds[] = {"transition", "observation", NULL};
  idm_status status = idm_yaml_check_keys(reader->tree, perturb, "models.perturb", kinds);
  if (status == IDM_OK && !idm_yaml_count(perturb))
    status = idm_yaml_unexpected(reader->tree, perturb, "models.perturb",
                                 "observation, transition or both");
  for (size_t k = 0; k < 2 && status == IDM_OK; k++) {
    const idm_yaml_node *node = idm_yaml_find(reader->tree, perturb, kinds[k]);
    if (!node) continue;
    if (k == IDM_YAML_OBSERVATION && reader->fully_observed)
      return idm_yaml_fail(reader->tree, node,
                           "observations are the states and cannot move; expected transition only");
    status = read_share(reader, node, kinds[k], &rule->perturb[k]);
  }
  return status;
}

static idm_status read_rule(const idm_yaml_reader *reader, const idm_yaml_node *models,
                            idm_model_rule *rule)
{
  static const char *const keys[] = {"perturb", "independent", "uniform", NULL};
  idm_status status = idm_yaml_check_keys(reader->tree, models, "models", keys);
  if (status != IDM_OK) return status;
  const idm_yaml_node *perturb = idm_yaml_find(reader->tree, models, "perturb");
  const idm_yaml_node *independent = idm_yaml_find(reader->tree, models, "independent");
  const idm_yaml_node *uniform = idm_yaml_find(reader->tree, models, "uniform");
  if (!perturb && !uniform)
    return idm_yaml_fail(reader->tree, models,
                         "models lacks the key 'perturb'; expected it, 'uniform', or a list of "
                         "models");
  if (uniform && (perturb || independent))
    return idm_yaml_fail(reader->tree, uniform,
                         "models are perturbed or in part uniform, not both; expected one key");
  if (uniform) return read_share(reader, uniform, "uniform", &rule->uniform);
  if (independent)
    status = idm_yaml_boolean(reader->tree, independent, "independent", &rule->independent);
  return status == IDM_OK ? read_perturbation(reader, perturb, rule) : status;
}

static idm_status read_by_rule(idm_yaml_reader *reader, const idm_yaml_node *models)
{
  idm_model_rule rule = {0};
  idm_status status = read_rule(reader, models, &rule);
  if (status != IDM_OK) return status;
  for (size_t k = 0; k < 2; k++)
    if (!environment_of(reader, (idm_yaml_kind)k))
      return idm_yaml_fail(reader->tree, models,
                           "models are made by a rule, but the problem has no %s; expected it",
                           kind_key[k]);
  const double count = idm_model_rule_count(&rule, reader->problem->setting);
  if (count < 1e6) status = idm_yaml_check_memory(reader, (size_t)count);
  if (status != IDM_OK) return status;
  idm_error error = {0};
  status = idm_problem_apply_rule(reader->problem, &rule, &error);
  if (status == IDM_INPUT) return idm_yaml_fail(reader->tree, models, "%s", error.message);
  if (status != IDM_OK && reader->opt_error) *reader->opt_error = error;
  return status;
}

/* --- all forms ------------------------------------------------------------------------------ */

/* The agent knows the environment. */
static idm_status read_known_environment(idm_yaml_reader *reader)
{
  for (size_t k = 0; k < 2; k++) {
    const idm_yaml_kind kind = (idm_yaml_kind)k;
    const double *environment = environment_of(reader, kind);
    if (!environment)
      return idm_yaml_fail(reader->tree, reader->root,
                           "the key '%s' is missing; expected it here, or in every model",
                           kind_key[k]);
    memcpy(model_matrices(reader, kind, 0), environment,
           model_size(reader, kind) * sizeof *environment);
  }
  return IDM_OK;
}

static idm_status idm_yaml_read_models(idm_yaml_reader *reader)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "models");
  if (node && reader->moves)
    return idm_yaml_fail(reader->tree, node,
                         "models are matrices, and transition is given row by row; expected one "
                         "form for both");
  if (reader->moves) return IDM_OK;
  if (!node) return read_known_environment(reader);
  if (idm_yaml_is_mapping(node)) return read_by_rule(reader, node);
  if (!idm_yaml_is_list(node) || !idm_yaml_count(node))
    return idm_yaml_unexpected(
        reader->tree, node, "models",
        "a list of models, or a mapping with the key 'perturb' or 'uniform'");
  return read_list(reader, node);
}

/* === placeholder ============================================================================== */

/* Placeholders of `idm init` that nobody has filled in. */

static bool is_placeholder(const yaml_node_t *node)
{
  return node->type == YAML_SCALAR_NODE && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
         strcmp((const char *)node->data.scalar.value, IDM_PLACEHOLDER) == 0;
}

/* The first line after `last` with a placeholder; 0 where there is none. Counts those on it. */
static size_t next_line(const idm_yaml_tree *tree, size_t last, size_t *count)
{
  size_t found = 0;
  for (const yaml_node_t *n = tree->document.nodes.start; n < tree->document.nodes.top; n++) {
    const size_t line = n->start_mark.line + 1;
    if (!is_placeholder(n) || line <= last) continue;
    if (!found || line < found) {
      found = line;
      *count = 0;
    }
    *count += line == found;
  }
  return found;
}

/* "4, 9 and 12 to 15". */
idm_status idm_yaml_check_placeholders(const idm_yaml_tree *tree)
{
  char placeholder_lines[500] = "";
  size_t used = 0;
  size_t all = 0;
  size_t count = 0;
  const size_t first = next_line(tree, 0, &count);
  for (size_t line = first; line;) {
    size_t end = line;
    size_t follows;
    all += count;
    while ((follows = next_line(tree, end, &count)) == end + 1) {
      all += count;
      end = follows;
    }
    const char *comma = line == first ? "" : follows ? ", " : " and ";
    if (used < sizeof placeholder_lines && end == line)
      used += (size_t)snprintf(placeholder_lines + used, sizeof placeholder_lines - used, "%s%zu",
                               comma, line);
    else if (used < sizeof placeholder_lines)
      used += (size_t)snprintf(placeholder_lines + used, sizeof placeholder_lines - used,
                               "%s%zu to %zu", comma, line, end);
    line = follows;
  }
  if (!all) return IDM_OK;
  return idm_fail_at(
      tree->opt_error, tree->file, (long)first, 1,
      "%zu placeholder%s (" IDM_PLACEHOLDER ") that `idm init` or `idm learn` left %s still "
      "to be filled in, on line%s %s",
      all, all == 1 ? "" : "s", all == 1 ? "is" : "are",
      placeholder_lines[strspn(placeholder_lines, "0123456789")] ? "s" : "", placeholder_lines);
}

/* === population =============================================================================== */

/* The population of a YAML problem: priors of what people are like, in place of the usual ones. */

static idm_status read_positive(const idm_yaml_reader *reader, const idm_yaml_node *node,
                                const char *what, double *ret_value)
{
  const idm_status status = idm_yaml_number(reader->tree, node, what, false, ret_value);
  if (status != IDM_OK || *ret_value > 0) return status;
  return idm_yaml_unexpected(reader->tree, node, what, "a positive number");
}

/* The field of a block that a key sets. */
static double *field_of(idm_block *block, bool coefficient)
{
  return coefficient ? &block->population.coefficient : &block->population.sd;
}

/* The free block of that name. */
static idm_status find_block(const idm_yaml_reader *reader, const idm_yaml_node *key,
                             idm_block **ret_block)
{
  enum { most = 100 };
  idm_theta *theta = reader->problem->theta;
  const char *names[most];
  size_t count = 0;
  for (size_t i = 0; i < theta->blocks && count < most; i++) {
    if (!theta->block[i].info->scales) continue;
    names[count++] = theta->block[i].info->name;
    *ret_block = &theta->block[i];
    if (strcmp(names[count - 1], idm_yaml_text(key)) == 0) return IDM_OK;
  }
  return idm_yaml_unknown(reader->tree, key, "in population, the block", names, count);
}

/* One number for all blocks that can be free, or numbers by block. */
static idm_status read_scales(const idm_yaml_reader *reader, const idm_yaml_node *node,
                              const char *what, bool coefficient)
{
  idm_theta *theta = reader->problem->theta;
  double value = 0;
  if (!idm_yaml_is_mapping(node)) {
    const idm_status status = read_positive(reader, node, what, &value);
    for (size_t i = 0; i < theta->blocks && status == IDM_OK; i++)
      if (theta->block[i].info->scales) *field_of(&theta->block[i], coefficient) = value;
    return status;
  }
  idm_status status = IDM_OK;
  for (size_t i = 0; i < idm_yaml_count(node) && status == IDM_OK; i++) {
    idm_block *block = NULL;
    status = find_block(reader, idm_yaml_key(reader->tree, node, i), &block);
    if (status == IDM_OK)
      status = read_positive(reader, idm_yaml_item(reader->tree, node, i), what, &value);
    if (status == IDM_OK) *field_of(block, coefficient) = value;
  }
  return status;
}

/* `population: {sd:, coefficient:, correlation:}`; the first two are a number for every free block,
 * or numbers by block. */
static idm_status idm_yaml_read_population(idm_yaml_reader *reader)
{
  static const char *const keys[] = {"sd", "coefficient", "correlation", NULL};
  const idm_yaml_tree *tree = reader->tree;
  const idm_yaml_node *section = idm_yaml_find(tree, reader->root, "population");
  if (!section) return IDM_OK;
  idm_status status = idm_yaml_check_keys(tree, section, "population", keys);
  if (status != IDM_OK) return status;
  const idm_yaml_node *sd = idm_yaml_find(tree, section, "sd");
  const idm_yaml_node *coefficient = idm_yaml_find(tree, section, "coefficient");
  const idm_yaml_node *correlation = idm_yaml_find(tree, section, "correlation");
  if (sd) status = read_scales(reader, sd, "population.sd", false);
  if (status == IDM_OK && coefficient)
    status = read_scales(reader, coefficient, "population.coefficient", true);
  if (status == IDM_OK && correlation)
    status =
        read_positive(reader, correlation, "population.correlation", &reader->problem->correlation);
  return status;
}

/* === parse ==================================================================================== */

/* The YAML problem file: the order in which its parts are read, and what holds of the whole. */

/* Keys beside those of blocks. */
static const char *const structure[] = {
    "name",        "states",           "actions",        "observations", "start",
    "ends",        "terminal",         "horizon",        "transition",   "observation",
    "utility",     "models",           "agent",          "free",         "data",
    "fit",         "observation_from", "population",     "audit",        "environments",
    "environment", "features",         "feature_weights"};

static idm_status check_keys(const idm_yaml_reader *reader)
{
  const size_t count = sizeof structure / sizeof structure[0];
  const char *allowed_names[sizeof structure / sizeof structure[0] + IDM_BLOCK_COUNT + 1] = {NULL};
  memcpy(allowed_names, structure, sizeof structure);
  for (size_t i = 0, at = count; i < IDM_BLOCK_COUNT; i++) {
    const idm_block_info *info = idm_block_describe((idm_block_id)i);
    if (idm_yaml_is_block_key(info)) allowed_names[at++] = info->name;
  }
  return idm_yaml_check_keys(reader->tree, reader->root, "the problem", allowed_names);
}

static idm_status read_name(idm_yaml_reader *reader)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "name");
  if (!node) return IDM_OK;
  if (!idm_yaml_is_scalar(node) || node->data.scalar.length > IDM_YAML_LABEL)
    return idm_yaml_unexpected(reader->tree, node, "name", "a text of at most 1000 bytes");
  char *name = idm_text_copy(idm_yaml_text(node), node->data.scalar.length);
  if (!name) return idm_fail_memory(reader->opt_error);
  free(reader->problem->setting->name);
  reader->problem->setting->name = name;
  return IDM_OK;
}

/* Sizes first: what cannot be held is refused before any label is looked at. */
static idm_status make_problem(idm_yaml_reader *reader)
{
  idm_status status = check_keys(reader);
  if (status == IDM_OK) status = idm_yaml_measure_spaces(reader);
  if (status == IDM_OK) reader->moves = idm_yaml_has_moves(reader);
  if (status == IDM_OK) status = idm_yaml_check_memory(reader, 1);
  if (status == IDM_OK)
    status =
        reader->moves
            ? idm_problem_create_sparse(reader->sizes, &reader->problem, reader->opt_error)
            : idm_problem_create(reader->sizes, 1, true, true, &reader->problem, reader->opt_error);
  return status;
}

/* What the file gives for terminal states is idle, in its dynamics first: models follow them. */
static idm_status make_terminal_absorbing(idm_yaml_reader *reader)
{
  idm_problem_absorb(reader->problem);
  return IDM_OK;
}

static void note_rescaled(const idm_yaml_reader *reader)
{
  for (size_t k = 0; k < 2; k++) {
    const idm_yaml_rescaled *rescaled = &reader->rescaled[k];
    if (rescaled->rows)
      idm_notes_add(
          reader->opt_notes, "%s: %zu row%s missed a sum of 1, by at most %.3g, and %s normalised",
          idm_yaml_kind_name((idm_yaml_kind)k), rescaled->rows, rescaled->rows == 1 ? "" : "s",
          rescaled->largest, rescaled->rows == 1 ? "was" : "were");
  }
}

/* Each part needs those before it: labels, endings, the environment, models, utility, then the
 * rest. */
static idm_status read_problem(idm_yaml_reader *reader)
{
  static idm_status (*const parts[])(idm_yaml_reader *) = {make_problem,
                                                           read_name,
                                                           idm_yaml_read_labels,
                                                           idm_yaml_read_episode,
                                                           idm_yaml_read_environment,
                                                           make_terminal_absorbing,
                                                           idm_yaml_read_environments,
                                                           idm_yaml_read_models,
                                                           idm_yaml_read_utility,
                                                           idm_yaml_read_features,
                                                           make_terminal_absorbing,
                                                           idm_yaml_read_agent,
                                                           idm_yaml_read_blocks,
                                                           idm_yaml_read_free,
                                                           idm_yaml_read_population,
                                                           idm_yaml_read_columns};
  idm_status status = IDM_OK;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == IDM_OK; i++)
    status = parts[i](reader);
  if (status == IDM_OK) note_rescaled(reader);
  return status;
}

/* A net under the checks above: what it catches has a sentence, but no place. */
static idm_status validate(const idm_yaml_reader *reader)
{
  idm_error error = {0};
  const idm_status status = idm_problem_validate(reader->problem, &error);
  if (status == IDM_INPUT)
    return idm_fail_at(reader->opt_error, reader->tree->file, 0, 0, "%s", error.message);
  if (status != IDM_OK && reader->opt_error) *reader->opt_error = error;
  return status;
}

/* idm_problem_parse_yaml with such a reader; the text is that of the file at `place`, which tables
 * are relative to. */
static idm_status idm_problem_parse_sections(const char *text, size_t length,
                                             const idm_location *place,
                                             idm_yaml_section opt_section, void *context,
                                             idm_problem **ret_problem, idm_notes *opt_notes,
                                             idm_error *opt_error)
{
  *ret_problem = NULL;
  idm_yaml_tree *tree = NULL;
  idm_status status = idm_yaml_load(text, length, place->path, &tree, opt_error);
  if (status != IDM_OK) return status;
  idm_yaml_reader reader = {.tree = tree,
                            .root = idm_yaml_root(tree),
                            .opt_location = place,
                            .opt_notes = opt_notes,
                            .opt_error = opt_error};
  status = idm_yaml_check_placeholders(tree);
  if (status == IDM_OK) status = read_problem(&reader);
  if (status == IDM_OK) status = validate(&reader);
  if (status == IDM_OK && opt_section) status = opt_section(context, tree);
  if (status == IDM_OK)
    *ret_problem = reader.problem;
  else
    idm_problem_destroy(reader.problem);
  idm_names_destroy(&reader.states);
  idm_names_destroy(&reader.actions);
  idm_yaml_destroy(tree);
  return status;
}

idm_status idm_problem_parse_yaml(const char *text, size_t length, const char *opt_file,
                                  idm_problem **ret_problem, idm_notes *opt_notes,
                                  idm_error *opt_error)
{
  idm_require(text, ret_problem);
  const idm_location place = idm_location_of(opt_file);
  return idm_problem_parse_sections(text, length, &place, NULL, NULL, ret_problem, opt_notes,
                                    opt_error);
}

/* === read ===================================================================================== */

/* Files of this many bytes are more than anyone writes by hand or by script. */
static const size_t max_size = (size_t)128 << 20;

static bool ends_in_pomdp(const char *path)
{
  static const char suffix[] = ".pomdp";
  const size_t length = strlen(path);
  const size_t tail = sizeof suffix - 1;
  if (length < tail) return false;
  for (size_t i = 0; i < tail; i++)
    if (tolower((unsigned char)path[length - tail + i]) != suffix[i]) return false;
  return true;
}

static idm_status read_example(const char *path, const char *name, idm_problem **ret_problem,
                               idm_notes *opt_notes, idm_error *opt_error)
{
  char allowed_names[400] = "";
  size_t length = 0;
  for (size_t i = 0; idm_example_name(i); i++) {
    const char *text = idm_example_text(i);
    if (strcmp(idm_example_name(i), name) == 0)
      return idm_problem_parse_yaml(text, strlen(text), path, ret_problem, opt_notes, opt_error);
    const size_t room = sizeof allowed_names - length;
    const int written =
        snprintf(allowed_names + length, room, "%s%s", i ? ", " : "", idm_example_name(i));
    if (written > 0 && (size_t)written < room) length += (size_t)written;
  }
  return idm_fail(opt_error, IDM_USAGE, "there is no example '%.60s'; expected one of %s", name,
                  allowed_names);
}

const char *idm_problem_example(const char *path)
{
  static const char prefix[] = "example:";
  return strncmp(path, prefix, sizeof prefix - 1) == 0 ? path + sizeof prefix - 1 : NULL;
}

idm_status idm_problem_read_sections(const idm_location *place, idm_yaml_section opt_section,
                                     void *context, idm_problem **ret_problem, idm_notes *opt_notes,
                                     idm_error *opt_error)
{
  *ret_problem = NULL;
  const char *path = place->path;
  const char *example = idm_location_in_folder(place) ? NULL : idm_problem_example(path);
  if (example) return read_example(path, example, ret_problem, opt_notes, opt_error);
  char *text = NULL;
  size_t length = 0;
  idm_status status = idm_file_read_at(place, max_size, &text, &length, opt_error);
  if (status != IDM_OK) return status;
  status = ends_in_pomdp(path)
               ? idm_problem_parse_pomdp(text, length, path, ret_problem, opt_notes, opt_error)
               : idm_problem_parse_sections(text, length, place, opt_section, context, ret_problem,
                                            opt_notes, opt_error);
  free(text);
  return status;
}

idm_status idm_problem_read(const char *path, idm_problem **ret_problem, idm_notes *opt_notes,
                            idm_error *opt_error)
{
  idm_require(path, ret_problem);
  const idm_location place = idm_location_of(path);
  return idm_problem_read_sections(&place, NULL, NULL, ret_problem, opt_notes, opt_error);
}

idm_status idm_problem_read_by_rows(const char *path, idm_problem **ret_problem,
                                    idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(path, ret_problem);
  if (!ends_in_pomdp(path)) return idm_problem_read(path, ret_problem, opt_notes, opt_error);
  *ret_problem = NULL;
  char *text = NULL;
  size_t length = 0;
  idm_status status = idm_file_read(path, max_size, &text, &length, opt_error);
  if (status == IDM_OK)
    status = idm_pomdp_parse(text, length, path, true, ret_problem, opt_notes, opt_error);
  free(text);
  return status;
}
