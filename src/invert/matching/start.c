/* Starting point of a chain: a mode found from its own draws of the prior, and the normal
 * approximation there (docs/method/inference.md, 3). */
#include <math.h>
#include <stdio.h>

#include "base/dense.h"
#include "base/memory.h"
#include "data/log.h"
#include "infer/approximation.h"
#include "infer/distribution.h"
#include "invert/matching/fit.h"
#include "setting/model.h"

/* Starting points evaluated per chain; the search begins at the best: enough to leave a flat tail,
 * few enough that chains start at different modes if the posterior has several. */
enum { start_points = 8, max_steps = 100 };
/* First random stream, beyond those of the chains. */
static const uint64_t start_stream = (uint64_t)1 << 32;

bool idm_start_is_dense(size_t dimension)
{
  enum { max_dense_dimension = 2000 };
  return dimension <= max_dense_dimension;
}

void idm_start_destroy(chain_start *s)
{
  if (!s) return;
  free(s->x);
  free(s->mode);
  free(s->covariance);
  free(s);
}

idm_status idm_start_create(size_t dimension, chain_start **ret_start, idm_error *opt_error)
{
  *ret_start = NULL;
  chain_start *s = idm_new(1, sizeof *s);
  if (!s) return idm_fail_memory(opt_error);
  s->x = idm_new(dimension, sizeof *s->x);
  s->mode = idm_new(dimension, sizeof *s->mode);
  const size_t covariance_size = idm_start_is_dense(dimension) ? dimension : 0;
  s->covariance = idm_new(covariance_size * covariance_size, sizeof *s->covariance);
  if (!s->x || !s->mode || !s->covariance) {
    idm_start_destroy(s);
    return idm_fail_memory(opt_error);
  }
  *ret_start = s;
  return IDM_OK;
}

/* Starting point k of a chain: first the problem's own values, then draws of the prior or, if it is
 * improper, own values displaced by typical changes. */
static void propose(const fit_context *f, size_t chain, int k, idm_random *random, double *y)
{
  const idm_parameters *p = f->parameters;
  if (chain + (size_t)k > 0 && idm_parameters_proper(p)) {
    idm_parameters_draw(p, random, y);
    return;
  }
  idm_parameters_get(p, f->problem->theta, y);
  for (size_t i = 0; chain + (size_t)k > 0 && i < p->dimension; i++)
    y[i] += f->unit[i] * idm_random_normal(random);
}

/* A target in scaled coordinates: x is unit times them, so that steps of 1 have a typical size in
 * any unit of the utilities. */
typedef struct scaled {
  const idm_target *target;
  const double *unit; /* [dimension] */
  double *x;          /* [dimension] */
} scaled;

static idm_status evaluate_scaled(void *context, const double *v, double *log_density,
                                  double *opt_gradient, idm_error *opt_error)
{
  const scaled *s = context;
  for (size_t i = 0; i < s->target->dimension; i++) s->x[i] = v[i] * s->unit[i];
  const idm_status status =
      s->target->evaluate(s->target->context, s->x, log_density, opt_gradient, opt_error);
  for (size_t i = 0; opt_gradient && i < s->target->dimension; i++) opt_gradient[i] *= s->unit[i];
  return status;
}

/* Maximise from x in scaled coordinates. */
static idm_status maximise(const fit_context *f, const idm_target *target, double tolerance,
                           int steps, double *x, double *log_density, idm_error *opt_error)
{
  const size_t d = target->dimension;
  scaled s = {target, f->unit, idm_new(d, sizeof *s.x)};
  if (!s.x) return idm_fail_memory(opt_error);
  const idm_target own = {d, target->gradient, &s, evaluate_scaled};
  for (size_t i = 0; i < d; i++) x[i] /= f->unit[i];
  const idm_status status = idm_maximise(&own, tolerance, steps, x, log_density, opt_error);
  for (size_t i = 0; i < d; i++) x[i] *= f->unit[i];
  free(s.x);
  return status;
}

/* Report that no starting point was possible. */
static idm_status fail_to_start(const fit_context *f, size_t chain, idm_error *opt_error)
{
  const char *file;
  const long line = idm_matching_impossible_line(f->matching[chain], &file);
  char where[240] = "";
  if (line > 0)
    snprintf(where, sizeof where, "; line %ld of %.160s is such a decision", line,
             file[0] ? file : "the log");
  return idm_fail(opt_error, IDM_NUMERICAL,
                  "no starting point explains the data: every one gives some decision probability "
                  "0, or cannot be planned for%s",
                  where);
}

/* Store the best of a few starting points as the mode. */
static idm_status best_start_point(const fit_context *f, size_t chain, idm_random *random,
                                   chain_start *s, idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[chain]);
  idm_matching_warm_start(f->matching[chain]);
  s->x_chosen = false;
  s->log_density = -INFINITY;
  for (int k = 0; k < start_points; k++) {
    double trial_density = -INFINITY;
    propose(f, chain, k, random, s->x);
    const idm_status status =
        target.evaluate(target.context, s->x, &trial_density, NULL, opt_error);
    if (status != IDM_OK) return status;
    if (k && !(trial_density > s->log_density)) continue;
    s->log_density = trial_density;
    memcpy(s->mode, s->x, target.dimension * sizeof *s->x);
  }
  return isfinite(s->log_density) ? IDM_OK : fail_to_start(f, chain, opt_error);
}

/* Covariance at a flat mode: from the scales of the prior. */
static void guess_covariance(const fit_context *f, chain_start *s)
{
  const size_t d = f->parameters->dimension;
  memset(s->covariance, 0, d * d * sizeof *s->covariance);
  for (size_t i = 0; i < d; i++) s->covariance[i * (d + 1)] = f->unit[i] * f->unit[i];
}

/* Report that no starting point had a derivative. */
static idm_status fail_no_gradient(const fit_context *f, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_NUMERICAL,
                  "the log posterior has no gradient where the search for its mode starts: the "
                  "utilities (they span %.3g) or the priors are too large",
                  idm_theta_utility_range(f->problem->theta));
}

/* Maximise from s->mode, and anchor plans at the result. */
static idm_status maximise_anchored(const fit_context *f, size_t chain, chain_start *s,
                                    idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[chain]);
  /* During the search each plan starts from the last one; the sequence is deterministic. */
  idm_matching_warm_start(f->matching[chain]);
  const idm_status status =
      maximise(f, &target, 1e-6, max_steps, s->mode, &s->log_density, opt_error);
  if (status == IDM_NUMERICAL) return fail_no_gradient(f, opt_error);
  return status == IDM_OK ? idm_matching_fix_start(f->matching[chain], s->mode, opt_error) : status;
}

idm_status idm_start_maximise(const fit_context *f, size_t chain, chain_start *s,
                              idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[chain]);
  idm_status status = maximise_anchored(f, chain, s, opt_error);
  if (status != IDM_OK || !idm_start_is_dense(target.dimension)) return status;
  status = idm_laplace(&target, s->mode, s->covariance, NULL, &s->definite, opt_error);
  if (status == IDM_OK && !s->definite) guess_covariance(f, s);
  return status;
}

/* Draw a point around the mode with twice the spread of the posterior; closer if the density there
 * is too low. */
static idm_status disperse(const fit_context *f, size_t chain, idm_random *random, chain_start *s,
                           idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[chain]);
  const size_t d = target.dimension;
  double *factor = idm_duplicate(s->covariance, d * d, sizeof *factor);
  if (!factor) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  if (!idm_cholesky(d, factor)) {
    memset(factor, 0, d * d * sizeof *factor);
    memcpy(s->x, s->mode, d * sizeof *s->x);
  }
  double scale = 2;
  for (int tries = 0; tries < 8; tries++, scale /= 2) {
    double trial_value = -INFINITY;
    for (size_t i = 0; i < d; i++) s->x[i] = scale * idm_random_normal(random);
    idm_lower_multiply(d, factor, s->x);
    for (size_t i = 0; i < d; i++) s->x[i] += s->mode[i];
    status = target.evaluate(target.context, s->x, &trial_value, NULL, opt_error);
    if (status != IDM_OK || trial_value > s->log_density - 20 * (double)d) break;
    memcpy(s->x, s->mode, d * sizeof *s->x);
  }
  free(factor);
  return status;
}

idm_status idm_start_prepare(const fit_context *f, size_t chain, chain_start *s,
                             idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[chain]);
  idm_random random;
  idm_random_init(&random, f->key, start_stream + f->settings->chains + chain);
  idm_status status = idm_matching_fix_start(f->matching[chain], s->mode, opt_error);
  if (status == IDM_OK && s->definite)
    status = idm_matching_use_surface(f->matching[chain], s->mode, s->covariance, opt_error);
  if (status == IDM_OK)
    status = target.evaluate(target.context, s->mode, &s->log_density, NULL, opt_error);
  if (status != IDM_OK || s->x_chosen || !idm_start_is_dense(target.dimension)) return status;
  return disperse(f, chain, &random, s, opt_error);
}

/* At a point of a wide prior the policy may have no derivative although its density is finite: the
 * next points of the stream replace it. */
idm_status idm_start_find(const fit_context *f, size_t chain, chain_start *s, idm_error *opt_error)
{
  enum { tries = 8 };
  idm_status status = IDM_NUMERICAL;
  idm_random random;
  idm_random_init(&random, f->key, start_stream + chain);
  for (int k = 0; k < tries && status == IDM_NUMERICAL; k++) {
    status = best_start_point(f, chain, &random, s, opt_error);
    if (status != IDM_OK) return status;
    status = idm_start_maximise(f, chain, s, opt_error);
  }
  return status;
}

/* --- the highest mode ------------------------------------------------------------------------ */

/* Largest number of steps of the final search, and of numbers that are scanned one by one. */
enum { max_final_steps = 1000, max_scanned = 16 };

/* Start at the problem's own values, whatever their density: if most multipliers are near their
 * estimates, the search is short. */
static idm_status start_at_own_values(const fit_context *f, chain_start *s, idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[0]);
  idm_matching_warm_start(f->matching[0]);
  idm_parameters_get(f->parameters, f->problem->theta, s->mode);
  return target.evaluate(target.context, s->mode, &s->log_density, NULL, opt_error);
}

/* Whether a point is the problem's own values, from which a search starts in any case. */
static bool is_own_values(const fit_context *f, chain_start *s)
{
  idm_parameters_get(f->parameters, f->problem->theta, s->x);
  return memcmp(s->mode, s->x, f->parameters->dimension * sizeof *s->x) == 0;
}

/* Maximise from s->mode, and keep the result if it is higher than the best so far. */
static idm_status maximise_and_compare(const fit_context *f, chain_start *s, chain_start *best,
                                       idm_error *opt_error)
{
  if (!isfinite(s->log_density)) return IDM_OK;
  const idm_status status = maximise_anchored(f, 0, s, opt_error);
  if (status == IDM_NUMERICAL) return IDM_OK; /* no derivative at this point */
  if (status != IDM_OK || !(s->log_density > best->log_density)) return status;
  best->log_density = s->log_density;
  memcpy(best->mode, s->mode, f->parameters->dimension * sizeof *s->mode);
  return IDM_OK;
}

/* Scan number i around a centre, in doubling steps on either side, with the others as at the best
 * mode, and search from every local maximum of the scan except the best mode itself: a mode may be
 * narrow relative to draws of the prior. */
static idm_status scan(const fit_context *f, size_t i, double centre, chain_start *s,
                       chain_start *best, idm_error *opt_error)
{
  enum { smallest = -1, largest = 8, half = largest - smallest + 1, count = 2 * half + 1 };
  const idm_target target = idm_matching_target(f->matching[0]);
  const size_t bytes = target.dimension * sizeof *s->x;
  double value[count + 2] = {-INFINITY}, scan_density[count + 2] = {-INFINITY};
  idm_status status = IDM_OK;
  value[count + 1] = INFINITY;
  scan_density[count + 1] = -INFINITY;
  memcpy(s->x, best->mode, bytes);
  const double current_value = s->x[i];
  for (int k = 1; k <= count && status == IDM_OK; k++) {
    const int from = k - half - 1;
    const double distance = from ? ldexp(f->unit[i], smallest + abs(from) - 1) : 0;
    s->x[i] = value[k] = from < 0 ? centre - distance : centre + distance;
    status = target.evaluate(target.context, s->x, &scan_density[k], NULL, opt_error);
  }
  for (size_t k = 1; k <= count && status == IDM_OK; k++) {
    const bool is_local_max =
        scan_density[k] > scan_density[k - 1] && scan_density[k] > scan_density[k + 1];
    const bool is_current_mode = current_value > value[k - 1] && current_value < value[k + 1];
    if (k != half + 1 && (!is_local_max || is_current_mode)) continue;
    memcpy(s->mode, s->x, bytes);
    s->mode[i] = value[k];
    s->log_density = scan_density[k];
    status = maximise_and_compare(f, s, best, opt_error);
  }
  return status;
}

/* Scan every number around the problem's own value and around the prior's mean. */
static idm_status scan_all(const fit_context *f, chain_start *s, chain_start *best,
                           idm_error *opt_error)
{
  const idm_parameters *p = f->parameters;
  idm_status status = IDM_OK;
  for (size_t j = 0; j < p->items && status == IDM_OK; j++) {
    const parameter *item = &p->item[j];
    if (!idm_parameter_is_scalar(item)) continue;
    const double mean = idm_unconstrain(item->lower, item->upper, idm_prior_mean(item->prior));
    idm_parameters_get(p, f->problem->theta, s->x);
    const double own = s->x[item->first];
    status = scan(f, item->first, own, s, best, opt_error);
    if (status == IDM_OK && isfinite(mean) && mean != own)
      status = scan(f, item->first, mean, s, best, opt_error);
  }
  return status;
}

/* Repeat scans from the best mode while they find higher ones, with steps short enough for narrow
 * modes. */
static idm_status scan_repeatedly(const fit_context *f, chain_start *s, chain_start *best,
                                  idm_error *opt_error)
{
  enum { max_rounds = 3 };
  static const double min_gain = 1e-3, step_fraction = 1.0 / 32;
  const size_t d = f->parameters->dimension;
  fit_context fine_fit = *f;
  if (d > max_scanned) return IDM_OK;
  fine_fit.unit = idm_duplicate(f->unit, d, sizeof *f->unit);
  if (!fine_fit.unit) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < d; i++) fine_fit.unit[i] *= step_fraction;
  idm_status status = IDM_OK;
  double previous = -INFINITY;
  for (int k = 0; k < max_rounds && best->log_density > previous + min_gain && status == IDM_OK;
       k++) {
    previous = best->log_density;
    status = scan_all(&fine_fit, s, best, opt_error);
  }
  free(fine_fit.unit);
  return status;
}

/* Find the highest mode by searches from as many starts as there are chains, from the problem's own
 * values, and from scans. */
static idm_status search_modes(const fit_context *f, chain_start *best, idm_error *opt_error)
{
  chain_start *s = NULL;
  idm_status status = idm_start_create(f->parameters->dimension, &s, opt_error);
  best->log_density = -INFINITY;
  for (size_t i = 0; i <= f->settings->chains && status == IDM_OK; i++) {
    idm_random random;
    idm_random_init(&random, f->key + i, start_stream);
    const bool last = i == f->settings->chains;
    status =
        last ? start_at_own_values(f, s, opt_error) : best_start_point(f, 0, &random, s, opt_error);
    if (status == IDM_OK && (last || !is_own_values(f, s)))
      status = maximise_and_compare(f, s, best, opt_error);
  }
  if (status == IDM_OK && !isfinite(best->log_density)) status = fail_no_gradient(f, opt_error);
  if (status == IDM_OK) status = scan_repeatedly(f, s, best, opt_error);
  idm_start_destroy(s);
  return status;
}

/* Refine the mode by gradients, then by a pattern search over the numbers, which passes kinks
 * (beliefs that change their cell of the lattice); repeat while the latter gains. */
static idm_status polish(const fit_context *f, chain_start *best, idm_error *opt_error)
{
  enum { rounds = 4, trials = 40 };
  static const double min_gain = 1e-6;
  const idm_target target = idm_matching_target(f->matching[0]);
  const size_t d = target.dimension;
  idm_status status = IDM_OK;
  double previous = -INFINITY;
  for (int k = 0; k < rounds && best->log_density > previous + min_gain && status == IDM_OK; k++) {
    status = maximise(f, &target, 0, max_final_steps, best->mode, &best->log_density, opt_error);
    previous = best->log_density;
    if (status == IDM_OK && d <= max_scanned)
      status = idm_pattern_search(&target, f->unit, min_gain, trials * (int)d, best->mode,
                                  &best->log_density, opt_error);
  }
  return status;
}

/* A target in coordinates in which the posterior of a subset of the data is isotropic: x = origin +
 * factor v. */
typedef struct whitened {
  const idm_target *target;
  const double *origin; /* [dimension] */
  const double *factor; /* [dimension][dimension], lower triangular */
  double *x;            /* [dimension] */
} whitened;

static void unwhiten(const whitened *w, const double *v, double *x)
{
  const size_t d = w->target->dimension;
  memcpy(x, v, d * sizeof *v);
  idm_lower_multiply(d, w->factor, x);
  for (size_t i = 0; i < d; i++) x[i] += w->origin[i];
}

static idm_status evaluate_whitened(void *context, const double *v, double *log_density,
                                    double *opt_gradient, idm_error *opt_error)
{
  const whitened *w = context;
  const size_t d = w->target->dimension;
  unwhiten(w, v, w->x);
  const idm_status status =
      w->target->evaluate(w->target->context, w->x, log_density, opt_gradient, opt_error);
  for (size_t j = 0; opt_gradient && j < d; j++) {
    double sum = 0;
    for (size_t i = j; i < d; i++) sum += w->factor[i * d + j] * opt_gradient[i];
    opt_gradient[j] = sum; /* later entries use only gradient entries behind this one */
  }
  return status;
}

/* Newton steps with the Hessian of a subset of the data: each reduces the distance by a factor of
 * about the relative error of that Hessian, so a few gradients suffice. The search ends when the
 * expected gain, half the squared gradient in these coordinates, is negligible. *ret_done is false
 * if the Hessian does not fit; v is then the highest point so far. */
static idm_status newton_whitened(const idm_target *own, double *v, double *trial, double *gradient,
                                  double *log_density, bool *ret_done, idm_error *opt_error)
{
  enum { max_iterations = 8 };
  static const double min_gain = 1e-4;
  const size_t d = own->dimension;
  double trial_density = -INFINITY;
  *ret_done = false;
  memcpy(trial, v, d * sizeof *v);
  for (int i = 0; i < max_iterations && !*ret_done; i++) {
    double trial_log_density, expected_gain = 0;
    const idm_status status =
        own->evaluate(own->context, trial, &trial_log_density, gradient, opt_error);
    if (status != IDM_OK || !(trial_log_density > trial_density)) return status;
    trial_density = *log_density = trial_log_density;
    memcpy(v, trial, d * sizeof *v);
    for (size_t k = 0; k < d; k++) {
      expected_gain += 0.5 * gradient[k] * gradient[k];
      trial[k] = v[k] + gradient[k];
    }
    *ret_done = expected_gain < min_gain;
  }
  return IDM_OK;
}

idm_status idm_start_maximise_near(const idm_target *target, chain_start *s, idm_error *opt_error)
{
  static const double min_gain = 1e-4; /* negligible relative to the error of the evaluation */
  const size_t d = target->dimension;
  double *origin = idm_new(d * (d + 5), sizeof *origin);
  if (!origin) return idm_fail_memory(opt_error);
  double *v = origin + d, *factor = origin + 5 * d;
  whitened w = {target, origin, factor, origin + 2 * d};
  memcpy(origin, s->mode, d * sizeof *origin);
  memcpy(factor, s->covariance, d * d * sizeof *origin);
  const idm_target own = {d, target->gradient, &w, evaluate_whitened};
  bool done;
  idm_status status = IDM_OK;
  if (idm_cholesky(d, factor)) {
    status =
        newton_whitened(&own, v, origin + 3 * d, origin + 4 * d, &s->log_density, &done, opt_error);
    if (status == IDM_OK && !done)
      status = idm_maximise(&own, min_gain, max_final_steps, v, &s->log_density, opt_error);
    unwhiten(&w, v, s->mode);
  }
  free(origin);
  return status;
}

/* Number of histories of a subset: enough to distinguish modes, few enough for repeated searches. A
 * subset is used if the log has min_size_ratio times as many. */
enum { subset_histories = 5000, min_size_ratio = 4 };

/* Select `count` trajectories, spread evenly over the log: the first may be of one year, or of one
 * place. */
static idm_status select_evenly(const idm_data *data, size_t count, idm_data **ret_subset,
                                idm_error *opt_error)
{
  uint32_t *selected = idm_new(count, sizeof *selected);
  if (!selected) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < count; k++) selected[k] = (uint32_t)(k * data->trajectories / count);
  const idm_status status = idm_data_subset(data, selected, count, ret_subset, opt_error);
  free(selected);
  return status;
}

idm_status idm_start_open_subset(const fit_context *f, fit_context *subset_fit,
                                 idm_data **ret_subset, double *ret_share, idm_error *opt_error)
{
  *ret_subset = NULL;
  *ret_share = 1;
  const size_t histories = idm_fit_histories(f);
  if (histories < (size_t)min_size_ratio * subset_histories ||
      f->tree->scope != IDM_SCOPE_TRAJECTORY || !idm_start_is_dense(f->parameters->dimension))
    return IDM_OK;
  size_t count =
      (size_t)((double)subset_histories / (double)histories * (double)f->data->trajectories);
  if (count < 1) count = 1;
  idm_status status = select_evenly(f->data, count, ret_subset, opt_error);
  if (status == IDM_OK)
    status = idm_fit_open_cancel(subset_fit, NULL, f->problem, *ret_subset, f->settings, 1,
                                 f->parameters->cancel, opt_error);
  if (status != IDM_OK) {
    idm_data_destroy(*ret_subset);
    *ret_subset = NULL;
    return status;
  }
  subset_fit->key = f->key;
  *ret_share = (double)count / (double)f->data->trajectories;
  return IDM_OK;
}

/* Search the modes of a subset of the trajectories of a log with many more histories: the modes of
 * all are near those of a few thousand, and one search over the whole log refines the highest. The
 * covariance around the mode is scaled to the whole log. *found is false if the subset is
 * impossible or has no peak; then the whole log is searched. */
static idm_status search_subset(const fit_context *f, chain_start *best, bool *found,
                                idm_error *opt_error)
{
  idm_data *subset;
  fit_context subset_fit;
  double share;
  *found = false;
  idm_status status = idm_start_open_subset(f, &subset_fit, &subset, &share, opt_error);
  if (status != IDM_OK || !subset) return status;
  status = search_modes(&subset_fit, best, opt_error);
  if (status == IDM_OK) {
    const idm_target target = idm_matching_target(subset_fit.matching[0]);
    status = idm_matching_fix_start(subset_fit.matching[0], best->mode, opt_error);
    if (status == IDM_OK)
      status = idm_laplace(&target, best->mode, best->covariance, NULL, found, opt_error);
  }
  for (size_t i = 0; *found && i < f->parameters->dimension * f->parameters->dimension; i++)
    best->covariance[i] *= share;
  idm_fit_close(&subset_fit);
  idm_data_destroy(subset);
  return status == IDM_NUMERICAL ? IDM_OK : status;
}

/* Compute the log density of the mode with plans started as after the search. */
static idm_status evaluate_at_mode(const fit_context *f, chain_start *best, idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[0]);
  const idm_status status = idm_matching_fix_start(f->matching[0], best->mode, opt_error);
  if (status != IDM_OK) return status;
  return target.evaluate(target.context, best->mode, &best->log_density, NULL, opt_error);
}

/* If only the best action is taken, the likelihood is a step function, and a search ends at the
 * edge of a step, where rounding decides on the side. If the density at the mode is less than
 * during the search, move away from the edge by distinguishable steps. */
static idm_status step_off_edge(const fit_context *f, chain_start *best, idm_error *opt_error)
{
  enum { trials = 40 };
  static const double min_loss = 1e-3;
  const idm_target target = idm_matching_target(f->matching[0]);
  const double mode_density = best->log_density;
  idm_status status = evaluate_at_mode(f, best, opt_error);
  if (status != IDM_OK || target.dimension > max_scanned ||
      best->log_density > mode_density - min_loss)
    return status;
  status = idm_pattern_search(&target, f->unit, min_loss, trials * (int)target.dimension,
                              best->mode, &best->log_density, opt_error);
  return status == IDM_OK ? evaluate_at_mode(f, best, opt_error) : status;
}

idm_status idm_start_best(const fit_context *f, chain_start *best, idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[0]);
  bool found;
  idm_status status = search_subset(f, best, &found, opt_error);
  if (status == IDM_OK && found) {
    idm_matching_warm_start(f->matching[0]);
    status = target.evaluate(target.context, best->mode, &best->log_density, NULL, opt_error);
    found = isfinite(best->log_density);
    if (status == IDM_OK && found) status = idm_start_maximise_near(&target, best, opt_error);
  }
  if (status == IDM_OK && !found) {
    status = search_modes(f, best, opt_error);
    if (status == IDM_OK) status = polish(f, best, opt_error);
  }
  return status == IDM_OK ? step_off_edge(f, best, opt_error) : status;
}
