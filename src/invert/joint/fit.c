/* Fits over dynamics that are drawn together with the free numbers. */
#include <math.h>

#include "base/door.h"
#include "base/memory.h"
#include "base/record.h"
#include "idm/cut.h"
#include "invert/joint/joint.h"
#include "invert/joint/learner.h"
#include "invert/matching/assemble.h"
#include "learn/iohmm.h"
#include "learn/ratio.h"

static double log_prior(const void *context, const double *w)
{
  return idm_parameters_log_prior(context, w, NULL);
}

static void place(const void *context, size_t cell, const double *w, double *x)
{
  const idm_parameters *p = context;
  (void)cell;
  memcpy(x, w, p->dimension * sizeof *x);
}

/* The draws of the free numbers, as an answer. */
static idm_status gather(const fit *f, const idm_inverse *bayes, const idm_chains *chains,
                         size_t ratios, idm_posterior **ret_posterior, idm_notes *opt_notes,
                         idm_error *opt_error)
{
  const size_t draws = (size_t)chains->settings.draws;
  idm_status status =
      idm_posterior_create(f, bayes, chains->settings.sampler->name, chains->settings.chains, draws,
                           ret_posterior, opt_error);
  for (size_t i = 0; i < chains->settings.chains * draws && status == IDM_OK; i++)
    idm_posterior_put(f, *ret_posterior, i / draws, i % draws,
                      chains->draw + i * chains->dimension + ratios, &chains->statistics[i]);
  return status == IDM_OK ? idm_posterior_complete(f, *ret_posterior, opt_notes, opt_error)
                          : status;
}

/* The dynamics of every draw, and their mean. */
static idm_status keep_dynamics(const joint *j, const idm_chains *chains, idm_posterior *p,
                                idm_error *opt_error)
{
  const size_t all = chains->settings.chains * (size_t)chains->settings.draws;
  idm_dynamics *d = NULL;
  idm_dynamics_draws mean = {0};
  idm_status status = idm_problem_dynamics(j->cut->learnt, &d, opt_error);
  if (status == IDM_OK) status = idm_drawn_create(all, d->numbers, &p->drawn, opt_error);
  for (size_t k = 0; k < all && status == IDM_OK; k++) {
    ratio_set(j->learner->structure, chains->draw + k * chains->dimension, d->start);
    memcpy(p->drawn->set + k * d->numbers, d->start, d->numbers * sizeof *d->start);
  }
  if (status == IDM_OK) status = idm_dynamics_mean(j->cut, p->dynamics, &mean, opt_error);
  if (status == IDM_OK) status = idm_dynamics_take(j->cut->learnt, &mean, 0, 0, d, opt_error);
  if (status == IDM_OK) memcpy(p->drawn->central, d->start, d->numbers * sizeof *d->start);
  idm_dynamics_draws_clear(&mean);
  idm_dynamics_destroy(d);
  return status;
}

static idm_status draw(const fit *f, const idm_inverse *bayes, const idm_cuts *cut,
                       const idm_iohmm *learner, const idm_fit_watch *opt_watch,
                       idm_posterior **ret_posterior, idm_notes *opt_notes, idm_error *opt_error)
{
  double *start = idm_new(f->parameters->dimension, sizeof *start);
  if (!start) return idm_fail_memory(opt_error);
  const joint_numbers numbers = {.count = f->parameters->dimension,
                                 .context = f->parameters,
                                 .log_prior = log_prior,
                                 .place = place,
                                 .start = start,
                                 .unit = f->unit};
  joint j = {.problem = f->problem,
             .cut = cut,
             .numbers = &numbers,
             .learner = learner,
             .cells = 1,
             .cell = f};
  idm_chains *chains = NULL;
  idm_joint_dynamics *dynamics = NULL;
  idm_parameters_get(f->parameters, f->problem->theta, start);
  idm_status status =
      idm_joint_draw(&j, f->settings, f->key, opt_watch, &chains, &dynamics, opt_error);
  if (status == IDM_OK)
    status = gather(f, bayes, chains, j.ratios, ret_posterior, opt_notes, opt_error);
  if (status == IDM_OK) {
    (*ret_posterior)->dynamics = dynamics;
    dynamics = NULL;
    status = keep_dynamics(&j, chains, *ret_posterior, opt_error);
  }
  idm_joint_dynamics_destroy(dynamics);
  idm_chains_destroy(chains);
  free(start);
  return status;
}

idm_status idm_joint_fit(const idm_problem *problem, const idm_data *data,
                         const idm_fit_settings *settings, const idm_cuts *cut,
                         const idm_fit_watch *opt_watch, idm_posterior **ret_posterior,
                         idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(problem, data, settings, cut, ret_posterior);
  *ret_posterior = NULL;
  idm_fit_settings own = *settings;
  own.keep = IDM_KEEP_NOTHING; /* likelihoods are under dynamics that differ */
  const idm_inverse *bayes = idm_inverse_find("bayes");
  idm_iohmm *learner = NULL;
  fit f = {0};
  idm_status status = idm_joint_learner(problem, cut, data, &learner, opt_error);
  if (status != IDM_OK || !learner) return status;
  status = idm_fit_open(&f, bayes, problem, data, &own, 1, opt_error);
  if (status == IDM_OK)
    status = draw(&f, bayes, cut, learner, opt_watch, ret_posterior, opt_notes, opt_error);
  if (opt_watch) idm_record_blame(opt_watch, status, opt_error);
  idm_fit_close(&f);
  idm_iohmm_destroy(learner);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  return status;
}
