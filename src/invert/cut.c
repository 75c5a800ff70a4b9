/* Fits that carry the uncertainty of learnt dynamics.
 *
 * Contents: draws as posteriors · pooling · fitting */
#include "idm/cut.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/journal.h"
#include "base/memory.h"
#include "infer/sampler.h"
#include "invert/fork.h"
#include "invert/posterior.h"

/* What draws of dynamics are said to be made by. */
static const char learnt[] = "learn";

/* --- draws as posteriors -------------------------------------------------------------------- */

static idm_status fill_posterior(const idm_dynamics_draws *draws, idm_posterior *p,
                                 idm_error *opt_error)
{
  const size_t count = draws->chains * draws->draws;
  const size_t all = draws->numbers * count;
  p->unconstrained = idm_duplicate(draws->value, all, sizeof *p->unconstrained);
  if (!p->unconstrained) return idm_fail_memory(opt_error);
  memcpy(p->value, draws->value, all * sizeof *p->value);
  for (size_t i = 0; i < draws->numbers; i++) p->summarised[i] = true;
  for (size_t i = 0; i < count; i++) {
    p->statistics[i].log_density = draws->log_likelihood[i];
    p->statistics[i].acceptance = 1;
    p->statistics[i].evaluations = 1;
  }
  const idm_status status = idm_labels_copy(&draws->name, &p->quantity, opt_error);
  return status == IDM_OK ? idm_labels_copy(&draws->name, &p->coordinate, opt_error) : status;
}

idm_status idm_dynamics_posterior(const idm_dynamics_draws *draws,
                                  const idm_learn_settings *settings, idm_posterior **ret_posterior,
                                  idm_error *opt_error)
{
  idm_require(draws, settings, ret_posterior);
  *ret_posterior = NULL;
  if (!draws->numbers || !draws->draws)
    return idm_fail(opt_error, IDM_USAGE, "there are no draws of the dynamics");
  idm_posterior *p;
  idm_status status = idm_posterior_open(learnt, "gibbs", draws->chains, draws->draws,
                                         draws->numbers, &p, opt_error);
  if (status != IDM_OK) return status;
  p->seed = settings->seed;
  p->warmup = settings->warmup;
  p->searched = !isnan(draws->highest);
  p->highest = draws->highest;
  p->attained = draws->attained;
  p->row_prior = draws->prior > 0 ? draws->prior : 0;
  status = fill_posterior(draws, p, opt_error);
  if (status != IDM_OK)
    idm_posterior_destroy(p);
  else
    *ret_posterior = p;
  return status;
}

/* Places of the posterior's quantities among all that could be learnt. */
static idm_status find_places(const idm_posterior *p, const idm_problem *problem,
                              idm_dynamics_draws *draws, idm_error *opt_error)
{
  idm_labels names;
  size_t *places;
  idm_status status = idm_dynamics_names(problem, &names, &places, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < draws->numbers && status == IDM_OK; i++) {
    size_t k = 0;
    while (k < names.count && strcmp(names.name[k], p->quantity.name[i]) != 0) k++;
    if (k == names.count)
      status = idm_fail(opt_error, IDM_INPUT,
                        "the run's '%.80s' is no probability of its problem; expected a run of "
                        "`idm learn --draws`",
                        p->quantity.name[i]);
    else
      draws->place[i] = places[k];
  }
  idm_labels_destroy(&names);
  free(places);
  return status;
}

idm_status idm_posterior_dynamics(const idm_posterior *posterior, const idm_problem *problem,
                                  idm_dynamics_draws *draws, idm_error *opt_error)
{
  idm_require(posterior, problem, draws);
  *draws = (idm_dynamics_draws){.chains = posterior->chains,
                                .draws = posterior->draws,
                                .numbers = posterior->quantity.count,
                                .prior = posterior->row_prior > 0 ? posterior->row_prior : NAN,
                                .highest = posterior->searched ? posterior->highest : NAN,
                                .attained = posterior->searched ? posterior->attained : NAN};
  const size_t count = posterior->chains * posterior->draws;
  if (strcmp(posterior->inverse, learnt) != 0)
    return idm_fail(opt_error, IDM_INPUT,
                    "the run holds no draws of dynamics; expected one of `idm learn --draws`");
  draws->place = idm_new(draws->numbers, sizeof *draws->place);
  draws->value = idm_duplicate(posterior->value, idm_times(draws->numbers, count), sizeof(double));
  draws->log_likelihood = idm_new(count, sizeof *draws->log_likelihood);
  idm_status status =
      draws->place && draws->value && draws->log_likelihood ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    draws->log_likelihood[i] = posterior->statistics[i].log_density;
  if (status == IDM_OK) status = idm_labels_copy(&posterior->quantity, &draws->name, opt_error);
  if (status == IDM_OK) status = find_places(posterior, problem, draws, opt_error);
  if (status != IDM_OK) idm_dynamics_draws_clear(draws);
  return status;
}

/* --- pooling -------------------------------------------------------------------------------- */

/* An answer like one of them, with room for all and no draws yet. */
static idm_status make_pool(const idm_posterior *like, size_t count, idm_posterior **ret_pool,
                            idm_error *opt_error)
{
  const size_t one = like->chains * like->draws;
  const size_t quantities = like->quantity.count;
  idm_posterior *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  *ret_pool = p;
  p->answer = like->answer;
  memcpy(p->inverse, like->inverse, sizeof p->inverse);
  memcpy(p->sampler, like->sampler, sizeof p->sampler);
  p->seed = like->seed;
  p->resolution = like->resolution;
  p->warmup = like->warmup;
  p->draws = like->draws;
  p->chains = like->chains * count;
  p->cuts = count;
  p->prior_draws = like->prior_draws;
  p->summarised = idm_duplicate(like->summarised, quantities, sizeof *p->summarised);
  p->quantity_size = idm_duplicate(like->quantity_size, quantities, sizeof *p->quantity_size);
  p->coordinate_size =
      idm_duplicate(like->coordinate_size, like->coordinate.count, sizeof *p->coordinate_size);
  p->prior =
      idm_duplicate(like->prior, idm_posterior_numbers(like) * like->prior_draws, sizeof *p->prior);
  p->value = idm_new(idm_times(idm_posterior_numbers(like), one * count), sizeof *p->value);
  p->unconstrained =
      idm_new(idm_times(idm_posterior_dimension(like), one * count), sizeof *p->unconstrained);
  p->statistics = idm_new(one * count, sizeof *p->statistics);
  if (!p->summarised || !p->value || !p->unconstrained || !p->statistics ||
      (like->quantity_size && !p->quantity_size) ||
      (like->coordinate_size && !p->coordinate_size) || (like->prior && !p->prior))
    return idm_fail_memory(opt_error);
  const idm_status status = idm_labels_copy(&like->quantity, &p->quantity, opt_error);
  return status == IDM_OK ? idm_labels_copy(&like->coordinate, &p->coordinate, opt_error) : status;
}

/* Draws of one fit there or back: `p` is the fit (k = 0), or a pool that has it in place k. */
static void pass_draws(const idm_posterior *like, size_t k, idm_posterior *p, idm_record *r)
{
  const size_t one = like->chains * like->draws;
  const size_t all = p->chains * p->draws;
  for (size_t i = 0; i < idm_posterior_numbers(like); i++)
    idm_record_pass(r, p->value + i * all + k * one, one * sizeof(double));
  for (size_t i = 0; i < idm_posterior_dimension(like); i++)
    idm_record_pass(r, p->unconstrained + i * all + k * one, one * sizeof(double));
  idm_statistics_pass(p->statistics + k * one, one, r);
}

/* The draws of all fits, from the journal. */
static idm_status pool_draws(idm_journal *journal, const idm_posterior *like, size_t count,
                             const idm_fit_watch *opt_watch, idm_posterior **ret_pool,
                             idm_error *opt_error)
{
  idm_status status = make_pool(like, count, ret_pool, opt_error);
  for (size_t k = 0; k < count && status == IDM_OK; k++) {
    idm_record r;
    const bool there = idm_journal_get(journal, k, &r);
    if (there) pass_draws(like, k, *ret_pool, &r);
    status = idm_record_close(&r, there, opt_error);
  }
  return opt_watch ? idm_record_blame(opt_watch, status, opt_error) : status;
}

/* The draw of the dynamics under which the decisions have the highest mean density. */
static size_t find_likeliest(const idm_posterior *p)
{
  const size_t each = p->chains / p->cuts * p->draws;
  size_t best = 0;
  double highest = -INFINITY;
  for (size_t k = 0; k < p->cuts; k++) {
    double sum = 0;
    for (size_t i = 0; i < each; i++) sum += p->statistics[k * each + i].log_density;
    if (!(sum > highest)) continue;
    highest = sum;
    best = k;
  }
  return best;
}

/* The dynamics of every fit, with the likeliest for one policy: decisions do not inform them, so
 * that their mean need not describe any. `moved` is a problem to put them into. */
static idm_status keep_dynamics(const idm_cuts *cut, idm_problem *moved, idm_posterior *pool,
                                idm_error *opt_error)
{
  assert(pool); /* there is one where all fits were pooled */
  const size_t best = find_likeliest(pool);
  idm_status status = IDM_OK;
  for (size_t k = 0; k < cut->count && status == IDM_OK; k++) {
    idm_dynamics *d = NULL;
    status = idm_cut_take(cut, k, moved, opt_error);
    if (status == IDM_OK) status = idm_problem_dynamics(moved, &d, opt_error);
    if (status == IDM_OK && !pool->drawn)
      status = idm_drawn_create(cut->count, d->numbers, &pool->drawn, opt_error);
    if (status == IDM_OK)
      memcpy(pool->drawn->set + k * d->numbers, d->start, d->numbers * sizeof *d->start);
    if (status == IDM_OK && k == best)
      memcpy(pool->drawn->central, d->start, d->numbers * sizeof *d->start);
    idm_dynamics_destroy(d);
  }
  if (status == IDM_OK) pool->drawn->of = best + 1;
  return status;
}

/* --- fitting -------------------------------------------------------------------------------- */

/* One fit among several, under way. The first member is what idm_journal_save needs. */
typedef struct share {
  idm_journal_work work;
  const idm_fit_watch *watch;
  size_t fits;
} share;

static void describe(const void *content, char *buffer, size_t size)
{
  const share *s = content;
  char words[96];
  snprintf(buffer, size, "draw %zu of %zu of the dynamics: %s", (size_t)s->work.step + 1, s->fits,
           idm_work_words(s->work.opt_inner, words, sizeof words));
}

static bool watch(void *context, const idm_work *work)
{
  share *s = context;
  s->work.opt_inner = work;
  const idm_work all = {.done = ((double)s->work.step + work->done) / (double)s->fits,
                        .content = s,
                        .describe = describe,
                        /* A checkpoint without what the fit has done would lose it. */
                        .save = work->save ? idm_journal_save : NULL};
  return s->watch->progress(s->watch->context, &all);
}

static idm_status fit_one(const idm_inverse *inverse, const idm_problem *problem,
                          const idm_data *data, const idm_fit_settings *settings, share *s,
                          idm_posterior **ret_posterior, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_fit_watch own = {.progress = watch, .context = s};
  const bool watched = s->watch && s->watch->progress;
  idm_journal_go_on(s->work.journal, s->work.step, &own);
  idm_status status = idm_inverse_fit(inverse, problem, data, settings, watched ? &own : NULL,
                                      ret_posterior, s->work.step ? NULL : opt_notes, opt_error);
  if (s->watch) idm_record_blame(s->watch, status, opt_error);
  if (status == IDM_OK && inverse->answer != IDM_POINT &&
      (*ret_posterior)->draws < (size_t)settings->draws)
    status = idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
  if (status != IDM_OK) return status;
  idm_record r;
  idm_journal_begin(s->work.step, &r);
  pass_draws(*ret_posterior, 0, *ret_posterior, &r);
  return idm_journal_put(s->work.journal, s->work.step, &r, opt_error);
}

idm_status idm_cut_take(const idm_cuts *cut, size_t k, idm_problem *problem, idm_error *opt_error)
{
  idm_require(cut, problem);
  const idm_dynamics_draws *draws = cut->draws;
  const size_t all = draws->chains * draws->draws;
  if (!cut->count || cut->count > all || k >= cut->count)
    return idm_fail(opt_error, IDM_INPUT,
                    "%zu draws of the dynamics are asked for; the run has %zu", cut->count, all);
  const size_t at = (2 * k + 1) * all / (2 * cut->count);
  idm_dynamics *dynamics;
  idm_status status =
      idm_dynamics_create(idm_setting_sizes(cut->learnt->setting), &dynamics, opt_error);
  if (status != IDM_OK) return status;
  status = idm_dynamics_take(cut->learnt, draws, at / draws->draws, at % draws->draws, dynamics,
                             opt_error);
  if (status == IDM_OK) status = idm_problem_put_dynamics(problem, dynamics, opt_error);
  idm_dynamics_destroy(dynamics);
  return status;
}

idm_status idm_cut_fit(const idm_problem *problem, const idm_data *data, const idm_inverse *inverse,
                       const idm_fit_settings *settings, const idm_cuts *cut,
                       const idm_fit_watch *opt_watch, idm_posterior **ret_posterior,
                       idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(problem, data, inverse, settings, cut, ret_posterior);
  *ret_posterior = NULL;
  idm_fit_settings own = *settings;
  own.keep = IDM_KEEP_NOTHING; /* likelihoods are under dynamics that differ */
  idm_problem *moved = NULL;
  idm_posterior *last = NULL;
  share s = {.watch = opt_watch, .fits = cut->count};
  idm_record r;
  idm_status status = idm_journal_create("idmcut1", opt_watch, &s.work.journal, opt_error);
  if (status == IDM_OK) status = idm_problem_fork(problem, &moved, opt_error);
  for (size_t k = 0; status == IDM_OK && (k == 0 || k < cut->count); k++) {
    s.work.step = k;
    status = idm_cut_take(cut, k, moved, opt_error);
    /* The last is fitted, or goes on: the pool is like it. */
    if (status != IDM_OK || (k + 1 < cut->count && idm_journal_get(s.work.journal, k, &r)))
      continue;
    idm_posterior_destroy(last);
    last = NULL;
    status = fit_one(inverse, moved, data, &own, &s, &last, opt_notes, opt_error);
  }
  if (status == IDM_OK)
    status = pool_draws(s.work.journal, last, cut->count, opt_watch, ret_posterior, opt_error);
  if (status == IDM_OK) status = keep_dynamics(cut, moved, *ret_posterior, opt_error);
  idm_posterior_destroy(last);
  idm_fork_destroy(moved);
  idm_journal_destroy(s.work.journal);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  return status;
}
