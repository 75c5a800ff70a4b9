/* The family of environments of a YAML problem: each is the setting with parts of its own. */
#include "io/problem/environments.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/problem/dynamics.h"
#include "io/problem/episode.h"
#include "io/problem/moves.h"
#include "io/problem/spaces.h"

static const char *const keys[] = {"transition", "observation", "start", NULL};

/* Matrices of a kind into the setting of the environment, which may have none yet. */
static idm_status read_matrices(idm_yaml_reader *one, idm_yaml_kind kind, double **matrices)
{
  const idm_yaml_node *node = idm_yaml_find(one->tree, one->root, idm_yaml_kind_name(kind));
  const size_t size = one->sizes.actions * one->sizes.states * idm_yaml_kind_columns(one, kind);
  if (!node) return IDM_OK;
  double *read = idm_new(size, sizeof *read);
  if (!read) return idm_fail_memory(one->opt_error);
  const idm_status status = idm_yaml_read_matrices(one, kind, node, *matrices, read);
  if (status != IDM_OK) {
    free(read);
    return status;
  }
  free(*matrices);
  *matrices = read;
  return IDM_OK;
}

static idm_status read_transition(idm_yaml_reader *one)
{
  idm_setting *setting = one->problem->setting;
  const idm_yaml_node *node = idm_yaml_find(one->tree, one->root, "transition");
  if (!node) return IDM_OK;
  if (idm_yaml_gives_moves(one) != one->moves)
    return idm_yaml_fail(
        one->tree, node, "transition is given %s here and %s elsewhere; expected one form for all",
        one->moves ? "by matrices" : "row by row", one->moves ? "row by row" : "by matrices");
  if (!one->moves) return read_matrices(one, IDM_YAML_TRANSITION, &setting->transition);
  idm_moves_destroy(setting->moves);
  setting->moves = NULL;
  return idm_yaml_read_moves(one);
}

static idm_status read_observation(idm_yaml_reader *one)
{
  const idm_yaml_node *node = idm_yaml_find(one->tree, one->root, "observation");
  if (node && one->fully_observed)
    return idm_yaml_fail(one->tree, node,
                         "observations are the states, so that observation is identity; expected "
                         "no matrices here");
  return read_matrices(one, IDM_YAML_OBSERVATION, &one->problem->setting->emission);
}

/* One environment: a copy of the setting, and a reader whose root is its node. */
static idm_status read_one(const idm_yaml_reader *reader, size_t i, idm_environment *environment)
{
  const idm_yaml_node *family = idm_yaml_find(reader->tree, reader->root, "environments");
  const idm_yaml_node *key = idm_yaml_key(reader->tree, family, i);
  const idm_yaml_node *node = idm_yaml_item(reader->tree, family, i);
  idm_problem part = {.theta = reader->problem->theta};
  idm_yaml_reader one = *reader;
  if (!key->data.scalar.length || key->data.scalar.length > IDM_YAML_LABEL)
    return idm_yaml_unexpected(reader->tree, key, "the name of an environment",
                               "a text of 1 to 1000 bytes");
  if (!idm_yaml_is_mapping(node))
    return idm_yaml_unexpected(reader->tree, node, "an environment",
                               "transition, observation and start, or some of them");
  idm_status status = idm_yaml_check_keys(reader->tree, node, "an environment", keys);
  if (status == IDM_OK)
    status = idm_setting_copy(reader->problem->setting, &environment->setting, reader->opt_error);
  if (status != IDM_OK) return status;
  environment->name = idm_text_copy(idm_yaml_text(key), key->data.scalar.length);
  if (!environment->name) return idm_fail_memory(reader->opt_error);
  part.setting = environment->setting;
  one.problem = &part;
  one.root = node;
  status = read_transition(&one);
  if (status == IDM_OK) status = read_observation(&one);
  const idm_yaml_node *start = idm_yaml_find(reader->tree, node, "start");
  if (status == IDM_OK && start) status = idm_yaml_read_start(&one, start);
  if (status == IDM_OK && !environment->setting->transition && !environment->setting->moves)
    status = idm_yaml_fail(reader->tree, node,
                           "the environment '%.100s' has no transition; expected it here, or for "
                           "all in the problem itself",
                           environment->name);
  return status;
}

/* The environment that the problem is in: the one it names; the first where it says nothing of its
 * own of where actions lead or what is seen. */
static idm_status settle(idm_yaml_reader *reader)
{
  idm_problem *problem = reader->problem;
  const idm_setting *own = problem->setting;
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "environment");
  const bool silent = (!own->transition && !own->moves) || (!own->emission && !own->moves);
  if (!node && !silent) return IDM_OK;
  if (!node) return idm_problem_enter(problem, problem->environment[0].name, reader->opt_error);
  return idm_yaml_enter(reader, node);
}

idm_status idm_yaml_enter(idm_yaml_reader *reader, const idm_yaml_node *node)
{
  idm_error error = {0};
  if (!idm_yaml_is_scalar(node))
    return idm_yaml_unexpected(reader->tree, node, "environment", "the name of an environment");
  const idm_status status = idm_problem_enter(reader->problem, idm_yaml_text(node), &error);
  if (status == IDM_OK) return IDM_OK;
  if (status == IDM_USAGE) return idm_yaml_fail(reader->tree, node, "%s", error.message);
  if (reader->opt_error) *reader->opt_error = error;
  return status;
}

idm_status idm_yaml_read_environments(idm_yaml_reader *reader)
{
  idm_problem *problem = reader->problem;
  const idm_yaml_node *family = idm_yaml_find(reader->tree, reader->root, "environments");
  const idm_yaml_node *named = idm_yaml_find(reader->tree, reader->root, "environment");
  if (!family) return named ? idm_yaml_enter(reader, named) : IDM_OK;
  if (!idm_yaml_is_mapping(family) || !idm_yaml_count(family))
    return idm_yaml_unexpected(reader->tree, family, "environments",
                               "a mapping of names to environments");
  const size_t count = idm_yaml_count(family);
  idm_status status = idm_yaml_check_memory(reader, count);
  if (status != IDM_OK) return status;
  problem->environment = idm_new(count, sizeof *problem->environment);
  if (!problem->environment) return idm_fail_memory(reader->opt_error);
  problem->environments = count;
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    status = read_one(reader, i, &problem->environment[i]);
  return status == IDM_OK ? settle(reader) : status;
}
