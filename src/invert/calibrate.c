/* Recovery of parameters and simulation-based calibration.
 *
 * Contents: recovery · calibrate */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/arguments.h"
#include "base/key.h"
#include "base/memory.h"
#include "base/system.h"
#include "data/log.h"
#include "idm/extension/inverse.h"
#include "infer/chains.h"
#include "infer/distribution.h"
#include "invert/assess.h"
#include "invert/calibrate.h"
#include "invert/matching.h"
#include "invert/parameters.h"
#include "invert/posterior.h"
#include "invert/utility/preference_model.h"
#include "plan/plan.h"

/* === recovery =============================================================================== */

/* Summaries of the replications: accuracy of recovery and uniformity of ranks. */

size_t idm_calibration_done(const idm_calibration *c)
{
  if (!c) return 0;
  size_t done = 0;
  for (size_t i = 0; i < c->settings.replications; i++) done += c->done[i];
  return done;
}

double idm_calibration_rhat(const idm_calibration *c)
{
  if (!c) return NAN;
  double most = 0;
  for (size_t i = 0; i < c->settings.replications; i++)
    if (c->done[i]) most = fmax(most, c->rhat[i]);
  return most;
}

idm_recovery_accuracy idm_calibration_accuracy(const idm_calibration *c, size_t quantity)
{
  if (!c || quantity >= c->quantity.count) return (idm_recovery_accuracy){0};
  const double n = (double)idm_calibration_done(c);
  idm_recovery_accuracy r = {0};
  double mt = 0, mm = 0, tt = 0, mean_m = 0, mean_t = 0;
  for (size_t i = 0; i < c->settings.replications; i++) {
    const idm_recovery *x = &c->recovery[i * c->quantity.count + quantity];
    if (!c->done[i]) continue;
    r.coverage += (x->low <= x->truth && x->truth <= x->high) / n;
    r.bias += (x->mean - x->truth) / x->sd / n;
    r.error += (x->mean - x->truth) * (x->mean - x->truth) / n;
    mean_m += x->mean / n;
    mean_t += x->truth / n;
  }
  for (size_t i = 0; i < c->settings.replications; i++) {
    const idm_recovery *x = &c->recovery[i * c->quantity.count + quantity];
    if (!c->done[i]) continue;
    mt += (x->mean - mean_m) * (x->truth - mean_t);
    mm += (x->mean - mean_m) * (x->mean - mean_m);
    tt += (x->truth - mean_t) * (x->truth - mean_t);
  }
  r.error = sqrt(r.error);
  r.correlation = mt / sqrt(mm * tt);
  return r;
}

double idm_calibration_uniformity(const idm_calibration *c, size_t quantity, size_t bins,
                                  size_t *count)
{
  if (!c || quantity >= c->quantity.count || !count || !bins || (IDM_RANKS + 1) % bins) return NAN;
  size_t total = 0;
  for (size_t b = 0; b < bins; b++) count[b] = 0;
  for (size_t i = 0; i < c->settings.replications; i++) {
    if (!c->done[i]) continue;
    const int rank = c->recovery[i * c->quantity.count + quantity].rank;
    count[(size_t)rank * bins / (IDM_RANKS + 1)]++;
    total++;
  }
  const double expected = (double)total / (double)bins;
  double sum = 0;
  for (size_t b = 0; b < bins; b++) {
    const double d = (double)count[b] - expected;
    sum += d * d / expected;
  }
  return sum;
}

/* === calibrate ============================================================================== */

/* Recovery and simulation-based calibration: fits to simulated logs whose true parameters are known
 * (Talts et al. 2018, with the ranks of the log-likelihood of Modrak et al. 2023;
 * `docs/method/verdict.md, 8`).
 *
 * Contents: settings · making · one replication · all of them */

enum { max_extensions = 6 };
/* Base of the random streams of the replications' true parameters. */
static const uint64_t truth_stream = (uint64_t)3 << 32;

/* --- settings ------------------------------------------------------------------------------- */

#define CALIBRATION_KEY(field, key_name, type, low, high, value_name, help_text)                   \
  .name = (key_name), .kind = (type), .offset = offsetof(idm_calibration_settings, field),         \
  .least = (low), .most = (double)(high), .value = (value_name), .help = (help_text)

const idm_key *idm_calibration_keys(void)
{
  static const idm_key keys[] = {
      {CALIBRATION_KEY(trajectories, "number", IDM_KEY_SIZE, 1, 1e9, "N",
                       "trajectories of each simulated log")},
      {CALIBRATION_KEY(steps, "steps", IDM_KEY_INT, 0, 1e9, "N",
                       "largest number of steps per trajectory (0: the horizon, or 1000)")},
      {CALIBRATION_KEY(pairs, "pairs", IDM_KEY_SIZE, 0, 1e6, "N",
                       "preferences between them, for an inverse planner that uses preferences (0: "
                       "as many as trajectories)")},
      {CALIBRATION_KEY(design, "design", IDM_KEY_TEXT, 0,
                       sizeof((idm_calibration_settings *)0)->design, "HASH",
                       "SHA-256 of the log whose design each simulated one has")},
      /* Excluded from the fingerprint: a longer campaign continues a shorter one. */
      {CALIBRATION_KEY(replications, "replications", IDM_KEY_SIZE, 1, 1e6, "N", "simulated logs"),
       .place = true},
      {CALIBRATION_KEY(seed, "seed", IDM_KEY_SEED, 0, 0, "SEED", "seed")},
      {CALIBRATION_KEY(
          inverse, "inverse", IDM_KEY_TEXT, 0, sizeof((idm_calibration_settings *)0)->inverse,
          "NAME",
          "inverse planner whose answer is a posterior: bayes, laplace, preference-bayes or "
          "distribution-matching-bayes")},
      {CALIBRATION_KEY(fit.chains, "chains", IDM_KEY_SIZE, 1, 1000, "N", "chains of each fit")},
      /* At least IDM_RANKS draws in total, among which the true value is ranked. */
      {CALIBRATION_KEY(fit.draws, "draws", IDM_KEY_LONG, 50, 1e9, "N",
                       "draws of each chain, before extensions")},
      {CALIBRATION_KEY(fit.warmup, "warmup", IDM_KEY_LONG, 0, 1e9, "N", "warm-up of each chain")},
      {CALIBRATION_KEY(fit.sampler, "sampler", IDM_KEY_TEXT, 0,
                       sizeof((idm_fit_settings *)0)->sampler, "NAME",
                       "one of `idm list samplers`")},
      {0}};
  return keys;
}

void idm_calibration_settings_default(idm_calibration_settings *settings)
{
  if (!settings) return;
  *settings = (idm_calibration_settings){
      .replications = 100, .trajectories = 100, .seed = 1, .threads = idm_processors()};
  snprintf(settings->inverse, sizeof settings->inverse, "%s", idm_inverse_at(0)->name);
  idm_fit_settings_default(&settings->fit);
  settings->fit.chains = 2;
  settings->fit.draws = 500;
  settings->fit.warmup = 300;
}

/* --- making --------------------------------------------------------------------------------- */

void idm_calibration_destroy(idm_calibration *c)
{
  if (!c) return;
  idm_labels_destroy(&c->quantity);
  free(c->recovery);
  free(c->done);
  free(c->rhat);
  free(c->draws);
  free(c);
}

/* Numbers of an item that are compared with the truth; 0 for an opaque item, whose numbers have no
 * names. */
static size_t compared_numbers(const parameter *item)
{
  return item->opaque ? 0 : item->simplex ? item->size : 1;
}

/* Names of the numbers in the coordinate of their prior, then the log-likelihood. */
static idm_status name_quantities(idm_calibration *c, const idm_parameters *p, idm_error *opt_error)
{
  static const char last[] = "log_likelihood";
  char name[2400];
  size_t count = 1, at = 0;
  for (size_t i = 0; i < p->items; i++) count += compared_numbers(&p->item[i]);
  idm_status status = idm_labels_create(&c->quantity, count, opt_error);
  for (size_t i = 0; i < p->items; i++)
    for (size_t k = 0; k < compared_numbers(&p->item[i]) && status == IDM_OK; k++) {
      const parameter *item = &p->item[i];
      if (item->simplex)
        snprintf(name, sizeof name, "%s", p->quantity.name[item->quantity + k]);
      else
        idm_parameter_name(p, item, name, sizeof name);
      status = idm_labels_set(&c->quantity, at++, name, strlen(name), opt_error);
    }
  if (status == IDM_OK) status = idm_labels_set(&c->quantity, at, last, strlen(last), opt_error);
  return status;
}

/* Checks that the priors can be sampled and that the inverse planner returns a posterior. */
static idm_status check_request(const idm_calibration_settings *settings,
                                const idm_parameters *parameters, idm_error *opt_error)
{
  const idm_inverse *inverse = idm_inverse_find(settings->inverse);
  if (!inverse)
    return idm_fail(opt_error, IDM_USAGE,
                    "the inverse planner '%s' is not known; see `idm list inverses`",
                    settings->inverse);
  if (inverse->answer != IDM_POSTERIOR)
    return idm_fail(opt_error, IDM_USAGE,
                    "the inverse planner '%s' returns a point estimate; expected one that returns "
                    "a posterior, in which the true value can be ranked",
                    settings->inverse);
  if (inverse->columns)
    return idm_fail(opt_error, IDM_USAGE,
                    "the inverse planner '%s' needs evidence that simulations do not contain",
                    settings->inverse);
  if (settings->pairs && !inverse->preferences)
    return idm_fail(opt_error, IDM_USAGE,
                    "--pairs has no effect with '%s', which uses no preferences",
                    settings->inverse);
  if (!idm_parameters_proper(parameters))
    return idm_fail(opt_error, IDM_INPUT,
                    "a prior is flat and cannot be sampled; give every free block a proper prior");
  return IDM_OK;
}

static idm_status make_room(idm_calibration *c, const idm_parameters *parameters,
                            idm_error *opt_error)
{
  const size_t n = c->settings.replications;
  const idm_status status = name_quantities(c, parameters, opt_error);
  if (status != IDM_OK) return status;
  c->recovery = idm_new(idm_times(n, c->quantity.count), sizeof *c->recovery);
  c->done = idm_new(n, sizeof *c->done);
  c->rhat = idm_new(n, sizeof *c->rhat);
  c->draws = idm_new(n, sizeof *c->draws);
  return c->recovery && c->done && c->rhat && c->draws ? IDM_OK : idm_fail_memory(opt_error);
}

idm_status idm_calibration_create(const idm_problem *problem,
                                  const idm_calibration_settings *settings,
                                  idm_calibration **ret_calibration, idm_error *opt_error)
{
  idm_require(problem, settings, ret_calibration);
  *ret_calibration = NULL;
  idm_parameters *parameters = NULL;
  idm_status status = idm_keys_check(idm_calibration_keys(), settings, opt_error);
  if (status == IDM_OK) status = idm_parameters_create(problem, &parameters, opt_error);
  if (status == IDM_OK) status = check_request(settings, parameters, opt_error);
  idm_calibration *c = status == IDM_OK ? idm_new(1, sizeof *c) : NULL;
  if (status == IDM_OK && !c) status = idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    c->problem = problem;
    c->settings = *settings;
    if (settings->opt_design_log) c->settings.trajectories = settings->opt_design_log->trajectories;
    c->key = idm_fingerprint_simulation(problem, c->settings.trajectories, settings->steps,
                                        settings->seed);
    c->settings.fit.threads = 1;
    c->settings.fit.keep = IDM_KEEP_NOTHING;
    c->settings.fit.prior_draws = 0;
    status = make_room(c, parameters, opt_error);
  }
  idm_parameters_destroy(parameters);
  if (status != IDM_OK) {
    idm_calibration_destroy(c);
    return status;
  }
  *ret_calibration = c;
  return IDM_OK;
}

/* --- one replication ------------------------------------------------------------------------ */

/* State of one replication. */
typedef struct replication {
  const idm_calibration *c;
  idm_parameters *parameters;
  idm_theta *theta;
  idm_data *data;
  double *truth; /* [dimension] */
} replication;

static void close_replication(replication *r)
{
  idm_data_destroy(r->data);
  idm_theta_destroy(r->theta);
  idm_parameters_destroy(r->parameters);
  free(r->truth);
}

/* Draws true parameters that can be planned for; the posterior is restricted to those too. Without
 * a workspace no plan is computed and the first draw is accepted. */
static idm_status draw_truth(const replication *r, idm_workspace *opt_workspace, idm_random *random,
                             idm_error *opt_error)
{
  enum { max_tries = 100 };
  idm_status status = IDM_OK;
  for (int i = 0; i < max_tries; i++) {
    idm_parameters_draw(r->parameters, random, r->truth);
    idm_parameters_set(r->parameters, r->truth, r->theta);
    if (!opt_workspace) return IDM_OK;
    status =
        idm_parameters_degenerate(r->parameters, r->theta)
            ? idm_fail(opt_error, IDM_NUMERICAL,
                       "the prior draws multipliers that are too small relative to the utilities")
            : idm_plan(r->theta, NULL, opt_workspace, NULL, opt_error);
    if (status != IDM_INPUT && status != IDM_NUMERICAL) break;
  }
  return status;
}

/* Simulates preferences, at the true parameters, between trajectories of the problem's own agent.
 */
static idm_status simulate_preferences(const replication *r, idm_random *random,
                                       idm_error *opt_error)
{
  const idm_calibration_settings *settings = &r->c->settings;
  const size_t pairs = settings->pairs ? settings->pairs : r->data->trajectories;
  return idm_preferences_simulate(r->c->problem, r->theta, pairs, settings->inverse, random,
                                  r->data, opt_error);
}

/* Draws true parameters and simulates a log. */
static idm_status simulate_log(replication *r, size_t index, idm_error *opt_error)
{
  const idm_problem *problem = r->c->problem;
  const bool preferences = idm_inverse_find(r->c->settings.inverse)->preferences;
  idm_random random;
  idm_workspace *workspace = NULL;
  idm_random_init(&random, r->c->key, truth_stream + index);
  idm_status status = idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                           &workspace, opt_error);
  if (status != IDM_OK) return status;
  status = draw_truth(r, preferences ? NULL : workspace, &random, opt_error);
  if (status == IDM_OK && preferences)
    status = idm_plan(problem->theta, NULL, workspace, NULL, opt_error);
  idm_simulation simulation = {.trajectories = r->c->settings.trajectories,
                               .steps = r->c->settings.steps,
                               .opt_design_log = r->c->settings.opt_design_log,
                               .seed = (uint64_t)(idm_random_uniform(&random) * 0x1p52)};
  idm_simulation_adapt(&simulation, problem);
  if (status == IDM_OK)
    status = idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation,
                          &r->data, opt_error);
  if (status == IDM_OK && preferences) status = simulate_preferences(r, &random, opt_error);
  idm_workspace_destroy(workspace);
  return status;
}

/* Fits the log; doubles warm-up and draws while the diagnostics fail, at most max_extensions times.
 */
static idm_status fit_log(const replication *r, size_t index, idm_posterior **ret_posterior,
                          double *rhat, idm_error *opt_error)
{
  const idm_inverse *inverse = idm_inverse_find(r->c->settings.inverse);
  idm_fit_settings settings = r->c->settings.fit;
  settings.seed = r->c->settings.seed + index + 1;
  for (int extension = 0;; extension++) {
    idm_assessment *assessment = NULL;
    idm_status status = idm_inverse_fit(inverse, r->c->problem, r->data, &settings, NULL,
                                        ret_posterior, NULL, opt_error);
    if (status == IDM_OK) status = idm_assess_draws(*ret_posterior, &assessment, opt_error);
    if (status != IDM_OK) return status;
    *rhat = 0;
    double ess = INFINITY;
    for (size_t i = 0; i < assessment->quantities; i++) {
      if (!(*ret_posterior)->summarised[i]) continue;
      *rhat = fmax(*rhat, assessment->diagnosis[i].rhat);
      ess = fmin(ess, assessment->diagnosis[i].ess_bulk);
    }
    idm_assessment_destroy(assessment);
    const bool converged =
        idm_check_passes(IDM_CHECK_RHAT, *rhat) && idm_check_passes(IDM_CHECK_EFFECTIVE, ess);
    if (converged || extension == max_extensions) return IDM_OK;
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
    settings.draws *= 2;
    settings.warmup *= 2;
  }
}

/* Log-likelihood of the evidence as a function of the free numbers. */
typedef struct likelihood {
  const replication *r;
  idm_prefix_tree *tree;
  idm_matching *matching; /* NULL: the evidence is preferences */
} likelihood;

static void close_likelihood(likelihood *l)
{
  idm_matching_destroy(l->matching);
  idm_prefix_tree_destroy(l->tree);
}

static idm_status open_likelihood(const replication *r, likelihood *l, idm_error *opt_error)
{
  *l = (likelihood){.r = r};
  if (r->data->preferences) return IDM_OK;
  const idm_status status = idm_evidence_tree(r->c->problem, r->data, &l->tree, opt_error);
  return status == IDM_OK ? idm_matching_create(r->c->problem, r->data, l->tree, r->parameters,
                                                &l->matching, opt_error)
                          : status;
}

static idm_status evaluate_likelihood(const likelihood *l, const double *y, double *value,
                                      idm_error *opt_error)
{
  const replication *r = l->r;
  if (l->matching) return idm_matching_log_likelihood(l->matching, y, value, NULL, opt_error);
  idm_parameters_set(r->parameters, y, r->theta);
  return idm_preferences_log_likelihood(r->c->problem, r->data, r->theta, r->c->settings.inverse,
                                        value, opt_error);
}

/* Log-likelihoods of the true parameters and of the draws among which they are ranked. */
static idm_status rank_likelihood(const replication *r, const idm_posterior *p,
                                  idm_recovery *recovery, idm_error *opt_error)
{
  const size_t all = p->chains * p->draws;
  const size_t d = r->parameters->dimension;
  likelihood l = {0};
  double *y = idm_new(d, sizeof *y);
  double sum = 0;
  idm_status status = y ? open_likelihood(r, &l, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = evaluate_likelihood(&l, r->truth, &recovery->truth, opt_error);
  for (size_t k = 0; k < IDM_RANKS && status == IDM_OK; k++) {
    double value = NAN;
    for (size_t i = 0; i < d; i++) y[i] = p->unconstrained[i * all + k * all / IDM_RANKS];
    status = evaluate_likelihood(&l, y, &value, opt_error);
    sum += value / IDM_RANKS;
    recovery->rank += value < recovery->truth;
  }
  recovery->mean = sum;
  recovery->sd = recovery->low = recovery->high = NAN;
  close_likelihood(&l);
  free(y);
  return status;
}

/* Number k of an item in the coordinate of its prior, at every draw, into x. */
static void take_draws(const idm_posterior *p, const parameter *item, size_t k, double *x)
{
  const size_t all = p->chains * p->draws;
  for (size_t i = 0; i < all; i++)
    x[i] = item->simplex ? p->value[(item->quantity + k) * all + i]
                         : idm_constrain(item->lower, item->upper,
                                         p->unconstrained[item->first * all + i], NULL, NULL, NULL);
}

/* Rank of the true value among the draws of one number, and their summary. */
static idm_status compare_number(const idm_posterior *p, double truth, const double *x,
                                 idm_recovery *recovery, idm_error *opt_error)
{
  const size_t all = p->chains * p->draws;
  idm_diagnosis d;
  const idm_status status = idm_diagnose(x, p->chains, p->draws, p->draws, 1, &d, opt_error);
  if (status != IDM_OK) return status;
  *recovery = (idm_recovery){truth, d.mean, d.sd, d.q05, d.q95, 0};
  for (size_t k = 0; k < IDM_RANKS; k++) recovery->rank += x[k * all / IDM_RANKS] < truth;
  return IDM_OK;
}

/* The same for all numbers, in the coordinate of the prior, in which means exist and the true
 * values were drawn. */
static idm_status compare(const replication *r, const idm_posterior *p, idm_recovery *recovery,
                          idm_error *opt_error)
{
  const idm_parameters *parameters = r->parameters;
  const size_t all = p->chains * p->draws;
  double *x = idm_new(all, sizeof *x);
  double *truth = idm_new(parameters->numbers, sizeof *truth);
  idm_status status = x && truth ? IDM_OK : idm_fail_memory(opt_error);
  size_t at = 0;
  if (status == IDM_OK) idm_parameters_report(parameters, r->truth, truth);
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    for (size_t k = 0; k < compared_numbers(item) && status == IDM_OK; k++) {
      take_draws(p, item, k, x);
      const double c = item->simplex ? truth[item->quantity + k]
                                     : idm_parameter_coordinate(item, r->truth, NULL);
      status = compare_number(p, c, x, &recovery[at++], opt_error);
    }
  }
  free(x);
  free(truth);
  if (status != IDM_OK) return status;
  recovery[at] = (idm_recovery){0};
  return rank_likelihood(r, p, &recovery[at], opt_error);
}

static idm_status replicate(const idm_calibration *c, size_t index, idm_recovery *recovery,
                            double *rhat, long *draws, idm_error *opt_error)
{
  replication r = {.c = c};
  idm_posterior *posterior = NULL;
  idm_status status = idm_parameters_create(c->problem, &r.parameters, opt_error);
  if (status == IDM_OK) {
    r.truth = idm_new(r.parameters->dimension, sizeof *r.truth);
    if (!r.truth) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) status = idm_theta_copy(c->problem->theta, &r.theta, opt_error);
  if (status == IDM_OK) status = simulate_log(&r, index, opt_error);
  if (status == IDM_OK) status = fit_log(&r, index, &posterior, rhat, opt_error);
  if (status == IDM_OK) status = compare(&r, posterior, recovery, opt_error);
  if (status == IDM_OK) *draws = (long)posterior->draws;
  idm_posterior_destroy(posterior);
  close_replication(&r);
  return status;
}

/* --- all of them ---------------------------------------------------------------------------- */

typedef struct calibration_job {
  idm_calibration *c;
  bool (*report_progress)(void *context, const idm_calibration *calibration);
  void *context;
  atomic_bool stop;
  pthread_mutex_t mutex; /* guards results, status and error */
  idm_status status;
  idm_error error;
} calibration_job;

static void run_one(void *content, size_t index)
{
  calibration_job *work = content;
  idm_calibration *c = work->c;
  const size_t quantities = c->quantity.count;
  if (atomic_load(&work->stop) || c->done[index]) return;
  idm_error error = {0};
  double rhat = NAN;
  long draws = 0;
  idm_recovery *recovery = idm_new(quantities, sizeof *recovery);
  const idm_status status =
      recovery ? replicate(c, index, recovery, &rhat, &draws, &error) : idm_fail_memory(&error);
  pthread_mutex_lock(&work->mutex);
  if (status == IDM_OK) {
    memcpy(c->recovery + index * quantities, recovery, quantities * sizeof *recovery);
    c->rhat[index] = rhat;
    c->draws[index] = draws;
    c->done[index] = true;
  } else if (work->status == IDM_OK) {
    work->status = status;
    work->error = error;
    atomic_store(&work->stop, true);
  }
  pthread_mutex_unlock(&work->mutex);
  free(recovery);
}

static void report_progress(void *content)
{
  calibration_job *work = content;
  pthread_mutex_lock(&work->mutex);
  if (work->report_progress(work->context, work->c)) atomic_store(&work->stop, true);
  pthread_mutex_unlock(&work->mutex);
}

idm_status idm_calibration_run(idm_calibration *calibration,
                               bool (*opt_watch)(void *context, const idm_calibration *calibration),
                               void *context, idm_error *opt_error)
{
  idm_require(calibration);
  calibration_job work = {.c = calibration, .report_progress = opt_watch, .context = context};
  pthread_mutex_init(&work.mutex, NULL);
  idm_status status =
      idm_parallel(calibration->settings.replications, calibration->settings.threads, run_one,
                   opt_watch ? report_progress : NULL, &work, opt_error);
  pthread_mutex_destroy(&work.mutex);
  if (status == IDM_OK && work.status != IDM_OK) {
    status = work.status;
    if (opt_error) *opt_error = work.error;
  }
  if (status == IDM_OK && opt_watch) opt_watch(context, calibration);
  return status;
}

size_t idm_calibration_quantities(const idm_calibration *calibration)
{
  return calibration ? calibration->quantity.count : 0;
}

const char *idm_calibration_quantity_name(const idm_calibration *calibration, size_t index)
{
  return index < idm_calibration_quantities(calibration) ? calibration->quantity.name[index] : NULL;
}
