/* Chains of a fit: sampler, progress, checkpoints, and reruns with more steps per draw.
 *
 * Contents: progress · chains */
#include "invert/matching/fit.h"

#include <math.h>
#include <string.h>

#include "base/record.h"
#include "base/text.h"
#include "infer/chains.h"
#include "invert/assess.h"
#include "invert/checks.h"

/* First random stream of reruns, beyond all others of a fit. */
static const uint64_t rerun_stream = (uint64_t)7 << 32;
/* A rerun has step_factor times the steps per draw, up to a multiple of the sampler's initial
 * number: max_step_factor if chains mix slowly, max_rerun_factor if a posterior is too uncertain.
 */
enum { step_factor = 4, max_step_factor = 64, max_rerun_factor = 16 };

/* --- progress -------------------------------------------------------------------------------- */

/* Chains with a monitor. */
typedef struct watched_chains {
  const idm_fit_monitor *watch;
  const idm_chains *chains;
  idm_cancel *cancel;
} watched_chains;

static long draws_of(const idm_chains *c, size_t chain)
{
  return c->done[chain] - c->settings.kernel.warmup;
}

/* The least bulk effective sample size over the coordinates, of the draws so far: summed over
 * chains, since chains may have different numbers of draws. */
static double min_ess(const idm_chains *c)
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
  const idm_chains *c = ((const watched_chains *)content)->chains;
  double acceptance = 0;
  double chain_count = 0;
  for (size_t i = 0; i < c->settings.chains; i++) {
    const long draws = draws_of(c, i);
    if (draws < 1) continue;
    acceptance += c->statistics[i * (size_t)c->settings.draws + (size_t)draws - 1].acceptance;
    chain_count++;
  }
  if (chain_count > 0)
    idm_print(buffer, size, "acceptance %.2f, ESS %.0f", acceptance / chain_count, min_ess(c));
  else
    idm_print(buffer, size, "warming up");
}

static idm_status save(const void *content, char **ret_bytes, size_t *ret_length,
                       idm_error *opt_error)
{
  const watched_chains *w = content;
  return idm_chains_save(w->chains, w->watch->label, ret_bytes, ret_length, opt_error);
}

static bool monitor(void *context, const idm_chains *c)
{
  watched_chains *content = context;
  idm_progress_state work = {.content = content, .describe = describe, .save = save};
  content->chains = c;
  const double whole = (double)(c->settings.kernel.warmup + c->settings.draws);
  for (size_t i = 0; i < c->settings.chains; i++)
    work.done += (double)c->done[i] / whole / (double)c->settings.chains;
  content->cancel->done = work.done;
  return content->watch->progress(content->watch->context, &work);
}

static idm_status load(idm_chains *chains, const idm_fit_monitor *watch, idm_error *opt_error)
{
  return idm_record_name_file(
      watch,
      idm_chains_load(chains, watch->label, watch->checkpoint, watch->checkpoint_length, opt_error),
      opt_error);
}

/* --- chains --------------------------------------------------------------------------------- */

idm_status idm_sampling_sampler(const idm_fit_settings *settings, size_t dimension,
                                const idm_sampler **ret_sampler, idm_notes *opt_notes,
                                idm_error *opt_error)
{
  enum { max_metropolis_dimension = 4 };
  const char *name = settings->sampler;
  if (!name[0]) name = dimension <= max_metropolis_dimension ? "metropolis" : "nuts";
  *ret_sampler = idm_sampler_find(name);
  if (*ret_sampler && settings->depth && !(*ret_sampler)->gradient)
    idm_notes_add(opt_notes,
                  "--depth has no effect with the sampler '%s': the result does not depend on it",
                  name);
  if (*ret_sampler) return IDM_OK;
  char names[160];
  return idm_fail(opt_error, IDM_USAGE, "the sampler '%s' is not known; expected %s", name,
                  idm_sampler_names(names, sizeof names));
}

static bool is_cancelled(void *cancel)
{
  return idm_cancel_poll(cancel);
}

idm_status idm_sampling_create(const idm_fit_settings *settings, const idm_sampler *sampler,
                               uint64_t key, size_t dimension, const idm_mixture *opt_mixture,
                               idm_cancel *cancel, idm_chains **ret_chains, idm_error *opt_error)
{
  idm_chains_settings chain_settings = {.sampler = sampler,
                                        .chains = settings->chains,
                                        .draws = settings->draws,
                                        .seed = key,
                                        .threads = settings->threads,
                                        .interrupt = is_cancelled,
                                        .interrupt_context = cancel};
  idm_sampler_settings_default(&chain_settings.kernel);
  chain_settings.kernel.warmup = settings->warmup;
  chain_settings.kernel.thin = settings->again ? settings->again : settings->thin;
  if (settings->depth) chain_settings.kernel.depth = (int)settings->depth;
  chain_settings.kernel.mixture = opt_mixture;
  const idm_status status = idm_chains_create(&chain_settings, dimension, ret_chains, opt_error);
  for (size_t i = 0; i < settings->chains && settings->again && status == IDM_OK; i++)
    idm_random_init(&(*ret_chains)->random[i], key,
                    rerun_stream + (uint64_t)settings->again * settings->chains + i);
  return status;
}

idm_status idm_sampling_run(idm_chains *chains, const idm_target *target,
                            const idm_fit_monitor *watch, idm_cancel *cancel, idm_error *opt_error)
{
  watched_chains content = {.watch = watch, .cancel = cancel};
  const idm_status status = watch->checkpoint ? load(chains, watch, opt_error) : IDM_OK;
  cancel->activity = "drawing";
  if (status != IDM_OK) return status;
  return idm_chains_run(chains, target, watch->progress ? monitor : NULL, &content, opt_error);
}

/* Whether R-hat and effective draws of every coordinate pass; since both are rank-based, they are
 * equal for the number itself. */
static idm_status check_convergence(const idm_chains *c, bool *ret_converged, idm_error *opt_error)
{
  const size_t draws = (size_t)c->settings.draws;
  idm_status status = IDM_OK;
  *ret_converged = true;
  for (size_t i = 0; i < c->dimension && status == IDM_OK; i++) {
    idm_diagnosis one;
    status = idm_diagnose(c->draw + i, c->settings.chains, draws, draws * c->dimension,
                          c->dimension, &one, opt_error);
    if (status == IDM_OK)
      *ret_converged = *ret_converged && idm_check_passes(IDM_CHECK_RHAT, one.rhat) &&
                       idm_check_passes(IDM_CHECK_EFFECTIVE, fmin(one.ess_bulk, one.ess_tail));
  }
  return status;
}

/* Whether the steps per draw are chosen by the sampler, and the draws are enough to pass. */
static bool may_rerun(const idm_fit_settings *settings, const idm_sampler *sampler)
{
  const double all = (double)settings->chains * (double)settings->draws;
  return sampler == &idm_sampler_metropolis && !settings->thin && settings->chains > 1 &&
         all >= 4 * idm_check_threshold(IDM_CHECK_EFFECTIVE);
}

long idm_sampling_steps(const idm_chains *chains)
{
  const bool own =
      !chains->settings.kernel.thin && chains->settings.sampler == &idm_sampler_metropolis;
  return own ? idm_metropolis_thin(chains->dimension) : chains->settings.kernel.thin;
}

idm_status idm_sampling_more_steps(const idm_fit_settings *settings, const idm_chains *chains,
                                   long *ret_steps, idm_error *opt_error)
{
  const long current_steps = idm_sampling_steps(chains);
  const bool possible = may_rerun(settings, chains->settings.sampler) &&
                        current_steps < max_step_factor * idm_metropolis_thin(chains->dimension) &&
                        idm_chains_min_draws(chains) == chains->settings.draws;
  bool converged = true;
  const idm_status status = possible ? check_convergence(chains, &converged, opt_error) : IDM_OK;
  *ret_steps = converged ? 0 : step_factor * current_steps;
  return status;
}

long idm_sampling_rerun_steps(const idm_fit_settings *settings, const idm_posterior *p)
{
  const bool possible =
      may_rerun(settings, idm_sampler_find(p->sampler)) && p->steps &&
      p->steps < max_rerun_factor * idm_metropolis_thin(idm_posterior_dimension(p)) &&
      p->draws == (size_t)settings->draws;
  return possible ? step_factor * p->steps : 0;
}

idm_status idm_sampling_common(const idm_chains *chains, long *ret_draws, idm_notes *opt_notes,
                               idm_error *opt_error)
{
  *ret_draws = idm_chains_min_draws(chains);
  if (*ret_draws < 1)
    return idm_fail(opt_error, IDM_UNTRUSTED, "stopped in the warm-up, before the first draw");
  if (*ret_draws < chains->settings.draws)
    idm_notes_add(opt_notes, "stopped after %ld of %ld draws per chain", *ret_draws,
                  chains->settings.draws);
  return IDM_OK;
}
