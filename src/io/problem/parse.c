/* The YAML problem file: the order in which its parts are read, and what holds of the whole. */
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/problem_file.h"
#include "io/problem/agent.h"
#include "io/problem/blocks.h"
#include "io/problem/columns.h"
#include "io/problem/dynamics.h"
#include "io/problem/environments.h"
#include "io/problem/episode.h"
#include "io/problem/features.h"
#include "io/problem/free.h"
#include "io/problem/models.h"
#include "io/problem/moves.h"
#include "io/problem/parse.h"
#include "io/problem/placeholder.h"
#include "io/problem/population.h"
#include "io/problem/spaces.h"
#include "io/problem/utility.h"
#include "setting/terminal.h"

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
  const char *known[sizeof structure / sizeof structure[0] + IDM_BLOCK_COUNT + 1] = {NULL};
  memcpy(known, structure, sizeof structure);
  for (size_t i = 0, at = count; i < IDM_BLOCK_COUNT; i++) {
    const idm_block_info *info = idm_block_describe((idm_block_id)i);
    if (idm_yaml_is_block_key(info)) known[at++] = info->name;
  }
  return idm_yaml_check_keys(reader->tree, reader->root, "the problem", known);
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
  if (status == IDM_OK) reader->moves = idm_yaml_gives_moves(reader);
  if (status == IDM_OK) status = idm_yaml_check_memory(reader, 1);
  if (status == IDM_OK)
    status =
        reader->moves
            ? idm_problem_create_moving(reader->sizes, &reader->problem, reader->opt_error)
            : idm_problem_create(reader->sizes, 1, true, true, &reader->problem, reader->opt_error);
  return status;
}

/* What the file gives for terminal states is idle, in its dynamics first: models follow them. */
static idm_status absorb(idm_yaml_reader *reader)
{
  idm_problem_absorb(reader->problem);
  return IDM_OK;
}

static void note_mended(const idm_yaml_reader *reader)
{
  for (size_t k = 0; k < 2; k++) {
    const idm_yaml_mended *mended = &reader->mended[k];
    if (mended->rows)
      idm_notes_add(
          reader->opt_notes, "%s: %zu row%s missed a sum of 1, by at most %.3g, and %s normalised",
          idm_yaml_kind_name((idm_yaml_kind)k), mended->rows, mended->rows == 1 ? "" : "s",
          mended->largest, mended->rows == 1 ? "was" : "were");
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
                                                           absorb,
                                                           idm_yaml_read_environments,
                                                           idm_yaml_read_models,
                                                           idm_yaml_read_utility,
                                                           idm_yaml_read_features,
                                                           absorb,
                                                           idm_yaml_read_agent,
                                                           idm_yaml_read_blocks,
                                                           idm_yaml_read_free,
                                                           idm_yaml_read_population,
                                                           idm_yaml_read_columns};
  idm_status status = IDM_OK;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == IDM_OK; i++)
    status = parts[i](reader);
  if (status == IDM_OK) note_mended(reader);
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

idm_status idm_problem_parse_sections(const char *text, size_t length, const idm_place *place,
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
                            .opt_place = place,
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
  const idm_place place = idm_place_of(opt_file);
  return idm_problem_parse_sections(text, length, &place, NULL, NULL, ret_problem, opt_notes,
                                    opt_error);
}
