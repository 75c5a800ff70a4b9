/* Targets with known moments, and running a chain over them, for the tests of samplers. */
#ifndef IDM_TESTS_TEST_SAMPLER_H
#define IDM_TESTS_TEST_SAMPLER_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* --- targets -------------------------------------------------------------------------------- */

enum { MOST_DIMENSION = 32 };

/* A normal with equal correlations, up to a constant: two dimensions with correlation, or any
 * number without. */
typedef struct normal_target {
  size_t n;
  double mean[MOST_DIMENSION];
  double sd[MOST_DIMENSION];
  double correlation;
  long evaluations;
  long fails_at; /* the evaluation that fails, counted from 1; 0: none does */
} normal_target;

static inline idm_status normal_evaluate(void *context, const double *x, double *log_density,
                                         double *opt_gradient, idm_error *opt_error)
{
  normal_target *t = context;
  const double rest = 1 - t->correlation * t->correlation;
  double z[MOST_DIMENSION], square = 0;
  if (++t->evaluations == t->fails_at)
    return idm_fail(opt_error, IDM_NUMERICAL, "evaluation %ld fails", t->fails_at);
  for (size_t i = 0; i < t->n; i++) {
    z[i] = (x[i] - t->mean[i]) / t->sd[i];
    square += z[i] * z[i];
  }
  if (t->n == 2) square -= 2 * t->correlation * z[0] * z[1];
  *log_density = -0.5 * square / rest;
  for (size_t i = 0; opt_gradient && i < t->n; i++) {
    const double cross = t->n == 2 ? t->correlation * z[1 - i] : 0;
    opt_gradient[i] = -(z[i] - cross) / (rest * t->sd[i]);
  }
  return IDM_OK;
}

/* y = logit(p) of p ~ beta(a, b), and y = log(g) of g ~ gamma(a, b): skewed, on all of R. */
typedef struct skewed_target {
  double beta[2];
  double gamma[2];
} skewed_target;

static inline idm_status skewed_evaluate(void *context, const double *x, double *log_density,
                                         double *opt_gradient, idm_error *opt_error)
{
  (void)opt_error;
  const skewed_target *t = context;
  const double a = t->beta[0], b = t->beta[1], p = 1 / (1 + exp(-x[0])), g = exp(x[1]);
  *log_density = a * x[0] - (a + b) * (x[0] > 0 ? x[0] + log1p(exp(-x[0])) : log1p(exp(x[0]))) +
                 t->gamma[0] * x[1] - t->gamma[1] * g;
  if (opt_gradient) {
    opt_gradient[0] = a - (a + b) * p;
    opt_gradient[1] = t->gamma[0] - t->gamma[1] * g;
  }
  return IDM_OK;
}

/* A standard normal folded at 0: no density below. */
static inline idm_status half_evaluate(void *context, const double *x, double *log_density,
                                       double *opt_gradient, idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  *log_density = x[0] < 0 ? -INFINITY : -0.5 * x[0] * x[0];
  if (opt_gradient) opt_gradient[0] = -x[0];
  return IDM_OK;
}

static inline idm_target normal_as_target(normal_target *t)
{
  return (idm_target){t->n, true, t, normal_evaluate};
}

/* --- chains --------------------------------------------------------------------------------- */

typedef struct chain {
  const idm_sampler *sampler;
  idm_sampler_settings settings;
  idm_target target;
  double *state;
  idm_random random;
  long iteration;
  idm_statistics statistics; /* of the last step */
  double x[MOST_DIMENSION];
} chain;

static inline void chain_start(chain *c, const char *sampler, const idm_sampler_settings *settings,
                               idm_target target, const double *x, uint64_t seed)
{
  c->sampler = idm_sampler_find(sampler);
  assert_non_null(c->sampler);
  c->settings = *settings;
  c->target = target;
  c->iteration = 0;
  c->state = malloc(c->sampler->numbers(target.dimension) * sizeof(double));
  assert_non_null(c->state);
  idm_random_init(&c->random, seed, 0);
  check(c->sampler->start(c->state, &c->settings, &c->target, x, &c->random, &support_error));
}

static inline void chain_step(chain *c)
{
  check(c->sampler->step(c->state, &c->settings, &c->target, c->iteration++, &c->random, c->x,
                         &c->statistics, &support_error));
}

static inline void chain_warm_up(chain *c)
{
  while (c->iteration < c->settings.warmup) chain_step(c);
}

static inline void chain_stop(chain *c)
{
  free(c->state);
}

/* --- Monte Carlo error ---------------------------------------------------------------------- */

/* Autocorrelation time of x[count] by Geyer's (1992) initial positive sequence: plain sums. */
static inline double autocorrelation_time(const double *x, long count, double mean)
{
  double variance = 0, time = 0;
  for (long i = 0; i < count; i++) variance += (x[i] - mean) * (x[i] - mean);
  for (long lag = 0; lag + 1 < count; lag += 2) {
    double pair = 0;
    for (long k = lag; k <= lag + 1; k++)
      for (long i = 0; i + k < count; i++) pair += (x[i] - mean) * (x[i + k] - mean);
    if (!(pair > 0)) break;
    time += 2 * pair / variance;
  }
  return fmax(time - 1, 0.1);
}

/* Mean of x[count], and its standard error. */
static inline double mean_and_error(const double *x, long count, double *error)
{
  double mean = 0, variance = 0;
  for (long i = 0; i < count; i++) mean += x[i] / (double)count;
  for (long i = 0; i < count; i++) variance += (x[i] - mean) * (x[i] - mean);
  variance /= (double)(count - 1);
  *error = variance > 0 ? sqrt(variance * autocorrelation_time(x, count, mean) / (double)count)
                        : INFINITY;
  return mean;
}

#endif
