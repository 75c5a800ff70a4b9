/* The verdict on an answer: diagnostics of the draws, then what the data say. */
#include "invert/assess/approximation.h"
#include "invert/assess/finding.h"
#include "invert/assess/identify.h"
#include "invert/assess/lattice.h"
#include "invert/assess/look.h"
#include "invert/assess/matched.h"
#include "invert/assess/model.h"
#include "invert/assess/people.h"
#include "invert/assess/ridge.h"
#include "invert/assess/sensitivity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/assess.h"
#include "idm/cut.h"
#include "idm/diagnostics.h"
#include "idm/pareto.h"
#include "idm/planner.h"
#include "idm/samplers.h"
#include "idm/settings.h"
#include "idm/transform.h"
#include "invert/between.h"
#include "invert/matching/halt.h"
#include "invert/matching/tabulate.h"
#include "invert/posterior.h"
#include "setting/freedom.h"

/* Thresholds of the verdict (Vehtari et al. 2021: R-hat and ESS). */
static const double most_rhat = 1.01;
static const double least_ess = 400;
static const double least_ebfmi = 0.3;

void idm_assessment_destroy(idm_assessment *a)
{
  if (!a) return;
  free(a->diagnosis);
  free(a->between);
  free(a->parameter);
  free(a->ridge_sentence);
  free(a->finer_shift);
  for (size_t i = 0; a->sensitivity && i < a->sensitivities; i++) free(a->sensitivity[i].slope);
  free(a->sensitivity);
  free(a->model.between);
  idm_look_clear(&a->look);
  for (size_t i = 0; a->person && i < a->people; i++) free(a->person[i].own);
  free(a->person);
  idm_labels_destroy(&a->person_name);
  idm_finding_destroy(a->finding);
  idm_finding_destroy(a->matched);
  idm_notes_clear(&a->failures);
  idm_notes_clear(&a->misfits);
  idm_notes_clear(&a->remarks);
  free(a);
}

/* --- draws ---------------------------------------------------------------------------------- */

/* Where a mean, or what tells how good it is, is no number, nothing that follows from it is. */
static bool is_finite(const idm_diagnosis *d, size_t chains)
{
  return isfinite(d->mean) && isfinite(d->sd) && isfinite(d->mcse_mean) && isfinite(d->mcse_sd) &&
         isfinite(d->q05) && isfinite(d->q50) && isfinite(d->q95) && isfinite(d->ess_bulk) &&
         isfinite(d->ess_tail) && (chains < 2 || isfinite(d->rhat));
}

/* Whether a quantity is a number of a block whose numbers lie in [0, 1]: it has a mean, however its
 * draws look. */
static bool is_fraction(const char *quantity)
{
  const size_t length = strcspn(quantity, "[.");
  const idm_block_info *found = NULL;
  for (int id = 0; id < IDM_BLOCK_COUNT; id++) {
    const idm_block_info *info = idm_block_describe((idm_block_id)id);
    if (strlen(info->name) == length && strncmp(info->name, quantity, length) == 0) found = info;
  }
  for (size_t p = 0; !found && idm_planner_at(p); p++)
    for (size_t k = 0; k < idm_planner_at(p)->owns; k++) {
      const idm_block_info *info = &idm_planner_at(p)->own[k];
      if (strlen(info->name) == length && strncmp(info->name, quantity, length) == 0) found = info;
    }
  return found && (found->support == IDM_FRACTION || found->support == IDM_DISTRIBUTION);
}

/* A tail so heavy that the mean hangs on the last few draws. */
static idm_status judge_heaviness(const idm_posterior *p, size_t i, idm_assessment *a,
                                  idm_error *opt_error)
{
  static const double doubtful = 0.7;
  const size_t count = p->chains * p->draws;
  double shape[2];
  char name[128];
  double *turned = idm_new(count, sizeof *turned);
  if (!turned) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < count; k++) turned[k] = -p->value[i * count + k];
  idm_status status = idm_pareto_shape(p->value + i * count, count, &shape[0], opt_error);
  if (status == IDM_OK) status = idm_pareto_shape(turned, count, &shape[1], opt_error);
  free(turned);
  const double heaviest = fmax(shape[0], shape[1]);
  if (status == IDM_OK && heaviest > doubtful)
    idm_notes_add(
        heaviest >= 1 ? &a->failures : &a->remarks,
        "the mean of %s hangs on its few largest draws (Pareto k %.2f; from 1 on there "
        "need not be a mean): quote its quantiles, or give it a narrower prior or another "
        "scale",
        idm_quantity_spoken(p->quantity.name[i], name, sizeof name), heaviest);
  return status;
}

static void judge_quantity(const idm_posterior *p, size_t i, idm_assessment *a)
{
  const idm_diagnosis *d = &a->diagnosis[i];
  const bool chosen = idm_sampler_find(p->sampler); /* people and dynamics have one of their own */
  char name[128];
  /* Those of a population, such as log_alpha_sd, are called as files call them. */
  if (p->series_count)
    snprintf(name, sizeof name, "%.120s", p->quantity.name[i]);
  else
    idm_quantity_spoken(p->quantity.name[i], name, sizeof name);
  if (!is_finite(d, p->chains))
    idm_notes_add(&a->failures,
                  "the mean, the sd or a diagnostic of %s is not finite: draws may be infinite, or "
                  "all alike; look at its prior, or infer it on another scale",
                  name);
  if (p->chains > 1 && isnan(d->rhat))
    idm_notes_add(&a->failures,
                  "R-hat of %s is not defined: its draws are constant, too few, or not finite",
                  name);
  char places[400];
  if (p->chains > 1 && d->rhat > most_rhat && idm_chains_apart(p, i, places, sizeof places))
    idm_notes_add(&a->failures,
                  "separate modes of %s: the chains sit at %s (R-hat %.3f) and do not change "
                  "places; %s, or a prior that rules some of them out",
                  name, places, d->rhat,
                  chosen ? "use --sampler metropolis, which leaps between modes"
                         : "take more --warmup and --draws");
  else if (p->chains > 1 && d->rhat > most_rhat)
    idm_notes_add(&a->failures,
                  "the chains disagree about %s: R-hat is %.3f, above %.2f; run longer (--warmup, "
                  "--draws)%s",
                  name, d->rhat, most_rhat, chosen ? ", or hold a parameter" : "");
  if (!(d->ess_bulk >= least_ess) || !(d->ess_tail >= least_ess))
    idm_notes_add(&a->failures,
                  "too few effective draws of %s: bulk %.0f, tail %.0f, fewer than %.0f; raise "
                  "--draws",
                  name, d->ess_bulk, d->ess_tail, least_ess);
}

/* Numbers that no diagnosis looks at one by one, and points: they are finite, or not to be trusted.
 */
static void judge_finiteness(const idm_posterior *p, idm_assessment *a)
{
  const size_t count = p->chains * p->draws;
  const double *value = p->value;
  char name[128];
  for (size_t i = 0; i < p->quantity.count; i++) {
    const size_t size = p->quantity_size ? p->quantity_size[i] : 1;
    const bool diagnosed = size == 1 && p->answer == IDM_POSTERIOR;
    bool finite = true;
    for (size_t k = 0; k < size * count; k++) finite &= isfinite(value[k]) != 0;
    value += size * count;
    if (!finite && !diagnosed && (size > 1 || p->summarised[i]))
      idm_notes_add(&a->failures, "%s is not finite in every draw; look at its prior",
                    idm_quantity_spoken(p->quantity.name[i], name, sizeof name));
  }
}

static void judge_energy(const idm_posterior *p, idm_assessment *a, double *energy)
{
  for (size_t c = 0; c < p->chains; c++) {
    for (size_t i = 0; i < p->draws; i++) {
      const idm_statistics *s = &p->statistics[c * p->draws + i];
      a->divergences += s->diverging;
      energy[i] = s->energy;
    }
    const double fraction = idm_ebfmi(energy, p->draws);
    a->ebfmi = fmin(isnan(a->ebfmi) ? INFINITY : a->ebfmi, fraction);
    if (isinf(a->ebfmi)) a->ebfmi = NAN;
  }
  if (a->divergences)
    idm_notes_add(&a->failures,
                  "%ld draws diverged: the sampler could not follow the posterior there; use "
                  "--sampler metropolis, or a tighter prior",
                  a->divergences);
  if (a->ebfmi < least_ebfmi)
    idm_notes_add(&a->remarks, "the energy mixes slowly (E-BFMI %.2f): tails may be missed",
                  a->ebfmi);
}

idm_status idm_assess_draws(const idm_posterior *posterior, idm_assessment **ret_assessment,
                            idm_error *opt_error)
{
  idm_require(posterior, ret_assessment);
  *ret_assessment = NULL;
  idm_assessment *a = idm_new(1, sizeof *a);
  double *energy = idm_new(posterior->draws, sizeof *energy);
  idm_status status = a && energy ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    a->answer = posterior->answer;
    a->quantities = posterior->quantity.count;
    a->ebfmi = NAN;
    a->ridge = 1;
    a->diagnosis = idm_new(a->quantities, sizeof *a->diagnosis);
    if (posterior->cuts > 1) a->between = idm_new(a->quantities, sizeof *a->between);
    if (!a->diagnosis || (posterior->cuts > 1 && !a->between)) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK && posterior->finding)
    status = idm_finding_copy(posterior->finding, &a->finding, opt_error);
  if (status == IDM_OK && a->finding) idm_judge_finding(a);
  for (size_t i = 0; status == IDM_OK && i < a->quantities; i++) {
    if (posterior->quantity_size && posterior->quantity_size[i] > 1) continue;
    const size_t all = posterior->chains * posterior->draws;
    status = idm_diagnose_cuts(posterior->value + i * all, posterior->chains, posterior->draws,
                               posterior->cuts, &a->diagnosis[i],
                               a->between ? &a->between[i] : NULL, opt_error);
    if (status != IDM_OK || posterior->answer != IDM_POSTERIOR || !posterior->summarised[i] ||
        idm_is_of_person(posterior, i))
      continue;
    judge_quantity(posterior, i, a);
    if (!is_fraction(posterior->quantity.name[i]))
      status = judge_heaviness(posterior, i, a, opt_error);
  }
  if (status == IDM_OK && posterior->answer == IDM_POSTERIOR) idm_judge_people(posterior, a);
  if (status == IDM_OK) judge_finiteness(posterior, a);
  if (status == IDM_OK) status = idm_judge_approximation(posterior, a, opt_error);
  if (status == IDM_OK && posterior->answer == IDM_POSTERIOR) {
    judge_energy(posterior, a, energy);
    if (posterior->chains < 2)
      idm_notes_add(&a->failures,
                    "one chain alone cannot show that it has converged: R-hat needs two or more "
                    "(--chains 4)");
  }
  if (status == IDM_OK) a->trusted = a->failures.count == 0;
  free(energy);
  if (status != IDM_OK) {
    idm_assessment_destroy(a);
    return status;
  }
  *ret_assessment = a;
  return IDM_OK;
}

/* --- data ----------------------------------------------------------------------------------- */

/* What is looked at in the data, in this order: `measure` fills the assessment, `judge` adds what
 * it found to failures and remarks, where measuring did not. */
typedef struct part {
  idm_status (*measure)(const inquiry *, idm_error *);
  void (*judge)(const inquiry *);
  bool by_name; /* only where every free number has a name */
} part;

static const part parts[] = {
    {idm_identify, idm_judge_identification, true},
    {idm_identify_ridge, idm_judge_ridge, true},
    {idm_assess_look, idm_judge_look, true},
    {idm_assess_lattice, idm_judge_lattice, false},
    {idm_assess_sensitivity, idm_judge_sensitivity, false},
    {idm_assess_model, NULL, false},
    /* Last: it leaves a plan behind, and what comes before begins without one. */
    {idm_assess_matched, NULL, false},
};

/* Whether some of the free numbers have no names: too many to be looked at one by one. */
static bool posterior_is_opaque(const idm_posterior *posterior)
{
  return posterior->coordinate_size != NULL;
}

static void describe(const void *content, char *buffer, size_t size)
{
  (void)content;
  snprintf(buffer, size, "looking at what the data say");
}

/* Whether somebody who watches lets it go on with the next part. */
static idm_status ask(const idm_fit_watch *opt_watch, double done, idm_error *opt_error)
{
  const idm_work work = {.done = done, .describe = describe};
  if (!opt_watch || !opt_watch->progress || !opt_watch->progress(opt_watch->context, &work))
    return IDM_OK;
  return idm_fail(opt_error, IDM_UNTRUSTED, "stopped before all of it was looked at");
}

static idm_status assess_parts(const inquiry *q, const idm_fit_watch *opt_watch,
                               idm_error *opt_error)
{
  enum { count = sizeof parts / sizeof *parts };
  idm_assessment *a = q->assessment;
  idm_status status = IDM_OK;
  a->identified = !posterior_is_opaque(q->posterior);
  const bool named = a->identified;
  if (!named)
    idm_notes_add(idm_parameters_proper(q->f->parameters) ? &a->remarks : &a->failures,
                  "unchecked: with %zu free numbers, most of them without a name, nothing is said "
                  "of what the data bound%s",
                  idm_posterior_dimension(q->posterior),
                  idm_parameters_proper(q->f->parameters)
                      ? ""
                      : "; as a prior is improper, the posterior may be too: give it a proper one");
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    if (parts[i].by_name && !named) continue;
    status = ask(opt_watch, (double)i / count, opt_error);
    if (status == IDM_OK) status = parts[i].measure(q, opt_error);
    if (status == IDM_OK && parts[i].judge) parts[i].judge(q);
  }
  a->trusted = !a->failures.count && !a->misfits.count;
  return status;
}

idm_status idm_assess(const idm_problem *problem, const idm_data *data,
                      const idm_posterior *posterior, int threads, idm_assessment **ret_assessment,
                      idm_error *opt_error)
{
  return idm_assess_watched(problem, data, posterior, threads, NULL, ret_assessment, opt_error);
}

idm_status idm_assess_watched(const idm_problem *problem, const idm_data *data,
                              const idm_posterior *posterior, int threads,
                              const idm_fit_watch *opt_watch, idm_assessment **ret_assessment,
                              idm_error *opt_error)
{
  idm_require(problem, data, posterior, ret_assessment);
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = threads;
  settings.seed = posterior->seed;
  fit f = {0};
  idm_halt halt;
  idm_halt_begin(&halt, opt_watch, "looking at what the data say");
  idm_status status = idm_assess_draws(posterior, ret_assessment, opt_error);
  if (status == IDM_OK && posterior->finding) {
    status = idm_judge_behavior(problem, data, posterior, *ret_assessment, opt_error);
    if (status == IDM_OK) return IDM_OK;
  }
  if (status == IDM_OK)
    status = idm_fit_open_halted(&f, NULL, problem, data, &settings, 1, &halt, opt_error);
  if (status == IDM_OK) status = idm_posterior_check(posterior, f.parameters, opt_error);
  f.table = posterior->table;
  if (status == IDM_OK && f.table) idm_table_remark(f.table, &(*ret_assessment)->remarks);
  if (status == IDM_OK)
    status = assess_parts(
        &(inquiry){.f = &f, .posterior = posterior, .assessment = *ret_assessment, .among = 1},
        opt_watch, opt_error);
  if (status != IDM_OK) {
    idm_assessment_destroy(*ret_assessment);
    *ret_assessment = NULL;
  }
  idm_fit_close(&f);
  return status;
}
