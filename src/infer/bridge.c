/* Marginal likelihood by bridge sampling (Meng and Wong 1996) with a normal proposal; relative
 * error after Fruehwirth-Schnatter (2004). See docs/method/comparison.md, 3.
 *
 * Contents: work · proposal · log ratios · estimate · error */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "infer/chains.h"
#include "infer/comparison.h"
#include "infer/distribution.h"

/* --- work ------------------------------------------------------------------------------------ */

typedef struct bridge_work {
  const idm_target *target;
  const idm_bridge_draws *draws;
  size_t dimension;
  size_t half;       /* first draws of a chain, which determine the proposal */
  size_t rest;       /* its other draws */
  size_t count;      /* rest of all chains: number of posterior draws, and of proposals */
  double *mean;      /* [dimension] of the proposal */
  double *factor;    /* [dimension][dimension]: Cholesky factor of its covariance */
  double *x;         /* [dimension] */
  double *z;         /* [dimension] */
  double *points;    /* [chain][half][dimension] */
  double *posterior; /* [count]: log ratios of the target to the proposal at posterior draws */
  double *proposal;  /* [count]: the same at proposals */
  double *bridge;    /* [count] */
  idm_ess *ess;
  double posterior_share; /* of effective draws */
} bridge_work;

static void close_work(bridge_work *w)
{
  idm_ess_destroy(w->ess);
  free(w->mean);
  free(w->points);
  free(w->posterior);
}

static idm_status open_work(bridge_work *w, idm_error *opt_error)
{
  const size_t d = w->dimension;
  w->mean = idm_new(idm_times(d, d + 3), sizeof *w->mean);
  w->points = idm_new(idm_times(w->draws->chains * w->half, d), sizeof *w->points);
  w->posterior = idm_new(idm_times(w->count, 3), sizeof *w->posterior);
  if (!w->mean || !w->points || !w->posterior) return idm_fail_memory(opt_error);
  w->x = w->mean + d;
  w->z = w->x + d;
  w->factor = w->z + d;
  w->proposal = w->posterior + w->count;
  w->bridge = w->proposal + w->count;
  return idm_ess_create(w->draws->chains, w->rest, &w->ess, opt_error);
}

/* Posterior draw i of those that enter the estimate. */
static size_t index_of(const bridge_work *w, size_t i)
{
  return i / w->rest * w->draws->draws + w->half + i % w->rest;
}

/* --- proposal -------------------------------------------------------------------------------- */

static idm_status fit_proposal(bridge_work *w, idm_error *opt_error)
{
  const size_t d = w->dimension, fitted = w->draws->chains * w->half;
  for (size_t c = 0; c < w->draws->chains; c++)
    memcpy(w->points + c * w->half * d, w->draws->x + c * w->draws->draws * d,
           w->half * d * sizeof *w->points);
  for (size_t i = 0; i < fitted * d; i++)
    if (!isfinite(w->points[i]))
      return idm_fail(opt_error, IDM_INPUT, "a draw is %g; expected finite numbers", w->points[i]);
  idm_covariance(&(idm_points){w->points, fitted, d, d, 1, NULL}, 1, w->mean, w->factor);
  if (idm_cholesky(d, w->factor)) return IDM_OK;
  return idm_fail(opt_error, IDM_NUMERICAL,
                  "the covariance of the draws is singular: the chains do not move in every "
                  "direction");
}

/* Log density of the proposal at x. */
static double proposal_density(bridge_work *w, const double *x)
{
  double value = 0;
  for (size_t k = 0; k < w->dimension; k++) w->z[k] = x[k] - w->mean[k];
  idm_lower_solve(w->dimension, w->factor, w->z);
  for (size_t k = 0; k < w->dimension; k++)
    value -= 0.5 * w->z[k] * w->z[k] + log(w->factor[k * (w->dimension + 1)]) + idm_half_log_two_pi;
  return value;
}

static void draw_proposal(bridge_work *w, idm_random *random)
{
  for (size_t k = 0; k < w->dimension; k++) w->x[k] = idm_random_normal(random);
  idm_lower_multiply(w->dimension, w->factor, w->x);
  for (size_t k = 0; k < w->dimension; k++) w->x[k] += w->mean[k];
}

/* --- log ratios ------------------------------------------------------------------------------ */

static idm_status weigh_posterior(bridge_work *w, idm_error *opt_error)
{
  for (size_t i = 0; i < w->count; i++) {
    const size_t at = index_of(w, i);
    const double *x = w->draws->x + at * w->dimension;
    double density = w->draws->opt_log_density ? w->draws->opt_log_density[at] : 0;
    const idm_status status = w->draws->opt_log_density
                                  ? IDM_OK
                                  : idm_target_evaluate(w->target, x, &density, NULL, opt_error);
    if (status != IDM_OK) return status;
    w->posterior[i] = density - proposal_density(w, x);
    if (!isfinite(w->posterior[i]))
      return idm_fail(opt_error, IDM_INPUT, "draw %zu has log density %g; expected a finite number",
                      at + 1, density);
  }
  return IDM_OK;
}

static idm_status weigh_proposals(bridge_work *w, uint64_t seed, idm_error *opt_error)
{
  bool possible = false;
  for (size_t i = 0; i < w->count; i++) {
    idm_random random;
    double density;
    idm_random_init(&random, seed, i);
    draw_proposal(w, &random);
    const idm_status status = idm_target_evaluate(w->target, w->x, &density, NULL, opt_error);
    if (status != IDM_OK) return status;
    w->proposal[i] = density - proposal_density(w, w->x);
    possible = possible || isfinite(density);
  }
  if (possible) return IDM_OK;
  return idm_fail(opt_error, IDM_NUMERICAL,
                  "the density is 0 at all %zu draws of the normal proposal", w->count);
}

/* Median over the coordinates of the effective number of posterior draws. */
static idm_status find_share(bridge_work *w, idm_error *opt_error)
{
  double *size = idm_new(w->dimension, sizeof *size);
  if (!size) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < w->dimension; k++) {
    for (size_t i = 0; i < w->count; i++)
      w->bridge[i] = w->draws->x[index_of(w, i) * w->dimension + k];
    size[k] = idm_ess_of(w->ess, w->bridge);
  }
  const double median = idm_quantile(size, w->dimension, 0.5);
  free(size);
  if (!(median > 0))
    return idm_fail(opt_error, IDM_INPUT, "a draw is not finite, so they have no effective number");
  w->posterior_share = median / (median + (double)w->count);
  return IDM_OK;
}

/* --- estimate -------------------------------------------------------------------------------- */

static double log_logistic(double x)
{
  return x > 0 ? -log1p(exp(-x)) : x - log1p(exp(x));
}

/* Log of p / (s1 p + s2 q) s1 at the proposals (sign 1), or q / (s1 p + s2 q) s2 at the posterior
 * draws (sign -1), into w->bridge, where p is the target over exp(log_evidence), q the proposal,
 * and s1, s2 their shares of the draws. Returns the log of the mean. */
static double bridge_mean(bridge_work *w, const double *log_ratio, double sign, double log_evidence)
{
  const double shift = log_evidence - log(w->posterior_share / (1 - w->posterior_share));
  for (size_t i = 0; i < w->count; i++) w->bridge[i] = log_logistic(sign * (log_ratio[i] - shift));
  return idm_log_sum_exp(w->bridge, w->count) - log((double)w->count);
}

/* The iteration of Meng and Wong, from the median log ratio of the posterior draws. */
static bool iterate(bridge_work *w, idm_bridge *result)
{
  enum { max_iterations = 1000 };
  static const double tolerance = 1e-10;
  const double shares = log((1 - w->posterior_share) / w->posterior_share);
  memcpy(w->bridge, w->posterior, w->count * sizeof *w->bridge);
  result->log_evidence = idm_quantile(w->bridge, w->count, 0.5);
  for (result->iterations = 1; result->iterations <= max_iterations; result->iterations++) {
    const double step = shares + bridge_mean(w, w->proposal, 1, result->log_evidence) -
                        bridge_mean(w, w->posterior, -1, result->log_evidence);
    result->log_evidence += step;
    if (fabs(step) <= tolerance * fmax(1, fabs(result->log_evidence))) return true;
  }
  return false;
}

/* --- error ----------------------------------------------------------------------------------- */

/* Squared relative standard error of the mean of exp(w->bridge). */
static double relative_variance(bridge_work *w, double log_mean, bool independent)
{
  for (size_t i = 0; i < w->count; i++) w->bridge[i] = exp(w->bridge[i] - log_mean);
  const double variance = idm_moments_of(w->bridge, w->count).variance;
  const double size = independent ? (double)w->count : idm_ess_of(w->ess, w->bridge);
  return variance / size;
}

static double error_of(bridge_work *w, double log_evidence)
{
  const double at_proposals = bridge_mean(w, w->proposal, 1, log_evidence);
  const double proposals = relative_variance(w, at_proposals, true);
  const double at_draws = bridge_mean(w, w->posterior, -1, log_evidence);
  return sqrt(proposals + relative_variance(w, at_draws, false));
}

static idm_status estimate(bridge_work *w, uint64_t seed, idm_bridge *result, idm_error *opt_error)
{
  idm_status status = fit_proposal(w, opt_error);
  if (status == IDM_OK) status = find_share(w, opt_error);
  if (status == IDM_OK) status = weigh_posterior(w, opt_error);
  if (status == IDM_OK) status = weigh_proposals(w, seed, opt_error);
  if (status != IDM_OK) return status;
  result->proposals = w->count;
  const bool converged = iterate(w, result);
  result->error = error_of(w, result->log_evidence);
  if (converged && isfinite(result->error)) return IDM_OK;
  return idm_fail(opt_error, IDM_NUMERICAL,
                  "bridge sampling did not converge in %d iterations: the normal proposal and the "
                  "posterior overlap too little",
                  result->iterations - 1);
}

idm_status idm_bridge_sample(const idm_target *target, const idm_bridge_draws *draws, uint64_t seed,
                             idm_bridge *ret_bridge, idm_error *opt_error)
{
  bridge_work w = {.target = target,
                   .draws = draws,
                   .dimension = target->dimension,
                   .half = draws->draws / 2,
                   .rest = draws->draws - draws->draws / 2};
  w.count = idm_times(draws->chains, w.rest);
  if (!w.dimension || w.half < 4 || draws->chains * w.half <= 2 * w.dimension)
    return idm_fail(opt_error, IDM_USAGE,
                    "%zu chains of %zu draws are too few for bridge sampling of %zu numbers",
                    draws->chains, draws->draws, w.dimension);
  idm_status status = open_work(&w, opt_error);
  if (status == IDM_OK) status = estimate(&w, seed, ret_bridge, opt_error);
  close_work(&w);
  return status;
}
