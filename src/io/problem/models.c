/* Candidate models of a YAML problem: written out, by a rule, or the environment's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "idm/dynamics.h"
#include "idm/theta.h"
#include "io/problem/dynamics.h"
#include "io/problem/models.h"
#include "io/problem/spaces.h"

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
static idm_status read_none(idm_yaml_reader *reader)
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

idm_status idm_yaml_read_models(idm_yaml_reader *reader)
{
  const idm_yaml_node *node = idm_yaml_find(reader->tree, reader->root, "models");
  if (node && reader->moves)
    return idm_yaml_fail(reader->tree, node,
                         "models are matrices, and transition is given row by row; expected one "
                         "form for both");
  if (reader->moves) return IDM_OK;
  if (!node) return read_none(reader);
  if (idm_yaml_is_mapping(node)) return read_by_rule(reader, node);
  if (!idm_yaml_is_list(node) || !idm_yaml_count(node))
    return idm_yaml_unexpected(
        reader->tree, node, "models",
        "a list of models, or a mapping with the key 'perturb' or 'uniform'");
  return read_list(reader, node);
}
