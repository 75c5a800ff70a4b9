/* The parameter: named blocks with roles, scales and priors. */
#include "idm/theta.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "base/number.h"
#include "setting/features.h"

static const struct {
  const char *name;
  int arguments;
} priors[] = {
#define PRIOR_ROW(id, name, arguments) {name, arguments},
    IDM_PRIOR_LIST(PRIOR_ROW)
#undef PRIOR_ROW
};

const char *idm_prior_name(idm_prior_kind kind)
{
  return (size_t)kind < sizeof priors / sizeof priors[0] ? priors[kind].name : NULL;
}

int idm_prior_arguments(idm_prior_kind kind)
{
  return (size_t)kind < sizeof priors / sizeof priors[0] ? priors[kind].arguments : 0;
}

int idm_prior_find(const char *name)
{
  if (!name) return -1;
  for (size_t i = 0; i < sizeof priors / sizeof priors[0]; i++)
    if (strcmp(priors[i].name, name) == 0) return (int)i;
  return -1;
}

idm_status idm_theta_resize(idm_theta *theta, size_t id, size_t size, size_t variants,
                            idm_error *opt_error)
{
  idm_require(theta);
  if (id >= theta->blocks) return idm_fail(opt_error, IDM_USAGE, "there is no block %zu", id);
  double *value = idm_new(idm_times(size, variants), sizeof *value);
  if (!value) return idm_fail_memory(opt_error);
  idm_block *block = &theta->block[id];
  free(block->value);
  block->value = value;
  block->size = size;
  block->variants = variants;
  return IDM_OK;
}

/* The values of a block by default. Dynamics have none: they stay 0 until they are given. */
static void fill(idm_block *block, idm_sizes sizes, size_t width)
{
  const idm_block_info *info = block->info;
  const bool uniform = info->support == IDM_DISTRIBUTION;
  const bool dynamics = info->form == IDM_FORM_MODELS && info->axis[1] != IDM_AXIS_END;
  for (size_t i = 0; i < block->size; i++)
    block->value[i] = info->field ? idm_block_field(info, sizes, i)->standard
                      : !uniform  ? info->standard
                      : dynamics  ? 0
                                  : 1.0 / (double)width;
}

static idm_status make_block(idm_theta *theta, size_t id, const idm_block_info *info, bool absent,
                             idm_error *opt_error)
{
  const size_t size =
      absent || info->optional ? 0 : idm_block_size(info, theta->sizes, theta->models);
  theta->block[id] = (idm_block){.info = info};
  const idm_status status = idm_theta_resize(theta, id, size, 1, opt_error);
  if (status == IDM_OK)
    fill(&theta->block[id], theta->sizes, idm_block_width(info, theta->sizes, theta->models));
  return status;
}

/* Theta with blocks for the models' matrices, or without them. */
static idm_status create(idm_sizes sizes, size_t models, bool matrices, idm_theta **ret_theta,
                         idm_error *opt_error)
{
  idm_theta *theta = idm_new(1, sizeof *theta);
  if (!theta) return idm_fail_memory(opt_error);
  theta->sizes = sizes;
  theta->models = models;
  theta->block = idm_new(IDM_BLOCK_COUNT, sizeof *theta->block);
  if (!theta->block) {
    free(theta);
    return idm_fail_memory(opt_error);
  }
  idm_status status = IDM_OK;
  for (size_t i = 0; i < IDM_BLOCK_COUNT && status == IDM_OK; i++) {
    theta->blocks = i + 1;
    const bool absent = !matrices && (i == IDM_TRANSITION || i == IDM_EMISSION);
    status = make_block(theta, i, idm_block_describe((idm_block_id)i), absent, opt_error);
  }
  if (status != IDM_OK) {
    idm_theta_destroy(theta);
    return status;
  }
  *ret_theta = theta;
  return IDM_OK;
}

idm_status idm_theta_create(idm_sizes sizes, size_t models, idm_theta **ret_theta,
                            idm_error *opt_error)
{
  idm_require(ret_theta);
  *ret_theta = NULL;
  if (!models) return idm_fail(opt_error, IDM_USAGE, "an agent needs at least one model");
  return create(sizes, models, true, ret_theta, opt_error);
}

idm_status idm_theta_create_moving(idm_sizes sizes, idm_theta **ret_theta, idm_error *opt_error)
{
  idm_require(ret_theta);
  *ret_theta = NULL;
  return create(sizes, 1, false, ret_theta, opt_error);
}

/* Let go of everything that makes a block free. */
static void clamp(idm_block *block)
{
  free(block->prior.argument);
  free(block->coordinate);
  free(block->share);
  idm_labels_destroy(&block->coordinate_name);
  block->role = IDM_NORMATIVE;
  block->scale = IDM_SCALE_IDENTITY;
  block->prior = (idm_prior){0};
  block->usual_prior = false;
  block->coordinate = NULL;
  block->share = NULL;
  if (!block->features) return;
  free(block->features->held);
  block->features->held = NULL;
}

idm_status idm_theta_own(idm_theta *theta, const idm_block_info *opt_own, size_t count,
                         idm_error *opt_error)
{
  idm_require(theta);
  if (count && !opt_own) return idm_fail(opt_error, IDM_USAGE, "there are no descriptors");
  const size_t held = theta->blocks - IDM_BLOCK_COUNT;
  if (held == count && (!count || theta->block[IDM_BLOCK_COUNT].info == opt_own)) return IDM_OK;
  for (; theta->blocks > IDM_BLOCK_COUNT; theta->blocks--) {
    clamp(&theta->block[theta->blocks - 1]);
    free(theta->block[theta->blocks - 1].value);
  }
  idm_block *block = realloc(theta->block, (IDM_BLOCK_COUNT + count) * sizeof *block);
  if (!block) return idm_fail_memory(opt_error);
  theta->block = block;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    theta->blocks = IDM_BLOCK_COUNT + i + 1;
    status = make_block(theta, IDM_BLOCK_COUNT + i, &opt_own[i], false, opt_error);
  }
  return status;
}

int idm_theta_find(const idm_theta *theta, const char *name)
{
  if (!theta || !name) return -1;
  for (size_t i = 0; i < theta->blocks; i++)
    if (strcmp(theta->block[i].info->name, name) == 0) return (int)i;
  return -1;
}

void idm_theta_destroy(idm_theta *theta)
{
  if (!theta) return;
  idm_theta_clamp(theta);
  for (size_t i = 0; i < theta->blocks; i++) {
    idm_features_destroy(theta->block[i].features);
    free(theta->block[i].value);
  }
  free(theta->block);
  free(theta);
}

void idm_theta_clamp(idm_theta *theta)
{
  if (!theta) return;
  for (size_t i = 0; i < theta->blocks; i++) clamp(&theta->block[i]);
}

const char *idm_theta_unlike(const idm_theta *a, const idm_theta *b)
{
  if (!a || !b || a->blocks != b->blocks) return "theta";
  for (size_t i = 0; i < a->blocks; i++) {
    const idm_block *x = &a->block[i];
    const idm_block *y = &b->block[i];
    const size_t features = x->features ? x->features->name.count : 0;
    if (x->info != y->info || x->size != y->size || x->variants != y->variants ||
        features != (y->features ? y->features->name.count : 0))
      return x->info->name;
  }
  return NULL;
}

void idm_theta_assign(idm_theta *theta, const idm_theta *from)
{
  if (idm_theta_unlike(theta, from)) return;
  for (size_t i = 0; i < theta->blocks; i++) {
    const idm_block *of = &from->block[i];
    memcpy(theta->block[i].value, of->value, of->size * of->variants * sizeof(double));
    if (of->features)
      memcpy(theta->block[i].features->weight, of->features->weight,
             of->features->name.count * sizeof(double));
  }
}

void idm_theta_clear(idm_theta *theta)
{
  if (!theta) return;
  for (size_t i = 0; i < theta->blocks; i++)
    memset(theta->block[i].value, 0,
           theta->block[i].size * theta->block[i].variants * sizeof(double));
}

/* Deep copy of what makes a block free, and of its features; false where memory is short. */
static bool copy_freedom(const idm_block *from, idm_block *to)
{
  to->prior.argument =
      idm_duplicate(from->prior.argument, from->prior.count, sizeof *to->prior.argument);
  to->coordinate =
      from->coordinate ? idm_duplicate(from->coordinate, from->size, sizeof *to->coordinate) : NULL;
  to->share = from->share ? idm_duplicate(from->share, from->size, sizeof *to->share) : NULL;
  to->features = NULL;
  idm_status named = idm_labels_copy(&from->coordinate_name, &to->coordinate_name, NULL);
  if (named == IDM_OK && from->features)
    named = idm_features_copy(from->features, from->size, &to->features, NULL);
  return named == IDM_OK && (to->prior.argument || !from->prior.argument) &&
         (to->coordinate || !from->coordinate) && (to->share || !from->share);
}

idm_status idm_theta_copy(const idm_theta *theta, idm_theta **ret_theta, idm_error *opt_error)
{
  idm_require(theta, ret_theta);
  *ret_theta = NULL;
  idm_theta *copy = idm_duplicate(theta, 1, sizeof *theta);
  if (!copy) return idm_fail_memory(opt_error);
  copy->block = idm_duplicate(theta->block, theta->blocks, sizeof *copy->block);
  if (!copy->block) {
    free(copy);
    return idm_fail_memory(opt_error);
  }
  bool whole = true;
  for (size_t i = 0; i < copy->blocks; i++) {
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

const double *idm_theta_values(const idm_theta *theta, size_t id, size_t variant)
{
  if (!theta || id >= theta->blocks) return NULL;
  const idm_block *block = &theta->block[id];
  return block->value + (variant < block->variants ? variant : 0) * block->size;
}

/* Numbers of one row of a block that holds rows after its fields. */
static size_t row_size(idm_sizes sizes)
{
  return sizes.actions * sizes.states;
}

const double *idm_theta_rows(const idm_theta *theta, size_t id, size_t *ret_count)
{
  if (!ret_count) return NULL;
  *ret_count = 0;
  if (!theta || id >= theta->blocks || !theta->block[id].info->rows) return NULL;
  const idm_block *block = &theta->block[id];
  const size_t fields = idm_block_size(block->info, theta->sizes, theta->models);
  if (block->size > fields) *ret_count = (block->size - fields) / row_size(theta->sizes);
  return block->value + fields;
}

double idm_theta_scalar(const idm_theta *theta, size_t id)
{
  return theta && id < theta->blocks ? theta->block[id].value[0] : NAN;
}

void idm_theta_set_scalar(idm_theta *theta, size_t id, double value)
{
  if (theta && id < theta->blocks) theta->block[id].value[0] = value;
}

size_t idm_theta_variants(const idm_theta *theta)
{
  if (!theta) return 0;
  size_t variants = 1;
  for (size_t i = 0; i < theta->blocks; i++)
    if (theta->block[i].variants > variants) variants = theta->block[i].variants;
  return variants;
}

/* --- validity ------------------------------------------------------------------------------- */

static idm_status check_rows(const idm_block *block, size_t width, idm_error *opt_error)
{
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
                      i / width, block->info->name);
  }
  return IDM_OK;
}

/* What one number must be, or NULL where it is. */
static const char *wrong_number(const idm_block_info *info, double x)
{
  if (isnan(x) || (!info->infinite && !isfinite(x))) return info->infinite ? "a number" : "finite";
  switch (info->support) {
  case IDM_NOT_NEGATIVE:
    return x >= 0 ? NULL : "at least 0";
  case IDM_POSITIVE:
    return x > 0 ? NULL : "above 0";
  case IDM_FRACTION:
    return x >= 0 && x <= 1 ? NULL : "in [0, 1]";
  default:
    return NULL;
  }
}

static idm_status check_block(const idm_theta *theta, size_t id, const idm_setting *setting,
                              idm_error *opt_error)
{
  const idm_sizes sizes = idm_setting_sizes(setting);
  const idm_block *block = &theta->block[id];
  const idm_block_info *info = block->info;
  const bool moves = setting->moves && (id == IDM_TRANSITION || id == IDM_EMISSION);
  const size_t size = moves ? 0 : idm_block_size(info, sizes, theta->models);
  const bool chosen = info->opaque && !info->count; /* by the planner, which looks at it itself */
  const bool rows = info->rows && block->size > size && (block->size - size) % row_size(sizes) == 0;
  if (block->size != size && !chosen && !rows && !(info->optional && block->size == 0))
    return idm_fail(opt_error, IDM_USAGE, "%s has %zu numbers; the setting asks for %zu",
                    info->name, block->size, size);
  for (size_t j = 0; j < block->size * block->variants; j++) {
    const char *wrong = wrong_number(info, block->value[j]);
    if (wrong)
      return idm_fail(opt_error, IDM_INPUT, "%s is %g; it must be %s", info->name, block->value[j],
                      wrong);
  }
  if (info->support != IDM_DISTRIBUTION) return IDM_OK;
  return check_rows(block, idm_block_width(info, sizes, theta->models), opt_error);
}

idm_status idm_theta_validate(const idm_theta *theta, const idm_setting *setting,
                              idm_error *opt_error)
{
  idm_require(theta, setting);
  const double discount = idm_theta_scalar(theta, IDM_DISCOUNT);
  for (size_t i = 0; i < theta->blocks; i++) {
    const idm_status status = check_block(theta, i, setting, opt_error);
    if (status != IDM_OK) return status;
  }
  if (discount == 1 && !(setting->horizon > 0) && !setting->fully_observed)
    return idm_fail(opt_error, IDM_INPUT,
                    "the discount is 1 and there is no horizon; say how many steps an episode has "
                    "(--set horizon=N), or give a discount below 1");
  return IDM_OK;
}
