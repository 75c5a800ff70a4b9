/* Profile log-likelihood, maximised over the other numbers by quasi-Newton and pattern searches
 * from several starts.
 *
 * Contents: windows · storage · heights · maximisation · starts */
#include "invert/assess/context.h"

#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "infer/approximation.h"
#include "infer/distribution.h"
#include "invert/matching.h"
#include "invert/matching/fit.h"
#include "setting/model.h"

/* A search ends when its last five steps gained less than this in total. */
static const double min_gain = 1e-7;
enum { max_steps = 15, max_steps_expensive = 5, rounds = 3, known_points_tried = 4 };

/* --- windows -------------------------------------------------------------------------------- */

static const idm_block_info *info_of(const fit_context *f, const parameter *item)
{
  return f->parameters->theta->block[item->block].info;
}

/* Natural scale of a block's number. */
static double unit_of(const fit_context *f, const parameter *item)
{
  const idm_block_info *info = info_of(f, item);
  const double spread = info->spread > 0 ? info->spread : 1;
  return spread * (info->in_utility ? idm_problem_prior_range(f->problem, item->block) : 1);
}

/* The centre of the default priors on the scales log and inverse is a twentieth of the spread
 * (setting/freedom.c). */
static double middle_of(const fit_context *f, const parameter *item)
{
  return unit_of(f, item) / 20;
}

static search_window window_of(const fit_context *f, const parameter *item)
{
  const double unit = unit_of(f, item);
  const double inverse = 1 / middle_of(f, item);
  const double reach = log(idm_profile_range);
  if (isfinite(item->lower) && isfinite(item->upper)) return (search_window){-reach, reach, 0.1};
  if (isfinite(item->lower) || isfinite(item->upper)) {
    const double size = item->scale == IDM_SCALE_INVERSE      ? inverse
                        : item->scale == IDM_SCALE_SIGNED_LOG ? log1p(unit)
                                                              : unit;
    return (search_window){log(size) - reach, log(size) + reach, 0.1};
  }
  switch (item->scale) {
  case IDM_SCALE_LOGIT:
    return (search_window){-reach, reach, 0.1};
  case IDM_SCALE_LOG:
    return (search_window){log(middle_of(f, item)) - reach, log(middle_of(f, item)) + reach, 0.1};
  case IDM_SCALE_SIGNED_LOG: {
    const double far = log1p(unit * idm_profile_range);
    return (search_window){-far, far, 0.1 * log1p(unit)};
  }
  case IDM_SCALE_INVERSE:
    return (search_window){-inverse * idm_profile_range, inverse * idm_profile_range,
                           0.01 * inverse};
  default:
    return (search_window){-unit * idm_profile_range, unit * idm_profile_range, 0.01 * unit};
  }
}

bool idm_window_is_linear(const search_window *w)
{
  return w->high - w->low > 1e4 * w->unit;
}

void idm_window_extend(search_window *w, double value)
{
  enum { most = 8 };
  static const double margin =
      0.1; /* of the range: an end nearer to the value would be taken for a limit */
  const double reach = log(idm_profile_range);
  const bool linear = idm_window_is_linear(w);
  for (int k = 0; k < most; k++) {
    const bool low = linear ? value < margin * w->low : value + log(margin) < w->low;
    const bool high = linear ? value > margin * w->high : value - log(margin) > w->high;
    if (low) w->low = linear ? w->low * idm_profile_range : w->low - reach;
    if (high) w->high = linear ? w->high * idm_profile_range : w->high + reach;
  }
}

void idm_profile_windows(const fit_context *f, search_window *windows)
{
  const search_window share = {-log(idm_profile_range), log(idm_profile_range), 0.1};
  for (size_t i = 0; i < f->parameters->dimension; i++) windows[i] = share;
  for (size_t i = 0; i < f->parameters->items; i++) {
    const parameter *item = &f->parameters->item[i];
    if (idm_parameter_is_scalar(item)) windows[item->first] = window_of(f, item);
  }
}

/* --- storage -------------------------------------------------------------------------------- */

/* The points and their y are one allocation, so that points can be reordered. */
profile_point *idm_profile_points_create(size_t count, size_t dimension)
{
  const size_t bytes = idm_times(dimension, sizeof(double));
  profile_point *places =
      idm_new(count, bytes < (size_t)-1 - sizeof *places ? sizeof *places + bytes : (size_t)-1);
  if (!places) return NULL;
  double *y = (double *)(void *)(places + count);
  for (size_t i = 0; i < count; i++)
    places[i] = (profile_point){.log_likelihood = -INFINITY, .y = y + i * dimension};
  return places;
}

void idm_profile_point_copy(const profile_point *from, size_t dimension, profile_point *to)
{
  to->value = from->value;
  to->log_likelihood = from->log_likelihood;
  memmove(to->y, from->y, dimension * sizeof *to->y);
}

void idm_profile_destroy(profile *p)
{
  if (!p) return;
  free(p->y);
  free(p);
}

idm_status idm_profile_create(const fit_context *f, idm_matching *matching, profile **ret_profile,
                              idm_error *opt_error)
{
  const size_t d = f->parameters->dimension;
  *ret_profile = NULL;
  profile *p = idm_new(1, sizeof *p);
  double *scratch = idm_new(idm_times(11 + d, d), sizeof *scratch);
  if (!p || !scratch) {
    free(p);
    free(scratch);
    return idm_fail_memory(opt_error);
  }
  *p = (profile){
      .f = f, .matching = matching, .dimension = d, .fixed = d, .ceiling = INFINITY, .y = scratch};
  double **const part[] = {&p->gradient,   &p->nuisance,   &p->origin,          &p->z,
                           &p->path,       &p->unit_step,  &p->best.y,          &p->highest.y,
                           &p->start[0].y, &p->start[1].y, &p->precision_factor};
  for (size_t i = 0; i < sizeof part / sizeof *part; i++) *part[i] = scratch + (i + 1) * d;
  p->best.log_likelihood = p->highest.log_likelihood = -INFINITY;
  for (size_t i = 0; i < d; i++) p->unit_step[i] = 0.5;
  *ret_profile = p;
  return IDM_OK;
}

/* --- heights -------------------------------------------------------------------------------- */

/* y clipped to its window, with slack so that a number that follows the fixed one to its end is not
 * stopped early. */
static double clamp_to_window(const search_window *w, double y)
{
  const double slack = 0.5 * (w->high - w->low);
  return fmin(fmax(y, w->low - slack), w->high + slack);
}

static bool outside(const profile *p, const double *y)
{
  for (size_t i = 0; i < p->dimension; i++)
    if (!(clamp_to_window(&p->windows[i], y[i]) == y[i])) return true;
  return false;
}

/* Log prior density of the other numbers with a proper prior, and its derivatives by y. */
static double nuisance_log_prior(const profile *p, double *opt_gradient)
{
  const idm_parameters *parameters = p->f->parameters;
  double sum = 0;
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    double derivative;
    double prior_derivative;
    if (!idm_parameter_is_scalar(item) || item->first == p->fixed) continue;
    const double c = idm_parameter_coordinate(item, p->y, &derivative);
    sum += idm_prior_log_density(item->prior, c, &prior_derivative); /* 0 if the prior is flat */
    if (opt_gradient) opt_gradient[item->first] += prior_derivative * derivative;
  }
  return sum;
}

/* Height and gradient at p->y, cut off at p->ceiling. */
static idm_status evaluate_point(profile *p, double *log_likelihood, double *opt_gradient,
                                 idm_error *opt_error)
{
  *log_likelihood = -INFINITY;
  if (outside(p, p->y)) return IDM_OK;
  p->left -= opt_gradient ? 2 : 1;
  const idm_status status =
      idm_matching_log_likelihood(p->matching, p->y, log_likelihood, opt_gradient, opt_error);
  if (status != IDM_OK) return status;
  if (p->with_priors) *log_likelihood += nuisance_log_prior(p, opt_gradient);
  if (!p->at_limit && !p->with_priors && *log_likelihood > p->highest.log_likelihood) {
    p->highest.log_likelihood = *log_likelihood;
    memcpy(p->highest.y, p->y, p->dimension * sizeof *p->y);
  }
  if (!(*log_likelihood > p->ceiling)) return IDM_OK;
  *log_likelihood = p->ceiling;
  for (size_t i = 0; opt_gradient && i < p->dimension; i++) opt_gradient[i] = 0;
  return IDM_OK;
}

idm_status idm_profile_evaluate(profile *p, const double *y, double *log_likelihood,
                                idm_error *opt_error)
{
  memcpy(p->y, y, p->dimension * sizeof *y);
  return evaluate_point(p, log_likelihood, NULL, opt_error);
}

/* Set p->y from z: the other numbers are origin + root'^-1 z. Returns their number. */
static size_t set_nuisance(profile *p, const double *z)
{
  const size_t n = p->dimension - (p->fixed < p->dimension);
  memcpy(p->nuisance, z, n * sizeof *z);
  idm_lower_solve_transposed(n, p->precision_factor, p->nuisance);
  for (size_t i = 0, j = 0; i < p->dimension; i++)
    if (i != p->fixed) {
      p->y[i] = p->origin[j] + p->nuisance[j];
      j++;
    }
  return n;
}

/* The height as a target of z. */
static idm_status evaluate(void *context, const double *z, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  profile *p = context;
  const size_t n = set_nuisance(p, z);
  for (size_t i = 0; i < p->dimension; i++) p->gradient[i] = 0;
  const idm_status status =
      evaluate_point(p, log_density, opt_gradient ? p->gradient : NULL, opt_error);
  for (size_t i = 0, j = 0; opt_gradient && i < p->dimension; i++)
    if (i != p->fixed) opt_gradient[j++] = p->gradient[i];
  if (opt_gradient) idm_lower_solve(n, p->precision_factor, opt_gradient);
  return status;
}

/* --- maximisation ---------------------------------------------------------------------------- */

/* Whether a search is so far below the ceiling, and gained so little, that it will not reach it. */
static bool cannot_reach_ceiling(const profile *p, double before, double log_likelihood)
{
  const double missing = p->ceiling - log_likelihood;
  return isfinite(p->ceiling) && missing > 30 && 3 * (log_likelihood - before) < missing;
}

/* Least gain for which a search continues: a small part of the distance to the ceiling. */
static double required_gain(const profile *p, double log_likelihood)
{
  return isfinite(p->ceiling) ? fmax(min_gain, 1e-3 * (p->ceiling - log_likelihood)) : min_gain;
}

/* Maximise by gradients, then by a pattern search over the coordinates, which passes kinks and
 * points without a derivative; repeat while the pattern search gains. */
static idm_status maximise_nuisance(profile *p, size_t n, profile_point *at, idm_error *opt_error)
{
  const idm_target target = {.dimension = n, .gradient = true, .context = p, .evaluate = evaluate};
  for (int round = 0; round < rounds && p->left > 0 && at->log_likelihood < p->ceiling; round++) {
    double before;
    do {
      before = at->log_likelihood;
      const idm_status status = idm_maximise(&target, required_gain(p, before),
                                             p->frugal ? max_steps_expensive : max_steps, p->z,
                                             &at->log_likelihood, opt_error);
      if (status != IDM_OK && status != IDM_NUMERICAL) return status;
      if (!(at->log_likelihood < p->ceiling) || cannot_reach_ceiling(p, before, at->log_likelihood))
        return IDM_OK;
    } while (at->log_likelihood > before + required_gain(p, before) && p->left > 0);
    before = at->log_likelihood;
    const idm_status status = idm_pattern_search(&target, p->unit_step, required_gain(p, before),
                                                 40 * (int)n, p->z, &at->log_likelihood, opt_error);
    if (status != IDM_OK || at->log_likelihood - before < 2 * required_gain(p, before))
      return status;
  }
  return IDM_OK;
}

idm_status idm_profile_maximise(profile *p, profile_point *at, idm_error *opt_error)
{
  const size_t n = p->dimension - (p->fixed < p->dimension);
  if (!n || !isfinite(at->log_likelihood)) return IDM_OK;
  memcpy(p->y, at->y, p->dimension * sizeof *p->y);
  for (size_t i = 0, j = 0; i < p->dimension; i++)
    if (i != p->fixed) p->origin[j++] = at->y[i];
  for (size_t i = 0; i < n; i++) p->z[i] = 0;
  const idm_status status = maximise_nuisance(p, n, at, opt_error);
  set_nuisance(p, p->z);
  memcpy(at->y, p->y, p->dimension * sizeof *p->y);
  return status;
}

/* --- starts --------------------------------------------------------------------------------- */

/* Minus the second derivative by coordinate i, bounded below by that of a curve as wide as its
 * window: if the maximum is on a plateau (a lapse of 0, for example), the second derivative is
 * nearly 0, and a search scaled by it would leave the window at its first step. */
static double curvature(const profile *p, const double *precision, size_t i)
{
  const double least = 6 / (p->windows[i].high - p->windows[i].low);
  const double found = precision[i * p->dimension + i];
  return found > 0 ? fmax(found, least * least) : found;
}

void idm_profile_fix(profile *p, size_t fixed, const double *precision)
{
  const size_t d = p->dimension;
  const size_t n = d - (fixed < d);
  size_t k = 0;
  p->fixed = fixed;
  for (size_t i = 0; i < d; i++) {
    p->path[i] = 0;
    if (i == fixed) continue;
    p->nuisance[k] = fixed < d ? -precision[i * d + fixed] : 0;
    for (size_t j = 0, l = 0; j < d; j++)
      if (j != fixed)
        p->precision_factor[k * n + l++] =
            i == j ? curvature(p, precision, i) : precision[i * d + j];
    k++;
  }
  if (idm_cholesky(n,
                   p->precision_factor)) { /* the path is minus P_oo^-1 P_of, P minus the Hessian */
    idm_lower_solve(n, p->precision_factor, p->nuisance);
    idm_lower_solve_transposed(n, p->precision_factor, p->nuisance);
    for (size_t i = 0, j = 0; i < d; i++)
      if (i != fixed) p->path[i] = p->nuisance[j++];
    return;
  }
  for (size_t i = 0; i < n * n; i++) p->precision_factor[i] = 0;
  for (size_t i = 0, j = 0; i < d; i++)
    if (i != fixed) {
      p->precision_factor[j * n + j] = 0.5 / p->step[i];
      j++;
    }
}

/* Store p->y if it is one of the two best starts. */
static void store_start(profile *p, double log_likelihood)
{
  const profile_point now = {log_likelihood, log_likelihood, p->y};
  if (log_likelihood > p->start[0].log_likelihood) {
    idm_profile_point_copy(&p->start[0], p->dimension, &p->start[1]);
    idm_profile_point_copy(&now, p->dimension, &p->start[0]);
  } else if (log_likelihood > p->start[1].log_likelihood &&
             log_likelihood < p->start[0].log_likelihood) {
    idm_profile_point_copy(&now, p->dimension, &p->start[1]);
  }
}

/* Evaluate y, clipped to the windows, with the fixed coordinate at `value`, as a start. */
static idm_status try_start(profile *p, const double *y, double value, idm_error *opt_error)
{
  double log_likelihood;
  if (p->start[0].log_likelihood >= p->ceiling) return IDM_OK;
  for (size_t i = 0; i < p->dimension; i++) p->y[i] = clamp_to_window(&p->windows[i], y[i]);
  if (p->fixed < p->dimension) p->y[p->fixed] = value;
  const idm_status status = evaluate_point(p, &log_likelihood, NULL, opt_error);
  if (status == IDM_OK && isfinite(log_likelihood)) store_start(p, log_likelihood);
  return status;
}

static double natural_at(const parameter *item, double y)
{
  return idm_scale_inverse(item->scale,
                           idm_constrain(item->lower, item->upper, y, NULL, NULL, NULL));
}

static const parameter *item_at(const profile *p, size_t coordinate)
{
  for (size_t i = 0; i < p->f->parameters->items; i++)
    if (p->f->parameters->item[i].first == coordinate) return &p->f->parameters->item[i];
  return NULL;
}

/* Scale all numbers in the unit of the utilities by the factor by which the fixed number changed
 * from `from` to `value`: choices depend on ratios of utilities and multipliers, so a ridge between
 * them follows this direction. Returns false if the fixed number has another unit. */
static bool scale_along(const profile *p, const profile_point *from, double value, double *y)
{
  const parameter *fixed = item_at(p, p->fixed);
  if (!fixed || !idm_parameter_is_scalar(fixed) || !info_of(p->f, fixed)->in_utility) return false;
  const double factor = natural_at(fixed, value) / natural_at(fixed, from->value);
  if (!(factor > 0 && isfinite(factor))) return false;
  memcpy(y, from->y, p->dimension * sizeof *y);
  for (size_t i = 0; i < p->f->parameters->items; i++) {
    const parameter *item = &p->f->parameters->item[i];
    if (!idm_parameter_is_scalar(item) || !info_of(p->f, item)->in_utility) continue;
    const double c =
        idm_scale_transform(item->scale, factor * natural_at(item, from->y[item->first]));
    if (!(c > item->lower && c < item->upper)) continue;
    const double scaled = idm_unconstrain(item->lower, item->upper, c);
    if (isfinite(scaled)) y[item->first] = scaled;
  }
  return true;
}

/* Starts from a neighbour: its other numbers unchanged, and scaled. */
static idm_status try_neighbour(profile *p, const profile_point *opt_from, double value,
                                idm_error *opt_error)
{
  if (!opt_from || !isfinite(opt_from->log_likelihood)) return IDM_OK;
  idm_status status = try_start(p, opt_from->y, value, opt_error);
  if (status == IDM_OK && p->dimension > 1 && scale_along(p, opt_from, value, p->nuisance))
    status = try_start(p, p->nuisance, value, opt_error);
  return status;
}

/* Scan one coordinate on either side of `at`, in doubling steps, for the two best starts. */
static idm_status scan_along(profile *p, const profile_point *at, size_t i, idm_error *opt_error)
{
  enum { doublings = 8 };
  const search_window *w = &p->windows[i];
  const double least = idm_window_is_linear(w) ? 0.01 * fmax(fabs(at->y[i]), w->unit) : 0.05;
  const double from = at->y[i];
  idm_status status = IDM_OK;
  for (int k = 0; k < 2 * doublings && status == IDM_OK; k++) {
    at->y[i] = from + (k & 1 ? -1 : 1) * ldexp(fmax(least, p->step[i]), k / 2);
    if (at->y[i] > w->low && at->y[i] < w->high) status = try_start(p, at->y, at->value, opt_error);
  }
  at->y[i] = from;
  return status;
}

idm_status idm_profile_escape(profile *p, profile_point *at, idm_error *opt_error)
{
  enum { max_escapes = 3 };
  bool higher = true;
  idm_status status = IDM_OK;
  for (int escape = 0;
       escape < max_escapes && higher && p->left > 0 && !p->frugal && status == IDM_OK; escape++) {
    higher = false;
    p->start[0].log_likelihood = p->start[1].log_likelihood = -INFINITY;
    for (size_t i = 0; i < p->dimension && status == IDM_OK; i++)
      if (i != p->fixed) status = scan_along(p, at, i, opt_error);
    for (int k = 0; k < 2 && status == IDM_OK && at->log_likelihood < p->ceiling; k++) {
      const double value = at->value;
      status = idm_profile_maximise(p, &p->start[k], opt_error);
      if (status != IDM_OK ||
          !(p->start[k].log_likelihood > at->log_likelihood + required_gain(p, at->log_likelihood)))
        continue;
      idm_profile_point_copy(&p->start[k], p->dimension, at);
      at->value = value;
      higher = true;
    }
  }
  return status;
}

idm_status idm_profile_at(profile *p, const profile_point *opt_inner,
                          const profile_point *opt_outer, profile_point *to, idm_error *opt_error)
{
  const double value = to->value;

  p->start[0].log_likelihood = p->start[1].log_likelihood = to->log_likelihood = -INFINITY;
  idm_status status = try_neighbour(p, opt_inner, value, opt_error);
  if (status == IDM_OK) status = try_neighbour(p, opt_outer, value, opt_error);
  if (p->dimension > 1 || !(opt_inner || opt_outer)) {
    for (size_t i = 0; i < p->dimension; i++)
      p->nuisance[i] = p->best.y[i] + (value - p->best.y[p->fixed]) * p->path[i];
    if (status == IDM_OK) status = try_start(p, p->nuisance, value, opt_error);
    for (size_t i = 0;
         i < p->known_points && i < (p->frugal ? 1 : known_points_tried) && status == IDM_OK; i++)
      status = try_start(p, p->known_point[i].y, value, opt_error);
  }
  for (int k = 0; k < 2 && status == IDM_OK && to->log_likelihood < p->ceiling; k++) {
    if (k && (p->frugal || cannot_reach_ceiling(p, to->log_likelihood, to->log_likelihood))) break;
    status = idm_profile_maximise(p, &p->start[k], opt_error);
    if (status == IDM_OK && p->start[k].log_likelihood > to->log_likelihood)
      idm_profile_point_copy(&p->start[k], p->dimension, to);
  }
  to->value = value;
  return status;
}
