/* The inverse planners `map`, `laplace` and `bayes`.
 *
 * Contents: map · laplace · bayes */
#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "infer/approximation.h"
#include "infer/chains.h"
#include "invert/cancel.h"
#include "invert/checks.h"
#include "invert/matching.h"
#include "invert/matching/fit.h"
#include "invert/posterior.h"

/* === map ==================================================================================== */

/* Inverse planner `map`: the mode of the posterior, by L-BFGS from several starts. */

extern const idm_inverse idm_inverse_map; /* registered below */

static idm_status fit_map(const idm_fit_arguments *call, idm_posterior **ret_posterior,
                          idm_error *opt_error)
{
  fit_context f;
  idm_cancel cancel;
  idm_cancel_init(&cancel, call->opt_monitor, "searching for the mode");
  idm_status status = idm_fit_open_cancel(&f, call->inverse, call->problem, call->data,
                                          call->settings, 1, &cancel, opt_error);
  if (status != IDM_OK) return status;
  chain_start *best = NULL;
  idm_statistics statistics = {
      .acceptance = NAN, .step_size = NAN, .energy = NAN, .tree_depth = -1, .evaluations = -1};
  status = idm_start_create(f.parameters->dimension, &best, opt_error);
  if (status == IDM_OK) status = idm_start_best(&f, best, opt_error);
  if (status == IDM_OK)
    status = idm_posterior_create(&f, call->inverse, "l-bfgs", 1, 1, ret_posterior, opt_error);
  if (status == IDM_OK) {
    statistics.log_density = best->log_density;
    idm_posterior_store_draw(&f, *ret_posterior, 0, 0, best->mode, &statistics);
    (*ret_posterior)->warmup = 0;
    status = idm_posterior_complete(&f, *ret_posterior, call->opt_notes, opt_error);
  }
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  idm_start_destroy(best);
  idm_fit_close(&f);
  return status;
}

static const char *const settings[] = {"chains", "seed", "log_likelihood", "prior_draws", NULL};

const idm_inverse idm_inverse_map = {
    .name = "map",
    .summary = "soft policy matching: the most probable free numbers, by L-BFGS from many starts",
    .answer = IDM_POINT,
    .opaque = true,
    .row = "Soft policy matching",
    .settings = settings,
    .fit = fit_map,
};

/* === laplace ================================================================================ */

/* Inverse planner `laplace`: draws from the normal approximation at the mode, with importance
 * weights that measure its distance from the posterior (docs/method/inference.md, 7). */

extern const idm_inverse idm_inverse_laplace; /* registered below */

/* Sums of the importance weights of the draws and of their squares. */
typedef struct importance_sums {
  idm_log_sum first;
  idm_log_sum square;
  double count;
} importance_sums;

static void add_weight(importance_sums *w, double log_weight)
{
  w->count++;
  if (isnan(log_weight)) return;
  idm_log_sum_add(&w->first, log_weight);
  idm_log_sum_add(&w->square, 2 * log_weight);
}

/* (sum w)^2 / sum w^2 over the number of draws; 0 if no draw has a weight. */
static double effective_share(const importance_sums *w)
{
  const double square = idm_log_sum_value(w->square);
  return square > -INFINITY ? exp(2 * idm_log_sum_value(w->first) - square) / w->count : 0;
}

/* Find the highest mode of all starts, and the covariance there. */
static idm_status find_mode(const fit_context *f, chain_start *best, idm_error *opt_error)
{
  idm_status status = idm_start_best(f, best, opt_error);
  const idm_target target = idm_matching_target(f->matching[0]);
  if (status == IDM_OK)
    status = idm_laplace(&target, best->mode, best->covariance, NULL, &best->definite, opt_error);
  /* The other matchings compute the log-likelihoods of their chains. */
  for (size_t i = 1; i < f->matchings && status == IDM_OK; i++)
    status = idm_matching_fix_start(f->matching[i], best->mode, opt_error);
  if (status == IDM_OK && !best->definite)
    status = idm_fail(opt_error, IDM_NUMERICAL,
                      "the highest point found is not a peak: the posterior has no normal "
                      "approximation; use --inverse bayes");
  return status;
}

/* Draw independent normal variates, with one stream per chain. */
static idm_status draw(const fit_context *f, const chain_start *mode_start, const double *factor,
                       double *y, idm_posterior *p, importance_sums *w, idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[0]);
  const size_t d = target.dimension;
  for (size_t c = 0; c < p->chains; c++) {
    idm_random random;
    idm_random_init(&random, f->key, c);
    for (size_t i = 0; i < p->draws; i++) {
      idm_statistics s = {
          .acceptance = NAN, .step_size = NAN, .energy = NAN, .tree_depth = -1, .evaluations = 1};
      double square = 0;
      for (size_t k = 0; k < d; k++) {
        y[k] = idm_random_normal(&random);
        square += y[k] * y[k];
      }
      idm_lower_multiply(d, factor, y);
      for (size_t k = 0; k < d; k++) y[k] += mode_start->mode[k];
      const idm_status status = target.evaluate(target.context, y, &s.log_density, NULL, opt_error);
      if (status != IDM_OK) return status;
      add_weight(w, s.log_density - mode_start->log_density + 0.5 * square);
      idm_posterior_store_draw(f, p, c, i, y, &s);
    }
  }
  return IDM_OK;
}

static idm_status draw_all(const fit_context *f, const chain_start *mode_start, idm_posterior *p,
                           idm_notes *opt_notes, idm_error *opt_error)
{
  const size_t d = f->parameters->dimension;
  importance_sums w = {idm_log_sum_empty, idm_log_sum_empty, 0};
  double *y = idm_new(d, sizeof *y);
  double *factor = idm_duplicate(mode_start->covariance, d * d, sizeof *factor);
  idm_status status = y && factor && idm_cholesky(d, factor) ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = draw(f, mode_start, factor, y, p, &w, opt_error);
  const double share = effective_share(&w);
  if (status == IDM_OK)
    idm_notes_add(opt_notes,
                  "the draws are of a normal approximation at the mode; importance weights leave "
                  "%.0f %% of them effective%s",
                  100 * share,
                  share < idm_check_threshold(IDM_CHECK_APPROXIMATION) ? ": use --inverse bayes"
                                                                       : "");
  free(factor);
  free(y);
  return status;
}

static idm_status fit_laplace(const idm_fit_arguments *call, idm_posterior **ret_posterior,
                              idm_error *opt_error)
{
  fit_context f;
  chain_start *mode_start = NULL;
  idm_cancel cancel;
  idm_cancel_init(&cancel, call->opt_monitor, "searching for the mode");
  idm_status status = idm_fit_check_size(call->data, call->settings, opt_error);
  if (status == IDM_OK)
    status = idm_fit_open_cancel(&f, call->inverse, call->problem, call->data, call->settings,
                                 call->settings->chains, &cancel, opt_error);
  if (status != IDM_OK) return status;
  status = idm_start_create(f.parameters->dimension, &mode_start, opt_error);
  if (status == IDM_OK) status = find_mode(&f, mode_start, opt_error);
  if (status == IDM_OK)
    status = idm_posterior_create(&f, call->inverse, "normal", call->settings->chains,
                                  (size_t)call->settings->draws, ret_posterior, opt_error);
  if (status == IDM_OK) {
    (*ret_posterior)->warmup = 0;
    status = draw_all(&f, mode_start, *ret_posterior, call->opt_notes, opt_error);
  }
  if (status == IDM_OK)
    status = idm_posterior_complete(&f, *ret_posterior, call->opt_notes, opt_error);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  idm_start_destroy(mode_start);
  idm_fit_close(&f);
  return status;
}

static const char *const laplace_settings[] = {"chains",         "draws",       "seed",
                                               "log_likelihood", "prior_draws", NULL};

const idm_inverse idm_inverse_laplace = {
    .name = "laplace",
    .summary = "soft policy matching: draws from the normal approximation at the mode",
    .answer = IDM_POSTERIOR,
    .row = "Soft policy matching",
    .normal = true,
    .settings = laplace_settings,
    .fit = fit_laplace,
};

/* === bayes ================================================================================== */

/* Inverse planner `bayes`: the posterior of the free numbers, by Markov chains.
 *
 * Contents: starts · sampling · posterior */

extern const idm_inverse idm_inverse_bayes; /* registered below */

/* First random stream, beyond those of chains, starts and draws of the prior. */
static const uint64_t exploration_stream = (uint64_t)4 << 32;

/* --- starts ---------------------------------------------------------------------------------- */

/* Starting points of all chains, found in parallel, and their common proposal density. */
typedef struct chain_starts {
  const fit_context *f;
  bool plain;          /* the sampler uses no mode */
  chain_start **start; /* [chain] */
  idm_status *status;  /* [chain] */
  idm_error *error;    /* [chain] */
  idm_exploration *exploration;
  idm_mixture *mixture; /* NULL: none */
} chain_starts;

/* Start multipliers at 1, other numbers at the problem's own values. */
static idm_status start_at_default(const fit_context *f, size_t chain, chain_start *s,
                                   idm_error *opt_error)
{
  idm_parameters_get(f->parameters, f->problem->theta, s->x);
  for (size_t i = 0; i < f->parameters->items; i++)
    if (f->parameters->item[i].scale == IDM_SCALE_LOG) s->x[f->parameters->item[i].first] = 0;
  return idm_matching_fix_start(f->matching[chain], s->x, opt_error);
}

static void find_start(void *context, size_t chain)
{
  const chain_starts *b = context;
  b->status[chain] = b->plain ? start_at_default(b->f, chain, b->start[chain], &b->error[chain])
                              : idm_start_find(b->f, chain, b->start[chain], &b->error[chain]);
}

static void prepare_start(void *context, size_t chain)
{
  const chain_starts *b = context;
  b->status[chain] = idm_start_prepare(b->f, chain, b->start[chain], &b->error[chain]);
}

static void chain_starts_clear(chain_starts *b)
{
  for (size_t i = 0; b->start && i < b->f->matchings; i++) idm_start_destroy(b->start[i]);
  idm_mixture_destroy(b->mixture);
  idm_exploration_destroy(b->exploration);
  free(b->start);
  free(b->status);
  free(b->error);
}

/* Run a task for every chain in parallel. */
static idm_status for_each_chain(chain_starts *b, void (*task)(void *context, size_t chain),
                                 idm_error *opt_error)
{
  idm_status status = idm_cancel_parallel(b->f->parameters->cancel, b->f->matchings,
                                          b->f->settings->threads, task, b, opt_error);
  for (size_t i = 0; i < b->f->matchings && status == IDM_OK; i++) {
    status = b->status[i];
    if (status != IDM_OK && opt_error) *opt_error = b->error[i];
  }
  return status;
}

/* Number of exploration points per stream: a small share of the steps of a chain. */
static size_t exploration_draws(const fit_context *f)
{
  enum { min_draws = 8, default_draws = 100, table_draws = 50, default_thin = 4, share = 40 };
  const size_t max_draws = f->table ? table_draws : default_draws; /* chains on a table are cheap */
  const idm_fit_settings *s = f->settings;
  const long thin = s->thin > 0 ? s->thin : default_thin;
  const double steps = ((double)s->warmup + (double)s->draws) * (double)thin;
  return (size_t)fmin(fmax(steps / share, min_draws), (double)max_draws);
}

/* Explore the posterior, and choose the start of every chain. */
static idm_status explore_posterior(chain_starts *b, idm_error *opt_error)
{
  enum { rounds = 2 };
  const fit_context *f = b->f;
  const size_t pilot_draws = exploration_draws(f);
  idm_status status =
      idm_exploration_create(f, f->matchings, exploration_stream,
                             (1 + rounds) * pilot_draws * f->matchings, &b->exploration, opt_error);
  if (status == IDM_OK)
    status = idm_explore_modes(b->exploration, b->start, f->matchings, pilot_draws, opt_error);
  for (int i = 0; i < rounds && status == IDM_OK; i++)
    status = idm_explore_round(b->exploration, pilot_draws, opt_error);
  for (size_t i = 0; i < f->matchings && status == IDM_OK; i++)
    status = idm_explore_start(b->exploration, i, b->start[i], opt_error);
  return status == IDM_OK ? idm_exploration_mixture(b->exploration, &b->mixture, opt_error)
                          : status;
}

/* Without exploration: replace modes so much lower than the highest that their posterior mass is
 * negligible. */
static void replace_low_modes(const chain_starts *b)
{
  static const double negligible_drop =
      50; /* exp(-50), negligible for any widths of the two modes */
  const size_t d = b->f->parameters->dimension;
  const chain_start *best = b->start[0];
  for (size_t i = 1; i < b->f->matchings; i++)
    if (b->start[i]->log_density > best->log_density) best = b->start[i];
  for (size_t i = 0; i < b->f->matchings; i++) {
    chain_start *s = b->start[i];
    if (s->log_density > best->log_density - negligible_drop) continue;
    memcpy(s->mode, best->mode, d * sizeof *s->mode);
    if (idm_start_is_dense(d)) memcpy(s->covariance, best->covariance, d * d * sizeof(double));
    s->definite = best->definite;
  }
}

static idm_status prepare_starts(const fit_context *f, bool plain, chain_starts *b,
                                 idm_error *opt_error)
{
  enum { max_explored = 20 };
  const size_t n = f->matchings;
  *b = (chain_starts){.f = f, .plain = plain};
  b->start = idm_new(n, sizeof *b->start);
  b->status = idm_new(n, sizeof *b->status);
  b->error = idm_new(n, sizeof *b->error);
  idm_status status = b->start && b->status && b->error ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < n && status == IDM_OK; i++)
    status = idm_start_create(f->parameters->dimension, &b->start[i], opt_error);
  if (status == IDM_OK) status = for_each_chain(b, find_start, opt_error);
  if (status != IDM_OK || plain) return status;
  if (f->parameters->dimension <= max_explored)
    status = explore_posterior(b, opt_error);
  else
    replace_low_modes(b);
  return status == IDM_OK ? for_each_chain(b, prepare_start, opt_error) : status;
}

/* --- sampling ------------------------------------------------------------------------------- */

static idm_status start_chains(const chain_starts *b, idm_chains *chains, const idm_target *target,
                               idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < b->f->matchings && status == IDM_OK; i++) {
    const chain_start *s = b->start[i];
    status = idm_chains_start(chains, i, &target[i], s->x, b->plain ? NULL : s->mode,
                              b->plain ? NULL : s->covariance, opt_error);
  }
  return status;
}

/* Run the chains; if they mix slowly, rerun them with more steps per draw. */
static idm_status run_chains(const chain_starts *b, idm_chains *chains, const idm_target *target,
                             const idm_fit_monitor *watch, idm_cancel *cancel, idm_error *opt_error)
{
  idm_fit_monitor own = *watch;
  idm_status status = IDM_OK;
  for (long steps = 1; steps && status == IDM_OK;) {
    status = start_chains(b, chains, target, opt_error);
    if (status == IDM_OK) status = idm_sampling_run(chains, target, &own, cancel, opt_error);
    if (status == IDM_OK)
      status = idm_sampling_more_steps(b->f->settings, chains, &steps, opt_error);
    if (status == IDM_OK && steps) chains->settings.kernel.thin = steps;
    own.checkpoint = NULL;
  }
  return status;
}

static idm_status sample(const fit_context *f, const idm_sampler *sampler,
                         const idm_fit_monitor *watch, idm_cancel *cancel, idm_chains **ret_chains,
                         idm_error *opt_error)
{
  chain_starts b = {.f = f};
  const size_t n = f->matchings;
  idm_target *target = idm_new(n, sizeof *target);
  idm_status status = target ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < n && status == IDM_OK; i++)
    target[i] = idm_matching_target(f->matching[i]);
  *ret_chains = NULL;
  if (status == IDM_OK) status = prepare_starts(f, sampler->plain, &b, opt_error);
  if (status == IDM_OK)
    status = idm_sampling_create(f->settings, sampler, f->key, f->parameters->dimension, b.mixture,
                                 cancel, ret_chains, opt_error);
  if (status == IDM_OK) status = run_chains(&b, *ret_chains, target, watch, cancel, opt_error);
  /* After a stop, the posterior of the existing draws is still computed. */
  f->parameters->cancel = NULL;
  chain_starts_clear(&b);
  free(target);
  return status;
}

/* --- posterior ------------------------------------------------------------------------------- */

/* Store the draws that all chains have as a posterior. */
static idm_status collect_posterior(const fit_context *f, const idm_chains *chains,
                                    idm_posterior **ret_posterior, idm_notes *opt_notes,
                                    idm_error *opt_error)
{
  long draws = 0;
  idm_status status = idm_sampling_common(chains, &draws, opt_notes, opt_error);
  if (status != IDM_OK) return status;
  if (chains->settings.kernel.thin != f->settings->thin)
    idm_notes_add(opt_notes,
                  "fewer steps left the draws too uncertain: the chains were run again with %ld "
                  "steps per draw",
                  chains->settings.kernel.thin);
  status = idm_posterior_create(f, &idm_inverse_bayes, chains->settings.sampler->name, f->matchings,
                                (size_t)draws, ret_posterior, opt_error);
  for (size_t c = 0; c < f->matchings && status == IDM_OK; c++)
    for (size_t i = 0; i < (size_t)draws; i++) {
      const size_t at = c * (size_t)chains->settings.draws + i;
      idm_posterior_store_draw(f, *ret_posterior, c, i, chains->draw + at * chains->dimension,
                               &chains->statistics[at]);
    }
  if (status == IDM_OK) (*ret_posterior)->steps = idm_sampling_steps(chains);
  if (status == IDM_OK) status = idm_posterior_complete(f, *ret_posterior, opt_notes, opt_error);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  return status;
}

/* If planning is slow, create a table that replaces it for the chains. */
static idm_status make_table(fit_context *f, const idm_sampler *sampler,
                             idm_likelihood_table **ret_table, idm_error *opt_error)
{
  *ret_table = NULL;
  if (sampler->plain || sampler->gradient) return IDM_OK;
  idm_status status = idm_tabulate(f, ret_table, opt_error);
  f->table = *ret_table;
  for (size_t i = 0; i < f->matchings && status == IDM_OK; i++)
    status = idm_fit_use_table(f, f->matching[i], opt_error);
  return status;
}

static idm_status fit_bayes(const idm_fit_arguments *call, idm_posterior **ret_posterior,
                            idm_error *opt_error)
{
  static const idm_fit_monitor no_watch = {0};
  fit_context f;
  idm_chains *chains = NULL;
  idm_likelihood_table *table = NULL;
  const idm_sampler *sampler;
  const idm_fit_monitor *watch = call->opt_monitor ? call->opt_monitor : &no_watch;
  idm_cancel cancel;
  idm_cancel_init(&cancel, watch, "searching for starting points");
  idm_status status = idm_fit_check_size(call->data, call->settings, opt_error);
  if (status == IDM_OK)
    status = idm_fit_open_cancel(&f, call->inverse, call->problem, call->data, call->settings,
                                 call->settings->chains, &cancel, opt_error);
  if (status != IDM_OK) return status;
  status = idm_sampling_sampler(call->settings, f.parameters->dimension, &sampler, call->opt_notes,
                                opt_error);
  if (status == IDM_OK) status = make_table(&f, sampler, &table, opt_error);
  if (status == IDM_OK) status = sample(&f, sampler, watch, &cancel, &chains, opt_error);
  for (size_t i = 0; i < f.matchings && status == IDM_OK; i++)
    status = idm_matching_use_table(f.matching[i], NULL, NULL, opt_error);
  if (status == IDM_OK)
    status = collect_posterior(&f, chains, ret_posterior, call->opt_notes, opt_error);
  if (status == IDM_OK)
    (*ret_posterior)->table = table;
  else
    idm_table_destroy(table);
  idm_chains_destroy(chains);
  idm_fit_close(&f);
  return status;
}

static const char *const bayes_settings[] = {"sampler",     "chains", "draws", "warmup",
                                             "thin",        "depth",  "seed",  "log_likelihood",
                                             "prior_draws", NULL};

const idm_inverse idm_inverse_bayes = {
    .name = "bayes",
    .summary = "soft policy matching: the posterior of the free numbers, by Markov chains",
    .answer = IDM_POSTERIOR,
    .row = "Soft policy matching",
    .settings = bayes_settings,
    .fit = fit_bayes,
};
