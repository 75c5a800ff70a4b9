/* Scanning a profile from end to end, and the ends of the regions within the drop.
 *
 * Contents: storage · the grid · the scan · further places · one number alone · ends · regions */
#include "invert/assess/region.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/quantile.h"

/* Places of a scan: of the grid, and further ones. */
enum { most_on_side = 60, most_places = 2 * most_on_side + 120 };
/* A place this far above the drop is inside, and need not be climbed any further. */
static const double clearly = 0.5;

/* --- storage -------------------------------------------------------------------------------- */

idm_status idm_scan_create(size_t dimension, scan *s, idm_error *opt_error)
{
  *s = (scan){.most = most_places, .place = idm_places_create(most_places, dimension)};
  return s->place ? IDM_OK : idm_fail_memory(opt_error);
}

void idm_scan_destroy(scan *s)
{
  free(s->place);
}

/* Room for a place with this value, in order; NULL where there is none. */
static place *insert(scan *s, double value)
{
  if (s->count == s->most) return NULL;
  size_t at = s->count;
  double *y = s->place[s->count].y;
  while (at > 0 && s->place[at - 1].value > value) {
    s->place[at] = s->place[at - 1];
    at--;
  }
  s->place[at] = (place){value, -INFINITY, y};
  s->count++;
  return &s->place[at];
}

/* --- the grid ------------------------------------------------------------------------------- */

/* Distances from the maximum to look at on one side, ascending: steps that grow, a few multiples of
 * the unit around 0 in a window that is wide beside it, and the end of the window. */
static size_t make_grid(const window *w, double from, double step, int side, bool fine,
                        double *distance)
{
  const double end = side ? w->high - from : from - w->low;
  const double width = w->high - w->low;
  const bool linear = idm_window_is_linear(w);
  const double longest = linear ? width : width / 12;
  const double ratio = fine ? 2 : 4;
  size_t count = 0;
  double at = fmin(fmax(step, 1e-12 * width), longest);
  while (at < 0.99 * end && count + 12 < most_on_side) {
    distance[count++] = at;
    at = fmin(ratio * at, at + longest);
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
  return p->best.height - idm_profile_drop;
}

static bool inside(const profile *p, const place *at)
{
  return at->height >= level_of(p);
}

/* From the maximum outwards, each place from the one before it. */
static idm_status go_out(profile *p, int side, bool fine, scan *s, idm_error *opt_error)
{
  double distance[most_on_side];
  const double from = p->best.y[p->fixed];
  const double sign = side ? 1 : -1;
  const size_t count =
      make_grid(&p->where[p->fixed], from, p->step[p->fixed], side, fine, distance);
  idm_status status = IDM_OK;
  int lost = 0;
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    if (p->frugal && lost > 1 && i + 1 < count) continue; /* far below: only the end is left */
    place *to = insert(s, from + sign * distance[i]);
    if (!to) break;
    const size_t at = (size_t)(to - s->place);
    status = idm_profile_at(p, side ? to - 1 : to + 1, NULL, &s->place[at], opt_error);
    lost = s->place[at].height < level_of(p) - 50 ? lost + 1 : 0;
  }
  return status;
}

/* Back from the end: where what was found farther out is better here than what was found here. */
static idm_status come_back(profile *p, int side, scan *s, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t k = 1; k < s->count && status == IDM_OK && p->dimension > 1; k++) {
    const size_t i = side ? s->count - 1 - k : k;
    place *here = &s->place[i];
    const place *outer = side ? here + 1 : here - 1;
    if (side ? here->value < p->best.value : here->value > p->best.value) break;
    if (here->height >= p->enough || !isfinite(outer->height)) continue;
    place *to = &p->start[0];
    double height;
    idm_place_copy(outer, p->dimension, to);
    to->y[p->fixed] = here->value;
    status = idm_profile_height(p, to->y, &height, opt_error);
    if (status != IDM_OK || !(height > here->height + 1e-3)) continue;
    to->value = here->value;
    to->height = height;
    status = idm_profile_climb(p, to, opt_error);
    if (status == IDM_OK) idm_place_copy(to, p->dimension, here);
  }
  return status;
}

idm_status idm_scan_run(profile *p, bool fine, scan *s, idm_error *opt_error)
{
  s->count = 0;
  p->enough = level_of(p) + clearly;
  p->best.value = p->best.y[p->fixed];
  idm_place_copy(&p->best, p->dimension, insert(s, p->best.value));
  idm_status status = IDM_OK;
  for (int side = 0; side < 2 && status == IDM_OK; side++) {
    status = go_out(p, side, fine, s, opt_error);
    if (status == IDM_OK) status = come_back(p, side, s, opt_error);
  }
  return status;
}

/* Places that nearly reach the drop are worth a second look: there may be a higher maximum of the
 * others. */
static const double nearly = 4;

static bool is_doubtful(const profile *p, const place *at)
{
  return !inside(p, at) && at->height > level_of(p) - nearly;
}

static idm_status doubt(profile *p, scan *s, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t i = 0; i < s->count && status == IDM_OK; i++)
    if (is_doubtful(p, &s->place[i])) status = idm_profile_hop(p, &s->place[i], opt_error);
  return status;
}

/* --- further places ------------------------------------------------------------------------- */

/* The profile at a value between two neighbours of the scan, or where opt_start says. */
static idm_status look_at(profile *p, scan *s, double value, const place *opt_start,
                          idm_error *opt_error)
{
  place *to = insert(s, value);
  if (!to) return IDM_OK;
  const size_t i = (size_t)(to - s->place);
  const place *below = i > 0 ? to - 1 : NULL;
  const place *above = i + 1 < s->count ? to + 1 : NULL;
  return idm_profile_at(p, opt_start ? opt_start : below, opt_start ? NULL : above, to, opt_error);
}

/* Between two places inside there may be a gap, and beside a peak outside that nearly reaches the
 * drop a region. */
static idm_status look_between(profile *p, scan *s, idm_error *opt_error)
{
  double value[most_places];
  size_t count = 0;
  for (size_t i = 0; i + 1 < s->count; i++) {
    const place *a = &s->place[i];
    const bool peak =
        i > 0 && is_doubtful(p, a) && a->height >= a[1].height && a->height >= a[-1].height;
    if (peak) value[count++] = (a[-1].value + a->value) / 2;
    if (peak || (!p->frugal && inside(p, a) && inside(p, a + 1)))
      value[count++] = (a->value + a[1].value) / 2;
  }
  idm_status status = IDM_OK;
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    status = look_at(p, s, value[i], NULL, opt_error);
  return status;
}

/* --- one number alone ----------------------------------------------------------------------- */

/* Where a number is alone an evaluation is a place of its profile: all of its window is looked at
 * closely, of values within some units of 0, and the highest peaks are climbed. */
enum { close_places = 400, peaks_climbed = 12, peak_steps = 24 };

static idm_status height_at(profile *p, double value, double *height, idm_error *opt_error)
{
  return idm_profile_height(p, &value, height, opt_error);
}

/* The top between low and high, in which there is one peak, by thirds. */
static idm_status find_top(profile *p, double low, double high, double *top, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (int k = 0; k < peak_steps && status == IDM_OK; k++) {
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

/* The highest place that stands above those beside it and was not taken yet; 0: there is none. */
static size_t next_peak(const double *height, const bool *taken)
{
  size_t best = 0;
  for (size_t i = 1; i + 1 < close_places; i++)
    if (!taken[i] && height[i] > height[i - 1] && height[i] >= height[i + 1] &&
        (!best || height[i] > height[best]))
      best = i;
  return best;
}

static idm_status look_closely(profile *p, scan *s, idm_error *opt_error)
{
  const window *w = &p->where[p->fixed];
  const double reach = idm_window_is_linear(w) ? 400 * w->unit : INFINITY;
  const double low = fmax(w->low, -reach), high = fmin(w->high, reach);
  const double step = (high - low) / (close_places - 1);
  double height[close_places];
  bool taken[close_places] = {false};
  idm_status status = IDM_OK;
  if (p->left < 4 * close_places) return IDM_OK;
  for (size_t i = 0; i < close_places && status == IDM_OK; i++)
    status = height_at(p, low + (double)i * step, &height[i], opt_error);
  for (int k = 0; k < peaks_climbed && status == IDM_OK; k++) {
    const size_t i = next_peak(height, taken);
    double top;
    if (!i) break;
    taken[i] = true;
    const double at = low + (double)i * step;
    status = find_top(p, at - step, at + step, &top, opt_error);
    if (status == IDM_OK) status = look_at(p, s, top, NULL, opt_error);
  }
  return status;
}

/* --- ends ----------------------------------------------------------------------------------- */

/* Signed distance from the drop, on the scale on which a normal likelihood is a straight line. */
static double depth(const profile *p, double height)
{
  if (!isfinite(height)) return 1e3;
  return sqrt(2 * fmax(0, p->best.height - height)) - sqrt(2 * idm_profile_drop);
}

/* A bracket around an end: the place inside, the place outside, and one between. */
typedef struct bracket {
  place *inner;
  place *outer;
  place *middle;
} bracket;

/* Narrow a bracket down on the place where the profile crosses the drop, which is then
 * middle->value. Each step starts from the place inside. */
static idm_status narrow(profile *p, bracket *b, idm_error *opt_error)
{
  enum { most_halvings = 40 };
  for (int i = 0; i < most_halvings; i++) {
    const double in = depth(p, b->inner->height);
    const double out = depth(p, b->outer->height);
    /* Regula falsi near the end, kept off the ends of the bracket. */
    const bool near = b->inner->height < p->enough && out < 2;
    const double part = near ? fmin(fmax(-in / (out - in), 0.1), 0.9) : 0.5;
    const double width = b->outer->value - b->inner->value;
    b->middle->value = b->inner->value + part * width;
    if (fabs(width) <= 1e-6 * fabs(b->middle->value - p->best.value)) break;
    const idm_status status = idm_profile_at(p, b->inner, b->outer, b->middle, opt_error);
    if (status != IDM_OK || fabs(depth(p, b->middle->height)) < 1e-3) return status;
    idm_place_copy(b->middle, p->dimension, inside(p, b->middle) ? b->inner : b->outer);
  }
  return IDM_OK;
}

/* The end of a region between a place inside and one outside. Where places inside are found all the
 * way to the one outside, its climb had stalled: *mended tells that it is inside after all. */
static idm_status find_end(profile *p, const place *in, place *out, double *ret_end, bool *mended,
                           idm_error *opt_error)
{
  place *work = idm_places_create(4, p->dimension);
  if (!work) return idm_fail_memory(opt_error);
  bracket b = {&work[0], &work[1], &work[2]};
  place *again = &work[3];
  idm_place_copy(in, p->dimension, b.inner);
  idm_place_copy(out, p->dimension, b.outer);
  idm_status status = narrow(p, &b, opt_error);
  *ret_end = b.middle->value;
  if (status == IDM_OK && b.outer->value == out->value) {
    again->value = out->value;
    status = idm_profile_at(p, b.inner, NULL, again, opt_error);
    if (status == IDM_OK && inside(p, again)) {
      idm_place_copy(again, p->dimension, out);
      *mended = true;
    }
  }
  free(work);
  return status;
}

/* --- regions -------------------------------------------------------------------------------- */

/* The last region takes in all that there is no room for. */
static void add_region(scan *s, double low, double high)
{
  if (s->regions == IDM_MOST_REGIONS) {
    s->region[IDM_MOST_REGIONS - 1][1] = high;
    return;
  }
  s->region[s->regions][0] = low;
  s->region[s->regions++][1] = high;
}

static idm_status walk_regions(profile *p, scan *s, bool *mended, idm_error *opt_error)
{
  double low = NAN;
  idm_status status = IDM_OK;
  s->regions = 0;
  for (size_t i = 0; i < s->count && status == IDM_OK && !*mended; i++) {
    const place *at = &s->place[i];
    if (!inside(p, at)) continue;
    if (i == 0) low = -INFINITY;
    if (i > 0 && !inside(p, at - 1))
      status = find_end(p, at, &s->place[i - 1], &low, mended, opt_error);
    double high = INFINITY;
    if (i + 1 < s->count && inside(p, at + 1)) continue;
    if (status == IDM_OK && !*mended && i + 1 < s->count)
      status = find_end(p, at, &s->place[i + 1], &high, mended, opt_error);
    if (status == IDM_OK) add_region(s, low, high);
  }
  return status;
}

/* Again whenever a place was mended, which happens at most once to each. */
static idm_status find_regions(profile *p, scan *s, idm_error *opt_error)
{
  bool mended = true;
  idm_status status = IDM_OK;
  while (mended && status == IDM_OK) {
    mended = false;
    status = walk_regions(p, s, &mended, opt_error);
  }
  return status;
}

bool idm_regions_hold(size_t count, const double *end, double value)
{
  for (size_t i = 0; i < count; i++) {
    const double low = fmin(end[2 * i], end[2 * i + 1]), high = fmax(end[2 * i], end[2 * i + 1]);
    const double slack = isfinite(high - low) ? 5e-3 * (high - low) : 1e-2 * fabs(value);
    if (value >= low - slack && value <= high + slack) return true;
  }
  return false;
}

/* The highest of further points that no region covers; NULL where there is none. */
static const place *find_missed(const profile *p, const place *further, size_t count, const scan *s)
{
  const place *missed = NULL;
  for (size_t i = 0; i < count; i++)
    if (further[i].height >= level_of(p) + 0.01 &&
        !idm_regions_hold(s->regions, s->region[0], further[i].y[p->fixed]) &&
        (!missed || further[i].height > missed->height))
      missed = &further[i];
  return missed;
}

/* A little beyond each end, with a second look. *found tells whether a place there is inside after
 * all. */
static idm_status look_beyond(profile *p, scan *s, bool *found, idm_error *opt_error)
{
  static const double little = 0.03;
  const size_t regions = s->regions;
  double region[IDM_MOST_REGIONS][2];
  idm_status status = IDM_OK;
  *found = false;
  memcpy(region, s->region, sizeof region);
  for (size_t i = 0; i < 2 * regions && status == IDM_OK; i++) {
    const double end = region[i / 2][i % 2];
    const double value = end + little * (end - p->best.value);
    if (!isfinite(end) || (value > p->best.value) != (i % 2)) continue;
    if (!(value > p->where[p->fixed].low && value < p->where[p->fixed].high)) continue;
    place *to = insert(s, value);
    if (!to) break;
    const size_t at = (size_t)(to - s->place);
    const place *inner = i % 2 ? (at ? to - 1 : NULL) : (at + 1 < s->count ? to + 1 : NULL);
    status = idm_profile_at(p, inner, NULL, to, opt_error);
    if (status == IDM_OK && is_doubtful(p, to)) status = idm_profile_hop(p, to, opt_error);
    *found |= inside(p, to);
  }
  return status;
}

idm_status idm_scan_regions(profile *p, const place *further, size_t count, scan *s,
                            idm_error *opt_error)
{
  enum { most_rounds = 4 };
  idm_status status = IDM_OK;
  if (p->dimension == 1 && !p->frugal) status = look_closely(p, s, opt_error);
  if (status == IDM_OK) status = look_between(p, s, opt_error);
  if (status == IDM_OK) status = doubt(p, s, opt_error);
  if (status == IDM_OK) status = find_regions(p, s, opt_error);
  for (int round = 0; round < most_rounds && status == IDM_OK; round++) {
    bool found = false;
    status = look_beyond(p, s, &found, opt_error);
    const place *missed = find_missed(p, further, count, s);
    if (status != IDM_OK || (!missed && !found)) break;
    if (missed) status = look_at(p, s, missed->y[p->fixed], missed, opt_error);
    if (status == IDM_OK) status = find_regions(p, s, opt_error);
  }
  return status;
}
