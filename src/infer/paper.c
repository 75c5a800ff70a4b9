/* "paper": the fixed random walk of the paper's experiments. Nothing adapts. */
#include "infer/paper.h"

#include <math.h>
#include <string.h>

#include "infer/sampler.h"

/* The paper keeps every tenth step. */
enum { own_thin = 10 };

typedef struct walk {
  double *log_density;
  double *position;
  double *candidate;
} walk;

static size_t place(double *opt_state, size_t dimension, walk *view)
{
  size_t used = 0;
  view->log_density = idm_state_take(opt_state, &used, 1);
  view->position = idm_state_take(opt_state, &used, dimension);
  view->candidate = idm_state_take(opt_state, &used, dimension);
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
  if (!(settings->step > 0 && isfinite(settings->step)))
    return idm_fail(opt_error, IDM_USAGE, "the step of the random walk is %g; it must be positive",
                    settings->step);
  memcpy(view.position, x, target->dimension * sizeof *x);
  return idm_target_begin(target, x, view.log_density, NULL, opt_error);
}

/* One Metropolis step; *acceptance grows by its probability. */
static idm_status move(const walk *view, double sd, const idm_target *target, idm_random *random,
                       double *acceptance, idm_error *opt_error)
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

static idm_status step(double *state, const idm_sampler_settings *settings,
                       const idm_target *target, long iteration, idm_random *random, double *x,
                       idm_statistics *statistics, idm_error *opt_error)
{
  (void)iteration;
  walk view;
  place(state, target->dimension, &view);
  const long thin = idm_sampler_thin(settings, own_thin);
  double acceptance = 0;
  for (long k = 0; k < thin; k++) {
    const idm_status status = move(&view, settings->step, target, random, &acceptance, opt_error);
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
    .numbers = numbers,
    .start = start,
    .step = step,
};
