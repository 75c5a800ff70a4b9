/* Markov chains in parallel: each has its own random stream, target and state, so that draws do not
 * depend on the schedule of the threads. See docs/method/inference.md, 5.
 *
 * Contents: creation · running · checkpoints */
#include "infer/chains.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/record.h"
#include "base/system.h"

/* --- creation -------------------------------------------------------------------------------- */

void idm_chains_destroy(idm_chains *chains)
{
  if (!chains) return;
  free(chains->done);
  free(chains->draw);
  free(chains->statistics);
  free(chains->state);
  free(chains->random);
  free(chains->centre);
  free(chains->covariance);
  free(chains);
}

idm_status idm_chains_create(const idm_chains_settings *settings, size_t dimension,
                             idm_chains **ret_chains, idm_error *opt_error)
{
  idm_require(settings, ret_chains);
  *ret_chains = NULL;
  if (!settings->sampler || !settings->chains || settings->draws < 1 ||
      settings->kernel.warmup < 0 || !dimension)
    return idm_fail(opt_error, IDM_USAGE,
                    "chains need a sampler, and at least one chain, one draw and one free number");
  idm_chains *c = idm_new(1, sizeof *c);
  if (!c) return idm_fail_memory(opt_error);
  const size_t n = settings->chains;
  const size_t draws = idm_times(n, (size_t)settings->draws);
  c->settings = *settings;
  c->dimension = dimension;
  c->numbers = settings->sampler->numbers(dimension);
  c->done = idm_new(n, sizeof *c->done);
  c->draw = idm_new(idm_times(draws, dimension), sizeof *c->draw);
  c->statistics = idm_new(draws, sizeof *c->statistics);
  c->state = idm_new(idm_times(n, c->numbers), sizeof *c->state);
  c->random = idm_new(n, sizeof *c->random);
  c->centre = idm_new(idm_times(n, dimension), sizeof *c->centre);
  c->covariance = idm_new(idm_times(idm_times(n, dimension), dimension), sizeof *c->covariance);
  if (!c->done || !c->draw || !c->statistics || !c->state || !c->random || !c->centre ||
      !c->covariance) {
    idm_chains_destroy(c);
    return idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < n; i++) {
    idm_random_init(&c->random[i], settings->seed, i);
    c->centre[i * dimension] = NAN;
  }
  *ret_chains = c;
  return IDM_OK;
}

/* Kernel settings of one chain, with its own initial mean and covariance. */
static idm_sampler_settings chain_kernel(const idm_chains *c, size_t chain)
{
  idm_sampler_settings kernel = c->settings.kernel;
  const double *centre = c->centre + chain * c->dimension;
  const bool guessed = !isnan(centre[0]);
  kernel.centre = guessed ? centre : NULL;
  kernel.covariance = guessed ? c->covariance + chain * c->dimension * c->dimension : NULL;
  return kernel;
}

idm_status idm_chains_start(idm_chains *c, size_t chain, const idm_target *target, const double *x,
                            const double *opt_centre, const double *opt_covariance,
                            idm_error *opt_error)
{
  idm_require(c, target, x);
  if (chain >= c->settings.chains || target->dimension != c->dimension)
    return idm_fail(opt_error, IDM_USAGE, "there is no chain %zu in %zu dimensions", chain,
                    target->dimension);
  const size_t d = c->dimension;
  if (opt_centre && opt_covariance) {
    memcpy(c->centre + chain * d, opt_centre, d * sizeof *opt_centre);
    memcpy(c->covariance + chain * d * d, opt_covariance, d * d * sizeof *opt_covariance);
  }
  const idm_sampler_settings kernel = chain_kernel(c, chain);
  c->done[chain] = 0;
  return c->settings.sampler->start(c->state + chain * c->numbers, &kernel, target, x,
                                    &c->random[chain], opt_error);
}

/* --- running -------------------------------------------------------------------------------- */

typedef struct parallel_run {
  idm_chains *chains;
  const idm_target *target;
  idm_monitor monitor;
  void *context;
  atomic_bool stop;
  pthread_mutex_t monitor_mutex; /* held by the monitor, so that no chain starts a draw */
  pthread_mutex_t *draw_mutex;   /* [chain]: held during a draw */
  double *saved_state;           /* [chain][numbers]: state before the current draw */
  idm_status *status;            /* [chain] */
  idm_error *error;              /* [chain] */
} parallel_run;

static idm_status step_chain(idm_chains *c, size_t chain, const idm_target *target,
                             const idm_sampler_settings *kernel, idm_error *error)
{
  const long iteration = c->done[chain];
  const long warmup = kernel->warmup;
  /* Warm-up draws are stored in slot 0, which the first retained draw overwrites. */
  const size_t draw_index = (size_t)(iteration < warmup ? 0 : iteration - warmup);
  const size_t at = chain * (size_t)c->settings.draws + draw_index;
  const idm_status status = c->settings.sampler->step(
      c->state + chain * c->numbers, kernel, target, iteration, &c->random[chain],
      c->draw + at * c->dimension, &c->statistics[at], error);
  if (status == IDM_OK) c->done[chain]++;
  return status;
}

/* Perform one draw. If it is interrupted, the state and the random stream of the chain are
 * restored. */
static idm_status step_or_restore(parallel_run *r, size_t chain, const idm_sampler_settings *kernel)
{
  idm_chains *c = r->chains;
  double *state = c->state + chain * c->numbers;
  double *saved_state = r->saved_state + chain * c->numbers;
  const idm_random random = c->random[chain];
  memcpy(saved_state, state, c->numbers * sizeof *state);
  const idm_status status = step_chain(c, chain, &r->target[chain], kernel, &r->error[chain]);
  if (status != IDM_UNTRUSTED || !c->settings.interrupt) return status;
  memcpy(state, saved_state, c->numbers * sizeof *state);
  c->random[chain] = random;
  atomic_store(&r->stop, true);
  return IDM_OK;
}

static void run_chain(void *content, size_t chain)
{
  parallel_run *r = content;
  idm_chains *c = r->chains;
  const idm_sampler_settings kernel = chain_kernel(c, chain);
  const long end = kernel.warmup + c->settings.draws;
  while (!atomic_load(&r->stop)) {
    pthread_mutex_lock(&r->monitor_mutex);
    pthread_mutex_lock(&r->draw_mutex[chain]);
    pthread_mutex_unlock(&r->monitor_mutex);
    const bool more = c->done[chain] < end;
    if (more) r->status[chain] = step_or_restore(r, chain, &kernel);
    pthread_mutex_unlock(&r->draw_mutex[chain]);
    if (!more) break;
    if (r->status[chain] != IDM_OK) atomic_store(&r->stop, true);
  }
}

/* Wait for the end of a chain's draw. While it takes long, call the interrupt callback. */
static void lock_chain(const parallel_run *r, size_t chain)
{
  const idm_chains_settings *settings = &r->chains->settings;
  bool locked = false;
  while (settings->interrupt && !locked) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    locked = pthread_mutex_timedlock(&r->draw_mutex[chain], &until) == 0;
    if (!locked && settings->interrupt(settings->interrupt_context)) break;
  }
  if (!locked) pthread_mutex_lock(&r->draw_mutex[chain]);
}

static void call_monitor(void *content)
{
  parallel_run *r = content;
  pthread_mutex_lock(&r->monitor_mutex);
  for (size_t i = 0; i < r->chains->settings.chains; i++) lock_chain(r, i);
  if (r->monitor(r->context, r->chains)) atomic_store(&r->stop, true);
  for (size_t i = 0; i < r->chains->settings.chains; i++) pthread_mutex_unlock(&r->draw_mutex[i]);
  pthread_mutex_unlock(&r->monitor_mutex);
}

idm_status idm_chains_run(idm_chains *chains, const idm_target *target, idm_monitor opt_monitor,
                          void *context, idm_error *opt_error)
{
  idm_require(chains, target);
  const size_t n = chains->settings.chains;
  parallel_run r = {.chains = chains, .target = target, .monitor = opt_monitor, .context = context};
  r.draw_mutex = idm_new(n, sizeof *r.draw_mutex);
  r.saved_state = idm_new(idm_times(n, chains->numbers), sizeof *r.saved_state);
  r.status = idm_new(n, sizeof *r.status);
  r.error = idm_new(n, sizeof *r.error);
  idm_status status =
      r.draw_mutex && r.saved_state && r.status && r.error ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    pthread_mutex_init(&r.monitor_mutex, NULL);
    for (size_t i = 0; i < n; i++) pthread_mutex_init(&r.draw_mutex[i], NULL);
    status = idm_parallel(n, chains->settings.threads, run_chain, opt_monitor ? call_monitor : NULL,
                          &r, opt_error);
    for (size_t i = 0; i < n && status == IDM_OK; i++) {
      status = r.status[i];
      if (status != IDM_OK && opt_error) *opt_error = r.error[i];
    }
    if (status == IDM_OK && opt_monitor) opt_monitor(context, chains);
    for (size_t i = 0; i < n; i++) pthread_mutex_destroy(&r.draw_mutex[i]);
    pthread_mutex_destroy(&r.monitor_mutex);
  }
  free(r.draw_mutex);
  free(r.saved_state);
  free(r.status);
  free(r.error);
  return status;
}

static long draws_of(const idm_chains *c, size_t chain)
{
  const long draws = c->done[chain] - c->settings.kernel.warmup;
  return draws > 0 ? draws : 0;
}

long idm_chains_min_draws(const idm_chains *chains)
{
  if (!chains) return 0;
  long fewest = chains->settings.draws;
  for (size_t i = 0; i < chains->settings.chains; i++)
    fewest = draws_of(chains, i) < fewest ? draws_of(chains, i) : fewest;
  return fewest;
}

/* --- checkpoints ---------------------------------------------------------------------------- */

static const char kind[] = "idmchn3";

/* Serialise or restore the draws so far and everything that future draws depend on. False if the
 * shape does not match. */
static bool transfer_chains(idm_chains *c, idm_record *r)
{
  const uint64_t shape[] = {
      c->settings.seed, c->settings.chains,          c->dimension,
      c->numbers,       (uint64_t)c->settings.draws, (uint64_t)c->settings.kernel.warmup};
  const long max_iterations = c->settings.kernel.warmup + c->settings.draws;
  bool same_shape = true;
  for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
    same_shape = idm_record_match(r, shape[i]) && same_shape;
  /* Chains that are repeated have more kernel steps per draw than at their creation. */
  idm_record_transfer(r, &c->settings.kernel.thin, sizeof c->settings.kernel.thin);
  r->truncated = r->truncated || c->settings.kernel.thin < 0;
  for (size_t i = 0; i < c->settings.chains && same_shape && !r->truncated; i++) {
    long done = c->done[i];
    idm_record_transfer(r, &done, sizeof done);
    r->truncated = r->truncated || done < 0 || done > max_iterations;
    if (r->truncated) break;
    c->done[i] = done;
    const size_t draws = (size_t)draws_of(c, i);
    const size_t first = i * (size_t)c->settings.draws;
    idm_record_transfer(r, &c->random[i], sizeof *c->random);
    idm_record_transfer(r, c->state + i * c->numbers, c->numbers * sizeof *c->state);
    idm_record_transfer(r, c->draw + first * c->dimension, draws * c->dimension * sizeof *c->draw);
    idm_statistics_transfer(c->statistics + first, draws, r);
  }
  return same_shape;
}

idm_status idm_chains_save(const idm_chains *c, uint64_t label, char **ret_bytes,
                           size_t *ret_length, idm_error *opt_error)
{
  idm_require(c, ret_bytes, ret_length);
  idm_chains view = *c; /* writing does not modify the copy's arrays */
  idm_record r;
  idm_record_begin(&r, kind, label);
  transfer_chains(&view, &r);
  return idm_record_finish(&r, ret_bytes, ret_length, opt_error);
}

idm_status idm_chains_load(idm_chains *c, uint64_t label, const char *bytes, size_t length,
                           idm_error *opt_error)
{
  idm_require(c, bytes);
  idm_record r;
  const idm_status status = idm_record_open(&r, kind, label, bytes, length, opt_error);
  return status == IDM_OK ? idm_record_close(&r, transfer_chains(c, &r), opt_error) : status;
}
