/* The free part of theta as a vector of unconstrained numbers.
 *
 * Contents: items · names · values · priors · gradients */
#include "invert/parameters.h"

#include <math.h>
#include <stdio.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/planner.h"
#include "idm/prior.h"
#include "idm/transform.h"

/* --- items ---------------------------------------------------------------------------------- */

/* Outcomes of a free distribution: its scratch is on the stack. */
enum { most_outcomes = 256 };
/* Free numbers altogether: far more than a log of decisions can tell. */
enum { most_numbers = 1000 };

static const idm_block_info *info_of(const idm_parameters *p, const parameter *item)
{
  return p->theta->block[item->block].info;
}

/* Support of c by what the block may hold. */
static void block_support(const idm_block_info *info, idm_scale scale, double *lower, double *upper)
{
  const bool positive = info->support == IDM_NOT_NEGATIVE || info->support == IDM_POSITIVE;
  *lower = positive && scale != IDM_SCALE_LOG ? 0 : -INFINITY;
  *upper = INFINITY;
  if (info->support == IDM_FRACTION) {
    *lower = 0;
    *upper = 1;
  }
}

static idm_status set_support(const idm_block_info *info, parameter *item, idm_error *opt_error)
{
  double lower;
  double upper;
  block_support(info, item->scale, &lower, &upper);
  idm_prior_support(item->prior, &item->lower, &item->upper);
  item->lower = fmax(item->lower, lower);
  item->upper = fmin(item->upper, upper);
  if (item->lower < item->upper) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "the prior of %s puts all its weight where %s cannot be: it needs (%g, %g)",
                  info->name, info->name, lower, upper);
}

static idm_status add_item(idm_parameters *p, parameter item, idm_error *opt_error)
{
  const idm_block_info *info = info_of(p, &item);
  item.first = p->dimension;
  item.prior = &p->theta->block[item.block].prior;
  idm_status status = IDM_OK;
  if (!item.simplex)
    status = set_support(info, &item, opt_error);
  else if (item.prior->kind != IDM_PRIOR_DIRICHLET && item.prior->kind != IDM_PRIOR_FLAT)
    status = idm_fail(opt_error, IDM_INPUT, "the prior of %s is %s; expected dirichlet or flat",
                      info->name, idm_prior_name(item.prior->kind));
  p->item[p->items++] = item;
  p->dimension += item.size - item.simplex;
  return status;
}

static idm_status add_block(idm_parameters *p, size_t id, idm_error *opt_error)
{
  const idm_block *block = &p->theta->block[id];
  parameter item = {.block = id, .scale = block->scale, .size = 1, .entry = -1};
  if (block->info->support == IDM_DISTRIBUTION) {
    if (block->size < 2 || block->size > most_outcomes)
      return idm_fail(opt_error, IDM_INPUT, "%s has %zu entries; a free one has 2 to %d",
                      block->info->name, block->size, most_outcomes);
    item.simplex = true;
    item.size = block->size;
    return add_item(p, item, opt_error);
  }
  if (block->info->opaque) {
    item.opaque = true;
    item.size = block->size;
    return add_item(p, item, opt_error);
  }
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
      items += theta->block[i].info->opaque ? 1 : theta->block[i].size;
  return items;
}

/* Free blocks must be ones that the planner reads. */
static idm_status check_reads(const idm_problem *problem, size_t id, idm_error *opt_error)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  if (idm_planner_reads(planner, id)) return IDM_OK;
  return idm_fail(
      opt_error, IDM_INPUT,
      "%s is free, but the planner '%s' does not read it: the data say nothing about it",
      problem->theta->block[id].info->name, planner->name);
}

/* Every free block, those without names last: a named number's place among the quantities is then
 * its place among the numbers. */
static idm_status add_all(idm_parameters *p, const idm_problem *problem, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (int opaque = 0; opaque < 2; opaque++) {
    for (size_t i = 0; i < p->theta->blocks && status == IDM_OK; i++) {
      const idm_block *block = &p->theta->block[i];
      if (block->role != IDM_DESCRIPTIVE || block->info->opaque != opaque) continue;
      status = check_reads(problem, i, opt_error);
      if (status == IDM_OK) status = add_block(p, i, opt_error);
    }
    if (status == IDM_OK && !opaque && p->dimension > most_numbers)
      status = idm_fail(opt_error, IDM_INPUT, "%zu numbers are free; at most %d can be",
                        p->dimension, most_numbers);
  }
  if (status == IDM_OK && !p->items)
    status = idm_fail(opt_error, IDM_INPUT,
                      "nothing is free: name what to infer under `free:`, or by --free beta,eta");
  return status;
}

/* --- names ---------------------------------------------------------------------------------- */

/* A scale on which a number need not have a mean (the inverse of what may be 0, the exponential of
 * what may be anything of either sign) is summarised by its coordinate: what then stands before the
 * block's name in files, and how it is spoken. */
typedef struct summary_name {
  idm_scale scale;
  const char *prefix;
  const char *spoken;
} summary_name;

static const summary_name summary_names[] = {
    {IDM_SCALE_INVERSE, "inverse_", "1/"},
    {IDM_SCALE_SIGNED_LOG, "signed_log_", "signed-log "},
};
enum { summary_name_count = sizeof summary_names / sizeof *summary_names };

/* NULL where the natural value is summarised. */
static const summary_name *summary_of(const parameter *item)
{
  for (size_t i = 0; i < summary_name_count && idm_parameter_is_scalar(item); i++)
    if (summary_names[i].scale == item->scale) return &summary_names[i];
  return NULL;
}

const char *idm_quantity_spoken(const char *quantity, char *buffer, size_t size)
{
  if (!quantity || !buffer) return NULL;
  for (size_t i = 0; i < summary_name_count; i++) {
    const size_t length = strlen(summary_names[i].prefix);
    if (strncmp(quantity, summary_names[i].prefix, length) != 0) continue;
    snprintf(buffer, size, "%s%s", summary_names[i].spoken, quantity + length);
    return buffer;
  }
  snprintf(buffer, size, "%s", quantity);
  return buffer;
}

/* "block", "block[label]" or "inverse_block..." into a label. */
static idm_status set_name(idm_labels *labels, size_t at, const char *prefix, const char *block,
                           const char *opt_entry, idm_error *opt_error)
{
  char name[IDM_ENTRY + 200];
  const int length = opt_entry ? snprintf(name, sizeof name, "%s%s[%s]", prefix, block, opt_entry)
                               : snprintf(name, sizeof name, "%s%s", prefix, block);
  return idm_labels_set(labels, at, name, (size_t)length, opt_error);
}

/* Name of number i of an item within its block, or NULL for a block of one number. */
static const char *entry_name(const idm_problem *problem, const parameter *item, size_t i,
                              char *buffer, size_t size)
{
  const idm_block *block = &problem->theta->block[item->block];
  if (item->entry >= 0) return block->coordinate_name.name[item->entry];
  idm_block_entry(block->info, problem->setting, problem->theta->models, item->offset + i, buffer,
                  size);
  return buffer[0] ? buffer : NULL;
}

/* Numbers that an item reports. */
static size_t numbers_of(const parameter *item)
{
  return item->size + (summary_of(item) != NULL);
}

static idm_status name_item(idm_parameters *p, const idm_problem *problem, parameter *item,
                            size_t *quantity, idm_error *opt_error)
{
  char buffer[IDM_ENTRY];
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
    p->summarised[*quantity] = !summary_of(item);
    status = set_name(&p->quantity, (*quantity)++, "", block, entry, opt_error);
    if (status == IDM_OK && (!item->simplex || i + 1 < item->size))
      status = set_name(&p->coordinate, item->first + i, "", block, entry, opt_error);
  }
  if (status != IDM_OK || !summary_of(item)) return status;
  p->summarised[*quantity] = true;
  return set_name(&p->quantity, (*quantity)++, summary_of(item)->prefix, block,
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
  idm_status status = idm_theta_copy(problem->theta, &p->theta, opt_error);
  if (status == IDM_OK) {
    p->item = idm_new(item_limit(p->theta), sizeof *p->item);
    if (!p->item) status = idm_fail_memory(opt_error);
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

double idm_parameter_coordinate(const parameter *item, const double *y, double *opt_slope)
{
  return idm_constrain(item->lower, item->upper, y[item->first], opt_slope, NULL, NULL);
}

size_t idm_parameter_reported(const parameter *item)
{
  return item->quantity + (summary_of(item) != NULL);
}

double idm_parameter_reported_at(const parameter *item, double c)
{
  return summary_of(item) ? c : idm_scale_from(item->scale, c);
}

void idm_parameter_write(idm_theta *theta, const parameter *item, double value)
{
  idm_block *block = &theta->block[item->block];
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

/* The natural value of a number of an opaque block at its coordinate y. */
static double natural_at(const parameter *item, double y)
{
  return idm_scale_from(item->scale, idm_constrain(item->lower, item->upper, y, NULL, NULL, NULL));
}

void idm_parameters_set(const idm_parameters *parameters, const double *y, idm_theta *theta)
{
  if (!parameters || !y || idm_theta_unlike(parameters->theta, theta)) return;
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    double *value = theta->block[item->block].value;
    if (item->simplex)
      idm_simplex_constrain(item->size, y + item->first, value);
    else if (item->opaque)
      for (size_t j = 0; j < item->size; j++) value[j] = natural_at(item, y[item->first + j]);
    else
      idm_parameter_write(theta, item,
                          idm_scale_from(item->scale, idm_parameter_coordinate(item, y, NULL)));
  }
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
    to[0] = idm_scale_from(item->scale, c);
    if (summary_of(item)) to[1] = c;
  }
}

static double read_number(const idm_block *block, const parameter *item, size_t i)
{
  if (item->entry < 0) return block->value[item->offset + i];
  for (size_t k = 0; k < block->size; k++)
    if (block->coordinate[k] == item->entry) return block->value[k];
  return 0;
}

/* The nearest c inside the support and within reach: a limit such as beta = inf has no logarithm to
 * start from. */
static double inside(const parameter *item, double c)
{
  static const double reach = 7; /* |log| of a thousand */
  if (item->scale == IDM_SCALE_LOG) c = isnan(c) ? 0 : fmin(fmax(c, -reach), reach);
  if (!isfinite(c)) c = signbit(c) ? -1000 : 1000;
  const double width = item->upper - item->lower;
  const double margin = isfinite(width) ? 1e-3 * width : 1e-3;
  if (c <= item->lower) c = item->lower + margin;
  return c >= item->upper ? item->upper - margin : c;
}

void idm_parameters_get(const idm_parameters *parameters, const idm_theta *theta, double *y)
{
  if (!parameters || !y || idm_theta_unlike(parameters->theta, theta)) return;
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    const idm_block *block = &theta->block[item->block];
    if (item->simplex) {
      idm_simplex_unconstrain(item->size, block->value, y + item->first);
      for (size_t j = 0; j + 1 < item->size; j++)
        if (!isfinite(y[item->first + j])) y[item->first + j] = 0;
      continue;
    }
    for (size_t j = 0; j < item->size; j++) {
      const double c = inside(item, idm_scale_to(item->scale, read_number(block, item, j)));
      y[item->first + j] = idm_unconstrain(item->lower, item->upper, c);
    }
  }
}

/* --- priors --------------------------------------------------------------------------------- */

/* Dirichlet's log density and its slopes in y, Jacobian included. */
static double log_prior_simplex(const parameter *item, const double *y, double *opt_gradient)
{
  double p[most_outcomes];
  double slope[most_outcomes] = {0};
  double sum = idm_simplex_constrain(item->size, y + item->first, p);
  if (item->prior->kind == IDM_PRIOR_DIRICHLET)
    sum += idm_dirichlet_log_density(item->size, item->prior->argument, p, slope);
  if (opt_gradient)
    idm_simplex_pull(item->size, y + item->first, slope, opt_gradient + item->first);
  return sum;
}

double idm_parameters_log_prior(const idm_parameters *parameters, const double *y,
                                double *opt_gradient)
{
  if (!parameters || !y) return NAN;
  double sum = 0;
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    if (item->simplex) {
      sum += log_prior_simplex(item, y, opt_gradient);
      continue;
    }
    for (size_t j = item->first; j < item->first + item->size; j++) {
      double slope;
      double log_slope;
      double log_slope_slope;
      double prior_slope = 0;
      const double c =
          idm_constrain(item->lower, item->upper, y[j], &slope, &log_slope, &log_slope_slope);
      sum += idm_prior_log_density(item->prior, c, &prior_slope) + log_slope;
      if (opt_gradient) opt_gradient[j] = prior_slope * slope + log_slope_slope;
    }
  }
  return sum;
}

bool idm_parameters_proper(const idm_parameters *parameters)
{
  if (!parameters) return false;
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    const bool bounded = isfinite(item->lower) && isfinite(item->upper);
    if (item->prior->kind == IDM_PRIOR_FLAT && !item->simplex && !bounded) return false;
  }
  return true;
}

void idm_parameters_draw(const idm_parameters *parameters, idm_random *random, double *y)
{
  if (!parameters || !random || !y) return;
  enum { most_tries = 10000 };
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    if (item->simplex) {
      double p[most_outcomes];
      double concentration[most_outcomes];
      for (size_t j = 0; j < item->size; j++)
        concentration[j] = item->prior->kind == IDM_PRIOR_DIRICHLET ? item->prior->argument[j] : 1;
      idm_dirichlet_draw(item->size, concentration, random, p);
      idm_simplex_unconstrain(item->size, p, y + item->first);
      continue;
    }
    for (size_t j = 0; j < item->size; j++) {
      double c = NAN;
      for (int tries = 0; tries < most_tries && !(c > item->lower && c < item->upper); tries++)
        c = item->prior->kind == IDM_PRIOR_FLAT
                ? item->lower + (item->upper - item->lower) * idm_random_uniform(random)
                : idm_prior_draw(item->prior, random);
      y[item->first + j] = idm_unconstrain(item->lower, item->upper, inside(item, c));
    }
  }
}

/* --- gradients ------------------------------------------------------------------------------ */

/* d natural/dc, or for a reciprocal block d(1/x)/dc, at c. */
static double natural_slope(const parameter *item, bool reciprocal, double c)
{
  const double value = idm_scale_from(item->scale, c);
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
    }
  switch (item->scale) {
  case IDM_SCALE_LOG:
    return value;
  case IDM_SCALE_INVERSE:
    return -value * value;
  case IDM_SCALE_SIGNED_LOG:
    return exp(fabs(c));
  case IDM_SCALE_IDENTITY:
    break;
  }
  return 1;
}

/* Sum of a block's slopes over the entries, in every variant, that follow an item. */
static double gather(const idm_theta *slope, const parameter *item)
{
  const idm_block *block = &slope->block[item->block];
  double sum = 0;
  for (size_t v = 0; v < block->variants; v++) {
    const double *from = block->value + v * block->size;
    if (item->entry < 0) sum += from[item->offset];
    for (size_t i = 0; item->entry >= 0 && i < block->size; i++)
      if (block->coordinate[i] == item->entry) sum += from[i];
  }
  return sum;
}

/* The simplex's pull counts the Jacobian; the likelihood's own part is the difference. */
static void pull_simplex(const parameter *item, const double *y, const idm_theta *slope,
                         double *gradient)
{
  const size_t n = item->size;
  const double nothing[most_outcomes] = {0};
  double with[most_outcomes];
  double without[most_outcomes];
  idm_simplex_pull(n, y + item->first, nothing, without);
  idm_simplex_pull(n, y + item->first, slope->block[item->block].value, with);
  for (size_t i = 0; i + 1 < n; i++) gradient[item->first + i] += with[i] - without[i];
}

void idm_parameters_pull(const idm_parameters *parameters, const double *y, const idm_theta *slope,
                         double *gradient)
{
  if (!parameters || !y || !gradient || idm_theta_unlike(parameters->theta, slope)) return;
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    if (item->simplex) {
      pull_simplex(item, y, slope, gradient);
      continue;
    }
    const bool reciprocal = info_of(parameters, item)->reciprocal;
    for (size_t j = 0; j < item->size; j++) {
      double dc;
      const double c = idm_constrain(item->lower, item->upper, y[item->first + j], &dc, NULL, NULL);
      const double sum = item->opaque ? slope->block[item->block].value[j] : gather(slope, item);
      if (sum != 0) gradient[item->first + j] += sum * natural_slope(item, reciprocal, c) * dc;
    }
  }
}
