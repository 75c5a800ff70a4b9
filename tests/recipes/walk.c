/* The sampler `walk`: random-walk Metropolis with the initial estimate of the covariance, without
 * adaptation. */
#include <math.h>
#include <string.h>

#include "infer/chains.h"

typedef struct walk {
  double *log_density;
  double *position;
  double *candidate;
  double *factor; /* Cholesky factor of the estimate [dimension][dimension] */
} walk;

static size_t place(double *opt_state, size_t dimension, walk *view)
{
  size_t used = 0;
  view->log_density = idm_state_take(opt_state, &used, 1);
  view->position = idm_state_take(opt_state, &used, dimension);
  view->candidate = idm_state_take(opt_state, &used, dimension);
  view->factor = idm_state_take(opt_state, &used, dimension * dimension);
  return used;
}

static size_t numbers(size_t dimension)
{
  walk view;
  return place(NULL, dimension, &view);
}

static idm_status start(double *state, const idm_sampler_settings *settings,
                        const idm_target *target, const double *x, idm_random *random,
                        idm_error *opt_error)
{
  (void)random;
  walk view;
  const size_t count = place(state, target->dimension, &view);
  memset(state, 0, count * sizeof *state);
  memcpy(view.position, x, target->dimension * sizeof *x);
  const idm_status status = idm_guess_factor(settings, target->dimension, view.factor, opt_error);
  return status == IDM_OK ? idm_target_evaluate_start(target, x, view.log_density, NULL, opt_error)
                          : status;
}

/* One Metropolis step; adds the acceptance probability to *acceptance. */
static idm_status move(const walk *view, const idm_target *target, idm_random *random,
                       double *acceptance, idm_error *opt_error)
{
  const size_t n = target->dimension;
  const double length = 2.4 / sqrt((double)n);
  double density;
  memcpy(view->candidate, view->position, n * sizeof(double));
  for (size_t j = 0; j < n; j++) {
    const double along = length * idm_random_normal(random);
    for (size_t i = j; i < n; i++) view->candidate[i] += along * view->factor[i * n + j];
  }
  const idm_status status = idm_target_evaluate(target, view->candidate, &density, NULL, opt_error);
  if (status != IDM_OK) return status;
  const double probability = fmin(1, exp(density - *view->log_density));
  *acceptance += probability;
  if (idm_random_uniform(random) >= probability) return IDM_OK;
  memcpy(view->position, view->candidate, n * sizeof(double));
  *view->log_density = density;
  return IDM_OK;
}

static idm_status step(double *state, const idm_sampler_settings *settings,
                       const idm_target *target, long iteration, idm_random *random, double *x,
                       idm_statistics *statistics, idm_error *opt_error)
{
  (void)iteration;
  walk view;
  place(state, target->dimension, &view);
  const long thin = idm_sampler_thin(settings, 5);
  double acceptance = 0;
  for (long k = 0; k < thin; k++) {
    const idm_status status = move(&view, target, random, &acceptance, opt_error);
    if (status != IDM_OK) return status;
  }
  memcpy(x, view.position, target->dimension * sizeof *x);
  idm_statistics_clear(statistics);
  statistics->log_density = *view.log_density;
  statistics->acceptance = acceptance / (double)thin;
  statistics->evaluations = thin;
  return IDM_OK;
}

const idm_sampler idm_sampler_walk = {.name = "walk",
                                      .summary = "a random walk along the guessed covariance",
                                      .numbers = numbers,
                                      .start = start,
                                      .step = step};
