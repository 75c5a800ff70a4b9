/* What the profile of one free number comes to.
 *
 * Contents: limits · intervals · all of it */
#include "invert/assess/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/moments.h"
#include "idm/prior.h"
#include "idm/transform.h"
#include "invert/assess/sentence.h"
#include "invert/matching/matching.h"

/* --- limits --------------------------------------------------------------------------------- */

static bool bounded_by_prior(const parameter *item, int side)
{
  return item->prior->kind != IDM_PRIOR_FLAT || isfinite(side ? item->upper : item->lower);
}

/* Free numbers that their priors leave without a bound. */
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

/* The natural value at an end of the scale (side 0: below, 1: above), and whether it is the limit
 * itself. A number without a limit that can be computed gets the end of its window. */
static double limit_of(const idm_block_info *info, const parameter *item, int side,
                       const window *where, bool *exact)
{
  const double end = side ? item->upper : item->lower;
  *exact = true;
  if (isfinite(end)) return idm_scale_from(item->scale, end);
  if (item->scale == IDM_SCALE_INVERSE) return side ? 0.0 : -0.0;
  if (item->scale == IDM_SCALE_LOG && !side) return 0;
  if (item->scale == IDM_SCALE_LOGIT) return side;
  if (info->infinite) return side ? INFINITY : -INFINITY;
  *exact = false;
  return idm_scale_from(
      item->scale,
      idm_constrain(item->lower, item->upper, side ? where->high : where->low, NULL, NULL, NULL));
}

/* How fast the profile falls towards the end of the window, a unit of the logarithm of the distance
 * from the maximum in the prior's coordinate c: a density that falls like c^-rate has a finite
 * integral over m unbounded directions where the rate is above m. */
static double falling_rate(const profile *p, const parameter *item, const place *edge,
                           const place *before)
{
  const double from =
      idm_constrain(item->lower, item->upper, p->best.y[p->fixed], NULL, NULL, NULL);
  const double far = idm_constrain(item->lower, item->upper, edge->value, NULL, NULL, NULL);
  const double nearer = idm_constrain(item->lower, item->upper, before->value, NULL, NULL, NULL);
  if (!isfinite(edge->height)) return INFINITY;
  const double rate = (before->height - edge->height) / log((far - from) / (nearer - from));
  return isnan(rate) ? 0 : rate;
}

/* The profile towards an end: at the last place of the scan but one, at the last, and with the
 * number held at its limit, where it has one. */
typedef struct tail {
  bool exact;
  double height[3];
  double rate;
} tail;

static idm_status follow_tail(const parameter *item, profile *p, const scan *s, int side,
                              double limit, tail *t, idm_error *opt_error)
{
  const size_t last = side ? s->count - 1 : 0;
  const size_t next = s->count < 2 ? last : side ? last - 1 : 1;
  place *at = idm_places_create(3, p->dimension);
  if (!at) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  p->aside = true;
  idm_matching_exactly(p->matching, true);
  for (int k = 0; k < 2 + t->exact && status == IDM_OK; k++) {
    const place *from = k == 2 ? &at[1] : &s->place[k ? last : next];
    at[k].value = from->value;
    if (k == 2) idm_matching_hold(p->matching, item, limit);
    status = idm_profile_at(p, from, NULL, &at[k], opt_error);
  }
  idm_matching_hold(p->matching, NULL, 0);
  idm_matching_exactly(p->matching, false);
  p->aside = false;
  for (int k = 0; k < 3; k++) t->height[k] = at[k].height;
  t->rate = falling_rate(p, item, &at[1], &at[0]);
  free(at);
  return status;
}

/* How far the profile falls, and under an improper prior whether the posterior has an integral:
 * then the proper priors of the others count too, which keep them from going along for ever. */
static idm_status measure_limit(const parameter *item, profile *p, const scan *s, int side,
                                idm_identification *id, idm_error *opt_error)
{
  const idm_parameters *parameters = p->f->parameters;
  const idm_block_info *info = parameters->theta->block[item->block].info;
  const double needed = (double)unbounded_numbers(parameters) + 0.5;
  tail t;
  id->limit[side] = limit_of(info, item, side, &p->where[item->first], &t.exact);
  id->proper[side] = bounded_by_prior(item, side);
  id->improper[side] = false;
  p->enough = p->best.height;
  idm_status status = follow_tail(item, p, s, side, id->limit[side], &t, opt_error);
  if (status != IDM_OK) return status;
  const bool inside = t.height[1] >= p->best.height - idm_profile_drop;
  const bool level = !t.exact || inside || t.rate < 1;
  id->gap[side] = fmax(0, p->best.height - fmax(t.height[2], level ? t.height[1] : -INFINITY));
  if (id->proper[side]) return IDM_OK;
  double weighed;
  p->weighed = true;
  p->enough = INFINITY;
  status = idm_profile_height(p, p->best.y, &weighed, opt_error);
  p->enough = weighed + 100; /* more than the priors will add: a level top only saves work */
  if (status == IDM_OK) status = follow_tail(item, p, s, side, id->limit[side], &t, opt_error);
  p->weighed = false;
  if (status != IDM_OK) return status;
  id->improper[side] = isfinite(t.height[2]) || t.rate < needed;
  return IDM_OK;
}

/* --- intervals ------------------------------------------------------------------------------ */

/* A limit within the drop leaves its side open, also where the scan fell below the drop before. */
static void open_ends(const scan *s, const idm_identification *id, double (*region)[2],
                      size_t *regions)
{
  for (int side = 0; side < 2; side++) {
    if (id->gap[side] > idm_profile_drop) continue;
    if (*regions && isinf(region[side ? *regions - 1 : 0][side])) continue;
    const double edge = s->place[side ? s->count - 1 : 0].value;
    if (*regions == IDM_MOST_REGIONS) {
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
  double region[IDM_MOST_REGIONS][2];
  size_t regions = s->regions;
  memcpy(region, s->region, sizeof region);
  open_ends(s, id, region, &regions);
  id->regions = regions;
  for (size_t i = 0; i < regions; i++)
    for (int side = 0; side < 2; side++)
      id->region[i][side] = idm_parameter_reported_at(item, region[i][side]);
  id->low = id->region[0][0];
  id->high = id->region[regions - 1][1];
  id->maximum = idm_parameter_reported_at(item, p->best.y[item->first]);
}

static double contraction(const inquiry *q, const parameter *item)
{
  const double prior = idm_prior_sd(item->prior);
  const size_t count = q->posterior->chains * q->posterior->draws;
  if (!isfinite(prior) || count < 2) return NAN;
  idm_welford draws = {0};
  for (size_t i = 0; i < count; i++) idm_welford_add(&draws, idm_inquiry_coordinate(q, item, i));
  return 1 - idm_welford_variance(&draws) / (prior * prior);
}

/* --- all of it ------------------------------------------------------------------------------ */

idm_status idm_bound(const inquiry *q, const parameter *item, profile *p, const scan *s,
                     idm_identification *id, idm_error *opt_error)
{
  for (int side = 0; side < 2; side++) {
    const idm_status status = measure_limit(item, p, s, side, id, opt_error);
    if (status != IDM_OK) return status;
  }
  id->quantity = idm_parameter_reported(item);
  id->contraction = contraction(q, item);
  id->unchecked = p->left <= 0;
  report_regions(item, p, s, id);
  idm_identification_sentence(q, item, id);
  return IDM_OK;
}
