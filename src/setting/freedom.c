/* Free blocks: their default priors. */
#include "setting/freedom.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

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

double idm_theta_range(const idm_theta *theta)
{
  const idm_block *utility = &theta->block[IDM_UTILITY];
  return range_of(utility->value, utility->size * utility->variants);
}

double idm_theta_range_of(const idm_theta *theta, size_t variant)
{
  return range_of(idm_theta_values(theta, IDM_UTILITY, variant), theta->block[IDM_UTILITY].size);
}

/* The default priors, in the coordinate of the scale, with S the spread of the descriptor (times
 * the range of the utility, where it is in its units). A decision maker whose alpha is a twentieth
 * of the range is close to the best action but not locked to it; 1/beta = 20/S is strong optimism.
 * Utilities in another unit give the same answer in that unit, but for signed-log, whose bend at 1
 * is a number of the file's own unit.
 *
 *                  identity          log                    inverse            signed-log
 *   real           normal 0, S       normal log(S/20), 2    normal 0, 20/S     normal 0, log(1+S)
 *   not negative   halfnormal S      normal log(S/20), 2    exponential S/20   halfnormal log(1+S)
 *   fraction       beta 1, 1         logit: normal 0, 1.5
 *   distribution   dirichlet 1, 1, ... */
typedef struct usual {
  idm_prior_kind kind;
  double argument[2];
  const char *words; /* the arguments, with a %s for every S */
} usual;

static usual usual_prior(const idm_block_info *info, idm_scale scale, double S)
{
  const bool positive = info->support == IDM_NOT_NEGATIVE || info->support == IDM_POSITIVE;
  if (scale == IDM_SCALE_LOGIT) return (usual){IDM_PRIOR_NORMAL, {0, 1.5}, "0, 1.5"};
  if (info->support == IDM_FRACTION || info->tied) return (usual){IDM_PRIOR_BETA, {1, 1}, "1, 1"};
  if (info->support == IDM_DISTRIBUTION) return (usual){IDM_PRIOR_DIRICHLET, {1, 1}, "1, ..."};
  if (scale == IDM_SCALE_LOG) return (usual){IDM_PRIOR_NORMAL, {log(S / 20), 2}, "log(%s/20), 2"};
  if (scale == IDM_SCALE_INVERSE)
    return positive ? (usual){IDM_PRIOR_EXPONENTIAL, {S / 20, 0}, "%s/20"}
                    : (usual){IDM_PRIOR_NORMAL, {0, 20 / S}, "0, 20/%s"};
  const bool bent = scale == IDM_SCALE_SIGNED_LOG;
  const double width = bent ? log1p(S) : S;
  return positive ? (usual){IDM_PRIOR_HALFNORMAL, {width, 0}, bent ? "log(1 + %s)" : "%s"}
                  : (usual){IDM_PRIOR_NORMAL, {0, width}, bent ? "0, log(1 + %s)" : "0, %s"};
}

/* S of the table. */
static double spread_of(const idm_block_info *info, double range)
{
  return info->spread * (info->in_utility ? range : 1);
}

double idm_block_unit(const idm_block_info *info, idm_scale scale, double range)
{
  const usual prior = usual_prior(info, scale, spread_of(info, range));
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

idm_status idm_theta_default_prior(idm_theta *theta, size_t id, double range, idm_error *opt_error)
{
  idm_block *block = &theta->block[id];
  const idm_block_info *info = block->info;
  const bool by_row = info->tied && !block->share;
  const usual prior = by_row ? (usual){IDM_PRIOR_DIRICHLET, {1, 1}, "1, ..."}
                             : usual_prior(info, block->scale, spread_of(info, range));
  const int arguments = idm_prior_arguments(prior.kind);
  const size_t elements = by_row ? idm_block_width(info, theta->sizes, theta->models) : block->size;
  const size_t count = arguments < 0 ? elements : (size_t)arguments;
  double *argument = idm_new(count, sizeof *argument);
  if (!argument) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++) argument[i] = arguments < 0 ? 1 : prior.argument[i];
  free(block->prior.argument);
  block->prior = (idm_prior){prior.kind, count, argument};
  block->usual_prior = true;
  return IDM_OK;
}

double idm_problem_range(const idm_problem *problem, size_t id)
{
  if (id == IDM_ALPHA && problem->agent.alpha_unit == IDM_ALPHA_RANGE) return 1;
  return idm_theta_range(problem->theta);
}

idm_status idm_problem_renew_priors(idm_problem *problem, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < problem->theta->blocks && status == IDM_OK; i++)
    if (problem->theta->block[i].usual_prior)
      status = idm_theta_default_prior(problem->theta, i, idm_problem_range(problem, i), opt_error);
  return status;
}

const char *idm_block_prior_text(const idm_block_info *info, char *buffer, size_t size)
{
  if (!info || !buffer) return NULL;
  const usual prior = usual_prior(info, info->scale, info->spread);
  const char *s = strstr(prior.words, "%s");
  char spread[32] = "R";
  buffer[0] = '\0';
  if (!info->scales) return buffer;
  if (!info->in_utility)
    idm_print(spread, sizeof spread, "%g", info->spread);
  else if (info->spread != 1)
    idm_print(spread, sizeof spread, "%gR", info->spread);
  idm_print(buffer, size, "%s(%.*s%s%s)", idm_prior_name(prior.kind),
            s ? (int)(s - prior.words) : (int)strlen(prior.words), prior.words, s ? spread : "",
            s ? s + 2 : "");
  return buffer;
}

size_t idm_theta_reference(const idm_theta *theta, size_t id)
{
  const size_t terms = theta->sizes.states + 1;
  for (size_t u = 0; u < theta->sizes.actions; u++) {
    bool zero = true;
    for (size_t i = 0; i < terms; i++) zero = zero && theta->block[id].value[u * terms + i] == 0;
    if (zero) return u;
  }
  return 0;
}

/* Coordinates of their own, `count` of them, for the numbers that are not held. */
static idm_status separate(idm_theta *theta, const idm_setting *setting, size_t id, size_t count,
                           bool (*is_held)(const idm_theta *theta, size_t i, size_t reference),
                           size_t reference, idm_error *opt_error)
{
  idm_block *block = &theta->block[id];
  if (!count)
    return idm_fail(opt_error, IDM_INPUT, "%s cannot be free: there is nothing but the reference",
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
    idm_block_entry(block->info, setting, theta->models, i, name, sizeof name);
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
  return separate(theta, setting, id, count, is_of_reference, reference, opt_error);
}

idm_status idm_theta_hold_one(idm_theta *theta, const idm_setting *setting, size_t id, size_t held,
                              idm_error *opt_error)
{
  const size_t count = theta->block[id].size - 1;
  return separate(theta, setting, id, count, is_reference, held, opt_error);
}
