/* Where a chain starts: a mode climbed to from its own draws of the prior, and the normal
 * approximation there. */
#include <math.h>
#include <stdio.h>

#include "base/dense.h"
#include "base/memory.h"
#include "data/part.h"
#include "idm/laplace.h"
#include "idm/maximise.h"
#include "idm/prior.h"
#include "idm/transform.h"
#include "invert/matching/matching.h"
#include "invert/matching/start.h"
#include "setting/freedom.h"

/* Starting points looked at, a chain, of which the best is climbed from: enough to leave a flat
 * tail behind, few enough that chains still disagree where the posterior has several modes. */
enum { looks = 8, most_steps = 100 };
/* Streams beyond those of the chains. */
static const uint64_t first_stream = (uint64_t)1 << 32;

bool idm_start_is_dense(size_t dimension)
{
  enum { most_dense = 2000 };
  return dimension <= most_dense;
}

void idm_start_destroy(start *s)
{
  if (!s) return;
  free(s->x);
  free(s->mode);
  free(s->covariance);
  free(s);
}

idm_status idm_start_create(size_t dimension, start **ret_start, idm_error *opt_error)
{
  *ret_start = NULL;
  start *s = idm_new(1, sizeof *s);
  if (!s) return idm_fail_memory(opt_error);
  s->x = idm_new(dimension, sizeof *s->x);
  s->mode = idm_new(dimension, sizeof *s->mode);
  const size_t wide = idm_start_is_dense(dimension) ? dimension : 0;
  s->covariance = idm_new(wide * wide, sizeof *s->covariance);
  if (!s->x || !s->mode || !s->covariance) {
    idm_start_destroy(s);
    return idm_fail_memory(opt_error);
  }
  *ret_start = s;
  return IDM_OK;
}

/* Starting point k of a chain: the problem's own values first, then draws of the prior, or where it
 * has none the own values moved by a usual step. */
static void propose(const fit *f, size_t chain, int k, idm_random *random, double *y)
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

/* A target in coordinates of its own: x is unit times them. In those a unit is a step of a usual
 * size, whatever the utilities are counted in. */
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

/* Climb from x in usual units. */
static idm_status maximise(const fit *f, const idm_target *target, double tolerance, int steps,
                           double *x, double *log_density, idm_error *opt_error)
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

/* No point was possible. */
static idm_status fail_to_start(const fit *f, size_t chain, idm_error *opt_error)
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

/* The best of a few points into the mode. */
static idm_status look_around(const fit *f, size_t chain, idm_random *random, start *s,
                              idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[chain]);
  idm_matching_wander(f->matching[chain]);
  s->placed = false;
  s->log_density = -INFINITY;
  for (int k = 0; k < looks; k++) {
    double here = -INFINITY;
    propose(f, chain, k, random, s->x);
    const idm_status status = target.evaluate(target.context, s->x, &here, NULL, opt_error);
    if (status != IDM_OK) return status;
    if (k && !(here > s->log_density)) continue;
    s->log_density = here;
    memcpy(s->mode, s->x, target.dimension * sizeof *s->x);
  }
  return isfinite(s->log_density) ? IDM_OK : fail_to_start(f, chain, opt_error);
}

/* Where the mode is flat: the spread of the prior. */
static void guess_covariance(const fit *f, start *s)
{
  const size_t d = f->parameters->dimension;
  memset(s->covariance, 0, d * d * sizeof *s->covariance);
  for (size_t i = 0; i < d; i++) s->covariance[i * (d + 1)] = f->unit[i] * f->unit[i];
}

/* Points were possible, and none had a derivative. */
static idm_status fail_to_climb(const fit *f, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_NUMERICAL,
                  "the log posterior has no slope where the search for its mode starts: the "
                  "utilities (they span %.3g) or the priors are too large",
                  idm_theta_range(f->problem->theta));
}

/* From its mode up to the top. */
static idm_status climb(const fit *f, size_t chain, start *s, idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[chain]);
  /* On the way up each plan starts from the last one: the way is the same every time. */
  idm_matching_wander(f->matching[chain]);
  const idm_status status =
      maximise(f, &target, 1e-6, most_steps, s->mode, &s->log_density, opt_error);
  if (status == IDM_NUMERICAL) return fail_to_climb(f, opt_error);
  return status == IDM_OK ? idm_matching_anchor(f->matching[chain], s->mode, opt_error) : status;
}

idm_status idm_start_climb(const fit *f, size_t chain, start *s, idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[chain]);
  idm_status status = climb(f, chain, s, opt_error);
  if (status != IDM_OK || !idm_start_is_dense(target.dimension)) return status;
  status = idm_laplace(&target, s->mode, s->covariance, NULL, &s->definite, opt_error);
  if (status == IDM_OK && !s->definite) guess_covariance(f, s);
  return status;
}

/* A point two deviations' worth of noise away from the mode; nearer where that is impossible. */
static idm_status scatter(const fit *f, size_t chain, idm_random *random, start *s,
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
    double reached = -INFINITY;
    for (size_t i = 0; i < d; i++) s->x[i] = scale * idm_random_normal(random);
    idm_lower_multiply(d, factor, s->x);
    for (size_t i = 0; i < d; i++) s->x[i] += s->mode[i];
    status = target.evaluate(target.context, s->x, &reached, NULL, opt_error);
    if (status != IDM_OK || reached > s->log_density - 20 * (double)d) break;
    memcpy(s->x, s->mode, d * sizeof *s->x);
  }
  free(factor);
  return status;
}

idm_status idm_start_settle(const fit *f, size_t chain, start *s, idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[chain]);
  idm_random random;
  idm_random_init(&random, f->key, first_stream + f->settings->chains + chain);
  idm_status status = idm_matching_anchor(f->matching[chain], s->mode, opt_error);
  if (status == IDM_OK && s->definite)
    status = idm_matching_survey(f->matching[chain], s->mode, s->covariance, opt_error);
  if (status == IDM_OK)
    status = target.evaluate(target.context, s->mode, &s->log_density, NULL, opt_error);
  if (status != IDM_OK || s->placed || !idm_start_is_dense(target.dimension)) return status;
  return scatter(f, chain, &random, s, opt_error);
}

/* A point of a wide prior may lie where the policy has no derivative, though its density is finite:
 * the next points of the stream take its place. */
idm_status idm_start_find(const fit *f, size_t chain, start *s, idm_error *opt_error)
{
  enum { tries = 8 };
  idm_status status = IDM_NUMERICAL;
  idm_random random;
  idm_random_init(&random, f->key, first_stream + chain);
  for (int k = 0; k < tries && status == IDM_NUMERICAL; k++) {
    status = look_around(f, chain, &random, s, opt_error);
    if (status != IDM_OK) return status;
    status = idm_start_climb(f, chain, s, opt_error);
  }
  return status;
}

/* --- the highest of all --------------------------------------------------------------------- */

/* Numbers that are few enough to be looked at one by one. */
enum { all_the_way = 1000, most_scanned = 16 };

/* The problem's own values, whatever other points are worth: where most multipliers are as they
 * should be, the way up is short. */
static idm_status begin_with_own(const fit *f, start *s, idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[0]);
  idm_matching_wander(f->matching[0]);
  idm_parameters_get(f->parameters, f->problem->theta, s->mode);
  return target.evaluate(target.context, s->mode, &s->log_density, NULL, opt_error);
}

/* Whether a point is the problem's own values, from which a search climbs in any case. */
static bool is_own(const fit *f, start *s)
{
  idm_parameters_get(f->parameters, f->problem->theta, s->x);
  return memcmp(s->mode, s->x, f->parameters->dimension * sizeof *s->x) == 0;
}

/* Climb from s->mode; what is higher than the best so far takes its place. */
static idm_status climb_higher(const fit *f, start *s, start *best, idm_error *opt_error)
{
  if (!isfinite(s->log_density)) return IDM_OK;
  const idm_status status = climb(f, 0, s, opt_error);
  if (status == IDM_NUMERICAL) return IDM_OK; /* nowhere to climb from there */
  if (status != IDM_OK || !(s->log_density > best->log_density)) return status;
  best->log_density = s->log_density;
  memcpy(best->mode, s->mode, f->parameters->dimension * sizeof *s->mode);
  return IDM_OK;
}

/* Scan number i around a centre, in steps that double on either side, with the others as at the
 * best mode, and climb from every place that is higher than those beside it, but where the best
 * mode lies: a mode may be narrow where draws of the prior are wide. */
static idm_status scan(const fit *f, size_t i, double centre, start *s, start *best,
                       idm_error *opt_error)
{
  enum { smallest = -1, largest = 8, half = largest - smallest + 1, count = 2 * half + 1 };
  const idm_target target = idm_matching_target(f->matching[0]);
  const size_t bytes = target.dimension * sizeof *s->x;
  double value[count + 2] = {-INFINITY}, height[count + 2] = {-INFINITY};
  idm_status status = IDM_OK;
  value[count + 1] = INFINITY;
  height[count + 1] = -INFINITY;
  memcpy(s->x, best->mode, bytes);
  const double known = s->x[i];
  for (int k = 1; k <= count && status == IDM_OK; k++) {
    const int from = k - half - 1;
    const double far = from ? ldexp(f->unit[i], smallest + abs(from) - 1) : 0;
    s->x[i] = value[k] = from < 0 ? centre - far : centre + far;
    status = target.evaluate(target.context, s->x, &height[k], NULL, opt_error);
  }
  for (size_t k = 1; k <= count && status == IDM_OK; k++) {
    const bool stands_out = height[k] > height[k - 1] && height[k] > height[k + 1];
    const bool is_known = known > value[k - 1] && known < value[k + 1];
    if (k != half + 1 && (!stands_out || is_known)) continue;
    memcpy(s->mode, s->x, bytes);
    s->mode[i] = value[k];
    s->log_density = height[k];
    status = climb_higher(f, s, best, opt_error);
  }
  return status;
}

/* Scan every number around the problem's own value, and around the prior's mean. */
static idm_status scan_all(const fit *f, start *s, start *best, idm_error *opt_error)
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

/* From the best mode to higher ones, as long as scans find them, in steps that are short enough for
 * the narrow ones. */
static idm_status hop(const fit *f, start *s, start *best, idm_error *opt_error)
{
  enum { hops = 3 };
  static const double least_gain = 1e-3, shortness = 1.0 / 32;
  const size_t d = f->parameters->dimension;
  fit near = *f;
  if (d > most_scanned) return IDM_OK;
  near.unit = idm_duplicate(f->unit, d, sizeof *f->unit);
  if (!near.unit) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < d; i++) near.unit[i] *= shortness;
  idm_status status = IDM_OK;
  double before = -INFINITY;
  for (int k = 0; k < hops && best->log_density > before + least_gain && status == IDM_OK; k++) {
    before = best->log_density;
    status = scan_all(&near, s, best, opt_error);
  }
  free(near.unit);
  return status;
}

/* The highest mode of a climb from there, and of as many others as there are chains, and of what
 * lies beside. */
static idm_status search(const fit *f, start *best, idm_error *opt_error)
{
  start *s = NULL;
  idm_status status = idm_start_create(f->parameters->dimension, &s, opt_error);
  best->log_density = -INFINITY;
  for (size_t i = 0; i <= f->settings->chains && status == IDM_OK; i++) {
    idm_random random;
    idm_random_init(&random, f->key + i, first_stream);
    const bool last = i == f->settings->chains;
    status = last ? begin_with_own(f, s, opt_error) : look_around(f, 0, &random, s, opt_error);
    if (status == IDM_OK && (last || !is_own(f, s))) status = climb_higher(f, s, best, opt_error);
  }
  if (status == IDM_OK && !isfinite(best->log_density)) status = fail_to_climb(f, opt_error);
  if (status == IDM_OK) status = hop(f, s, best, opt_error);
  idm_start_destroy(s);
  return status;
}

/* To the very top: by gradients, then by steps of the numbers, which see over kinks (beliefs that
 * pass from one cell of the lattice to the next), and again where those gained something. */
static idm_status finish(const fit *f, start *best, idm_error *opt_error)
{
  enum { rounds = 4, trials = 40 };
  static const double least_gain = 1e-6;
  const idm_target target = idm_matching_target(f->matching[0]);
  const size_t d = target.dimension;
  idm_status status = IDM_OK;
  double before = -INFINITY;
  for (int k = 0; k < rounds && best->log_density > before + least_gain && status == IDM_OK; k++) {
    status = maximise(f, &target, 0, all_the_way, best->mode, &best->log_density, opt_error);
    before = best->log_density;
    if (status == IDM_OK && d <= most_scanned)
      status = idm_maximise_by_steps(&target, f->unit, least_gain, trials * (int)d, best->mode,
                                     &best->log_density, opt_error);
  }
  return status;
}

/* A target in coordinates in which a part of the data has a round peak: x = origin + factor v. */
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
    opt_gradient[j] = sum; /* the entries that follow need only those behind it */
  }
  return status;
}

/* Newton's steps with the curvature that the part has: each leaves a share of the way that is about
 * the part's own error, so that a handful of gradients does, and what there is left to gain, half
 * the square of the slope where the peak is round, ends them. *ret_done is false where the peak is
 * not as the part told; v is then the highest point so far. */
static idm_status step_whitened(const idm_target *own, double *v, double *trial, double *slope,
                                double *log_density, bool *ret_done, idm_error *opt_error)
{
  enum { most = 8 };
  static const double least_gain = 1e-4;
  const size_t d = own->dimension;
  double here = -INFINITY;
  *ret_done = false;
  memcpy(trial, v, d * sizeof *v);
  for (int i = 0; i < most && !*ret_done; i++) {
    double now, gain = 0;
    const idm_status status = own->evaluate(own->context, trial, &now, slope, opt_error);
    if (status != IDM_OK || !(now > here)) return status;
    here = *log_density = now;
    memcpy(v, trial, d * sizeof *v);
    for (size_t k = 0; k < d; k++) {
      gain += 0.5 * slope[k] * slope[k];
      trial[k] = v[k] + slope[k];
    }
    *ret_done = gain < least_gain;
  }
  return IDM_OK;
}

idm_status idm_start_climb_near(const idm_target *target, start *s, idm_error *opt_error)
{
  static const double least_gain = 1e-4; /* nothing beside an error of its own */
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
        step_whitened(&own, v, origin + 3 * d, origin + 4 * d, &s->log_density, &done, opt_error);
    if (status == IDM_OK && !done)
      status = idm_maximise(&own, least_gain, all_the_way, v, &s->log_density, opt_error);
    unwhiten(&w, v, s->mode);
  }
  free(origin);
  return status;
}

/* Histories that are many enough to tell modes apart, and few enough to be climbed over often. */
enum { enough_histories = 5000, many_times = 4 };

/* So many trajectories, spread evenly over the log: the first may be of one year, or of one place.
 */
static idm_status spread(const idm_data *data, size_t count, idm_data **ret_part,
                         idm_error *opt_error)
{
  uint32_t *chosen = idm_new(count, sizeof *chosen);
  if (!chosen) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < count; k++) chosen[k] = (uint32_t)(k * data->trajectories / count);
  const idm_status status = idm_data_part(data, chosen, count, ret_part, opt_error);
  free(chosen);
  return status;
}

idm_status idm_start_open_part(const fit *f, fit *small, idm_data **ret_part, double *ret_share,
                               idm_error *opt_error)
{
  *ret_part = NULL;
  *ret_share = 1;
  const size_t histories = idm_fit_histories(f);
  if (histories < (size_t)many_times * enough_histories || f->tree->scope != IDM_SCOPE_TRAJECTORY ||
      !idm_start_is_dense(f->parameters->dimension))
    return IDM_OK;
  size_t count =
      (size_t)((double)enough_histories / (double)histories * (double)f->data->trajectories);
  if (count < 1) count = 1;
  idm_status status = spread(f->data, count, ret_part, opt_error);
  if (status == IDM_OK)
    status = idm_fit_open_halted(small, NULL, f->problem, *ret_part, f->settings, 1,
                                 f->parameters->halt, opt_error);
  if (status != IDM_OK) {
    idm_data_destroy(*ret_part);
    *ret_part = NULL;
    return status;
  }
  small->key = f->key;
  *ret_share = (double)count / (double)f->data->trajectories;
  return IDM_OK;
}

/* The same over some trajectories of a log that has many more histories than that: where a few
 * thousand trajectories have their modes, all of them have theirs nearby, and one climb over the
 * whole log ends there. With it comes the covariance around the mode, as all of them would have it.
 * Nothing where a part cannot be explained, or has no peak: then all are looked at. */
static idm_status search_part(const fit *f, start *best, bool *found, idm_error *opt_error)
{
  idm_data *part;
  fit small;
  double share;
  *found = false;
  idm_status status = idm_start_open_part(f, &small, &part, &share, opt_error);
  if (status != IDM_OK || !part) return status;
  status = search(&small, best, opt_error);
  if (status == IDM_OK) {
    const idm_target target = idm_matching_target(small.matching[0]);
    status = idm_matching_anchor(small.matching[0], best->mode, opt_error);
    if (status == IDM_OK)
      status = idm_laplace(&target, best->mode, best->covariance, NULL, found, opt_error);
  }
  for (size_t i = 0; *found && i < f->parameters->dimension * f->parameters->dimension; i++)
    best->covariance[i] *= share;
  idm_fit_close(&small);
  idm_data_destroy(part);
  return status == IDM_NUMERICAL ? IDM_OK : status;
}

/* What the mode is worth, planned for as everything after the search is. */
static idm_status settle_top(const fit *f, start *best, idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[0]);
  const idm_status status = idm_matching_anchor(f->matching[0], best->mode, opt_error);
  if (status != IDM_OK) return status;
  return target.evaluate(target.context, best->mode, &best->log_density, NULL, opt_error);
}

/* Where the best action alone is taken the likelihood has steps, and a climb ends on the very edge
 * of one: which side the plan is on is then a matter of rounding. Where the mode is worth less than
 * it was on the way, go back from the edge by steps that can be told from it. */
static idm_status leave_edge(const fit *f, start *best, idm_error *opt_error)
{
  enum { trials = 40 };
  static const double least_loss = 1e-3;
  const idm_target target = idm_matching_target(f->matching[0]);
  const double claimed = best->log_density;
  idm_status status = settle_top(f, best, opt_error);
  if (status != IDM_OK || target.dimension > most_scanned ||
      best->log_density > claimed - least_loss)
    return status;
  status = idm_maximise_by_steps(&target, f->unit, least_loss, trials * (int)target.dimension,
                                 best->mode, &best->log_density, opt_error);
  return status == IDM_OK ? settle_top(f, best, opt_error) : status;
}

idm_status idm_start_best(const fit *f, start *best, idm_error *opt_error)
{
  const idm_target target = idm_matching_target(f->matching[0]);
  bool found;
  idm_status status = search_part(f, best, &found, opt_error);
  if (status == IDM_OK && found) {
    idm_matching_wander(f->matching[0]);
    status = target.evaluate(target.context, best->mode, &best->log_density, NULL, opt_error);
    found = isfinite(best->log_density);
    if (status == IDM_OK && found) status = idm_start_climb_near(&target, best, opt_error);
  }
  if (status == IDM_OK && !found) {
    status = search(f, best, opt_error);
    if (status == IDM_OK) status = finish(f, best, opt_error);
  }
  return status == IDM_OK ? leave_edge(f, best, opt_error) : status;
}
