/* Profile scan of one free number: regions within the drop of the maximum, and behaviour towards
 * the limits.
 *
 * Contents: bound · region */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "infer/distribution.h"
#include "invert/assess/context.h"
#include "invert/matching/fit.h"

/* === bound ================================================================================== */

/* Limits and intervals of one free number from its profile.
 *
 * Contents: limits · intervals · result */

/* --- limits --------------------------------------------------------------------------------- */

static bool bounded_by_prior(const parameter *item, int side)
{
  return item->prior->kind != IDM_PRIOR_FLAT || isfinite(side ? item->upper : item->lower);
}

/* Number of free numbers that their priors do not bound. */
static size_t unbounded_numbers(const idm_parameters *parameters)
{
  size_t count = 0;
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    if (!item->simplex && !(bounded_by_prior(item, 0) && bounded_by_prior(item, 1)))
      count += item->size;
  }
  return count;
}

/* The natural value at an end of the scale (side 0: below, 1: above). *exact: the limit itself;
 * otherwise the number has no computable limit, and the value is the end of its window. */
static double natural_limit(const idm_block_info *info, const parameter *item, int side,
                            const search_window *windows, bool *exact)
{
  const double end = side ? item->upper : item->lower;
  *exact = true;
  if (isfinite(end)) return idm_scale_inverse(item->scale, end);
  if (item->scale == IDM_SCALE_INVERSE) return side ? 0.0 : -0.0;
  if (item->scale == IDM_SCALE_LOG && !side) return 0;
  if (item->scale == IDM_SCALE_LOGIT) return side;
  if (info->infinite) return side ? INFINITY : -INFINITY;
  *exact = false;
  return idm_scale_inverse(item->scale,
                           idm_constrain(item->lower, item->upper,
                                         side ? windows->high : windows->low, NULL, NULL, NULL));
}

/* Rate at which the profile falls towards the end of the window, per unit of the logarithm of the
 * distance from the maximum in the prior's coordinate c: a density that falls like c^-rate has a
 * finite integral over m unbounded directions if the rate is above m (docs/method/verdict.md, 3).
 */
static double decay_rate(const profile *p, const parameter *item, const profile_point *edge,
                         const profile_point *before)
{
  const double from =
      idm_constrain(item->lower, item->upper, p->best.y[p->fixed], NULL, NULL, NULL);
  const double far = idm_constrain(item->lower, item->upper, edge->value, NULL, NULL, NULL);
  const double nearer = idm_constrain(item->lower, item->upper, before->value, NULL, NULL, NULL);
  if (!isfinite(edge->log_likelihood)) return INFINITY;
  const double rate =
      (before->log_likelihood - edge->log_likelihood) / log((far - from) / (nearer - from));
  return isnan(rate) ? 0 : rate;
}

/* The profile towards an end: at the last point of the scan but one, at the last, and with the
 * number held at its limit, if it has one. */
typedef struct tail {
  bool exact;
  double log_likelihood[3];
  double rate;
} tail;

static idm_status evaluate_tail(const parameter *item, profile *p, const scan *s, int side,
                                double limit, tail *t, idm_error *opt_error)
{
  const size_t last = side ? s->count - 1 : 0;
  const size_t next = s->count < 2 ? last : side ? last - 1 : 1;
  profile_point *at = idm_profile_points_create(3, p->dimension);
  if (!at) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  p->at_limit = true;
  idm_matching_set_exact(p->matching, true);
  for (int k = 0; k < 2 + t->exact && status == IDM_OK; k++) {
    const profile_point *from = k == 2 ? &at[1] : &s->profile_point[k ? last : next];
    at[k].value = from->value;
    if (k == 2) idm_matching_fix(p->matching, item, limit);
    status = idm_profile_at(p, from, NULL, &at[k], opt_error);
  }
  idm_matching_fix(p->matching, NULL, 0);
  idm_matching_set_exact(p->matching, false);
  p->at_limit = false;
  for (int k = 0; k < 3; k++) t->log_likelihood[k] = at[k].log_likelihood;
  t->rate = decay_rate(p, item, &at[1], &at[0]);
  free(at);
  return status;
}

/* Compute the fall of the profile towards a limit and, under an improper prior, whether the
 * posterior is proper; for that the proper priors of the other numbers are included, since they
 * bound how far those can follow. */
static idm_status assess_limit(const parameter *item, profile *p, const scan *s, int side,
                               idm_identification *id, idm_error *opt_error)
{
  const idm_parameters *parameters = p->f->parameters;
  const idm_block_info *info = parameters->theta->block[item->block].info;
  const double required_rate = (double)unbounded_numbers(parameters) + 0.5;
  tail t;
  id->limit[side] = natural_limit(info, item, side, &p->windows[item->first], &t.exact);
  id->proper[side] = bounded_by_prior(item, side);
  id->improper[side] = false;
  p->ceiling = p->best.log_likelihood;
  idm_status status = evaluate_tail(item, p, s, side, id->limit[side], &t, opt_error);
  if (status != IDM_OK) return status;
  const bool inside = t.log_likelihood[1] >= p->best.log_likelihood - idm_profile_drop;
  const bool level = !t.exact || inside || t.rate < 1;
  id->gap[side] = fmax(0, p->best.log_likelihood -
                              fmax(t.log_likelihood[2], level ? t.log_likelihood[1] : -INFINITY));
  if (id->proper[side]) return IDM_OK;
  double with_priors;
  p->with_priors = true;
  p->ceiling = INFINITY;
  status = idm_profile_evaluate(p, p->best.y, &with_priors, opt_error);
  p->ceiling = with_priors +
               100; /* exceeds the contribution of the priors: the ceiling only saves evaluations */
  if (status == IDM_OK) status = evaluate_tail(item, p, s, side, id->limit[side], &t, opt_error);
  p->with_priors = false;
  if (status != IDM_OK) return status;
  id->improper[side] = isfinite(t.log_likelihood[2]) || t.rate < required_rate;
  return IDM_OK;
}

/* --- intervals ------------------------------------------------------------------------------ */

/* Mark a side as unbounded if its limit is within the drop, even if the scan fell below the drop
 * before. */
static void mark_open_ends(const scan *s, const idm_identification *id, double (*region)[2],
                           size_t *regions)
{
  for (int side = 0; side < 2; side++) {
    if (id->gap[side] > idm_profile_drop) continue;
    if (*regions && isinf(region[side ? *regions - 1 : 0][side])) continue;
    const double edge = s->profile_point[side ? s->count - 1 : 0].value;
    if (*regions == IDM_MAX_REGIONS) {
      region[side ? *regions - 1 : 0][side] = side ? INFINITY : -INFINITY;
      continue;
    }
    if (!side) memmove(region + 1, region, *regions * sizeof *region);
    double *added = region[side ? *regions : 0];
    added[side] = side ? INFINITY : -INFINITY;
    added[!side] = edge;
    ++*regions;
  }
}

static void report_regions(const parameter *item, const profile *p, const scan *s,
                           idm_identification *id)
{
  double region[IDM_MAX_REGIONS][2];
  size_t regions = s->regions;
  memcpy(region, s->region, sizeof region);
  mark_open_ends(s, id, region, &regions);
  id->regions = regions;
  for (size_t i = 0; i < regions; i++)
    for (int side = 0; side < 2; side++)
      id->region[i][side] = idm_parameter_reported_at(item, region[i][side]);
  id->low = id->region[0][0];
  id->high = id->region[regions - 1][1];
  id->maximum = idm_parameter_reported_at(item, p->best.y[item->first]);
}

static double contraction(const check_context *q, const parameter *item)
{
  const double prior = idm_prior_sd(item->prior);
  const size_t count = q->posterior->chains * q->posterior->draws;
  if (!isfinite(prior) || count < 2) return NAN;
  idm_welford draws = {0};
  for (size_t i = 0; i < count; i++) idm_welford_add(&draws, idm_context_coordinate(q, item, i));
  return 1 - idm_welford_variance(&draws) / (prior * prior);
}

/* --- result ---------------------------------------------------------------------------------- */

idm_status idm_profile_bounds(const check_context *q, const parameter *item, profile *p,
                              const scan *s, idm_identification *id, idm_error *opt_error)
{
  for (int side = 0; side < 2; side++) {
    const idm_status status = assess_limit(item, p, s, side, id, opt_error);
    if (status != IDM_OK) return status;
  }
  id->quantity = idm_parameter_reported(item);
  id->contraction = contraction(q, item);
  id->unchecked = p->left <= 0;
  report_regions(item, p, s, id);
  idm_identification_sentence(q, item, id);
  return IDM_OK;
}

/* === region ================================================================================= */

/* Scan of a profile over its window, and the ends of the regions within the drop.
 *
 * Contents: storage · the grid · the scan · additional points · one-dimensional profiles · ends ·
 * regions */

/* Capacity of a scan: points of the grid, and additional ones. */
enum { max_per_side = 60, max_points = 2 * max_per_side + 120 };
/* A point this far above the drop is inside; its search stops. */
static const double ceiling_margin = 0.5;

/* --- storage -------------------------------------------------------------------------------- */

idm_status idm_scan_create(size_t dimension, scan *s, idm_error *opt_error)
{
  *s = (scan){.capacity = max_points,
              .profile_point = idm_profile_points_create(max_points, dimension)};
  return s->profile_point ? IDM_OK : idm_fail_memory(opt_error);
}

void idm_scan_destroy(scan *s)
{
  free(s->profile_point);
}

/* Insert a point with this value, in order; NULL if the scan is full. */
static profile_point *insert(scan *s, double value)
{
  if (s->count == s->capacity) return NULL;
  size_t at = s->count;
  double *y = s->profile_point[s->count].y;
  while (at > 0 && s->profile_point[at - 1].value > value) {
    s->profile_point[at] = s->profile_point[at - 1];
    at--;
  }
  s->profile_point[at] = (profile_point){value, -INFINITY, y};
  s->count++;
  return &s->profile_point[at];
}

/* --- the grid ------------------------------------------------------------------------------- */

/* Distances from the maximum to evaluate on one side, ascending: growing steps; in a window that is
 * wide relative to the unit, a few multiples of the unit around 0; and the end of the window.
 * Returns their number. */
static size_t make_grid(const search_window *w, double from, double step, int side, bool fine,
                        double *distance)
{
  const double end = side ? w->high - from : from - w->low;
  const double width = w->high - w->low;
  const bool linear = idm_window_is_linear(w);
  const double max_step = linear ? width : width / 12;
  const double ratio = fine ? 2 : 4;
  size_t count = 0;
  double at = fmin(fmax(step, 1e-12 * width), max_step);
  while (at < 0.99 * end && count + 12 < max_per_side) {
    distance[count++] = at;
    at = fmin(ratio * at, at + max_step);
  }
  const double unit = 100 * w->unit;
  for (int k = -2; fine && linear && k <= 2; k++)
    for (int sign = -1; sign <= 1; sign += 2) {
      const double there = (side ? 1 : -1) * (sign * unit * pow(8, k) - from);
      if (there > step && there < end) distance[count++] = there;
    }
  if (end > 0) distance[count++] = end;
  idm_sort(distance, count);
  return count;
}

/* --- the scan ------------------------------------------------------------------------------- */

static double level_of(const profile *p)
{
  return p->best.log_likelihood - idm_profile_drop;
}

static bool inside(const profile *p, const profile_point *at)
{
  return at->log_likelihood >= level_of(p);
}

/* Scan from the maximum outwards, each point from the one before it. */
static idm_status scan_outwards(profile *p, int side, bool fine, scan *s, idm_error *opt_error)
{
  double distance[max_per_side];
  const double from = p->best.y[p->fixed];
  const double sign = side ? 1 : -1;
  const size_t count =
      make_grid(&p->windows[p->fixed], from, p->step[p->fixed], side, fine, distance);
  idm_status status = IDM_OK;
  int lost = 0;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    if (p->frugal && lost > 1 && i + 1 < count)
      continue; /* far below the drop: only the end of the window is evaluated */
    profile_point *to = insert(s, from + sign * distance[i]);
    if (!to) break;
    const size_t at = (size_t)(to - s->profile_point);
    status = idm_profile_at(p, side ? to - 1 : to + 1, NULL, &s->profile_point[at], opt_error);
    lost = s->profile_point[at].log_likelihood < level_of(p) - 50 ? lost + 1 : 0;
  }
  return status;
}

/* Scan back from the end: restart a point from its outer neighbour if that has a higher value here.
 */
static idm_status scan_inwards(profile *p, int side, scan *s, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t k = 1; k < s->count && status == IDM_OK && p->dimension > 1; k++) {
    const size_t i = side ? s->count - 1 - k : k;
    profile_point *here = &s->profile_point[i];
    const profile_point *outer = side ? here + 1 : here - 1;
    if (side ? here->value < p->best.value : here->value > p->best.value) break;
    if (here->log_likelihood >= p->ceiling || !isfinite(outer->log_likelihood)) continue;
    profile_point *to = &p->start[0];
    double log_likelihood;
    idm_profile_point_copy(outer, p->dimension, to);
    to->y[p->fixed] = here->value;
    status = idm_profile_evaluate(p, to->y, &log_likelihood, opt_error);
    if (status != IDM_OK || !(log_likelihood > here->log_likelihood + 1e-3)) continue;
    to->value = here->value;
    to->log_likelihood = log_likelihood;
    status = idm_profile_maximise(p, to, opt_error);
    if (status == IDM_OK) idm_profile_point_copy(to, p->dimension, here);
  }
  return status;
}

idm_status idm_scan_run(profile *p, bool fine, scan *s, idm_error *opt_error)
{
  s->count = 0;
  p->ceiling = level_of(p) + ceiling_margin;
  p->best.value = p->best.y[p->fixed];
  idm_profile_point_copy(&p->best, p->dimension, insert(s, p->best.value));
  idm_status status = IDM_OK;
  for (int side = 0; side < 2 && status == IDM_OK; side++) {
    status = scan_outwards(p, side, fine, s, opt_error);
    if (status == IDM_OK) status = scan_inwards(p, side, s, opt_error);
  }
  return status;
}

/* A point this close below the drop is rechecked: there may be a higher maximum over the other
 * numbers. */
static const double doubt_margin = 4;

static bool is_doubtful(const profile *p, const profile_point *at)
{
  return !inside(p, at) && at->log_likelihood > level_of(p) - doubt_margin;
}

static idm_status recheck_points(profile *p, scan *s, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < s->count && status == IDM_OK; i++)
    if (is_doubtful(p, &s->profile_point[i]))
      status = idm_profile_escape(p, &s->profile_point[i], opt_error);
  return status;
}

/* --- additional points ----------------------------------------------------------------------- */

/* Insert the profile at a value, started from its two neighbours in the scan, or from opt_start. */
static idm_status add_point(profile *p, scan *s, double value, const profile_point *opt_start,
                            idm_error *opt_error)
{
  profile_point *to = insert(s, value);
  if (!to) return IDM_OK;
  const size_t i = (size_t)(to - s->profile_point);
  const profile_point *below = i > 0 ? to - 1 : NULL;
  const profile_point *above = i + 1 < s->count ? to + 1 : NULL;
  return idm_profile_at(p, opt_start ? opt_start : below, opt_start ? NULL : above, to, opt_error);
}

/* Add points between neighbours inside the drop, which may hide a gap, and around a local maximum
 * just below the drop, which may hide a region. */
static idm_status refine_gaps(profile *p, scan *s, idm_error *opt_error)
{
  double value[max_points];
  size_t count = 0;
  for (size_t i = 0; i + 1 < s->count; i++) {
    const profile_point *a = &s->profile_point[i];
    const bool is_maximum = i > 0 && is_doubtful(p, a) &&
                            a->log_likelihood >= a[1].log_likelihood &&
                            a->log_likelihood >= a[-1].log_likelihood;
    if (is_maximum) value[count++] = (a[-1].value + a->value) / 2;
    if (is_maximum || (!p->frugal && inside(p, a) && inside(p, a + 1)))
      value[count++] = (a->value + a[1].value) / 2;
  }
  idm_status status = IDM_OK;
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    status = add_point(p, s, value[i], NULL, opt_error);
  return status;
}

/* --- one-dimensional profiles ---------------------------------------------------------------- */

/* With one free number, an evaluation is a point of the profile: the window (of linear windows the
 * values within 400 units of 0) is evaluated on a fine grid, and the highest local maxima are
 * refined. */
enum { fine_grid_points = 400, max_maxima = 12, ternary_steps = 24 };

static idm_status height_at(profile *p, double value, double *log_likelihood, idm_error *opt_error)
{
  return idm_profile_evaluate(p, &value, log_likelihood, opt_error);
}

/* Find the maximum between low and high, where the profile is unimodal, by ternary search. */
static idm_status ternary_search(profile *p, double low, double high, double *top,
                                 idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (int k = 0; k < ternary_steps && status == IDM_OK; k++) {
    const double third = (high - low) / 3;
    double left, right;
    status = height_at(p, low + third, &left, opt_error);
    if (status == IDM_OK) status = height_at(p, high - third, &right, opt_error);
    if (status != IDM_OK) break;
    if (left < right)
      low += third;
    else
      high -= third;
  }
  *top = (low + high) / 2;
  return status;
}

/* Index of the highest local maximum of the grid that was not taken yet; 0 if there is none. */
static size_t next_maximum(const double *log_likelihood, const bool *taken)
{
  size_t best = 0;
  for (size_t i = 1; i + 1 < fine_grid_points; i++)
    if (!taken[i] && log_likelihood[i] > log_likelihood[i - 1] &&
        log_likelihood[i] >= log_likelihood[i + 1] &&
        (!best || log_likelihood[i] > log_likelihood[best]))
      best = i;
  return best;
}

static idm_status scan_fine_grid(profile *p, scan *s, idm_error *opt_error)
{
  const search_window *w = &p->windows[p->fixed];
  const double half_width = idm_window_is_linear(w) ? 400 * w->unit : INFINITY;
  const double low = fmax(w->low, -half_width), high = fmin(w->high, half_width);
  const double step = (high - low) / (fine_grid_points - 1);
  double log_likelihood[fine_grid_points];
  bool taken[fine_grid_points] = {false};
  idm_status status = IDM_OK;
  if (p->left < 4 * fine_grid_points) return IDM_OK;
  for (size_t i = 0; i < fine_grid_points && status == IDM_OK; i++)
    status = height_at(p, low + (double)i * step, &log_likelihood[i], opt_error);
  for (int k = 0; k < max_maxima && status == IDM_OK; k++) {
    const size_t i = next_maximum(log_likelihood, taken);
    double top;
    if (!i) break;
    taken[i] = true;
    const double at = low + (double)i * step;
    status = ternary_search(p, at - step, at + step, &top, opt_error);
    if (status == IDM_OK) status = add_point(p, s, top, NULL, opt_error);
  }
  return status;
}

/* --- ends ----------------------------------------------------------------------------------- */

/* Signed distance from the drop, on the scale on which a normal likelihood is linear. */
static double signed_root_drop(const profile *p, double log_likelihood)
{
  if (!isfinite(log_likelihood)) return 1e3;
  return sqrt(2 * fmax(0, p->best.log_likelihood - log_likelihood)) - sqrt(2 * idm_profile_drop);
}

/* A bracket around an end: the point inside, the point outside, and one between. */
typedef struct bracket {
  profile_point *inner;
  profile_point *outer;
  profile_point *middle;
} bracket;

/* Narrow a bracket to the value at which the profile crosses the drop, stored in middle->value.
 * Each step starts from the point inside. */
static idm_status refine_bracket(profile *p, bracket *b, idm_error *opt_error)
{
  enum { max_halvings = 40 };
  for (int i = 0; i < max_halvings; i++) {
    const double in = signed_root_drop(p, b->inner->log_likelihood);
    const double out = signed_root_drop(p, b->outer->log_likelihood);
    /* Regula falsi near the end, kept away from the ends of the bracket. */
    const bool is_close = b->inner->log_likelihood < p->ceiling && out < 2;
    const double part = is_close ? fmin(fmax(-in / (out - in), 0.1), 0.9) : 0.5;
    const double width = b->outer->value - b->inner->value;
    b->middle->value = b->inner->value + part * width;
    if (fabs(width) <= 1e-6 * fabs(b->middle->value - p->best.value)) break;
    const idm_status status = idm_profile_at(p, b->inner, b->outer, b->middle, opt_error);
    if (status != IDM_OK || fabs(signed_root_drop(p, b->middle->log_likelihood)) < 1e-3)
      return status;
    idm_profile_point_copy(b->middle, p->dimension, inside(p, b->middle) ? b->inner : b->outer);
  }
  return IDM_OK;
}

/* Find the end of a region between a point inside and one outside. If points inside are found up to
 * the one outside, the search at that one had stalled: it is recomputed, and *corrected is true if
 * it is inside. */
static idm_status find_end(profile *p, const profile_point *in, profile_point *out, double *ret_end,
                           bool *corrected, idm_error *opt_error)
{
  profile_point *work = idm_profile_points_create(4, p->dimension);
  if (!work) return idm_fail_memory(opt_error);
  bracket b = {&work[0], &work[1], &work[2]};
  profile_point *again = &work[3];
  idm_profile_point_copy(in, p->dimension, b.inner);
  idm_profile_point_copy(out, p->dimension, b.outer);
  idm_status status = refine_bracket(p, &b, opt_error);
  *ret_end = b.middle->value;
  if (status == IDM_OK && b.outer->value == out->value) {
    again->value = out->value;
    status = idm_profile_at(p, b.inner, NULL, again, opt_error);
    if (status == IDM_OK && inside(p, again)) {
      idm_profile_point_copy(again, p->dimension, out);
      *corrected = true;
    }
  }
  free(work);
  return status;
}

/* --- regions -------------------------------------------------------------------------------- */

/* Add a region; if there is no room, the last region is extended. */
static void add_region(scan *s, double low, double high)
{
  if (s->regions == IDM_MAX_REGIONS) {
    s->region[IDM_MAX_REGIONS - 1][1] = high;
    return;
  }
  s->region[s->regions][0] = low;
  s->region[s->regions++][1] = high;
}

static idm_status collect_regions(profile *p, scan *s, bool *corrected, idm_error *opt_error)
{
  double low = NAN;
  idm_status status = IDM_OK;
  s->regions = 0;
  for (size_t i = 0; i < s->count && status == IDM_OK && !*corrected; i++) {
    const profile_point *at = &s->profile_point[i];
    if (!inside(p, at)) continue;
    if (i == 0) low = -INFINITY;
    if (i > 0 && !inside(p, at - 1))
      status = find_end(p, at, &s->profile_point[i - 1], &low, corrected, opt_error);
    double high = INFINITY;
    if (i + 1 < s->count && inside(p, at + 1)) continue;
    if (status == IDM_OK && !*corrected && i + 1 < s->count)
      status = find_end(p, at, &s->profile_point[i + 1], &high, corrected, opt_error);
    if (status == IDM_OK) add_region(s, low, high);
  }
  return status;
}

/* Repeat whenever a point was corrected, which happens at most once to each. */
static idm_status find_regions(profile *p, scan *s, idm_error *opt_error)
{
  bool corrected = true;
  idm_status status = IDM_OK;
  while (corrected && status == IDM_OK) {
    corrected = false;
    status = collect_regions(p, s, &corrected, opt_error);
  }
  return status;
}

bool idm_regions_contain(size_t count, const double *end, double value)
{
  for (size_t i = 0; i < count; i++) {
    const double low = fmin(end[2 * i], end[2 * i + 1]), high = fmax(end[2 * i], end[2 * i + 1]);
    const double slack = isfinite(high - low) ? 5e-3 * (high - low) : 1e-2 * fabs(value);
    if (value >= low - slack && value <= high + slack) return true;
  }
  return false;
}

/* The highest additional point that is within the drop and in no region; NULL if there is none. */
static const profile_point *find_missed(const profile *p, const profile_point *extra_points,
                                        size_t count, const scan *s)
{
  const profile_point *missed = NULL;
  for (size_t i = 0; i < count; i++)
    if (extra_points[i].log_likelihood >= level_of(p) + 0.01 &&
        !idm_regions_contain(s->regions, s->region[0], extra_points[i].y[p->fixed]) &&
        (!missed || extra_points[i].log_likelihood > missed->log_likelihood))
      missed = &extra_points[i];
  return missed;
}

/* Evaluate points slightly beyond each end, rechecking them. *found is true if one is inside the
 * drop. */
static idm_status probe_beyond_ends(profile *p, scan *s, bool *found, idm_error *opt_error)
{
  static const double probe_fraction = 0.03;
  const size_t regions = s->regions;
  double region[IDM_MAX_REGIONS][2];
  idm_status status = IDM_OK;
  *found = false;
  memcpy(region, s->region, sizeof region);
  for (size_t i = 0; i < 2 * regions && status == IDM_OK; i++) {
    const double end = region[i / 2][i % 2];
    const double value = end + probe_fraction * (end - p->best.value);
    if (!isfinite(end) || (value > p->best.value) != (i % 2)) continue;
    if (!(value > p->windows[p->fixed].low && value < p->windows[p->fixed].high)) continue;
    profile_point *to = insert(s, value);
    if (!to) break;
    const size_t at = (size_t)(to - s->profile_point);
    const profile_point *inner = i % 2 ? (at ? to - 1 : NULL) : (at + 1 < s->count ? to + 1 : NULL);
    status = idm_profile_at(p, inner, NULL, to, opt_error);
    if (status == IDM_OK && is_doubtful(p, to)) status = idm_profile_escape(p, to, opt_error);
    *found |= inside(p, to);
  }
  return status;
}

idm_status idm_scan_regions(profile *p, const profile_point *extra_points, size_t count, scan *s,
                            idm_error *opt_error)
{
  enum { max_rounds = 4 };
  idm_status status = IDM_OK;
  if (p->dimension == 1 && !p->frugal) status = scan_fine_grid(p, s, opt_error);
  if (status == IDM_OK) status = refine_gaps(p, s, opt_error);
  if (status == IDM_OK) status = recheck_points(p, s, opt_error);
  if (status == IDM_OK) status = find_regions(p, s, opt_error);
  for (int round = 0; round < max_rounds && status == IDM_OK; round++) {
    bool found = false;
    status = probe_beyond_ends(p, s, &found, opt_error);
    const profile_point *missed = find_missed(p, extra_points, count, s);
    if (status != IDM_OK || (!missed && !found)) break;
    if (missed) status = add_point(p, s, missed->y[p->fixed], missed, opt_error);
    if (status == IDM_OK) status = find_regions(p, s, opt_error);
  }
  return status;
}
