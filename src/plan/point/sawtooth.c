/* The sawtooth upper bound. */
#include "plan/point/sawtooth.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "plan/point/hull.h"

/* --- lists by state ------------------------------------------------------------------------- */

static void clear_lists(sawtooth *t)
{
  memset(t->head, 0xff, t->states * sizeof *t->head); /* SAWTOOTH_NONE */
  memset(t->lists, 0, t->states * sizeof *t->lists);
}

/* Put a point into the shortest list of its states. */
static void link_point(sawtooth *t, size_t i)
{
  const uint32_t *state = t->state + t->point[i].at;
  uint32_t rarest = state[0];
  for (size_t k = 1; k < t->point[i].count; k++)
    if (t->lists[state[k]] < t->lists[rarest]) rarest = state[k];
  t->chain[i] = t->head[rarest];
  t->head[rarest] = (uint32_t)i;
  t->lists[rarest]++;
}

/* --- making --------------------------------------------------------------------------------- */

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
  free(t->news);
  *t = (sawtooth){0};
}

double idm_sawtooth_bytes(const sawtooth *t)
{
  const size_t lane = t->lane ? (t->states + 1) * sizeof *t->lane : 0;
  return (double)t->capacity * (double)(sizeof *t->point + sizeof *t->chain + lane) +
         (double)t->newest * sizeof *t->news +
         (double)t->room * (sizeof *t->state + sizeof *t->mass + sizeof *t->inverse);
}

/* The plane of the corners. */
static double plane(const sawtooth *t, const belief *b)
{
  double sum = 0;
  for (size_t k = 0; k < b->count; k++) sum += b->mass[k] * t->corner[b->state[k]];
  return sum;
}

/* How far below the plane point i puts the belief in `dense`, or `best` where that is further: the
 * point's part in the belief is the least ratio of their masses. */
static inline double reach(const sawtooth *t, size_t i, uint64_t sign, const double *dense,
                           double best)
{
  const sawtooth_point *p = &t->point[i];
  if (p->below >= best || p->sign & ~sign) return best;
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

/* How far below the plane all points but `except` put the belief in `dense`, or `best` where that
 * is further. Stops once it is as far as `enough`. */
static double reach_all(const sawtooth *t, const belief *b, uint32_t except, double enough,
                        const double *dense, double best)
{
  for (size_t k = 0; k < b->count && best > enough; k++)
    for (uint32_t i = t->head[b->state[k]]; i != SAWTOOTH_NONE && best > enough; i = t->chain[i])
      if (i != except) best = reach(t, i, b->sign, dense, best);
  return best;
}

/* Whether somebody who heard of all before `heard` has to look at all points. */
static bool must_look(const sawtooth *t, size_t heard)
{
  return heard < t->kept || t->told - heard > t->count;
}

/* The hull, found anew where something that was told since is below the prices. */
static double hull(const sawtooth *t, const belief *b, size_t heard, double known, double *price,
                   double *dense)
{
  bool moves = must_look(t, heard) || known == INFINITY;
  for (size_t n = heard; n < t->told && !moves; n++)
    moves = idm_hull_moves(t, b, t->news[n - t->kept], price);
  return moves ? fmin(known, idm_hull_at(t, b, SAWTOOTH_NONE, price, dense)) : known;
}

double idm_sawtooth_at(const sawtooth *t, const belief *b, size_t heard, double known,
                       double *price, double *dense)
{
  if (b->count > 1 && b->count <= HULL_MOST) return hull(t, b, heard, known, price, dense);
  const double base = plane(t, b);
  double best = known < base ? known - base : 0;
  for (size_t k = 0; k < b->count; k++) dense[b->state[k]] = b->mass[k];
  if (must_look(t, heard))
    best = reach_all(t, b, SAWTOOTH_NONE, -INFINITY, dense, best);
  else
    for (size_t n = heard; n < t->told; n++)
      best = reach(t, t->news[n - t->kept], b->sign, dense, best);
  for (size_t k = 0; k < b->count; k++) dense[b->state[k]] = 0;
  return fmin(base + best, known);
}

/* The share of point i in the belief in `dense`. */
static double share_of(const sawtooth *t, size_t i, const double *dense)
{
  const sawtooth_point *p = &t->point[i];
  double share = 1;
  for (size_t k = 0; k < p->count; k++)
    share = fmin(share, dense[t->state[p->at + k]] * t->inverse[p->at + k]);
  return share;
}

size_t idm_sawtooth_mix(const sawtooth *t, const belief *b, uint32_t *part, double *weight,
                        double *rest, double *dense)
{
  if (b->count > 1 && b->count <= HULL_MOST) return idm_hull_mix(t, b, part, weight, rest, dense);
  double best = 0, share = 0;
  size_t at = t->count, parts = 0;
  for (size_t k = 0; k < b->count; k++) dense[b->state[k]] = b->mass[k];
  for (size_t i = 0; i < t->count; i++) {
    const double here = reach(t, i, b->sign, dense, best);
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

/* Write a point's lane. */
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

/* Leave the lanes from `first` on without points. */
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

/* Room for another point with its states, and for news of it. */
static bool make_room(sawtooth *t, size_t states)
{
  if (t->count == t->capacity && !make_points(t)) return false;
  if (t->numbers + states > t->room) {
    const size_t room = 2 * t->room + states + 256;
    uint32_t *state = realloc(t->state, room * sizeof *state);
    if (state) t->state = state;
    double *mass = realloc(t->mass, room * sizeof *mass);
    if (mass) t->mass = mass;
    double *inverse = realloc(t->inverse, room * sizeof *inverse);
    if (inverse) t->inverse = inverse;
    if (!state || !mass || !inverse) return false;
    t->room = room;
  }
  return true;
}

static void forget(sawtooth *t)
{
  t->kept = t->told;
}

static bool tell(sawtooth *t, uint32_t point)
{
  if (t->told - t->kept == t->newest) {
    /* Whoever is as far behind as there are points does better to look at them all. */
    if (t->newest > 2 * t->count + 64) {
      forget(t);
    } else {
      const size_t newest = 2 * t->newest + 64;
      uint32_t *news = realloc(t->news, newest * sizeof *news);
      if (!news) return false;
      t->news = news;
      t->newest = newest;
    }
  }
  t->news[t->told - t->kept] = point;
  t->told++;
  return true;
}

static void lower_corner(sawtooth *t, size_t state, double value)
{
  t->corner[state] = value;
  for (size_t i = 0; i < t->count; i++) t->point[i].below = below_plane(t, &t->point[i]);
  t->told++; /* everybody is to look at everything again */
  forget(t);
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

/* Lay down the states of a belief, those of more than HULL_MOST by falling mass: where a point has
 * most, its part in another belief is likely to end. */
static bool lay_states(sawtooth *t, const belief *b)
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

static bool make_point(sawtooth *t, const belief *b, uint32_t owner)
{
  if (!make_room(t, b->count) || !lay_states(t, b)) return false;
  t->point[t->count] = (sawtooth_point){
      .sign = b->sign, .at = t->numbers, .count = (uint32_t)b->count, .owner = owner};
  link_point(t, t->count);
  t->numbers += b->count;
  t->count++;
  return true;
}

idm_status idm_sawtooth_lower(sawtooth *t, const belief *b, double value, uint32_t owner,
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
  return tell(t, *point) ? IDM_OK : idm_fail_memory(opt_error);
}

/* --- pruning -------------------------------------------------------------------------------- */

/* Whether the other points put point i where it is. */
static bool superfluous(const sawtooth *t, size_t i, double *dense)
{
  const sawtooth_point p = t->point[i];
  const belief b = {t->state + p.at, t->mass + p.at, p.count, p.sign};
  double price[HULL_MOST];
  const double rounding = 1e-13 * fmax(1, fabs(p.value));
  if (p.count <= HULL_MOST)
    return idm_hull_at(t, &b, (uint32_t)i, price, dense) <= p.value + rounding;
  for (size_t k = 0; k < b.count; k++) dense[b.state[k]] = b.mass[k];
  const double best = reach_all(t, &b, (uint32_t)i, p.below, dense, 0);
  for (size_t k = 0; k < b.count; k++) dense[b.state[k]] = 0;
  return best <= p.below;
}

/* Close ranks over the points of no use. */
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
                        void (*moved)(void *context, uint32_t owner, uint32_t point), void *context,
                        bool (*opt_halts)(void *context), void *halts_context)
{
  enum { batch = 16 };
  for (size_t i = 0; i < t->count; i++) {
    if (i % batch == 0 && opt_halts && opt_halts(halts_context)) break;
    if (!superfluous(t, i, dense)) continue;
    moved(context, t->point[i].owner, SAWTOOTH_NONE);
    t->point[i].value = INFINITY; /* above everything: of no more use to the others */
    t->point[i].below = 0;
    set_lane(t, i);
  }
  compact(t);
  for (size_t i = 0; i < t->count; i++) moved(context, t->point[i].owner, (uint32_t)i);
  forget(t);
}
