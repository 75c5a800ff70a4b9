/* The inverse planner `preference-bayes`: the posterior of the utility under which trajectories are
 * preferred as a table says, by Markov chains. */
#include <math.h>
#include <stdio.h>

#include "base/dense.h"
#include "base/memory.h"
#include "idm/diagnostics.h"
#include "idm/laplace.h"
#include "idm/maximise.h"
#include "idm/prior.h"
#include "invert/label.h"
#include "invert/matching/assemble.h"
#include "invert/matching/drawing.h"
#include "invert/utility/answer.h"
#include "invert/utility/preferred.h"

extern const idm_inverse idm_inverse_preference_bayes; /* registered below */

/* Streams of starting points, beyond those of chains. */
static const uint64_t start_stream = (uint64_t)1 << 32;

/* --- the target ----------------------------------------------------------------------------- */

/* What one chain evaluates by. */
typedef struct density {
  const idm_preferred *preferred;
  const idm_parameters *parameters;
  const size_t *entry; /* [free]: an entry of the utility that each number is */
  idm_halt *halt;
  idm_theta *theta;
  idm_theta *slope; /* 0 but at those entries */
  double *x;        /* [free] */
  double *gradient; /* [free]: by x */
} density;

static idm_status evaluate(void *context, const double *y, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  density *d = context;
  const size_t n = d->preferred->free;
  const idm_status status = idm_halt_check(d->halt, opt_error);
  if (status != IDM_OK) return status;
  idm_parameters_set(d->parameters, y, d->theta);
  for (size_t j = 0; j < n; j++) d->x[j] = d->theta->block[IDM_UTILITY].value[d->entry[j]];
  *log_density =
      idm_parameters_log_prior(d->parameters, y, opt_gradient) +
      idm_preferred_log_likelihood(d->preferred, d->x, opt_gradient ? d->gradient : NULL, NULL);
  if (!opt_gradient) return IDM_OK;
  for (size_t j = 0; j < n; j++) d->slope->block[IDM_UTILITY].value[d->entry[j]] = d->gradient[j];
  idm_parameters_pull(d->parameters, y, d->slope, opt_gradient);
  return IDM_OK;
}

static void close_density(density *d)
{
  idm_theta_destroy(d->theta);
  idm_theta_destroy(d->slope);
  free(d->x);
  free(d->gradient);
}

static idm_status open_density(const idm_problem *problem, density *d, idm_error *opt_error)
{
  const size_t n = d->preferred->free;
  d->x = idm_new(n, sizeof *d->x);
  d->gradient = idm_new(n, sizeof *d->gradient);
  idm_status status = d->x && d->gradient ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &d->theta, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &d->slope, opt_error);
  for (size_t i = 0; status == IDM_OK && i < d->slope->block[IDM_UTILITY].size; i++)
    d->slope->block[IDM_UTILITY].value[i] = 0;
  return status;
}

/* --- the fit -------------------------------------------------------------------------------- */

typedef struct fit_of_preferences {
  const idm_problem *problem;
  const idm_fit_settings *settings;
  const idm_fit_watch *watch;
  idm_halt halt;
  idm_sought *sought;
  idm_preferred *preferred;
  idm_parameters *parameters;
  size_t *entry; /* [free] */
  uint64_t key;
  size_t chains;
  density *density;   /* [chain] */
  idm_target *target; /* [chain] */
  size_t separated;
} fit_of_preferences;

static void close_fit(fit_of_preferences *f)
{
  for (size_t i = 0; f->density && i < f->chains; i++) close_density(&f->density[i]);
  free(f->density);
  free(f->target);
  free(f->entry);
  idm_parameters_destroy(f->parameters);
  idm_preferred_destroy(f->preferred);
  idm_sought_destroy(f->sought);
}

static bool is_unwanted(void *halt)
{
  return idm_halt_ask(halt);
}

static idm_status open_targets(fit_of_preferences *f, idm_error *opt_error)
{
  f->chains = f->settings->chains;
  f->density = idm_new(f->chains, sizeof *f->density);
  f->target = idm_new(f->chains, sizeof *f->target);
  f->entry = idm_new(f->sought->count, sizeof *f->entry);
  if (!f->density || !f->target || !f->entry) return idm_fail_memory(opt_error);
  for (size_t e = 0; e < f->sought->entries; e++)
    if (f->sought->number[e] >= 0) f->entry[f->sought->number[e]] = e;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < f->chains && status == IDM_OK; i++) {
    f->density[i] = (density){.preferred = f->preferred,
                              .parameters = f->parameters,
                              .entry = f->entry,
                              .halt = &f->halt};
    f->target[i] = (idm_target){.dimension = f->sought->count,
                                .gradient = true,
                                .context = &f->density[i],
                                .evaluate = evaluate};
    status = open_density(f->problem, &f->density[i], opt_error);
  }
  return status;
}

static idm_status open_fit(fit_of_preferences *f, const idm_data *data, idm_error *opt_error)
{
  const idm_inverse *inverse = &idm_inverse_preference_bayes;
  idm_status status = idm_keys_check(idm_fit_keys(), f->settings, opt_error);
  if (status == IDM_OK) status = idm_inverse_check(inverse, f->problem, data, opt_error);
  if (status == IDM_OK) status = idm_sought_create(f->problem, &f->sought, opt_error);
  if (status == IDM_OK)
    status =
        idm_preferred_create(f->problem, data, f->sought, inverse->name, &f->preferred, opt_error);
  if (status == IDM_OK) status = idm_parameters_create(f->problem, &f->parameters, opt_error);
  if (status == IDM_OK) status = open_targets(f, opt_error);
  if (status != IDM_OK) return status;
  f->key = idm_label_request(inverse, f->problem, data, f->settings);
  return idm_preferred_separated(f->preferred, is_unwanted, &f->halt, &f->separated, opt_error);
}

/* --- starting ------------------------------------------------------------------------------- */

/* Where chains start from: the mode and the covariance there. */
typedef struct peak {
  double *mode;
  double *covariance; /* [n][n] */
  double *factor;     /* [n][n] */
  double height;      /* log density of the mode */
  bool definite;      /* else there is no peak, and the covariance is nothing */
} peak;

static void clear(peak *k)
{
  free(k->mode);
  free(k->covariance);
  free(k->factor);
}

static idm_status find_peak(const fit_of_preferences *f, peak *k, idm_error *opt_error)
{
  enum { limit = 2000 };
  const size_t n = f->sought->count;
  k->mode = idm_new(n, sizeof *k->mode);
  k->covariance = idm_new(idm_times(n, n), sizeof *k->covariance);
  k->factor = idm_new(idm_times(n, n), sizeof *k->factor);
  if (!k->mode || !k->covariance || !k->factor) return idm_fail_memory(opt_error);
  idm_parameters_get(f->parameters, f->problem->theta, k->mode);
  /* Where nothing holds the numbers back there is no peak to climb to. */
  if (!idm_parameters_proper(f->parameters) && f->separated) return IDM_OK;
  idm_status status = idm_maximise(&f->target[0], 0, limit, k->mode, &k->height, opt_error);
  if (status == IDM_OK)
    status = idm_laplace(&f->target[0], k->mode, k->covariance, NULL, &k->definite, opt_error);
  if (status != IDM_OK || !k->definite) return status;
  memcpy(k->factor, k->covariance, n * n * sizeof *k->factor);
  k->definite = idm_cholesky(n, k->factor);
  return IDM_OK;
}

/* A place twice as far from the mode as a draw is, or nearer where the density is not what its
 * curvature at the mode says: y comes in with normal numbers. */
static idm_status find_start(const fit_of_preferences *f, const peak *k, const idm_target *target,
                             double *y, idm_error *opt_error)
{
  enum { most_halvings = 60 };
  const size_t n = f->sought->count;
  /* Twice as far a normal density is lower by 2 n in the mean. */
  const double usual = 4 * (double)n + 20;
  idm_status status = IDM_OK;
  if (k->definite) idm_lower_multiply(n, k->factor, y);
  for (size_t j = 0; j < n; j++) y[j] = k->mode[j] + 2 * y[j];
  for (int i = 0; k->definite && i < most_halvings && status == IDM_OK; i++) {
    double height = -INFINITY;
    status = target->evaluate(target->context, y, &height, NULL, opt_error);
    if (height >= k->height - usual) break;
    for (size_t j = 0; j < n; j++) y[j] = 0.5 * (y[j] + k->mode[j]);
  }
  return status;
}

/* Every chain at a place of its own. */
static idm_status start_chains(const fit_of_preferences *f, bool plain, idm_chains *chains,
                               idm_error *opt_error)
{
  const size_t n = f->sought->count;
  peak k = {0};
  double *y = idm_new(n, sizeof *y);
  idm_status status = y ? find_peak(f, &k, opt_error) : idm_fail_memory(opt_error);
  for (size_t c = 0; c < f->chains && status == IDM_OK; c++) {
    idm_random random;
    idm_random_init(&random, f->key, start_stream + c);
    for (size_t j = 0; j < n; j++) y[j] = idm_random_normal(&random);
    const bool guess = k.definite && !plain;
    status = find_start(f, &k, &f->target[c], y, opt_error);
    if (status == IDM_OK)
      status = idm_chains_start(chains, c, &f->target[c], y, guess ? k.mode : NULL,
                                guess ? k.covariance : NULL, opt_error);
  }
  clear(&k);
  free(y);
  return status;
}

/* --- the answer ----------------------------------------------------------------------------- */

/* Without a prior that holds them back, numbers that preferences do not bound have no posterior. */
static void find_faults(const fit_of_preferences *f, idm_finding *finding)
{
  if (idm_parameters_proper(f->parameters)) return;
  if (f->separated)
    idm_notes_add(&finding->faults,
                  "improper: the prior is flat and the preferences are separable (some utility "
                  "agrees with %zu of the %zu and disagrees with none, the better the larger it "
                  "is): there is no posterior to draw from; give the utility a proper prior",
                  f->separated, f->preferred->count);
  if (finding->open)
    idm_notes_add(&finding->faults,
                  "improper: the prior is flat and the preferences leave %zu %s open: there is no "
                  "posterior to draw from; give the utility a proper prior, or hold an entry",
                  finding->open, finding->open == 1 ? "direction" : "directions");
  if (!finding->looked)
    idm_notes_add(&finding->faults,
                  "unchecked: the prior is flat, and what the preferences leave open was not "
                  "looked for, so that there may be no posterior; give the utility a proper prior");
}

/* What the log density of a prior holds beside terms that vary with the number. */
static double constant_of(const idm_prior *prior)
{
  const double *a = prior->argument;
  switch (prior->kind) {
  case IDM_PRIOR_NORMAL:
  case IDM_PRIOR_UNIFORM:
    return idm_prior_log_density(prior, a[0], NULL);
  case IDM_PRIOR_HALFNORMAL:
  case IDM_PRIOR_EXPONENTIAL:
    return idm_prior_log_density(prior, 0, NULL);
  case IDM_PRIOR_LOGNORMAL:
    return idm_prior_log_density(prior, 1, NULL) + 0.5 * a[0] * a[0] / (a[1] * a[1]);
  case IDM_PRIOR_GAMMA:
    return idm_prior_log_density(prior, 1, NULL) + a[1];
  case IDM_PRIOR_BETA:
    return idm_prior_log_density(prior, 0.5, NULL) + (a[0] + a[1] - 2) * log(2);
  case IDM_PRIOR_FLAT:
  case IDM_PRIOR_DIRICHLET:
    break;
  }
  return 0;
}

/* -sum w log logistic(R_better - R_worse) - log prior, without its constant, at y. */
static double objective_at(const fit_of_preferences *f, const double *y)
{
  const density *d = &f->density[0];
  double sum = 0;
  idm_parameters_set(f->parameters, y, d->theta);
  for (size_t j = 0; j < f->sought->count; j++) {
    const parameter *item = &f->parameters->item[j];
    const double c = idm_parameter_coordinate(item, y, NULL);
    d->x[j] = d->theta->block[IDM_UTILITY].value[f->entry[j]];
    sum += constant_of(item->prior) - idm_prior_log_density(item->prior, c, NULL);
  }
  return sum - idm_preferred_log_likelihood(f->preferred, d->x, NULL, NULL);
}

/* The row's own expression at the centre, and R-hat of the worst of the numbers. */
static idm_status certify(const fit_of_preferences *f, const idm_posterior *p, idm_finding *finding,
                          idm_error *opt_error)
{
  const size_t n = f->sought->count;
  const size_t all = p->chains * p->draws;
  double *centre = idm_new(n, sizeof *centre);
  if (!centre) return idm_fail_memory(opt_error);
  idm_posterior_centre(p, centre);
  finding->objective = objective_at(f, centre);
  free(centre);
  snprintf(finding->certificate, sizeof finding->certificate, "R-hat");
  finding->attained = p->chains > 1 ? 1 : NAN;
  finding->closed = 1.01;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < n && status == IDM_OK && p->chains > 1; i++) {
    idm_diagnosis d;
    status =
        idm_diagnose(p->unconstrained + i * all, p->chains, p->draws, p->draws, 1, &d, opt_error);
    if (status == IDM_OK && !(d.rhat <= finding->attained)) finding->attained = d.rhat;
  }
  return status;
}

static idm_status gather(const fit_of_preferences *f, const idm_chains *chains,
                         idm_posterior **ret_posterior, idm_notes *opt_notes, idm_error *opt_error)
{
  long draws = 0;
  idm_finding *finding = NULL;
  idm_status status = idm_drawing_common(chains, &draws, opt_notes, opt_error);
  if (status == IDM_OK) status = idm_finding_create(f->sought->count, &finding, opt_error);
  if (status == IDM_OK) status = idm_preferred_open(f->preferred, NULL, finding, opt_error);
  if (status == IDM_OK) {
    idm_preferred_say(f->preferred, f->separated, finding);
    find_faults(f, finding);
    status = idm_answer_draws(&idm_inverse_preference_bayes, f->problem, f->settings, f->parameters,
                              chains, (size_t)draws, finding, ret_posterior, opt_error);
  } else {
    idm_finding_destroy(finding);
  }
  if (status == IDM_OK) status = certify(f, *ret_posterior, (*ret_posterior)->finding, opt_error);
  if (status == IDM_OK)
    status = idm_posterior_draw_prior(f->parameters, f->settings->prior_draws, f->key,
                                      *ret_posterior, opt_error);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  return status;
}

static idm_status fit_preferences(const idm_problem *problem, const idm_data *data,
                                  const idm_fit_settings *settings, const idm_fit_watch *opt_watch,
                                  idm_posterior **ret_posterior, idm_notes *opt_notes,
                                  idm_error *opt_error)
{
  static const idm_fit_watch nobody = {0};
  fit_of_preferences f = {
      .problem = problem, .settings = settings, .watch = opt_watch ? opt_watch : &nobody};
  const idm_sampler *sampler = NULL;
  idm_chains *chains = NULL;
  *ret_posterior = NULL;
  idm_halt_begin(&f.halt, f.watch, "looking for where to start");
  idm_status status = open_fit(&f, data, opt_error);
  if (status == IDM_OK) status = idm_fit_check_size(data, settings, opt_error);
  if (status == IDM_OK)
    status = idm_drawing_sampler(settings, f.sought->count, &sampler, opt_error);
  if (status == IDM_OK)
    status = idm_drawing_create(settings, sampler, f.key, f.sought->count, NULL, &f.halt, &chains,
                                opt_error);
  if (status == IDM_OK) status = start_chains(&f, sampler->plain, chains, opt_error);
  if (status == IDM_OK) status = idm_drawing_run(chains, f.target, f.watch, &f.halt, opt_error);
  if (status == IDM_OK) status = gather(&f, chains, ret_posterior, opt_notes, opt_error);
  idm_chains_destroy(chains);
  close_fit(&f);
  return status;
}

static const char *const settings_read[] = {"sampler", "chains", "draws",       "warmup",
                                            "thin",    "seed",   "prior_draws", NULL};

const idm_inverse idm_inverse_preference_bayes = {
    .name = "preference-bayes",
    .summary =
        "the posterior of the utility under which trajectories are preferred as a table says",
    .row = "Preference extrapolation",
    .answer = IDM_POSTERIOR,
    .finds = "utility",
    .preferences = true,
    .settings = settings_read,
    .fit = fit_preferences,
};
