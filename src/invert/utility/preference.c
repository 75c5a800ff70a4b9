/* The inverse planners `preference` (posterior mode) and `preference-bayes` (posterior draws): the
 * utility from preferences between trajectories (`docs/method/inverse.md, 6`).
 *
 * Contents: preference · preference bayes */
#include <math.h>
#include <stdio.h>

#include "base/dense.h"
#include "base/key.h"
#include "base/memory.h"
#include "infer/approximation.h"
#include "infer/distribution.h"
#include "invert/cancel.h"
#include "invert/matching/fit.h"
#include "invert/parameters.h"
#include "invert/posterior.h"
#include "invert/utility/preference_model.h"
#include "invert/utility/task.h"

/* === preference ============================================================================= */

/* The inverse planner `preference`: the most probable utility given preferences between
 * trajectories, by Newton's method: the negative log posterior density is convex. */

extern const idm_inverse idm_inverse_preference; /* registered below */

/* --- the objective -------------------------------------------------------------------------- */

/* -sum w log logistic(R_better - R_worse) + sum ((x - mean) / sd)^2 / 2. */
typedef struct objective {
  const idm_preference_model *preference_model;
  size_t n;
  double *mean; /* [n]: prior means */
  double *sd;   /* [n]: prior standard deviations; infinite if flat */
  bool flat;    /* the prior of some number is flat */
  double *x;
  double *gradient;
  double *precision; /* [n][n] */
  double *factor;    /* [2 n][n]: scratch of a step */
  double *step;
  double *trial;
  double *before;
  double *after;
} objective;

static void clear(objective *o)
{
  double *const arrays[] = {o->mean,   o->sd,   o->x,     o->gradient, o->precision,
                            o->factor, o->step, o->trial, o->before,   o->after};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

static idm_status read_prior(const idm_parameters *parameters, objective *o, idm_error *opt_error)
{
  for (size_t j = 0; j < o->n; j++) {
    const parameter *item = &parameters->item[j];
    const bool normal = item->prior->kind == IDM_PRIOR_NORMAL;
    if (item->scale != IDM_SCALE_IDENTITY || (!normal && item->prior->kind != IDM_PRIOR_FLAT))
      return idm_fail(opt_error, IDM_INPUT,
                      "'%s' finds the unique mode under a normal or a flat prior of the utility "
                      "itself; give it one, as in --free '{utility: {prior: {normal: [0, 1]}}}', "
                      "or use --inverse preference-bayes, which supports any prior",
                      idm_inverse_preference.name);
    o->mean[j] = normal ? item->prior->argument[0] : 0;
    o->sd[j] = normal ? item->prior->argument[1] : INFINITY;
    o->flat = o->flat || !normal;
    o->x[j] = o->mean[j];
  }
  return IDM_OK;
}

static idm_status open_objective(const idm_problem *problem,
                                 const idm_preference_model *preference_model, objective *o,
                                 idm_error *opt_error)
{
  const size_t n = preference_model->free;
  idm_parameters *parameters = NULL;
  *o = (objective){.preference_model = preference_model, .n = n};
  o->mean = idm_new(n, sizeof *o->mean);
  o->sd = idm_new(n, sizeof *o->sd);
  o->x = idm_new(n, sizeof *o->x);
  o->gradient = idm_new(n, sizeof *o->gradient);
  o->precision = idm_new(idm_times(n, n), sizeof *o->precision);
  o->factor = idm_new(idm_times(2 * n, n), sizeof *o->factor);
  o->step = idm_new(n, sizeof *o->step);
  o->trial = idm_new(n, sizeof *o->trial);
  o->before = idm_new(n, sizeof *o->before);
  o->after = idm_new(n, sizeof *o->after);
  if (!o->mean || !o->sd || !o->x || !o->gradient || !o->precision || !o->factor || !o->step ||
      !o->trial || !o->before || !o->after)
    return idm_fail_memory(opt_error);
  idm_status status = idm_parameters_create(problem, &parameters, opt_error);
  if (status == IDM_OK) status = read_prior(parameters, o, opt_error);
  idm_parameters_destroy(parameters);
  return status;
}

/* Objective at x, optionally with its gradient and Hessian. */
static double evaluate(const objective *o, const double *x, double *opt_gradient,
                       double *opt_hessian)
{
  double sum =
      -idm_preference_model_log_likelihood(o->preference_model, x, opt_gradient, opt_hessian);
  for (size_t j = 0; j < o->n; j++) {
    const double z = (x[j] - o->mean[j]) / o->sd[j];
    sum += 0.5 * z * z;
    if (opt_gradient) opt_gradient[j] = z / o->sd[j] - opt_gradient[j];
    if (opt_hessian) opt_hessian[j * o->n + j] += 1 / (o->sd[j] * o->sd[j]);
  }
  return sum;
}

/* --- Newton --------------------------------------------------------------------------------- */

/* step = -Hessian^-1 gradient by eigenvectors, in units of the prior sds (of the largest one, so
 * that products do not overflow). The prior then has the same curvature in all directions.
 * Directions of smaller curvature than rounding errors of the preferences' are left out: the start
 * is the prior mean, which is the mode along them. `trial` is scratch. */
static bool spectral_step(const objective *o)
{
  static const double rounding = 1e-12;
  const size_t n = o->n;
  double largest_sd = 0;
  for (size_t j = 0; j < n; j++) largest_sd = fmax(largest_sd, o->sd[j]);
  for (size_t j = 0; j < n; j++)
    for (size_t k = 0; k <= j; k++)
      o->factor[j * n + k] = o->factor[k * n + j] =
          o->precision[j * n + k] * (o->sd[j] / largest_sd) * (o->sd[k] / largest_sd);
  idm_symmetric_eigen(n, o->factor, o->trial, o->factor + n * n);
  const double least = rounding * o->trial[n - 1];
  memset(o->step, 0, n * sizeof *o->step);
  for (size_t i = 0; i < n; i++) {
    const double *direction = o->factor + (n + i) * n;
    double along = 0;
    if (!(o->trial[i] > least)) continue;
    for (size_t j = 0; j < n; j++) along += direction[j] * (o->sd[j] / largest_sd) * o->gradient[j];
    for (size_t j = 0; j < n; j++)
      o->step[j] -= along / o->trial[i] * direction[j] * (o->sd[j] / largest_sd);
  }
  return o->trial[n - 1] > 0;
}

/* step = -Hessian^-1 gradient. With a flat prior the Hessian can be singular: a small multiple of
 * the identity is added, and the step stays in the span of the preferences' differences, as the
 * gradient does. Under a prior so wide that its curvature is lost in rounding, the step is by
 * eigenvectors. Returns false if there is none. */
static bool find_step(const objective *o)
{
  const size_t n = o->n;
  double largest = 0;
  for (size_t j = 0; j < n; j++) largest = fmax(largest, o->precision[j * n + j]);
  if (o->flat)
    for (size_t j = 0; j < n; j++) o->precision[j * n + j] += 1e-10 * largest + 1e-300;
  for (size_t j = 0; j < n && !o->flat; j++)
    if (!(1 / (o->sd[j] * o->sd[j]) > 1e-13 * largest)) return spectral_step(o);
  memcpy(o->factor, o->precision, n * n * sizeof *o->factor);
  if (!idm_cholesky(n, o->factor)) return !o->flat && spectral_step(o);
  for (size_t j = 0; j < n; j++) o->step[j] = -o->gradient[j];
  idm_lower_solve(n, o->factor, o->step);
  idm_lower_solve_transposed(n, o->factor, o->step);
  return true;
}

/* Largest entry of the gradient, each relative to the largest term that enters it or to 1. */
static double measure_gradient(const objective *o, const double *x)
{
  const idm_preference_model *p = o->preference_model;
  double worst = 0;
  for (size_t j = 0; j < o->n; j++) {
    double size = fmax(1, fabs(x[j] - o->mean[j]) / (o->sd[j] * o->sd[j]));
    for (size_t i = 0; i < p->count; i++)
      size = fmax(size, p->weight[i] * fabs(p->difference[i * p->free + j]));
    worst = fmax(worst, fabs(o->gradient[j]) / size);
  }
  return worst;
}

/* Largest entry of the gradient, each relative to the largest term that enters it: far out on the
 * logistic these are all small, and the gradient of a wide prior is smaller still. */
static double measure_balance(const objective *o, const double *x)
{
  const idm_preference_model *p = o->preference_model;
  double worst = 0;
  for (size_t j = 0; j < o->n; j++) {
    double size = fabs(x[j] - o->mean[j]) / (o->sd[j] * o->sd[j]);
    for (size_t i = 0; i < p->count; i++)
      if (p->difference[i * p->free + j] != 0)
        size = fmax(size, p->weight[i] * fabs(p->difference[i * p->free + j]) *
                              idm_preference_model_residual(p, i, x));
    if (o->gradient[j] != 0) worst = fmax(worst, fabs(o->gradient[j]) / size);
  }
  return worst;
}

/* If the predicted decrease is below the rounding error of the value, takes the full step if it
 * reduces the gradient; returns false if it does not. */
static bool gradient_step(const objective *o)
{
  const double current_norm = measure_gradient(o, o->x);
  for (size_t j = 0; j < o->n; j++) o->trial[j] = o->x[j] + o->step[j];
  evaluate(o, o->trial, o->gradient, NULL);
  if (!(measure_gradient(o, o->trial) < current_norm)) return false;
  memcpy(o->x, o->trial, o->n * sizeof *o->x);
  return true;
}

/* Backtracks along the step until the objective decreases sufficiently; *share is the accepted step
 * length. Returns false if there is no decrease. */
static bool line_search(const objective *o, double *share, double *value)
{
  enum { max_halvings = 40 };
  double derivative = 0;
  *share = 1;
  for (size_t j = 0; j < o->n; j++) derivative += o->gradient[j] * o->step[j];
  if (-derivative < 1e-10 * fmax(1, fabs(*value))) return gradient_step(o);
  for (int i = 0; i < max_halvings; i++, *share /= 2) {
    for (size_t j = 0; j < o->n; j++) o->trial[j] = o->x[j] + *share * o->step[j];
    const double trial_value = evaluate(o, o->trial, NULL, NULL);
    if (!(trial_value <= *value + 1e-4 * *share * derivative)) continue;
    memcpy(o->x, o->trial, o->n * sizeof *o->x);
    *value = trial_value;
    return true;
  }
  return false;
}

/* A step to the minimum of a quadratic upper bound on the objective. */
static bool bound_step(const objective *o, double *value)
{
  evaluate(o, o->x, o->gradient, NULL);
  idm_preference_model_bound(o->preference_model, o->x, o->precision);
  for (size_t j = 0; j < o->n; j++) o->precision[j * o->n + j] += 1 / (o->sd[j] * o->sd[j]);
  double share;
  return find_step(o) && line_search(o, &share, value);
}

/* A Newton step. Where the logistic is flat its curvature is a poor predictor of the step length:
 * if backtracking shortens the step much, the step by the bound is tried from the same point and
 * the better one is kept. Returns false if neither decreases the objective. */
static bool newton_step(const objective *o, double *value)
{
  const double before = *value;
  memcpy(o->before, o->x, o->n * sizeof *o->x);
  double share = 0;
  const bool newton = find_step(o) && line_search(o, &share, value);
  if (newton && share > 0.01) return true;
  const double reached = *value;
  memcpy(o->after, o->x, o->n * sizeof *o->x);
  memcpy(o->x, o->before, o->n * sizeof *o->x);
  *value = before;
  const bool bound = bound_step(o, value);
  if (!newton || (bound && *value < reached)) return bound;
  memcpy(o->x, o->after, o->n * sizeof *o->x);
  *value = reached;
  return true;
}

static idm_status descend(const objective *o, idm_cancel *cancel, idm_error *opt_error)
{
  enum { max_steps = 1000 };
  static const double balance_tolerance = 1e-13;
  double value = evaluate(o, o->x, o->gradient, o->precision);
  for (int k = 0; k < max_steps; k++) {
    const idm_status status = idm_cancel_check(cancel, opt_error);
    if (status != IDM_OK) return status;
    if (measure_balance(o, o->x) <= balance_tolerance || !newton_step(o, &value)) break;
    value = evaluate(o, o->x, o->gradient, o->precision);
  }
  return IDM_OK;
}

/* --- the inverse planner -------------------------------------------------------------------- */

static bool is_interrupted(void *cancel)
{
  return idm_cancel_poll(cancel);
}

static idm_status fail_separable(size_t separated, const idm_preference_model *p,
                                 idm_error *opt_error)
{
  return idm_fail(
      opt_error, IDM_INPUT,
      "the preferences are separable: some utility agrees with %zu of the %zu and disagrees with "
      "none, and the larger it is the better it explains them, so that under a flat prior there is "
      "no mode; give it a proper prior, as in --free '{utility: {prior: {normal: [0, 1]}}}'",
      separated, p->count);
}

static idm_status find(const idm_preference_model *p, objective *o, idm_cancel *cancel,
                       idm_optimality *f, idm_error *opt_error)
{
  size_t separated = 0;
  idm_status status =
      idm_preference_model_separated(p, is_interrupted, cancel, &separated, opt_error);
  if (status == IDM_OK && separated && o->flat) status = fail_separable(separated, p, opt_error);
  if (status == IDM_OK) status = descend(o, cancel, opt_error);
  if (status == IDM_OK)
    status = idm_preference_model_nullspace(p, o->flat ? o->x : NULL, f, opt_error);
  if (status != IDM_OK) return status;
  idm_preference_model_note(p, separated, f);
  f->objective = evaluate(o, o->x, o->gradient, NULL);
  snprintf(f->certificate, sizeof f->certificate, "gradient norm");
  f->attained = measure_gradient(o, o->x);
  f->closed = 1e-9;
  return IDM_OK;
}

static idm_status answer(const idm_problem *problem, const idm_fit_settings *settings,
                         const idm_free_utility *free_utility,
                         const idm_preference_model *preference_model, idm_cancel *cancel,
                         idm_posterior **ret_posterior, idm_error *opt_error)
{
  objective o;
  idm_optimality *f = NULL;
  idm_status status = open_objective(problem, preference_model, &o, opt_error);
  if (status == IDM_OK) status = idm_optimality_create(free_utility->count, &f, opt_error);
  if (status == IDM_OK) status = find(preference_model, &o, cancel, f, opt_error);
  if (status == IDM_OK)
    status = idm_estimate_utility(&idm_inverse_preference, problem, settings, free_utility, o.x,
                                  "newton", f, ret_posterior, opt_error);
  else
    idm_optimality_destroy(f);
  clear(&o);
  return status;
}

static idm_status fit_preference(const idm_fit_arguments *call, idm_posterior **ret_posterior,
                                 idm_error *opt_error)
{
  const char *caller = call->inverse->name;
  idm_cancel cancel;
  idm_free_utility *free_utility = NULL;
  idm_preference_model *preference_model = NULL;
  idm_cancel_init(&cancel, call->opt_monitor, "searching for the mode");
  idm_status status = idm_keys_check(idm_fit_keys(), call->settings, opt_error);
  if (status == IDM_OK)
    status = idm_inverse_check(call->inverse, call->problem, call->data, opt_error);
  if (status == IDM_OK) status = idm_free_utility_create(call->problem, &free_utility, opt_error);
  if (status == IDM_OK)
    status = idm_preference_model_create(call->problem, call->data, free_utility, caller,
                                         &preference_model, opt_error);
  if (status == IDM_OK)
    status = answer(call->problem, call->settings, free_utility, preference_model, &cancel,
                    ret_posterior, opt_error);
  idm_preference_model_destroy(preference_model);
  idm_free_utility_destroy(free_utility);
  return status;
}

/* Why no other block is inferred. */
static const char not_inferred[] =
    "comparisons do not depend on how actions are chosen, and under a free discount their "
    "likelihood is not concave; use --inverse map or bayes for how actions are chosen, and hold "
    "the discount";

static const char *const settings_read[] = {NULL};

const idm_inverse idm_inverse_preference = {
    .name = "preference",
    .summary = "the most probable utility given a table of preferences between trajectories",
    .row = "Preference extrapolation",
    .answer = IDM_POINT,
    .target_block = "utility",
    .alone = not_inferred,
    .preferences = true,
    .features = true,
    .settings = settings_read,
    .fit = fit_preference,
};

/* === preference bayes ======================================================================= */

/* The inverse planner `preference-bayes`: posterior draws of the utility given preferences between
 * trajectories, by Markov chains.
 *
 * Contents: the target · the fit · peaks · the answer */

extern const idm_inverse idm_inverse_preference_bayes; /* registered below */

/* Random stream of starting points, distinct from those of chains. */
static const uint64_t prior_stream = (uint64_t)1 << 33;
enum { max_modes = 16 };

/* --- the target ----------------------------------------------------------------------------- */

/* Density of one chain, with its own scratch. */
typedef struct density {
  const idm_preference_model *preference_model;
  const idm_parameters *parameters;
  idm_cancel *cancel;
  double share;       /* power of the prior: 1, except in the search for modes of the likelihood */
  double *x;          /* [free] */
  double *derivative; /* [free]: derivative of x with respect to its coordinate */
  double *gradient;   /* [free]: with respect to x */
} density;

static idm_status preference_bayes_evaluate(void *context, const double *y, double *log_density,
                                            double *opt_gradient, idm_error *opt_error)
{
  density *d = context;
  const size_t n = d->preference_model->free;
  const idm_status status = idm_cancel_check(d->cancel, opt_error);
  if (status != IDM_OK) return status;
  for (size_t j = 0; j < n; j++)
    d->x[j] = idm_parameter_natural(&d->parameters->item[j], y, &d->derivative[j]);
  *log_density = d->share * idm_parameters_log_prior(d->parameters, y, opt_gradient) +
                 idm_preference_model_log_likelihood(d->preference_model, d->x,
                                                     opt_gradient ? d->gradient : NULL, NULL);
  if (!opt_gradient) return IDM_OK;
  for (size_t j = 0; j < n; j++)
    opt_gradient[j] = d->share * opt_gradient[j] + d->derivative[j] * d->gradient[j];
  return IDM_OK;
}

static void close_density(density *d)
{
  free(d->x);
  free(d->derivative);
  free(d->gradient);
}

static idm_status open_density(density *d, idm_error *opt_error)
{
  const size_t n = d->preference_model->free;
  d->x = idm_new(n, sizeof *d->x);
  d->gradient = idm_new(n, sizeof *d->gradient);
  d->derivative = idm_new(n, sizeof *d->derivative);
  return d->x && d->gradient && d->derivative ? IDM_OK : idm_fail_memory(opt_error);
}

/* --- the fit -------------------------------------------------------------------------------- */

typedef struct preference_fit {
  const idm_problem *problem;
  const idm_fit_settings *settings;
  const idm_fit_monitor *watch;
  idm_cancel cancel;
  idm_free_utility *free_utility;
  idm_preference_model *preference_model;
  idm_parameters *parameters;
  uint64_t key;
  size_t chains;
  density *density;   /* [chain] */
  idm_target *target; /* [chain] */
  size_t separated;
} preference_fit;

static void close_fit(preference_fit *f)
{
  for (size_t i = 0; f->density && i < f->chains; i++) close_density(&f->density[i]);
  free(f->density);
  free(f->target);
  idm_parameters_destroy(f->parameters);
  idm_preference_model_destroy(f->preference_model);
  idm_free_utility_destroy(f->free_utility);
}

static bool preference_bayes_interrupted(void *cancel)
{
  return idm_cancel_poll(cancel);
}

static idm_status open_targets(preference_fit *f, idm_error *opt_error)
{
  f->chains = f->settings->chains;
  f->density = idm_new(f->chains, sizeof *f->density);
  f->target = idm_new(f->chains, sizeof *f->target);
  if (!f->density || !f->target) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < f->chains && status == IDM_OK; i++) {
    f->density[i] = (density){.preference_model = f->preference_model,
                              .parameters = f->parameters,
                              .cancel = &f->cancel,
                              .share = 1};
    f->target[i] = (idm_target){.dimension = f->free_utility->count,
                                .gradient = true,
                                .context = &f->density[i],
                                .evaluate = preference_bayes_evaluate};
    status = open_density(&f->density[i], opt_error);
  }
  return status;
}

static idm_status open_fit(preference_fit *f, const idm_data *data, idm_error *opt_error)
{
  const idm_inverse *inverse = &idm_inverse_preference_bayes;
  idm_status status = idm_keys_check(idm_fit_keys(), f->settings, opt_error);
  if (status == IDM_OK) status = idm_inverse_check(inverse, f->problem, data, opt_error);
  if (status == IDM_OK) status = idm_free_utility_create(f->problem, &f->free_utility, opt_error);
  if (status == IDM_OK)
    status = idm_preference_model_create(f->problem, data, f->free_utility, inverse->name,
                                         &f->preference_model, opt_error);
  if (status == IDM_OK) status = idm_parameters_create(f->problem, &f->parameters, opt_error);
  if (status == IDM_OK) status = open_targets(f, opt_error);
  if (status != IDM_OK) return status;
  f->key = idm_fingerprint_request(inverse, f->problem, data, f->settings);
  return idm_preference_model_separated(f->preference_model, preference_bayes_interrupted,
                                        &f->cancel, &f->separated, opt_error);
}

/* --- peaks ---------------------------------------------------------------------------------- */

/* true if the density has at most one mode. The logistic is log-concave in the utility, and so are
 * these priors with the log Jacobians of their bounds; a lognormal prior or a prior on another
 * scale is not, and can have a mode of its own that conflicts with the mode of the preferences. */
static bool is_unimodal(const idm_parameters *parameters)
{
  for (size_t j = 0; j < parameters->items; j++) {
    const parameter *item = &parameters->item[j];
    const bool flat = item->prior->kind == IDM_PRIOR_FLAT;
    if (item->prior->kind == IDM_PRIOR_LOGNORMAL) return false;
    if (item->scale != IDM_SCALE_IDENTITY && !flat) return false;
  }
  return true;
}

/* Maximises the likelihood times a small power of the prior, which keeps the maximiser finite, and
 * then the density from there; x becomes the mode. */
static idm_status ascend_from_likelihood(const preference_fit *f, double share,
                                         idm_local_modes *modes, double *x, idm_error *opt_error)
{
  enum { limit = 2000 };
  double height;
  f->density[0].share = share;
  idm_status status = idm_maximise(&f->target[0], 0, limit, x, &height, opt_error);
  f->density[0].share = 1;
  if (status == IDM_OK) status = idm_local_modes_ascend(modes, &f->target[0], x, opt_error);
  return status;
}

/* Maximises from all points that combine one number of one mode with the other numbers of another
 * mode. */
static idm_status ascend_from_crosses(const preference_fit *f, const double *near,
                                      const double *far, idm_local_modes *modes, double *x,
                                      idm_error *opt_error)
{
  const size_t n = f->free_utility->count;
  idm_status status = IDM_OK;
  for (size_t j = 0; j < 2 * n && n > 1 && status == IDM_OK; j++) {
    memcpy(x, j < n ? near : far, n * sizeof *x);
    x[j % n] = j < n ? far[j] : near[j - n];
    status = idm_local_modes_ascend(modes, &f->target[0], x, opt_error);
  }
  return status;
}

/* Maximises from draws of the prior. */
static idm_status ascend_from_prior(const preference_fit *f, idm_local_modes *modes, double *x,
                                    idm_error *opt_error)
{
  enum { draws = 12 };
  idm_random random;
  idm_random_init(&random, f->key, prior_stream);
  idm_status status = IDM_OK;
  for (int i = 0; i < draws && status == IDM_OK; i++) {
    idm_parameters_draw(f->parameters, &random, x);
    status = idm_local_modes_ascend(modes, &f->target[0], x, opt_error);
  }
  return status;
}

/* Searches for further modes; the first one is stored already. */
static idm_status find_more_modes(const preference_fit *f, idm_local_modes *modes, double *x,
                                  idm_error *opt_error)
{
  static const double shares[] = {1e-2, 1e-4, 1e-6};
  const size_t n = f->free_utility->count;
  double *near = idm_duplicate(modes->local_mode[0].mode, n, sizeof *near);
  double *far = idm_duplicate(near, n, sizeof *far);
  idm_status status = near && far ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < sizeof shares / sizeof *shares && status == IDM_OK; i++) {
    status = ascend_from_likelihood(f, shares[i], modes, far, opt_error);
    if (status == IDM_OK) status = ascend_from_crosses(f, near, far, modes, x, opt_error);
  }
  if (status == IDM_OK) status = ascend_from_prior(f, modes, x, opt_error);
  free(near);
  free(far);
  return status;
}

/* Finds the modes of the density; none if the density is improper. */
static idm_status find_modes(const preference_fit *f, idm_local_modes *modes, idm_error *opt_error)
{
  const bool proper = idm_parameters_proper(f->parameters);
  if (!proper && f->separated) return IDM_OK;
  double *x = idm_new(f->free_utility->count, sizeof *x);
  if (!x) return idm_fail_memory(opt_error);
  idm_parameters_get(f->parameters, f->problem->theta, x);
  idm_status status = idm_local_modes_ascend(modes, &f->target[0], x, opt_error);
  if (status == IDM_OK && proper && !is_unimodal(f->parameters))
    status = find_more_modes(f, modes, x, opt_error);
  idm_local_modes_prune(modes);
  free(x);
  return status;
}

/* --- the answer ----------------------------------------------------------------------------- */

/* Adds faults if the prior is flat and the preferences do not bound the numbers: there is no
 * posterior. */
static void find_faults(const preference_fit *f, idm_optimality *optimality)
{
  if (idm_parameters_proper(f->parameters)) return;
  if (f->separated)
    idm_notes_add(&optimality->faults,
                  "improper: the prior is flat and the preferences are separable (some utility "
                  "agrees with %zu of the %zu and disagrees with none, the better the larger it "
                  "is): there is no posterior to draw from; give the utility a proper prior",
                  f->separated, f->preference_model->count);
  if (optimality->open)
    idm_notes_add(&optimality->faults,
                  "improper: the prior is flat and the preferences leave %zu %s open: there is no "
                  "posterior to draw from; give the utility a proper prior, or hold an entry",
                  optimality->open, optimality->open == 1 ? "direction" : "directions");
  if (!optimality->evaluated)
    idm_notes_add(&optimality->faults,
                  "unchecked: the prior is flat, and what the preferences leave open was not "
                  "determined, so that there may be no posterior; give the utility a proper prior");
}

/* Constant term of the log density of a prior. */
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

/* -sum w log logistic(R_better - R_worse) - log prior without its constant term, at y. */
static double objective_at(const preference_fit *f, const double *y)
{
  const density *d = &f->density[0];
  double sum = 0;
  for (size_t j = 0; j < f->free_utility->count; j++) {
    const parameter *item = &f->parameters->item[j];
    const double c = idm_parameter_coordinate(item, y, NULL);
    d->x[j] = idm_parameter_natural(item, y, NULL);
    sum += constant_of(item->prior) - idm_prior_log_density(item->prior, c, NULL);
  }
  return sum - idm_preference_model_log_likelihood(f->preference_model, d->x, NULL, NULL);
}

/* Sets the optimality record's objective to the value at the centre of the draws. */
static idm_status put_objective(const preference_fit *f, idm_posterior *p, idm_error *opt_error)
{
  double *centre = idm_new(f->free_utility->count, sizeof *centre);
  if (!centre) return idm_fail_memory(opt_error);
  idm_posterior_centre(p, centre);
  p->optimality->objective = objective_at(f, centre);
  free(centre);
  return IDM_OK;
}

static idm_status draw(preference_fit *f, idm_posterior **ret_posterior, idm_notes *opt_notes,
                       idm_error *opt_error)
{
  const idm_sampling_target drawn = {.inverse = &idm_inverse_preference_bayes,
                                     .problem = f->problem,
                                     .settings = f->settings,
                                     .parameters = f->parameters,
                                     .target = f->target,
                                     .key = f->key,
                                     .cancel = &f->cancel,
                                     .watch = f->watch,
                                     .opt_notes = opt_notes};
  idm_local_modes *modes = NULL;
  idm_optimality *optimality = NULL;
  idm_status status = idm_local_modes_create(f->free_utility->count, max_modes, &modes, opt_error);
  if (status == IDM_OK) status = find_modes(f, modes, opt_error);
  if (status == IDM_OK)
    status = idm_optimality_create(f->free_utility->count, &optimality, opt_error);
  if (status == IDM_OK)
    status = idm_preference_model_nullspace(f->preference_model, NULL, optimality, opt_error);
  if (status == IDM_OK) {
    idm_preference_model_note(f->preference_model, f->separated, optimality);
    find_faults(f, optimality);
    status = idm_target_draws(&drawn, modes, optimality, ret_posterior, opt_error);
  } else {
    idm_optimality_destroy(optimality);
  }
  idm_local_modes_destroy(modes);
  if (status == IDM_OK) status = put_objective(f, *ret_posterior, opt_error);
  return status;
}

static idm_status fit_preferences(const idm_fit_arguments *call, idm_posterior **ret_posterior,
                                  idm_error *opt_error)
{
  static const idm_fit_monitor no_watch = {0};
  preference_fit f = {.problem = call->problem,
                      .settings = call->settings,
                      .watch = call->opt_monitor ? call->opt_monitor : &no_watch};
  idm_cancel_init(&f.cancel, f.watch, "searching for starting points");
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

static const char *const preference_bayes_settings_read[] = {
    "sampler", "chains", "draws", "warmup", "thin", "depth", "seed", "prior_draws", NULL};

const idm_inverse idm_inverse_preference_bayes = {
    .name = "preference-bayes",
    .summary = "the posterior of the utility given a table of preferences between trajectories",
    .row = "Preference extrapolation",
    .answer = IDM_POSTERIOR,
    .target_block = "utility",
    .alone = not_inferred,
    .preferences = true,
    .features = true,
    .settings = preference_bayes_settings_read,
    .fit = fit_preferences,
};
