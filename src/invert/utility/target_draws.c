/* Markov chains over free numbers, and local modes of their density.
 *
 * Contents: peaks · target draws */
#include <math.h>
#include <stdio.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "infer/approximation.h"
#include "infer/chains.h"
#include "invert/checks.h"
#include "invert/matching/fit.h"
#include "invert/parameters.h"
#include "invert/utility/task.h"

/* === peaks ================================================================================== */

/* Local modes of a density. */

/* Weights of the mixture proposal: of the broad component, and the least share of each mode among
 * the modes. */
static const double prior_weight = 0.2, min_mode_weight = 0.05;

/* --- making --------------------------------------------------------------------------------- */

void idm_local_modes_destroy(idm_local_modes *modes)
{
  if (!modes) return;
  for (size_t i = 0; modes->local_mode && i < modes->capacity; i++) {
    free(modes->local_mode[i].mode);
    free(modes->local_mode[i].covariance);
  }
  free(modes->local_mode);
  free(modes->scratch);
  free(modes);
}

idm_status idm_local_modes_create(size_t dimension, size_t most, idm_local_modes **ret_modes,
                                  idm_error *opt_error)
{
  *ret_modes = NULL;
  idm_local_modes *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  *p = (idm_local_modes){.dimension = dimension, .capacity = most};
  p->local_mode = idm_new(most, sizeof *p->local_mode);
  p->scratch = idm_new(idm_times(dimension, dimension + 1), sizeof *p->scratch);
  bool room = p->local_mode && p->scratch;
  for (size_t i = 0; i < most && room; i++) {
    p->local_mode[i].mode = idm_new(dimension, sizeof(double));
    p->local_mode[i].covariance = idm_new(idm_times(dimension, dimension), sizeof(double));
    room = p->local_mode[i].mode && p->local_mode[i].covariance;
  }
  if (!room) {
    idm_local_modes_destroy(p);
    return idm_fail_memory(opt_error);
  }
  *ret_modes = p;
  return IDM_OK;
}

/* --- climbing ------------------------------------------------------------------------------- */

/* Sets *valley to true if the density on the segment from x to a mode falls below both ends. */
static idm_status check_valley(const idm_local_modes *p, const idm_target *target,
                               const idm_local_mode *local_mode, const double *x,
                               double log_density, bool *valley, idm_error *opt_error)
{
  enum { grid_points = 64 };
  static const double depth = 0.1;
  idm_status status = IDM_OK;
  *valley = false;
  for (int k = 1; k < grid_points && status == IDM_OK && !*valley; k++) {
    double here = -INFINITY;
    for (size_t j = 0; j < p->dimension; j++)
      p->scratch[j] = x[j] + (local_mode->mode[j] - x[j]) * k / grid_points;
    status = target->evaluate(target->context, p->scratch, &here, NULL, opt_error);
    *valley = !(here >= fmin(log_density, local_mode->log_density) - depth);
  }
  return status;
}

/* Laplace approximation of a mode: the covariance, and the log mass as the log density plus half
 * the log determinant of the covariance, without constants. */
static idm_status approximate_mode(const idm_local_modes *p, const idm_target *target,
                                   idm_local_mode *local_mode, idm_error *opt_error)
{
  const size_t n = p->dimension;
  local_mode->log_mass = local_mode->log_density;
  const idm_status status = idm_laplace(target, local_mode->mode, local_mode->covariance, NULL,
                                        &local_mode->definite, opt_error);
  if (status != IDM_OK || !local_mode->definite) return status;
  memcpy(p->scratch, local_mode->covariance, n * n * sizeof *p->scratch);
  local_mode->definite = idm_cholesky(n, p->scratch);
  for (size_t j = 0; j < n && local_mode->definite; j++)
    local_mode->log_mass += log(p->scratch[j * n + j]);
  return IDM_OK;
}

idm_status idm_local_modes_ascend(idm_local_modes *p, const idm_target *target, double *x,
                                  idm_error *opt_error)
{
  enum { limit = 2000 };
  double log_density = -INFINITY;
  bool apart = true;
  idm_status status = idm_maximise(target, 0, limit, x, &log_density, opt_error);
  for (size_t i = 0; i < p->count && status == IDM_OK && apart; i++)
    status = check_valley(p, target, &p->local_mode[i], x, log_density, &apart, opt_error);
  if (status != IDM_OK || !apart || p->count == p->capacity) return status;
  idm_local_mode *local_mode = &p->local_mode[p->count++];
  memcpy(local_mode->mode, x, p->dimension * sizeof *x);
  local_mode->log_density = log_density;
  return approximate_mode(p, target, local_mode, opt_error);
}

/* --- what they hold ------------------------------------------------------------------------- */

static double max_log_mass(const idm_local_modes *p)
{
  double most = -INFINITY;
  for (size_t i = 0; i < p->count; i++) most = fmax(most, p->local_mode[i].log_mass);
  return most;
}

void idm_local_modes_prune(idm_local_modes *p)
{
  static const double max_log_ratio = 12; /* generous, because the widths are approximate */
  const double most = max_log_mass(p);
  size_t kept = 0;
  for (size_t i = 0; i < p->count; i++) {
    if (p->local_mode[i].log_mass < most - max_log_ratio) continue;
    const idm_local_mode local_mode = p->local_mode[i];
    p->local_mode[i] = p->local_mode[kept];
    p->local_mode[kept++] = local_mode;
  }
  p->count = kept;
}

idm_status idm_local_modes_mixture(const idm_local_modes *p, idm_defensive_component broad,
                                   idm_mixture **ret_mixture, idm_error *opt_error)
{
  *ret_mixture = NULL;
  double *weight = idm_new(p->count, sizeof *weight);
  if (!weight) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < p->count; i++) weight[i] = p->local_mode[i].log_mass;
  idm_softmax_floor(weight, p->count, min_mode_weight);
  const idm_status status =
      idm_mixture_create(p->dimension, p->count, broad, prior_weight, ret_mixture, opt_error);
  for (size_t i = 0; i < p->count && status == IDM_OK; i++)
    if (p->local_mode[i].definite)
      idm_mixture_add(*ret_mixture, (1 - prior_weight) * weight[i], p->local_mode[i].mode,
                      p->local_mode[i].covariance);
  free(weight);
  return status;
}

/* === target draws =========================================================================== */

/* Sampling of a density over free numbers.
 *
 * Contents: starts · chains · the answer */

/* Random streams of starting points, distinct from those of chains. */
static const uint64_t start_stream = (uint64_t)1 << 32;

/* --- starts --------------------------------------------------------------------------------- */

/* Overdispersed start: y, standard normal on entry, becomes a point at twice the distance of a draw
 * from the mode, moved towards the mode while the density is far below what the curvature predicts.
 */
static idm_status find_start(const idm_sampling_target *t, const idm_local_mode *k,
                             const idm_target *target, double *y, idm_error *opt_error)
{
  enum { max_halvings = 60 };
  const size_t n = t->parameters->dimension;
  /* At twice the distance a normal log density is lower by 2 n on average. */
  const double max_drop = 4 * (double)n + 20;
  double *factor = idm_duplicate(k->covariance, idm_times(n, n), sizeof *factor);
  if (!factor) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  if (k->definite && idm_cholesky(n, factor)) idm_lower_multiply(n, factor, y);
  for (size_t j = 0; j < n; j++) y[j] = k->mode[j] + 2 * y[j];
  for (int i = 0; k->definite && i < max_halvings && status == IDM_OK; i++) {
    double log_density = -INFINITY;
    status = target->evaluate(target->context, y, &log_density, NULL, opt_error);
    if (log_density >= k->log_density - max_drop) break;
    for (size_t j = 0; j < n; j++) y[j] = 0.5 * (y[j] + k->mode[j]);
  }
  free(factor);
  return status;
}

/* Starts every chain at its own point, chains at the modes in turn. */
static idm_status start_chains(const idm_sampling_target *t, bool plain,
                               const idm_local_modes *modes, idm_chains *chains,
                               idm_error *opt_error)
{
  const size_t n = t->parameters->dimension;
  double *y = idm_new(n, sizeof *y);
  double *own = idm_new(n, sizeof *own);
  idm_status status = y && own ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) idm_parameters_get(t->parameters, t->problem->theta, own);
  for (size_t c = 0; c < (size_t)t->settings->chains && status == IDM_OK; c++) {
    const idm_local_mode *k = modes->count ? &modes->local_mode[c % modes->count] : NULL;
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
  const idm_sampling_target *t = context;
  idm_parameters_draw(t->parameters, random, y);
}

static double prior_log_density(const void *context, const double *y)
{
  const idm_sampling_target *t = context;
  return idm_parameters_log_prior(t->parameters, y, NULL) - idm_parameters_log_mass(t->parameters);
}

/* Runs the chains, with independence proposals between modes if there are several. */
static idm_status run_chains(const idm_sampling_target *t, const idm_local_modes *modes,
                             idm_mixture **ret_mixture, idm_chains **ret_chains,
                             idm_error *opt_error)
{
  const idm_defensive_component prior = {t, draw_prior, prior_log_density};
  const size_t n = t->parameters->dimension;
  const idm_sampler *sampler = NULL;
  idm_status status = idm_sampling_sampler(t->settings, n, &sampler, t->opt_notes, opt_error);
  if (status == IDM_OK && modes->count > 1)
    status = idm_local_modes_mixture(modes, prior, ret_mixture, opt_error);
  if (status == IDM_OK)
    status = idm_sampling_create(t->settings, sampler, t->key, n, *ret_mixture, t->cancel,
                                 ret_chains, opt_error);
  if (status == IDM_OK) status = start_chains(t, sampler->plain, modes, *ret_chains, opt_error);
  if (status == IDM_OK)
    status = idm_sampling_run(*ret_chains, t->target, t->watch, t->cancel, opt_error);
  return status;
}

/* --- the answer ----------------------------------------------------------------------------- */

/* Sets the certificate to the largest R-hat of the numbers. */
static idm_status certify(const idm_posterior *p, idm_optimality *optimality, idm_error *opt_error)
{
  const size_t all = p->chains * p->draws;
  snprintf(optimality->certificate, sizeof optimality->certificate, "R-hat");
  optimality->attained = p->chains > 1 ? 1 : NAN;
  optimality->closed = idm_check_threshold(IDM_CHECK_RHAT);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < p->coordinate.count && status == IDM_OK && p->chains > 1; i++) {
    idm_diagnosis d;
    status =
        idm_diagnose(p->unconstrained + i * all, p->chains, p->draws, p->draws, 1, &d, opt_error);
    if (status == IDM_OK && !(d.rhat <= optimality->attained)) optimality->attained = d.rhat;
  }
  return status;
}

static idm_status collect_draws(const idm_sampling_target *t, const idm_chains *chains,
                                idm_optimality *optimality, idm_posterior **ret_posterior,
                                idm_error *opt_error)
{
  long draws = 0;
  idm_status status = idm_sampling_common(chains, &draws, t->opt_notes, opt_error);
  if (status != IDM_OK) {
    idm_optimality_destroy(optimality);
    return status;
  }
  status = idm_estimate_from_draws(t->inverse, t->problem, t->settings, t->parameters, chains,
                                   (size_t)draws, optimality, ret_posterior, opt_error);
  if (status == IDM_OK) status = certify(*ret_posterior, (*ret_posterior)->optimality, opt_error);
  if (status == IDM_OK)
    status = idm_posterior_draw_prior(t->parameters, t->settings->prior_draws, t->key,
                                      *ret_posterior, opt_error);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  return status;
}

idm_status idm_target_draws(const idm_sampling_target *t, const idm_local_modes *modes,
                            idm_optimality *optimality, idm_posterior **ret_posterior,
                            idm_error *opt_error)
{
  idm_chains *chains = NULL;
  idm_mixture *mixture = NULL;
  *ret_posterior = NULL;
  const idm_status status = run_chains(t, modes, &mixture, &chains, opt_error);
  const idm_status made =
      status == IDM_OK ? collect_draws(t, chains, optimality, ret_posterior, opt_error) : status;
  if (status != IDM_OK) idm_optimality_destroy(optimality);
  idm_chains_destroy(chains);
  idm_mixture_destroy(mixture);
  return made;
}
