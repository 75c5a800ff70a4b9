/* Tail of a sum of independent discrete variables: see the header. */
#include "base/saddlepoint.h"

#include <math.h>
#include <stdbool.h>

/* The cumulant generating function K(t), its first two derivatives, and the sum over the terms of
 * the tilted variance times the range of the values. */
typedef struct cumulants {
  double value;
  double slope;
  double curvature;
  double spread;
} cumulants;

static void add_term(const double *probability, const double *value, size_t width, double copies,
                     double t, cumulants *c)
{
  double top = -INFINITY, low = INFINITY, high = -INFINITY, total = 0, mean = 0, variance = 0;
  for (size_t o = 0; o < width; o++) {
    if (!(probability[o] > 0)) continue;
    low = fmin(low, value[o]);
    high = fmax(high, value[o]);
    top = fmax(top, t * value[o]);
  }
  for (size_t o = 0; o < width; o++) {
    if (!(probability[o] > 0)) continue;
    const double weight = probability[o] * exp(t * value[o] - top);
    total += weight;
    mean += weight * value[o];
  }
  if (!(total > 0)) return;
  mean /= total;
  for (size_t o = 0; o < width; o++) {
    if (!(probability[o] > 0)) continue;
    const double weight = probability[o] * exp(t * value[o] - top) / total;
    variance += weight * (value[o] - mean) * (value[o] - mean);
  }
  c->value += copies * (top + log(total));
  c->slope += copies * mean;
  c->curvature += copies * variance;
  c->spread += copies * variance * (high - low);
}

static cumulants cumulants_at(const idm_discrete_sum *sum, double t)
{
  cumulants c = {0};
  for (size_t i = 0; i < sum->terms; i++)
    add_term(sum->probability + i * sum->width, sum->value + i * sum->width, sum->width,
             sum->copies[i], t, &c);
  return c;
}

/* A tilt beyond the one at which the mean is x, by doubling; at the end of the support there is
 * none, and *ret_end is true at a tilt that leaves hardly any variance. */
static double bracket(const idm_discrete_sum *sum, double x, const cumulants *untilted,
                      cumulants *at, bool *ret_end)
{
  double t = (x - untilted->slope) / untilted->curvature;
  *ret_end = false;
  for (int i = 0; i < 200; i++, t *= 2) {
    *at = cumulants_at(sum, t);
    if (t > 0 ? at->slope >= x : at->slope <= x) return t;
    if (!(at->curvature > 1e-12 * untilted->curvature)) break;
  }
  *ret_end = true;
  return t;
}

/* Newton's method inside the bracket (0, far]. */
static double solve(const idm_discrete_sum *sum, double x, double near, double far, cumulants *at)
{
  double t = far;
  for (int i = 0; i < 200; i++) {
    const double gap = at->slope - x;
    if (fabs(gap) <= 1e-9 * sqrt(at->curvature)) break;
    if ((gap > 0) == (far > near))
      far = t;
    else
      near = t;
    const double newton = t - gap / at->curvature;
    const bool inside = (newton - near) * (newton - far) < 0;
    const double next = inside ? newton : 0.5 * (near + far);
    if (next == t) break;
    t = next;
    *at = cumulants_at(sum, t);
  }
  return t;
}

static double normal_tail(double z)
{
  return 0.5 * erfc(fabs(z) / sqrt(2));
}

double idm_saddlepoint_tail(const idm_discrete_sum *sum, double x)
{
  static const double near_mean = 0.1; /* the formula is 0 / 0 at the mean */
  static const double root_two_pi = 2.506628274631000502;
  const cumulants untilted = cumulants_at(sum, 0);
  if (!(untilted.curvature > 0)) return 1;
  const double z = (x - untilted.slope) / sqrt(untilted.curvature);
  if (fabs(z) < near_mean) return normal_tail(z);
  cumulants at;
  bool end;
  double t = bracket(sum, x, &untilted, &at, &end);
  if (!end) t = solve(sum, x, 0, t, &at);
  const double exponent = fmax(0, t * x - at.value);
  const double chernoff = exp(-exponent);
  if (end || !(at.curvature > 0)) return chernoff;
  const double w = sqrt(2 * exponent), u = fabs(t) * sqrt(at.curvature);
  const double spacing = fabs(t) * at.spread / at.curvature;
  const double lattice = spacing > 1e-9 ? spacing / -expm1(-spacing) : 1;
  const double tail = normal_tail(w) + chernoff / root_two_pi * (lattice / u - 1 / w);
  return fmin(chernoff, fmax(0, tail));
}

double idm_saddlepoint_two_sided(const idm_discrete_sum *sum, double x, double variance)
{
  static const double far = 2; /* in sds */
  const double z = x / sqrt(variance);
  if (fabs(z) < far) return erfc(fabs(z) / sqrt(2));
  return fmin(1, 2 * idm_saddlepoint_tail(sum, x));
}
