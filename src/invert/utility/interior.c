/* A primal-dual interior-point method (Wright 1997) for convex functions of occupancies. Their
 * second derivative is a block a state, so that a step is a system of one equation a state. */
#include "invert/utility/interior.h"

#include <float.h>
#include <math.h>

#include "base/envelope.h"
#include "base/memory.h"

enum { most_steps = 300, most_halvings = 30, patience = 12 };
/* Where the path ends: products of q and its price below this are nothing. */
static const double negligible = 1e-26;

/* With tv: a >= 0 and c = q - p + a >= 0, of which a is paid. */
typedef struct point {
  double *q; /* [entry], as all below */
  double *z; /* price of q >= 0 */
  double *a;
  double *s; /* price of a >= 0, and 1 - s that of c >= 0 */
  double *y; /* [row]: prices of the equations */
} point;

typedef struct interior {
  const idm_flows *f;
  bool split; /* tv */
  size_t n;   /* entries */
  size_t m;   /* rows */
  double target;
  point at;
  point step;
  point trial;
  double *slope;  /* [n]: what the step has to undo */
  double *extra;  /* [n]: second derivative beside that of the entropy */
  double *stiff;  /* [n]: with it */
  double *log_pi; /* [n] */
  double *price;  /* [n] */
  double *scale;  /* [n]: q where the step begins */
  double *shared; /* [m]: what the entropy adds to a row's inverse */
  double *best;   /* [n]: the best q, and */
  double *prices; /* [m]: its y */
  double *matrix; /* [m][m] */
  idm_edge *edge; /* [m] */
  double *work;   /* [2 n + m] */
} interior;

/* --- memory --------------------------------------------------------------------------------- */

static double *take(double **from, size_t count)
{
  double *taken = *from;
  *from += count;
  return taken;
}

static void place_point(point *p, size_t n, size_t m, double **from)
{
  p->q = take(from, n);
  p->z = take(from, n);
  p->a = take(from, n);
  p->s = take(from, n);
  p->y = take(from, m);
}

static double *place(interior *o)
{
  double *memory = idm_new(21 * o->n + 6 * o->m, sizeof *memory);
  o->matrix = idm_new(idm_times(o->m, o->m), sizeof *o->matrix);
  o->edge = idm_new(o->m, sizeof *o->edge);
  if (!memory) return NULL;
  double *from = memory;
  place_point(&o->at, o->n, o->m, &from);
  place_point(&o->step, o->n, o->m, &from);
  place_point(&o->trial, o->n, o->m, &from);
  double **const part[] = {&o->slope, &o->extra, &o->stiff, &o->log_pi,
                           &o->price, &o->scale, &o->best};
  for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) *part[i] = take(&from, o->n);
  o->shared = take(&from, o->m);
  o->prices = take(&from, o->m);
  o->work = from;
  return memory;
}

/* --- equations ------------------------------------------------------------------------------ */

static double other(const interior *o, const point *p, size_t i)
{
  return p->q[i] - o->f->p[i] + p->a[i];
}

/* Start from the occupancy of taking what is allowed alike: it satisfies the equations. */
static bool start(interior *o)
{
  const idm_flows *f = o->f;
  memset(o->matrix, 0, o->m * o->m * sizeof *o->matrix);
  for (size_t r = 0; r < o->m; r++)
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++)
      for (size_t k = f->begin[i]; k < f->begin[i + 1]; k++)
        o->matrix[r * o->m + f->to[k]] += f->by[k] / (double)(f->first[r + 1] - f->first[r]);
  if (!idm_envelope_factor(o->m, o->matrix, o->edge)) return false;
  memcpy(o->at.y, f->source, o->m * sizeof *o->at.y);
  idm_envelope_solve_transposed(o->m, o->matrix, o->edge, o->at.y);
  for (size_t r = 0; r < o->m; r++) {
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++) {
      o->at.q[i] = o->at.y[r] / (double)(f->first[r + 1] - f->first[r]);
      o->at.z[i] = 0.1 / ((double)o->n * o->at.q[i]);
      o->at.a[i] = fmax(f->p[i] - o->at.q[i], 0) + 1 / (double)o->n;
      o->at.s[i] = 0.5;
    }
    o->at.y[r] = 0;
  }
  return true;
}

/* Distance from the central path at the target, each equation by the scale of what it is about. */
static double stray(interior *o, const point *p)
{
  const idm_flows *f = o->f;
  double sum = 0;
  idm_flows_prices(f, p->y, o->price);
  if (f->entropy > 0) idm_flows_log_policy(f, p->q, o->log_pi);
  for (size_t i = 0; i < o->n; i++) {
    const double slope = o->split ? p->s[i] - 0.5 : idm_flows_slope(f, i, p->q[i]);
    const double dual = o->scale[i] * (slope + (f->entropy > 0 ? f->entropy * o->log_pi[i] : 0) -
                                       o->price[i] - p->z[i]);
    const double central = p->q[i] * p->z[i] - o->target;
    sum += dual * dual + central * central;
    if (!o->split) continue;
    const double low = p->a[i] * p->s[i] - o->target;
    const double high = other(o, p, i) * (1 - p->s[i]) - o->target;
    sum += low * low + high * high;
  }
  return sqrt(sum);
}

/* Slopes and stiffness of the entries with everything but q and y eliminated. */
static void linearise(interior *o)
{
  const idm_flows *f = o->f;
  const point *p = &o->at;
  idm_flows_prices(f, p->y, o->price);
  if (f->entropy > 0) idm_flows_log_policy(f, p->q, o->log_pi);
  for (size_t i = 0; i < o->n; i++) {
    const double q = p->q[i];
    double slope;
    if (o->split) {
      const double c = other(o, p, i);
      const double low = p->s[i] / p->a[i];
      const double high = (1 - p->s[i]) / c;
      const double pull = o->target / p->a[i] + o->target / c - 1;
      slope = 0.5 - o->target / c + high * pull / (low + high);
      o->extra[i] = low * high / (low + high);
    } else {
      slope = idm_flows_slope(f, i, q);
      o->extra[i] = idm_flows_bend(f, i, q);
    }
    o->extra[i] += p->z[i] / q;
    o->slope[i] = -slope + o->price[i] + o->target / q;
    if (f->entropy > 0) o->slope[i] -= f->entropy * o->log_pi[i];
    o->stiff[i] = o->extra[i] + f->entropy / q;
  }
}

/* The block of a row is diag(stiff) - w / mass 1 1', its inverse diag(1 / stiff) + shared (1/stiff)
 * (1/stiff)', with shared = w / (mass - w sum 1/stiff), whose denominator is sum q extra / stiff
 * without the cancellation. */
static void share_rows(interior *o)
{
  const idm_flows *f = o->f;
  for (size_t r = 0; r < o->m; r++) {
    double rest = 0;
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++)
      rest += o->at.q[i] * (o->extra[i] / o->stiff[i]);
    o->shared[r] = f->entropy > 0 ? f->entropy / rest : 0;
  }
}

/* to = (block inverse) from. */
static void apply_inverse(const interior *o, const double *from, double *to)
{
  const idm_flows *f = o->f;
  for (size_t r = 0; r < o->m; r++) {
    double sum = 0;
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++) {
      to[i] = from[i] / o->stiff[i];
      sum += to[i];
    }
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++)
      to[i] += o->shared[r] * sum / o->stiff[i];
  }
}

/* matrix = B (block inverse) B'. */
static bool assemble(interior *o)
{
  const idm_flows *f = o->f;
  double *sum = o->work;
  memset(o->matrix, 0, o->m * o->m * sizeof *o->matrix);
  for (size_t r = 0; r < o->m; r++) {
    memset(sum, 0, o->m * sizeof *sum);
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++)
      for (size_t k = f->begin[i]; k < f->begin[i + 1]; k++) {
        const double by = f->by[k] / o->stiff[i];
        double *row = o->matrix + f->to[k] * o->m;
        sum[f->to[k]] += by;
        for (size_t l = f->begin[i]; l < f->begin[i + 1]; l++) row[f->to[l]] += by * f->by[l];
      }
    for (size_t k = 0; k < o->m && o->shared[r] > 0; k++)
      for (size_t l = 0; l < o->m && sum[k] != 0; l++)
        o->matrix[k * o->m + l] += o->shared[r] * sum[k] * sum[l];
  }
  return idm_envelope_factor(o->m, o->matrix, o->edge);
}

/* --- steps ---------------------------------------------------------------------------------- */

/* What follows from the step of q for the rest. */
static void complete_step(interior *o)
{
  for (size_t i = 0; i < o->n; i++) {
    const double q = o->at.q[i];
    const double dq = o->step.q[i];
    o->step.z[i] = o->target / q - o->at.z[i] - o->at.z[i] / q * dq;
    if (!o->split) continue;
    const double a = o->at.a[i];
    const double c = other(o, &o->at, i);
    const double low = o->at.s[i] / a;
    const double high = (1 - o->at.s[i]) / c;
    o->step.a[i] = (o->target / a + o->target / c - 1 - high * dq) / (low + high);
    o->step.s[i] = o->target / a - o->at.s[i] - low * o->step.a[i];
  }
}

static bool find_step(interior *o)
{
  const idm_flows *f = o->f;
  linearise(o);
  share_rows(o);
  if (!assemble(o)) return false;
  double *made = o->work;
  double *left = o->work + 2 * o->n;
  apply_inverse(o, o->slope, made);
  idm_flows_left(f, o->at.q, left);
  for (size_t i = 0; i < o->n; i++)
    for (size_t k = f->begin[i]; k < f->begin[i + 1]; k++) left[f->to[k]] -= f->by[k] * made[i];
  memcpy(o->step.y, left, o->m * sizeof *left);
  idm_envelope_solve(o->m, o->matrix, o->edge, o->step.y);
  idm_flows_prices(f, o->step.y, o->price);
  for (size_t i = 0; i < o->n; i++) o->price[i] += o->slope[i];
  apply_inverse(o, o->price, o->step.q);
  complete_step(o);
  return true;
}

static double room(double length, double x, double dx)
{
  return dx < 0 ? fmin(length, -0.995 * x / dx) : length;
}

/* As far as everything stays positive. */
static double longest(const interior *o)
{
  double length = 1;
  for (size_t i = 0; i < o->n; i++) {
    length = room(length, o->at.q[i], o->step.q[i]);
    length = room(length, o->at.z[i], o->step.z[i]);
    if (!o->split) continue;
    length = room(length, o->at.a[i], o->step.a[i]);
    length = room(length, other(o, &o->at, i), o->step.q[i] + o->step.a[i]);
    length = room(length, o->at.s[i], o->step.s[i]);
    length = room(length, 1 - o->at.s[i], -o->step.s[i]);
  }
  return length;
}

static void advance(const point *from, const point *step, double length, size_t n, size_t m,
                    point *to)
{
  for (size_t i = 0; i < n; i++) {
    to->q[i] = from->q[i] + length * step->q[i];
    to->z[i] = from->z[i] + length * step->z[i];
    to->a[i] = from->a[i] + length * step->a[i];
    to->s[i] = from->s[i] + length * step->s[i];
  }
  for (size_t r = 0; r < m; r++) to->y[r] = from->y[r] + length * step->y[r];
}

/* Go along the step as long as it comes nearer to the central path; returns how far. */
static double walk(interior *o)
{
  double length = longest(o);
  memcpy(o->scale, o->at.q, o->n * sizeof *o->scale);
  const double before = stray(o, &o->at);
  for (int k = 0; k < most_halvings; k++, length /= 2) {
    advance(&o->at, &o->step, length, o->n, o->m, &o->trial);
    if (!(stray(o, &o->trial) <= (1 - 1e-3 * length) * before + DBL_EPSILON)) continue;
    const point swap = o->at;
    o->at = o->trial;
    o->trial = swap;
    return length;
  }
  return 0;
}

/* --- the path ------------------------------------------------------------------------------- */

static double complementarity(const interior *o)
{
  double sum = 0;
  for (size_t i = 0; i < o->n; i++) {
    sum += o->at.q[i] * o->at.z[i];
    if (o->split) sum += o->at.a[i] * o->at.s[i] + other(o, &o->at, i) * (1 - o->at.s[i]);
  }
  return sum / (double)(o->split ? 3 * o->n : o->n);
}

/* The gap; where the entropy keeps every action, also how far log pi is from what it should be. */
static double measure(interior *o, double *gap)
{
  double *share = NULL;
  if (o->split) {
    share = o->scale;
    for (size_t i = 0; i < o->n; i++) share[i] = 1 - o->at.s[i];
  }
  *gap = idm_flows_gap(o->f, o->at.q, o->at.y, share, o->work);
  double worst = 0;
  for (size_t i = 0; i < o->n && o->f->entropy > 0; i++) {
    const double slope = share ? 0.5 - share[i] : idm_flows_slope(o->f, i, o->at.q[i]);
    worst = fmax(worst, fabs(slope + o->f->entropy * o->work[o->n + i] - o->work[i]));
  }
  return fmax(*gap, worst);
}

/* Whether a point is better than the best so far. Among those whose gap is closed log pi decides;
 * before, the gap alone: where hardly anything comes log pi may be far off all along. */
static bool is_better(double now, double gap, double least, double least_gap)
{
  static const double closed = 1e-10;
  return gap <= closed && least_gap <= closed ? now < least : gap < least_gap;
}

static idm_status follow(interior *o, idm_halt *opt_halt, double *gap, idm_error *opt_error)
{
  double least = INFINITY;
  double mark = INFINITY; /* where it was when it last had become half, */
  double left = INFINITY; /* and how far along the path */
  double length = 1;
  int stale = 0;
  *gap = INFINITY;
  for (int k = 0; k < most_steps && stale < patience; k++) {
    const idm_status status = idm_halt_check(opt_halt, opt_error);
    if (status != IDM_OK) return status;
    double here;
    const double now = measure(o, &here);
    const double ahead = fmax(complementarity(o), negligible);
    stale++;
    if (now < 0.5 * mark || ahead < 0.5 * left) {
      mark = fmin(mark, now);
      left = fmin(left, ahead);
      stale = 0;
    }
    if (is_better(now, here, least, *gap)) {
      least = now;
      *gap = here;
      memcpy(o->best, o->at.q, o->n * sizeof *o->best);
      memcpy(o->prices, o->at.y, o->m * sizeof *o->prices);
    }
    if (now <= DBL_EPSILON || length == 0) break;
    o->target = (length > 0.5 ? 0.1 : 0.5) * ahead;
    if (!find_step(o)) break;
    length = walk(o);
  }
  return isfinite(least)
             ? IDM_OK
             : idm_fail(opt_error, IDM_NUMERICAL, "the nearest occupancy could not be found");
}

idm_status idm_interior_minimise(const idm_flows *flows, idm_halt *opt_halt, double *q, double *y,
                                 double *gap, idm_error *opt_error)
{
  interior o = {.f = flows,
                .split = flows->divergence == IDM_DIVERGENCE_TV,
                .n = flows->entries,
                .m = flows->rows};
  double *memory = place(&o);
  idm_status status = memory && o.matrix && o.edge ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK && !start(&o))
    status = idm_fail(opt_error, IDM_NUMERICAL, "the nearest occupancy could not be found");
  if (status == IDM_OK) status = follow(&o, opt_halt, gap, opt_error);
  if (status == IDM_OK) {
    memcpy(q, o.best, o.n * sizeof *q);
    memcpy(y, o.prices, o.m * sizeof *y);
  }
  free(memory);
  free(o.matrix);
  free(o.edge);
  return status;
}
