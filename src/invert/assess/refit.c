/* The same fit with one more number free: see the header. */
#include "invert/assess/refit.h"

#include <math.h>

#include "base/memory.h"
#include "invert/matching/start.h"
#include "setting/freedom.h"

/* Free a block at a value, beside what is free already, which is put at the centre. */
static idm_status extend(const inquiry *q, const view_held *opt_from, idm_theta *theta,
                         idm_error *opt_error)
{
  double *y = idm_new(q->f->parameters->dimension, sizeof *y);
  if (!y) return idm_fail_memory(opt_error);
  idm_inquiry_centre(q, y);
  idm_parameters_set(q->f->parameters, y, theta);
  free(y);
  if (!opt_from) return IDM_OK;
  idm_block *block = &theta->block[opt_from->block];
  for (size_t i = 0; i < block->variants; i++) block->value[i] = opt_from->value;
  block->role = IDM_DESCRIPTIVE;
  block->scale = block->info->scale;
  return idm_theta_default_prior(theta, opt_from->block,
                                 idm_problem_range(q->f->problem, opt_from->block), opt_error);
}

static idm_status climb(fit *f, idm_theta *theta, const view_held *opt_from, refit *ret,
                        idm_error *opt_error)
{
  start *s = NULL;
  idm_status status = idm_start_create(f->parameters->dimension, &s, opt_error);
  if (status != IDM_OK) return status;
  const idm_target target = idm_matching_target(f->matching[0]);
  idm_parameters_get(f->parameters, theta, s->mode);
  status = target.evaluate(target.context, s->mode, &s->log_density, NULL, opt_error);
  if (status == IDM_OK && isfinite(s->log_density)) {
    status = idm_start_climb(f, 0, s, opt_error);
    if (status == IDM_OK)
      status = idm_matching_log_likelihood(f->matching[0], s->mode, &ret->log_likelihood, NULL,
                                           opt_error);
    idm_parameters_set(f->parameters, s->mode, theta);
    if (opt_from) ret->value = theta->block[opt_from->block].value[0];
  }
  idm_start_destroy(s);
  return status;
}

idm_status idm_refit(const inquiry *q, const view_held *opt_from, refit *ret, idm_error *opt_error)
{
  *ret = (refit){.value = NAN, .log_likelihood = -INFINITY};
  idm_problem problem = *q->f->problem;
  fit f = {0};
  idm_status status = idm_theta_copy(q->f->problem->theta, &problem.theta, opt_error);
  if (status != IDM_OK) return status;
  status = extend(q, opt_from, problem.theta, opt_error);
  if (status == IDM_OK)
    status = idm_fit_open_halted(&f, NULL, &problem, q->f->data, q->f->settings, 1,
                                 q->f->parameters->halt, opt_error);
  if (status == IDM_OK) status = climb(&f, problem.theta, opt_from, ret, opt_error);
  idm_fit_close(&f);
  idm_theta_destroy(problem.theta);
  return status == IDM_NUMERICAL || status == IDM_INPUT ? IDM_OK : status;
}
