/* Draws of a hierarchy: chains in step, everybody in parallel.
 *
 * Tables of log-likelihoods propose; where that is required the exact likelihood decides. The
 * population moves with people's numbers held, and with their distances to it held, so that it
 * mixes with little data and much.
 *
 * All chains do the same part of a sweep at the same time, in small tasks, so that threads are busy
 * whatever their number; each chain and each person has a stream of its own, and judges differ in
 * nothing, so that no draw depends on the schedule.
 *
 * Contents: draws · tasks · checkpoints · watching · warming up · sampling */
#include "invert/hierarchy/sample.h"

#include <math.h>
#include <pthread.h>

#include "base/clock.h"
#include "base/dense.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/parallel.h"
#include "idm/check.h"
#include "idm/diagnostics.h"
#include "invert/hierarchy/approximate.h"
#include "invert/hierarchy/check.h"
#include "invert/hierarchy/hamiltonian.h"
#include "invert/hierarchy/move.h"
#include "invert/hierarchy/person.h"

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

static idm_status make_draws(const idm_design *d, const idm_fit_settings *settings,
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

/* A chain as it is, as one of its draws. */
static void keep_draw(idm_people *p, size_t chain, size_t draw, const hierarchy_chain *c)
{
  const size_t series = p->chains * p->draws;
  const size_t at = chain * p->draws + draw;
  const population *now = &c->now.population;
  double correlation[IDM_MOST_EFFECTS * (IDM_MOST_EFFECTS - 1) / 2 + 1];
  idm_population_correlations(now, correlation);
  for (size_t i = 0; i < p->people; i++) {
    p->log_likelihood[i * series + at] = (c->exactly ? c->now.exact : c->now.rough)[i];
    for (size_t j = 0; j < p->effects; j++)
      p->effect[(j * p->people + i) * series + at] = c->now.e[i * p->effects + j];
  }
  for (size_t a = 0; a < now->coefficients; a++) p->coefficient[a * series + at] = now->b[a];
  for (size_t j = 0; j < p->effects; j++) p->sd[j * series + at] = fabs(now->root[j]);
  for (size_t j = 0; j < now->spreads; j++) p->spread[j * series + at] = fabs(now->spread[j]);
  for (size_t k = 0; k < now->pairs; k++) p->correlation[k * series + at] = correlation[k];
  p->log_posterior[at] = idm_chain_log_posterior(c);
}

/* Draws of everything, [count][draws] each. */
typedef struct people_series {
  double *at;
  size_t count;
} people_series;

enum { kinds_of_series = 7, of_population = 4 };

/* Those of the population first. */
static void list_series(const idm_people *p, people_series series[kinds_of_series])
{
  const size_t n = p->chains, q = p->effects;
  const people_series all[kinds_of_series] = {{p->coefficient, n * p->coefficient_first[q]},
                                              {p->sd, n * q},
                                              {p->spread, p->spread ? n * q : 0},
                                              {p->correlation, n * (q * (q - 1) / 2)},
                                              {p->effect, n * q * p->people},
                                              {p->log_posterior, n},
                                              {p->log_likelihood, n * p->people}};
  memcpy(series, all, sizeof all);
}

/* The first `fewer` draws of each chain. */
static void cut_draws(idm_people *p, size_t fewer)
{
  people_series series[kinds_of_series];
  list_series(p, series);
  for (size_t i = 0; i < kinds_of_series; i++)
    for (size_t k = 1; k < series[i].count; k++)
      memmove(series[i].at + k * fewer, series[i].at + k * p->draws, fewer * sizeof(double));
  p->draws = fewer;
}

/* Every second draw of each chain, in the places of the first half. */
static void halve_draws(const idm_people *p)
{
  people_series series[kinds_of_series];
  list_series(p, series);
  for (size_t i = 0; i < kinds_of_series; i++)
    for (size_t k = 0; k < series[i].count; k++) {
      double *x = series[i].at + k * p->draws;
      for (size_t t = 0; t < p->draws / 2; t++) x[t] = x[2 * t + 1];
    }
}

/* Whether every number of the population has enough effective draws, and R-hat near 1. */
static bool are_mixed(const idm_people *p)
{
  people_series series[kinds_of_series];
  list_series(p, series);
  for (size_t i = 0; i < of_population; i++)
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

/* People a task. */
enum { portion = 8 };

typedef idm_status (*part_of_sweep)(hierarchy_chain *chain, const leaf_lane *lane, size_t from,
                                    size_t to, idm_error *opt_error);

typedef struct sampling {
  const hierarchy_request *request;
  hierarchy model;
  size_t chains;
  hierarchy_chain *chain;
  int threads;
  part_of_sweep part;    /* what tasks do */
  pthread_mutex_t mutex; /* of status and error */
  idm_status status;
  idm_error error;
  const idm_fit_watch *watch;   /* NULL: nobody */
  idm_people *people;           /* draws so far */
  double low[IDM_MOST_EFFECTS]; /* [coordinate]: the box that the table is over */
  double high[IDM_MOST_EFFECTS];
  bool wide; /* that box is the prior's */
  long warmup;
  long thin;    /* sweeps per draw */
  long steps;   /* sweeps of the warm-up that are done, then draws */
  long at_once; /* steps that chains do by themselves before they meet */
  double pace;  /* seconds per step; 0: not known */
  double done;  /* share of the work */
  double shown; /* when the watch was last called */
  bool whole;   /* between two sweeps: a checkpoint can be made */
  bool stopped;
} sampling;

static size_t portions_of(const sampling *f)
{
  return (f->model.design->people + portion - 1) / portion;
}

static void fail_task(sampling *f, idm_status status, const idm_error *error)
{
  pthread_mutex_lock(&f->mutex);
  f->status = status;
  f->error = *error;
  pthread_mutex_unlock(&f->mutex);
}

static void do_portion(void *content, size_t task)
{
  sampling *f = content;
  const size_t people = f->model.design->people;
  const size_t portions = portions_of(f);
  const size_t from = task % portions * portion;
  const size_t to = from + portion < people ? from + portion : people;
  idm_error error = {0};
  const leaf_source *leaves = &f->model.leaves;
  const leaf_lane lane = {task / portions, leaves->borrow ? leaves->borrow(leaves->context) : NULL};
  const idm_status status = f->part(&f->chain[lane.chain], &lane, from, to, &error);
  if (leaves->borrow) leaves->give_back(leaves->context, lane.judge);
  if (status != IDM_OK) fail_task(f, status, &error);
}

static void propose(void *content, size_t chain)
{
  idm_chain_propose(&((sampling *)content)->chain[chain]);
}

/* Wait for tasks, and return the error of one that failed. */
static idm_status do_tasks(sampling *f, size_t count, void (*task)(void *, size_t),
                           idm_error *opt_error)
{
  const idm_status status = idm_parallel(count, f->threads, task, NULL, f, opt_error);
  if (status != IDM_OK) return status;
  if (f->status != IDM_OK && opt_error) *opt_error = f->error;
  return f->status;
}

/* A part of the sweep for everybody in all chains. */
static idm_status do_part(sampling *f, part_of_sweep part, idm_error *opt_error)
{
  f->part = part;
  return do_tasks(f, f->chains * portions_of(f), do_portion, opt_error);
}

/* Moves of the population per sweep: without tables each is one step, and several make up for it.
 */
static int moves_of(const sampling *f)
{
  return f->model.design->held ? 0 : f->model.tabled || f->model.leaves.slope ? 1 : 3;
}

static void move_all(void *content, size_t chain)
{
  sampling *f = content;
  idm_error error = {0};
  const leaf_source *leaves = &f->model.leaves;
  const leaf_lane lane = {chain, leaves->borrow ? leaves->borrow(leaves->context) : NULL};
  const idm_status status = idm_motion_move(&f->chain[chain], &lane, &error);
  if (leaves->borrow) leaves->give_back(leaves->context, lane.judge);
  if (status != IDM_OK) fail_task(f, status, &error);
}

/* A sweep of all chains, each part of it at the same time. */
static idm_status sweep_together(sampling *f, idm_error *opt_error)
{
  idm_status status = f->model.design->fixed ? IDM_OK : do_part(f, idm_chain_people, opt_error);
  for (int i = 0; i < moves_of(f) && status == IDM_OK; i++) {
    status = idm_parallel(f->chains, f->threads, propose, NULL, f, opt_error);
    if (status == IDM_OK && f->chain[0].exactly) status = do_part(f, idm_chain_judge, opt_error);
    for (size_t k = 0; k < f->chains && status == IDM_OK; k++) idm_chain_decide(&f->chain[k]);
  }
  if (f->chain[0].motion && !f->model.tabled && status == IDM_OK)
    status = do_tasks(f, f->chains, move_all, opt_error);
  for (size_t k = 0; k < f->chains && status == IDM_OK; k++) idm_chain_tally(&f->chain[k]);
  return status;
}

/* A sweep of one chain by its parts. */
static idm_status sweep_parts(const sampling *f, hierarchy_chain *c, const leaf_lane *lane,
                              idm_error *opt_error)
{
  const idm_design *d = f->model.design;
  idm_status status = d->fixed ? IDM_OK : idm_chain_people(c, lane, 0, d->people, opt_error);
  for (int i = 0; i < moves_of(f) && status == IDM_OK; i++) {
    idm_chain_propose(c);
    status = idm_chain_judge(c, lane, 0, d->people, opt_error);
    if (status == IDM_OK) idm_chain_decide(c);
  }
  if (c->motion && !f->model.tabled && status == IDM_OK)
    status = idm_motion_move(c, lane, opt_error);
  return status;
}

/* A sweep of one chain. Few people move as one proposal; no more than one task's, so that the
 * threads do not decide which it is. */
static idm_status sweep_alone(const sampling *f, hierarchy_chain *c, const leaf_lane *lane,
                              idm_error *opt_error)
{
  const idm_design *d = f->model.design;
  const bool few = d->people <= portion && !d->fixed && !d->held && c->exactly;
  const idm_status status = few && idm_chain_trusts(c, &c->random)
                                ? idm_chain_sweep_tables(c, lane, opt_error)
                                : sweep_parts(f, c, lane, opt_error);
  if (status == IDM_OK) idm_chain_tally(c);
  return status;
}

/* The steps at hand of one chain: a step of the warm-up is a sweep, then it is a draw. */
static void run_chain(void *content, size_t chain)
{
  sampling *f = content;
  idm_error error = {0};
  const leaf_source *leaves = &f->model.leaves;
  const leaf_lane lane = {chain, leaves->borrow ? leaves->borrow(leaves->context) : NULL};
  idm_status status = IDM_OK;
  for (long t = f->steps; t < f->steps + f->at_once && status == IDM_OK; t++) {
    const long sweeps = t < f->warmup ? 1 : f->thin;
    for (long i = 0; i < sweeps && status == IDM_OK; i++)
      status = sweep_alone(f, &f->chain[chain], &lane, &error);
    if (t >= f->warmup && status == IDM_OK)
      keep_draw(f->people, chain, (size_t)(t - f->warmup), &f->chain[chain]);
  }
  if (leaves->borrow) leaves->give_back(leaves->context, lane.judge);
  if (status != IDM_OK) fail_task(f, status, &error);
}

/* Steps of all chains: each chain by itself where there are no more threads than chains, or few
 * people; else in step, so that more threads have something to do. */
static idm_status advance(sampling *f, long most, idm_error *opt_error)
{
  static const double pause = 0.1; /* seconds between looks at the watch */
  const bool alone = (size_t)f->threads <= f->chains || portions_of(f) == 1;
  const double begun = idm_seconds();
  idm_status status = IDM_OK;
  f->at_once = !alone || !(f->pace > 0) ? 1 : (long)fmin(fmax(pause / f->pace, 1), (double)most);
  if (alone) {
    status = do_tasks(f, f->chains, run_chain, opt_error);
  } else {
    const long sweeps = f->steps < f->warmup ? 1 : f->thin;
    for (long i = 0; i < sweeps && status == IDM_OK; i++) status = sweep_together(f, opt_error);
    for (size_t k = 0; k < f->chains && f->steps >= f->warmup && status == IDM_OK; k++)
      keep_draw(f->people, k, (size_t)(f->steps - f->warmup), &f->chain[k]);
  }
  f->pace = (idm_seconds() - begun) / (double)f->at_once;
  if (status == IDM_OK) f->steps += f->at_once;
  return status;
}

/* --- checkpoints ---------------------------------------------------------------------------- */

static const char kind[] = "idmppl4";

/* The first `draws` of every series of draws. */
static void pass_draws(const idm_people *p, size_t draws, idm_record *r)
{
  people_series series[kinds_of_series];
  list_series(p, series);
  for (size_t i = 0; i < kinds_of_series; i++)
    for (size_t k = 0; k < series[i].count; k++)
      idm_record_pass(r, series[i].at + k * p->draws, draws * sizeof(double));
}

/* How many sweeps and draws, and the box of the table. Whether they fit. */
static bool pass_place(sampling *f, idm_record *r)
{
  const idm_design *d = f->model.design;
  const uint64_t shape[] = {f->chains, f->people->draws, (uint64_t)f->warmup, d->people,
                            d->effects};
  bool same = true;
  for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++)
    same = idm_record_same(r, shape[i]) && same;
  idm_record_pass(r, &f->steps, sizeof f->steps);
  idm_record_pass(r, &f->thin, sizeof f->thin);
  idm_record_pass(r, f->low, d->coordinates * sizeof *f->low);
  idm_record_pass(r, f->high, d->coordinates * sizeof *f->high);
  idm_record_pass_flag(r, &f->wide);
  return same && f->thin > 0 && f->steps >= 0 && f->steps <= f->warmup + (long)f->people->draws;
}

/* The rest, once what all chains share is as it was. */
static void pass_chains(sampling *f, idm_record *r)
{
  for (size_t k = 0; k < f->chains; k++) idm_chain_pass(&f->chain[k], r);
  if (f->steps > f->warmup) pass_draws(f->people, (size_t)(f->steps - f->warmup), r);
}

static idm_status save(const void *content, char **ret_bytes, size_t *ret_length,
                       idm_error *opt_error)
{
  sampling f = *(const sampling *)content; /* what is passed is only read */
  idm_record r;
  idm_record_begin(&r, kind, f.watch->label);
  pass_place(&f, &r);
  pass_chains(&f, &r);
  return idm_record_seal(&r, ret_bytes, ret_length, opt_error);
}

/* --- watching ------------------------------------------------------------------------------- */

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

/* Whether to stop; asks the watch several times a second. */
static bool look_up(void *content)
{
  sampling *f = content;
  const double now = idm_seconds();
  if (f->stopped || !f->watch || !f->watch->progress || now < f->shown + 0.1) return f->stopped;
  f->shown = now;
  const idm_work work = {
      .done = f->done, .content = f, .describe = describe, .save = f->whole ? save : NULL};
  f->stopped = f->watch->progress(f->watch->context, &work);
  return f->stopped;
}

/* --- warming up ----------------------------------------------------------------------------- */

/* Tables over a box, in place of the last ones. Stopped, the last ones stay. */
static idm_status tabulate(sampling *f, const double *low, const double *high, bool wide,
                           idm_error *opt_error)
{
  const leaf_source *leaves = &f->model.leaves;
  if (!leaves->tabulate) return IDM_OK;
  f->wide = wide;
  memmove(f->low, low, f->model.design->coordinates * sizeof *low);
  memmove(f->high, high, f->model.design->coordinates * sizeof *high);
  return leaves->tabulate(leaves->context, f->low, f->high, wide, f->watch ? look_up : NULL, f,
                          &f->model.tabled, opt_error);
}

/* The box that people kept to since the last approximation, and some room around it. */
static idm_status tabulate_closer(sampling *f, idm_error *opt_error)
{
  const size_t n = f->model.design->coordinates;
  double low[IDM_MOST_EFFECTS], high[IDM_MOST_EFFECTS];
  for (size_t k = 0; k < n; k++) {
    low[k] = f->chain[0].low[k];
    high[k] = f->chain[0].high[k];
    for (size_t c = 1; c < f->chains; c++) {
      low[k] = fmin(low[k], f->chain[c].low[k]);
      high[k] = fmax(high[k], f->chain[c].high[k]);
    }
    if (!(low[k] < high[k])) return IDM_OK;
    const double room = 0.2 * (high[k] - low[k]);
    low[k] -= room;
    high[k] += room;
  }
  return tabulate(f, low, high, false, opt_error);
}

static idm_status approximate(sampling *f, idm_error *opt_error)
{
  const idm_status status = do_part(f, idm_chain_approximate, opt_error);
  for (size_t k = 0; k < f->chains && status == IDM_OK; k++) idm_chain_approximated(&f->chain[k]);
  return status;
}

/* From now on the kernel is fixed and, where that is required, every likelihood exact. */
static idm_status sharpen(sampling *f, idm_error *opt_error)
{
  for (size_t k = 0; k < f->chains; k++) {
    f->chain[k].exactly = f->request->exact || !f->model.tabled;
    f->chain[k].adapting = false;
  }
  return do_part(f, idm_chain_look, opt_error);
}

/* Shares of the warm-up after which people are approximated anew, those after which the table
 * closes in on them (twice, as the first table may be too coarse to show where they are), and that
 * after which the kernel is fixed. */
static const double anew[] = {0.03, 0.08, 0.15, 0.25, 0.35, 0.5, 0.7, 0};
static const double closer[] = {0.35, 0.5, 0};
static const double fixed[] = {0.95, 0};

/* Whether one of the shares is reached in step t. */
static bool comes(long t, long warmup, const double *share)
{
  /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): a 0 ends the shares */
  for (; *share > 0; share++)
    if (t == lround(*share * (double)warmup)) return true;
  return false;
}

/* Steps until something is due, at most to the end of the warm-up. */
static long until_due(const sampling *f)
{
  long t = f->steps + 1;
  while (t < f->warmup && !comes(t, f->warmup, anew) && !comes(t, f->warmup, closer) &&
         !comes(t, f->warmup, fixed))
    t++;
  return t - f->steps;
}

/* Whether to go on; at a place where everything can be kept. */
static bool goes_on(sampling *f)
{
  f->whole = true;
  const bool stop = look_up(f);
  f->whole = false;
  return !stop;
}

static idm_status warm_up(sampling *f, double share, idm_error *opt_error)
{
  const long warmup = f->warmup;
  idm_status status = IDM_OK;
  while (f->steps < warmup && status == IDM_OK && goes_on(f)) {
    const long before = f->steps;
    status = advance(f, until_due(f), opt_error);
    const long t = f->steps;
    f->done = share * (double)t / (double)warmup;
    if (status == IDM_OK && f->model.leaves.tabulate && comes(t, warmup, closer)) {
      status = tabulate_closer(f, opt_error);
      if (status == IDM_OK) status = do_part(f, idm_chain_look, opt_error);
    }
    if (f->stopped) { /* the table may be half made: a checkpoint has none of these steps */
      f->steps = before;
      break;
    }
    if (status == IDM_OK && comes(t, warmup, anew)) status = approximate(f, opt_error);
    if (status == IDM_OK && comes(t, warmup, fixed)) status = sharpen(f, opt_error);
  }
  if (status == IDM_OK && f->steps == warmup && f->chain[0].adapting)
    status = sharpen(f, opt_error);
  return status;
}

/* --- sampling ------------------------------------------------------------------------------- */

static void close_fit(sampling *f)
{
  for (size_t k = 0; f->chain && k < f->chains; k++) idm_chain_destroy(&f->chain[k]);
  free(f->chain);
  idm_model_destroy(&f->model);
  pthread_mutex_destroy(&f->mutex);
}

static idm_status open_fit(sampling *f, idm_error *opt_error)
{
  const hierarchy_request *r = f->request;
  const size_t streams = r->design->people + 1;
  idm_status status = idm_model_create(
      r->design, r->leaves, !r->leaves->tabulate && r->leaves->table, &f->model, opt_error);
  if (status == IDM_OK) status = make_draws(r->design, r->settings, &f->people, opt_error);
  if (status != IDM_OK) return status;
  f->chain = idm_new(r->settings->chains, sizeof *f->chain);
  if (!f->chain) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < r->settings->chains && status == IDM_OK; k++, f->chains++)
    status = idm_chain_create(&f->model, r->key, r->stream + k * streams, &f->chain[k], opt_error);
  return status;
}

static void lead_by_table(sampling *f)
{
  for (size_t k = 0; k < f->chains; k++) f->chain[k].exactly = !f->model.tabled;
}

/* Coefficients of fixed effects to their mode, by Newton's method, and away from it at random. */
static idm_status climb(sampling *f, idm_error *opt_error)
{
  enum { rounds = 5 };
  idm_status status = IDM_OK;
  for (int i = 0; i < rounds && status == IDM_OK; i++) {
    for (size_t k = 0; k < f->chains; k++) idm_chain_climb(&f->chain[k], i + 1 < rounds ? 0 : 2);
    status = do_part(f, idm_chain_approximate, opt_error);
  }
  return status;
}

/* Everybody somewhere in the prior. */
static idm_status begin_anew(sampling *f, idm_error *opt_error)
{
  double low[IDM_MOST_EFFECTS], high[IDM_MOST_EFFECTS];
  idm_model_prior_box(&f->model, low, high);
  idm_status status = tabulate(f, low, high, true, opt_error);
  lead_by_table(f);
  if (status != IDM_OK || f->stopped) return status;
  status = do_part(f, idm_chain_settle, opt_error);
  if (status == IDM_OK && f->model.design->fixed) status = climb(f, opt_error);
  if (status == IDM_OK) status = do_part(f, idm_chain_scatter, opt_error);
  for (size_t k = 0; k < f->chains && status == IDM_OK; k++) idm_chain_approximated(&f->chain[k]);
  return status == IDM_OK ? do_part(f, idm_chain_look, opt_error) : status;
}

/* Everybody where a checkpoint left them. */
static idm_status go_on(sampling *f, idm_error *opt_error)
{
  const idm_fit_watch *watch = f->watch;
  idm_record r;
  idm_status status = idm_record_resume(&r, kind, watch, opt_error);
  const bool fits = status == IDM_OK && pass_place(f, &r);
  if (fits && !r.cut) status = tabulate(f, f->low, f->high, f->wide, opt_error);
  if (status == IDM_OK && fits) pass_chains(f, &r);
  if (status == IDM_OK) status = idm_record_close(&r, fits, opt_error);
  return idm_record_blame(watch, status, opt_error);
}

/* The mean of Sigma over the draws, as its factor; false where it has none. */
static bool mean_covariance(const idm_people *p, double *factor)
{
  const size_t q = p->effects, all = p->chains * p->draws;
  for (size_t j = 0; j < q; j++)
    for (size_t k = 0; k <= j; k++) {
      const double *together = p->correlation + (j ? j * (j - 1) / 2 + k : 0) * all;
      double sum = 0;
      for (size_t i = 0; i < all; i++)
        sum += p->sd[j * all + i] * p->sd[k * all + i] * (j == k ? 1 : together[i]);
      factor[j * q + k] = factor[k * q + j] = sum / (double)all;
    }
  return idm_cholesky(q, factor);
}

/* What everybody says of the population's mean, by the mean of the chains' approximations. */
static void inform(const sampling *f)
{
  idm_people *p = f->people;
  const size_t q = p->effects;
  double factor[IDM_MOST_EFFECTS * IDM_MOST_EFFECTS];
  double curvature[IDM_MOST_EFFECTS * IDM_MOST_EFFECTS], right[IDM_MOST_EFFECTS];
  const double nowhere[IDM_MOST_EFFECTS] = {0};
  if (!mean_covariance(p, factor)) memset(factor, 0, sizeof factor);
  for (size_t i = 0; i < p->people; i++) {
    memset(curvature, 0, q * q * sizeof *curvature);
    for (size_t k = 0; k < f->chains; k++)
      for (size_t a = 0; a < q * q; a++)
        curvature[a] += f->chain[k].curvature[i * q * q + a] / (double)f->chains;
    idm_normal_inform(q, factor, curvature, nowhere, p->information + i * q * q, right);
  }
}

/* Where chains mix slowly, keep every second draw so far, and draw as many again, each after twice
 * as many sweeps. Whether there is more to do. A caller who chooses how many sweeps a draw takes,
 * or so few draws that they can hardly be enough, gets just those. */
static bool extend(sampling *f, const idm_fit_settings *settings)
{
  enum { most = 8 };
  const double all = (double)settings->chains * (double)settings->draws;
  if (settings->thin > 0 || f->thin >= most || all < 4 * idm_check_threshold(IDM_CHECK_EFFECTIVE) ||
      are_mixed(f->people))
    return false;
  halve_draws(f->people);
  f->thin *= 2;
  f->steps = f->warmup + settings->draws / 2;
  return true;
}

static idm_status sample(sampling *f, const idm_fit_settings *settings, idm_error *opt_error)
{
  const long thin = settings->thin > 0 ? settings->thin : 1;
  const double whole = (double)settings->warmup + (double)settings->draws * (double)thin;
  const double share = (double)settings->warmup / whole;
  idm_status status = warm_up(f, share, opt_error);
  const long end = f->warmup + settings->draws;
  do {
    while (status == IDM_OK && f->steps >= f->warmup && f->steps < end && goes_on(f)) {
      status = advance(f, end - f->steps, opt_error);
      const double part = (double)(f->steps - f->warmup) / (double)settings->draws;
      f->done = fmax(f->done, share + (1 - share) * fmin(part, 0.99));
    }
  } while (status == IDM_OK && f->steps == end && extend(f, settings));
  if (f->steps == end) f->done = 1;
  const long draws = f->steps > f->warmup ? f->steps - f->warmup : 0;
  if (status == IDM_OK && !draws)
    return idm_fail(opt_error, IDM_UNTRUSTED, "stopped in the warm-up, before the first draw");
  f->shown = -INFINITY;
  if (status == IDM_OK && draws == settings->draws) goes_on(f);
  if (status == IDM_OK && (size_t)draws < f->people->draws) cut_draws(f->people, (size_t)draws);
  if (status == IDM_OK) inform(f);
  return status;
}

idm_status idm_hierarchy_sample(const hierarchy_request *request, idm_people **ret_people,
                                idm_notes *opt_notes, idm_error *opt_error)
{
  const idm_fit_settings *settings = request->settings;
  const idm_fit_watch *watch = request->opt_watch;
  sampling f = {.request = request,
                .threads = settings->threads,
                .watch = watch,
                .warmup = settings->warmup,
                .thin = settings->thin > 0 ? settings->thin : 1};
  *ret_people = NULL;
  pthread_mutex_init(&f.mutex, NULL);
  idm_status status = open_fit(&f, opt_error);
  if (status == IDM_OK)
    status = watch && watch->checkpoint ? go_on(&f, opt_error) : begin_anew(&f, opt_error);
  if (status == IDM_OK && !f.stopped)
    status = sample(&f, settings, opt_error);
  else if (status == IDM_OK)
    status = idm_fail(opt_error, IDM_UNTRUSTED, "stopped before the first draw");
  if (status == IDM_OK && f.people->draws < (size_t)settings->draws)
    idm_notes_add(opt_notes, "stopped after %zu draws a chain", f.people->draws);
  else if (status == IDM_OK && f.thin > settings->thin && f.thin > 1)
    idm_notes_add(opt_notes, "chains mix slowly: one sweep in %ld is a draw", f.thin);
  idm_people *people = f.people;
  close_fit(&f);
  if (status == IDM_OK)
    *ret_people = people;
  else
    idm_people_destroy(people);
  return status;
}
