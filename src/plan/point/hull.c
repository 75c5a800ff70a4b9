/* The lower hull at a belief, by the simplex method. */
#include "plan/point/hull.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"

/* A basis: as many corners or points as there are states, whose mixture is the belief. */
typedef struct basis {
  size_t size;
  double column[HULL_MOST][HULL_MOST];
  double inverse[HULL_MOST][HULL_MOST]; /* of the columns */
  double weight[HULL_MOST];
  double value[HULL_MOST];
  uint32_t point[HULL_MOST]; /* SAWTOOTH_NONE: the corner of this place, which none comes back to */
} basis;

/* A point over the states of a belief; false where it has others. */
static bool column(const sawtooth *t, const belief *b, size_t point, double c[HULL_MOST])
{
  const sawtooth_point *p = &t->point[point];
  if (p->sign & ~b->sign || p->count > b->count) return false;
  size_t k = 0;
  for (size_t i = 0; i < b->count; i++) {
    const bool here = k < p->count && t->state[p->at + k] == b->state[i];
    c[i] = here ? t->mass[p->at + k] : 0;
    k += here;
  }
  return k == p->count;
}

/* What is less is rounding. */
static double rounding(const belief *b, const double *price)
{
  double most = 0;
  for (size_t i = 0; i < b->count; i++) most = fmax(most, fabs(price[i]));
  return 1e-14 * most;
}

bool idm_hull_moves(const sawtooth *t, const belief *b, uint32_t point, const double *price)
{
  double c[HULL_MOST];
  if (!column(t, b, point, c)) return false;
  double sum = t->point[point].value;
  for (size_t k = 0; k < b->count; k++) sum -= c[k] * price[k];
  return sum < -rounding(b, price);
}

/* Points that differ by rounding would make a basis that cannot be inverted: one that hardly gives
 * way to a column does not block it. What that leaves over is accounted for at the end. */
static const double hardly = 1e-11;

/* Take a column into the basis, in place of the one whose weight comes to 0 first. */
static bool pivot(basis *s, const double c[HULL_MOST], double value, size_t point)
{
  double d[HULL_MOST];
  size_t out = HULL_MOST;
  for (size_t j = 0; j < s->size; j++) {
    d[j] = 0;
    for (size_t k = 0; k < s->size; k++) d[j] += s->inverse[j][k] * c[k];
    if (d[j] > hardly && (out == HULL_MOST || s->weight[j] * d[out] < s->weight[out] * d[j]))
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

static void set_prices(const basis *s, double *price)
{
  for (size_t k = 0; k < s->size; k++) {
    price[k] = 0;
    for (size_t j = 0; j < s->size; j++) price[k] += s->value[j] * s->inverse[j][k];
  }
}

/* What a mixture misses of the belief is taken at the largest of its numbers; returned is what that
 * is worth, INFINITY where it is more than rounding. */
static double left_over(const basis *s, const belief *b)
{
  double missed = 0, most = 0;
  for (size_t k = 0; k < s->size; k++) {
    double mass = b->mass[k];
    for (size_t j = 0; j < s->size; j++) mass -= s->weight[j] * s->column[j][k];
    missed += fabs(mass);
    most = fmax(most, fabs(s->value[k]));
  }
  return missed < hardly ? missed * most : INFINITY;
}

/* What the mixture is worth; where it misses too much, the corners alone. */
static double worth(const basis *s, const sawtooth *t, const belief *b)
{
  double sum = left_over(s, b), corners = 0;
  for (size_t k = 0; k < s->size; k++) {
    sum += s->weight[k] * s->value[k];
    corners += b->mass[k] * t->corner[b->state[k]];
  }
  return isfinite(sum) ? sum : corners;
}

/* How far a point is above the plane of the prices, by state, if it has no states but those. */
static inline double over(const sawtooth *t, const sawtooth_point *p, const double *dense)
{
  const uint32_t *state = t->state + p->at;
  const double *mass = t->mass + p->at;
  double sum = p->value;
  for (size_t k = 0; k < p->count; k++) sum -= mass[k] * dense[state[k]];
  return sum;
}

/* A point, and how far it is above the plane of the prices. */
typedef struct candidate {
  size_t point;
  double over;
} candidate;

/* How far the points of a slice are above the plane. */
IDM_KERNEL(static, weigh,
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

/* The lowest of all points, or the one given, where states are few. */
static candidate lowest_of_few(const sawtooth *t, const belief *b, uint32_t without,
                               const double *price, candidate lowest)
{
  double plane[HULL_MOST], here[SAWTOOTH_LANES];
  /* Points with other states than the belief's are far above. */
  for (size_t s = 0; s < t->states; s++) plane[s] = -1e300;
  for (size_t k = 0; k < b->count; k++) plane[b->state[k]] = price[k];
  for (size_t from = 0; from < t->count; from += SAWTOOTH_LANES) {
    weigh(t->lane + from * (t->states + 1), t->states, plane, here);
    for (size_t i = 0; i < SAWTOOTH_LANES; i++)
      if (here[i] < lowest.over && from + i != without) lowest = (candidate){from + i, here[i]};
  }
  return lowest;
}

/* The same where states are many, but not those of the belief. */
static candidate lowest_of_many(const sawtooth *t, const belief *b, uint32_t without,
                                const double *price, double *dense, candidate lowest)
{
  double c[HULL_MOST];
  for (size_t k = 0; k < b->count; k++) dense[b->state[k]] = price[k];
  for (size_t k = 0; k < b->count; k++)
    for (uint32_t i = t->head[b->state[k]]; i != SAWTOOTH_NONE; i = t->chain[i]) {
      const sawtooth_point *p = &t->point[i];
      if (p->sign & ~b->sign || p->count > b->count || i == without) continue;
      const double here = over(t, p, dense);
      /* Signs of beliefs over more than 64 states may agree where the states do not. */
      if (here < lowest.over && column(t, b, i, c)) lowest = (candidate){i, here};
    }
  for (size_t k = 0; k < b->count; k++) dense[b->state[k]] = 0;
  return lowest;
}

/* The point furthest below the plane of the prices, and its column; SAWTOOTH_NONE where none is. */
static size_t furthest(const sawtooth *t, const belief *b, uint32_t without, const double *price,
                       double *dense, double c[HULL_MOST])
{
  candidate in = {SAWTOOTH_NONE, -rounding(b, price)};
  in = t->lane ? lowest_of_few(t, b, without, price, in)
               : lowest_of_many(t, b, without, price, dense, in);
  if (in.point != SAWTOOTH_NONE) column(t, b, in.point, c);
  return in.point;
}

/* The best mixture for a belief, and the prices by it. */
static basis find(const sawtooth *t, const belief *b, uint32_t without, double *price,
                  double *dense)
{
  enum { most_pivots = 64 }; /* every basis on the way is a bound */
  basis s = {.size = b->count};
  for (size_t k = 0; k < s.size; k++) {
    s.column[k][k] = s.inverse[k][k] = 1;
    s.weight[k] = b->mass[k];
    s.value[k] = price[k] = t->corner[b->state[k]];
    s.point[k] = SAWTOOTH_NONE;
  }
  for (int n = 0; n < most_pivots; n++) {
    double c[HULL_MOST] = {0};
    const size_t in = furthest(t, b, without, price, dense, c);
    if (in == SAWTOOTH_NONE || !pivot(&s, c, t->point[in].value, in)) break;
    set_prices(&s, price);
  }
  return s;
}

double idm_hull_at(const sawtooth *t, const belief *b, uint32_t without, double *price,
                   double *dense)
{
  const basis s = find(t, b, without, price, dense);
  return worth(&s, t, b);
}

size_t idm_hull_mix(const sawtooth *t, const belief *b, uint32_t *part, double *weight,
                    double *rest, double *dense)
{
  double price[HULL_MOST];
  const basis s = find(t, b, SAWTOOTH_NONE, price, dense);
  *rest = left_over(&s, b);
  const bool corners = !isfinite(*rest);
  if (corners) *rest = 0;
  for (size_t k = 0; k < s.size; k++) {
    const bool corner = corners || s.point[k] == SAWTOOTH_NONE;
    part[k] = corner ? (uint32_t)(t->count + b->state[k]) : s.point[k];
    weight[k] = corners ? b->mass[k] : s.weight[k];
  }
  return s.size;
}
