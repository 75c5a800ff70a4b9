/* Maximum of the likelihood, and the profile of each free number from it.
 *
 * Contents: curve · whole · identify */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "infer/approximation.h"
#include "invert/assess.h"
#include "invert/assess/context.h"
#include "invert/cancel.h"
#include "invert/matching.h"
#include "invert/matching/fit.h"
#include "setting/model.h"

/* === curve ==================================================================================== */

/* A profile as a curve: computed outwards from the maximum, then inwards again where a search had
 * stalled. */

/* Ends of a curve: a third of the distance beyond the ends of the regions; if the data do not bound
 * them, some steps beyond the maximum. */
static void curve_ends(const profile *p, const scan *s, double end[2])
{
  static const double beyond = 1.35, steps = 12;
  const search_window *windows = &p->windows[p->fixed];
  const double from = p->best.y[p->fixed];
  for (int side = 0; side < 2; side++) {
    const double found = s->regions ? s->region[side ? s->regions - 1 : 0][side] : INFINITY;
    end[side] = isfinite(found) ? from + beyond * (found - from)
                                : from + (side ? steps : -steps) * p->step[p->fixed];
    end[side] = fmin(fmax(end[side], windows->low), windows->high);
  }
}

/* Recompute a point from its neighbours on both sides if the outer one is higher. */
static idm_status recheck_point(profile *p, profile_point *at, profile_point *work,
                                idm_error *opt_error)
{
  if (!(at[1].log_likelihood > at->log_likelihood + 1e-3)) return IDM_OK;
  work->value = at->value;
  const idm_status status = idm_profile_at(p, at - 1, at + 1, work, opt_error);
  if (status == IDM_OK && work->log_likelihood > at->log_likelihood)
    idm_profile_point_copy(work, p->dimension, at);
  return status;
}

/* The nearest point of the scan beyond a value, as seen from the maximum; NULL if there is none. */
static const profile_point *next_beyond(const scan *s, double from, double value)
{
  const profile_point *found = NULL;
  for (size_t i = 0; i < s->count; i++) {
    const profile_point *at = &s->profile_point[i];
    const bool beyond = value < from ? at->value < value : at->value > value;
    if (beyond && (!found || fabs(at->value - value) < fabs(found->value - value))) found = at;
  }
  return found;
}

/* Compute the profile outwards from the maximum, along[0]: each of `count` points starts from the
 * one before it and from the scan's next one, which may have found other maxima of the other
 * numbers. Then recheck inwards where a search had stalled. The array has room for one more point
 * at its end, used as scratch. */
static idm_status trace_side(profile *p, const scan *s, double end, size_t count,
                             profile_point *along, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  const double from = p->best.y[p->fixed];
  idm_profile_point_copy(&p->best, p->dimension, &along[0]);
  along[0].value = from;
  for (size_t i = 1; i <= count && status == IDM_OK; i++) {
    along[i].value = from + (end - from) * (double)i / (double)count;
    status = idm_profile_at(p, &along[i - 1], next_beyond(s, from, along[i].value), &along[i],
                            opt_error);
  }
  for (size_t i = count - 1; i > 0 && status == IDM_OK; i--)
    status = recheck_point(p, &along[i], &along[count + 1], opt_error);
  return status;
}

/* Fewer points if an evaluation takes long: the curve is for plots only and does not affect the
 * verdict. A curve that would take too many evaluations is left out. */
/* Store points, value and drop of `to` along the curve. Changes p->ceiling and p->left. */
static idm_status idm_profile_trace(const parameter *item, profile *p, const scan *s,
                                    idm_identification *to, idm_error *opt_error)
{
  const size_t half = p->frugal ? 8 : IDM_PROFILE_POINTS / 2;
  double end[2];
  profile_point *along = idm_profile_points_create(half + 2, p->dimension);
  idm_status status = along ? IDM_OK : idm_fail_memory(opt_error);
  p->ceiling = INFINITY;
  p->left = 400 * (long)half;
  curve_ends(p, s, end);
  for (int side = 0; side < 2 && status == IDM_OK; side++) {
    status = trace_side(p, s, end[side], half, along, opt_error);
    for (size_t i = 0; i <= half && status == IDM_OK; i++) {
      const size_t at = side ? half + i : half - i;
      to->value[at] = idm_parameter_reported_at(item, along[i].value);
      to->drop[at] = along[i].log_likelihood - p->best.log_likelihood;
    }
  }
  to->points = status == IDM_OK && p->left > 0 ? 2 * half + 1 : 0;
  free(along);
  return status;
}

/* === whole ==================================================================================== */

/* Intervals from a whole log of many histories. With hundreds of thousands of histories one
 * evaluation takes a second, and a profile hundreds of them. A subset of a few thousand histories
 * determines whether there are other regions and whether the likelihood falls towards the limits.
 * The ends of a single region of the whole log follow from the curvature at its maximum, corrected
 * by the likelihood at the ends. */

static idm_status evaluate_all(void *context, const double *y, double *log_density,
                               double *opt_gradient, idm_error *opt_error)
{
  return idm_matching_log_likelihood(context, y, log_density, opt_gradient, opt_error);
}

/* Compute the end at which the profile of coordinate c has fallen by the drop: from the curvature,
 * rescaled by the actual fall of the likelihood there. *ret_round is false if the two differ much.
 */
static idm_status find_end(const check_context *q, chain_start *top, size_t c, int side,
                           double *ret_end, bool *ret_round, idm_error *opt_error)
{
  const size_t d = q->f->parameters->dimension;
  const double *column = top->covariance + c * d;
  const double sd = sqrt(column[c]);
  const double far = (side ? 1 : -1) * sqrt(2 * idm_profile_drop) * sd;
  double log_likelihood;
  for (size_t i = 0; i < d; i++) top->x[i] = top->mode[i] + far * column[i] / column[c];
  const idm_status status =
      idm_matching_log_likelihood(q->f->matching[0], top->x, &log_likelihood, NULL, opt_error);
  if (status != IDM_OK) return status;
  const double stretch = sqrt(idm_profile_drop / (top->log_density - log_likelihood));
  *ret_round = stretch > 0.7 && stretch < 1.4;
  *ret_end = top->mode[c] + stretch * far;
  return IDM_OK;
}

/* Extrapolate one number. Several regions, an unbounded region, and a peak that is not quadratic
 * keep the intervals of the subset, marked unchecked. */
static idm_status extrapolate_item(const check_context *q, const parameter *item, chain_start *top,
                                   double share, idm_identification *id, idm_error *opt_error)
{
  bool round[2] = {false, false};
  double end[2] = {NAN, NAN};
  id->maximum = idm_parameter_reported_at(item, top->mode[item->first]);
  const bool closed = id->regions == 1 && fmin(id->gap[0], id->gap[1]) > idm_profile_drop;
  for (int side = 0; side < 2; side++) {
    id->gap[side] /= share;
    if (!closed) continue;
    const idm_status status =
        find_end(q, top, item->first, side, &end[side], &round[side], opt_error);
    if (status != IDM_OK) return status;
  }
  id->unchecked = id->unchecked || !round[0] || !round[1];
  if (round[0] && round[1]) {
    const double a = idm_parameter_reported_at(item, end[0]),
                 b = idm_parameter_reported_at(item, end[1]);
    id->low = id->region[0][0] = fmin(a, b);
    id->high = id->region[0][1] = fmax(a, b);
  }
  idm_identification_sentence(q, item, id);
  return IDM_OK;
}

idm_status idm_identify_full_log(const check_context *q, const double *y, const double *covariance,
                                 double share, idm_error *opt_error)
{
  const idm_parameters *parameters = q->f->parameters;
  const size_t d = parameters->dimension;
  const idm_target target = {
      .dimension = d, .gradient = true, .context = q->f->matching[0], .evaluate = evaluate_all};
  chain_start *top;
  idm_status status = idm_start_create(d, &top, opt_error);
  if (status != IDM_OK) return status;
  memcpy(top->mode, y, d * sizeof *y);
  for (size_t i = 0; i < d * d; i++) top->covariance[i] = share * covariance[i];
  idm_matching_warm_start(q->f->matching[0]);
  status = evaluate_all(q->f->matching[0], y, &top->log_density, NULL, opt_error);
  if (status == IDM_OK) status = idm_start_maximise_near(&target, top, opt_error);
  q->assessment->log_likelihood = top->log_density;
  for (size_t i = 0, at = 0; i < parameters->items && status == IDM_OK; i++)
    if (idm_parameter_is_scalar(&parameters->item[i]))
      status = extrapolate_item(q, &parameters->item[i], top, share,
                                &q->assessment->parameter[at++], opt_error);
  if (status == IDM_OK) idm_assess_maximum(q, top->mode, top->log_density);
  idm_start_destroy(top);
  return status;
}

/* === identify ================================================================================= */

/* Points scanned for a maximum, draws compared with the regions, points of a scan compared with
 * those of other numbers, profiles computed in parallel. */
enum { max_known_points = 40, max_draws = 1000, max_stored = 40, max_jobs = 4 };
/* Largest error of a table for which intervals keep their digits: a hundredth of a nat moves an end
 * by a two-hundredth of an sd. */
static const double max_error = 0.01;

/* State shared by all items. */
typedef struct identification_run {
  const check_context *q;
  size_t dimension;
  bool expensive;  /* an evaluation takes long: use fewer */
  bool subsample;  /* the fit is of a subset of the log: draws given all of it are not comparable */
  bool uses_table; /* a table of the log-likelihood replaces planning */
  bool last;       /* last round: a higher maximum found now is not used as a new start */
  long evaluations;       /* limit per item */
  search_window *windows; /* [dimension] */
  double *step;           /* [dimension] */
  double *precision;      /* [dimension][dimension]: minus the Hessian at the maximum */
  double *covariance;     /* its inverse */
  size_t known_points;
  profile_point *known_point; /* [known_points], the best first */
  size_t extra_points;
  profile_point *draw; /* [extra_points]: draws within the drop of the maximum, then such points
                          found by other profiles */
  size_t *stored;      /* [scalar item]: number of stored points of its scan within the drop, and */
  profile_point *stored_point; /* [scalar item][max_stored]: these points */
  bool *done;                  /* [scalar item]: its regions contain all points known so far */
  size_t jobs;
  profile **profile;  /* [jobs] */
  idm_status *status; /* [jobs] */
  idm_error *error;   /* [jobs] */
} identification_run;

/* --- the maximum ---------------------------------------------------------------------------- */

static int by_height(const void *a, const void *b)
{
  const double x = ((const profile_point *)a)->log_likelihood;
  const double y = ((const profile_point *)b)->log_likelihood;
  return (x < y) - (x > y);
}

/* Evaluate points independent of the requested priors and of the seed: the problem's own values,
 * then draws of the default priors. */
static idm_status scan_default_prior(identification_run *w, profile *p, idm_error *opt_error)
{
  const fit_context *f = w->q->f;
  idm_problem default_problem = *f->problem;
  idm_parameters *parameters = NULL;
  idm_random random;
  double *draw = idm_new(w->dimension, sizeof *draw);
  if (!draw) return idm_fail_memory(opt_error);
  idm_status status = idm_theta_copy(f->problem->theta, &default_problem.theta, opt_error);
  for (size_t i = 0; status == IDM_OK && i < default_problem.theta->blocks; i++)
    if (default_problem.theta->block[i].role == IDM_DESCRIPTIVE)
      status = idm_theta_set_default_prior(default_problem.theta, i,
                                           idm_problem_prior_range(f->problem, i), opt_error);
  if (status == IDM_OK) status = idm_parameters_create(&default_problem, &parameters, opt_error);
  idm_random_init(&random, 0, UINT64_MAX);
  for (size_t k = 0; k < w->known_points && status == IDM_OK; k++) {
    profile_point *to = &w->known_point[k];
    if (k > 0) {
      idm_parameters_draw(parameters, &random, draw);
      idm_parameters_set(parameters, draw, default_problem.theta);
    }
    idm_parameters_get(f->parameters, default_problem.theta, to->y);
    for (size_t i = 0; i < w->dimension; i++)
      to->y[i] = fmin(fmax(to->y[i], w->windows[i].low), w->windows[i].high);
    status = idm_profile_evaluate(p, to->y, &to->log_likelihood, opt_error);
  }
  idm_parameters_destroy(parameters);
  idm_theta_destroy(default_problem.theta);
  free(draw);
  qsort(w->known_point, w->known_points, sizeof *w->known_point, by_height);
  return status;
}

/* The log-likelihood of draw i, from its log density. */
static double draw_height(const check_context *q, size_t i, double *y)
{
  idm_context_draw(q, i, y);
  return q->posterior->statistics[i].log_density -
         idm_parameters_log_prior(q->f->parameters, y, NULL);
}

/* Search from the draw with the highest likelihood if it exceeds the maximum that was found without
 * the draws. */
static idm_status try_best_draw(identification_run *w, profile *p, profile_point *at,
                                idm_error *opt_error)
{
  const check_context *q = w->q;
  const size_t count = q->posterior->chains * q->posterior->draws;
  double most = p->best.log_likelihood + 1e-3;
  size_t best = count;
  for (size_t i = 0; i < count; i++) {
    const double log_likelihood = draw_height(q, i, at->y);
    if (!(log_likelihood > most)) continue;
    most = log_likelihood;
    best = i;
  }
  if (best == count) return IDM_OK;
  idm_context_draw(q, best, at->y);
  idm_status status = idm_profile_evaluate(p, at->y, &at->log_likelihood, opt_error);
  if (status == IDM_OK) status = idm_profile_maximise(p, at, opt_error);
  if (status == IDM_OK && at->log_likelihood > p->best.log_likelihood)
    idm_profile_point_copy(at, w->dimension, &p->best);
  return status;
}

/* Find the maximum of the likelihood by searches from the best points of the scan. */
static idm_status find_maximum(identification_run *w, profile *p, idm_error *opt_error)
{
  const size_t maximisations = w->expensive ? 2 : 3;
  idm_status status = scan_default_prior(w, p, opt_error);
  idm_profile_fix(p, w->dimension, w->precision);
  p->ceiling = INFINITY;
  for (size_t k = 0; k < maximisations && k < w->known_points && status == IDM_OK; k++)
    status = idm_profile_maximise(p, &w->known_point[k], opt_error);
  qsort(w->known_point, w->known_points, sizeof *w->known_point, by_height);
  idm_profile_point_copy(&w->known_point[0], w->dimension, &p->best);
  if (status == IDM_OK) status = idm_profile_escape(p, &p->best, opt_error);
  if (status == IDM_OK && !w->subsample) status = try_best_draw(w, p, &p->start[0], opt_error);
  return status;
}

static idm_status evaluate(void *context, const double *y, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  return idm_matching_log_likelihood(context, y, log_density, opt_gradient, opt_error);
}

/* Compute the Hessian at the maximum, and steps from it. */
static idm_status find_steps(identification_run *w, profile *p, idm_error *opt_error)
{
  const size_t d = w->dimension;
  const idm_target target = {
      .dimension = d, .gradient = true, .context = p->matching, .evaluate = evaluate};
  bool definite = false;
  for (size_t i = 0; i < d * d; i++) w->precision[i] = 0;
  const idm_status status =
      idm_laplace(&target, p->best.y, w->covariance, w->precision, &definite, opt_error);
  for (size_t i = 0; i < d; i++) {
    const double variance = definite ? w->covariance[i * d + i] : 1 / w->precision[i * d + i];
    const double widest = (w->windows[i].high - w->windows[i].low) / 12;
    const bool known = variance > 0 && isfinite(variance);
    w->step[i] = fmin(known ? 0.5 * sqrt(variance) : w->windows[i].unit, widest);
  }
  return status;
}

/* --- profiles ------------------------------------------------------------------------------- */

/* If every utility is free, a constant added to all of them changes no choice: the path is known.
 */
static bool has_shift_path(const check_context *q, const parameter *item)
{
  return item->block == IDM_UTILITY && !q->f->problem->theta->block[IDM_UTILITY].coordinate &&
         item->scale == IDM_SCALE_IDENTITY;
}

static void shift_path(const check_context *q, profile *p)
{
  const idm_parameters *parameters = q->f->parameters;
  for (size_t i = 0; i < p->dimension; i++) p->path[i] = 0;
  for (size_t i = 0; i < parameters->items; i++)
    if (parameters->item[i].block == IDM_UTILITY) p->path[parameters->item[i].first] = 1;
}

/* Whether a profile found a point with a higher likelihood than the maximum. */
static bool found_higher(const profile *p)
{
  return p->highest.log_likelihood > p->best.log_likelihood + 1e-4;
}

/* Store points of item `at`'s scan within the drop, spread over all of them. */
static void store_points(const identification_run *w, size_t at, const profile *p, const scan *s)
{
  const double level = p->best.log_likelihood - idm_profile_drop;
  size_t inside = 0, k = 0;
  w->stored[at] = 0;
  for (size_t i = 0; i < s->count; i++) inside += s->profile_point[i].log_likelihood >= level;
  for (size_t i = 0; i < s->count; i++) {
    if (s->profile_point[i].log_likelihood < level) continue;
    if (k++ * max_stored >= w->stored[at] * inside && w->stored[at] < max_stored)
      idm_profile_point_copy(&s->profile_point[i], w->dimension,
                             &w->stored_point[at * max_stored + w->stored[at]++]);
  }
}

static idm_status identify_item(const identification_run *w, const parameter *item, size_t at,
                                profile *p, idm_error *opt_error)
{
  idm_identification *id = &w->q->assessment->parameter[at];
  scan s;
  p->left = w->evaluations;
  p->ceiling = INFINITY;
  idm_profile_fix(p, item->first, w->precision);
  if (has_shift_path(w->q, item)) shift_path(w->q, p);
  /* Fix the starts of plans, so that the result of a profile does not depend on the profiles
   * computed before it. */
  idm_status status = idm_matching_fix_start(p->matching, p->best.y, opt_error);
  idm_matching_warm_start(p->matching);
  if (status == IDM_OK) status = idm_scan_create(w->dimension, &s, opt_error);
  if (status != IDM_OK) return status;
  status = idm_scan_run(p, !w->expensive, &s, opt_error);
  if (status == IDM_OK && (w->last || !found_higher(p)))
    status = idm_scan_regions(p, w->draw, w->extra_points, &s, opt_error);
  if (status == IDM_OK &&
      (w->last || !found_higher(p))) { /* else all profiles are repeated from the higher point */
    status = idm_profile_bounds(w->q, item, p, &s, id, opt_error);
    if (status == IDM_OK && !w->subsample) status = idm_profile_trace(item, p, &s, id, opt_error);
    store_points(w, at, p, &s);
    w->done[at] = true;
  }
  idm_scan_destroy(&s);
  return status;
}

/* Compare the regions with the points within the drop that other profiles found. Items whose
 * regions miss one are marked for another pass. *missed is true if there are any. */
static void compare_profiles(const identification_run *w, bool *missed)
{
  const idm_parameters *parameters = w->q->f->parameters;
  const idm_assessment *a = w->q->assessment;
  const double level = a->log_likelihood - idm_profile_drop + 0.01;
  *missed = false;
  for (size_t i = 0, at = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    if (!idm_parameter_is_scalar(item)) continue;
    for (size_t k = 0; k < a->parameters * max_stored; k++) {
      const profile_point *stored = &w->stored_point[k];
      if (k % max_stored >= w->stored[k / max_stored] || stored->log_likelihood < level) continue;
      const double value = idm_parameter_reported_at(item, stored->y[item->first]);
      if (!idm_regions_contain(a->parameter[at].regions, a->parameter[at].region[0], value))
        w->done[at] = false;
    }
    *missed |= !w->done[at];
    at++;
  }
}

/* Job k computes every jobs-th scalar item. */
static void run_job(void *context, size_t k)
{
  identification_run *w = context;
  const idm_parameters *parameters = w->q->f->parameters;
  size_t at = 0;
  for (size_t i = 0; i < parameters->items && w->status[k] == IDM_OK; i++) {
    if (!idm_parameter_is_scalar(&parameters->item[i])) continue;
    if (at % w->jobs == k && !w->done[at])
      w->status[k] = identify_item(w, &parameters->item[i], at, w->profile[k], &w->error[k]);
    at++;
  }
}

/* Collect draws within the drop of the maximum, and such points found by profiles; the regions must
 * contain all of them. */
static void store_draws(identification_run *w)
{
  const check_context *q = w->q;
  const size_t count = q->posterior->chains * q->posterior->draws;
  const double level = q->assessment->log_likelihood - idm_profile_drop;
  w->extra_points = 0;
  for (size_t i = 0; i < count && w->extra_points < max_draws && !w->subsample; i++) {
    profile_point *to = &w->draw[w->extra_points];
    to->log_likelihood = draw_height(q, i, to->y);
    w->extra_points += to->log_likelihood >= level && isfinite(to->log_likelihood);
  }
  for (size_t k = 0; k < q->assessment->parameters * max_stored; k++)
    if (k % max_stored < w->stored[k / max_stored] && w->stored_point[k].log_likelihood >= level)
      idm_profile_point_copy(&w->stored_point[k], w->dimension, &w->draw[w->extra_points++]);
}

/* Compute every profile that is not done, from the maximum of the first. *higher is true if one
 * found a higher point. */
static idm_status identify_items(identification_run *w, bool *higher, idm_error *opt_error)
{
  profile *first = w->profile[0];
  idm_status status = find_steps(w, first, opt_error);
  for (size_t k = 0; k < w->jobs; k++) {
    idm_profile_point_copy(&first->best, w->dimension, &w->profile[k]->best);
    idm_profile_point_copy(&first->best, w->dimension, &w->profile[k]->highest);
    w->status[k] = IDM_OK;
  }
  if (status == IDM_OK)
    status = idm_cancel_parallel(w->q->f->parameters->cancel, w->jobs, w->q->f->settings->threads,
                                 run_job, w, opt_error);
  *higher = false;
  for (size_t k = 0; k < w->jobs && status == IDM_OK; k++) {
    status = w->status[k];
    if (status != IDM_OK && opt_error) *opt_error = w->error[k];
    *higher |= found_higher(w->profile[k]);
    if (w->profile[k]->highest.log_likelihood > first->best.log_likelihood)
      idm_profile_point_copy(&w->profile[k]->highest, w->dimension, &first->best);
  }
  if (status != IDM_OK || !*higher) return status;
  for (size_t i = 0; i < w->q->assessment->parameters; i++) w->done[i] = false;
  idm_profile_fix(first, w->dimension, w->precision);
  first->ceiling = INFINITY;
  first->left = w->evaluations;
  status = idm_profile_maximise(first, &first->best, opt_error);
  return status == IDM_OK ? idm_profile_escape(first, &first->best, opt_error) : status;
}

static idm_status identify_all(identification_run *w, idm_error *opt_error)
{
  enum { max_rounds = 6 };
  idm_assessment *a = w->q->assessment;
  profile *first = w->profile[0];
  bool higher = false, missed = true;
  first->left = 2 * w->evaluations;
  idm_matching_warm_start(first->matching);
  idm_status status = find_maximum(w, first, opt_error);
  a->identified = isfinite(first->best.log_likelihood);
  a->log_likelihood = first->best.log_likelihood;
  if (!a->identified) return status;
  for (int round = 0; round < max_rounds && (higher || missed) && status == IDM_OK; round++) {
    w->last = round + 1 == max_rounds;
    a->log_likelihood = first->best.log_likelihood;
    store_draws(w);
    status = identify_items(w, &higher, opt_error);
    if (status == IDM_OK && !higher) compare_profiles(w, &missed);
  }
  for (size_t i = 0; i < a->parameters; i++) a->parameter[i].unchecked |= higher || !w->done[i];
  return status;
}

/* --- setup ----------------------------------------------------------------------------------- */

static size_t count_scalars(const idm_parameters *parameters)
{
  size_t count = 0;
  for (size_t i = 0; i < parameters->items; i++)
    count += idm_parameter_is_scalar(&parameters->item[i]);
  return count;
}

/* Cost of a history relative to one with two actions, three observations and three models. */
static double history_cost(const idm_problem *problem)
{
  const idm_setting *s = problem->setting;
  return (double)s->actions.count * (double)s->observations.count * (double)problem->theta->models /
         18;
}

/* Limit the number of evaluations by the cost of one. */
static void set_work_limits(identification_run *w)
{
  const check_context *q = w->q;
  const size_t points = idm_workspace_points(idm_matching_workspace(q->f->matching[0]));
  w->uses_table = q->f->table && q->f->table->error <= max_error;
  const double work =
      (w->uses_table ? 2001 : (double)points) + 0.1 * (double)idm_fit_histories(q->f);
  const double breadth = history_cost(q->f->problem);
  const size_t scalars = count_scalars(q->f->parameters);
  w->expensive = work > 2000 || w->dimension > 6 || w->subsample;
  /* With very many histories and no subset, a search that is cut short is recorded as unchecked. */
  static const double large = 8000, default_problem = 1500;
  const double total = work > large ? default_problem * pow(large / work, 2)
                       : w->subsample
                           ? default_problem
                           : fmin(fmax(1.2e7 / (work * fmax(breadth, 1)), default_problem), 40000);
  const long least = work > large ? 40 : 200;
  w->evaluations = (long)(total / (double)(scalars ? scalars : 1));
  if (w->evaluations < least) w->evaluations = least;
  w->known_points = w->expensive ? 12 : max_known_points;
  w->jobs = scalars < max_jobs ? scalars : max_jobs;
  if (points > 20000) w->jobs = 1; /* limits memory */
  if (!w->jobs) w->jobs = 1;
}

static void close_run(identification_run *w)
{
  (void)idm_matching_use_table(w->q->f->matching[0], NULL, NULL, NULL);
  for (size_t k = 0; w->profile && k < w->jobs; k++) {
    if (k && w->profile[k]) idm_matching_destroy(w->profile[k]->matching);
    idm_profile_destroy(w->profile[k]);
  }
  free(w->profile);
  free(w->status);
  free(w->error);
  free(w->windows);
  free(w->step);
  free(w->known_point);
  free(w->draw);
  free(w->stored);
  free(w->stored_point);
  free(w->done);
}

/* Compute windows, extended to contain the draw of highest density in any units of the problem. */
static void set_windows(identification_run *w)
{
  const idm_posterior *posterior = w->q->posterior;
  const size_t count = posterior->chains * posterior->draws;
  size_t best = 0;
  idm_profile_windows(w->q->f, w->windows);
  for (size_t i = 1; i < count; i++)
    if (posterior->statistics[i].log_density > posterior->statistics[best].log_density) best = i;
  for (size_t i = 0; i < w->dimension && count; i++)
    idm_window_extend(&w->windows[i], posterior->unconstrained[i * count + best]);
}

static idm_status open_run(identification_run *w, idm_error *opt_error)
{
  const fit_context *f = w->q->f;
  const size_t d = w->dimension;
  const size_t scalars = count_scalars(f->parameters);
  set_work_limits(w);
  w->windows = idm_new(d, sizeof *w->windows);
  w->step = idm_new(d * (1 + 2 * d), sizeof *w->step);
  w->known_point = idm_profile_points_create(w->known_points, d);
  w->draw = idm_profile_points_create(max_draws + scalars * max_stored, d);
  w->stored = idm_new(scalars, sizeof *w->stored);
  w->stored_point = idm_profile_points_create(scalars * max_stored, d);
  w->done = idm_new(scalars, sizeof *w->done);
  w->profile = idm_new(w->jobs, sizeof(profile *));
  w->status = idm_new(w->jobs, sizeof *w->status);
  w->error = idm_new(w->jobs, sizeof *w->error);
  if (!w->windows || !w->step || !w->known_point || !w->draw || !w->stored || !w->stored_point ||
      !w->done || !w->profile || !w->status || !w->error)
    return idm_fail_memory(opt_error);
  w->precision = w->step + d;
  w->covariance = w->precision + d * d;
  set_windows(w);
  for (size_t i = 0; i < d; i++) w->step[i] = w->windows[i].unit;
  idm_status status = IDM_OK;
  for (size_t k = 0; k < w->jobs && status == IDM_OK; k++) {
    idm_matching *matching = f->matching[0];
    if (k) status = idm_fit_create_matching(f, f->problem, &matching, opt_error);
    if (status == IDM_OK && w->uses_table) status = idm_fit_use_table(f, matching, opt_error);
    if (status == IDM_OK) status = idm_profile_create(f, matching, &w->profile[k], opt_error);
    if (status != IDM_OK) {
      if (k) idm_matching_destroy(matching);
      break;
    }
    w->profile[k]->windows = w->windows;
    w->profile[k]->step = w->step;
    w->profile[k]->frugal = w->expensive;
    w->profile[k]->known_points = w->known_points;
    w->profile[k]->known_point = w->known_point;
  }
  return status;
}

/* Compute intervals from a subset of the trajectories of a log of very many histories, then
 * extrapolate to all. */
static idm_status identify_by_subset(const check_context *q, fit_context *small, double share,
                                     idm_error *opt_error)
{
  check_context subset_context = *q;
  subset_context.f = small;
  identification_run w = {
      .q = &subset_context, .dimension = q->f->parameters->dimension, .subsample = true};
  idm_status status = open_run(&w, opt_error);
  if (status == IDM_OK) status = identify_all(&w, opt_error);
  if (status == IDM_OK && q->assessment->identified)
    status = idm_identify_full_log(q, w.profile[0]->best.y, w.covariance, share, opt_error);
  if (status == IDM_OK && q->assessment->identified)
    idm_notes_add(&q->assessment->remarks,
                  "profile intervals were searched in %zu of %zu trajectories, spread over the "
                  "log; those of all trajectories follow from the curvature at the maximum of "
                  "their likelihood, corrected by the likelihood at the ends",
                  small->data->trajectories, q->f->data->trajectories);
  close_run(&w);
  return status;
}

static idm_status identify_in_full(const check_context *q, idm_error *opt_error)
{
  identification_run w = {.q = q, .dimension = q->f->parameters->dimension};
  idm_status status = open_run(&w, opt_error);
  if (status == IDM_OK) status = identify_all(&w, opt_error);
  if (status == IDM_OK && q->assessment->identified)
    idm_assess_maximum(q, w.profile[0]->best.y, w.profile[0]->best.log_likelihood);
  close_run(&w);
  return status;
}

static idm_status identify(const check_context *q, idm_error *opt_error)
{
  idm_assessment *a = q->assessment;
  fit_context small = {0};
  idm_data *subsample = NULL;
  double share = 1;
  a->parameters = count_scalars(q->f->parameters);
  a->parameter = idm_new(a->parameters, sizeof *a->parameter);
  idm_status status = a->parameter
                          ? idm_start_open_subset(q->f, &small, &subsample, &share, opt_error)
                          : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = share < 1 ? identify_by_subset(q, &small, share, opt_error)
                       : identify_in_full(q, opt_error);
  idm_fit_close(&small);
  idm_data_destroy(subsample);
  if (!a->identified) a->parameters = 0;
  return status;
}

idm_status idm_check_identification(const check_context *q, idm_error *opt_error)
{
  idm_assessment *a = q->assessment;
  a->identified = !q->posterior->coordinate_size;
  if (!a->identified) {
    idm_assess_unnamed(q);
    return IDM_OK;
  }
  const idm_status status = identify(q, opt_error);
  if (status == IDM_OK) idm_assess_identification(q);
  return status;
}
