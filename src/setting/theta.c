/* Theta: blocks of planning parameters, their values, features and checks.
 *
 * Contents: block · features · theta */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "idm/extension/block.h"
#include "idm/extension/theta.h"
#include "setting/model.h"

/* === block ================================================================================== */

/* The table of shared blocks, and functions of a descriptor. */

static const idm_block_info blocks[] = {
#define BLOCK_ROW(id, ...) [id] = {__VA_ARGS__},
    IDM_BLOCK_LIST(BLOCK_ROW)
#undef BLOCK_ROW
};

static const char *const axis_names[] = {[IDM_AXIS_MODEL] = "model",
                                         [IDM_AXIS_ACTION] = "action",
                                         [IDM_AXIS_STATE] = "state",
                                         [IDM_AXIS_NEXT_STATE] = "next_state",
                                         [IDM_AXIS_OBSERVATION] = "observation",
                                         [IDM_AXIS_TERM] = "term",
                                         [IDM_AXIS_FIELD] = "field"};

static const char *const scale_names[] = {
#define SCALE_NAME(id, name) name,
    IDM_SCALE_LIST(SCALE_NAME)
#undef SCALE_NAME
};

const idm_block_info *idm_block_describe(idm_block_id id)
{
  return (size_t)id < IDM_BLOCK_COUNT ? &blocks[id] : NULL;
}

const char *idm_block_name(idm_block_id id)
{
  return (size_t)id < IDM_BLOCK_COUNT ? blocks[id].name : NULL;
}

int idm_block_find(const char *name)
{
  if (!name) return -1;
  for (int i = 0; i < IDM_BLOCK_COUNT; i++)
    if (strcmp(blocks[i].name, name) == 0) return i;
  return -1;
}

const char *idm_axis_name(idm_axis axis)
{
  return (size_t)axis < sizeof axis_names / sizeof axis_names[0] ? axis_names[axis] : NULL;
}

const char *idm_scale_name(idm_scale scale)
{
  return (size_t)scale < sizeof scale_names / sizeof scale_names[0] ? scale_names[scale] : NULL;
}

int idm_scale_find(const char *name)
{
  if (!name) return -1;
  for (size_t i = 0; i < sizeof scale_names / sizeof scale_names[0]; i++)
    if (strcmp(scale_names[i], name) == 0) return (int)i;
  return -1;
}

size_t idm_axis_length(const idm_block_info *opt_info, idm_axis axis, idm_sizes sizes,
                       size_t models)
{
  size_t fields = 0;
  switch (axis) {
  case IDM_AXIS_MODEL:
    return models;
  case IDM_AXIS_ACTION:
    return sizes.actions;
  case IDM_AXIS_STATE:
  case IDM_AXIS_NEXT_STATE:
    return sizes.states;
  case IDM_AXIS_OBSERVATION:
    return sizes.observations;
  case IDM_AXIS_TERM:
    return sizes.states + 1;
  case IDM_AXIS_FIELD:
    while (opt_info && opt_info->field[fields].name) fields++;
    return fields;
  default:
    return 1;
  }
}

size_t idm_block_size(const idm_block_info *info, idm_sizes sizes, size_t models)
{
  if (!info) return 0;
  size_t size = info->opaque ? info->count : 1;
  for (size_t i = 0; i < 4 && info->axis[i]; i++)
    size = idm_times(size, idm_axis_length(info, info->axis[i], sizes, models));
  return size;
}

const idm_field *idm_block_field(const idm_block_info *info, idm_sizes sizes, size_t i)
{
  if (!info || !info->field || info->axis[0] != IDM_AXIS_FIELD) return NULL;
  const size_t fields = idm_axis_length(info, IDM_AXIS_FIELD, sizes, 1);
  const size_t per_field = fields ? idm_block_size(info, sizes, 1) / fields : 0;
  return per_field && i / per_field < fields ? &info->field[i / per_field] : NULL;
}

size_t idm_block_width(const idm_block_info *info, idm_sizes sizes, size_t models)
{
  if (!info) return 0;
  size_t last = 0;
  while (last < 3 && info->axis[last + 1]) last++;
  return idm_axis_length(info, info->axis[last], sizes, models);
}

/* The label at position `at`, or NULL past the last. */
static const char *label_at(const idm_labels *labels, size_t at)
{
  return at < labels->count ? labels->name[at] : NULL;
}

const char *idm_axis_label(const idm_block_info *info, const idm_setting *setting, idm_axis axis,
                           size_t at, char *number, size_t size)
{
  if (!info || !setting || !number) return NULL;
  switch (axis) {
  case IDM_AXIS_ACTION:
    return label_at(&setting->actions, at);
  case IDM_AXIS_STATE:
  case IDM_AXIS_NEXT_STATE:
    return label_at(&setting->states, at);
  case IDM_AXIS_OBSERVATION:
    return label_at(&setting->observations, at);
  case IDM_AXIS_TERM:
    return at ? label_at(&setting->states, at - 1) : "constant";
  case IDM_AXIS_FIELD:
    for (size_t i = 0; info->field && info->field[i].name; i++)
      if (i == at) return info->field[i].name;
    return NULL;
  default:
    snprintf(number, size, "%zu", at + 1);
    return number;
  }
}

/* Append a label of an entry's name: quoted, with its quotes doubled, where it has a character that
 * separates labels. Returns its length, which may exceed the buffer. */
static size_t append_label(const char *label, char *buffer, size_t size)
{
  if (!label[strcspn(label, ",[]\"")]) return (size_t)snprintf(buffer, size, "%s", label);
  size_t used = (size_t)snprintf(buffer, size, "\"");
  for (; *label; label++)
    used += (size_t)snprintf(used < size ? buffer + used : NULL, used < size ? size - used : 0,
                             *label == '"' ? "\"\"" : "%c", *label);
  return used +
         (size_t)snprintf(used < size ? buffer + used : NULL, used < size ? size - used : 0, "\"");
}

const char *idm_block_entry_name(const idm_block_info *info, const idm_setting *setting,
                                 size_t models, size_t i, char *buffer, size_t size)
{
  if (!info || !setting || !buffer) return NULL;
  const idm_sizes sizes = idm_setting_sizes(setting);
  size_t stride = idm_block_size(info, sizes, models);
  size_t used = 0;
  buffer[0] = '\0';
  for (size_t k = 0; k < 4 && info->axis[k] && used < size; k++) {
    char number[24];
    const size_t length = idm_axis_length(info, info->axis[k], sizes, models);
    if (!length || stride < length) break; /* a block without numbers */
    stride /= length;
    const char *label =
        idm_axis_label(info, setting, info->axis[k], i / stride % length, number, sizeof number);
    if (k) used += (size_t)snprintf(buffer + used, size - used, ",");
    if (used < size) used += append_label(label, buffer + used, size - used);
  }
  return buffer;
}

/* === features =============================================================================== */

/* Utilities that are linear in features. */

idm_status idm_features_create(size_t numbers, const idm_labels *name, idm_features **ret_features,
                               idm_error *opt_error)
{
  *ret_features = NULL;
  idm_features *f = idm_new(1, sizeof *f);
  if (!f) return idm_fail_memory(opt_error);
  f->value = idm_new(idm_times(numbers, name->count), sizeof *f->value);
  f->weight = idm_new(name->count, sizeof *f->weight);
  const idm_status status = f->value && f->weight ? idm_labels_copy(name, &f->name, opt_error)
                                                  : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    *ret_features = f;
  else
    idm_features_destroy(f);
  return status;
}

void idm_features_destroy(idm_features *features)
{
  if (!features) return;
  idm_labels_destroy(&features->name);
  free(features->value);
  free(features->weight);
  free(features->fixed);
  free(features);
}

static idm_status idm_features_copy(const idm_features *features, size_t numbers,
                                    idm_features **ret_features, idm_error *opt_error)
{
  const size_t count = features->name.count;
  const idm_status status = idm_features_create(numbers, &features->name, ret_features, opt_error);
  if (status != IDM_OK) return status;
  memcpy((*ret_features)->value, features->value, numbers * count * sizeof(double));
  memcpy((*ret_features)->weight, features->weight, count * sizeof(double));
  if (!features->fixed) return IDM_OK;
  (*ret_features)->fixed = idm_duplicate(features->fixed, count, sizeof *features->fixed);
  if ((*ret_features)->fixed) return IDM_OK;
  idm_features_destroy(*ret_features);
  *ret_features = NULL;
  return idm_fail_memory(opt_error);
}

size_t idm_features_index(const idm_features *features, size_t coordinate)
{
  size_t k = 0;
  if (!features->fixed) return coordinate;
  for (size_t left = coordinate; features->fixed[k] || left; k++) left -= !features->fixed[k];
  return k;
}

/* The numbers depend on the weights alone: equal weights give equal bits. */
void idm_features_apply(idm_block *block)
{
  const idm_features *f = block->features;
  for (size_t i = 0; f && i < block->size; i++) {
    double sum = 0;
    for (size_t k = 0; k < f->name.count; k++)
      sum += f->weight[k] * f->value[i * f->name.count + k];
    for (size_t v = 0; v < block->variants; v++) block->value[v * block->size + i] = sum;
  }
}

double idm_features_derivative(const idm_features *features, const idm_block *derivative, size_t k)
{
  double sum = 0;
  for (size_t v = 0; v < derivative->variants; v++)
    for (size_t i = 0; i < derivative->size; i++)
      sum += features->value[i * features->name.count + k] *
             derivative->value[v * derivative->size + i];
  return sum;
}

/* Names of the free weights. */
static idm_status name_free(const idm_features *f, idm_labels *ret_name, idm_error *opt_error)
{
  size_t count = 0;
  if (!f->fixed) return idm_labels_copy(&f->name, ret_name, opt_error);
  for (size_t k = 0; k < f->name.count; k++) count += !f->fixed[k];
  idm_status status = idm_labels_create(ret_name, count, opt_error);
  for (size_t c = 0; c < count && status == IDM_OK; c++) {
    const char *name = f->name.name[idm_features_index(f, c)];
    status = idm_labels_set(ret_name, c, name, strlen(name), opt_error);
  }
  return status;
}

idm_status idm_features_set_free(idm_block *block, idm_error *opt_error)
{
  const idm_features *f = block->features;
  block->coordinate = idm_new(block->size, sizeof *block->coordinate);
  if (!block->coordinate) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < block->size; i++) {
    bool moves = false;
    for (size_t k = 0; k < f->name.count; k++)
      moves |= f->value[i * f->name.count + k] != 0 && !(f->fixed && f->fixed[k]);
    block->coordinate[i] = moves ? 0 : -1;
  }
  return name_free(f, &block->coordinate_name, opt_error);
}

bool idm_features_same(const idm_features *a, const idm_features *b, size_t numbers)
{
  if (!a || !b) return !a && !b;
  return idm_labels_same(&a->name, &b->name) &&
         memcmp(a->value, b->value, numbers * a->name.count * sizeof *a->value) == 0 &&
         memcmp(a->weight, b->weight, a->name.count * sizeof *a->weight) == 0;
}

/* === theta ================================================================================== */

/* The parameter: named blocks with roles, scales and priors. */

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

/* Set the numbers of a block to their defaults. Dynamics have none and are 0. */
static void fill(idm_block *block, idm_sizes sizes, size_t width)
{
  const idm_block_info *info = block->info;
  const bool uniform = info->support == IDM_DISTRIBUTION;
  const bool dynamics = info->form == IDM_FORM_MODELS && info->axis[1] != IDM_AXIS_END;
  for (size_t i = 0; i < block->size; i++)
    block->value[i] = info->field ? idm_block_field(info, sizes, i)->default_number
                      : !uniform  ? info->default_number
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

/* Create theta, with or without blocks for the models' matrices. */
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

idm_status idm_theta_create_sparse(idm_sizes sizes, idm_theta **ret_theta, idm_error *opt_error)
{
  idm_require(ret_theta);
  *ret_theta = NULL;
  return create(sizes, 1, false, ret_theta, opt_error);
}

/* Hold a block fixed, and free the memory of its prior and coordinates. */
static void clamp(idm_block *block)
{
  free(block->prior.argument);
  free(block->coordinate);
  free(block->share);
  idm_labels_destroy(&block->coordinate_name);
  block->role = IDM_NORMATIVE;
  block->scale = IDM_SCALE_IDENTITY;
  block->prior = (idm_prior){0};
  block->default_prior = false;
  block->coordinate = NULL;
  block->share = NULL;
  if (!block->features) return;
  free(block->features->fixed);
  block->features->fixed = NULL;
}

idm_status idm_theta_set_own_blocks(idm_theta *theta, const idm_block_info *opt_own, size_t count,
                                    idm_error *opt_error)
{
  idm_require(theta);
  if (count && !opt_own) return idm_fail(opt_error, IDM_USAGE, "there are no descriptors");
  const size_t fixed = theta->blocks - IDM_BLOCK_COUNT;
  if (fixed == count && (!count || theta->block[IDM_BLOCK_COUNT].info == opt_own)) return IDM_OK;
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

const char *idm_theta_form_mismatch(const idm_theta *a, const idm_theta *b)
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
  if (idm_theta_form_mismatch(theta, from)) return;
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

/* Deep copy of prior, coordinates and features; false where memory runs out. */
static bool copy_free_parts(const idm_block *from, idm_block *to)
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
  bool copied = true;
  for (size_t i = 0; i < copy->blocks; i++) {
    const idm_block *from = &theta->block[i];
    idm_block *to = &copy->block[i];
    to->value = idm_duplicate(from->value, from->size * from->variants, sizeof *to->value);
    copied = copy_free_parts(from, to) && to->value && copied;
  }
  if (!copied) {
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

/* Numbers of one row of a block with rows after its fields. */
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

/* What a number must be, for a message; NULL where it is valid. */
static const char *range_violation(const idm_block_info *info, double x)
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
  const bool size_by_planner = info->opaque && !info->count; /* the planner checks its size */
  const bool rows = info->rows && block->size > size && (block->size - size) % row_size(sizes) == 0;
  if (block->size != size && !size_by_planner && !rows && !(info->optional && block->size == 0))
    return idm_fail(opt_error, IDM_USAGE, "%s has %zu numbers; the setting needs %zu", info->name,
                    block->size, size);
  for (size_t j = 0; j < block->size * block->variants; j++) {
    const char *violation = range_violation(info, block->value[j]);
    if (violation)
      return idm_fail(opt_error, IDM_INPUT, "%s is %g; it must be %s", info->name, block->value[j],
                      violation);
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
                    "the discount is 1 and there is no horizon; set the number of steps of an "
                    "episode (--set horizon=N), or a discount below 1");
  return IDM_OK;
}
