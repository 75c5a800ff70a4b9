/* The samplers `metropolis` and `paper`. See docs/method/inference.md, 4.
 *
 * Contents: metropolis · paper */
#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "infer/approximation.h"
#include "infer/chains.h"

/* === metropolis ============================================================================= */

/* "metropolis": for few parameters and an expensive target. Independence proposals from a
 * multivariate t fitted to the warm-up history alternate with random-walk proposals of the same
 * covariance: the former give almost independent draws if the target is nearly normal, the latter
 * move the chain if it is not. With a mixture approximation of all modes and tails, some steps are
 * independence proposals from it, so that a chain can leave its mode. About half an effective draw
 * per evaluation; with a gradient that costs two evaluations, nuts is more efficient beyond four
 * parameters. */

/* Number of steps per cycle; `share` of them are independence proposals. */
enum { cycle = 4 };
/* Acceptance rates below which independence proposals are disabled, and from which they are used
 * for most steps. */
static const double min_independence_rate = 0.1, high_independence_rate = 0.5;
/* Degrees of freedom: heavy tails keep the weights target/proposal bounded for targets with lighter
 * tails. */
static const double degrees = 5;
/* Acceptance rate to which warm-up adapts the random walk (Gelman, Roberts and Gilks 1996: 0.44 in
 * one dimension, 0.23 in many). */
static const double target_acceptance = 0.35;

typedef struct metropolis {
  size_t dimension;
  double *log_density;
  double *log_scale;          /* of the random walk, relative to 2.38 / sqrt(dimension) */
  double *walk_steps;         /* random-walk steps since the last reset of log_scale */
  double *share;              /* independence steps per cycle */
  double *independence_steps; /* independence steps since the last change of the proposal */
  double *acceptance_sum;     /* sum of their acceptance probabilities */
  double *position;
  double *mean;   /* mean of the proposal */
  double *factor; /* [dimension][dimension]: Cholesky factor of its covariance */
  double *candidate;
  double *work; /* [dimension] */
  double *next; /* [dimension][dimension]: a covariance during factorisation */
  idm_scatter history;
} metropolis;

static size_t map_state(double *opt_state, size_t dimension, metropolis *view)
{
  size_t used = 0;
  view->dimension = dimension;
  view->log_density = idm_state_take(opt_state, &used, 1);
  view->log_scale = idm_state_take(opt_state, &used, 1);
  view->walk_steps = idm_state_take(opt_state, &used, 1);
  view->share = idm_state_take(opt_state, &used, 1);
  view->independence_steps = idm_state_take(opt_state, &used, 1);
  view->acceptance_sum = idm_state_take(opt_state, &used, 1);
  view->position = idm_state_take(opt_state, &used, dimension);
  view->mean = idm_state_take(opt_state, &used, dimension);
  view->factor = idm_state_take(opt_state, &used, dimension * dimension);
  view->candidate = idm_state_take(opt_state, &used, dimension);
  view->work = idm_state_take(opt_state, &used, dimension);
  view->next = idm_state_take(opt_state, &used, dimension * dimension);
  view->history = idm_scatter_take(opt_state, &used, dimension, true);
  return used;
}

static size_t numbers(size_t dimension)
{
  metropolis view;
  return map_state(NULL, dimension, &view);
}

static idm_status start(double *state, const idm_sampler_settings *settings,
                        const idm_target *target, const double *x, idm_random *random,
                        idm_error *opt_error)
{
  (void)random;
  metropolis view;
  const size_t n = target->dimension;
  const size_t count = map_state(state, n, &view);
  memset(state, 0, count * sizeof *state);
  memcpy(view.position, x, n * sizeof *x);
  memcpy(view.mean, settings->centre ? settings->centre : x, n * sizeof *x);
  /* Without an initial covariance the share is determined in warm-up. */
  *view.share = settings->covariance ? 2 : settings->warmup > 0 ? 1 : 0;
  const idm_status status = idm_guess_factor(settings, n, view.factor, opt_error);
  if (status != IDM_OK) return status;
  return idm_target_evaluate_start(target, x, view.log_density, NULL, opt_error);
}

/* --- proposals ------------------------------------------------------------------------------ */

static double walk_scale(const metropolis *m)
{
  return exp(*m->log_scale) * 2.38 / sqrt((double)m->dimension);
}

/* candidate = centre + size * L z with z standard normal. */
static void propose(const metropolis *m, const double *centre, double size, idm_random *random)
{
  for (size_t i = 0; i < m->dimension; i++) m->work[i] = idm_random_normal(random);
  idm_lower_multiply(m->dimension, m->factor, m->work);
  for (size_t i = 0; i < m->dimension; i++) m->candidate[i] = centre[i] + size * m->work[i];
}

/* log density of the multivariate t at x, up to its constant. */
static double log_proposal(const metropolis *m, const double *x)
{
  double square = 0;
  for (size_t i = 0; i < m->dimension; i++) m->work[i] = x[i] - m->mean[i];
  idm_lower_solve(m->dimension, m->factor, m->work);
  for (size_t i = 0; i < m->dimension; i++) square += m->work[i] * m->work[i];
  return -0.5 * (degrees + (double)m->dimension) * log1p(square / degrees);
}

/* Accept or reject, given the log ratio of the proposal densities; *probability is the
 * Metropolis-Hastings acceptance probability. */
static idm_status accept_or_reject(const metropolis *m, const idm_target *target, double log_ratio,
                                   idm_random *random, double *probability, idm_error *opt_error)
{
  double density;
  const idm_status status = idm_target_evaluate(target, m->candidate, &density, NULL, opt_error);
  if (status != IDM_OK) return status;
  *probability = fmin(1, exp(density - *m->log_density + log_ratio));
  if (idm_random_uniform(random) >= *probability) return IDM_OK;
  memcpy(m->position, m->candidate, m->dimension * sizeof(double));
  *m->log_density = density;
  return IDM_OK;
}

static idm_status independence_step(const metropolis *m, const idm_target *target, bool adapt,
                                    idm_random *random, double *probability, idm_error *opt_error)
{
  /* Student t: normal / sqrt(chi-square / degrees), where chi-square is 2 gamma(degrees / 2). */
  const double t_scale = sqrt(degrees / (2 * idm_random_gamma(random, degrees / 2)));
  propose(m, m->mean, t_scale, random);
  const double log_ratio = log_proposal(m, m->position) - log_proposal(m, m->candidate);
  const idm_status status = accept_or_reject(m, target, log_ratio, random, probability, opt_error);
  if (status == IDM_OK && adapt) {
    ++*m->independence_steps;
    *m->acceptance_sum += *probability;
  }
  return status;
}

static idm_status mixture_step(const metropolis *m, const idm_mixture *mixture,
                               const idm_target *target, idm_random *random, double *probability,
                               idm_error *opt_error)
{
  idm_mixture_draw(mixture, random, m->candidate);
  const double log_ratio = idm_mixture_log_density(mixture, m->position, m->work) -
                           idm_mixture_log_density(mixture, m->candidate, m->work);
  return accept_or_reject(m, target, log_ratio, random, probability, opt_error);
}

static idm_status walk_step(const metropolis *m, const idm_target *target, bool adapt,
                            idm_random *random, double *probability, idm_error *opt_error)
{
  propose(m, m->position, walk_scale(m), random);
  const idm_status status = accept_or_reject(m, target, 0, random, probability, opt_error);
  /* Robbins-Monro: step sizes decrease slowly enough to change by several orders of magnitude. */
  if (status == IDM_OK && adapt)
    *m->log_scale += (*probability - target_acceptance) * pow(1 + ++*m->walk_steps, -0.6);
  return status;
}

/* --- warm-up -------------------------------------------------------------------------------- */

/* Independence steps per cycle, given their acceptance rate since the last change. */
static double independence_share(const metropolis *m)
{
  const double rate = *m->independence_steps > 0 ? *m->acceptance_sum / *m->independence_steps : 0;
  return rate < min_independence_rate ? 0 : rate < high_independence_rate ? 2 : 3;
}

/* Fit the proposals to the window that ends, and reset their statistics. */
static void refit(const metropolis *m, const idm_sampler_settings *settings)
{
  const size_t n = m->dimension;
  if (idm_scatter_covariance(&m->history, settings->covariance, m->next) &&
      idm_cholesky(n, m->next)) {
    memcpy(m->factor, m->next, n * n * sizeof(double));
    memcpy(m->mean, m->history.mean, n * sizeof(double));
    *m->log_scale = 0;
    *m->walk_steps = 0;
  }
  *m->share = fmax(1, independence_share(m));
  *m->independence_steps = 0;
  *m->acceptance_sum = 0;
  idm_scatter_restart(&m->history);
}

static void adapt(const metropolis *m, const idm_sampler_settings *settings, long iteration)
{
  if (idm_warmup_window(iteration, settings->warmup).at_end) refit(m, settings);
  if (iteration == settings->warmup - 1) *m->share = independence_share(m);
}

/* --- the step -------------------------------------------------------------------------------- */

/* True if this step of a cycle is an independence proposal. */
static bool is_independence_step(double share, long cycle_index)
{
  return share == 2 ? cycle_index % 2 == 0 : (double)cycle_index < share;
}

/* With a mixture: one step of every second cycle, in place of a random walk, proposes from it;
 * every second step if independence proposals are disabled. */
static bool is_mixture_step(const idm_sampler_settings *settings, double share, long step)
{
  const long period = share == 0 ? 2 : 2 * cycle;
  return settings->mixture && step % period == period - 1;
}

/* Kernel steps per draw: beyond two parameters ridges are common, and autocorrelation is higher. */
long idm_metropolis_thin(size_t dimension)
{
  return dimension <= 2 ? 2 : 8;
}

static idm_status step(double *state, const idm_sampler_settings *settings,
                       const idm_target *target, long iteration, idm_random *random, double *x,
                       idm_statistics *statistics, idm_error *opt_error)
{
  metropolis m;
  map_state(state, target->dimension, &m);
  const long thin = idm_sampler_thin(settings, idm_metropolis_thin(target->dimension));
  const bool in_warmup = iteration < settings->warmup;
  const bool collect = idm_warmup_window(iteration, settings->warmup).collect;
  double acceptance = 0;
  for (long k = 0; k < thin; k++) {
    const long cycle_at = (iteration % cycle * (thin % cycle) + k) % cycle;
    double probability = 0;
    const idm_status status =
        is_mixture_step(settings, *m.share, iteration * thin + k)
            ? mixture_step(&m, settings->mixture, target, random, &probability, opt_error)
            : (is_independence_step(*m.share, cycle_at) ? independence_step : walk_step)(
                  &m, target, in_warmup, random, &probability, opt_error);
    if (status != IDM_OK) return status;
    acceptance += probability;
    if (collect) idm_scatter_add(&m.history, m.position);
  }
  if (in_warmup) adapt(&m, settings, iteration);
  memcpy(x, m.position, target->dimension * sizeof *x);
  idm_statistics_clear(statistics);
  statistics->log_density = *m.log_density;
  statistics->acceptance = acceptance / (double)thin;
  statistics->step_size = walk_scale(&m);
  statistics->evaluations = thin;
  return IDM_OK;
}

const idm_sampler idm_sampler_metropolis = {
    .name = "metropolis",
    .summary = "independence proposals fitted in warm-up, and a random walk; few parameters",
    .gradient = false,
    .numbers = numbers,
    .start = start,
    .step = step,
};

/* === paper ================================================================================== */

/* "paper": random walk with a fixed step size, as in the paper's experiments. No adaptation. */

/* The paper keeps every tenth step. */
enum { default_thin = 10 };

typedef struct paper_walk {
  double *log_density;
  double *position;
  double *candidate;
} paper_walk;

static size_t paper_map_state(double *opt_state, size_t dimension, paper_walk *view)
{
  size_t used = 0;
  view->log_density = idm_state_take(opt_state, &used, 1);
  view->position = idm_state_take(opt_state, &used, dimension);
  view->candidate = idm_state_take(opt_state, &used, dimension);
  return used;
}

static size_t paper_numbers(size_t dimension)
{
  paper_walk view;
  return paper_map_state(NULL, dimension, &view);
}

static idm_status paper_start(double *state, const idm_sampler_settings *settings,
                              const idm_target *target, const double *x, idm_random *random,
                              idm_error *opt_error)
{
  (void)random;
  paper_walk view;
  const size_t count = paper_map_state(state, target->dimension, &view);
  memset(state, 0, count * sizeof *state);
  if (!(settings->step > 0 && isfinite(settings->step)))
    return idm_fail(opt_error, IDM_USAGE, "the step of the random walk is %g; it must be positive",
                    settings->step);
  memcpy(view.position, x, target->dimension * sizeof *x);
  return idm_target_evaluate_start(target, x, view.log_density, NULL, opt_error);
}

/* One Metropolis step; its acceptance probability is added to *acceptance. */
static idm_status paper_walk_step(const paper_walk *view, double sd, const idm_target *target,
                                  idm_random *random, double *acceptance, idm_error *opt_error)
{
  const size_t n = target->dimension;
  for (size_t i = 0; i < n; i++)
    view->candidate[i] = view->position[i] + sd * idm_random_normal(random);
  double density;
  const idm_status status = idm_target_evaluate(target, view->candidate, &density, NULL, opt_error);
  if (status != IDM_OK) return status;
  const double probability = fmin(1, exp(density - *view->log_density));
  *acceptance += probability;
  if (idm_random_uniform(random) >= probability) return IDM_OK;
  memcpy(view->position, view->candidate, n * sizeof(double));
  *view->log_density = density;
  return IDM_OK;
}

static idm_status paper_step(double *state, const idm_sampler_settings *settings,
                             const idm_target *target, long iteration, idm_random *random,
                             double *x, idm_statistics *statistics, idm_error *opt_error)
{
  (void)iteration;
  paper_walk view;
  paper_map_state(state, target->dimension, &view);
  const long thin = idm_sampler_thin(settings, default_thin);
  double acceptance = 0;
  for (long k = 0; k < thin; k++) {
    const idm_status status =
        paper_walk_step(&view, settings->step, target, random, &acceptance, opt_error);
    if (status != IDM_OK) return status;
  }
  memcpy(x, view.position, target->dimension * sizeof *x);
  idm_statistics_clear(statistics);
  statistics->log_density = *view.log_density;
  statistics->acceptance = acceptance / (double)thin;
  statistics->step_size = settings->step;
  statistics->evaluations = thin;
  return IDM_OK;
}

const idm_sampler idm_sampler_paper = {
    .name = "paper",
    .summary = "random walk with a fixed step, every tenth kept, as in the paper",
    .gradient = false,
    .plain = true,
    .numbers = paper_numbers,
    .start = paper_start,
    .step = paper_step,
};
