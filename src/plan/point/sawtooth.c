/* Sawtooth upper bound, and its lower hull by the simplex method.
 *
 * Contents: hull · sawtooth */
#include "plan/point/bounds.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"

/* === hull ===================================================================================== */

/* Lower hull at a belief, by the simplex method. */

/* A basis: as many corners or points as the belief has states, whose mixture is the belief. */
typedef struct basis {
  size_t size;
  double column[HULL_MOST][HULL_MOST];
  double inverse[HULL_MOST][HULL_MOST]; /* of the columns */
  double weight[HULL_MOST];
  double value[HULL_MOST];
  uint32_t
      point[HULL_MOST]; /* SAWTOOTH_NONE: the corner of this state, which does not enter again */
} basis;

/* Masses of a point over the states of a belief; false if the point has other states. */
static bool column(const sawtooth *t, const sparse_belief *b, size_t point, double c[HULL_MOST])
{
  const sawtooth_point *p = &t->point[point];
  if (p->support_mask & ~b->support_mask || p->count > b->count) return false;
  size_t k = 0;
  for (size_t i = 0; i < b->count; i++) {
    const bool here = k < p->count && t->state[p->at + k] == b->state[i];
    c[i] = here ? t->mass[p->at + k] : 0;
    k += here;
  }
  return k == p->count;
}

/* Violations below this are rounding errors. */
static double rounding(const sparse_belief *b, const double *multiplier)
{
  double most = 0;
  for (size_t i = 0; i < b->count; i++) most = fmax(most, fabs(multiplier[i]));
  return 1e-14 * most;
}

bool idm_hull_is_violated(const sawtooth *t, const sparse_belief *b, uint32_t point,
                          const double *multiplier)
{
  double c[HULL_MOST];
  if (!column(t, b, point, c)) return false;
  double sum = t->point[point].value;
  for (size_t k = 0; k < b->count; k++) sum -= c[k] * multiplier[k];
  return sum < -rounding(b, multiplier);
}

/* Smallest pivot. Points that differ by rounding would make the basis singular, so a smaller
 * element does not limit the step. The residual that this leaves is added at the end. */
static const double pivot_tolerance = 1e-11;

/* Lets a column enter the basis, in place of the one whose weight first reaches 0; false if there
 * is none. */
static bool pivot(basis *s, const double c[HULL_MOST], double value, size_t point)
{
  double d[HULL_MOST];
  size_t out = HULL_MOST;
  for (size_t j = 0; j < s->size; j++) {
    d[j] = 0;
    for (size_t k = 0; k < s->size; k++) d[j] += s->inverse[j][k] * c[k];
    if (d[j] > pivot_tolerance &&
        (out == HULL_MOST || s->weight[j] * d[out] < s->weight[out] * d[j]))
      out = j;
  }
  if (out == HULL_MOST) return false;
  const double share = s->weight[out] / d[out];
  for (size_t k = 0; k < s->size; k++) s->inverse[out][k] /= d[out];
  for (size_t j = 0; j < s->size; j++) {
    if (j == out) continue;
    s->weight[j] = fmax(s->weight[j] - share * d[j], 0);
    for (size_t k = 0; k < s->size; k++) s->inverse[j][k] -= d[j] * s->inverse[out][k];
  }
  s->weight[out] = share;
  s->value[out] = value;
  s->point[out] = (uint32_t)point;
  memcpy(s->column[out], c, sizeof s->column[out]);
  return true;
}

static void set_multipliers(const basis *s, double *multiplier)
{
  for (size_t k = 0; k < s->size; k++) {
    multiplier[k] = 0;
    for (size_t j = 0; j < s->size; j++) multiplier[k] += s->value[j] * s->inverse[j][k];
  }
}

/* Part of the belief that the mixture does not represent, times the largest of its values; INFINITY
 * if it is more than rounding. */
static double residual_value(const basis *s, const sparse_belief *b)
{
  double unexplained = 0, most = 0;
  for (size_t k = 0; k < s->size; k++) {
    double mass = b->mass[k];
    for (size_t j = 0; j < s->size; j++) mass -= s->weight[j] * s->column[j][k];
    unexplained += fabs(mass);
    most = fmax(most, fabs(s->value[k]));
  }
  return unexplained < pivot_tolerance ? unexplained * most : INFINITY;
}

/* Value of the mixture; if its residual is too large, that of the corners. */
static double mixture_value(const basis *s, const sawtooth *t, const sparse_belief *b)
{
  double sum = residual_value(s, b), corners = 0;
  for (size_t k = 0; k < s->size; k++) {
    sum += s->weight[k] * s->value[k];
    corners += b->mass[k] * t->corner[b->state[k]];
  }
  return isfinite(sum) ? sum : corners;
}

/* Reduced cost of a point: its value less the hyperplane, by state in `dense`; for points without
 * other states. */
static inline double excess_over_plane(const sawtooth *t, const sawtooth_point *p,
                                       const double *dense)
{
  const uint32_t *state = t->state + p->at;
  const double *mass = t->mass + p->at;
  double sum = p->value;
  for (size_t k = 0; k < p->count; k++) sum -= mass[k] * dense[state[k]];
  return sum;
}

/* A point and its reduced cost. */
typedef struct candidate {
  size_t point;
  double excess_over_plane;
} candidate;

/* Reduced costs of the points of a slice. */
IDM_KERNEL(static, slice_excess,
           (const double *slice, size_t states, const double *plane,
            double over_plane[SAWTOOTH_LANES]),
           (slice, states, plane, over_plane))
{
  double sum[SAWTOOTH_LANES];
  for (size_t i = 0; i < SAWTOOTH_LANES; i++) sum[i] = slice[states * SAWTOOTH_LANES + i];
  for (size_t s = 0; s < states; s++)
    for (size_t i = 0; i < SAWTOOTH_LANES; i++) sum[i] -= slice[s * SAWTOOTH_LANES + i] * plane[s];
  for (size_t i = 0; i < SAWTOOTH_LANES; i++) over_plane[i] = sum[i];
}

/* Point with the smallest reduced cost, or `lowest`, over few states. */
static candidate lowest_of_few(const sawtooth *t, const sparse_belief *b, uint32_t without,
                               const double *multiplier, candidate lowest)
{
  double plane[HULL_MOST], here[SAWTOOTH_LANES];
  /* Points with states outside the belief get a large reduced cost. */
  for (size_t s = 0; s < t->states; s++) plane[s] = -1e300;
  for (size_t k = 0; k < b->count; k++) plane[b->state[k]] = multiplier[k];
  for (size_t from = 0; from < t->count; from += SAWTOOTH_LANES) {
    slice_excess(t->lane + from * (t->states + 1), t->states, plane, here);
    for (size_t i = 0; i < SAWTOOTH_LANES; i++)
      if (here[i] < lowest.excess_over_plane && from + i != without)
        lowest = (candidate){from + i, here[i]};
  }
  return lowest;
}

/* Point with the smallest reduced cost, or `lowest`, over many states, few of them in the belief.
 */
static candidate lowest_of_many(const sawtooth *t, const sparse_belief *b, uint32_t without,
                                const double *multiplier, double *dense, candidate lowest)
{
  double c[HULL_MOST];
  for (size_t k = 0; k < b->count; k++) dense[b->state[k]] = multiplier[k];
  for (size_t k = 0; k < b->count; k++)
    for (uint32_t i = t->head[b->state[k]]; i != SAWTOOTH_NONE; i = t->chain[i]) {
      const sawtooth_point *p = &t->point[i];
      if (p->support_mask & ~b->support_mask || p->count > b->count || i == without) continue;
      const double here = excess_over_plane(t, p, dense);
      /* Masks of beliefs over more than 64 states may agree where the states do not. */
      if (here < lowest.excess_over_plane && column(t, b, i, c)) lowest = (candidate){i, here};
    }
  for (size_t k = 0; k < b->count; k++) dense[b->state[k]] = 0;
  return lowest;
}

/* Point with the smallest negative reduced cost, and its column; SAWTOOTH_NONE if there is none. */
static size_t most_violated(const sawtooth *t, const sparse_belief *b, uint32_t without,
                            const double *multiplier, double *dense, double c[HULL_MOST])
{
  candidate in = {SAWTOOTH_NONE, -rounding(b, multiplier)};
  in = t->lane ? lowest_of_few(t, b, without, multiplier, in)
               : lowest_of_many(t, b, without, multiplier, dense, in);
  if (in.point != SAWTOOTH_NONE) column(t, b, in.point, c);
  return in.point;
}

/* Optimal mixture for a belief, and its multipliers. */
static basis solve_hull(const sawtooth *t, const sparse_belief *b, uint32_t without,
                        double *multiplier, double *dense)
{
  enum { max_pivots = 64 }; /* every intermediate basis gives a bound */
  basis s = {.size = b->count};
  for (size_t k = 0; k < s.size; k++) {
    s.column[k][k] = s.inverse[k][k] = 1;
    s.weight[k] = b->mass[k];
    s.value[k] = multiplier[k] = t->corner[b->state[k]];
    s.point[k] = SAWTOOTH_NONE;
  }
  for (int n = 0; n < max_pivots; n++) {
    double c[HULL_MOST] = {0};
    const size_t in = most_violated(t, b, without, multiplier, dense, c);
    if (in == SAWTOOTH_NONE || !pivot(&s, c, t->point[in].value, in)) break;
    set_multipliers(&s, multiplier);
  }
  return s;
}

double idm_hull_at(const sawtooth *t, const sparse_belief *b, uint32_t without, double *multiplier,
                   double *dense)
{
  const basis s = solve_hull(t, b, without, multiplier, dense);
  return mixture_value(&s, t, b);
}

/* The mixture itself, in the form of idm_sawtooth_mix. */
static size_t idm_hull_mix(const sawtooth *t, const sparse_belief *b, uint32_t *part,
                           double *weight, double *rest, double *dense)
{
  double multiplier[HULL_MOST];
  const basis s = solve_hull(t, b, SAWTOOTH_NONE, multiplier, dense);
  *rest = residual_value(&s, b);
  const bool corners = !isfinite(*rest);
  if (corners) *rest = 0;
  for (size_t k = 0; k < s.size; k++) {
    const bool corner = corners || s.point[k] == SAWTOOTH_NONE;
    part[k] = corner ? (uint32_t)(t->count + b->state[k]) : s.point[k];
    weight[k] = corners ? b->mass[k] : s.weight[k];
  }
  return s.size;
}

/* === sawtooth ================================================================================= */

/* --- lists by state ------------------------------------------------------------------------- */

static void clear_lists(sawtooth *t)
{
  memset(t->head, 0xff, t->states * sizeof *t->head); /* SAWTOOTH_NONE */
  memset(t->lists, 0, t->states * sizeof *t->lists);
}

/* Inserts a point into the shortest list of its states. */
static void link_point(sawtooth *t, size_t i)
{
  const uint32_t *state = t->state + t->point[i].at;
  uint32_t shortest_list = state[0];
  for (size_t k = 1; k < t->point[i].count; k++)
    if (t->lists[state[k]] < t->lists[shortest_list]) shortest_list = state[k];
  t->chain[i] = t->head[shortest_list];
  t->head[shortest_list] = (uint32_t)i;
  t->lists[shortest_list]++;
}

/* --- creation -------------------------------------------------------------------------------- */

idm_status idm_sawtooth_create(sawtooth *t, const double *corner, size_t states,
                               idm_error *opt_error)
{
  *t = (sawtooth){.states = states,
                  .corner = idm_duplicate(corner, states, sizeof *corner),
                  .head = idm_new(states, sizeof *t->head),
                  .lists = idm_new(states, sizeof *t->lists)};
  if (!t->corner || !t->head || !t->lists) return idm_fail_memory(opt_error);
  clear_lists(t);
  return IDM_OK;
}

void idm_sawtooth_free(sawtooth *t)
{
  free(t->corner);
  free(t->point);
  free(t->state);
  free(t->mass);
  free(t->inverse);
  free(t->lane);
  free(t->head);
  free(t->lists);
  free(t->chain);
  free(t->updates);
  *t = (sawtooth){0};
}

double idm_sawtooth_bytes(const sawtooth *t)
{
  const size_t lane = t->lane ? (t->states + 1) * sizeof *t->lane : 0;
  return (double)t->capacity * (double)(sizeof *t->point + sizeof *t->chain + lane) +
         (double)t->update_capacity * sizeof *t->updates +
         (double)t->point_capacity * (sizeof *t->state + sizeof *t->mass + sizeof *t->inverse);
}

/* Interpolation of the corners at a belief. */
static double plane(const sawtooth *t, const sparse_belief *b)
{
  double sum = 0;
  for (size_t k = 0; k < b->count; k++) sum += b->mass[k] * t->corner[b->state[k]];
  return sum;
}

/* Value of the belief in `dense`, relative to the interpolation of the corners, by point i; or
 * `best` if that is less. The weight of the point in the belief is the smallest ratio of their
 * masses. */
static inline double sawtooth_gap(const sawtooth *t, size_t i, uint64_t support_mask,
                                  const double *dense, double best)
{
  const sawtooth_point *p = &t->point[i];
  if (p->below >= best || p->support_mask & ~support_mask) return best;
  const uint32_t *state = t->state + p->at;
  const double *inverse = t->inverse + p->at;
  double share = 1;
  for (size_t k = 0; k < p->count; k++) {
    const double ratio = dense[state[k]] * inverse[k];
    if (ratio >= share) continue;
    share = ratio;
    if (p->below * share >= best) return best;
  }
  return p->below * share;
}

/* Smallest sawtooth_gap over all points except `except`, or `best` if that is less. Stops once it
 * is at most gap_limit. */
static double largest_gap(const sawtooth *t, const sparse_belief *b, uint32_t except,
                          double gap_limit, const double *dense, double best)
{
  for (size_t k = 0; k < b->count && best > gap_limit; k++)
    for (uint32_t i = t->head[b->state[k]]; i != SAWTOOTH_NONE && best > gap_limit; i = t->chain[i])
      if (i != except) best = sawtooth_gap(t, i, b->support_mask, dense, best);
  return best;
}

/* Whether the updates since `seen_updates` are discarded or so many that all points must be
 * examined. */
static bool must_rescan(const sawtooth *t, size_t seen_updates)
{
  return seen_updates < t->first_update || t->update_count - seen_updates > t->count;
}

/* The hull, recomputed if a point that was updated since is below the hyperplane of the
 * multipliers. */
static double hull(const sawtooth *t, const sparse_belief *b, size_t seen_updates, double known,
                   double *multiplier, double *dense)
{
  bool is_stale = must_rescan(t, seen_updates) || known == INFINITY;
  for (size_t n = seen_updates; n < t->update_count && !is_stale; n++)
    is_stale = idm_hull_is_violated(t, b, t->updates[n - t->first_update], multiplier);
  return is_stale ? fmin(known, idm_hull_at(t, b, SAWTOOTH_NONE, multiplier, dense)) : known;
}

double idm_sawtooth_at(const sawtooth *t, const sparse_belief *b, size_t seen_updates, double known,
                       double *multiplier, double *dense)
{
  if (b->count > 1 && b->count <= HULL_MOST)
    return hull(t, b, seen_updates, known, multiplier, dense);
  const double base = plane(t, b);
  double best = known < base ? known - base : 0;
  for (size_t k = 0; k < b->count; k++) dense[b->state[k]] = b->mass[k];
  if (must_rescan(t, seen_updates))
    best = largest_gap(t, b, SAWTOOTH_NONE, -INFINITY, dense, best);
  else
    for (size_t n = seen_updates; n < t->update_count; n++)
      best = sawtooth_gap(t, t->updates[n - t->first_update], b->support_mask, dense, best);
  for (size_t k = 0; k < b->count; k++) dense[b->state[k]] = 0;
  return fmin(base + best, known);
}

/* Weight of point i in the belief in `dense`. */
static double share_of(const sawtooth *t, size_t i, const double *dense)
{
  const sawtooth_point *p = &t->point[i];
  double share = 1;
  for (size_t k = 0; k < p->count; k++)
    share = fmin(share, dense[t->state[p->at + k]] * t->inverse[p->at + k]);
  return share;
}

size_t idm_sawtooth_mix(const sawtooth *t, const sparse_belief *b, uint32_t *part, double *weight,
                        double *rest, double *dense)
{
  if (b->count > 1 && b->count <= HULL_MOST) return idm_hull_mix(t, b, part, weight, rest, dense);
  double best = 0, share = 0;
  size_t at = t->count, parts = 0;
  for (size_t k = 0; k < b->count; k++) dense[b->state[k]] = b->mass[k];
  for (size_t i = 0; i < t->count; i++) {
    const double here = sawtooth_gap(t, i, b->support_mask, dense, best);
    if (here < best) at = i;
    best = here;
  }
  if (at < t->count) {
    const sawtooth_point *p = &t->point[at];
    part[parts] = (uint32_t)at;
    weight[parts++] = share = share_of(t, at, dense);
    for (size_t k = 0; k < p->count; k++) dense[t->state[p->at + k]] -= share * t->mass[p->at + k];
  }
  for (size_t k = 0; k < b->count; k++) {
    part[parts] = (uint32_t)(t->count + b->state[k]);
    weight[parts++] = fmax(dense[b->state[k]], 0);
    dense[b->state[k]] = 0;
  }
  *rest = 0;
  return parts;
}

/* --- points --------------------------------------------------------------------------------- */

static double below_plane(const sawtooth *t, const sawtooth_point *p)
{
  double sum = 0;
  for (size_t k = 0; k < p->count; k++) sum += t->corner[t->state[p->at + k]] * t->mass[p->at + k];
  return p->value < sum ? p->value - sum : 0;
}

/* Writes the lane of a point. */
static void set_lane(sawtooth *t, size_t i)
{
  if (!t->lane) return;
  const sawtooth_point *p = &t->point[i];
  double *lane = t->lane + i / SAWTOOTH_LANES * (t->states + 1) * SAWTOOTH_LANES;
  lane += i % SAWTOOTH_LANES;
  for (size_t s = 0; s < t->states; s++) lane[s * SAWTOOTH_LANES] = 0;
  for (size_t k = 0; k < p->count; k++)
    lane[t->state[p->at + k] * SAWTOOTH_LANES] = t->mass[p->at + k];
  lane[t->states * SAWTOOTH_LANES] = p->value;
}

/* Empties the lanes from `first` on. */
static void clear_lanes(sawtooth *t, size_t first)
{
  const size_t height = t->states + 1;
  for (size_t i = first; t->lane && i < t->capacity; i++)
    t->lane[(i / SAWTOOTH_LANES * height + t->states) * SAWTOOTH_LANES + i % SAWTOOTH_LANES] =
        INFINITY;
}

static bool make_lanes(sawtooth *t, size_t capacity)
{
  if (t->states > HULL_MOST) return true;
  const size_t numbers = capacity * (t->states + 1);
  double *lane = realloc(t->lane, numbers * sizeof *lane);
  if (!lane) return false;
  t->lane = lane;
  for (size_t i = t->capacity * (t->states + 1); i < numbers; i++) lane[i] = 0;
  return true;
}

static bool make_points(sawtooth *t)
{
  const size_t capacity = t->capacity ? 2 * t->capacity : (size_t)(4 * SAWTOOTH_LANES);
  sawtooth_point *point = realloc(t->point, capacity * sizeof *point);
  if (!point) return false;
  t->point = point;
  uint32_t *chain = realloc(t->chain, capacity * sizeof *chain);
  if (!chain) return false;
  t->chain = chain;
  if (!make_lanes(t, capacity)) return false;
  t->capacity = capacity;
  clear_lanes(t, t->count);
  return true;
}

/* Allocates another point with its states. */
static bool make_room(sawtooth *t, size_t states)
{
  if (t->count == t->capacity && !make_points(t)) return false;
  if (t->numbers + states > t->point_capacity) {
    const size_t point_capacity = 2 * t->point_capacity + states + 256;
    uint32_t *state = realloc(t->state, point_capacity * sizeof *state);
    if (state) t->state = state;
    double *mass = realloc(t->mass, point_capacity * sizeof *mass);
    if (mass) t->mass = mass;
    double *inverse = realloc(t->inverse, point_capacity * sizeof *inverse);
    if (inverse) t->inverse = inverse;
    if (!state || !mass || !inverse) return false;
    t->point_capacity = point_capacity;
  }
  return true;
}

static void drop_updates(sawtooth *t)
{
  t->first_update = t->update_count;
}

static bool record_update(sawtooth *t, uint32_t point)
{
  if (t->update_count - t->first_update == t->update_capacity) {
    /* A belief with more pending updates than there are points is cheaper to compute from all
     * points. */
    if (t->update_capacity > 2 * t->count + 64) {
      drop_updates(t);
    } else {
      const size_t update_capacity = 2 * t->update_capacity + 64;
      uint32_t *updates = realloc(t->updates, update_capacity * sizeof *updates);
      if (!updates) return false;
      t->updates = updates;
      t->update_capacity = update_capacity;
    }
  }
  t->updates[t->update_count - t->first_update] = point;
  t->update_count++;
  return true;
}

static void lower_corner(sawtooth *t, size_t state, double value)
{
  t->corner[state] = value;
  for (size_t i = 0; i < t->count; i++) t->point[i].below = below_plane(t, &t->point[i]);
  t->update_count++; /* forces all beliefs to be computed from all points */
  drop_updates(t);
}

/* A state of a point with its mass. */
typedef struct part {
  double mass;
  uint32_t state;
} part;

static int compare_parts(const void *left, const void *right)
{
  const part *a = left, *b = right;
  if (a->mass != b->mass) return a->mass > b->mass ? -1 : 1;
  return a->state < b->state ? -1 : a->state > b->state;
}

/* Stores the states of a belief; more than HULL_MOST of them by decreasing mass, because the
 * smallest ratio of masses is likely to be found where the point has a large mass. */
static bool store_states(sawtooth *t, const sparse_belief *b)
{
  part *parts = idm_new(b->count, sizeof *parts);
  if (!parts) return false;
  for (size_t k = 0; k < b->count; k++) parts[k] = (part){b->mass[k], b->state[k]};
  if (b->count > HULL_MOST) qsort(parts, b->count, sizeof *parts, compare_parts);
  for (size_t k = 0; k < b->count; k++) {
    t->state[t->numbers + k] = parts[k].state;
    t->mass[t->numbers + k] = parts[k].mass;
    t->inverse[t->numbers + k] = 1 / parts[k].mass;
  }
  free(parts);
  return true;
}

static bool make_point(sawtooth *t, const sparse_belief *b, uint32_t owner)
{
  if (!make_room(t, b->count) || !store_states(t, b)) return false;
  t->point[t->count] = (sawtooth_point){.support_mask = b->support_mask,
                                        .at = t->numbers,
                                        .count = (uint32_t)b->count,
                                        .owner = owner};
  link_point(t, t->count);
  t->numbers += b->count;
  t->count++;
  return true;
}

idm_status idm_sawtooth_lower(sawtooth *t, const sparse_belief *b, double value, uint32_t owner,
                              uint32_t *point, idm_error *opt_error)
{
  if (b->count == 1) {
    lower_corner(t, b->state[0], value);
    return IDM_OK;
  }
  if (*point == SAWTOOTH_NONE) {
    if (!make_point(t, b, owner)) return idm_fail_memory(opt_error);
    *point = (uint32_t)(t->count - 1);
  }
  t->point[*point].value = value;
  t->point[*point].below = below_plane(t, &t->point[*point]);
  set_lane(t, *point);
  return record_update(t, *point) ? IDM_OK : idm_fail_memory(opt_error);
}

/* --- pruning -------------------------------------------------------------------------------- */

/* Whether the other points imply the value of point i. */
static bool is_dominated(const sawtooth *t, size_t i, double *dense)
{
  const sawtooth_point p = t->point[i];
  const sparse_belief b = {t->state + p.at, t->mass + p.at, p.count, p.support_mask};
  double multiplier[HULL_MOST];
  const double rounding = 1e-13 * fmax(1, fabs(p.value));
  if (p.count <= HULL_MOST)
    return idm_hull_at(t, &b, (uint32_t)i, multiplier, dense) <= p.value + rounding;
  for (size_t k = 0; k < b.count; k++) dense[b.state[k]] = b.mass[k];
  const double best = largest_gap(t, &b, (uint32_t)i, p.below, dense, 0);
  for (size_t k = 0; k < b.count; k++) dense[b.state[k]] = 0;
  return best <= p.below;
}

/* Removes the points that are not used. */
static void compact(sawtooth *t)
{
  size_t left = 0, numbers = 0;
  for (size_t i = 0; i < t->count; i++) {
    sawtooth_point p = t->point[i];
    if (p.value == INFINITY) continue;
    memmove(t->state + numbers, t->state + p.at, p.count * sizeof *t->state);
    memmove(t->mass + numbers, t->mass + p.at, p.count * sizeof *t->mass);
    memmove(t->inverse + numbers, t->inverse + p.at, p.count * sizeof *t->inverse);
    p.at = numbers;
    numbers += p.count;
    t->point[left++] = p;
  }
  t->count = left;
  t->numbers = numbers;
  clear_lists(t);
  for (size_t i = 0; i < left; i++) {
    link_point(t, i);
    set_lane(t, i);
  }
  clear_lanes(t, left);
}

void idm_sawtooth_prune(sawtooth *t, double *dense,
                        void (*renumber)(void *context, uint32_t owner, uint32_t point),
                        void *context, bool (*opt_stop)(void *context), void *stop_context)
{
  enum { batch = 16 };
  for (size_t i = 0; i < t->count; i++) {
    if (i % batch == 0 && opt_stop && opt_stop(stop_context)) break;
    if (!is_dominated(t, i, dense)) continue;
    renumber(context, t->point[i].owner, SAWTOOTH_NONE);
    t->point[i].value = INFINITY; /* above all others: it has no effect on the bound */
    t->point[i].below = 0;
    set_lane(t, i);
  }
  compact(t);
  for (size_t i = 0; i < t->count; i++) renumber(context, t->point[i].owner, (uint32_t)i);
  drop_updates(t);
}
