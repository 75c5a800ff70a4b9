/* Refits of an answer with one more number free: a search for the mode from the answer's centre. */
#include "invert/assess/extension.h"

#include <math.h>

#include "base/memory.h"
#include "invert/matching/fit.h"
#include "setting/model.h"

/* Set the free numbers to the centre of the answer. */
static idm_status set_centre(const check_context *q, idm_theta *theta, idm_error *opt_error)
{
  double *y = idm_new(q->f->parameters->dimension, sizeof *y);
  if (!y) return idm_fail_memory(opt_error);
  idm_context_centre(q, y);
  idm_parameters_set(q->f->parameters, y, theta);
  free(y);
  return IDM_OK;
}

/* Free a block, under its default scale and prior. */
static idm_status free_block(const check_context *q, size_t at, idm_theta *theta,
                             idm_error *opt_error)
{
  idm_block *block = &theta->block[at];
  block->role = IDM_DESCRIPTIVE;
  block->scale = block->info->scale;
  return idm_theta_set_default_prior(theta, at, idm_problem_prior_range(q->f->problem, at),
                                     opt_error);
}

static idm_status maximise_refit(fit_context *f, idm_theta *theta, size_t block, refit *ret,
                                 idm_error *opt_error)
{
  chain_start *s = NULL;
  idm_status status = idm_start_create(f->parameters->dimension, &s, opt_error);
  if (status != IDM_OK) return status;
  const idm_target target = idm_matching_target(f->matching[0]);
  idm_parameters_get(f->parameters, theta, s->mode);
  status = target.evaluate(target.context, s->mode, &s->log_density, NULL, opt_error);
  if (status == IDM_OK && isfinite(s->log_density)) {
    status = idm_start_maximise(f, 0, s, opt_error);
    if (status == IDM_OK)
      status = idm_matching_log_likelihood(f->matching[0], s->mode, &ret->log_likelihood, NULL,
                                           opt_error);
    idm_parameters_set(f->parameters, s->mode, theta);
    if (block < theta->blocks) ret->value = theta->block[block].value[0];
  }
  idm_start_destroy(s);
  return status;
}

/* Refit with a block free, or none (past the last), from theta, which is freed here. */
static idm_status run_refit(const check_context *q, idm_theta *theta, size_t block, refit *ret,
                            idm_error *opt_error)
{
  idm_problem problem = *q->f->problem;
  fit_context f = {0};
  problem.theta = theta;
  idm_status status = set_centre(q, theta, opt_error);
  if (status == IDM_OK && block < theta->blocks) status = free_block(q, block, theta, opt_error);
  if (status == IDM_OK)
    status = idm_fit_open_cancel(&f, NULL, &problem, q->f->data, q->f->settings, 1,
                                 q->f->parameters->cancel, opt_error);
  if (status == IDM_OK) status = maximise_refit(&f, theta, block, ret, opt_error);
  idm_fit_close(&f);
  idm_theta_destroy(theta);
  return status == IDM_NUMERICAL || status == IDM_INPUT ? IDM_OK : status;
}

idm_status idm_refit(const check_context *q, const fixed_override *opt_from, refit *ret,
                     idm_error *opt_error)
{
  idm_theta *theta;
  *ret = (refit){.value = NAN, .log_likelihood = -INFINITY};
  const idm_status status = idm_theta_copy(q->f->problem->theta, &theta, opt_error);
  if (status != IDM_OK) return status;
  const size_t block = opt_from ? opt_from->block : theta->blocks;
  for (size_t i = 0; opt_from && i < theta->block[block].variants; i++)
    theta->block[block].value[i] = opt_from->value;
  return run_refit(q, theta, block, ret, opt_error);
}

idm_status idm_refit_default_prior(const check_context *q, size_t block, refit *ret,
                                   idm_error *opt_error)
{
  idm_theta *theta;
  *ret = (refit){.value = NAN, .log_likelihood = -INFINITY};
  const idm_status status = idm_theta_copy(q->f->problem->theta, &theta, opt_error);
  return status == IDM_OK ? run_refit(q, theta, block, ret, opt_error) : status;
}
