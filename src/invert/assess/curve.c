/* A profile as a curve: outwards from the maximum, and back where a climb had stalled. */
#include "invert/assess/curve.h"

#include <math.h>
#include <stdlib.h>

/* Where a curve begins and ends: a third of the way beyond the ends of the regions; where the data
 * do not bound them, some steps beyond the maximum. */
static void curve_ends(const profile *p, const scan *s, double end[2])
{
  static const double beyond = 1.35, steps = 12;
  const window *where = &p->where[p->fixed];
  const double from = p->best.y[p->fixed];
  for (int side = 0; side < 2; side++) {
    const double found = s->regions ? s->region[side ? s->regions - 1 : 0][side] : INFINITY;
    end[side] = isfinite(found) ? from + beyond * (found - from)
                                : from + (side ? steps : -steps) * p->step[p->fixed];
    end[side] = fmin(fmax(end[side], where->low), where->high);
  }
}

/* A place again, from its neighbours on both sides, where the outer one is higher. */
static idm_status look_again(profile *p, place *at, place *work, idm_error *opt_error)
{
  if (!(at[1].height > at->height + 1e-3)) return IDM_OK;
  work->value = at->value;
  const idm_status status = idm_profile_at(p, at - 1, at + 1, work, opt_error);
  if (status == IDM_OK && work->height > at->height) idm_place_copy(work, p->dimension, at);
  return status;
}

/* The nearest place of the scan that lies beyond a value, as seen from the maximum; NULL where none
 * does. */
static const place *next_beyond(const scan *s, double from, double value)
{
  const place *found = NULL;
  for (size_t i = 0; i < s->count; i++) {
    const place *at = &s->place[i];
    const bool beyond = value < from ? at->value < value : at->value > value;
    if (beyond && (!found || fabs(at->value - value) < fabs(found->value - value))) found = at;
  }
  return found;
}

/* The profile from the maximum, along[0], outwards, each of `count` places from the one before it
 * and from the scan's next one, which has met other maxima of the others; and back, where a climb
 * had stalled. Behind them there is room for one more. */
static idm_status trace_side(profile *p, const scan *s, double end, size_t count, place *along,
                             idm_error *opt_error)
{
  idm_status status = IDM_OK;
  const double from = p->best.y[p->fixed];
  idm_place_copy(&p->best, p->dimension, &along[0]);
  along[0].value = from;
  for (size_t i = 1; i <= count && status == IDM_OK; i++) {
    along[i].value = from + (end - from) * (double)i / (double)count;
    status = idm_profile_at(p, &along[i - 1], next_beyond(s, from, along[i].value), &along[i],
                            opt_error);
  }
  for (size_t i = count - 1; i > 0 && status == IDM_OK; i--)
    status = look_again(p, &along[i], &along[count + 1], opt_error);
  return status;
}

/* Fewer points where an evaluation takes long: a curve is looked at, and nothing hangs on it. One
 * that would take too many evaluations is left out. */
idm_status idm_profile_trace(const parameter *item, profile *p, const scan *s,
                             idm_identification *to, idm_error *opt_error)
{
  const size_t half = p->frugal ? 8 : IDM_PROFILE_POINTS / 2;
  double end[2];
  place *along = idm_places_create(half + 2, p->dimension);
  idm_status status = along ? IDM_OK : idm_fail_memory(opt_error);
  p->enough = INFINITY;
  p->left = 400 * (long)half;
  curve_ends(p, s, end);
  for (int side = 0; side < 2 && status == IDM_OK; side++) {
    status = trace_side(p, s, end[side], half, along, opt_error);
    for (size_t i = 0; i <= half && status == IDM_OK; i++) {
      const size_t at = side ? half + i : half - i;
      to->value[at] = idm_parameter_reported_at(item, along[i].value);
      to->drop[at] = along[i].height - p->best.height;
    }
  }
  to->points = status == IDM_OK && p->left > 0 ? 2 * half + 1 : 0;
  free(along);
  return status;
}
