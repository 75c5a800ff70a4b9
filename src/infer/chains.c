/* Several chains side by side: each its own stream, target and state, so that no draw depends on
 * the schedule.
 *
 * Contents: making · running · checkpoints */
#include "idm/chains.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/door.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/record.h"
#include "infer/sampler.h"

/* --- making --------------------------------------------------------------------------------- */

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

/* The kernel's settings for one chain, with its own first guess. */
static idm_sampler_settings kernel_of(const idm_chains *c, size_t chain)
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
  const idm_sampler_settings kernel = kernel_of(c, chain);
  c->done[chain] = 0;
  return c->settings.sampler->start(c->state + chain * c->numbers, &kernel, target, x,
                                    &c->random[chain], opt_error);
}

/* --- running -------------------------------------------------------------------------------- */

typedef struct run {
  idm_chains *chains;
  const idm_target *target;
  idm_monitor monitor;
  void *context;
  atomic_bool stop;
  pthread_mutex_t gate;    /* held by the monitor, so that no chain begins a draw */
  pthread_mutex_t *moving; /* [chain]: held during a draw */
  double *before;          /* [chain][numbers]: the state that the draw under way began with */
  idm_status *status;      /* [chain] */
  idm_error *error;        /* [chain] */
} run;

static idm_status advance(idm_chains *c, size_t chain, const idm_target *target,
                          const idm_sampler_settings *kernel, idm_error *error)
{
  const long iteration = c->done[chain];
  const long warmup = kernel->warmup;
  /* Draws of the warm-up are written over by the first one that counts. */
  const size_t slot = (size_t)(iteration < warmup ? 0 : iteration - warmup);
  const size_t at = chain * (size_t)c->settings.draws + slot;
  const idm_status status = c->settings.sampler->step(
      c->state + chain * c->numbers, kernel, target, iteration, &c->random[chain],
      c->draw + at * c->dimension, &c->statistics[at], error);
  if (status == IDM_OK) c->done[chain]++;
  return status;
}

/* A draw, or where it was interrupted none: the chain is as if it had not begun. */
static idm_status move(run *r, size_t chain, const idm_sampler_settings *kernel)
{
  idm_chains *c = r->chains;
  double *state = c->state + chain * c->numbers;
  double *before = r->before + chain * c->numbers;
  const idm_random random = c->random[chain];
  memcpy(before, state, c->numbers * sizeof *state);
  const idm_status status = advance(c, chain, &r->target[chain], kernel, &r->error[chain]);
  if (status != IDM_UNTRUSTED || !c->settings.interrupt) return status;
  memcpy(state, before, c->numbers * sizeof *state);
  c->random[chain] = random;
  atomic_store(&r->stop, true);
  return IDM_OK;
}

static void run_chain(void *content, size_t chain)
{
  run *r = content;
  idm_chains *c = r->chains;
  const idm_sampler_settings kernel = kernel_of(c, chain);
  const long end = kernel.warmup + c->settings.draws;
  while (!atomic_load(&r->stop)) {
    pthread_mutex_lock(&r->gate);
    pthread_mutex_lock(&r->moving[chain]);
    pthread_mutex_unlock(&r->gate);
    const bool more = c->done[chain] < end;
    if (more) r->status[chain] = move(r, chain, &kernel);
    pthread_mutex_unlock(&r->moving[chain]);
    if (!more) break;
    if (r->status[chain] != IDM_OK) atomic_store(&r->stop, true);
  }
}

/* Wait for the end of a chain's draw; while it takes long, ask whether to give it up. */
static void await(const run *r, size_t chain)
{
  const idm_chains_settings *settings = &r->chains->settings;
  bool held = false;
  while (settings->interrupt && !held) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    held = pthread_mutex_timedlock(&r->moving[chain], &until) == 0;
    if (!held && settings->interrupt(settings->interrupt_context)) break;
  }
  if (!held) pthread_mutex_lock(&r->moving[chain]);
}

static void watch(void *content)
{
  run *r = content;
  pthread_mutex_lock(&r->gate);
  for (size_t i = 0; i < r->chains->settings.chains; i++) await(r, i);
  if (r->monitor(r->context, r->chains)) atomic_store(&r->stop, true);
  for (size_t i = 0; i < r->chains->settings.chains; i++) pthread_mutex_unlock(&r->moving[i]);
  pthread_mutex_unlock(&r->gate);
}

idm_status idm_chains_run(idm_chains *chains, const idm_target *target, idm_monitor opt_monitor,
                          void *context, idm_error *opt_error)
{
  idm_require(chains, target);
  const size_t n = chains->settings.chains;
  run r = {.chains = chains, .target = target, .monitor = opt_monitor, .context = context};
  r.moving = idm_new(n, sizeof *r.moving);
  r.before = idm_new(idm_times(n, chains->numbers), sizeof *r.before);
  r.status = idm_new(n, sizeof *r.status);
  r.error = idm_new(n, sizeof *r.error);
  idm_status status =
      r.moving && r.before && r.status && r.error ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    pthread_mutex_init(&r.gate, NULL);
    for (size_t i = 0; i < n; i++) pthread_mutex_init(&r.moving[i], NULL);
    status = idm_parallel(n, chains->settings.threads, run_chain, opt_monitor ? watch : NULL, &r,
                          opt_error);
    for (size_t i = 0; i < n && status == IDM_OK; i++) {
      status = r.status[i];
      if (status != IDM_OK && opt_error) *opt_error = r.error[i];
    }
    if (status == IDM_OK && opt_monitor) opt_monitor(context, chains);
    for (size_t i = 0; i < n; i++) pthread_mutex_destroy(&r.moving[i]);
    pthread_mutex_destroy(&r.gate);
  }
  free(r.moving);
  free(r.before);
  free(r.status);
  free(r.error);
  return status;
}

static long draws_of(const idm_chains *c, size_t chain)
{
  const long draws = c->done[chain] - c->settings.kernel.warmup;
  return draws > 0 ? draws : 0;
}

long idm_chains_common(const idm_chains *chains)
{
  if (!chains) return 0;
  long least = chains->settings.draws;
  for (size_t i = 0; i < chains->settings.chains; i++)
    least = draws_of(chains, i) < least ? draws_of(chains, i) : least;
  return least;
}

/* --- checkpoints ---------------------------------------------------------------------------- */

static const char kind[] = "idmchn3";

/* All that the draws to come depend on, and the draws so far. False where it does not fit. */
static bool pass_chains(idm_chains *c, idm_record *r)
{
  const uint64_t shape[] = {
      c->settings.seed, c->settings.chains,          c->dimension,
      c->numbers,       (uint64_t)c->settings.draws, (uint64_t)c->settings.kernel.warmup};
  const long most = c->settings.kernel.warmup + c->settings.draws;
  bool fits = true;
  for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
    fits = idm_record_same(r, shape[i]) && fits;
  /* Chains that are run again have more steps a draw than they were made with. */
  idm_record_pass(r, &c->settings.kernel.thin, sizeof c->settings.kernel.thin);
  r->cut = r->cut || c->settings.kernel.thin < 0;
  for (size_t i = 0; i < c->settings.chains && fits && !r->cut; i++) {
    long done = c->done[i];
    idm_record_pass(r, &done, sizeof done);
    r->cut = r->cut || done < 0 || done > most;
    if (r->cut) break;
    c->done[i] = done;
    const size_t draws = (size_t)draws_of(c, i);
    const size_t first = i * (size_t)c->settings.draws;
    idm_record_pass(r, &c->random[i], sizeof *c->random);
    idm_record_pass(r, c->state + i * c->numbers, c->numbers * sizeof *c->state);
    idm_record_pass(r, c->draw + first * c->dimension, draws * c->dimension * sizeof *c->draw);
    idm_statistics_pass(c->statistics + first, draws, r);
  }
  return fits;
}

idm_status idm_chains_save(const idm_chains *c, uint64_t label, char **ret_bytes,
                           size_t *ret_length, idm_error *opt_error)
{
  idm_require(c, ret_bytes, ret_length);
  idm_chains all = *c; /* what is passed is only read */
  idm_record r;
  idm_record_begin(&r, kind, label);
  pass_chains(&all, &r);
  return idm_record_seal(&r, ret_bytes, ret_length, opt_error);
}

idm_status idm_chains_load(idm_chains *c, uint64_t label, const char *bytes, size_t length,
                           idm_error *opt_error)
{
  idm_require(c, bytes);
  idm_record r;
  const idm_status status = idm_record_open(&r, kind, label, bytes, length, opt_error);
  return status == IDM_OK ? idm_record_close(&r, pass_chains(c, &r), opt_error) : status;
}
