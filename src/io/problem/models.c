/* Candidate models of a YAML problem: written out, perturbed, or the environment's own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "idm/theta.h"
#include "io/problem/dynamics.h"
#include "io/problem/models.h"
#include "io/problem/spaces.h"

/* A perturbation may make at most 3^6 models. */
enum { most_digits = 6 };

static const double lowest = 0.001;  /* probabilities that a perturbation moves stay */
static const double highest = 0.999; /* inside these */

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

/* --- perturbed models ----------------------------------------------------------------------- */

/* Rows move by -d, 0 or +d: the model's number in base 3 holds one digit for each row that moves by
 * itself, or one for each kind where all rows move together. */
typedef struct perturbation {
  double size[2]; /* by kind; 0: does not move */
  bool independent;
  size_t digits;
} perturbation;

static idm_status read_perturbation(const idm_yaml_reader *reader, const idm_yaml_node *models,
                                    perturbation *ret)
{
  static const char *const keys[] = {"perturb", "independent", NULL};
  static const char *const kinds[] = {"transition", "observation", NULL};
  *ret = (perturbation){0};
  idm_status status = idm_yaml_check_keys(reader->tree, models, "models", keys);
  if (status != IDM_OK) return status;
  const idm_yaml_node *perturb = idm_yaml_find(reader->tree, models, "perturb");
  const idm_yaml_node *independent = idm_yaml_find(reader->tree, models, "independent");
  if (!perturb)
    return idm_yaml_fail(reader->tree, models,
                         "models lacks the key 'perturb'; expected it, or a list of models");
  if (independent)
    status = idm_yaml_boolean(reader->tree, independent, "independent", &ret->independent);
  if (status == IDM_OK)
    status = idm_yaml_check_keys(reader->tree, perturb, "models.perturb", kinds);
  if (status == IDM_OK && !idm_yaml_count(perturb))
    status = idm_yaml_unexpected(reader->tree, perturb, "models.perturb",
                                 "observation, transition or both");
  for (size_t k = 0; k < 2 && status == IDM_OK; k++) {
    const idm_yaml_node *node = idm_yaml_find(reader->tree, perturb, kinds[k]);
    if (!node) continue;
    if (k == IDM_YAML_OBSERVATION && reader->fully_observed)
      return idm_yaml_fail(reader->tree, node,
                           "observations are the states and cannot move; expected transition only");
    status = idm_yaml_number(reader->tree, node, kinds[k], false, &ret->size[k]);
    if (status == IDM_OK && !(ret->size[k] > 0 && ret->size[k] < 1))
      status = idm_yaml_unexpected(reader->tree, node, kinds[k], "a number between 0 and 1");
  }
  return status;
}

static void count_digits(const idm_yaml_reader *reader, perturbation *p)
{
  size_t moving = reader->sizes.actions;
  for (size_t u = 0; u < reader->sizes.actions; u++)
    moving -= reader->problem->setting->terminal[u];
  p->digits = 0;
  for (size_t k = 0; k < 2; k++)
    if (p->size[k] > 0) p->digits += p->independent ? moving * reader->sizes.states : 1;
}

/* Move the most likely outcome (the first of equals) by `offset`; the others keep their
 * proportions. */
static void perturb_row(double *row, size_t count, double offset)
{
  size_t top = 0;
  for (size_t i = 1; i < count; i++)
    if (row[i] > row[top]) top = i;
  double others = 0;
  for (size_t i = 0; i < count; i++)
    if (i != top) others += row[i];
  if (count < 2) return;
  const double moved = fmin(fmax(row[top] + offset, lowest), highest);
  for (size_t i = 0; i < count; i++)
    if (i != top)
      row[i] = others > 0 ? row[i] / others * (1 - moved) : (1 - moved) / (double)(count - 1);
  row[top] = moved;
  idm_normalise(row, count);
}

/* -1, 0 or +1: digit `place` of model m, the first digit slowest. */
static int digit(size_t m, size_t place, size_t digits)
{
  for (size_t i = place + 1; i < digits; i++) m /= 3;
  return (int)(m % 3) - 1;
}

static void perturb_model(idm_yaml_reader *reader, const perturbation *p, size_t m)
{
  size_t place = 0;
  /* Observations are the slower digits. */
  for (int k = IDM_YAML_OBSERVATION; k >= IDM_YAML_TRANSITION; k--) {
    const idm_yaml_kind kind = (idm_yaml_kind)k;
    const size_t columns = idm_yaml_kind_columns(reader, kind);
    double *matrices = model_matrices(reader, kind, m);
    memcpy(matrices, environment_of(reader, kind), model_size(reader, kind) * sizeof *matrices);
    if (!(p->size[k] > 0)) continue;
    for (size_t row = 0; row < reader->sizes.actions * reader->sizes.states; row++) {
      if (reader->problem->setting->terminal[row / reader->sizes.states]) continue;
      const int step = digit(m, place, p->digits);
      if (step) perturb_row(matrices + row * columns, columns, step * p->size[k]);
      place += p->independent;
    }
    place += !p->independent;
  }
}

static idm_status read_perturbed(idm_yaml_reader *reader, const idm_yaml_node *models)
{
  perturbation p;
  idm_status status = read_perturbation(reader, models, &p);
  if (status != IDM_OK) return status;
  for (size_t k = 0; k < 2; k++)
    if (!environment_of(reader, (idm_yaml_kind)k))
      return idm_yaml_fail(reader->tree, models,
                           "models are perturbed, but the problem has no %s; expected it",
                           kind_key[k]);
  count_digits(reader, &p);
  if (p.digits > most_digits)
    return idm_yaml_fail(reader->tree, models,
                         "%zu rows that move by themselves make 3^%zu = %.4g models; expected at "
                         "most 3^%d = %.0f",
                         p.digits, p.digits, pow(3, (double)p.digits), most_digits,
                         pow(3, most_digits));
  size_t count = 1;
  for (size_t i = 0; i < p.digits; i++) count *= 3;
  status = make_room(reader, count);
  for (size_t m = 0; m < count && status == IDM_OK; m++) {
    reader->problem->theta->block[IDM_MODEL_PRIOR].value[m] = 1.0 / (double)count;
    perturb_model(reader, &p, m);
  }
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
  if (!node) return read_none(reader);
  if (idm_yaml_is_mapping(node)) return read_perturbed(reader, node);
  if (!idm_yaml_is_list(node) || !idm_yaml_count(node))
    return idm_yaml_unexpected(reader->tree, node, "models",
                               "a list of models, or a mapping with the key 'perturb'");
  return read_list(reader, node);
}
