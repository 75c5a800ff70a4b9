/* Effects with a common spread: see the header.
 *
 * In u = log tau the integrand exp(-(K - 1) u - squares / (2 tau^2) - tau^2 / (2 scale^2)) is
 * smooth and falls off doubly exponentially on both sides, so that sums over a grid converge fast.
 */
#include "invert/audit/spread.h"

#include <math.h>

enum { points = 256 };

/* Logarithms of the integrand, over the range that holds all but exp(-27) of it. */
typedef struct grid {
  double low;
  double step;
  double height[points]; /* relative to the highest */
  double highest;
} grid;

static void tabulate(double squares, size_t count, double scale, grid *g)
{
  static const double beyond = 2.2; /* exp(2 * 2.2) / 2 is 40 nats */
  const double effects = 0.5 * log(squares), prior = log(scale);
  g->low = fmin(effects, prior) - beyond;
  g->step = (fmax(effects, prior) + beyond - g->low) / (points - 1);
  g->highest = -INFINITY;
  for (int i = 0; i < points; i++) {
    const double u = g->low + i * g->step;
    g->height[i] =
        -((double)count - 1) * u - 0.5 * exp(2 * (effects - u)) - 0.5 * exp(2 * (u - prior));
    g->highest = fmax(g->highest, g->height[i]);
  }
}

double idm_spread_log_prior(double squares, size_t count, double scale)
{
  grid g;
  double sum = 0;
  if (!(squares > 0) || !isfinite(squares) || !(scale > 0)) return -INFINITY;
  tabulate(squares, count, scale, &g);
  for (int i = 0; i < points; i++) sum += exp(g.height[i] - g.highest);
  return g.highest + log(sum * g.step) - log(scale);
}

/* A point of the grid by its weight, and a uniform place in the cell around it. */
double idm_spread_draw(double squares, size_t count, double scale, idm_random *random)
{
  grid g;
  double weight[points];
  if (!(squares > 0) || !isfinite(squares) || !(scale > 0)) return NAN;
  tabulate(squares, count, scale, &g);
  for (int i = 0; i < points; i++) weight[i] = exp(g.height[i] - g.highest);
  const double at = (double)idm_random_choice(random, weight, points);
  return exp(g.low + (at + idm_random_uniform(random) - 0.5) * g.step);
}
