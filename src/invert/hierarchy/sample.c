/* Samples a hierarchical model by parallel chains over people and population
 * (docs/method/people.md, 3).
 *
 * Proposals use tables of log-likelihoods; acceptance uses the exact likelihood if required. The
 * population moves both with people's numbers fixed and with their standardised residuals fixed, so
 * that chains mix with little and with much data.
 *
 * All chains run the same part of a sweep at the same time, in small tasks, so that any number of
 * threads is used. Each chain and each person has its own random stream, and all evaluators are
 * equivalent, so that draws do not depend on the schedule.
 *
 * Contents: draws · tasks · checkpoints · progress · warm-up · sampling */
#include "invert/hierarchy/hierarchy.h"

#include <math.h>
#include <pthread.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/text.h"
#include "infer/chains.h"
#include "invert/checks.h"

/* --- draws ---------------------------------------------------------------------------------- */

void idm_people_destroy(idm_people *people)
{
  if (!people) return;
  void *const arrays[] = {people->coefficient_first,
                          people->effect,
                          people->coefficient,
                          people->sd,
                          people->spread,
                          people->correlation,
                          people->log_posterior,
                          people->log_likelihood,
                          people->information};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
  free(people);
}

static idm_status create_draws(const idm_design *d, const idm_fit_settings *settings,
                               idm_people **ret_people, idm_error *opt_error)
{
  const size_t q = d->effects;
  const size_t series = idm_times(settings->chains, (size_t)settings->draws);
  idm_people *p = idm_new(1, sizeof *p);
  *ret_people = p;
  if (!p) return idm_fail_memory(opt_error);
  *p = (idm_people){.chains = settings->chains,
                    .draws = (size_t)settings->draws,
                    .people = d->people,
                    .effects = q};
  p->coefficient_first = idm_new(q + 1, sizeof *p->coefficient_first);
  if (!p->coefficient_first) return idm_fail_memory(opt_error);
  for (size_t j = 0; j < q; j++)
    p->coefficient_first[j + 1] = p->coefficient_first[j] + d->coefficients[j];
  p->effect = idm_new(idm_times(series, idm_times(q, d->people)), sizeof *p->effect);
  p->coefficient = idm_new(idm_times(series, p->coefficient_first[q]), sizeof *p->coefficient);
  p->sd = idm_new(idm_times(series, q), sizeof *p->sd);
  p->spread = d->pooled ? idm_new(idm_times(series, q), sizeof *p->spread) : NULL;
  p->correlation = idm_new(idm_times(series, q * (q - 1) / 2), sizeof *p->correlation);
  p->log_posterior = idm_new(series, sizeof *p->log_posterior);
  p->log_likelihood = idm_new(idm_times(series, d->people), sizeof *p->log_likelihood);
  p->information = idm_new(idm_times(d->people, q * q), sizeof *p->information);
  return p->effect && p->coefficient && p->sd && (p->spread || !d->pooled) && p->correlation &&
                 p->log_posterior && p->log_likelihood && p->information
             ? IDM_OK
             : idm_fail_memory(opt_error);
}

/* Store the current state of a chain as one draw. */
static void store_draw(idm_people *p, size_t chain, size_t draw, const hierarchy_chain *c)
{
  const size_t series = p->chains * p->draws;
  const size_t at = chain * p->draws + draw;
  const population *current = &c->current.population;
  double correlation[IDM_MAX_EFFECTS * (IDM_MAX_EFFECTS - 1) / 2 + 1];
  idm_population_correlations(current, correlation);
  for (size_t i = 0; i < p->people; i++) {
    p->log_likelihood[i * series + at] =
        (c->uses_exact ? c->current.exact : c->current.surrogate)[i];
    for (size_t j = 0; j < p->effects; j++)
      p->effect[(j * p->people + i) * series + at] = c->current.e[i * p->effects + j];
  }
  for (size_t a = 0; a < current->coefficients; a++)
    p->coefficient[a * series + at] = current->b[a];
  for (size_t j = 0; j < p->effects; j++) p->sd[j * series + at] = fabs(current->root[j]);
  for (size_t j = 0; j < current->spreads; j++)
    p->spread[j * series + at] = fabs(current->spread[j]);
  for (size_t k = 0; k < current->pairs; k++) p->correlation[k * series + at] = correlation[k];
  p->log_posterior[at] = idm_chain_log_posterior(c);
}

/* Draws of one kind of quantity, [count][draws]. */
typedef struct people_series {
  double *at;
  size_t count;
} people_series;

enum { series_kinds = 7, population_kinds = 4 };

/* List the draws, with those of the population first. */
static void list_series(const idm_people *p, people_series series[series_kinds])
{
  const size_t n = p->chains, q = p->effects;
  const people_series all[series_kinds] = {{p->coefficient, n * p->coefficient_first[q]},
                                           {p->sd, n * q},
                                           {p->spread, p->spread ? n * q : 0},
                                           {p->correlation, n * (q * (q - 1) / 2)},
                                           {p->effect, n * q * p->people},
                                           {p->log_posterior, n},
                                           {p->log_likelihood, n * p->people}};
  memcpy(series, all, sizeof all);
}

/* Keep the first draw_count draws of each chain. */
static void truncate_draws(idm_people *p, size_t draw_count)
{
  people_series series[series_kinds];
  list_series(p, series);
  for (size_t i = 0; i < series_kinds; i++)
    for (size_t k = 1; k < series[i].count; k++)
      memmove(series[i].at + k * draw_count, series[i].at + k * p->draws,
              draw_count * sizeof(double));
  p->draws = draw_count;
}

/* Keep every second draw of each chain, in the first half of the array. */
static void thin_draws(const idm_people *p)
{
  people_series series[series_kinds];
  list_series(p, series);
  for (size_t i = 0; i < series_kinds; i++)
    for (size_t k = 0; k < series[i].count; k++) {
      double *x = series[i].at + k * p->draws;
      for (size_t t = 0; t < p->draws / 2; t++) x[t] = x[2 * t + 1];
    }
}

/* Whether all population parameters have enough effective draws and a small R-hat. */
static bool have_converged(const idm_people *p)
{
  people_series series[series_kinds];
  list_series(p, series);
  for (size_t i = 0; i < population_kinds; i++)
    for (size_t k = 0; k < series[i].count; k += p->chains) {
      idm_diagnosis d = {0};
      const double *x = series[i].at + k * p->draws;
      if (idm_diagnose(x, p->chains, p->draws, p->draws, 1, &d, NULL) != IDM_OK) continue;
      const double ess = fmin(d.ess_bulk, d.ess_tail);
      if (d.rhat > idm_check_threshold(IDM_CHECK_RHAT) ||
          ess < idm_check_threshold(IDM_CHECK_EFFECTIVE))
        return false;
    }
  return true;
}

/* --- tasks ---------------------------------------------------------------------------------- */

/* People per task. */
enum { people_per_task = 8 };

typedef idm_status (*sweep_part)(hierarchy_chain *chain, const leaf_worker *worker, size_t from,
                                 size_t to, idm_error *opt_error);

typedef struct sampling {
  const hierarchy_request *request;
  hierarchy model;
  size_t chains;
  hierarchy_chain *chain;
  int threads;
  sweep_part part;       /* function that tasks run */
  pthread_mutex_t mutex; /* protects status and error */
  idm_status status;
  idm_error error;
  const idm_fit_monitor *watch; /* NULL: not monitored */
  idm_people *people;           /* draws so far */
  double low[IDM_MAX_EFFECTS];  /* [coordinate]: box of the table */
  double high[IDM_MAX_EFFECTS];
  bool prior_box; /* the box covers the prior */
  long warmup;
  long thin;               /* sweeps per draw */
  long steps;              /* completed sweeps of the warm-up, plus completed draws */
  long batch_steps;        /* steps that chains take independently before they synchronise */
  double seconds_per_step; /* 0: unknown */
  double done;             /* completed fraction of the work */
  double last_report;      /* time of the last progress report */
  bool at_sweep_end;       /* between two sweeps, where a checkpoint is possible */
  bool stopped;
} sampling;

static size_t tasks_per_chain(const sampling *f)
{
  return (f->model.design->people + people_per_task - 1) / people_per_task;
}

static void fail_task(sampling *f, idm_status status, const idm_error *error)
{
  pthread_mutex_lock(&f->mutex);
  f->status = status;
  f->error = *error;
  pthread_mutex_unlock(&f->mutex);
}

static void run_task(void *content, size_t task)
{
  sampling *f = content;
  const size_t people = f->model.design->people;
  const size_t portions = tasks_per_chain(f);
  const size_t from = task % portions * people_per_task;
  const size_t to = from + people_per_task < people ? from + people_per_task : people;
  idm_error error = {0};
  const leaf_source *leaves = &f->model.leaves;
  const leaf_worker worker = {task / portions,
                              leaves->acquire ? leaves->acquire(leaves->context) : NULL};
  const idm_status status = f->part(&f->chain[worker.chain], &worker, from, to, &error);
  if (leaves->acquire) leaves->release(leaves->context, worker.evaluator);
  if (status != IDM_OK) fail_task(f, status, &error);
}

static void propose(void *content, size_t chain)
{
  idm_chain_propose(&((sampling *)content)->chain[chain]);
}

/* Run tasks, wait for them, and return the error of one that failed. */
static idm_status run_tasks(sampling *f, size_t count, void (*task)(void *, size_t),
                            idm_error *opt_error)
{
  const idm_status status = idm_parallel(count, f->threads, task, NULL, f, opt_error);
  if (status != IDM_OK) return status;
  if (f->status != IDM_OK && opt_error) *opt_error = f->error;
  return f->status;
}

/* Run one part of the sweep for all people in all chains. */
static idm_status run_part(sampling *f, sweep_part part, idm_error *opt_error)
{
  f->part = part;
  return run_tasks(f, f->chains * tasks_per_chain(f), run_task, opt_error);
}

/* Population updates per sweep. Without tables, each is a single step, so there are several. */
static int updates_per_sweep(const sampling *f)
{
  return f->model.design->held ? 0 : f->model.has_tables || f->model.leaves.leaf_gradient ? 1 : 3;
}

static void hmc_update_chain(void *content, size_t chain)
{
  sampling *f = content;
  idm_error error = {0};
  const leaf_source *leaves = &f->model.leaves;
  const leaf_worker worker = {chain, leaves->acquire ? leaves->acquire(leaves->context) : NULL};
  const idm_status status = idm_hmc_update(&f->chain[chain], &worker, &error);
  if (leaves->acquire) leaves->release(leaves->context, worker.evaluator);
  if (status != IDM_OK) fail_task(f, status, &error);
}

/* Sweep all chains, one part at a time. */
static idm_status sweep_all_chains(sampling *f, idm_error *opt_error)
{
  idm_status status =
      f->model.design->fixed ? IDM_OK : run_part(f, idm_chain_update_people, opt_error);
  for (int i = 0; i < updates_per_sweep(f) && status == IDM_OK; i++) {
    status = idm_parallel(f->chains, f->threads, propose, NULL, f, opt_error);
    if (status == IDM_OK && f->chain[0].uses_exact)
      status = run_part(f, idm_chain_evaluate_exact, opt_error);
    for (size_t k = 0; k < f->chains && status == IDM_OK; k++)
      idm_chain_accept_reject(&f->chain[k]);
  }
  if (f->chain[0].hmc && !f->model.has_tables && status == IDM_OK)
    status = run_tasks(f, f->chains, hmc_update_chain, opt_error);
  for (size_t k = 0; k < f->chains && status == IDM_OK; k++) idm_chain_accumulate(&f->chain[k]);
  return status;
}

/* Sweep one chain, one part at a time. */
static idm_status sweep_parts(const sampling *f, hierarchy_chain *c, const leaf_worker *worker,
                              idm_error *opt_error)
{
  const idm_design *d = f->model.design;
  idm_status status =
      d->fixed ? IDM_OK : idm_chain_update_people(c, worker, 0, d->people, opt_error);
  for (int i = 0; i < updates_per_sweep(f) && status == IDM_OK; i++) {
    idm_chain_propose(c);
    status = idm_chain_evaluate_exact(c, worker, 0, d->people, opt_error);
    if (status == IDM_OK) idm_chain_accept_reject(c);
  }
  if (c->hmc && !f->model.has_tables && status == IDM_OK)
    status = idm_hmc_update(c, worker, opt_error);
  return status;
}

/* Sweep one chain. A few people are updated as one proposal; at most as many as one task has, so
 * that the choice does not depend on the number of threads. */
static idm_status sweep_chain(const sampling *f, hierarchy_chain *c, const leaf_worker *worker,
                              idm_error *opt_error)
{
  const idm_design *d = f->model.design;
  const bool few = d->people <= people_per_task && !d->fixed && !d->held && c->uses_exact;
  const idm_status status = few && idm_chain_uses_table(c, &c->random)
                                ? idm_chain_delayed_sweep(c, worker, opt_error)
                                : sweep_parts(f, c, worker, opt_error);
  if (status == IDM_OK) idm_chain_accumulate(c);
  return status;
}

/* Run the current batch of steps of one chain: a step is one sweep in the warm-up, then one draw.
 */
static void run_chain(void *content, size_t chain)
{
  sampling *f = content;
  idm_error error = {0};
  const leaf_source *leaves = &f->model.leaves;
  const leaf_worker worker = {chain, leaves->acquire ? leaves->acquire(leaves->context) : NULL};
  idm_status status = IDM_OK;
  for (long t = f->steps; t < f->steps + f->batch_steps && status == IDM_OK; t++) {
    const long sweeps = t < f->warmup ? 1 : f->thin;
    for (long i = 0; i < sweeps && status == IDM_OK; i++)
      status = sweep_chain(f, &f->chain[chain], &worker, &error);
    if (t >= f->warmup && status == IDM_OK)
      store_draw(f->people, chain, (size_t)(t - f->warmup), &f->chain[chain]);
  }
  if (leaves->acquire) leaves->release(leaves->context, worker.evaluator);
  if (status != IDM_OK) fail_task(f, status, &error);
}

/* Advance all chains: independently, if there are no more threads than chains or few people;
 * otherwise in lockstep, which uses more threads. */
static idm_status advance(sampling *f, long limit, idm_error *opt_error)
{
  static const double report_interval = 0.1; /* seconds between progress reports */
  const bool independent_chains = (size_t)f->threads <= f->chains || tasks_per_chain(f) == 1;
  const double start_time = idm_seconds();
  idm_status status = IDM_OK;
  f->batch_steps = !independent_chains || !(f->seconds_per_step > 0)
                       ? 1
                       : (long)fmin(fmax(report_interval / f->seconds_per_step, 1), (double)limit);
  if (independent_chains) {
    status = run_tasks(f, f->chains, run_chain, opt_error);
  } else {
    const long sweeps = f->steps < f->warmup ? 1 : f->thin;
    for (long i = 0; i < sweeps && status == IDM_OK; i++) status = sweep_all_chains(f, opt_error);
    for (size_t k = 0; k < f->chains && f->steps >= f->warmup && status == IDM_OK; k++)
      store_draw(f->people, k, (size_t)(f->steps - f->warmup), &f->chain[k]);
  }
  f->seconds_per_step = (idm_seconds() - start_time) / (double)f->batch_steps;
  if (status == IDM_OK) f->steps += f->batch_steps;
  return status;
}

/* --- checkpoints ---------------------------------------------------------------------------- */

static const char kind[] = "idmppl4";

/* Write or read the first `draws` of every series. */
static void transfer_draws(const idm_people *p, size_t draws, idm_record *r)
{
  people_series series[series_kinds];
  list_series(p, series);
  for (size_t i = 0; i < series_kinds; i++)
    for (size_t k = 0; k < series[i].count; k++)
      idm_record_transfer(r, series[i].at + k * p->draws, draws * sizeof(double));
}

/* Write or read the counts of sweeps and draws and the box of the table. Returns whether they match
 * the request. */
static bool transfer_progress(sampling *f, idm_record *r)
{
  const idm_design *d = f->model.design;
  const uint64_t shape[] = {f->chains, f->people->draws, (uint64_t)f->warmup, d->people,
                            d->effects};
  bool same_shape = true;
  for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++)
    same_shape = idm_record_match(r, shape[i]) && same_shape;
  idm_record_transfer(r, &f->steps, sizeof f->steps);
  idm_record_transfer(r, &f->thin, sizeof f->thin);
  idm_record_transfer(r, f->low, d->coordinates * sizeof *f->low);
  idm_record_transfer(r, f->high, d->coordinates * sizeof *f->high);
  idm_record_transfer_flag(r, &f->prior_box);
  return same_shape && f->thin > 0 && f->steps >= 0 &&
         f->steps <= f->warmup + (long)f->people->draws;
}

/* Write or read chains and draws; the data shared by all chains must be restored first. */
static void transfer_chains(sampling *f, idm_record *r)
{
  for (size_t k = 0; k < f->chains; k++) idm_chain_transfer(&f->chain[k], r);
  if (f->steps > f->warmup) transfer_draws(f->people, (size_t)(f->steps - f->warmup), r);
}

static idm_status save(const void *content, char **ret_bytes, size_t *ret_length,
                       idm_error *opt_error)
{
  sampling f = *(const sampling *)content; /* the copy is only read */
  idm_record r;
  idm_record_begin(&r, kind, f.watch->label);
  transfer_progress(&f, &r);
  transfer_chains(&f, &r);
  return idm_record_finish(&r, ret_bytes, ret_length, opt_error);
}

/* --- progress -------------------------------------------------------------------------------- */

static void describe(const void *content, char *buffer, size_t size)
{
  const sampling *f = content;
  double proposed = 0, kept = 0;
  for (size_t k = 0; f->chain && k < f->chains; k++) {
    proposed += (double)f->chain[k].proposed;
    kept += (double)f->chain[k].kept;
  }
  if (proposed > 0)
    idm_print(buffer, size, "acceptance %.2f", kept / proposed);
  else
    idm_print(buffer, size, "warming up");
}

/* Whether to stop; calls the watch at most ten times per second. */
static bool poll_watch(void *content)
{
  sampling *f = content;
  const double current = idm_seconds();
  if (f->stopped || !f->watch || !f->watch->progress || current < f->last_report + 0.1)
    return f->stopped;
  f->last_report = current;
  const idm_progress_state work = {
      .done = f->done, .content = f, .describe = describe, .save = f->at_sweep_end ? save : NULL};
  f->stopped = f->watch->progress(f->watch->context, &work);
  return f->stopped;
}

/* --- warm-up --------------------------------------------------------------------------------- */

/* Replace the tables by tables over a box. If stopped, the old tables stay. */
static idm_status tabulate(sampling *f, const double *low, const double *high, bool prior_box,
                           idm_error *opt_error)
{
  const leaf_source *leaves = &f->model.leaves;
  if (!leaves->tabulate) return IDM_OK;
  f->prior_box = prior_box;
  memmove(f->low, low, f->model.design->coordinates * sizeof *low);
  memmove(f->high, high, f->model.design->coordinates * sizeof *high);
  return leaves->tabulate(leaves->context, f->low, f->high, prior_box, f->watch ? poll_watch : NULL,
                          f, &f->model.has_tables, opt_error);
}

/* Rebuild the tables over the range of the people's numbers since the last approximation, with a
 * margin of 20 % on each side. */
static idm_status tabulate_visited(sampling *f, idm_error *opt_error)
{
  const size_t n = f->model.design->coordinates;
  double low[IDM_MAX_EFFECTS], high[IDM_MAX_EFFECTS];
  for (size_t k = 0; k < n; k++) {
    low[k] = f->chain[0].low[k];
    high[k] = f->chain[0].high[k];
    for (size_t c = 1; c < f->chains; c++) {
      low[k] = fmin(low[k], f->chain[c].low[k]);
      high[k] = fmax(high[k], f->chain[c].high[k]);
    }
    if (!(low[k] < high[k])) return IDM_OK;
    const double margin = 0.2 * (high[k] - low[k]);
    low[k] -= margin;
    high[k] += margin;
  }
  return tabulate(f, low, high, false, opt_error);
}

static idm_status approximate(sampling *f, idm_error *opt_error)
{
  const idm_status status = run_part(f, idm_chain_approximate, opt_error);
  for (size_t k = 0; k < f->chains && status == IDM_OK; k++) idm_chain_adapt_steps(&f->chain[k]);
  return status;
}

/* Fix the kernel and, if required, use exact likelihoods from here on. */
static idm_status freeze_kernel(sampling *f, idm_error *opt_error)
{
  for (size_t k = 0; k < f->chains; k++) {
    f->chain[k].uses_exact = f->request->exact || !f->model.has_tables;
    f->chain[k].adapting = false;
  }
  return run_part(f, idm_chain_evaluate, opt_error);
}

/* Fractions of the warm-up at which people are approximated again, at which the table is rebuilt
 * over a smaller box (twice, because the first table may be too coarse to locate it), and at which
 * the kernel is fixed. A 0 ends each list. */
static const double approximate_at[] = {0.03, 0.08, 0.15, 0.25, 0.35, 0.5, 0.7, 0};
static const double tabulate_at[] = {0.35, 0.5, 0};
static const double fixed[] = {0.95, 0};

/* Whether one of the fractions is reached in step t. */
static bool is_due(long t, long warmup, const double *share)
{
  /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): a 0 ends the shares */
  for (; *share > 0; share++)
    if (t == lround(*share * (double)warmup)) return true;
  return false;
}

/* Steps until the next such event, at most to the end of the warm-up. */
static long steps_until_due(const sampling *f)
{
  long t = f->steps + 1;
  while (t < f->warmup && !is_due(t, f->warmup, approximate_at) &&
         !is_due(t, f->warmup, tabulate_at) && !is_due(t, f->warmup, fixed))
    t++;
  return t - f->steps;
}

/* Report progress where a checkpoint is possible. Returns false to stop. */
static bool should_continue(sampling *f)
{
  f->at_sweep_end = true;
  const bool stop = poll_watch(f);
  f->at_sweep_end = false;
  return !stop;
}

static idm_status warm_up(sampling *f, double share, idm_error *opt_error)
{
  const long warmup = f->warmup;
  idm_status status = IDM_OK;
  while (f->steps < warmup && status == IDM_OK && should_continue(f)) {
    const long before = f->steps;
    status = advance(f, steps_until_due(f), opt_error);
    const long t = f->steps;
    f->done = share * (double)t / (double)warmup;
    if (status == IDM_OK && f->model.leaves.tabulate && is_due(t, warmup, tabulate_at)) {
      status = tabulate_visited(f, opt_error);
      if (status == IDM_OK) status = run_part(f, idm_chain_evaluate, opt_error);
    }
    if (f->stopped) { /* the table may be incomplete: leave these steps out of a checkpoint */
      f->steps = before;
      break;
    }
    if (status == IDM_OK && is_due(t, warmup, approximate_at)) status = approximate(f, opt_error);
    if (status == IDM_OK && is_due(t, warmup, fixed)) status = freeze_kernel(f, opt_error);
  }
  if (status == IDM_OK && f->steps == warmup && f->chain[0].adapting)
    status = freeze_kernel(f, opt_error);
  return status;
}

/* --- sampling ------------------------------------------------------------------------------- */

static void sampling_clear(sampling *f)
{
  for (size_t k = 0; f->chain && k < f->chains; k++) idm_chain_destroy(&f->chain[k]);
  free(f->chain);
  idm_hierarchy_destroy(&f->model);
  pthread_mutex_destroy(&f->mutex);
}

static idm_status sampling_init(sampling *f, idm_error *opt_error)
{
  const hierarchy_request *r = f->request;
  const size_t streams = r->design->people + 1;
  idm_status status = idm_hierarchy_create(
      r->design, r->leaves, !r->leaves->tabulate && r->leaves->table, &f->model, opt_error);
  if (status == IDM_OK) status = create_draws(r->design, r->settings, &f->people, opt_error);
  if (status != IDM_OK) return status;
  f->chain = idm_new(r->settings->chains, sizeof *f->chain);
  if (!f->chain) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < r->settings->chains && status == IDM_OK; k++, f->chains++)
    status = idm_chain_create(&f->model, r->key, r->stream + k * streams, &f->chain[k], opt_error);
  return status;
}

static void start_by_table(sampling *f)
{
  for (size_t k = 0; k < f->chains; k++) f->chain[k].uses_exact = !f->model.has_tables;
}

/* Move coefficients of fixed effects to their mode by Newton's method, and then add random errors.
 */
static idm_status newton_coefficients(sampling *f, idm_error *opt_error)
{
  enum { rounds = 5 };
  idm_status status = IDM_OK;
  for (int i = 0; i < rounds && status == IDM_OK; i++) {
    for (size_t k = 0; k < f->chains; k++)
      idm_chain_newton_step(&f->chain[k], i + 1 < rounds ? 0 : 2);
    status = run_part(f, idm_chain_approximate, opt_error);
  }
  return status;
}

/* Start all people from the prior. */
static idm_status start_from_prior(sampling *f, idm_error *opt_error)
{
  double low[IDM_MAX_EFFECTS], high[IDM_MAX_EFFECTS];
  idm_hierarchy_prior_box(&f->model, low, high);
  idm_status status = tabulate(f, low, high, true, opt_error);
  start_by_table(f);
  if (status != IDM_OK || f->stopped) return status;
  status = run_part(f, idm_chain_find_modes, opt_error);
  if (status == IDM_OK && f->model.design->fixed) status = newton_coefficients(f, opt_error);
  if (status == IDM_OK) status = run_part(f, idm_chain_disperse, opt_error);
  for (size_t k = 0; k < f->chains && status == IDM_OK; k++) idm_chain_adapt_steps(&f->chain[k]);
  return status == IDM_OK ? run_part(f, idm_chain_evaluate, opt_error) : status;
}

/* Restore the state of a checkpoint. */
static idm_status resume(sampling *f, idm_error *opt_error)
{
  const idm_fit_monitor *watch = f->watch;
  idm_record r;
  idm_status status = idm_record_resume(&r, kind, watch, opt_error);
  const bool same_request = status == IDM_OK && transfer_progress(f, &r);
  if (same_request && !r.truncated) status = tabulate(f, f->low, f->high, f->prior_box, opt_error);
  if (status == IDM_OK && same_request) transfer_chains(f, &r);
  if (status == IDM_OK) status = idm_record_close(&r, same_request, opt_error);
  return idm_record_name_file(watch, status, opt_error);
}

/* Cholesky factor of the posterior mean of Sigma; returns false if it does not exist. */
static bool mean_covariance(const idm_people *p, double *factor)
{
  const size_t q = p->effects, all = p->chains * p->draws;
  for (size_t j = 0; j < q; j++)
    for (size_t k = 0; k <= j; k++) {
      const double *pair_correlation = p->correlation + (j ? j * (j - 1) / 2 + k : 0) * all;
      double sum = 0;
      for (size_t i = 0; i < all; i++)
        sum += p->sd[j * all + i] * p->sd[k * all + i] * (j == k ? 1 : pair_correlation[i]);
      factor[j * q + k] = factor[k * q + j] = sum / (double)all;
    }
  return idm_cholesky(q, factor);
}

/* Compute the information of each person on the population mean, from the average of the chains'
 * approximations. */
static void set_information(const sampling *f)
{
  idm_people *p = f->people;
  const size_t q = p->effects;
  double factor[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS];
  double curvature[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS], rhs[IDM_MAX_EFFECTS];
  const double zero_mean[IDM_MAX_EFFECTS] = {0};
  if (!mean_covariance(p, factor)) memset(factor, 0, sizeof factor);
  for (size_t i = 0; i < p->people; i++) {
    memset(curvature, 0, q * q * sizeof *curvature);
    for (size_t k = 0; k < f->chains; k++)
      for (size_t a = 0; a < q * q; a++)
        curvature[a] += f->chain[k].curvature[i * q * q + a] / (double)f->chains;
    idm_normal_information(q, factor, curvature, zero_mean, p->information + i * q * q, rhs);
  }
}

/* If chains mix slowly, keep every second draw and continue with twice as many sweeps per draw.
 * Returns whether there is more to do. Thinning stays unchanged if the caller has set it, or has
 * requested too few draws to converge. */
static bool double_thinning(sampling *f, const idm_fit_settings *settings)
{
  enum { limit = 8 };
  const double all = (double)settings->chains * (double)settings->draws;
  if (settings->thin > 0 || f->thin >= limit ||
      all < 4 * idm_check_threshold(IDM_CHECK_EFFECTIVE) || have_converged(f->people))
    return false;
  thin_draws(f->people);
  f->thin *= 2;
  f->steps = f->warmup + settings->draws / 2;
  return true;
}

static idm_status sample(sampling *f, const idm_fit_settings *settings, idm_error *opt_error)
{
  const long thin = settings->thin > 0 ? settings->thin : 1;
  const double at_sweep_end = (double)settings->warmup + (double)settings->draws * (double)thin;
  const double share = (double)settings->warmup / at_sweep_end;
  idm_status status = warm_up(f, share, opt_error);
  const long end = f->warmup + settings->draws;
  do {
    while (status == IDM_OK && f->steps >= f->warmup && f->steps < end && should_continue(f)) {
      status = advance(f, end - f->steps, opt_error);
      const double part = (double)(f->steps - f->warmup) / (double)settings->draws;
      f->done = fmax(f->done, share + (1 - share) * fmin(part, 0.99));
    }
  } while (status == IDM_OK && f->steps == end && double_thinning(f, settings));
  if (f->steps == end) f->done = 1;
  const long draws = f->steps > f->warmup ? f->steps - f->warmup : 0;
  if (status == IDM_OK && !draws)
    return idm_fail(opt_error, IDM_UNTRUSTED, "stopped in the warm-up, before the first draw");
  f->last_report = -INFINITY;
  if (status == IDM_OK && draws == settings->draws) should_continue(f);
  if (status == IDM_OK && (size_t)draws < f->people->draws)
    truncate_draws(f->people, (size_t)draws);
  if (status == IDM_OK) set_information(f);
  return status;
}

idm_status idm_hierarchy_sample(const hierarchy_request *request, idm_people **ret_people,
                                idm_notes *opt_notes, idm_error *opt_error)
{
  const idm_fit_settings *settings = request->settings;
  const idm_fit_monitor *watch = request->opt_monitor;
  sampling f = {.request = request,
                .threads = settings->threads,
                .watch = watch,
                .warmup = settings->warmup,
                .thin = settings->thin > 0 ? settings->thin : 1};
  *ret_people = NULL;
  pthread_mutex_init(&f.mutex, NULL);
  idm_status status = sampling_init(&f, opt_error);
  if (status == IDM_OK)
    status = watch && watch->checkpoint ? resume(&f, opt_error) : start_from_prior(&f, opt_error);
  if (status == IDM_OK && !f.stopped)
    status = sample(&f, settings, opt_error);
  else if (status == IDM_OK)
    status = idm_fail(opt_error, IDM_UNTRUSTED, "stopped before the first draw");
  if (status == IDM_OK && f.people->draws < (size_t)settings->draws)
    idm_notes_add(opt_notes, "stopped after %zu draws per chain", f.people->draws);
  else if (status == IDM_OK && f.thin > settings->thin && f.thin > 1)
    idm_notes_add(opt_notes, "chains mix slowly: one draw per %ld sweeps", f.thin);
  idm_people *people = f.people;
  sampling_clear(&f);
  if (status == IDM_OK)
    *ret_people = people;
  else
    idm_people_destroy(people);
  return status;
}
