/* Targets with known moments and functions that run chains on them, for tests of samplers. */
#ifndef IDM_TESTS_INFER_SAMPLER_SUPPORT_H
#define IDM_TESTS_INFER_SAMPLER_SUPPORT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "idm/extension/random.h"
#include "idm/extension/sampler.h"
#include "support.h"

/* --- targets -------------------------------------------------------------------------------- */

enum { MOST_DIMENSION = 32 };

/* A normal density up to a constant: two dimensions with correlation, or any number without. */
typedef struct normal_target {
  size_t n;
  double mean[MOST_DIMENSION];
  double sd[MOST_DIMENSION];
  double correlation;
  long evaluations;
  long fails_at;    /* the evaluation that fails, counted from 1; 0: none does */
  bool no_gradient; /* requesting a gradient is an error */
} normal_target;

static inline idm_status normal_evaluate(void *context, const double *x, double *log_density,
                                         double *opt_gradient, idm_error *opt_error)
{
  normal_target *t = context;
  const double rest = 1 - t->correlation * t->correlation;
  double z[MOST_DIMENSION], square = 0;
  if (++t->evaluations == t->fails_at)
    return idm_fail(opt_error, IDM_NUMERICAL, "evaluation %ld fails", t->fails_at);
  if (t->no_gradient && opt_gradient)
    return idm_fail(opt_error, IDM_NUMERICAL, "there is no gradient");
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

/* A standard normal folded at 0: zero density below. */
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

static inline idm_sampler_settings sampler_defaults(void)
{
  idm_sampler_settings settings;
  idm_sampler_settings_default(&settings);
  return settings;
}

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

static inline void chain_start(chain *c, const idm_sampler *sampler,
                               const idm_sampler_settings *settings, idm_target target,
                               const double *x, uint64_t seed)
{
  c->sampler = sampler;
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

/* Autocorrelation time of x[count] by Geyer's (1992) initial positive sequence, by plain sums. */
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

/* Mean of x[count]; stores its standard error. */
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

/* --- moments -------------------------------------------------------------------------------- */

enum { MOST_MEASURES = 8 };

/* A target, and functions of x with known means. */
typedef struct trial {
  const char *name;
  idm_target target;
  double start[2];
  double step; /* for samplers with a fixed step */
  size_t measures;
  void (*measure)(const double *x, double *f);
  double expected[MOST_MEASURES];
} trial;

static inline void measure_pair(const double *x, double *f)
{
  f[0] = x[0];
  f[1] = x[1];
  f[2] = x[0] * x[0];
  f[3] = x[1] * x[1];
  f[4] = x[0] * x[1];
  f[5] = x[0] > 1.2815515655446004;
  f[6] = x[0] > 0 && x[1] > 0;
}

/* Runs a chain and compares each measure with its mean. */
static inline void run_trial(const trial *t, const idm_sampler *sampler, uint64_t seed)
{
  enum { DRAWS = 4000 };
  static double draw[MOST_MEASURES][DRAWS];
  idm_sampler_settings settings = sampler_defaults();
  settings.step = t->step;
  chain c;
  chain_start(&c, sampler, &settings, t->target, t->start, seed);
  chain_warm_up(&c);
  for (size_t k = 0; k < DRAWS; k++) {
    double f[MOST_MEASURES];
    chain_step(&c);
    t->measure(c.x, f);
    for (size_t i = 0; i < t->measures; i++) draw[i][k] = f[i];
  }
  chain_stop(&c);
  for (size_t i = 0; i < t->measures; i++) {
    double error, sum = 0;
    const double mean = mean_and_error(draw[i], DRAWS, &error);
    for (size_t k = 0; k < DRAWS; k++) sum += (draw[i][k] - mean) * (draw[i][k] - mean) / DRAWS;
    if (!(fabs(mean - t->expected[i]) < 5 * error) || !(error < 0.15 * sqrt(sum)))
      fail_msg("%s on %s: measure %zu has mean %g, expected %g, standard error %g", sampler->name,
               t->name, i, mean, t->expected[i], error);
  }
}

/* --- requirements of kernels beyond the conformance suite -------------------------------- */

static inline void measure_wide(const double *x, double *f)
{
  const double z[2] = {x[0], (x[1] + 50) / 100};
  measure_pair(z, f);
}

/* Scales two orders of magnitude apart and a strong correlation: for adaptive samplers. */
static inline void check_wide(const idm_sampler *sampler)
{
  normal_target normal = {.n = 2, .mean = {0, -50}, .sd = {1, 100}, .correlation = 0.95};
  const double both = 0.25 + asin(0.95) / (2 * acos(-1));
  const trial wide = {.name = "wide",
                      .target = normal_as_target(&normal),
                      .step = 1,
                      .measures = 7,
                      .measure = measure_wide,
                      .expected = {0, 0, 1, 1, 0.95, 0.1, both}};
  run_trial(&wide, sampler, 102);
}

/* Counts the numbers of the state that change after warm-up, in two dimensions: position, density
 * and scratch may change, adapted values may not. */
static inline size_t count_moving(const idm_sampler *sampler)
{
  normal_target pair = {.n = 2, .sd = {1, 3}, .correlation = 0.5};
  const double x[2] = {0};
  idm_sampler_settings settings = sampler_defaults();
  settings.warmup = 200;
  chain c;
  chain_start(&c, sampler, &settings, normal_as_target(&pair), x, 4);
  chain_warm_up(&c);
  const size_t numbers = sampler->numbers(2);
  double *frozen = malloc(numbers * sizeof *frozen);
  assert_non_null(frozen);
  memcpy(frozen, c.state, numbers * sizeof *frozen);
  for (long k = 0; k < 301; k++) chain_step(&c);
  size_t moved = 0;
  for (size_t k = 0; k < numbers; k++) moved += c.state[k] != frozen[k];
  free(frozen);
  chain_stop(&c);
  return moved;
}

/* A first guess that is not positive definite is refused. */
static inline void check_bad_guess(const idm_sampler *sampler)
{
  const double x[2] = {0}, indefinite[4] = {1, 2, 2, 1};
  normal_target pair = {.n = 2, .sd = {1, 1}};
  const idm_target target = normal_as_target(&pair);
  idm_sampler_settings settings = sampler_defaults();
  settings.covariance = indefinite;
  double *numbers = malloc(sampler->numbers(2) * sizeof *numbers);
  idm_random random;
  idm_random_init(&random, 2, 0);
  assert_non_null(numbers);
  assert_int_equal(sampler->start(numbers, &settings, &target, x, &random, &support_error),
                   IDM_USAGE);
  free(numbers);
}

#endif
