/* Importance check: compares the draws with an independent importance sample of the posterior
 * (docs/method/verdict.md, 2). R-hat compares chains with each other, and chains that all missed
 * the same mode or tail agree. The proposals are the prior, modes found by new searches, components
 * fitted to the points, and one component with the moments of the draws; importance weights correct
 * for the proposal density.
 *
 * Contents: sampling · comparison · verdict */
#include "invert/assess/context.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "infer/chains.h"
#include "invert/matching/fit.h"
#include "invert/posterior.h"

/* First random stream, beyond those of a fit. */
static const uint64_t importance_stream = (uint64_t)5 << 32;
/* Streams in which points are drawn (for any number of threads), rounds, and free numbers at most.
 */
enum { lanes = 4, max_rounds = 4, max_numbers = 20 };
/* Least effective sample size of an estimate, and the largest weight of one point. */
static const double min_ess = 200, max_weight = 0.05;
/* Differences count above this many standard errors of the importance sample. Sampling stops at the
 * target error; above the largest error, means and sds are not compared. */
static const double errors = 4, target_error = 0.03, max_error = 0.05;
/* Least missed share of the posterior for which a separate mode is reported. */
static const double min_missed = 0.02;

/* --- sampling -------------------------------------------------------------------------------- */

/* A fit with one matching per stream; the first matching is borrowed. */
typedef struct importance_run {
  fit_context f;
  idm_matching *matching[lanes];
  chain_start *start[lanes];
  idm_exploration *exploration;
} importance_run;

static void close_importance_run(importance_run *l)
{
  (void)idm_matching_use_table(l->matching[0], NULL, NULL, NULL);
  for (size_t i = 0; i < lanes; i++) idm_start_destroy(l->start[i]);
  for (size_t i = 1; i < lanes; i++) idm_matching_destroy(l->matching[i]);
  idm_exploration_destroy(l->exploration);
}

/* Points per stream and round: fewer for large lattices, where a plan takes longer, and if there
 * are few draws to check. */
static size_t round_size(const check_context *q)
{
  enum { least = 10, max_expensive = 50, most = 500, draws_a_point = 8 };
  const size_t draws = q->posterior->chains * q->posterior->draws / draws_a_point;
  const bool coarse = idm_workspace_points(idm_matching_workspace(q->f->matching[0])) <= 2000;
  return draws < least                             ? least
         : draws > (coarse ? most : max_expensive) ? (coarse ? most : max_expensive)
                                                   : draws;
}

static idm_status open_importance_run(const check_context *q, importance_run *l,
                                      idm_error *opt_error)
{
  const fit_context *f = q->f;
  *l = (importance_run){.f = *f, .matching = {f->matching[0]}};
  l->f.matching = l->matching;
  l->f.matchings = lanes;
  idm_status status = IDM_OK;
  for (size_t i = 1; i < lanes && status == IDM_OK; i++)
    status = idm_fit_create_matching(f, f->problem, &l->matching[i], opt_error);
  for (size_t i = 0; i < lanes && status == IDM_OK; i++)
    status = idm_fit_use_table(f, l->matching[i], opt_error);
  for (size_t i = 0; i < lanes && status == IDM_OK; i++)
    status = idm_start_create(f->parameters->dimension, &l->start[i], opt_error);
  if (status == IDM_OK)
    status = idm_exploration_create(&l->f, lanes, importance_stream,
                                    lanes * round_size(q) * (1 + max_rounds), &l->exploration,
                                    opt_error);
  return status;
}

/* Add mean and covariance of the draws as one more proposal component. */
static idm_status add_draws(const check_context *q, importance_run *l, idm_error *opt_error)
{
  const size_t d = q->f->parameters->dimension;
  const size_t count = q->posterior->chains * q->posterior->draws;
  const idm_points draws = {q->posterior->unconstrained, count, d, 1, count, NULL};
  double *mean = idm_new(d * (d + 1), sizeof *mean);
  if (!mean) return idm_fail_memory(opt_error);
  double *covariance = mean + d;
  idm_covariance(&draws, count > 1, mean, covariance);
  const idm_status status = idm_explore_add(l->exploration, mean, covariance, opt_error);
  free(mean);
  return status;
}

/* Mean and sd of coordinate k by the points, with their standard errors. */
typedef struct estimate {
  double mean;
  double mean_error;
  double sd;
  double sd_error;
} estimate;

static estimate estimate_of(const idm_exploration *e, size_t k)
{
  const size_t d = e->f->parameters->dimension;
  estimate at = {0};
  double variance = 0, of_mean = 0, of_variance = 0;
  idm_covariance(&(idm_points){e->point + k, e->points, 1, d, 0, e->weight}, 0, &at.mean,
                 &variance);
  /* The delta method for self-normalised weights (Owen 2013, section 9.2). */
  for (size_t i = 0; i < e->points; i++) {
    const double x = e->point[i * d + k] - at.mean, w = e->weight[i];
    of_mean += w * w * x * x;
    of_variance += w * w * (x * x - variance) * (x * x - variance);
  }
  at.sd = sqrt(variance);
  at.mean_error = sqrt(of_mean);
  at.sd_error = sqrt(of_variance) / (2 * at.sd);
  return at;
}

/* Whether mean and sd of every coordinate have errors of at most `error`, in sds. */
static bool is_precise(const idm_exploration *e, double error)
{
  double most = 0;
  for (size_t i = 0; i < e->points; i++) most = fmax(most, e->weight[i]);
  bool precise = idm_exploration_ess(e) >= min_ess && most <= max_weight;
  for (size_t k = 0; k < e->f->parameters->dimension && precise; k++) {
    const estimate at = estimate_of(e, k);
    precise = at.mean_error <= error * at.sd && at.sd_error <= error * at.sd;
  }
  return precise;
}

static idm_status sample_points(const check_context *q, importance_run *l, idm_error *opt_error)
{
  const size_t points = round_size(q);
  idm_exploration *e = l->exploration;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < lanes && status == IDM_OK; i++) {
    fit_context one = l->f;
    one.key += i;
    status = idm_start_find(&one, 0, l->start[i], opt_error);
  }
  if (status == IDM_OK) status = idm_explore_modes(e, l->start, lanes, points / 4, opt_error);
  for (size_t i = 1; i < lanes && status == IDM_OK && e->modes; i++)
    status = idm_matching_fix_start(l->matching[i], e->component[0].centre, opt_error);
  if (status == IDM_OK) status = idm_explore_round(e, points / 4, opt_error);
  if (status == IDM_OK) status = add_draws(q, l, opt_error);
  for (int i = 0; i < max_rounds && status == IDM_OK; i++) {
    status = idm_explore_round(e, points, opt_error);
    if (is_precise(e, target_error)) break;
  }
  return status;
}

/* --- comparison ------------------------------------------------------------------------------ */

/* Share of the draws nearest to each mode. */
static idm_status draw_shares(const check_context *q, const idm_exploration *e, double *share,
                              idm_error *opt_error)
{
  const size_t d = q->f->parameters->dimension;
  const size_t count = q->posterior->chains * q->posterior->draws;
  double *work = idm_new(d * (d + 2), sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  for (size_t m = 0; m < e->modes; m++) share[m] = 0;
  for (size_t i = 0; i < count; i++) {
    idm_context_draw(q, i, work);
    share[idm_exploration_nearest_mode(e, work, work + d)] += 1 / (double)count;
  }
  free(work);
  return IDM_OK;
}

/* Largest accepted difference, given the Monte Carlo error of the importance sample. */
static double tolerance(double error)
{
  return fmax(idm_check_threshold(IDM_CHECK_IMPORTANCE), errors * error);
}

static bool differs(double difference, double error)
{
  return fabs(difference) > tolerance(error);
}

/* The draws agree with the importance sample, differ by no more than their own Monte Carlo error
 * allows, or differ by more. */
typedef enum agreement { AGREES, UNCERTAIN, DIFFERS } agreement;

static agreement classify_difference(double difference, double error, double own)
{
  if (!differs(difference, error)) return AGREES;
  return fabs(difference) <= tolerance(error) + errors * own ? UNCERTAIN : DIFFERS;
}

/* Compare mean and sd of coordinate k; *least becomes the worst agreement so far. */
static idm_status compare(const check_context *q, const idm_exploration *e, size_t k,
                          agreement *least, idm_error *opt_error)
{
  const idm_posterior *p = q->posterior;
  idm_importance_check *importance = &q->assessment->importance;
  idm_diagnosis d;
  const idm_status status = idm_diagnose(p->unconstrained + k * p->chains * p->draws, p->chains,
                                         p->draws, p->draws, 1, &d, opt_error);
  if (status != IDM_OK) return status;
  const estimate at = estimate_of(e, k);
  importance->mean[k] = at.mean;
  importance->sd[k] = at.sd;
  importance->shift[k] = (d.mean - at.mean) / at.sd;
  importance->shift_error[k] = at.mean_error / at.sd;
  importance->spread[k] = d.sd / at.sd;
  importance->spread_error[k] = at.sd_error / at.sd;
  const agreement mean =
      classify_difference(importance->shift[k], importance->shift_error[k], d.mcse_mean / at.sd);
  const agreement sd = classify_difference(log(importance->spread[k]), importance->spread_error[k],
                                           d.mcse_sd / d.sd);
  if (mean > *least) *least = mean;
  if (sd > *least) *least = sd;
  return IDM_OK;
}

void idm_importance_check_clear(idm_importance_check *importance)
{
  free(importance->mean);
  free(importance->sd);
  free(importance->shift);
  free(importance->shift_error);
  free(importance->spread);
  free(importance->spread_error);
  *importance = (idm_importance_check){0};
}

static idm_status allocate(const check_context *q, idm_error *opt_error)
{
  idm_importance_check *importance = &q->assessment->importance;
  const size_t d = q->f->parameters->dimension;
  double **const columns[] = {&importance->mean,   &importance->sd,
                              &importance->shift,  &importance->shift_error,
                              &importance->spread, &importance->spread_error};
  importance->numbers = d;
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
    if (!(*columns[i] = idm_new(d, sizeof **columns))) return idm_fail_memory(opt_error);
  return IDM_OK;
}

static idm_status summarise(const check_context *q, const idm_exploration *e, idm_error *opt_error)
{
  idm_importance_check *importance = &q->assessment->importance;
  double by_points[IDM_IMPORTANCE_MODES] = {0}, by_draws[IDM_IMPORTANCE_MODES] = {0};
  const size_t all = q->posterior->chains * q->posterior->draws;
  double highest = -INFINITY;
  agreement least = AGREES;
  importance->points = e->points;
  importance->effective = idm_exploration_ess(e);
  importance->checked = is_precise(e, max_error);
  importance->modes = e->modes;
  idm_status status = allocate(q, opt_error);
  for (size_t k = 0; k < importance->numbers && status == IDM_OK; k++)
    status = compare(q, e, k, &least, opt_error);
  importance->chance = importance->checked && least == UNCERTAIN;
  if (status == IDM_OK) status = idm_exploration_mode_mass(e, by_points, opt_error);
  if (status == IDM_OK) status = draw_shares(q, e, by_draws, opt_error);
  for (size_t m = 0; m < e->modes; m++)
    importance->missed = fmax(importance->missed, by_points[m] - by_draws[m]);
  for (size_t i = 0; i < all; i++) highest = fmax(highest, q->posterior->statistics[i].log_density);
  importance->higher = e->modes ? e->component[0].log_density - highest : -INFINITY;
  for (size_t m = 1; m < e->modes; m++)
    importance->higher = fmax(importance->higher, e->component[m].log_density - highest);
  return status;
}

static idm_status run_importance(const check_context *q, idm_error *opt_error)
{
  importance_run l;
  if (q->f->parameters->dimension > max_numbers) return IDM_OK;
  idm_status status = open_importance_run(q, &l, opt_error);
  if (status == IDM_OK) status = sample_points(q, &l, opt_error);
  if (status == IDM_OK) status = summarise(q, l.exploration, opt_error);
  close_importance_run(&l);
  return status;
}

/* --- verdict --------------------------------------------------------------------------------- */

/* Label of coordinate k: that of its prior if it is one number, else its name in files. */
static void coordinate_label(const check_context *q, size_t k, char *buffer, size_t size)
{
  const idm_parameters *p = q->f->parameters;
  char name[128];
  idm_print(name, sizeof name, "%.120s", q->posterior->coordinate.name[k]);
  for (size_t i = 0; i < p->items; i++)
    if (p->item[i].first == k && idm_parameter_is_scalar(&p->item[i]))
      idm_parameter_name(p, &p->item[i], name, sizeof name);
  idm_quantity_label(name, buffer, size);
}

/* Add one failure per coordinate that differs. */
static void assess_coordinate(const check_context *q, size_t k)
{
  const idm_importance_check *importance = &q->assessment->importance;
  char name[128];
  coordinate_label(q, k, name, sizeof name);
  const bool moved = differs(importance->shift[k], importance->shift_error[k]);
  const bool narrow = importance->spread[k] < 1;
  const bool agrees = !moved && !differs(log(importance->spread[k]), importance->spread_error[k]);
  idm_check_record(&q->assessment->checks, IDM_CHECK_IMPORTANCE,
                   agrees ? IDM_CHECK_PASSED : IDM_CHECK_FAILED,
                   fmax(fabs(importance->shift[k]), fabs(log(importance->spread[k]))));
  if (agrees) return;
  char what[160];
  idm_print(what, sizeof what, "mean of %.60s by %.2f posterior sd and its sd by a factor of %.2f",
            name, importance->shift[k], importance->spread[k]);
  const bool chains = idm_sampler_find(q->posterior->sampler);
  const char *cure = chains ? "raise --warmup and --draws" : "use --inverse bayes";
  if (importance->modes > 1 && importance->missed > min_missed)
    idm_notes_add(&q->assessment->failures,
                  "separate modes: the draws miss %.0f %% of the posterior, around a separate "
                  "mode; they differ from an independent importance sample in the %s; use %s, "
                  "which moves between modes, or a prior that excludes one",
                  100 * importance->missed, what,
                  chains ? "--sampler metropolis" : "--inverse bayes");
  else if (narrow && moved)
    idm_notes_add(&q->assessment->failures,
                  "a long tail of %s towards %s values was missed: the draws differ from an "
                  "independent importance sample in the %s; %s, or use a tighter prior",
                  name, importance->shift[k] < 0 ? "large" : "small", what, cure);
  else
    idm_notes_add(
        &q->assessment->failures,
        "the draws differ from an independent importance sample of the posterior in the %s; %s",
        what, cure);
}

/* An importance sample that is too uncertain to compare means and sds may still contain a mode
 * higher than all draws, by more than in a normal posterior. */
static void assess_modes(const check_context *q)
{
  idm_assessment *a = q->assessment;
  const double higher = a->importance.higher;
  idm_check_skip(&a->checks, IDM_CHECK_IMPORTANCE,
                 "importance sampling leaves means or sds too uncertain to compare the draws with");
  if (idm_check_test(&a->checks, IDM_CHECK_MODES, higher - (double)q->f->parameters->dimension))
    idm_notes_add(&a->failures,
                  "separate modes: there is one whose density is exp(%.1f) times that of any draw; "
                  "raise --warmup and --chains",
                  higher);
}

static void assess_importance(const check_context *q)
{
  idm_assessment *a = q->assessment;
  const idm_importance_check *importance = &a->importance;
  if (!importance->points) {
    idm_notes_add(&a->remarks,
                  "unchecked: too many free numbers for an independent importance sample of the "
                  "posterior; only R-hat, of chains with separate starts, tests convergence");
    return;
  }
  const size_t before = a->failures.count;
  for (size_t k = 0; k < importance->numbers && importance->checked; k++) assess_coordinate(q, k);
  if (!importance->checked) assess_modes(q);
  if (!importance->checked)
    idm_notes_add(
        &a->remarks,
        "unchecked: an independent importance sample of the posterior (%zu points, effective "
        "sample size %.0f) leaves means or sds too uncertain to compare the draws with",
        importance->points, importance->effective);
  else if (a->failures.count == before)
    idm_notes_add(&a->remarks,
                  "an independent importance sample of the posterior (%zu points, effective sample "
                  "size %.0f; %zu mode%s) agrees with the draws",
                  importance->points, importance->effective, importance->modes,
                  importance->modes == 1 ? "" : "s");
}

idm_status idm_check_importance(const check_context *q, idm_error *opt_error)
{
  const idm_status status = run_importance(q, opt_error);
  if (status == IDM_OK) assess_importance(q);
  return status;
}

long idm_assess_redraw_thin(const idm_fit_settings *settings, const idm_posterior *posterior,
                            const idm_assessment *assessment)
{
  if (!settings || !posterior || !assessment || !assessment->importance.chance) return 0;
  return idm_sampling_rerun_steps(settings, posterior);
}
