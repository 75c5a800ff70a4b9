/* Free blocks of a YAML problem: scale, prior, and the priors taken where none is given. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/problem/entries.h"
#include "io/problem/features.h"
#include "io/problem/fields.h"
#include "io/problem/free.h"
#include "io/problem/spaces.h"
#include "io/problem/ties.h"
#include "setting/features.h"
#include "setting/freedom.h"

/* What default priors scale with; utilities from columns are not known before the log is. */
static double range_of(const idm_problem *problem, size_t id)
{
  return problem->utility_sources ? 1 : idm_problem_range(problem, id);
}

/* --- priors from the file ------------------------------------------------------------------- */

/* Which arguments must be positive: sds, rates, shapes and concentrations. */
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
  /* The block owns them from here on, whatever comes. */
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

/* `flat`, or one prior with its arguments. */
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

/* One of the scales that the block may have. */
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

/* The reference action of a contrast: the one named, or the usual one; `none` or an empty list for
 * nobody, which leaves more numbers free than can be told apart. */
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

/* Weights of observed states count by their ratios: that of a reference state is held. */
static idm_status read_reference_state(const idm_yaml_reader *reader, const idm_yaml_node *opt_node,
                                       size_t id)
{
  const idm_setting *setting = reader->problem->setting;
  const char *name = opt_node && idm_yaml_is_scalar(opt_node) ? idm_yaml_text(opt_node) : NULL;
  const long state = name ? idm_labels_find(&setting->states, name, strlen(name)) : 0;
  if ((opt_node && !name) || state < 0)
    return idm_yaml_unexpected(reader->tree, opt_node, "free.belief_prior.reference", "a state");
  idm_block *block = &reader->problem->theta->block[id];
  /* Weights count by their ratios: in units of the one that is held, so that a prior of 1 is that
   * of states that are alike. */
  const double unit = block->value[state];
  for (size_t i = 0; i < block->size; i++) block->value[i] /= unit;
  return idm_theta_hold_one(reader->problem->theta, setting, id, (size_t)state, reader->opt_error);
}

/* What chooses the numbers of a block that move; NULL where the file does not give it. */
typedef struct part {
  const idm_yaml_node *entries;
  const idm_yaml_node *reference;
  const char *before; /* "BLOCK." before entries that are names of blocks with a field */
} part;

/* Which of its numbers move, where the file chooses, they are a contrast, or they are tied. */
static idm_status read_part(idm_yaml_reader *reader, const idm_yaml_node *node, part of, size_t id)
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
  const bool some = id == IDM_UTILITY && idm_setting_has_terminal_states(reader->problem->setting);
  if (!of.entries && !of.reference && !some) return IDM_OK;
  if (id == IDM_UTILITY) return idm_yaml_read_entries(reader, of.entries, of.reference);
  return idm_yaml_fail(reader->tree, of.entries ? of.entries : of.reference,
                       "free.%s has no %s to choose", info->name,
                       of.entries ? "entries" : "reference");
}

/* Mark a block as free. */
static idm_status begin_block(const idm_yaml_reader *reader, const idm_yaml_node *key, size_t id)
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

/* Scale, prior and numbers that move of a block, from the node under its name. */
static idm_status read_request(idm_yaml_reader *reader, const idm_yaml_node *node, part of,
                               size_t id)
{
  static const char *const fields[] = {"scale", "prior", "entries", "reference", NULL};
  idm_theta *theta = reader->problem->theta;
  idm_block *block = &theta->block[id];
  char what[60];
  snprintf(what, sizeof what, "free.%s", block->info->name);
  /* Names of tied entries are the file's own. */
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
  if (status == IDM_OK) status = read_part(reader, node, of, id);
  if (status != IDM_OK) return status;
  return prior
             ? read_prior(reader, prior, block)
             : idm_theta_default_prior(theta, id, range_of(reader->problem, id), reader->opt_error);
}

/* Free one block: its name, or "BLOCK.FIELD...", at `key`, its scale and prior at opt_node. Of a
 * list all names that begin with the same block are read together. */
static idm_status read_block(idm_yaml_reader *reader, const idm_yaml_node *key,
                             const idm_yaml_node *opt_node, const idm_yaml_node *opt_list)
{
  idm_theta *theta = reader->problem->theta;
  if (!idm_yaml_is_scalar(key))
    return idm_yaml_unexpected(reader->tree, key, "free", "names of blocks");
  size_t id = 0;
  char before[80];
  part of = {0};
  if (idm_yaml_names_field(theta, idm_yaml_text(key), &id)) {
    snprintf(before, sizeof before, "%.70s.", theta->block[id].info->name);
    of = (part){.entries = opt_list ? opt_list : key, .before = before};
  } else {
    const int found = idm_theta_find(theta, idm_yaml_text(key));
    if (found < 0 || !theta->block[found].info->scales) return unknown_block(reader, key);
    id = (size_t)found;
  }
  idm_status status = begin_block(reader, key, id);
  if (status != IDM_OK) return status;
  if (opt_node && !idm_yaml_is_null(opt_node)) return read_request(reader, opt_node, of, id);
  status = read_part(reader, key, of, id);
  if (status != IDM_OK) return status;
  return idm_theta_default_prior(theta, id, range_of(reader->problem, id), reader->opt_error);
}

/* Whether item i of a list names a field of a block that an earlier one does: it was read with
 * that. */
static bool is_read(const idm_yaml_reader *reader, const idm_yaml_node *list, size_t i)
{
  const idm_theta *theta = reader->problem->theta;
  size_t id[2];
  const idm_yaml_node *item = idm_yaml_item(reader->tree, list, i);
  if (!idm_yaml_is_scalar(item) || !idm_yaml_names_field(theta, idm_yaml_text(item), &id[0]))
    return false;
  for (size_t k = 0; k < i; k++) {
    item = idm_yaml_item(reader->tree, list, k);
    if (idm_yaml_names_field(theta, idm_yaml_text(item), &id[1]) && id[0] == id[1]) return true;
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
