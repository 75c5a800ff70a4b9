/* The inverse planner `preference-bayes`: the posterior of the utility under which trajectories are
 * preferred as a table says, by Markov chains.
 *
 * Contents: the target · the fit · peaks · the answer */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "idm/maximise.h"
#include "idm/prior.h"
#include "invert/label.h"
#include "invert/matching/assemble.h"
#include "invert/utility/preferred.h"
#include "invert/utility/target_draws.h"

extern const idm_inverse idm_inverse_preference_bayes; /* registered below */

/* Stream of starting points, beyond those of chains. */
static const uint64_t prior_stream = (uint64_t)1 << 33;
enum { most_peaks = 16 };

/* --- the target ----------------------------------------------------------------------------- */

/* What one chain evaluates by. */
typedef struct density {
  const idm_preferred *preferred;
  const idm_parameters *parameters;
  idm_halt *halt;
  double share;     /* of the prior that counts: 1, but where a search looks beyond it */
  double *x;        /* [free] */
  double *slope;    /* [free]: of x by its coordinate */
  double *gradient; /* [free]: by x */
} density;

static idm_status evaluate(void *context, const double *y, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  density *d = context;
  const size_t n = d->preferred->free;
  const idm_status status = idm_halt_check(d->halt, opt_error);
  if (status != IDM_OK) return status;
  for (size_t j = 0; j < n; j++)
    d->x[j] = idm_parameter_natural(&d->parameters->item[j], y, &d->slope[j]);
  *log_density =
      d->share * idm_parameters_log_prior(d->parameters, y, opt_gradient) +
      idm_preferred_log_likelihood(d->preferred, d->x, opt_gradient ? d->gradient : NULL, NULL);
  if (!opt_gradient) return IDM_OK;
  for (size_t j = 0; j < n; j++)
    opt_gradient[j] = d->share * opt_gradient[j] + d->slope[j] * d->gradient[j];
  return IDM_OK;
}

static void close_density(density *d)
{
  free(d->x);
  free(d->slope);
  free(d->gradient);
}

static idm_status open_density(density *d, idm_error *opt_error)
{
  const size_t n = d->preferred->free;
  d->x = idm_new(n, sizeof *d->x);
  d->gradient = idm_new(n, sizeof *d->gradient);
  d->slope = idm_new(n, sizeof *d->slope);
  return d->x && d->gradient && d->slope ? IDM_OK : idm_fail_memory(opt_error);
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
  if (!f->density || !f->target) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < f->chains && status == IDM_OK; i++) {
    f->density[i] = (density){
        .preferred = f->preferred, .parameters = f->parameters, .halt = &f->halt, .share = 1};
    f->target[i] = (idm_target){.dimension = f->sought->count,
                                .gradient = true,
                                .context = &f->density[i],
                                .evaluate = evaluate};
    status = open_density(&f->density[i], opt_error);
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

/* --- peaks ---------------------------------------------------------------------------------- */

/* Whether the density has one peak at most. Logistics are log-concave in the utility, and so are
 * these priors with the Jacobians that go with their ends; a prior of another form or in another
 * coordinate is not, and may hold numbers back near its own mode while preferences that are at odds
 * with it hold others far away. */
static bool has_one_peak(const idm_parameters *parameters)
{
  for (size_t j = 0; j < parameters->items; j++) {
    const parameter *item = &parameters->item[j];
    const bool flat = item->prior->kind == IDM_PRIOR_FLAT;
    if (item->prior->kind == IDM_PRIOR_LOGNORMAL) return false;
    if (item->scale != IDM_SCALE_IDENTITY && !flat) return false;
  }
  return true;
}

/* Climb from where preferences alone lead, with so much of the prior as keeps them from going on
 * for ever; x becomes the peak. */
static idm_status climb_from_afar(const fit_of_preferences *f, double share, idm_peaks *peaks,
                                  double *x, idm_error *opt_error)
{
  enum { limit = 2000 };
  double height;
  f->density[0].share = share;
  idm_status status = idm_maximise(&f->target[0], 0, limit, x, &height, opt_error);
  f->density[0].share = 1;
  if (status == IDM_OK) status = idm_peaks_climb(peaks, &f->target[0], x, opt_error);
  return status;
}

/* Climb from all places that are one peak's in one number and another's in the others. */
static idm_status climb_from_crosses(const fit_of_preferences *f, const double *near,
                                     const double *far, idm_peaks *peaks, double *x,
                                     idm_error *opt_error)
{
  const size_t n = f->sought->count;
  idm_status status = IDM_OK;
  for (size_t j = 0; j < 2 * n && n > 1 && status == IDM_OK; j++) {
    memcpy(x, j < n ? near : far, n * sizeof *x);
    x[j % n] = j < n ? far[j] : near[j - n];
    status = idm_peaks_climb(peaks, &f->target[0], x, opt_error);
  }
  return status;
}

/* Climb from draws of the prior. */
static idm_status climb_from_prior(const fit_of_preferences *f, idm_peaks *peaks, double *x,
                                   idm_error *opt_error)
{
  enum { draws = 12 };
  idm_random random;
  idm_random_init(&random, f->key, prior_stream);
  idm_status status = IDM_OK;
  for (int i = 0; i < draws && status == IDM_OK; i++) {
    idm_parameters_draw(f->parameters, &random, x);
    status = idm_peaks_climb(peaks, &f->target[0], x, opt_error);
  }
  return status;
}

/* Peaks beside the first, which is kept already. */
static idm_status find_further(const fit_of_preferences *f, idm_peaks *peaks, double *x,
                               idm_error *opt_error)
{
  static const double shares[] = {1e-2, 1e-4, 1e-6};
  const size_t n = f->sought->count;
  double *near = idm_duplicate(peaks->peak[0].mode, n, sizeof *near);
  double *far = idm_duplicate(near, n, sizeof *far);
  idm_status status = near && far ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < sizeof shares / sizeof *shares && status == IDM_OK; i++) {
    status = climb_from_afar(f, shares[i], peaks, far, opt_error);
    if (status == IDM_OK) status = climb_from_crosses(f, near, far, peaks, x, opt_error);
  }
  if (status == IDM_OK) status = climb_from_prior(f, peaks, x, opt_error);
  free(near);
  free(far);
  return status;
}

/* The peaks that hold the density; none where nothing holds the numbers back. */
static idm_status find_peaks(const fit_of_preferences *f, idm_peaks *peaks, idm_error *opt_error)
{
  const bool proper = idm_parameters_proper(f->parameters);
  if (!proper && f->separated) return IDM_OK;
  double *x = idm_new(f->sought->count, sizeof *x);
  if (!x) return idm_fail_memory(opt_error);
  idm_parameters_get(f->parameters, f->problem->theta, x);
  idm_status status = idm_peaks_climb(peaks, &f->target[0], x, opt_error);
  if (status == IDM_OK && proper && !has_one_peak(f->parameters))
    status = find_further(f, peaks, x, opt_error);
  idm_peaks_thin(peaks);
  free(x);
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
  for (size_t j = 0; j < f->sought->count; j++) {
    const parameter *item = &f->parameters->item[j];
    const double c = idm_parameter_coordinate(item, y, NULL);
    d->x[j] = idm_parameter_natural(item, y, NULL);
    sum += constant_of(item->prior) - idm_prior_log_density(item->prior, c, NULL);
  }
  return sum - idm_preferred_log_likelihood(f->preferred, d->x, NULL, NULL);
}

/* The row's own expression at the centre. */
static idm_status put_objective(const fit_of_preferences *f, idm_posterior *p, idm_error *opt_error)
{
  double *centre = idm_new(f->sought->count, sizeof *centre);
  if (!centre) return idm_fail_memory(opt_error);
  idm_posterior_centre(p, centre);
  p->finding->objective = objective_at(f, centre);
  free(centre);
  return IDM_OK;
}

static idm_status draw(fit_of_preferences *f, idm_posterior **ret_posterior, idm_notes *opt_notes,
                       idm_error *opt_error)
{
  const idm_drawn_target drawn = {.inverse = &idm_inverse_preference_bayes,
                                  .problem = f->problem,
                                  .settings = f->settings,
                                  .parameters = f->parameters,
                                  .target = f->target,
                                  .key = f->key,
                                  .halt = &f->halt,
                                  .watch = f->watch,
                                  .opt_notes = opt_notes};
  idm_peaks *peaks = NULL;
  idm_finding *finding = NULL;
  idm_status status = idm_peaks_create(f->sought->count, most_peaks, &peaks, opt_error);
  if (status == IDM_OK) status = find_peaks(f, peaks, opt_error);
  if (status == IDM_OK) status = idm_finding_create(f->sought->count, &finding, opt_error);
  if (status == IDM_OK) status = idm_preferred_open(f->preferred, NULL, finding, opt_error);
  if (status == IDM_OK) {
    idm_preferred_say(f->preferred, f->separated, finding);
    find_faults(f, finding);
    status = idm_target_draws(&drawn, peaks, finding, ret_posterior, opt_error);
  } else {
    idm_finding_destroy(finding);
  }
  idm_peaks_destroy(peaks);
  if (status == IDM_OK) status = put_objective(f, *ret_posterior, opt_error);
  return status;
}

static idm_status fit_preferences(const idm_fit_call *call, idm_posterior **ret_posterior,
                                  idm_error *opt_error)
{
  static const idm_fit_watch nobody = {0};
  fit_of_preferences f = {.problem = call->problem,
                          .settings = call->settings,
                          .watch = call->opt_watch ? call->opt_watch : &nobody};
  idm_halt_begin(&f.halt, f.watch, "looking for where to start");
  idm_status status = open_fit(&f, call->data, opt_error);
  if (status == IDM_OK) status = idm_fit_check_size(call->data, call->settings, opt_error);
  if (status == IDM_OK) status = draw(&f, ret_posterior, call->opt_notes, opt_error);
  if (status != IDM_OK) {
    idm_posterior_destroy(*ret_posterior);
    *ret_posterior = NULL;
  }
  close_fit(&f);
  return status;
}

static const char *const settings_read[] = {"sampler", "chains", "draws",       "warmup", "thin",
                                            "depth",   "seed",   "prior_draws", NULL};

const idm_inverse idm_inverse_preference_bayes = {
    .name = "preference-bayes",
    .summary =
        "the posterior of the utility under which trajectories are preferred as a table says",
    .row = "Preference extrapolation",
    .answer = IDM_POSTERIOR,
    .finds = "utility",
    .alone = "comparisons of trajectories do not depend on how actions are chosen; use --inverse "
             "map or bayes",
    .preferences = true,
    .features = true,
    .settings = settings_read,
    .fit = fit_preferences,
};
