/* Fits over learnt dynamics that are drawn with the decisions, and the verdict on them.
 *
 * Contents: verdict · fit */
#include <math.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/record.h"
#include "infer/distribution.h"
#include "invert/assess.h"
#include "invert/assess/context.h"
#include "invert/cut.h"
#include "invert/joint/joint.h"
#include "invert/matching/fit.h"
#include "invert/posterior.h"
#include "learn/learn.h"
#include "setting/model.h"

/* === verdict ================================================================================ */

/* Verdict on answers over learnt dynamics (joint.h). */

/* If the agent is right, decisions shift the dynamics within the uncertainty left by the
 * observations: twice the loss is at most chi-square with as many degrees of freedom as free
 * probabilities. */
static void check_loss(const idm_joint_dynamics *d, idm_checks *checks, idm_notes *failures,
                       bool *trusted)
{
  if (isnan(d->lost)) return;
  const double p = d->lost > 0 ? idm_chi_square_tail(2 * d->lost, (double)d->free) : 1;
  if (!idm_check_test(checks, IDM_CHECK_JOINT_OBSERVATIONS, p)) return;
  *trusted = false;
  idm_notes_add(
      failures,
      "decisions and observations contradict each other about the dynamics: the observations alone "
      "are likelier by %.1f nats at other dynamics of %zu free probabilities (p = %.2g), so that "
      "the agent differs from the one that the problem describes (utilities, discount, beliefs)",
      d->lost, d->free, p);
}

void idm_joint_check(const idm_joint_dynamics *d, idm_checks *checks, idm_notes *remarks,
                     idm_notes *failures, bool *trusted)
{
  idm_notes_add(
      remarks,
      "dynamics and decisions are drawn together from the log: intervals include the uncertainty "
      "of the dynamics (their R-hat at most %.3f, effective draws at least %.0f)",
      d->rhat, d->effective);
  check_loss(d, checks, failures, trusted);
  if (!idm_check_test(checks, IDM_CHECK_JOINT_RHAT, d->rhat)) return;
  *trusted = false;
  idm_notes_add(
      failures,
      "the chains disagree about the dynamics that are drawn with the decisions: R-hat is "
      "%.3f, above %.2f; run longer (--warmup, --draws)",
      d->rhat, idm_check_threshold(IDM_CHECK_JOINT_RHAT));
}

idm_status idm_joint_assess(const idm_problem *problem, const idm_data *data,
                            const idm_inverse *inverse, const idm_fit_settings *settings,
                            const idm_posterior *posterior, const idm_fit_monitor *opt_monitor,
                            idm_assessment **ret_assessment, idm_error *opt_error)
{
  idm_fit_settings own = *settings;
  own.keep = IDM_KEEP_NOTHING;
  if (posterior->dynamics)
    own.sampler[0] = '\0'; /* it may be a sampler for joint posteriors only */
  idm_posterior *conditional_posterior = NULL;
  *ret_assessment = NULL;
  idm_status status = idm_inverse_fit(inverse, problem, data, &own, opt_monitor,
                                      &conditional_posterior, NULL, opt_error);
  if (status == IDM_OK && conditional_posterior->answer == IDM_POSTERIOR &&
      conditional_posterior->draws < (size_t)own.draws)
    status = idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
  if (status == IDM_OK)
    status = idm_assess_given_mean(problem, data, posterior, conditional_posterior,
                                   settings->threads, opt_monitor, ret_assessment, opt_error);
  idm_posterior_destroy(conditional_posterior);
  return status;
}

/* === fit ==================================================================================== */

/* Fit over dynamics that are drawn together with the free numbers. */

static double log_prior(const void *context, const double *w)
{
  return idm_parameters_log_prior(context, w, NULL);
}

static void cell_parameters(const void *context, size_t cell, const double *w, double *x)
{
  const idm_parameters *p = context;
  (void)cell;
  memcpy(x, w, p->dimension * sizeof *x);
}

/* Store the draws of the free numbers as a posterior. */
static idm_status collect_posterior(const fit_context *f, const idm_inverse *bayes,
                                    const idm_chains *chains, size_t ratios,
                                    idm_posterior **ret_posterior, idm_notes *opt_notes,
                                    idm_error *opt_error)
{
  const size_t draws = (size_t)chains->settings.draws;
  idm_status status =
      idm_posterior_create(f, bayes, chains->settings.sampler->name, chains->settings.chains, draws,
                           ret_posterior, opt_error);
  for (size_t i = 0; i < chains->settings.chains * draws && status == IDM_OK; i++)
    idm_posterior_store_draw(f, *ret_posterior, i / draws, i % draws,
                             chains->draw + i * chains->dimension + ratios, &chains->statistics[i]);
  return status == IDM_OK ? idm_posterior_complete(f, *ret_posterior, opt_notes, opt_error)
                          : status;
}

/* Store the dynamics of every draw, and their mean. */
static idm_status store_dynamics(const joint_target *j, const idm_chains *chains, idm_posterior *p,
                                 idm_error *opt_error)
{
  const size_t all = chains->settings.chains * (size_t)chains->settings.draws;
  idm_dynamics *d = NULL;
  idm_dynamics_draws mean = {0};
  idm_status status = idm_problem_dynamics(j->cut->learnt, &d, opt_error);
  if (status == IDM_OK) status = idm_dynamics_sets_create(all, d->numbers, &p->drawn, opt_error);
  for (size_t k = 0; k < all && status == IDM_OK; k++) {
    ratio_set(j->learner->structure, chains->draw + k * chains->dimension, d->start);
    memcpy(p->drawn->set + k * d->numbers, d->start, d->numbers * sizeof *d->start);
  }
  if (status == IDM_OK) status = idm_dynamics_mean(j->cut, p->dynamics, &mean, opt_error);
  if (status == IDM_OK) status = idm_dynamics_of_draw(j->cut->learnt, &mean, 0, 0, d, opt_error);
  if (status == IDM_OK) memcpy(p->drawn->central, d->start, d->numbers * sizeof *d->start);
  idm_dynamics_draws_clear(&mean);
  idm_dynamics_destroy(d);
  return status;
}

static idm_status draw(const fit_context *f, const idm_inverse *bayes, const idm_cut_draws *cut,
                       const idm_iohmm *learner, const idm_fit_monitor *opt_monitor,
                       idm_posterior **ret_posterior, idm_notes *opt_notes, idm_error *opt_error)
{
  double *start = idm_new(f->parameters->dimension, sizeof *start);
  if (!start) return idm_fail_memory(opt_error);
  const joint_parameters numbers = {.count = f->parameters->dimension,
                                    .context = f->parameters,
                                    .log_prior = log_prior,
                                    .cell_parameters = cell_parameters,
                                    .start = start,
                                    .unit = f->unit};
  joint_target j = {.problem = f->problem,
                    .cut = cut,
                    .numbers = &numbers,
                    .learner = learner,
                    .cells = 1,
                    .cell = f};
  idm_chains *chains = NULL;
  idm_joint_dynamics *dynamics = NULL;
  idm_parameters_get(f->parameters, f->problem->theta, start);
  idm_status status =
      idm_joint_draw(&j, f->settings, f->key, opt_monitor, &chains, &dynamics, opt_error);
  if (status == IDM_OK)
    status = collect_posterior(f, bayes, chains, j.ratios, ret_posterior, opt_notes, opt_error);
  if (status == IDM_OK) {
    (*ret_posterior)->dynamics = dynamics;
    dynamics = NULL;
    status = store_dynamics(&j, chains, *ret_posterior, opt_error);
  }
  idm_joint_dynamics_destroy(dynamics);
  idm_chains_destroy(chains);
  free(start);
  return status;
}

idm_status idm_joint_fit(const idm_problem *problem, const idm_data *data,
                         const idm_fit_settings *settings, const idm_cut_draws *cut,
                         const idm_fit_monitor *opt_monitor, idm_posterior **ret_posterior,
                         idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(problem, data, settings, cut, ret_posterior);
  *ret_posterior = NULL;
  idm_fit_settings own = *settings;
  own.keep = IDM_KEEP_NOTHING; /* draws have different dynamics, which log-likelihoods of one
                                  problem cannot represent */
  const idm_inverse *bayes = idm_inverse_find("bayes");
  idm_iohmm *learner = NULL;
  fit_context f = {0};
  idm_status status = idm_joint_learner(problem, cut, data, &learner, opt_error);
  if (status != IDM_OK || !learner) return status;
  status = idm_fit_open(&f, bayes, problem, data, &own, 1, opt_error);
  if (status == IDM_OK)
    status = draw(&f, bayes, cut, learner, opt_monitor, ret_posterior, opt_notes, opt_error);
  if (opt_monitor) idm_record_name_file(opt_monitor, status, opt_error);
  idm_fit_close(&f);
  idm_iohmm_destroy(learner);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  return status;
}
