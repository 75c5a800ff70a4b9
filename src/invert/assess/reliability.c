/* Calibration of predicted probabilities: see the header. */
#include "invert/assess/reliability.h"

#include <math.h>

#include "base/memory.h"

/* Probabilities are kept this far from 0 and 1. */
static const double margin = 1e-12;

void idm_reliability_close(reliability *c)
{
  free(c->point);
  free(c->pool);
  *c = (reliability){0};
}

static double predicted(const reliability *c, size_t point)
{
  const question *q = &c->r->question[point / c->r->actions];
  return idm_residual_probability(c->r, q)[point % c->r->actions];
}

typedef struct keyed {
  double probability;
  size_t point;
} keyed;

static int by_probability(const void *a, const void *b)
{
  const keyed *x = a;
  const keyed *y = b;
  if (x->probability != y->probability) return x->probability < y->probability ? -1 : 1;
  return (x->point > y->point) - (x->point < y->point);
}

static void list_points(reliability *c, keyed *key)
{
  const size_t pairs = c->r->questions * c->r->actions;
  for (size_t i = 0; i < pairs; i++) {
    const double p = predicted(c, i);
    if (p > 0 && p < 1) key[c->points++] = (keyed){p, i};
  }
  qsort(key, c->points, sizeof *key, by_probability);
  for (size_t i = 0; i < c->points; i++) c->point[i] = key[i].point;
}

idm_status idm_reliability_open(reliability *c, const residual *r, idm_error *opt_error)
{
  *c = (reliability){.r = r};
  if (!r->dimension) return IDM_OK;
  const size_t pairs = idm_times(r->questions, r->actions);
  keyed *key = idm_new(pairs, sizeof *key);
  c->point = idm_new(pairs, sizeof *c->point);
  c->pool = idm_new(pairs, sizeof *c->pool);
  const bool made = key && c->point && c->pool;
  if (made) list_points(c, key);
  free(key);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

/* One outcome as a pool of its own. */
static reliability_pool pool_of(const reliability *c, size_t point, const double *taken,
                                const double *shift)
{
  const residual *r = c->r;
  const question *q = &r->question[point / r->actions];
  const double *score = idm_residual_score(r, q, point % r->actions);
  const double p = fmin(fmax(predicted(c, point), margin), 1 - margin);
  double moved = 0;
  for (size_t j = 0; j < r->dimension; j++) moved += score[j] * shift[j];
  const double own = taken[point] - q->asked * p * moved;
  return (reliability_pool){.chances = q->asked,
                            .taken = own,
                            .least = p,
                            .most = p,
                            .expected = q->asked * p,
                            .variance = q->asked * p * (1 - p),
                            .surprise = own * log(p) + (q->asked - own) * log1p(-p)};
}

static void merge(reliability_pool *into, const reliability_pool *from)
{
  into->chances += from->chances;
  into->taken += from->taken;
  into->expected += from->expected;
  into->variance += from->variance;
  into->surprise += from->surprise;
  into->most = from->most;
}

static double share(const reliability_pool *p)
{
  return p->taken / p->chances;
}

static double gain_of(const reliability_pool *p)
{
  const double s = fmin(fmax(share(p), margin), 1 - margin);
  return p->taken * log(s) + (p->chances - p->taken) * log1p(-s) - p->surprise;
}

double idm_reliability_take(reliability *c, const double *taken, const double *shift)
{
  double gain = 0;
  c->pools = 0;
  for (size_t i = 0; i < c->points; i++) {
    const reliability_pool one = pool_of(c, c->point[i], taken, shift);
    /* Equal predictions, but for rounding, have one share. */
    if (c->pools && one.least <= c->pool[c->pools - 1].most * (1 + 1e-9))
      merge(&c->pool[c->pools - 1], &one);
    else
      c->pool[c->pools++] = one;
    const bool tied = i + 1 < c->points && predicted(c, c->point[i + 1]) <= one.most * (1 + 1e-9);
    while (!tied && c->pools > 1 && share(&c->pool[c->pools - 2]) > share(&c->pool[c->pools - 1])) {
      merge(&c->pool[c->pools - 2], &c->pool[c->pools - 1]);
      c->pools--;
    }
  }
  for (size_t i = 0; i < c->pools; i++) gain += gain_of(&c->pool[i]);
  return gain;
}

const reliability_pool *idm_reliability_worst(const reliability *c, double least)
{
  const reliability_pool *worst = NULL;
  double furthest = 0;
  for (size_t i = 0; i < c->pools; i++) {
    const reliability_pool *p = &c->pool[i];
    const double off = p->taken - p->expected;
    const double sds = off * off / p->variance;
    if (fabs(off) < least * p->chances || !(sds > furthest)) continue;
    furthest = sds;
    worst = p;
  }
  return worst;
}
