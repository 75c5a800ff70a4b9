/* The free part of theta as a vector of unconstrained numbers (`docs/method/inference.md, 1`).
 *
 * Contents: items · names · values · gradients */
#include "invert/parameters.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "idm/extension/planner.h"
#include "infer/distribution.h"
#include "invert/posterior.h"
#include "plan/plan.h"
#include "setting/model.h"

/* --- items ---------------------------------------------------------------------------------- */

/* Largest total number of named free numbers. */
enum { max_numbers = 100000 };

static const idm_block_info *info_of(const idm_parameters *p, const parameter *item)
{
  return p->theta->block[item->block].info;
}

/* Support of c that follows from the support of the block. */
static void block_support(const idm_block_info *info, idm_scale scale, double *lower, double *upper)
{
  const bool positive = info->support == IDM_NOT_NEGATIVE || info->support == IDM_POSITIVE;
  *lower = positive && scale != IDM_SCALE_LOG ? 0 : -INFINITY;
  *upper = INFINITY;
  if (info->support == IDM_FRACTION && scale != IDM_SCALE_LOGIT) {
    *lower = 0;
    *upper = 1;
  }
}

static idm_status set_support(const idm_theta *theta, parameter *item, idm_error *opt_error)
{
  const idm_block_info *info = theta->block[item->block].info;
  double lower;
  double upper;
  block_support(info, item->scale, &lower, &upper);
  if (info->tied) {
    lower = idm_scale_transform(item->scale, 0);
    upper = idm_scale_transform(item->scale, idm_tie_upper_bound(theta, item->block, item->entry));
  }
  idm_prior_support(item->prior, &item->lower, &item->upper);
  item->truncated[0] = item->lower > lower;
  item->truncated[1] = item->upper < upper;
  item->lower = fmax(item->lower, lower);
  item->upper = fmin(item->upper, upper);
  if (item->lower < item->upper) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "the prior of %s has all its mass outside the support of %s, which is (%g, %g)",
                  info->name, info->name, lower, upper);
}

static idm_status add_item(idm_parameters *p, parameter item, idm_error *opt_error)
{
  const idm_block_info *info = info_of(p, &item);
  item.first = p->dimension;
  item.prior = &p->theta->block[item.block].prior;
  idm_status status = IDM_OK;
  if (!item.simplex)
    status = set_support(p->theta, &item, opt_error);
  else if (item.prior->kind != IDM_PRIOR_DIRICHLET && item.prior->kind != IDM_PRIOR_FLAT)
    status = idm_fail(opt_error, IDM_INPUT, "the prior of %s is %s; expected dirichlet or flat",
                      info->name, idm_prior_name(item.prior->kind));
  p->item[p->items++] = item;
  p->dimension += item.size - item.simplex;
  return status;
}

/* Adds one distribution per row. */
static idm_status add_rows(idm_parameters *p, parameter item, idm_error *opt_error)
{
  const idm_block *block = &p->theta->block[item.block];
  const size_t width = idm_block_width(block->info, p->theta->sizes, p->theta->models);
  idm_status status = IDM_OK;
  if (width < 2 || width > IDM_MAX_OUTCOMES)
    return idm_fail(opt_error, IDM_INPUT, "%s has %zu entries; a free one has 2 to %d",
                    block->info->name, width, IDM_MAX_OUTCOMES);
  item.simplex = true;
  item.size = width;
  for (; item.offset < block->size && status == IDM_OK; item.offset += width)
    status = add_item(p, item, opt_error);
  return status;
}

/* true if a row of dynamics equals that of an earlier action with the same shared matrix. */
static bool is_copy(const idm_block *block, const bool *shared, size_t states, size_t width,
                    size_t first, size_t row)
{
  return shared[first / states] && shared[row / states] && first % states == row % states &&
         memcmp(block->value + first * width, block->value + row * width,
                width * sizeof *block->value) == 0;
}

/* Adds one row of the agent's dynamics together with the rows equal to it; zero probabilities stay
 * zero. Rows that are `covered` already are skipped. */
static idm_status add_dynamics_row(idm_parameters *p, const idm_problem *problem, size_t id,
                                   size_t row, bool *covered, size_t *used, idm_error *opt_error)
{
  const idm_block *block = &p->theta->block[id];
  const idm_setting *setting = problem->setting;
  const size_t states = p->theta->sizes.states;
  const size_t width = idm_block_width(block->info, p->theta->sizes, 1);
  const bool *shared = id == IDM_TRANSITION ? setting->transition_shared : setting->emission_shared;
  parameter item = {.block = id, .simplex = true, .entry = -1, .offset = row * width};
  uint32_t *outcome = p->place + *used;
  assert(width > 0); /* number of states or observations */
  if (covered[row] || setting->terminal[row / states] || setting->terminal_state[row % states])
    return IDM_OK;
  for (size_t i = 0; i < width; i++)
    if (block->value[row * width + i] > 0) outcome[item.size++] = (uint32_t)i;
  uint32_t *copy = outcome + item.size;
  for (size_t other_row = row + states; other_row < block->size / width; other_row += states)
    if (is_copy(block, shared, states, width, row, other_row)) {
      covered[other_row] = true;
      copy[item.copies++] = (uint32_t)(other_row * width);
    }
  if (item.size < 2) return IDM_OK;
  if (item.size > IDM_MAX_OUTCOMES)
    return idm_fail(opt_error, IDM_INPUT,
                    "a row of %s has %zu possible outcomes; a free one has at most %d",
                    block->info->name, item.size, IDM_MAX_OUTCOMES);
  *used += item.size + item.copies;
  item.outcome = outcome;
  item.copy = copy;
  return add_item(p, item, opt_error);
}

/* Adds every row of the agent's dynamics with at least two possible outcomes as a distribution. */
static idm_status add_dynamics(idm_parameters *p, const idm_problem *problem, size_t id,
                               size_t *used, idm_error *opt_error)
{
  const idm_block *block = &p->theta->block[id];
  const size_t rows = block->size / idm_block_width(block->info, p->theta->sizes, 1);
  const size_t items = p->items;
  if (p->theta->models > 1)
    return idm_fail(opt_error, IDM_INPUT,
                    "%s is free by rows, and the agent has %zu models; expected one",
                    block->info->name, p->theta->models);
  bool *covered = idm_new(rows, sizeof *covered);
  if (!covered) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t row = 0; row < rows && status == IDM_OK; row++)
    status = add_dynamics_row(p, problem, id, row, covered, used, opt_error);
  free(covered);
  if (status == IDM_OK && p->items == items)
    status = idm_fail(opt_error, IDM_INPUT,
                      "%s is free, but every row of it is certain: zero probabilities stay zero",
                      block->info->name);
  return status;
}

static idm_status add_block(idm_parameters *p, const idm_problem *problem, size_t id, size_t *used,
                            idm_error *opt_error)
{
  const idm_block *block = &p->theta->block[id];
  parameter item = {.block = id, .scale = block->scale, .size = 1, .entry = -1};
  if (block->info->tied && !block->share) return add_dynamics(p, problem, id, used, opt_error);
  if (block->info->support == IDM_DISTRIBUTION && !block->info->tied)
    return add_rows(p, item, opt_error);
  if (block->info->opaque) {
    item.opaque = true;
    item.size = block->size;
    return add_item(p, item, opt_error);
  }
  if (block->info->field && !block->coordinate)
    return idm_fail(opt_error, IDM_USAGE, "%s is free without coordinates of its numbers",
                    block->info->name);
  idm_status status = IDM_OK;
  const size_t count = block->coordinate ? block->coordinate_name.count : block->size;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    item.entry = block->coordinate ? (int32_t)i : -1;
    item.offset = i;
    status = add_item(p, item, opt_error);
  }
  return status;
}

static size_t item_limit(const idm_theta *theta)
{
  size_t items = 0;
  for (size_t i = 0; i < theta->blocks; i++)
    if (theta->block[i].role == IDM_DESCRIPTIVE)
      items += theta->block[i].info->opaque ? 1
               : theta->block[i].features   ? theta->block[i].features->name.count
                                            : theta->block[i].size;
  return items;
}

/* Checks that the planner reads a free block. */
static idm_status check_is_read(const idm_problem *problem, size_t id, idm_error *opt_error)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  if (idm_agent_reads(&problem->agent, id)) return IDM_OK;
  if (idm_planner_reads_free(planner, problem->theta, id) && !idm_planner_reads(planner, id))
    return IDM_OK;
  if (idm_planner_reads(planner, id))
    return idm_fail(
        opt_error, IDM_INPUT,
        "%s is free, but has no effect under the agent's discounting: the data do not inform it",
        problem->theta->block[id].info->name);
  return idm_fail(opt_error, IDM_INPUT,
                  "%s is free, but the planner '%s' does not read it: the data do not inform it",
                  problem->theta->block[id].info->name, planner->name);
}

/* Adds every free block, opaque blocks last: the index of a named number among the quantities then
 * equals its index among the numbers. */
static idm_status add_all(idm_parameters *p, const idm_problem *problem, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  size_t used = 0; /* entries of p->place */
  for (int opaque = 0; opaque < 2; opaque++) {
    for (size_t i = 0; i < p->theta->blocks && status == IDM_OK; i++) {
      const idm_block *block = &p->theta->block[i];
      if (block->role != IDM_DESCRIPTIVE || block->info->opaque != opaque) continue;
      status = check_is_read(problem, i, opt_error);
      if (status == IDM_OK) status = add_block(p, problem, i, &used, opt_error);
    }
    if (status == IDM_OK && !opaque && p->dimension > max_numbers)
      status = idm_fail(opt_error, IDM_INPUT, "%zu numbers are free; at most %d can be",
                        p->dimension, max_numbers);
  }
  if (status == IDM_OK && !p->items)
    status = idm_fail(opt_error, IDM_INPUT,
                      "nothing is free: name what to infer under `free:`, or by --free beta,eta");
  return status;
}

/* --- names ---------------------------------------------------------------------------------- */

/* Prefixes of a block's name in the coordinate of a scale: in files, and for display. */
static const struct {
  const char *name_prefix;
  const char *display_prefix;
} prefix[] = {[IDM_SCALE_IDENTITY] = {"", ""},
              [IDM_SCALE_LOG] = {"log_", "log "},
              [IDM_SCALE_INVERSE] = {"inverse_", "1/"},
              [IDM_SCALE_SIGNED_LOG] = {"signed_log_", "signed-log "},
              [IDM_SCALE_LOGIT] = {"logit_", "logit "}};

const char *idm_scale_display_prefix(idm_scale scale)
{
  return prefix[scale].display_prefix;
}

/* true if an item is summarised by its coordinate: its natural value need not have a mean (the
 * inverse of a number that may be 0, the exponential of a number of either sign). */
static bool summarised_by_coordinate(const parameter *item)
{
  return idm_parameter_is_scalar(item) &&
         (item->scale == IDM_SCALE_INVERSE || item->scale == IDM_SCALE_SIGNED_LOG);
}

/* true if the name is a block's own name, such as inverse_temperature. */
static bool is_block(const char *name)
{
  bool is_name = idm_block_find(name) >= 0;
  for (size_t i = 0; idm_planner_at(i) && !is_name; i++)
    for (size_t k = 0; k < idm_planner_at(i)->own_count && !is_name; k++)
      is_name = strcmp(idm_planner_at(i)->own[k].name, name) == 0;
  return is_name;
}

const char *idm_quantity_label(const char *quantity, char *buffer, size_t size)
{
  if (!quantity || !buffer) return NULL;
  for (size_t i = 0; !is_block(quantity) && i < sizeof prefix / sizeof prefix[0]; i++) {
    const size_t length = strlen(prefix[i].name_prefix);
    if (!length || strncmp(quantity, prefix[i].name_prefix, length) != 0) continue;
    snprintf(buffer, size, "%s%s", prefix[i].display_prefix, quantity + length);
    return buffer;
  }
  snprintf(buffer, size, "%s", quantity);
  return buffer;
}

const char *idm_parameter_name(const idm_parameters *parameters, const parameter *item,
                               char *buffer, size_t size)
{
  snprintf(buffer, size, "%s%s", prefix[item->scale].name_prefix,
           parameters->quantity.name[item->quantity]);
  return buffer;
}

/* Sets a label to "block", "block[label]" or "inverse_block...". */
static idm_status set_name(idm_labels *labels, size_t at, const char *before, const char *block,
                           const char *opt_entry, idm_error *opt_error)
{
  char name[IDM_ENTRY_SIZE + 200];
  const int length = opt_entry ? snprintf(name, sizeof name, "%s%s[%s]", before, block, opt_entry)
                               : snprintf(name, sizeof name, "%s%s", before, block);
  return idm_labels_set(labels, at, name, (size_t)length, opt_error);
}

/* Index in its block of number i of an item. */
static size_t number_index(const parameter *item, size_t i)
{
  return item->offset + (item->outcome ? item->outcome[i] : i);
}

/* Name of number i of an item within its block, or NULL for a block of one number. */
static const char *entry_name(const idm_problem *problem, const parameter *item, size_t i,
                              char *buffer, size_t size)
{
  const idm_block *block = &problem->theta->block[item->block];
  if (item->entry >= 0) return block->coordinate_name.name[item->entry];
  idm_block_entry_name(block->info, problem->setting, problem->theta->models, number_index(item, i),
                       buffer, size);
  return buffer[0] ? buffer : NULL;
}

/* Number of values that an item reports. */
static size_t numbers_of(const parameter *item)
{
  return item->size + summarised_by_coordinate(item);
}

static idm_status name_item(idm_parameters *p, const idm_problem *problem, parameter *item,
                            size_t *quantity, idm_error *opt_error)
{
  char buffer[IDM_ENTRY_SIZE];
  const char *block = info_of(p, item)->name;
  idm_status status = IDM_OK;
  item->quantity = p->numbers;
  p->numbers += numbers_of(item);
  if (item->opaque) {
    const size_t last = p->coordinate.count - (p->quantity.count - *quantity);
    status = set_name(&p->coordinate, last, "", block, NULL, opt_error);
    return status == IDM_OK ? set_name(&p->quantity, (*quantity)++, "", block, NULL, opt_error)
                            : status;
  }
  for (size_t i = 0; i < item->size && status == IDM_OK; i++) {
    const char *entry = entry_name(problem, item, i, buffer, sizeof buffer);
    p->summarised[*quantity] = !summarised_by_coordinate(item);
    status = set_name(&p->quantity, (*quantity)++, "", block, entry, opt_error);
    if (status == IDM_OK && (!item->simplex || i + 1 < item->size))
      status = set_name(&p->coordinate, item->first + i, "", block, entry, opt_error);
  }
  if (status != IDM_OK || !summarised_by_coordinate(item)) return status;
  p->summarised[*quantity] = true;
  return set_name(&p->quantity, (*quantity)++, prefix[item->scale].name_prefix, block,
                  entry_name(problem, item, 0, buffer, sizeof buffer), opt_error);
}

static idm_status name_all(idm_parameters *p, const idm_problem *problem, idm_error *opt_error)
{
  size_t quantities = 0;
  size_t coordinates = 0;
  for (size_t i = 0; i < p->items; i++) {
    const parameter *item = &p->item[i];
    quantities += item->opaque ? 1 : numbers_of(item);
    coordinates += item->opaque ? 1 : item->size - item->simplex;
  }
  p->summarised = idm_new(quantities, sizeof *p->summarised);
  if (!p->summarised) return idm_fail_memory(opt_error);
  idm_status status = idm_labels_create(&p->coordinate, coordinates, opt_error);
  if (status == IDM_OK) status = idm_labels_create(&p->quantity, quantities, opt_error);
  size_t at = 0;
  for (size_t i = 0; i < p->items && status == IDM_OK; i++)
    status = name_item(p, problem, &p->item[i], &at, opt_error);
  return status;
}

void idm_parameters_destroy(idm_parameters *parameters)
{
  if (!parameters) return;
  idm_theta_destroy(parameters->theta);
  free(parameters->item);
  free(parameters->place);
  free(parameters->summarised);
  idm_labels_destroy(&parameters->coordinate);
  idm_labels_destroy(&parameters->quantity);
  free(parameters);
}

idm_status idm_parameters_create(const idm_problem *problem, idm_parameters **ret_parameters,
                                 idm_error *opt_error)
{
  idm_require(problem, ret_parameters);
  *ret_parameters = NULL;
  idm_parameters *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  p->range = idm_theta_utility_range(problem->theta);
  p->alpha_range = idm_problem_prior_range(problem, IDM_ALPHA);
  idm_status status = idm_theta_copy(problem->theta, &p->theta, opt_error);
  if (status == IDM_OK) {
    p->item = idm_new(item_limit(p->theta), sizeof *p->item);
    /* Every number belongs to one row's outcomes or to one copy. */
    p->place = idm_new(item_limit(p->theta), sizeof *p->place);
    if (!p->item || !p->place) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) status = add_all(p, problem, opt_error);
  if (status == IDM_OK) status = name_all(p, problem, opt_error);
  if (status != IDM_OK) {
    idm_parameters_destroy(p);
    return status;
  }
  *ret_parameters = p;
  return IDM_OK;
}

size_t idm_parameters_dimension(const idm_parameters *parameters)
{
  if (!parameters) return 0;
  return parameters->dimension;
}

size_t idm_parameters_numbers(const idm_parameters *parameters)
{
  if (!parameters) return 0;
  return parameters->numbers;
}

const idm_labels *idm_parameters_coordinates(const idm_parameters *parameters)
{
  if (!parameters) return NULL;
  return &parameters->coordinate;
}

const idm_labels *idm_parameters_quantities(const idm_parameters *parameters)
{
  if (!parameters) return NULL;
  return &parameters->quantity;
}

bool idm_parameters_summarised(const idm_parameters *parameters, size_t quantity)
{
  return parameters && quantity < parameters->quantity.count && parameters->summarised[quantity];
}

/* --- values --------------------------------------------------------------------------------- */

double idm_parameter_coordinate(const parameter *item, const double *y, double *opt_derivative)
{
  return idm_constrain(item->lower, item->upper, y[item->first], opt_derivative, NULL, NULL);
}

/* d natural/dc at c; for a reciprocal block d(1/natural)/dc. */
static double natural_derivative(const parameter *item, bool reciprocal, double c)
{
  const double value = idm_scale_inverse(item->scale, c);
  const double inverse = 1 / value;
  if (reciprocal) switch (item->scale) {
    case IDM_SCALE_IDENTITY:
      return value == 0 ? 0 : -inverse * inverse;
    case IDM_SCALE_LOG:
      return value == 0 ? 0 : -inverse;
    case IDM_SCALE_INVERSE:
      return 1;
    case IDM_SCALE_SIGNED_LOG:
      return value == 0 ? 0 : -inverse * inverse * exp(fabs(c));
    case IDM_SCALE_LOGIT:
      return value == 0 ? 0 : 1 - inverse;
    }
  switch (item->scale) {
  case IDM_SCALE_LOG:
    return value;
  case IDM_SCALE_INVERSE:
    return -value * value;
  case IDM_SCALE_SIGNED_LOG:
    return exp(fabs(c));
  case IDM_SCALE_LOGIT:
    return value * (1 - value);
  case IDM_SCALE_IDENTITY:
    break;
  }
  return 1;
}

double idm_parameter_natural(const parameter *item, const double *y, double *opt_derivative)
{
  double dc;
  const double c = idm_parameter_coordinate(item, y, &dc);
  if (opt_derivative) *opt_derivative = natural_derivative(item, false, c) * dc;
  return idm_scale_inverse(item->scale, c);
}

size_t idm_parameter_reported(const parameter *item)
{
  return item->quantity + summarised_by_coordinate(item);
}

double idm_parameter_reported_at(const parameter *item, double y)
{
  const double end = y > 0 ? item->upper : item->lower;
  const double c = isinf(y) ? end : idm_constrain(item->lower, item->upper, y, NULL, NULL, NULL);
  return summarised_by_coordinate(item) ? c : idm_scale_inverse(item->scale, c);
}

void idm_parameter_write(idm_theta *theta, const parameter *item, double value)
{
  idm_block *block = &theta->block[item->block];
  if (block->info->tied) {
    idm_tie_set_value(theta, item->block, item->entry, value);
    return;
  }
  if (block->features) {
    block->features->weight[idm_features_index(block->features, (size_t)item->entry)] = value;
    idm_features_apply(block);
    return;
  }
  for (size_t v = 0; v < block->variants; v++) {
    double *to = block->value + v * block->size;
    if (item->entry < 0) {
      to[item->offset] = value;
      continue;
    }
    for (size_t i = 0; i < block->size; i++)
      if (block->coordinate[i] == item->entry) to[i] = value;
  }
}

/* The same, except that utilities by features are left to be recomputed from all weights together.
 */
static void write_scalar(idm_theta *theta, const parameter *item, double value)
{
  const idm_block *block = &theta->block[item->block];
  if (block->features)
    block->features->weight[idm_features_index(block->features, (size_t)item->entry)] = value;
  else
    idm_parameter_write(theta, item, value);
}

/* Natural value of one number of an opaque item at its coordinate y. */
static double natural_at(const parameter *item, double y)
{
  return idm_scale_inverse(item->scale,
                           idm_constrain(item->lower, item->upper, y, NULL, NULL, NULL));
}

/* Writes a distribution to its row and to the copies of that row. */
static void write_row(const parameter *item, const double *p, double *value)
{
  for (size_t i = 0; i < item->size; i++) {
    const size_t place = number_index(item, i);
    value[place] = p[i];
    for (size_t k = 0; k < item->copies; k++) value[item->copy[k] + (place - item->offset)] = p[i];
  }
}

void idm_parameters_set(const idm_parameters *parameters, const double *y, idm_theta *theta)
{
  if (!parameters || !y || idm_theta_form_mismatch(parameters->theta, theta)) return;
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    double *value = theta->block[item->block].value;
    double row[IDM_MAX_OUTCOMES];
    if (item->simplex) {
      idm_simplex_constrain(item->size, y + item->first, row);
      write_row(item, row, value);
    } else if (item->opaque)
      for (size_t j = 0; j < item->size; j++) value[j] = natural_at(item, y[item->first + j]);
    else
      write_scalar(theta, item, idm_parameter_natural(item, y, NULL));
  }
  idm_features_apply(&theta->block[IDM_UTILITY]);
}

void idm_parameters_report(const idm_parameters *parameters, const double *y, double *quantity)
{
  if (!parameters || !y || !quantity) return;
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    double *to = quantity + item->quantity;
    if (item->simplex) {
      idm_simplex_constrain(item->size, y + item->first, to);
      continue;
    }
    for (size_t j = 0; item->opaque && j < item->size; j++)
      to[j] = natural_at(item, y[item->first + j]);
    if (item->opaque) continue;
    const double c = idm_parameter_coordinate(item, y, NULL);
    to[0] = idm_scale_inverse(item->scale, c);
    if (summarised_by_coordinate(item)) to[1] = c;
  }
}

static double read_number(const idm_block *block, const parameter *item, size_t i)
{
  if (item->entry < 0) return block->value[item->offset + i];
  if (block->features)
    return block->features->weight[idm_features_index(block->features, (size_t)item->entry)];
  for (size_t k = 0; k < block->size; k++)
    if (block->coordinate[k] == item->entry) return block->value[k];
  return 0;
}

/* Range of the utility that the units of a block refer to. */
static double range_of(const idm_parameters *p, size_t block)
{
  return block == IDM_ALPHA ? p->alpha_range : p->range;
}

/* Typical size of c of an item. */
static double unit_of(const idm_parameters *p, const parameter *item)
{
  return idm_block_unit(info_of(p, item), item->scale, range_of(p, item->block));
}

/* Returns the natural value, or a finite value in place of a limit that has no coordinate (such as
 * beta = inf, which has no logarithm): a thousand times the typical size. */
static double finite_value(const idm_parameters *p, const parameter *item, double value)
{
  static const double limit_factor = 1000;
  const double size =
      idm_block_unit(info_of(p, item), IDM_SCALE_IDENTITY, range_of(p, item->block));
  if (item->scale == IDM_SCALE_INVERSE)
    return value == 0 ? copysign(size / limit_factor, value) : value;
  if (item->scale == IDM_SCALE_LOG && !(value > 0)) return size / limit_factor;
  if (item->scale == IDM_SCALE_LOGIT)
    return fmin(fmax(value, 1 / limit_factor), 1 - 1 / limit_factor);
  return isinf(value) ? copysign(limit_factor * size, value) : value;
}

/* Returns c moved into the interior of the support. */
static double clamp_to_support(const idm_parameters *p, const parameter *item, double c)
{
  const double width = item->upper - item->lower;
  const double margin = 1e-3 * (isfinite(width) ? width : unit_of(p, item));
  if (c <= item->lower) c = item->lower + margin;
  return c >= item->upper ? item->upper - margin : c;
}

void idm_parameters_get(const idm_parameters *parameters, const idm_theta *theta, double *y)
{
  if (!parameters || !y || idm_theta_form_mismatch(parameters->theta, theta)) return;
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    const idm_block *block = &theta->block[item->block];
    if (item->simplex) {
      double row[IDM_MAX_OUTCOMES];
      for (size_t j = 0; j < item->size; j++) row[j] = block->value[number_index(item, j)];
      idm_simplex_unconstrain(item->size, row, y + item->first);
      for (size_t j = 0; j + 1 < item->size; j++)
        if (!isfinite(y[item->first + j])) y[item->first + j] = 0;
      continue;
    }
    for (size_t j = 0; j < item->size; j++) {
      const double value = finite_value(parameters, item, read_number(block, item, j));
      const double c = clamp_to_support(parameters, item, idm_scale_transform(item->scale, value));
      y[item->first + j] = idm_unconstrain(item->lower, item->upper, c);
    }
  }
}

void idm_parameters_units(const idm_parameters *parameters, double *unit)
{
  for (size_t i = 0; i < parameters->dimension; i++) unit[i] = 1;
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    /* With a finite bound y is a logarithm or a logit, of unit 1. */
    if (item->simplex || !isinf(item->lower) || !isinf(item->upper)) continue;
    const double sd = idm_prior_sd(item->prior);
    for (size_t j = 0; j < item->size; j++)
      unit[item->first + j] = isfinite(sd) ? sd : unit_of(parameters, item);
  }
}

bool idm_parameters_degenerate(const idm_parameters *parameters, const idm_theta *theta)
{
  for (size_t i = 0; i < theta->blocks; i++) {
    const idm_block *block = &theta->block[i];
    if (block->role == IDM_DESCRIPTIVE && block->info->infinite && block->info->in_utility &&
        fabs(block->value[0]) < 1e-11 * range_of(parameters, i))
      return true;
  }
  return false;
}

/* --- gradients ------------------------------------------------------------------------------ */

/* Sum of a block's derivatives over the entries, in every variant, that an item sets. */
static double sum_derivatives(const idm_parameters *p, const idm_theta *theta_gradient,
                              const parameter *item)
{
  const idm_block *block = &theta_gradient->block[item->block];
  const idm_features *features = p->theta->block[item->block].features;
  double sum = 0;
  if (features)
    return idm_features_derivative(features, block,
                                   idm_features_index(features, (size_t)item->entry));
  if (block->info->tied) return idm_tie_derivative(theta_gradient, item->block, item->entry);
  for (size_t v = 0; v < block->variants; v++) {
    const double *from = block->value + v * block->size;
    if (item->entry < 0) sum += from[item->offset];
    for (size_t i = 0; item->entry >= 0 && i < block->size; i++)
      if (block->coordinate[i] == item->entry) sum += from[i];
  }
  return sum;
}

/* idm_simplex_backward includes the gradient of the log Jacobian; the difference of two calls is
 * the likelihood's part. */
static void backpropagate_simplex(const parameter *item, const double *y,
                                  const idm_theta *theta_gradient, double *gradient)
{
  const size_t n = item->size;
  const double zero_gradient[IDM_MAX_OUTCOMES] = {0};
  const double *from = theta_gradient->block[item->block].value;
  double row[IDM_MAX_OUTCOMES];
  double with_likelihood[IDM_MAX_OUTCOMES];
  double jacobian_only[IDM_MAX_OUTCOMES];
  for (size_t i = 0; i < n; i++) {
    const size_t place = number_index(item, i);
    row[i] = from[place];
    for (size_t k = 0; k < item->copies; k++)
      row[i] += from[item->copy[k] + (place - item->offset)];
  }
  idm_simplex_backward(n, y + item->first, zero_gradient, jacobian_only);
  idm_simplex_backward(n, y + item->first, row, with_likelihood);
  for (size_t i = 0; i + 1 < n; i++)
    gradient[item->first + i] += with_likelihood[i] - jacobian_only[i];
}

void idm_parameters_backward(const idm_parameters *parameters, const double *y,
                             const idm_theta *theta_gradient, double *gradient)
{
  if (!parameters || !y || !gradient || idm_theta_form_mismatch(parameters->theta, theta_gradient))
    return;
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    if (item->simplex) {
      backpropagate_simplex(item, y, theta_gradient, gradient);
      continue;
    }
    const bool reciprocal = info_of(parameters, item)->reciprocal;
    for (size_t j = 0; j < item->size; j++) {
      double dc;
      const double c = idm_constrain(item->lower, item->upper, y[item->first + j], &dc, NULL, NULL);
      const double sum = item->opaque ? theta_gradient->block[item->block].value[j]
                                      : sum_derivatives(parameters, theta_gradient, item);
      if (sum != 0) gradient[item->first + j] += sum * natural_derivative(item, reciprocal, c) * dc;
    }
  }
}
