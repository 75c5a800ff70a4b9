/* "pcn": for dozens of parameters and an expensive target that is not smooth. Preconditioned
 * Crank-Nicolson steps (Cotter et al. 2013)
 *
 *     x' = m + rho (x - m) + sqrt(1 - rho^2) L z,   z standard normal,
 *
 * leave normal(m, L L') invariant, so the acceptance probability depends on the ratio of the target
 * to this normal: if they are close, steps can be long in any dimension. One step of four, at
 * random, is a random walk of the same covariance, which moves the chain where the target has
 * heavier tails than the normal. Warm-up fits m and L to the history, and both step sizes to their
 * acceptance rates.
 *
 * If the target has a surrogate, such steps are made on the surrogate, which they leave invariant,
 * and the ratio of target to surrogate determines the acceptance of the end point of many steps
 * (surrogate transition method, Liu 2001): one evaluation per excursion. See
 * docs/method/inference.md, 4. */
#include "infer/chains.h"

#include <math.h>
#include <string.h>

#include "base/dense.h"

/* Fraction of random-walk steps. */
static const double walk_fraction = 0.25;
/* Steps per excursion on the surrogate; and fraction of random-walk steps on the target itself,
 * which move the chain where the surrogate is inaccurate. */
enum { surrogate_steps = 20 };
static const double target_walk_fraction = 0.5;
/* Target acceptance rate of both step sizes in warm-up. */
static const double target_acceptance = 0.3;
/* Bounds of the logit of 1 - rho^2. */
static const double min_logit = -9, max_logit = 6;

typedef struct pcn {
  size_t dimension;
  double (*surrogate)(void *context, const double *x); /* NULL: none */
  double *log_density;        /* at the position; of the surrogate if there is one */
  double *target_log_density; /* with a surrogate: the target's at accepted_position */
  double *logit;              /* of 1 - rho^2 */
  double *log_scale;          /* of the random walk, relative to 2.38 / sqrt(dimension) */
  double *cn_steps;           /* Crank-Nicolson steps since the last change of the normal */
  double *log_target_scale;   /* with a surrogate: the same for random walks on the target */
  double *target_walk_steps;  /* number of these walks since the last change of the normal */
  double *effective_draws;    /* approximate number of effective draws in the history */
  double *walk_steps;         /* random-walk steps since the last change of the normal */
  double *position;
  double *accepted_position; /* [dimension]: end of the last accepted excursion */
  double *mean;              /* m */
  double *factor;            /* [dimension][dimension]: L */
  double *candidate;
  double *work;     /* [dimension] */
  double *whitened; /* [dimension]: L^-1 (x - m) */
  double *next;     /* [dimension][dimension]: a covariance during factorisation */
  idm_scatter history;
} pcn;

static size_t map_state(double *opt_state, size_t dimension, pcn *view)
{
  size_t used = 0;
  view->dimension = dimension;
  view->surrogate = NULL;
  view->log_density = idm_state_take(opt_state, &used, 1);
  view->target_log_density = idm_state_take(opt_state, &used, 1);
  view->logit = idm_state_take(opt_state, &used, 1);
  view->log_scale = idm_state_take(opt_state, &used, 1);
  view->cn_steps = idm_state_take(opt_state, &used, 1);
  view->walk_steps = idm_state_take(opt_state, &used, 1);
  view->effective_draws = idm_state_take(opt_state, &used, 1);
  view->log_target_scale = idm_state_take(opt_state, &used, 1);
  view->target_walk_steps = idm_state_take(opt_state, &used, 1);
  view->position = idm_state_take(opt_state, &used, dimension);
  view->accepted_position = idm_state_take(opt_state, &used, dimension);
  view->mean = idm_state_take(opt_state, &used, dimension);
  view->factor = idm_state_take(opt_state, &used, dimension * dimension);
  view->candidate = idm_state_take(opt_state, &used, dimension);
  view->work = idm_state_take(opt_state, &used, dimension);
  view->whitened = idm_state_take(opt_state, &used, dimension);
  view->next = idm_state_take(opt_state, &used, dimension * dimension);
  view->history = idm_scatter_take(opt_state, &used, dimension, true);
  return used;
}

static size_t numbers(size_t dimension)
{
  pcn view;
  return map_state(NULL, dimension, &view);
}

static idm_status start(double *state, const idm_sampler_settings *settings,
                        const idm_target *target, const double *x, idm_random *random,
                        idm_error *opt_error)
{
  (void)random;
  pcn view;
  const size_t n = target->dimension;
  const size_t count = map_state(state, n, &view);
  memset(state, 0, count * sizeof *state);
  view.surrogate = settings->surrogate;
  memcpy(view.position, x, n * sizeof *x);
  memcpy(view.accepted_position, x, n * sizeof *x);
  memcpy(view.mean, settings->centre ? settings->centre : x, n * sizeof *x);
  idm_status status = idm_guess_factor(settings, n, view.factor, opt_error);
  if (status == IDM_OK)
    status = idm_target_evaluate_start(target, x, view.target_log_density, NULL, opt_error);
  *view.log_density =
      view.surrogate ? view.surrogate(target->context, x) : *view.target_log_density;
  return status;
}

/* --- proposals ------------------------------------------------------------------------------ */

static double walk_scale(const pcn *p)
{
  return exp(*p->log_scale) * 2.38 / sqrt((double)p->dimension);
}

/* Density that determines acceptance at the candidate: the surrogate, or the target itself. */
static idm_status evaluate_candidate(const pcn *p, const idm_target *target, double *density,
                                     idm_error *opt_error)
{
  if (!p->surrogate) return idm_target_evaluate(target, p->candidate, density, NULL, opt_error);
  *density = p->surrogate(target->context, p->candidate);
  if (isnan(*density)) *density = -INFINITY;
  return IDM_OK;
}

/* Accept or reject, given the log ratio of the proposal densities; *probability is the
 * Metropolis-Hastings acceptance probability. */
static idm_status accept_or_reject(const pcn *p, const idm_target *target, double log_ratio,
                                   idm_random *random, double *probability, idm_error *opt_error)
{
  double density;
  const idm_status status = evaluate_candidate(p, target, &density, opt_error);
  if (status != IDM_OK) return status;
  *probability = fmin(1, exp(density - *p->log_density + log_ratio));
  if (idm_random_uniform(random) >= *probability) return IDM_OK;
  memcpy(p->position, p->candidate, p->dimension * sizeof(double));
  *p->log_density = density;
  return IDM_OK;
}

/* A Crank-Nicolson step; the ratio of the normal densities is computed in whitened coordinates. */
static idm_status cn_step(const pcn *p, const idm_target *target, bool adapt, idm_random *random,
                          double *probability, idm_error *opt_error)
{
  const size_t n = p->dimension;
  const double innovation = 1 / (1 + exp(-*p->logit)); /* 1 - rho^2 */
  const double rho = sqrt(1 - innovation);
  double before = 0, after = 0;
  for (size_t i = 0; i < n; i++) p->whitened[i] = p->position[i] - p->mean[i];
  idm_lower_solve(n, p->factor, p->whitened);
  for (size_t i = 0; i < n; i++) {
    p->work[i] = rho * p->whitened[i] + sqrt(innovation) * idm_random_normal(random);
    before += p->whitened[i] * p->whitened[i];
    after += p->work[i] * p->work[i];
  }
  idm_lower_multiply(n, p->factor, p->work);
  for (size_t i = 0; i < n; i++) p->candidate[i] = p->mean[i] + p->work[i];
  const idm_status status =
      accept_or_reject(p, target, 0.5 * (after - before), random, probability, opt_error);
  if (status == IDM_OK && adapt)
    *p->logit = fmin(
        fmax(*p->logit + 2 * (*probability - target_acceptance) * pow(1 + ++*p->cn_steps, -0.6),
             min_logit),
        max_logit);
  return status;
}

static idm_status walk_step(const pcn *p, const idm_target *target, bool adapt, idm_random *random,
                            double *probability, idm_error *opt_error)
{
  const size_t n = p->dimension;
  const double size = walk_scale(p);
  for (size_t i = 0; i < n; i++) p->work[i] = idm_random_normal(random);
  idm_lower_multiply(n, p->factor, p->work);
  for (size_t i = 0; i < n; i++) p->candidate[i] = p->position[i] + size * p->work[i];
  const idm_status status = accept_or_reject(p, target, 0, random, probability, opt_error);
  if (status == IDM_OK && adapt)
    *p->log_scale += (*probability - target_acceptance) * pow(1 + ++*p->walk_steps, -0.6);
  return status;
}

/* One step of either kind. The choice does not depend on the position, so that detailed balance
 * holds. */
static idm_status mixed_step(const pcn *p, const idm_target *target, bool adapt, idm_random *random,
                             double *probability, idm_error *opt_error)
{
  const bool walk_steps = idm_random_uniform(random) < walk_fraction;
  return (walk_steps ? walk_step : cn_step)(p, target, adapt, random, probability, opt_error);
}

/* A random-walk step on the target itself. */
static idm_status target_walk_step(const pcn *p, const idm_target *target, bool adapt,
                                   idm_random *random, double *probability, idm_error *opt_error)
{
  const size_t n = p->dimension;
  const double size = exp(*p->log_target_scale) * 2.38 / sqrt((double)n);
  double density;
  for (size_t i = 0; i < n; i++) p->work[i] = idm_random_normal(random);
  idm_lower_multiply(n, p->factor, p->work);
  for (size_t i = 0; i < n; i++) p->candidate[i] = p->accepted_position[i] + size * p->work[i];
  const idm_status status = idm_target_evaluate(target, p->candidate, &density, NULL, opt_error);
  if (status != IDM_OK) return status;
  *probability = fmin(1, exp(density - *p->target_log_density));
  if (adapt)
    *p->log_target_scale +=
        (*probability - target_acceptance) * pow(1 + ++*p->target_walk_steps, -0.6);
  if (idm_random_uniform(random) >= *probability) return IDM_OK;
  memcpy(p->accepted_position, p->candidate, n * sizeof(double));
  memcpy(p->position, p->candidate, n * sizeof(double));
  *p->target_log_density = density;
  *p->log_density = p->surrogate(target->context, p->position);
  return IDM_OK;
}

/* An excursion on the surrogate, accepted by the ratio of target to surrogate at its end. */
static idm_status surrogate_transition(const pcn *p, const idm_target *target, bool adapt,
                                       idm_random *random, double *probability,
                                       idm_error *opt_error)
{
  const size_t n = p->dimension;
  const double before = *p->log_density;
  double density = -INFINITY;
  idm_status status = IDM_OK;
  for (int k = 0; k < surrogate_steps && status == IDM_OK; k++)
    status = mixed_step(p, target, adapt, random, probability, opt_error);
  if (status == IDM_OK)
    status = idm_target_evaluate(target, p->position, &density, NULL, opt_error);
  if (status != IDM_OK) return status;
  *probability = fmin(1, exp(density - *p->target_log_density + before - *p->log_density));
  if (idm_random_uniform(random) < *probability) {
    memcpy(p->accepted_position, p->position, n * sizeof(double));
    *p->target_log_density = density;
  } else {
    memcpy(p->position, p->accepted_position, n * sizeof(double));
    *p->log_density = before;
  }
  return IDM_OK;
}

/* --- the step -------------------------------------------------------------------------------- */

/* Number of effective draws per accepted step: an autoregression with coefficient rho has an
 * autocorrelation time of (1 + rho) / (1 - rho), a random walk one of about 3 dimensions. */
static double effective_fraction(const pcn *p)
{
  const double rho = sqrt(1 - 1 / (1 + exp(-*p->logit)));
  return fmax((1 - rho) / (1 + rho), walk_fraction / (3 * (double)p->dimension));
}

/* At the end of a window: fit the normal to its history, shrunk towards the initial covariance (or
 * towards no correlation) according to the number of effective draws. Step-size adaptation
 * restarts. */
static void refit(const pcn *p, const idm_sampler_settings *settings)
{
  const size_t n = p->dimension;
  const double count = *p->history.count;
  const double share = *p->effective_draws / (*p->effective_draws + 2 * (double)n);
  const double mean_weight = *p->effective_draws / (*p->effective_draws + 1);
  for (size_t i = 0; i < n * n && count > 1; i++) {
    const double sample_covariance = p->history.scatter[i] / (count - 1);
    const double guess = settings->covariance ? settings->covariance[i]
                         : i % (n + 1)        ? 0
                                              : sample_covariance;
    p->next[i] = share * sample_covariance + (1 - share) * guess;
  }
  if (count > 1 && idm_cholesky(n, p->next)) {
    memcpy(p->factor, p->next, n * n * sizeof(double));
    for (size_t i = 0; i < n; i++) p->mean[i] += mean_weight * (p->history.mean[i] - p->mean[i]);
    *p->cn_steps = *p->walk_steps = *p->target_walk_steps = 0;
  }
  *p->effective_draws = 0;
  idm_scatter_restart(&p->history);
}

/* Choose the next step: either kind on the target or, with a surrogate, an excursion or a random
 * walk on the target. */
typedef idm_status (*step_function)(const pcn *p, const idm_target *target, bool adapt,
                                    idm_random *random, double *probability, idm_error *opt_error);
static step_function choose_step(const pcn *p, idm_random *random)
{
  if (!p->surrogate) return mixed_step;
  return idm_random_uniform(random) < target_walk_fraction ? target_walk_step
                                                           : surrogate_transition;
}

/* Evaluations per draw: without a surrogate, more in higher dimension, where autocorrelation is
 * higher. */
static long default_thin(const pcn *p)
{
  if (p->surrogate) return 3;
  return p->dimension <= 4 ? 4 : 8;
}

static idm_status step(double *state, const idm_sampler_settings *settings,
                       const idm_target *target, long iteration, idm_random *random, double *x,
                       idm_statistics *statistics, idm_error *opt_error)
{
  pcn p;
  map_state(state, target->dimension, &p);
  p.surrogate = settings->surrogate;
  const long thin = idm_sampler_thin(settings, default_thin(&p));
  const bool in_warmup = iteration < settings->warmup;
  const idm_window window = idm_warmup_window(iteration, settings->warmup);
  double acceptance = 0;
  for (long k = 0; k < thin; k++) {
    double probability = 0;
    const idm_status status =
        choose_step(&p, random)(&p, target, in_warmup, random, &probability, opt_error);
    if (status != IDM_OK) return status;
    acceptance += probability;
    if (!window.collect) continue;
    idm_scatter_add(&p.history, p.position);
    *p.effective_draws += probability * (p.surrogate ? 1 : effective_fraction(&p));
  }
  if (in_warmup && window.at_end) refit(&p, settings);
  memcpy(x, p.position, target->dimension * sizeof *x);
  idm_statistics_clear(statistics);
  statistics->log_density = p.surrogate ? *p.target_log_density : *p.log_density;
  statistics->acceptance = acceptance / (double)thin;
  statistics->step_size = sqrt(1 / (1 + exp(-*p.logit)));
  statistics->evaluations = thin;
  return IDM_OK;
}

const idm_sampler idm_sampler_pcn = {
    .name = "pcn",
    .summary = "preconditioned Crank-Nicolson steps and a random walk; dozens of parameters",
    .gradient = false,
    .numbers = numbers,
    .start = start,
    .step = step,
};
