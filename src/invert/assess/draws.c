/* Checks of draws: modes that a search found, convergence of the chains, the sampler, people's
 * numbers, and a normal approximation (docs/method/verdict.md, 1).
 *
 * Contents: higher mode · draws */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "idm/extension/inverse.h"
#include "idm/extension/planner.h"
#include "infer/approximation.h"
#include "infer/chains.h"
#include "invert/assess/context.h"
#include "invert/posterior.h"
#include "setting/model.h"

/* === higher mode ============================================================================ */

/* The check `higher-mode`: whether a search found a higher mode than that of the draws. */

/* Upper bound of the log-likelihood at the mode of the draws. In d directions of a normal posterior
 * the log-likelihood is below its maximum by a gamma(d/2) variate, whose mean and variance are
 * equal; near a bound at 0 it is below by a gamma(1) variate, for which they are equal too. The
 * variance is the mean within chains: chains at different modes fail r-hat. With few data per
 * number the posterior is far from normal; the mode that a search from the draws attains is then
 * the better bound. */
static idm_status mode_upper_bound(const double *x, size_t chains, size_t draws,
                                   double *ret_upper_bound, idm_error *opt_error)
{
  idm_diagnosis all;
  double variance = 0, best = -INFINITY;
  const idm_status status = idm_diagnose(x, chains, draws, draws, 1, &all, opt_error);
  if (status != IDM_OK) return status;
  for (size_t c = 0; c < chains; c++)
    variance += idm_moments_of(x + c * draws, draws).variance / (double)chains;
  for (size_t i = 0; i < chains * draws; i++) best = fmax(best, x[i]);
  const double error = sqrt((variance + 2 * variance * variance) / all.ess_bulk);
  *ret_upper_bound = fmax(best, all.mean + variance + 2 * error);
  return IDM_OK;
}

idm_status idm_higher_mode_gap(const double *x, size_t chains, size_t draws, double highest,
                               double attained, double *ret_gap, idm_error *opt_error)
{
  double upper_bound = NAN;
  const idm_status status = mode_upper_bound(x, chains, draws, &upper_bound, opt_error);
  *ret_gap = highest - fmax(upper_bound, attained);
  return status;
}

idm_status idm_check_higher_mode(const check_context *q, idm_error *opt_error)
{
  const idm_posterior *p = q->posterior;
  const size_t count = p->chains * p->draws;
  double gap = NAN;
  if (!p->search_recorded) return IDM_OK;
  double *x = idm_new(count, sizeof *x);
  if (!x) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++) x[i] = p->statistics[i].log_density;
  const idm_status status =
      idm_higher_mode_gap(x, p->chains, p->draws, p->highest, p->attained, &gap, opt_error);
  free(x);
  if (status == IDM_OK &&
      idm_check_test_optional(&q->assessment->checks, IDM_CHECK_HIGHER_MODE, gap))
    idm_notes_add(&q->assessment->failures,
                  "a start of the search has a log-likelihood of %.1f, and the draws reach %.1f: "
                  "they are of a lower mode; leave --starts out, or raise it",
                  p->highest, p->highest - gap);
  return status;
}

/* === draws ================================================================================== */

/* Checks of draws alone.
 *
 * Contents: numbers · chains · the sampler · people · a normal approximation */

/* --- numbers -------------------------------------------------------------------------------- */

bool idm_is_of_person(const idm_posterior *posterior, size_t quantity)
{
  const size_t series = idm_posterior_series(posterior, quantity);
  return series < posterior->series_count &&
         strcmp(posterior->axis[posterior->series[series].axis].name, "person") == 0;
}

/* Whether the diagnosis of a quantity affects the verdict: it is a summarised number that is not
 * one person's. */
static bool is_judged(const idm_posterior *p, size_t i)
{
  return p->answer == IDM_POSTERIOR && !(p->quantity_size && p->quantity_size[i] > 1) &&
         p->summarised[i] && !idm_is_of_person(p, i);
}

/* Label of a quantity; in a population, such as log_alpha_sd, its name in files. */
static const char *name_of(const idm_posterior *p, size_t i, char *buffer, size_t size)
{
  if (!p->series_count) return idm_quantity_label(p->quantity.name[i], buffer, size);
  snprintf(buffer, size, "%.120s", p->quantity.name[i]);
  return buffer;
}

/* Whether mean, sd, quantiles and diagnostics of a quantity are finite. A number that depends on
 * dynamics has no interval. */
static bool is_finite(const idm_assessment *a, size_t quantity, size_t chains)
{
  const idm_diagnosis *d = &a->diagnosis[quantity];
  const bool open = a->between && idm_depends_on_dynamics(a->between[quantity]);
  return isfinite(d->mean) && isfinite(d->sd) && isfinite(d->mcse_mean) && isfinite(d->mcse_sd) &&
         (open || (isfinite(d->q05) && isfinite(d->q95))) && isfinite(d->q50) &&
         isfinite(d->ess_bulk) && isfinite(d->ess_tail) && (chains < 2 || isfinite(d->rhat));
}

/* Count the numbers without a diagnosis of their own, and points, that are not finite in every
 * draw. */
static size_t find_infinite(const check_context *q)
{
  const idm_posterior *p = q->posterior;
  const size_t count = p->chains * p->draws;
  const double *value = p->value;
  size_t infinite = 0;
  char name[128];
  for (size_t i = 0; i < p->quantity.count; i++) {
    const size_t size = p->quantity_size ? p->quantity_size[i] : 1;
    const bool diagnosed = size == 1 && p->answer == IDM_POSTERIOR;
    bool finite = true;
    for (size_t k = 0; k < size * count; k++) finite &= isfinite(value[k]) != 0;
    value += size * count;
    if (finite || diagnosed || (size == 1 && !p->summarised[i])) continue;
    infinite++;
    idm_notes_add(idm_check_note(q->assessment, IDM_CHECK_FINITE, IDM_CHECK_FAILED),
                  "%s is not finite in every draw; examine its prior",
                  idm_quantity_label(p->quantity.name[i], name, sizeof name));
  }
  return infinite;
}

idm_status idm_check_finite(const check_context *q, idm_error *opt_error)
{
  (void)opt_error;
  const idm_posterior *p = q->posterior;
  size_t infinite = 0;
  char name[128];
  for (size_t i = 0; i < p->quantity.count; i++) {
    if (!is_judged(p, i) || is_finite(q->assessment, i, p->chains)) continue;
    infinite++;
    idm_notes_add(idm_check_note(q->assessment, IDM_CHECK_FINITE, IDM_CHECK_FAILED),
                  "the mean, the sd or a diagnostic of %s is not finite: draws may be infinite, or "
                  "all equal; examine its prior, or infer it on another scale",
                  name_of(p, i, name, sizeof name));
  }
  infinite += find_infinite(q);
  idm_check_test(&q->assessment->checks, IDM_CHECK_FINITE, (double)infinite);
  return IDM_OK;
}

/* Whether a quantity is a number of a block with support [0, 1]: its mean exists for any draws. */
static bool is_fraction(const char *quantity)
{
  const size_t length = strcspn(quantity, "[.");
  const idm_block_info *found = NULL;
  for (int id = 0; id < IDM_BLOCK_COUNT; id++) {
    const idm_block_info *info = idm_block_describe((idm_block_id)id);
    if (strlen(info->name) == length && strncmp(info->name, quantity, length) == 0) found = info;
  }
  for (size_t p = 0; !found && idm_planner_at(p); p++)
    for (size_t k = 0; k < idm_planner_at(p)->own_count; k++) {
      const idm_block_info *info = &idm_planner_at(p)->own[k];
      if (strlen(info->name) == length && strncmp(info->name, quantity, length) == 0) found = info;
    }
  return found && (found->support == IDM_FRACTION || found->support == IDM_DISTRIBUTION);
}

idm_status idm_draws_shape(const double *x, size_t count, double *ret_shape, idm_error *opt_error)
{
  double shape[2] = {NAN, NAN};
  double *negated = idm_new(count, sizeof *negated);
  if (!negated) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < count; k++) negated[k] = -x[k];
  idm_status status = idm_pareto_shape(x, count, &shape[0], opt_error);
  if (status == IDM_OK) status = idm_pareto_shape(negated, count, &shape[1], opt_error);
  free(negated);
  *ret_shape = fmax(shape[0], shape[1]);
  return status;
}

bool idm_diagnosis_heavy_tailed(const idm_diagnosis *d)
{
  return d && !isnan(d->tail) && !idm_check_passes(IDM_CHECK_SD, d->tail);
}

/* Record three rows from one Pareto k, with one note: on the mean if it is in doubt, else on the
 * sd. */
static void assess_tail(const check_context *q, size_t i, double shape)
{
  idm_assessment *a = q->assessment;
  char name[128];
  const bool exists = shape < idm_check_threshold(IDM_CHECK_MEAN);
  idm_check_record(&a->checks, IDM_CHECK_MEAN, exists ? IDM_CHECK_PASSED : IDM_CHECK_FAILED, shape);
  const bool mean = idm_check_test(&a->checks, IDM_CHECK_HEAVY_TAIL, shape);
  if (!idm_check_test(&a->checks, IDM_CHECK_SD, shape)) return;
  idm_notes_add(exists ? &a->remarks : &a->failures,
                "the %s of %s depends on its few largest draws (Pareto k %.2f; from %g on there "
                "need not be %s): tables show its median and interval in place of mean and sd; "
                "give it a narrower prior or another scale",
                mean ? "mean" : "sd", name_of(q->posterior, i, name, sizeof name), shape,
                idm_check_threshold(mean ? IDM_CHECK_MEAN : IDM_CHECK_SD), mean ? "a mean" : "one");
}

/* The tails of people's own numbers are measured for tables; one remark counts the heavy ones. */
idm_status idm_check_heavy_tail(const check_context *q, idm_error *opt_error)
{
  const idm_posterior *p = q->posterior;
  idm_assessment *a = q->assessment;
  const size_t all = p->chains * p->draws;
  idm_status status = IDM_OK;
  size_t personal = 0;
  for (size_t i = 0; i < p->quantity.count && status == IDM_OK; i++) {
    const bool person = idm_is_of_person(p, i);
    double shape = NAN;
    if (!(person || is_judged(p, i)) || is_fraction(p->quantity.name[i])) continue;
    status = idm_draws_shape(p->value + i * all, all, &shape, opt_error);
    a->diagnosis[i].tail = shape;
    if (status != IDM_OK || isnan(shape)) continue;
    if (!person) assess_tail(q, i, shape);
    personal += person && idm_diagnosis_heavy_tailed(&a->diagnosis[i]);
  }
  if (personal)
    idm_notes_add(&a->remarks,
                  "%zu number%s of people %s a mean and an sd that depend on few draws (Pareto k "
                  "above %.1f): tables show the median there",
                  personal, personal == 1 ? "" : "s", personal == 1 ? "has" : "have",
                  idm_check_threshold(IDM_CHECK_SD));
  return status;
}

/* --- chains --------------------------------------------------------------------------------- */

bool idm_chains_separate(const idm_posterior *p, size_t quantity, char *buffer, size_t size)
{
  const double *x = p->value + quantity * p->chains * p->draws;
  double widest = 0, within = 0;
  size_t length = 0;
  for (size_t c = 0; c < p->chains; c++) {
    double gap = INFINITY;
    const double mean = idm_mean(x + c * p->draws, p->draws);
    within = fmax(within, idm_squares_about(x + c * p->draws, p->draws, mean) / (double)p->draws);
    /* Gap to the next chain above: means of slow chains are scattered, means of chains at separate
     * modes cluster. */
    for (size_t k = 0; k < p->chains; k++) {
      const double above = idm_mean(x + k * p->draws, p->draws) - mean;
      if (above > 0) gap = fmin(gap, above);
    }
    if (isfinite(gap)) widest = fmax(widest, gap);
    const char *joint = !c ? "" : c + 1 == p->chains ? " and " : ", ";
    if (length < size)
      length += (size_t)idm_print(buffer + length, size - length, "%s%.3g", joint, mean);
  }
  return widest > sqrt(within);
}

static void note_rhat(const check_context *q, size_t i)
{
  const idm_posterior *p = q->posterior;
  const double rhat = q->assessment->diagnosis[i].rhat;
  const bool chosen = idm_sampler_find(p->sampler); /* people and dynamics have fixed samplers */
  idm_notes *failures = &q->assessment->failures;
  char name[128];
  char places[400];
  name_of(p, i, name, sizeof name);
  if (isnan(rhat))
    idm_notes_add(failures,
                  "R-hat of %s is not defined: its draws are constant, too few, or not finite",
                  name);
  else if (idm_chains_separate(p, i, places, sizeof places))
    idm_notes_add(failures,
                  "separate modes of %s: the chains are at %s (R-hat %.3f) and do not move between "
                  "them; %s, or a prior that excludes some of them",
                  name, places, rhat,
                  chosen ? "use --sampler metropolis, which moves between modes"
                         : "take more --warmup and --draws");
  else
    idm_notes_add(failures,
                  "the chains disagree about %s: R-hat is %.3f, above %.2f; run longer (--warmup, "
                  "--draws)%s",
                  name, rhat, idm_check_threshold(IDM_CHECK_RHAT),
                  chosen ? ", or hold a parameter" : "");
}

idm_status idm_check_rhat(const check_context *q, idm_error *opt_error)
{
  (void)opt_error;
  const idm_posterior *p = q->posterior;
  for (size_t i = 0; i < p->quantity.count && p->chains > 1; i++)
    if (is_judged(p, i) &&
        idm_check_test(&q->assessment->checks, IDM_CHECK_RHAT, q->assessment->diagnosis[i].rhat))
      note_rhat(q, i);
  return IDM_OK;
}

idm_status idm_check_effective(const check_context *q, idm_error *opt_error)
{
  (void)opt_error;
  const idm_posterior *p = q->posterior;
  idm_assessment *a = q->assessment;
  char name[128];
  for (size_t i = 0; i < p->quantity.count; i++) {
    const idm_diagnosis *d = &a->diagnosis[i];
    if (!is_judged(p, i)) continue;
    const bool bulk = idm_check_test(&a->checks, IDM_CHECK_EFFECTIVE, d->ess_bulk);
    const bool tail = idm_check_test(&a->checks, IDM_CHECK_EFFECTIVE, d->ess_tail);
    if (bulk || tail)
      idm_notes_add(&a->failures,
                    "too few effective draws of %s: bulk %.0f, tail %.0f, fewer than %.0f; raise "
                    "--draws",
                    name_of(p, i, name, sizeof name), d->ess_bulk, d->ess_tail,
                    idm_check_threshold(IDM_CHECK_EFFECTIVE));
  }
  return IDM_OK;
}

idm_status idm_check_chains(const check_context *q, idm_error *opt_error)
{
  (void)opt_error;
  if (idm_check_test(&q->assessment->checks, IDM_CHECK_ONE_CHAIN, (double)q->posterior->chains))
    idm_notes_add(&q->assessment->failures,
                  "one chain alone cannot show that it has converged: R-hat needs two or more "
                  "(--chains 4)");
  return IDM_OK;
}

/* --- the sampler ---------------------------------------------------------------------------- */

/* A sampler without energies has no divergences either. */
idm_status idm_check_divergences(const check_context *q, idm_error *opt_error)
{
  (void)opt_error;
  const idm_posterior *p = q->posterior;
  idm_assessment *a = q->assessment;
  bool energies = false;
  for (size_t i = 0; i < p->chains * p->draws; i++) {
    a->divergences += p->statistics[i].diverging;
    energies = energies || isfinite(p->statistics[i].energy);
  }
  if ((energies || a->divergences) &&
      idm_check_test(&a->checks, IDM_CHECK_DIVERGENCES, (double)a->divergences))
    idm_notes_add(&a->failures,
                  "%ld draws diverged: the sampler could not follow the posterior there; use "
                  "--sampler metropolis, or a tighter prior",
                  a->divergences);
  return IDM_OK;
}

idm_status idm_check_energy(const check_context *q, idm_error *opt_error)
{
  const idm_posterior *p = q->posterior;
  idm_assessment *a = q->assessment;
  double *energy = idm_new(p->draws, sizeof *energy);
  if (!energy) return idm_fail_memory(opt_error);
  for (size_t c = 0; c < p->chains; c++) {
    for (size_t i = 0; i < p->draws; i++) energy[i] = p->statistics[c * p->draws + i].energy;
    const double fraction = idm_ebfmi(energy, p->draws);
    a->ebfmi = fmin(isnan(a->ebfmi) ? INFINITY : a->ebfmi, fraction);
    if (isinf(a->ebfmi)) a->ebfmi = NAN;
  }
  free(energy);
  if (idm_check_test_optional(&a->checks, IDM_CHECK_ENERGY, a->ebfmi))
    idm_notes_add(&a->remarks, "the energy mixes slowly (E-BFMI %.2f): tails may be missed",
                  a->ebfmi);
  return IDM_OK;
}

/* --- people --------------------------------------------------------------------------------- */

bool idm_person_draws_suffice(const idm_diagnosis *d, size_t chains)
{
  return isfinite(d->mean) && isfinite(d->sd) &&
         idm_check_passes(IDM_CHECK_PERSON_DRAWS, d->ess_bulk) &&
         idm_check_passes(IDM_CHECK_PERSON_DRAWS, d->ess_tail) &&
         (chains < 2 || idm_check_passes(IDM_CHECK_PERSON_RHAT, d->rhat));
}

/* Record both rows of one person's number. */
static void record_person(idm_checks *checks, const idm_diagnosis *d, size_t chains)
{
  idm_check_test(checks, IDM_CHECK_PERSON_DRAWS, d->ess_bulk);
  idm_check_test(checks, IDM_CHECK_PERSON_DRAWS, d->ess_tail);
  if (!isfinite(d->mean) || !isfinite(d->sd))
    idm_check_record(checks, IDM_CHECK_PERSON_DRAWS, IDM_CHECK_FAILED, NAN);
  if (chains > 1) idm_check_test(checks, IDM_CHECK_PERSON_RHAT, d->rhat);
}

/* Order of people's diagnoses by which the worst is chosen: R-hat not finite first, then larger
 * R-hat, then fewer effective draws. */
static bool is_worse(const idm_diagnosis *a, const idm_diagnosis *b)
{
  if (isfinite(a->rhat) != isfinite(b->rhat)) return !isfinite(a->rhat);
  if (a->rhat != b->rhat) return a->rhat > b->rhat;
  return a->ess_bulk < b->ess_bulk;
}

/* One note covers all people, of whom there may be thousands. */
static void assess_series(const idm_posterior *p, const idm_series *series, idm_assessment *a)
{
  const idm_labels *person = &p->axis[series->axis].label;
  size_t count = 0;
  size_t worst = 0;
  char name[128];
  for (size_t i = 0; i < person->count; i++) {
    const idm_diagnosis *d = &a->diagnosis[series->first + i];
    record_person(&a->checks, d, p->chains);
    if (idm_person_draws_suffice(d, p->chains)) continue;
    if (!count++ || is_worse(d, &a->diagnosis[series->first + worst])) worst = i;
  }
  if (!count) return;
  const idm_diagnosis *d = &a->diagnosis[series->first + worst];
  idm_notes_add(&a->failures,
                "the draws of %s are not enough for %zu of %zu people, least for '%s' (R-hat %.3f, "
                "effective draws %.0f and %.0f in the tails; expected at most %.2f and at least "
                "%.0f); raise --draws or --warmup",
                idm_quantity_label(series->name, name, sizeof name), count, person->count,
                person->name[worst], d->rhat, d->ess_bulk, d->ess_tail,
                idm_check_threshold(IDM_CHECK_PERSON_RHAT),
                idm_check_threshold(IDM_CHECK_PERSON_DRAWS));
}

idm_status idm_check_people(const check_context *q, idm_error *opt_error)
{
  (void)opt_error;
  const idm_posterior *p = q->posterior;
  for (size_t i = 0; i < p->series_count; i++)
    if (idm_is_of_person(p, p->series[i].first)) assess_series(p, &p->series[i], q->assessment);
  return IDM_OK;
}

/* --- a normal approximation ----------------------------------------------------------------- */

/* Mean and Cholesky factor of the covariance of the draws, which estimate those of the
 * approximation. Returns false if the covariance is not positive definite. */
static bool find_normal(const idm_posterior *p, size_t d, double *mean, double *factor)
{
  const size_t count = p->chains * p->draws;
  idm_covariance(&(idm_points){p->unconstrained, count, d, 1, count, NULL}, 1, mean, factor);
  return idm_cholesky(d, factor);
}

/* Compute weight = density / normal density, normalised; draws without a density have weight 0. */
static void weigh(const idm_posterior *p, size_t d, const double *mean, const double *factor,
                  double *z, double *weight)
{
  const size_t count = p->chains * p->draws;
  for (size_t k = 0; k < count; k++) {
    double square = 0;
    for (size_t i = 0; i < d; i++) z[i] = p->unconstrained[i * count + k] - mean[i];
    idm_lower_solve(d, factor, z);
    for (size_t i = 0; i < d; i++) square += z[i] * z[i];
    const double log_weight = p->statistics[k].log_density + 0.5 * square;
    weight[k] = isnan(log_weight) ? -INFINITY : log_weight;
  }
  idm_softmax(weight, count, weight);
}

idm_status idm_check_approximation(const check_context *q, idm_error *opt_error)
{
  static const double weight_tolerance =
      1e-6; /* squared relative sd of weights that count as equal */
  const idm_posterior *p = q->posterior;
  idm_assessment *a = q->assessment;
  const size_t d = idm_posterior_dimension(p);
  const size_t count = p->chains * p->draws;
  const idm_inverse *by = idm_inverse_find(p->inverse);
  if (!by || !by->normal || count <= d + 1) return IDM_OK;
  double *scratch = idm_new((2 + d) * d, sizeof *scratch);
  double *weight = idm_new(count, sizeof *weight);
  idm_status status = scratch && weight ? IDM_OK : idm_fail_memory(opt_error);
  double shape = NAN;
  double share = NAN;
  if (status == IDM_OK && find_normal(p, d, scratch, scratch + 2 * d)) {
    weigh(p, d, scratch, scratch + 2 * d, scratch + d, weight);
    share = idm_effective_size(weight, count) / (double)count;
    /* Pareto k is scale-free: among equal weights it would be that of rounding errors. */
    if (share < 1 - weight_tolerance) status = idm_pareto_shape(weight, count, &shape, opt_error);
  }
  free(weight);
  free(scratch);
  if (status != IDM_OK) return status;
  const double max_shape = idm_check_threshold(IDM_CHECK_HEAVY_TAIL);
  if (idm_check_test(&a->checks, IDM_CHECK_APPROXIMATION, share) || shape > max_shape)
    idm_notes_add(idm_check_note(a, IDM_CHECK_APPROXIMATION, IDM_CHECK_FAILED),
                  "the normal approximation is not the posterior: importance weights leave %.0f %% "
                  "of the draws effective, fewer than %.0f, or are too unequal (Pareto k %.2f, "
                  "expected at most %.1f); use --inverse bayes",
                  100 * share, 100 * idm_check_threshold(IDM_CHECK_APPROXIMATION), shape,
                  max_shape);
  return status;
}
