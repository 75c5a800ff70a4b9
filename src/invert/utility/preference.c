/* The inverse planner `preference`: the likeliest utility under which trajectories are preferred as
 * a table says, by Newton's method: minus the logarithm of its posterior density is convex. */
#include <math.h>
#include <stdio.h>

#include "base/dense.h"
#include "base/memory.h"
#include "invert/matching/halt.h"
#include "invert/parameters.h"
#include "invert/utility/answer.h"
#include "invert/utility/preferred.h"

extern const idm_inverse idm_inverse_preference; /* registered below */

/* --- the objective -------------------------------------------------------------------------- */

/* -sum w log logistic(R_better - R_worse) + sum ((x - mean) / sd)^2 / 2. */
typedef struct objective {
  const idm_preferred *preferred;
  size_t n;
  double *mean; /* [n]: of the prior */
  double *sd;   /* [n]: infinite where it is flat */
  bool flat;    /* in some number */
  double *x;
  double *gradient;
  double *precision; /* [n][n] */
  double *step;
  double *trial;
  double *before;
  double *after;
} objective;

static void clear(objective *o)
{
  double *const arrays[] = {o->mean, o->sd,    o->x,      o->gradient, o->precision,
                            o->step, o->trial, o->before, o->after};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

static idm_status take_prior(const idm_parameters *parameters, objective *o, idm_error *opt_error)
{
  for (size_t j = 0; j < o->n; j++) {
    const parameter *item = &parameters->item[j];
    const bool normal = item->prior->kind == IDM_PRIOR_NORMAL;
    if (item->scale != IDM_SCALE_IDENTITY || (!normal && item->prior->kind != IDM_PRIOR_FLAT))
      return idm_fail(opt_error, IDM_INPUT,
                      "'%s' looks for the one mode that there is under a normal or a flat prior of "
                      "the utility itself; give it one, as in --free '{utility: {prior: {normal: "
                      "[0, 1]}}}', or use --inverse preference-bayes, which takes any",
                      idm_inverse_preference.name);
    o->mean[j] = normal ? item->prior->argument[0] : 0;
    o->sd[j] = normal ? item->prior->argument[1] : INFINITY;
    o->flat = o->flat || !normal;
    o->x[j] = o->mean[j];
  }
  return IDM_OK;
}

static idm_status open_objective(const idm_problem *problem, const idm_preferred *preferred,
                                 objective *o, idm_error *opt_error)
{
  const size_t n = preferred->free;
  idm_parameters *parameters = NULL;
  *o = (objective){.preferred = preferred, .n = n};
  o->mean = idm_new(n, sizeof *o->mean);
  o->sd = idm_new(n, sizeof *o->sd);
  o->x = idm_new(n, sizeof *o->x);
  o->gradient = idm_new(n, sizeof *o->gradient);
  o->precision = idm_new(idm_times(n, n), sizeof *o->precision);
  o->step = idm_new(n, sizeof *o->step);
  o->trial = idm_new(n, sizeof *o->trial);
  o->before = idm_new(n, sizeof *o->before);
  o->after = idm_new(n, sizeof *o->after);
  if (!o->mean || !o->sd || !o->x || !o->gradient || !o->precision || !o->step || !o->trial ||
      !o->before || !o->after)
    return idm_fail_memory(opt_error);
  idm_status status = idm_parameters_create(problem, &parameters, opt_error);
  if (status == IDM_OK) status = take_prior(parameters, o, opt_error);
  idm_parameters_destroy(parameters);
  return status;
}

/* At x, with the gradient and the Hessian where they are asked for. */
static double evaluate(const objective *o, const double *x, double *opt_gradient,
                       double *opt_hessian)
{
  double sum = -idm_preferred_log_likelihood(o->preferred, x, opt_gradient, opt_hessian);
  for (size_t j = 0; j < o->n; j++) {
    const double z = (x[j] - o->mean[j]) / o->sd[j];
    sum += 0.5 * z * z;
    if (opt_gradient) opt_gradient[j] = z / o->sd[j] - opt_gradient[j];
    if (opt_hessian) opt_hessian[j * o->n + j] += 1 / (o->sd[j] * o->sd[j]);
  }
  return sum;
}

/* --- Newton --------------------------------------------------------------------------------- */

/* step = -Hessian^-1 gradient. Where a prior is flat the Hessian may be singular: a little is added
 * to its diagonal, and the step stays among directions that preferences bear on, as the gradient
 * does. False where nothing helps. */
static bool find_step(const objective *o)
{
  const size_t n = o->n;
  double largest = 0;
  for (size_t j = 0; j < n; j++) largest = fmax(largest, o->precision[j * n + j]);
  if (o->flat)
    for (size_t j = 0; j < n; j++) o->precision[j * n + j] += 1e-10 * largest + 1e-300;
  if (!idm_cholesky(n, o->precision)) return false;
  for (size_t j = 0; j < n; j++) o->step[j] = -o->gradient[j];
  idm_lower_solve(n, o->precision, o->step);
  idm_lower_solve_transposed(n, o->precision, o->step);
  return true;
}

/* The largest slope, each relative to the largest term that enters it, 1 at least. */
static double measure_gradient(const objective *o, const double *x)
{
  const idm_preferred *p = o->preferred;
  double worst = 0;
  for (size_t j = 0; j < o->n; j++) {
    double size = fmax(1, fabs(x[j] - o->mean[j]) / (o->sd[j] * o->sd[j]));
    for (size_t i = 0; i < p->count; i++)
      size = fmax(size, p->weight[i] * fabs(p->difference[i * p->free + j]));
    worst = fmax(worst, fabs(o->gradient[j]) / size);
  }
  return worst;
}

/* Where what a step promises is lost in rounding of the value, the gradient tells whether it leads
 * nearer; false where it does not. */
static bool settle(const objective *o)
{
  const double here = measure_gradient(o, o->x);
  for (size_t j = 0; j < o->n; j++) o->trial[j] = o->x[j] + o->step[j];
  evaluate(o, o->trial, o->gradient, NULL);
  if (!(measure_gradient(o, o->trial) < here)) return false;
  memcpy(o->x, o->trial, o->n * sizeof *o->x);
  return true;
}

/* Go along the step as far as it leads down enough, *share of it; false where it does nowhere. */
static bool go(const objective *o, double *share, double *value)
{
  enum { most_halvings = 40 };
  double slope = 0;
  *share = 1;
  for (size_t j = 0; j < o->n; j++) slope += o->gradient[j] * o->step[j];
  if (-slope < 1e-10 * fmax(1, fabs(*value))) return settle(o);
  for (int i = 0; i < most_halvings; i++, *share /= 2) {
    for (size_t j = 0; j < o->n; j++) o->trial[j] = o->x[j] + *share * o->step[j];
    const double there = evaluate(o, o->trial, NULL, NULL);
    if (!(there <= *value + 1e-4 * *share * slope)) continue;
    memcpy(o->x, o->trial, o->n * sizeof *o->x);
    *value = there;
    return true;
  }
  return false;
}

/* A step to the least of a quadratic that is nowhere below the objective. */
static bool go_by_bound(const objective *o, double *value)
{
  evaluate(o, o->x, o->gradient, NULL);
  idm_preferred_bound(o->preferred, o->x, o->precision);
  for (size_t j = 0; j < o->n; j++) o->precision[j * o->n + j] += 1 / (o->sd[j] * o->sd[j]);
  double share;
  return find_step(o) && go(o, &share, value);
}

/* A step of Newton's. Where logistics are flat their curvature says little of how far to go: if
 * little of the step is left, the one by the bound is tried from the same place, and the better one
 * is kept. False where neither leads down. */
static bool advance(const objective *o, double *value)
{
  const double before = *value;
  memcpy(o->before, o->x, o->n * sizeof *o->x);
  double share = 0;
  const bool newton = find_step(o) && go(o, &share, value);
  if (newton && share > 0.01) return true;
  const double reached = *value;
  memcpy(o->after, o->x, o->n * sizeof *o->x);
  memcpy(o->x, o->before, o->n * sizeof *o->x);
  *value = before;
  const bool bound = go_by_bound(o, value);
  if (!newton || (bound && *value < reached)) return bound;
  memcpy(o->x, o->after, o->n * sizeof *o->x);
  *value = reached;
  return true;
}

static idm_status descend(const objective *o, idm_halt *halt, idm_error *opt_error)
{
  enum { most_steps = 1000 };
  static const double enough = 1e-13;
  double value = evaluate(o, o->x, o->gradient, o->precision);
  for (int k = 0; k < most_steps; k++) {
    const idm_status status = idm_halt_check(halt, opt_error);
    if (status != IDM_OK) return status;
    if (measure_gradient(o, o->x) <= enough || !advance(o, &value)) break;
    value = evaluate(o, o->x, o->gradient, o->precision);
  }
  return IDM_OK;
}

/* --- the inverse planner -------------------------------------------------------------------- */

static bool is_unwanted(void *halt)
{
  return idm_halt_ask(halt);
}

static idm_status refuse_separated(size_t separated, const idm_preferred *p, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT,
                  "the preferences are separable: some utility agrees with %zu of the %zu and "
                  "disagrees with none, and the larger it is the better it explains them, so that "
                  "under a flat prior no utility is the likeliest; give it a proper prior, as in "
                  "--free '{utility: {prior: {normal: [0, 1]}}}'",
                  separated, p->count);
}

static idm_status find(const idm_preferred *p, objective *o, idm_halt *halt, idm_finding *f,
                       idm_error *opt_error)
{
  size_t separated = 0;
  idm_status status = idm_preferred_separated(p, is_unwanted, halt, &separated, opt_error);
  if (status == IDM_OK && separated && o->flat) status = refuse_separated(separated, p, opt_error);
  if (status == IDM_OK) status = descend(o, halt, opt_error);
  if (status == IDM_OK) status = idm_preferred_open(p, o->flat ? o->x : NULL, f, opt_error);
  if (status != IDM_OK) return status;
  idm_preferred_say(p, separated, f);
  f->objective = evaluate(o, o->x, o->gradient, NULL);
  snprintf(f->certificate, sizeof f->certificate, "gradient norm");
  f->attained = measure_gradient(o, o->x);
  f->closed = 1e-9;
  return IDM_OK;
}

static idm_status answer(const idm_problem *problem, const idm_fit_settings *settings,
                         const idm_sought *sought, const idm_preferred *preferred, idm_halt *halt,
                         idm_posterior **ret_posterior, idm_error *opt_error)
{
  objective o;
  idm_finding *f = NULL;
  idm_status status = open_objective(problem, preferred, &o, opt_error);
  if (status == IDM_OK) status = idm_finding_create(sought->count, &f, opt_error);
  if (status == IDM_OK) status = find(preferred, &o, halt, f, opt_error);
  if (status == IDM_OK)
    status = idm_answer_utility(&idm_inverse_preference, problem, settings, sought, o.x, "newton",
                                f, ret_posterior, opt_error);
  else
    idm_finding_destroy(f);
  clear(&o);
  return status;
}

static idm_status fit_preference(const idm_fit_call *call, idm_posterior **ret_posterior,
                                 idm_error *opt_error)
{
  const char *who = call->inverse->name;
  idm_halt halt;
  idm_sought *sought = NULL;
  idm_preferred *preferred = NULL;
  idm_halt_begin(&halt, call->opt_watch, "looking for the mode");
  idm_status status = idm_keys_check(idm_fit_keys(), call->settings, opt_error);
  if (status == IDM_OK)
    status = idm_inverse_check(call->inverse, call->problem, call->data, opt_error);
  if (status == IDM_OK) status = idm_sought_create(call->problem, &sought, opt_error);
  if (status == IDM_OK)
    status = idm_preferred_create(call->problem, call->data, sought, who, &preferred, opt_error);
  if (status == IDM_OK)
    status =
        answer(call->problem, call->settings, sought, preferred, &halt, ret_posterior, opt_error);
  idm_preferred_destroy(preferred);
  idm_sought_destroy(sought);
  return status;
}

static const char *const settings_read[] = {NULL};

const idm_inverse idm_inverse_preference = {
    .name = "preference",
    .summary = "the likeliest utility under which trajectories are preferred as a table says",
    .row = "Preference extrapolation",
    .answer = IDM_POINT,
    .finds = "utility",
    .alone = "comparisons of trajectories do not depend on how actions are chosen; use --inverse "
             "map or bayes",
    .preferences = true,
    .features = true,
    .settings = settings_read,
    .fit = fit_preference,
};
