/* Populations: which priors of free blocks let people vary. */
#include "invert/people/settle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/design.h"
#include "idm/prior.h"

bool idm_population_is_normal(const idm_parameters *parameters, const parameter *item)
{
  if (!idm_parameter_is_scalar(item)) return false;
  const idm_prior *prior = &parameters->theta->block[item->block].prior;
  return prior->kind == IDM_PRIOR_NORMAL && isinf(item->lower) && isinf(item->upper);
}

idm_status idm_population_refuse(const idm_block *block, const char *why, idm_error *opt_error)
{
  return idm_fail(
      opt_error, IDM_INPUT,
      "people vary normally, and %s %s; expected prior: {normal: [mean, sd]} on a scale "
      "that has no ends (such as log), or population: {sd: {%s: S}, coefficient: {%s: "
      "S}} in the problem",
      block->info->name, why, block->info->name, block->info->name);
}

/* Put the normal of the prior's mean and sd in its place. */
static idm_status settle_block(idm_block *block, idm_notes *opt_notes, idm_error *opt_error)
{
  const idm_prior *prior = &block->prior;
  char why[80];
  snprintf(why, sizeof why, "has the prior %s", idm_prior_name(prior->kind));
  const double mean = idm_prior_mean(prior);
  const double sd = idm_prior_sd(prior);
  if (!(block->population.sd > 0) || !(block->population.coefficient > 0) || !isfinite(mean) ||
      !isfinite(sd))
    return idm_population_refuse(block, why, opt_error);
  idm_notes_add(opt_notes,
                "the intercept of %s is normal(%.4g, %.4g), by mean and sd of its prior %s",
                block->info->name, mean, sd, idm_prior_name(prior->kind));
  double *argument = idm_new(2, sizeof *argument);
  if (!argument) return idm_fail_memory(opt_error);
  argument[0] = mean;
  argument[1] = sd;
  free(block->prior.argument);
  block->prior = (idm_prior){IDM_PRIOR_NORMAL, 2, argument};
  block->usual_prior = false;
  return IDM_OK;
}

/* Replace what can be replaced, once a block; items that follow have what they need. */
static idm_status settle_items(idm_problem *problem, const idm_parameters *parameters,
                               idm_notes *opt_notes, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < parameters->items && status == IDM_OK; i++) {
    const parameter *item = &parameters->item[i];
    idm_block *block = &problem->theta->block[item->block];
    if (!idm_parameter_is_scalar(item))
      return idm_population_refuse(block, "is no number by itself", opt_error);
    if (!idm_population_is_normal(parameters, item) && block->prior.kind != IDM_PRIOR_NORMAL)
      status = settle_block(block, opt_notes, opt_error);
  }
  return status;
}

idm_status idm_population_settle(idm_problem *problem, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(problem);
  idm_parameters *parameters = NULL;
  idm_status status = idm_parameters_create(problem, &parameters, opt_error);
  if (status == IDM_OK) status = settle_items(problem, parameters, opt_notes, opt_error);
  idm_parameters_destroy(parameters);
  if (status != IDM_OK) return status;
  status = idm_parameters_create(problem, &parameters, opt_error);
  for (size_t i = 0; status == IDM_OK && i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    if (!idm_population_is_normal(parameters, item))
      status = idm_population_refuse(&problem->theta->block[item->block],
                                     "cannot be every number on its scale", opt_error);
  }
  idm_parameters_destroy(parameters);
  return status;
}
