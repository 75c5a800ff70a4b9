/* The chains of a fit.
 *
 * Contents: work under way · chains */
#include "invert/matching/drawing.h"

#include <math.h>

#include "base/number.h"
#include "base/record.h"
#include "idm/check.h"
#include "idm/diagnostics.h"
#include "idm/samplers.h"
#include "infer/metropolis.h"
#include "invert/check.h"

/* Streams of chains that are run again, beyond all others of a fit. */
static const uint64_t again_stream = (uint64_t)7 << 32;
/* Chains that are run again have so many times the steps a draw, at most so many times those that
 * the sampler begins with: where they mix slowly, and where a posterior is too uncertain. */
enum { more = 4, most = 64, most_again = 16 };

/* --- work under way ------------------------------------------------------------------------- */

/* Chains that somebody watches. */
typedef struct watched {
  const idm_fit_watch *watch;
  const idm_chains *chains;
  idm_halt *halt;
} watched;

static long draws_of(const idm_chains *c, size_t chain)
{
  return c->done[chain] - c->settings.kernel.warmup;
}

/* The least bulk effective sample size over the coordinates, of the draws so far: chains may be at
 * different places, so each is asked alone. */
static double worst_ess(const idm_chains *c)
{
  double worst = INFINITY;
  for (size_t i = 0; i < c->dimension; i++) {
    double sum = 0;
    for (size_t k = 0; k < c->settings.chains; k++) {
      const long draws = draws_of(c, k);
      const double *x = c->draw + k * (size_t)c->settings.draws * c->dimension + i;
      idm_diagnosis d;
      if (draws >= 8 && idm_diagnose(x, 1, (size_t)draws, 0, c->dimension, &d, NULL) == IDM_OK &&
          d.ess_bulk > 0)
        sum += d.ess_bulk;
    }
    worst = fmin(worst, sum);
  }
  return worst;
}

static void describe(const void *content, char *buffer, size_t size)
{
  const idm_chains *c = ((const watched *)content)->chains;
  double acceptance = 0;
  double counted = 0;
  for (size_t i = 0; i < c->settings.chains; i++) {
    const long draws = draws_of(c, i);
    if (draws < 1) continue;
    acceptance += c->statistics[i * (size_t)c->settings.draws + (size_t)draws - 1].acceptance;
    counted++;
  }
  if (counted > 0)
    idm_print(buffer, size, "acceptance %.2f, ESS %.0f", acceptance / counted, worst_ess(c));
  else
    idm_print(buffer, size, "warming up");
}

static idm_status save(const void *content, char **ret_bytes, size_t *ret_length,
                       idm_error *opt_error)
{
  const watched *w = content;
  return idm_chains_save(w->chains, w->watch->label, ret_bytes, ret_length, opt_error);
}

static bool monitor(void *context, const idm_chains *c)
{
  watched *content = context;
  idm_work work = {.content = content, .describe = describe, .save = save};
  content->chains = c;
  const double whole = (double)(c->settings.kernel.warmup + c->settings.draws);
  for (size_t i = 0; i < c->settings.chains; i++)
    work.done += (double)c->done[i] / whole / (double)c->settings.chains;
  content->halt->done = work.done;
  return content->watch->progress(content->watch->context, &work);
}

static idm_status load(idm_chains *chains, const idm_fit_watch *watch, idm_error *opt_error)
{
  return idm_record_blame(
      watch,
      idm_chains_load(chains, watch->label, watch->checkpoint, watch->checkpoint_length, opt_error),
      opt_error);
}

/* --- chains --------------------------------------------------------------------------------- */

idm_status idm_drawing_sampler(const idm_fit_settings *settings, size_t dimension,
                               const idm_sampler **ret_sampler, idm_error *opt_error)
{
  enum { few = 4 };
  const char *name = settings->sampler;
  if (!name[0]) name = dimension <= few ? "metropolis" : "nuts";
  *ret_sampler = idm_sampler_find(name);
  if (*ret_sampler) return IDM_OK;
  char names[160];
  return idm_fail(opt_error, IDM_USAGE, "the sampler '%s' is not known; expected %s", name,
                  idm_sampler_names(names, sizeof names));
}

static bool is_unwanted(void *halt)
{
  return idm_halt_ask(halt);
}

idm_status idm_drawing_create(const idm_fit_settings *settings, const idm_sampler *sampler,
                              uint64_t key, size_t dimension, const idm_mixture *opt_mixture,
                              idm_halt *halt, idm_chains **ret_chains, idm_error *opt_error)
{
  idm_chains_settings made = {.sampler = sampler,
                              .chains = settings->chains,
                              .draws = settings->draws,
                              .seed = key,
                              .threads = settings->threads,
                              .interrupt = is_unwanted,
                              .interrupt_context = halt};
  idm_sampler_settings_default(&made.kernel);
  made.kernel.warmup = settings->warmup;
  made.kernel.thin = settings->again ? settings->again : settings->thin;
  if (settings->depth) made.kernel.depth = (int)settings->depth;
  made.kernel.mixture = opt_mixture;
  const idm_status status = idm_chains_create(&made, dimension, ret_chains, opt_error);
  for (size_t i = 0; i < settings->chains && settings->again && status == IDM_OK; i++)
    idm_random_init(&(*ret_chains)->random[i], key,
                    again_stream + (uint64_t)settings->again * settings->chains + i);
  return status;
}

idm_status idm_drawing_run(idm_chains *chains, const idm_target *target, const idm_fit_watch *watch,
                           idm_halt *halt, idm_error *opt_error)
{
  watched content = {.watch = watch, .halt = halt};
  const idm_status status = watch->checkpoint ? load(chains, watch, opt_error) : IDM_OK;
  halt->words = "drawing";
  if (status != IDM_OK) return status;
  return idm_chains_run(chains, target, watch->progress ? monitor : NULL, &content, opt_error);
}

/* Whether R-hat and effective draws of every coordinate pass: those of a number are the same, as
 * both go by ranks. */
static idm_status find_settled(const idm_chains *c, bool *ret_settled, idm_error *opt_error)
{
  const size_t draws = (size_t)c->settings.draws;
  idm_status status = IDM_OK;
  *ret_settled = true;
  for (size_t i = 0; i < c->dimension && status == IDM_OK; i++) {
    idm_diagnosis one;
    status = idm_diagnose(c->draw + i, c->settings.chains, draws, draws * c->dimension,
                          c->dimension, &one, opt_error);
    if (status == IDM_OK)
      *ret_settled = *ret_settled && idm_check_holds(IDM_CHECK_RHAT, one.rhat) &&
                     idm_check_holds(IDM_CHECK_EFFECTIVE, fmin(one.ess_bulk, one.ess_tail));
  }
  return status;
}

/* Whether the steps a draw are the sampler's choice, and the draws are enough to pass. */
static bool may_have_more(const idm_fit_settings *settings, const idm_sampler *sampler)
{
  const double all = (double)settings->chains * (double)settings->draws;
  return sampler == &idm_sampler_metropolis && !settings->thin && settings->chains > 1 &&
         all >= 4 * idm_check_threshold(IDM_CHECK_EFFECTIVE);
}

long idm_drawing_steps(const idm_chains *chains)
{
  const bool own =
      !chains->settings.kernel.thin && chains->settings.sampler == &idm_sampler_metropolis;
  return own ? idm_metropolis_thin(chains->dimension) : chains->settings.kernel.thin;
}

idm_status idm_drawing_more(const idm_fit_settings *settings, const idm_chains *chains,
                            long *ret_steps, idm_error *opt_error)
{
  const long now = idm_drawing_steps(chains);
  const bool possible = may_have_more(settings, chains->settings.sampler) &&
                        now < most * idm_metropolis_thin(chains->dimension) &&
                        idm_chains_common(chains) == chains->settings.draws;
  bool settled = true;
  const idm_status status = possible ? find_settled(chains, &settled, opt_error) : IDM_OK;
  *ret_steps = settled ? 0 : more * now;
  return status;
}

long idm_drawing_again(const idm_fit_settings *settings, const idm_posterior *p)
{
  const bool possible = may_have_more(settings, idm_sampler_find(p->sampler)) && p->steps &&
                        p->steps < most_again * idm_metropolis_thin(idm_posterior_dimension(p)) &&
                        p->draws == (size_t)settings->draws;
  return possible ? more * p->steps : 0;
}

idm_status idm_drawing_common(const idm_chains *chains, long *ret_draws, idm_notes *opt_notes,
                              idm_error *opt_error)
{
  *ret_draws = idm_chains_common(chains);
  if (*ret_draws < 1)
    return idm_fail(opt_error, IDM_UNTRUSTED, "stopped in the warm-up, before the first draw");
  if (*ret_draws < chains->settings.draws)
    idm_notes_add(opt_notes, "stopped after %ld of %ld draws a chain", *ret_draws,
                  chains->settings.draws);
  return IDM_OK;
}
