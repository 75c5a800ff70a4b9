/* Fits under each of several draws of learnt dynamics, pooled to carry their uncertainty.
 *
 * Contents: draws as posteriors · pooling · fitting */
#include "invert/cut.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/record.h"
#include "infer/chains.h"
#include "invert/clone.h"
#include "invert/posterior.h"
#include "setting/model.h"

/* Inverse planner named in posteriors that contain draws of dynamics. */
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
  idm_status status = idm_posterior_allocate(learnt, "gibbs", draws->chains, draws->draws,
                                             draws->numbers, &p, opt_error);
  if (status != IDM_OK) return status;
  p->seed = settings->seed;
  p->warmup = settings->warmup;
  p->search_recorded = !isnan(draws->highest);
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

/* Indices of the posterior's quantities among all learnable probabilities. */
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
                        "the run's '%.80s' is not a probability of its problem; expected a run of "
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
                                .highest = posterior->search_recorded ? posterior->highest : NAN,
                                .attained = posterior->search_recorded ? posterior->attained : NAN};
  const size_t count = posterior->chains * posterior->draws;
  if (strcmp(posterior->inverse, learnt) != 0)
    return idm_fail(opt_error, IDM_INPUT,
                    "the run contains no draws of dynamics; expected one of `idm learn --draws`");
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

/* A posterior shaped like `template_posterior`, with room for the draws of `count` fits, whose
 * draws are not yet filled in. */
static idm_status allocate_pool(const idm_posterior *template_posterior, size_t count,
                                idm_posterior **ret_pool, idm_error *opt_error)
{
  const size_t fit_draws = template_posterior->chains * template_posterior->draws;
  const size_t quantities = template_posterior->quantity.count;
  idm_posterior *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  *ret_pool = p;
  p->answer = template_posterior->answer;
  memcpy(p->inverse, template_posterior->inverse, sizeof p->inverse);
  memcpy(p->sampler, template_posterior->sampler, sizeof p->sampler);
  p->seed = template_posterior->seed;
  p->resolution = template_posterior->resolution;
  p->warmup = template_posterior->warmup;
  p->draws = template_posterior->draws;
  p->chains = template_posterior->chains * count;
  p->cuts = count;
  p->prior_draws = template_posterior->prior_draws;
  p->summarised = idm_duplicate(template_posterior->summarised, quantities, sizeof *p->summarised);
  p->quantity_size =
      idm_duplicate(template_posterior->quantity_size, quantities, sizeof *p->quantity_size);
  p->coordinate_size =
      idm_duplicate(template_posterior->coordinate_size, template_posterior->coordinate.count,
                    sizeof *p->coordinate_size);
  p->prior =
      idm_duplicate(template_posterior->prior,
                    idm_posterior_numbers(template_posterior) * template_posterior->prior_draws,
                    sizeof *p->prior);
  p->value = idm_new(idm_times(idm_posterior_numbers(template_posterior), fit_draws * count),
                     sizeof *p->value);
  p->unconstrained =
      idm_new(idm_times(idm_posterior_dimension(template_posterior), fit_draws * count),
              sizeof *p->unconstrained);
  p->statistics = idm_new(fit_draws * count, sizeof *p->statistics);
  if (!p->summarised || !p->value || !p->unconstrained || !p->statistics ||
      (template_posterior->quantity_size && !p->quantity_size) ||
      (template_posterior->coordinate_size && !p->coordinate_size) ||
      (template_posterior->prior && !p->prior))
    return idm_fail_memory(opt_error);
  const idm_status status = idm_labels_copy(&template_posterior->quantity, &p->quantity, opt_error);
  return status == IDM_OK
             ? idm_labels_copy(&template_posterior->coordinate, &p->coordinate, opt_error)
             : status;
}

/* Transfers the draws of one fit to or from a record: `p` is the fit itself (k = 0), or a pool with
 * the fit at position k. */
static void pass_draws(const idm_posterior *template_posterior, size_t k, idm_posterior *p,
                       idm_record *r)
{
  const size_t fit_draws = template_posterior->chains * template_posterior->draws;
  const size_t all = p->chains * p->draws;
  for (size_t i = 0; i < idm_posterior_numbers(template_posterior); i++)
    idm_record_transfer(r, p->value + i * all + k * fit_draws, fit_draws * sizeof(double));
  for (size_t i = 0; i < idm_posterior_dimension(template_posterior); i++)
    idm_record_transfer(r, p->unconstrained + i * all + k * fit_draws, fit_draws * sizeof(double));
  idm_statistics_transfer(p->statistics + k * fit_draws, fit_draws, r);
}

/* Fills a pool with the draws of all fits, from the journal. */
static idm_status pool_draws(idm_journal *journal, const idm_posterior *template_posterior,
                             size_t count, const idm_fit_monitor *opt_monitor,
                             idm_posterior **ret_pool, idm_error *opt_error)
{
  idm_status status = allocate_pool(template_posterior, count, ret_pool, opt_error);
  for (size_t k = 0; k < count && status == IDM_OK; k++) {
    idm_record r;
    const bool is_done = idm_journal_get(journal, k, &r);
    if (is_done) pass_draws(template_posterior, k, *ret_pool, &r);
    status = idm_record_close(&r, is_done, opt_error);
  }
  return opt_monitor ? idm_record_name_file(opt_monitor, status, opt_error) : status;
}

/* Index of the draw of the dynamics under which the decisions have the highest mean log density. */
static size_t find_best_cut(const idm_posterior *p)
{
  const size_t cut_draws = p->chains / p->cuts * p->draws;
  size_t best = 0;
  double highest = -INFINITY;
  for (size_t k = 0; k < p->cuts; k++) {
    double sum = 0;
    for (size_t i = 0; i < cut_draws; i++) sum += p->statistics[k * cut_draws + i].log_density;
    if (!(sum > highest)) continue;
    highest = sum;
    best = k;
  }
  return best;
}

/* Stores the dynamics of every fit, and as central dynamics those of the best one: decisions do not
 * inform the dynamics, so the mean of the draws need not describe any of them. `modified` is a
 * problem whose dynamics are overwritten. */
static idm_status keep_dynamics(const idm_cut_draws *cut, idm_problem *modified,
                                idm_posterior *pool, idm_error *opt_error)
{
  assert(pool); /* pooling succeeded */
  const size_t best = find_best_cut(pool);
  idm_status status = IDM_OK;
  for (size_t k = 0; k < cut->count && status == IDM_OK; k++) {
    idm_dynamics *d = NULL;
    status = idm_cut_apply(cut, k, modified, opt_error);
    if (status == IDM_OK) status = idm_problem_dynamics(modified, &d, opt_error);
    if (status == IDM_OK && !pool->drawn)
      status = idm_dynamics_sets_create(cut->count, d->numbers, &pool->drawn, opt_error);
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

/* State of one fit among several. `work` must be the first member, for idm_journal_save. */
typedef struct fit_progress {
  idm_journal_step work;
  const idm_fit_monitor *watch;
  size_t fits;
} fit_progress;

static void describe(const void *content, char *buffer, size_t size)
{
  const fit_progress *s = content;
  char words[96];
  snprintf(buffer, size, "draw %zu of %zu of the dynamics: %s", (size_t)s->work.step + 1, s->fits,
           idm_progress_describe(s->work.opt_inner, words, sizeof words));
}

static bool watch(void *context, const idm_progress_state *work)
{
  fit_progress *s = context;
  s->work.opt_inner = work;
  const idm_progress_state all = {.done = ((double)s->work.step + work->done) / (double)s->fits,
                                  .content = s,
                                  .describe = describe,
                                  /* A checkpoint without the state of the current fit would lose
                                   * that state. */
                                  .save = work->save ? idm_journal_save : NULL};
  return s->watch->progress(s->watch->context, &all);
}

static idm_status fit_one(const idm_inverse *inverse, const idm_problem *problem,
                          const idm_data *data, const idm_fit_settings *settings, fit_progress *s,
                          idm_posterior **ret_posterior, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_fit_monitor own = {.progress = watch, .context = s};
  const bool watched = s->watch && s->watch->progress;
  idm_journal_resume_step(s->work.journal, s->work.step, &own);
  idm_status status = idm_inverse_fit(inverse, problem, data, settings, watched ? &own : NULL,
                                      ret_posterior, s->work.step ? NULL : opt_notes, opt_error);
  if (s->watch) idm_record_name_file(s->watch, status, opt_error);
  if (status == IDM_OK && inverse->answer != IDM_POINT &&
      (*ret_posterior)->draws < (size_t)settings->draws)
    status = idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
  if (status != IDM_OK) return status;
  idm_record r;
  idm_journal_begin(s->work.step, &r);
  pass_draws(*ret_posterior, 0, *ret_posterior, &r);
  return idm_journal_put(s->work.journal, s->work.step, &r, opt_error);
}

idm_status idm_cut_apply(const idm_cut_draws *cut, size_t k, idm_problem *problem,
                         idm_error *opt_error)
{
  idm_require(cut, problem);
  const idm_dynamics_draws *draws = cut->draws;
  const size_t all = draws->chains * draws->draws;
  if (!cut->count || cut->count > all || k >= cut->count)
    return idm_fail(opt_error, IDM_INPUT,
                    "%zu draws of the dynamics are requested; the run has %zu", cut->count, all);
  const size_t at = (2 * k + 1) * all / (2 * cut->count);
  idm_dynamics *dynamics;
  idm_status status =
      idm_dynamics_create(idm_setting_sizes(cut->learnt->setting), &dynamics, opt_error);
  if (status != IDM_OK) return status;
  status = idm_dynamics_of_draw(cut->learnt, draws, at / draws->draws, at % draws->draws, dynamics,
                                opt_error);
  if (status == IDM_OK) status = idm_problem_set_dynamics(problem, dynamics, opt_error);
  idm_dynamics_destroy(dynamics);
  return status;
}

idm_status idm_cut_fit(const idm_problem *problem, const idm_data *data, const idm_inverse *inverse,
                       const idm_fit_settings *settings, const idm_cut_draws *cut,
                       const idm_fit_monitor *opt_monitor, idm_posterior **ret_posterior,
                       idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(problem, data, inverse, settings, cut, ret_posterior);
  *ret_posterior = NULL;
  idm_fit_settings own = *settings;
  own.keep = IDM_KEEP_NOTHING; /* likelihoods under different dynamics cannot be pooled */
  idm_problem *modified = NULL;
  idm_posterior *last = NULL;
  fit_progress s = {.watch = opt_monitor, .fits = cut->count};
  idm_record r;
  idm_status status = idm_journal_create("idmcut1", opt_monitor, &s.work.journal, opt_error);
  if (status == IDM_OK) status = idm_problem_clone(problem, &modified, opt_error);
  for (size_t k = 0; status == IDM_OK && (k == 0 || k < cut->count); k++) {
    s.work.step = k;
    status = idm_cut_apply(cut, k, modified, opt_error);
    /* The last fit is always run or resumed: the pool takes its shape from it. */
    if (status != IDM_OK || (k + 1 < cut->count && idm_journal_get(s.work.journal, k, &r)))
      continue;
    idm_posterior_destroy(last);
    last = NULL;
    status = fit_one(inverse, modified, data, &own, &s, &last, opt_notes, opt_error);
  }
  if (status == IDM_OK)
    status = pool_draws(s.work.journal, last, cut->count, opt_monitor, ret_posterior, opt_error);
  if (status == IDM_OK) status = keep_dynamics(cut, modified, *ret_posterior, opt_error);
  idm_posterior_destroy(last);
  idm_clone_destroy(modified);
  idm_journal_destroy(s.work.journal);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  return status;
}
