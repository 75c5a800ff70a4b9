/* The parameter: named blocks with roles, scales and priors. */
#include "idm/theta.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const char *const block_names[] = {
#define BLOCK_NAME(id, name, text) name,
    IDM_BLOCK_LIST(BLOCK_NAME)
#undef BLOCK_NAME
};
static const char *const scale_names[] = {
#define SCALE_NAME(id, name) name,
    IDM_SCALE_LIST(SCALE_NAME)
#undef SCALE_NAME
};
static const struct {
  const char *name;
  int arguments;
} priors[] = {
#define PRIOR_ROW(id, name, arguments) {name, arguments},
    IDM_PRIOR_LIST(PRIOR_ROW)
#undef PRIOR_ROW
};

const char *idm_block_name(idm_block_id id)
{
  return block_names[id];
}

const char *idm_scale_name(idm_scale scale)
{
  return scale_names[scale];
}

const char *idm_prior_name(idm_prior_kind kind)
{
  return priors[kind].name;
}

int idm_prior_arguments(idm_prior_kind kind)
{
  return priors[kind].arguments;
}

int idm_block_find(const char *name)
{
  for (int i = 0; i < IDM_BLOCK_COUNT; i++)
    if (strcmp(block_names[i], name) == 0) return i;
  return -1;
}

int idm_scale_find(const char *name)
{
  for (size_t i = 0; i < sizeof scale_names / sizeof scale_names[0]; i++)
    if (strcmp(scale_names[i], name) == 0) return (int)i;
  return -1;
}

int idm_prior_find(const char *name)
{
  for (size_t i = 0; i < sizeof priors / sizeof priors[0]; i++)
    if (strcmp(priors[i].name, name) == 0) return (int)i;
  return -1;
}

idm_status idm_theta_resize(idm_theta *theta, idm_block_id id, size_t size, size_t variants,
                            idm_error *opt_error)
{
  double *value = idm_new(idm_times(size, variants), sizeof *value);
  if (!value) return idm_fail_memory(opt_error);
  idm_block *block = &theta->block[id];
  free(block->value);
  block->value = value;
  block->size = size;
  block->variants = variants;
  return IDM_OK;
}

static void fill(double *value, size_t count, double number)
{
  for (size_t i = 0; i < count; i++) value[i] = number;
}

idm_status idm_theta_create(idm_sizes sizes, size_t models, idm_theta **ret_theta,
                            idm_error *opt_error)
{
  *ret_theta = NULL;
  if (!models) return idm_fail(opt_error, IDM_USAGE, "an agent needs at least one model");
  idm_theta *theta = idm_new(1, sizeof *theta);
  if (!theta) return idm_fail_memory(opt_error);
  theta->sizes = sizes;
  theta->models = models;

  const size_t pairs = idm_times(sizes.actions, sizes.states);
  const size_t worlds = idm_times(models, pairs);
  size_t size[IDM_BLOCK_COUNT];
  for (int i = 0; i < IDM_BLOCK_COUNT; i++) size[i] = 1;
  size[IDM_UTILITY] = pairs;
  size[IDM_CERTAINTY] = 2;
  size[IDM_ACTION_PRIOR] = sizes.actions;
  size[IDM_MODEL_PRIOR] = models;
  size[IDM_BELIEF_PRIOR] = 0;
  size[IDM_TRANSITION] = idm_times(worlds, sizes.states);
  size[IDM_EMISSION] = idm_times(worlds, sizes.observations);
  size[IDM_WEIGHTS] = 0;
  for (int i = 0; i < IDM_BLOCK_COUNT; i++) {
    const idm_status status = idm_theta_resize(theta, (idm_block_id)i, size[i], 1, opt_error);
    if (status != IDM_OK) {
      idm_theta_destroy(theta);
      return status;
    }
  }
  theta->block[IDM_CERTAINTY].value[0] = 1;
  theta->block[IDM_DISCOUNT].value[0] = 0.95;
  theta->block[IDM_BETA].value[0] = INFINITY;
  theta->block[IDM_TEMPERATURE].value[0] = 1;
  fill(theta->block[IDM_ACTION_PRIOR].value, sizes.actions, 1.0 / (double)sizes.actions);
  fill(theta->block[IDM_MODEL_PRIOR].value, models, 1.0 / (double)models);
  *ret_theta = theta;
  return IDM_OK;
}

void idm_theta_destroy(idm_theta *theta)
{
  if (!theta) return;
  idm_theta_clamp(theta);
  for (int i = 0; i < IDM_BLOCK_COUNT; i++) free(theta->block[i].value);
  free(theta);
}

void idm_theta_clamp(idm_theta *theta)
{
  for (int i = 0; i < IDM_BLOCK_COUNT; i++) {
    idm_block *block = &theta->block[i];
    free(block->prior.argument);
    free(block->coordinate);
    idm_labels_destroy(&block->coordinate_name);
    block->role = IDM_NORMATIVE;
    block->scale = IDM_SCALE_IDENTITY;
    block->prior = (idm_prior){0};
    block->usual_prior = false;
    block->coordinate = NULL;
  }
}

/* Deep copy of what makes a block free; false where memory is short. */
static bool copy_freedom(const idm_block *from, idm_block *to)
{
  to->prior.argument =
      idm_duplicate(from->prior.argument, from->prior.count, sizeof *to->prior.argument);
  to->coordinate =
      from->coordinate ? idm_duplicate(from->coordinate, from->size, sizeof *to->coordinate) : NULL;
  const idm_status named = idm_labels_copy(&from->coordinate_name, &to->coordinate_name, NULL);
  return named == IDM_OK && (to->prior.argument || !from->prior.argument) &&
         (to->coordinate || !from->coordinate);
}

idm_status idm_theta_copy(const idm_theta *theta, idm_theta **ret_theta, idm_error *opt_error)
{
  *ret_theta = NULL;
  idm_theta *copy = idm_duplicate(theta, 1, sizeof *theta);
  if (!copy) return idm_fail_memory(opt_error);
  bool whole = true;
  for (int i = 0; i < IDM_BLOCK_COUNT; i++) {
    const idm_block *from = &theta->block[i];
    idm_block *to = &copy->block[i];
    to->value = idm_duplicate(from->value, from->size * from->variants, sizeof *to->value);
    whole = copy_freedom(from, to) && to->value && whole;
  }
  if (!whole) {
    idm_theta_destroy(copy);
    return idm_fail_memory(opt_error);
  }
  *ret_theta = copy;
  return IDM_OK;
}

const double *idm_theta_values(const idm_theta *theta, idm_block_id id, size_t variant)
{
  const idm_block *block = &theta->block[id];
  return block->value + (variant < block->variants ? variant : 0) * block->size;
}

double idm_theta_scalar(const idm_theta *theta, idm_block_id id)
{
  return theta->block[id].value[0];
}

void idm_theta_set_scalar(idm_theta *theta, idm_block_id id, double value)
{
  theta->block[id].value[0] = value;
}

size_t idm_theta_variants(const idm_theta *theta)
{
  size_t variants = 1;
  for (int i = 0; i < IDM_BLOCK_COUNT; i++)
    if (theta->block[i].variants > variants) variants = theta->block[i].variants;
  return variants;
}

/* Blocks whose rows are distributions, with the width of a row. */
static idm_status check_distributions(const idm_theta *theta, idm_block_id id, size_t width,
                                      idm_error *opt_error)
{
  const idm_block *block = &theta->block[id];
  for (size_t i = 0; width && i + width <= block->size * block->variants; i += width) {
    double sum = 0;
    bool legal = true;
    for (size_t j = 0; j < width; j++) {
      legal = legal && block->value[i + j] >= 0;
      sum += block->value[i + j];
    }
    if (!legal || !(fabs(sum - 1) <= 1e-4))
      return idm_fail(opt_error, IDM_INPUT,
                      "row %zu of %s is no distribution: entries must be non-negative and sum to 1",
                      i / width, block_names[id]);
  }
  return IDM_OK;
}

/* Whether every block has the size its place in theta asks for. */
static idm_status check_sizes(const idm_theta *theta, const idm_setting *setting,
                              idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(setting);
  const size_t pairs = n.actions * n.states;
  const struct {
    idm_block_id id;
    size_t size;
    bool optional;
  } expected[] = {{IDM_DISCOUNT, 1, false},
                  {IDM_ALPHA, 1, false},
                  {IDM_BETA, 1, false},
                  {IDM_ETA, 1, false},
                  {IDM_TEMPERATURE, 1, false},
                  {IDM_UTILITY, pairs, false},
                  {IDM_CERTAINTY, 2, false},
                  {IDM_ACTION_PRIOR, n.actions, false},
                  {IDM_MODEL_PRIOR, theta->models, false},
                  {IDM_BELIEF_PRIOR, n.states, true},
                  {IDM_TRANSITION, theta->models * pairs * n.states, false},
                  {IDM_EMISSION, theta->models * pairs * n.observations, false},
                  {IDM_WEIGHTS, n.actions * (n.states + 1), true}};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    const size_t size = theta->block[expected[i].id].size;
    if (size != expected[i].size && !(expected[i].optional && size == 0))
      return idm_fail(opt_error, IDM_USAGE, "%s has %zu numbers; the setting asks for %zu",
                      block_names[expected[i].id], size, expected[i].size);
  }
  return IDM_OK;
}

idm_status idm_theta_validate(const idm_theta *theta, const idm_setting *setting,
                              idm_error *opt_error)
{
  const idm_status sized = check_sizes(theta, setting, opt_error);
  if (sized != IDM_OK) return sized;
  for (int i = 0; i < IDM_BLOCK_COUNT; i++) {
    const idm_block *block = &theta->block[i];
    const bool may_be_infinite = i == IDM_ALPHA || i == IDM_BETA;
    for (size_t j = 0; j < block->size * block->variants; j++)
      if (isnan(block->value[j]) || (!may_be_infinite && !isfinite(block->value[j])))
        return idm_fail(opt_error, IDM_INPUT, "%s is %g; it must be %s", block_names[i],
                        block->value[j], may_be_infinite ? "a number" : "finite");
  }
  const double discount = idm_theta_scalar(theta, IDM_DISCOUNT);
  if (!(discount >= 0 && (discount < 1 || (discount == 1 && setting->horizon > 0))))
    return idm_fail(opt_error, IDM_INPUT,
                    "the discount is %g; it must lie in [0, 1), or be 1 with a horizon", discount);
  if (!(idm_theta_scalar(theta, IDM_TEMPERATURE) >= 0))
    return idm_fail(opt_error, IDM_INPUT, "the temperature is %g; it must not be negative",
                    idm_theta_scalar(theta, IDM_TEMPERATURE));
  for (size_t j = 0; j < theta->block[IDM_BELIEF_PRIOR].size; j++)
    if (!(theta->block[IDM_BELIEF_PRIOR].value[j] > 0))
      return idm_fail(opt_error, IDM_INPUT, "belief_prior needs positive concentrations");
  const struct {
    idm_block_id id;
    size_t width;
  } rows[] = {{IDM_ACTION_PRIOR, theta->sizes.actions},
              {IDM_MODEL_PRIOR, theta->models},
              {IDM_TRANSITION, theta->sizes.states},
              {IDM_EMISSION, theta->sizes.observations}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const idm_status status = check_distributions(theta, rows[i].id, rows[i].width, opt_error);
    if (status != IDM_OK) return status;
  }
  return IDM_OK;
}
