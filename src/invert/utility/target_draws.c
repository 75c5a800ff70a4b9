/* Drawing from a density over free numbers.
 *
 * Contents: starts · chains · the answer */
#include "invert/utility/target_draws.h"

#include <math.h>
#include <stdio.h>

#include "base/dense.h"
#include "base/memory.h"
#include "idm/check.h"
#include "idm/diagnostics.h"
#include "invert/matching/assemble.h"
#include "invert/matching/drawing.h"
#include "invert/parameter_prior.h"
#include "invert/utility/answer.h"

/* Streams of starting points, beyond those of chains. */
static const uint64_t start_stream = (uint64_t)1 << 32;

/* --- starts --------------------------------------------------------------------------------- */

/* A place twice as far from the peak as a draw is, or nearer where the density is not what its
 * curvature there implies: y comes in with normal numbers. */
static idm_status find_start(const idm_drawn_target *t, const idm_peak *k, const idm_target *target,
                             double *y, idm_error *opt_error)
{
  enum { most_halvings = 60 };
  const size_t n = t->parameters->dimension;
  /* Twice as far a normal density is lower by 2 n in the mean. */
  const double usual = 4 * (double)n + 20;
  double *factor = idm_duplicate(k->covariance, idm_times(n, n), sizeof *factor);
  if (!factor) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  if (k->definite && idm_cholesky(n, factor)) idm_lower_multiply(n, factor, y);
  for (size_t j = 0; j < n; j++) y[j] = k->mode[j] + 2 * y[j];
  for (int i = 0; k->definite && i < most_halvings && status == IDM_OK; i++) {
    double height = -INFINITY;
    status = target->evaluate(target->context, y, &height, NULL, opt_error);
    if (height >= k->height - usual) break;
    for (size_t j = 0; j < n; j++) y[j] = 0.5 * (y[j] + k->mode[j]);
  }
  free(factor);
  return status;
}

/* Every chain at a place of its own, chains by turns at all peaks. */
static idm_status start_chains(const idm_drawn_target *t, bool plain, const idm_peaks *peaks,
                               idm_chains *chains, idm_error *opt_error)
{
  const size_t n = t->parameters->dimension;
  double *y = idm_new(n, sizeof *y);
  double *own = idm_new(n, sizeof *own);
  idm_status status = y && own ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) idm_parameters_get(t->parameters, t->problem->theta, own);
  for (size_t c = 0; c < (size_t)t->settings->chains && status == IDM_OK; c++) {
    const idm_peak *k = peaks->count ? &peaks->peak[c % peaks->count] : NULL;
    const bool guess = k && k->definite && !plain;
    idm_random random;
    idm_random_init(&random, t->key, start_stream + c);
    for (size_t j = 0; j < n; j++) y[j] = idm_random_normal(&random);
    for (size_t j = 0; j < n && !k; j++) y[j] = own[j] + 2 * y[j];
    if (k) status = find_start(t, k, &t->target[c], y, opt_error);
    if (status == IDM_OK)
      status = idm_chains_start(chains, c, &t->target[c], y, guess ? k->mode : NULL,
                                guess ? k->covariance : NULL, opt_error);
  }
  free(y);
  free(own);
  return status;
}

/* --- chains --------------------------------------------------------------------------------- */

static void draw_prior(const void *context, idm_random *random, double *y)
{
  const idm_drawn_target *t = context;
  idm_parameters_draw(t->parameters, random, y);
}

static double prior_log_density(const void *context, const double *y)
{
  const idm_drawn_target *t = context;
  return idm_parameters_log_prior(t->parameters, y, NULL) - idm_parameters_log_mass(t->parameters);
}

/* Chains, with leaps between peaks where there are several. */
static idm_status run_chains(const idm_drawn_target *t, const idm_peaks *peaks,
                             idm_mixture **ret_mixture, idm_chains **ret_chains,
                             idm_error *opt_error)
{
  const idm_broad prior = {t, draw_prior, prior_log_density};
  const size_t n = t->parameters->dimension;
  const idm_sampler *sampler = NULL;
  idm_status status = idm_drawing_sampler(t->settings, n, &sampler, opt_error);
  if (status == IDM_OK && peaks->count > 1)
    status = idm_peaks_mixture(peaks, prior, ret_mixture, opt_error);
  if (status == IDM_OK)
    status = idm_drawing_create(t->settings, sampler, t->key, n, *ret_mixture, t->halt, ret_chains,
                                opt_error);
  if (status == IDM_OK) status = start_chains(t, sampler->plain, peaks, *ret_chains, opt_error);
  if (status == IDM_OK)
    status = idm_drawing_run(*ret_chains, t->target, t->watch, t->halt, opt_error);
  return status;
}

/* --- the answer ----------------------------------------------------------------------------- */

/* R-hat of the worst of the numbers. */
static idm_status certify(const idm_posterior *p, idm_finding *finding, idm_error *opt_error)
{
  const size_t all = p->chains * p->draws;
  snprintf(finding->certificate, sizeof finding->certificate, "R-hat");
  finding->attained = p->chains > 1 ? 1 : NAN;
  finding->closed = idm_check_threshold(IDM_CHECK_RHAT);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < p->coordinate.count && status == IDM_OK && p->chains > 1; i++) {
    idm_diagnosis d;
    status =
        idm_diagnose(p->unconstrained + i * all, p->chains, p->draws, p->draws, 1, &d, opt_error);
    if (status == IDM_OK && !(d.rhat <= finding->attained)) finding->attained = d.rhat;
  }
  return status;
}

static idm_status gather(const idm_drawn_target *t, const idm_chains *chains, idm_finding *finding,
                         idm_posterior **ret_posterior, idm_error *opt_error)
{
  long draws = 0;
  idm_status status = idm_drawing_common(chains, &draws, t->opt_notes, opt_error);
  if (status != IDM_OK) {
    idm_finding_destroy(finding);
    return status;
  }
  status = idm_answer_draws(t->inverse, t->problem, t->settings, t->parameters, chains,
                            (size_t)draws, finding, ret_posterior, opt_error);
  if (status == IDM_OK) status = certify(*ret_posterior, (*ret_posterior)->finding, opt_error);
  if (status == IDM_OK)
    status = idm_posterior_draw_prior(t->parameters, t->settings->prior_draws, t->key,
                                      *ret_posterior, opt_error);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  return status;
}

idm_status idm_target_draws(const idm_drawn_target *t, const idm_peaks *peaks, idm_finding *finding,
                            idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_chains *chains = NULL;
  idm_mixture *mixture = NULL;
  *ret_posterior = NULL;
  const idm_status status = run_chains(t, peaks, &mixture, &chains, opt_error);
  const idm_status made =
      status == IDM_OK ? gather(t, chains, finding, ret_posterior, opt_error) : status;
  if (status != IDM_OK) idm_finding_destroy(finding);
  idm_chains_destroy(chains);
  idm_mixture_destroy(mixture);
  return made;
}
