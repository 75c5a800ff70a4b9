/* The inverse planner `bayes`: the posterior of the free numbers, by Markov chains.
 *
 * Contents: beginning · sampling · the answer */
#include <math.h>

#include "base/memory.h"
#include "idm/chains.h"
#include "idm/matching.h"
#include "invert/matching/assemble.h"
#include "invert/matching/drawing.h"
#include "invert/matching/explore.h"
#include "invert/matching/halt.h"
#include "invert/matching/matching.h"
#include "invert/matching/start.h"
#include "invert/matching/tabulate.h"

extern const idm_inverse idm_inverse_bayes; /* registered below */

/* Streams beyond those of chains, starts and draws of the prior. */
static const uint64_t exploration_stream = (uint64_t)4 << 32;

/* --- beginning ------------------------------------------------------------------------------ */

/* Starting points of all chains, found side by side, and proposals that all of them share. */
typedef struct beginning {
  const fit *f;
  bool plain;         /* no mode is known */
  start **start;      /* [chain] */
  idm_status *status; /* [chain] */
  idm_error *error;   /* [chain] */
  idm_exploration *exploration;
  idm_mixture *mixture; /* NULL where there is none */
} beginning;

/* Multipliers start at 1, anything else at the problem's own value. */
static idm_status start_plainly(const fit *f, size_t chain, start *s, idm_error *opt_error)
{
  idm_parameters_get(f->parameters, f->problem->theta, s->x);
  for (size_t i = 0; i < f->parameters->items; i++)
    if (f->parameters->item[i].scale == IDM_SCALE_LOG) s->x[f->parameters->item[i].first] = 0;
  return idm_matching_anchor(f->matching[chain], s->x, opt_error);
}

static void find_start(void *context, size_t chain)
{
  const beginning *b = context;
  b->status[chain] = b->plain ? start_plainly(b->f, chain, b->start[chain], &b->error[chain])
                              : idm_start_find(b->f, chain, b->start[chain], &b->error[chain]);
}

static void settle_start(void *context, size_t chain)
{
  const beginning *b = context;
  b->status[chain] = idm_start_settle(b->f, chain, b->start[chain], &b->error[chain]);
}

static void end_beginning(beginning *b)
{
  for (size_t i = 0; b->start && i < b->f->matchings; i++) idm_start_destroy(b->start[i]);
  idm_mixture_destroy(b->mixture);
  idm_exploration_destroy(b->exploration);
  free(b->start);
  free(b->status);
  free(b->error);
}

/* Do something for every chain. */
static idm_status each(beginning *b, void (*task)(void *context, size_t chain),
                       idm_error *opt_error)
{
  idm_status status = idm_halt_parallel(b->f->parameters->halt, b->f->matchings,
                                        b->f->settings->threads, task, b, opt_error);
  for (size_t i = 0; i < b->f->matchings && status == IDM_OK; i++) {
    status = b->status[i];
    if (status != IDM_OK && opt_error) *opt_error = b->error[i];
  }
  return status;
}

/* Points of a lane that cost a small share of what its chain will. */
static size_t effort(const fit *f)
{
  enum { least = 8, usual = 100, tabled = 50, steps_a_draw = 4, share = 40 };
  const size_t most = f->table ? tabled : usual; /* chains on a table cost next to nothing */
  const idm_fit_settings *s = f->settings;
  const long thin = s->thin > 0 ? s->thin : steps_a_draw;
  const double steps = ((double)s->warmup + (double)s->draws) * (double)thin;
  return (size_t)fmin(fmax(steps / share, least), (double)most);
}

/* Look at the whole posterior, share what was found, and give every chain its place. */
static idm_status explore(beginning *b, idm_error *opt_error)
{
  enum { rounds = 2 };
  const fit *f = b->f;
  const size_t looks = effort(f);
  idm_status status =
      idm_exploration_create(f, f->matchings, exploration_stream,
                             (1 + rounds) * looks * f->matchings, &b->exploration, opt_error);
  if (status == IDM_OK)
    status = idm_explore_modes(b->exploration, b->start, f->matchings, looks, opt_error);
  for (int i = 0; i < rounds && status == IDM_OK; i++)
    status = idm_explore_round(b->exploration, looks, opt_error);
  for (size_t i = 0; i < f->matchings && status == IDM_OK; i++)
    status = idm_explore_start(b->exploration, i, b->start[i], opt_error);
  return status == IDM_OK ? idm_exploration_mixture(b->exploration, &b->mixture, opt_error)
                          : status;
}

/* Where nothing is explored: give up a mode for the highest, where it is so much lower that no
 * posterior is left in it. */
static void give_up_low_modes(const beginning *b)
{
  static const double hopeless = 50; /* exp(-50): whatever the widths of the two modes */
  const size_t d = b->f->parameters->dimension;
  const start *best = b->start[0];
  for (size_t i = 1; i < b->f->matchings; i++)
    if (b->start[i]->log_density > best->log_density) best = b->start[i];
  for (size_t i = 0; i < b->f->matchings; i++) {
    start *s = b->start[i];
    if (s->log_density > best->log_density - hopeless) continue;
    memcpy(s->mode, best->mode, d * sizeof *s->mode);
    if (idm_start_is_dense(d)) memcpy(s->covariance, best->covariance, d * d * sizeof(double));
    s->definite = best->definite;
  }
}

static idm_status begin(const fit *f, bool plain, beginning *b, idm_error *opt_error)
{
  enum { most_explored = 20 };
  const size_t n = f->matchings;
  *b = (beginning){.f = f, .plain = plain};
  b->start = idm_new(n, sizeof *b->start);
  b->status = idm_new(n, sizeof *b->status);
  b->error = idm_new(n, sizeof *b->error);
  idm_status status = b->start && b->status && b->error ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < n && status == IDM_OK; i++)
    status = idm_start_create(f->parameters->dimension, &b->start[i], opt_error);
  if (status == IDM_OK) status = each(b, find_start, opt_error);
  if (status != IDM_OK || plain) return status;
  if (f->parameters->dimension <= most_explored)
    status = explore(b, opt_error);
  else
    give_up_low_modes(b);
  return status == IDM_OK ? each(b, settle_start, opt_error) : status;
}

/* --- sampling ------------------------------------------------------------------------------- */

static idm_status start_chains(const beginning *b, idm_chains *chains, const idm_target *target,
                               idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < b->f->matchings && status == IDM_OK; i++) {
    const start *s = b->start[i];
    status = idm_chains_start(chains, i, &target[i], s->x, b->plain ? NULL : s->mode,
                              b->plain ? NULL : s->covariance, opt_error);
  }
  return status;
}

/* Run the chains; those that mixed slowly begin anew with more steps a draw. */
static idm_status run(const beginning *b, idm_chains *chains, const idm_target *target,
                      const idm_fit_watch *watch, idm_halt *halt, idm_error *opt_error)
{
  idm_fit_watch own = *watch;
  idm_status status = IDM_OK;
  for (long steps = 1; steps && status == IDM_OK;) {
    status = start_chains(b, chains, target, opt_error);
    if (status == IDM_OK) status = idm_drawing_run(chains, target, &own, halt, opt_error);
    if (status == IDM_OK) status = idm_drawing_more(b->f->settings, chains, &steps, opt_error);
    if (status == IDM_OK && steps) chains->settings.kernel.thin = steps;
    own.checkpoint = NULL;
  }
  return status;
}

static idm_status sample(const fit *f, const idm_sampler *sampler, const idm_fit_watch *watch,
                         idm_halt *halt, idm_chains **ret_chains, idm_error *opt_error)
{
  beginning b = {.f = f};
  const size_t n = f->matchings;
  idm_target *target = idm_new(n, sizeof *target);
  idm_status status = target ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < n && status == IDM_OK; i++)
    target[i] = idm_matching_target(f->matching[i]);
  *ret_chains = NULL;
  if (status == IDM_OK) status = begin(f, sampler->plain, &b, opt_error);
  if (status == IDM_OK)
    status = idm_drawing_create(f->settings, sampler, f->key, f->parameters->dimension, b.mixture,
                                halt, ret_chains, opt_error);
  if (status == IDM_OK) status = run(&b, *ret_chains, target, watch, halt, opt_error);
  /* What was drawn is told, whoever has asked to stop. */
  f->parameters->halt = NULL;
  end_beginning(&b);
  free(target);
  return status;
}

/* --- the answer ----------------------------------------------------------------------------- */

/* Draws that every chain has, as an answer. */
static idm_status gather(const fit *f, const idm_chains *chains, idm_posterior **ret_posterior,
                         idm_notes *opt_notes, idm_error *opt_error)
{
  long draws = 0;
  idm_status status = idm_drawing_common(chains, &draws, opt_notes, opt_error);
  if (status != IDM_OK) return status;
  if (chains->settings.kernel.thin != f->settings->thin)
    idm_notes_add(opt_notes,
                  "fewer steps left the draws too uncertain: the chains were run again with %ld "
                  "steps a draw",
                  chains->settings.kernel.thin);
  status = idm_posterior_create(f, &idm_inverse_bayes, chains->settings.sampler->name, f->matchings,
                                (size_t)draws, ret_posterior, opt_error);
  for (size_t c = 0; c < f->matchings && status == IDM_OK; c++)
    for (size_t i = 0; i < (size_t)draws; i++) {
      const size_t at = c * (size_t)chains->settings.draws + i;
      idm_posterior_put(f, *ret_posterior, c, i, chains->draw + at * chains->dimension,
                        &chains->statistics[at]);
    }
  if (status == IDM_OK) (*ret_posterior)->steps = idm_drawing_steps(chains);
  if (status == IDM_OK) status = idm_posterior_complete(f, *ret_posterior, opt_notes, opt_error);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  return status;
}

/* Where planning is dear, a table for the chains to walk on. */
static idm_status tabulate(fit *f, const idm_sampler *sampler, idm_table **ret_table,
                           idm_error *opt_error)
{
  *ret_table = NULL;
  if (sampler->plain || sampler->gradient) return IDM_OK;
  idm_status status = idm_tabulate(f, ret_table, opt_error);
  f->table = *ret_table;
  for (size_t i = 0; i < f->matchings && status == IDM_OK; i++)
    status = idm_fit_stand_in(f, f->matching[i], opt_error);
  return status;
}

static idm_status fit_bayes(const idm_fit_call *call, idm_posterior **ret_posterior,
                            idm_error *opt_error)
{
  static const idm_fit_watch nobody = {0};
  fit f;
  idm_chains *chains = NULL;
  idm_table *table = NULL;
  const idm_sampler *sampler;
  const idm_fit_watch *watch = call->opt_watch ? call->opt_watch : &nobody;
  idm_halt halt;
  idm_halt_begin(&halt, watch, "looking for where to start");
  idm_status status = idm_fit_check_size(call->data, call->settings, opt_error);
  if (status == IDM_OK)
    status = idm_fit_open_halted(&f, call->inverse, call->problem, call->data, call->settings,
                                 call->settings->chains, &halt, opt_error);
  if (status != IDM_OK) return status;
  status = idm_drawing_sampler(call->settings, f.parameters->dimension, &sampler, opt_error);
  if (status == IDM_OK) status = tabulate(&f, sampler, &table, opt_error);
  if (status == IDM_OK) status = sample(&f, sampler, watch, &halt, &chains, opt_error);
  for (size_t i = 0; i < f.matchings && status == IDM_OK; i++)
    status = idm_matching_stand_in(f.matching[i], NULL, NULL, opt_error);
  if (status == IDM_OK) status = gather(&f, chains, ret_posterior, call->opt_notes, opt_error);
  if (status == IDM_OK)
    (*ret_posterior)->table = table;
  else
    idm_table_destroy(table);
  idm_chains_destroy(chains);
  idm_fit_close(&f);
  return status;
}

static const char *const settings[] = {"sampler", "chains", "draws",          "warmup",      "thin",
                                       "depth",   "seed",   "log_likelihood", "prior_draws", NULL};

const idm_inverse idm_inverse_bayes = {
    .name = "bayes",
    .summary = "soft policy matching: the posterior of the free numbers, by Markov chains",
    .answer = IDM_POSTERIOR,
    .row = "Soft policy matching",
    .settings = settings,
    .fit = fit_bayes,
};
