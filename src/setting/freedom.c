/* Free blocks of theta: tied entries, default priors and contrasts.
 *
 * Contents: tie · freedom */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "setting/model.h"

/* === tie ==================================================================================== */

/* Ties: entries of rows of distributions that share one free number. */

/* Length of a row. */
static size_t width_of(const idm_theta *theta, size_t id)
{
  return idm_block_width(theta->block[id].info, theta->sizes, theta->models);
}

/* Number of entries of a coordinate in the row that begins at `row`. */
static size_t entries_of(const idm_block *block, size_t row, size_t width, int32_t coordinate)
{
  size_t count = 0;
  for (size_t i = row; i < row + width; i++) count += block->coordinate[i] == coordinate;
  return count;
}

double idm_tie_upper_bound(const idm_theta *theta, size_t id, int32_t coordinate)
{
  const idm_block *block = &theta->block[id];
  const size_t width = width_of(theta, id);
  size_t max_entries = 1;
  for (size_t row = 0; row < block->size; row += width) {
    const size_t count = entries_of(block, row, width, coordinate);
    if (count > max_entries) max_entries = count;
  }
  return 1 / (double)max_entries;
}

void idm_tie_set_value(idm_theta *theta, size_t id, int32_t coordinate, double value)
{
  const idm_block *block = &theta->block[id];
  const size_t width = width_of(theta, id);
  for (size_t row = 0; row < block->size; row += width) {
    const size_t count = entries_of(block, row, width, coordinate);
    const double remainder = fmax(0, 1 - (double)count * value);
    for (size_t i = row; count && i < row + width; i++)
      block->value[i] = block->coordinate[i] == coordinate ? value : remainder * block->share[i];
  }
}

double idm_tie_derivative(const idm_theta *derivative, size_t id, int32_t coordinate)
{
  const idm_block *block = &derivative->block[id];
  const size_t width = width_of(derivative, id);
  double sum = 0;
  for (size_t row = 0; row < block->size; row += width) {
    const size_t count = entries_of(block, row, width, coordinate);
    for (size_t i = row; count && i < row + width; i++)
      sum += block->coordinate[i] == coordinate
                 ? block->value[i]
                 : -(double)count * block->share[i] * block->value[i];
  }
  return sum;
}

idm_status idm_tie_set_shares(idm_theta *theta, size_t id, int32_t *coordinate,
                              idm_error *opt_error)
{
  idm_block *block = &theta->block[id];
  const size_t width = width_of(theta, id);
  block->coordinate = coordinate;
  block->share = idm_new(block->size, sizeof *block->share);
  if (!block->share) return idm_fail_memory(opt_error);
  for (size_t row = 0; row < block->size; row += width) {
    bool tied = false;
    double remainder = 0;
    for (size_t i = row; i < row + width; i++) {
      tied = tied || coordinate[i] >= 0;
      if (coordinate[i] < 0) remainder += block->value[i];
    }
    for (size_t i = row; tied && remainder > 0 && i < row + width; i++)
      if (coordinate[i] < 0) block->share[i] = block->value[i] / remainder;
  }
  return IDM_OK;
}

/* === freedom ================================================================================ */

/* Free blocks: default priors and fixed reference numbers. */

static double range_of(const double *value, size_t count)
{
  double low = INFINITY;
  double high = -INFINITY;
  for (size_t i = 0; i < count; i++) {
    low = fmin(low, value[i]);
    high = fmax(high, value[i]);
  }
  const double range = high - low;
  return range > 0 ? fmin(fmax(range, 1e-100), 1e100) : 1;
}

double idm_theta_utility_range(const idm_theta *theta)
{
  const idm_block *utility = &theta->block[IDM_UTILITY];
  return range_of(utility->value, utility->size * utility->variants);
}

double idm_variant_utility_range(const idm_theta *theta, size_t variant)
{
  return range_of(idm_theta_values(theta, IDM_UTILITY, variant), theta->block[IDM_UTILITY].size);
}

/* Default priors, in the coordinate of the scale. S is the spread of the descriptor (times the
 * range of the utility, where the block has its unit). An alpha of a twentieth of the range is
 * close to the best action but not deterministic; 1/beta = 20/S is strong optimism. A change of the
 * unit of the utilities changes the answer by that unit alone, except for signed-log, whose
 * transition at 1 is in the unit of the file. See docs/method/inference.md, 2.
 *
 *                  identity          log                    inverse            signed-log
 *   real           normal 0, S       normal log(S/20), 2    normal 0, 20/S     normal 0, log(1+S)
 *   not negative   halfnormal S      normal log(S/20), 2    exponential S/20   halfnormal log(1+S)
 *   fraction       beta 1, 1         logit: normal 0, 1.5
 *   distribution   dirichlet 1, 1, ... */
typedef struct prior_spec {
  idm_prior_kind kind;
  double argument[2];
  const char *argument_text; /* text of the arguments, with %s for S */
} prior_spec;

static prior_spec default_prior(const idm_block_info *info, idm_scale scale, double S)
{
  const bool positive = info->support == IDM_NOT_NEGATIVE || info->support == IDM_POSITIVE;
  if (scale == IDM_SCALE_LOGIT) return (prior_spec){IDM_PRIOR_NORMAL, {0, 1.5}, "0, 1.5"};
  if (info->support == IDM_FRACTION || info->tied)
    return (prior_spec){IDM_PRIOR_BETA, {1, 1}, "1, 1"};
  if (info->support == IDM_DISTRIBUTION) return (prior_spec){IDM_PRIOR_DIRICHLET, {1, 1}, "1, ..."};
  if (scale == IDM_SCALE_LOG)
    return (prior_spec){IDM_PRIOR_NORMAL, {log(S / 20), 2}, "log(%s/20), 2"};
  if (scale == IDM_SCALE_INVERSE)
    return positive ? (prior_spec){IDM_PRIOR_EXPONENTIAL, {S / 20, 0}, "%s/20"}
                    : (prior_spec){IDM_PRIOR_NORMAL, {0, 20 / S}, "0, 20/%s"};
  const bool is_signed_log = scale == IDM_SCALE_SIGNED_LOG;
  const double width = is_signed_log ? log1p(S) : S;
  return positive
             ? (prior_spec){IDM_PRIOR_HALFNORMAL, {width, 0}, is_signed_log ? "log(1 + %s)" : "%s"}
             : (prior_spec){
                   IDM_PRIOR_NORMAL, {0, width}, is_signed_log ? "0, log(1 + %s)" : "0, %s"};
}

/* S of the table above. */
static double spread_of(const idm_block_info *info, double range)
{
  return info->spread * (info->in_utility ? range : 1);
}

double idm_block_unit(const idm_block_info *info, idm_scale scale, double range)
{
  const prior_spec prior = default_prior(info, scale, spread_of(info, range));
  switch (prior.kind) {
  case IDM_PRIOR_NORMAL:
    return prior.argument[1];
  case IDM_PRIOR_HALFNORMAL:
    return prior.argument[0];
  case IDM_PRIOR_EXPONENTIAL:
    return 1 / prior.argument[0];
  default:
    return 1;
  }
}

idm_status idm_theta_set_default_prior(idm_theta *theta, size_t id, double range,
                                       idm_error *opt_error)
{
  idm_block *block = &theta->block[id];
  const idm_block_info *info = block->info;
  const bool by_distribution = info->tied && !block->share;
  const prior_spec prior = by_distribution
                               ? (prior_spec){IDM_PRIOR_DIRICHLET, {1, 1}, "1, ..."}
                               : default_prior(info, block->scale, spread_of(info, range));
  const int arguments = idm_prior_arguments(prior.kind);
  const size_t elements =
      by_distribution ? idm_block_width(info, theta->sizes, theta->models) : block->size;
  const size_t count = arguments < 0 ? elements : (size_t)arguments;
  double *argument = idm_new(count, sizeof *argument);
  if (!argument) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++) argument[i] = arguments < 0 ? 1 : prior.argument[i];
  free(block->prior.argument);
  block->prior = (idm_prior){prior.kind, count, argument};
  block->default_prior = true;
  return IDM_OK;
}

double idm_problem_prior_range(const idm_problem *problem, size_t id)
{
  if (id == IDM_ALPHA && problem->agent.alpha_unit == IDM_ALPHA_RANGE) return 1;
  return idm_theta_utility_range(problem->theta);
}

idm_status idm_problem_reset_priors(idm_problem *problem, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < problem->theta->blocks && status == IDM_OK; i++)
    if (problem->theta->block[i].default_prior)
      status = idm_theta_set_default_prior(problem->theta, i, idm_problem_prior_range(problem, i),
                                           opt_error);
  return status;
}

const char *idm_block_prior_text(const idm_block_info *info, char *buffer, size_t size)
{
  if (!info || !buffer) return NULL;
  const prior_spec prior = default_prior(info, info->scale, info->spread);
  const char *s = strstr(prior.argument_text, "%s");
  char spread[32] = "R";
  buffer[0] = '\0';
  if (!info->scales) return buffer;
  if (!info->in_utility)
    idm_print(spread, sizeof spread, "%g", info->spread);
  else if (info->spread != 1)
    idm_print(spread, sizeof spread, "%gR", info->spread);
  idm_print(buffer, size, "%s(%.*s%s%s)", idm_prior_name(prior.kind),
            s ? (int)(s - prior.argument_text) : (int)strlen(prior.argument_text),
            prior.argument_text, s ? spread : "", s ? s + 2 : "");
  return buffer;
}

size_t idm_theta_reference(const idm_theta *theta, size_t id)
{
  const size_t terms = theta->sizes.states + 1;
  for (size_t u = 0; u < theta->sizes.actions; u++) {
    bool all_zero = true;
    for (size_t i = 0; i < terms; i++)
      all_zero = all_zero && theta->block[id].value[u * terms + i] == 0;
    if (all_zero) return u;
  }
  return 0;
}

/* Give the numbers that are not held fixed `count` coordinates, with names. */
static idm_status
number_coordinates(idm_theta *theta, const idm_setting *setting, size_t id, size_t count,
                   bool (*is_held)(const idm_theta *theta, size_t i, size_t reference),
                   size_t reference, idm_error *opt_error)
{
  idm_block *block = &theta->block[id];
  if (!count)
    return idm_fail(opt_error, IDM_INPUT,
                    "%s cannot be free: all its numbers belong to the reference",
                    block->info->name);
  idm_status status = idm_labels_create(&block->coordinate_name, count, opt_error);
  if (status != IDM_OK) return status;
  block->coordinate = idm_new(block->size, sizeof *block->coordinate);
  if (!block->coordinate) return idm_fail_memory(opt_error);
  int32_t next = 0;
  for (size_t i = 0; i < block->size && status == IDM_OK; i++) {
    block->coordinate[i] = is_held(theta, i, reference) ? -1 : next;
    if (block->coordinate[i] < 0) continue;
    char name[2100];
    idm_block_entry_name(block->info, setting, theta->models, i, name, sizeof name);
    status = idm_labels_set(&block->coordinate_name, (size_t)next++, name, strlen(name), opt_error);
  }
  return status;
}

static bool is_of_reference(const idm_theta *theta, size_t i, size_t reference)
{
  const size_t terms = theta->sizes.states + 1;
  return i / terms == reference || i % terms == 0;
}

static bool is_reference(const idm_theta *theta, size_t i, size_t reference)
{
  (void)theta;
  return i == reference;
}

idm_status idm_theta_contrast(idm_theta *theta, const idm_setting *setting, size_t id,
                              size_t reference, idm_error *opt_error)
{
  const size_t count = (theta->sizes.actions - 1) * theta->sizes.states;
  return number_coordinates(theta, setting, id, count, is_of_reference, reference, opt_error);
}

idm_status idm_theta_fix_one(idm_theta *theta, const idm_setting *setting, size_t id, size_t held,
                             idm_error *opt_error)
{
  const size_t count = theta->block[id].size - 1;
  return number_coordinates(theta, setting, id, count, is_reference, held, opt_error);
}
