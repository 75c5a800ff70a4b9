/* The mean of the worst share. */
#include "base/tail.h"

#include <math.h>

#include "base/soft.h"

static double next_above(size_t count, const double *weight, const double *x, double floor)
{
  double next = INFINITY;
  for (size_t j = 0; j < count; j++)
    if (weight[j] > 0 && x[j] > floor && x[j] < next) next = x[j];
  return next;
}

/* Alternatives from the least on are filled up to w / level until all is given away; the last group
 * of those within a tie shares what is left. No memory is asked for: there are few models. */
static double fill(double level, double tie, size_t count, const double *weight, const double *x,
                   double *opt_p)
{
  double left = 1;
  double value = 0;
  double floor = -INFINITY;
  for (size_t j = 0; opt_p && j < count; j++) opt_p[j] = 0;
  while (left > 0) {
    const double least = next_above(count, weight, x, floor);
    if (!(least < INFINITY)) break;
    const double most = least + tie * fmax(1, fabs(least));
    double mass = 0, mean = 0;
    for (size_t j = 0; j < count; j++)
      if (weight[j] > 0 && x[j] > floor && x[j] <= most) {
        mass += weight[j];
        mean += weight[j] * x[j];
      }
    const bool rest = !(mass < left * level);
    const double scale = rest ? left / mass : 1 / level;
    for (size_t j = 0; opt_p && j < count; j++)
      if (weight[j] > 0 && x[j] > floor && x[j] <= most) opt_p[j] = scale * weight[j];
    value += scale * mean;
    left = rest ? 0 : left - mass / level;
    floor = most;
  }
  /* Rounding may leave a crumb where the level is 1. */
  if (left > 0 && left < 1) {
    value /= 1 - left;
    for (size_t j = 0; opt_p && j < count; j++) opt_p[j] /= 1 - left;
  }
  return value;
}

/* The value goes by no ties: it would jump by as much as they are wide, and whoever looks for its
 * fixed point, which lies at ties as a rule, would go round in a circle. */
double idm_tail(double level, size_t count, const double *weight, const double *x, double *opt_p)
{
  if (opt_p) fill(level, IDM_TIE, count, weight, x, opt_p);
  return fill(level, 0, count, weight, x, NULL);
}
