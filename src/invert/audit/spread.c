/* Effects with a common spread: see the header.
 *
 * In u = log tau the integrand exp(-(K - 1) u - squares / (2 tau^2) - tau^2 / (2 scale^2)) is
 * smooth and falls off doubly exponentially on both sides, so that sums over a grid converge fast.
 * Given levels, with mu integrated out, K - 1 independent contrasts are in place of K effects, and
 * the average is normal(mean, sqrt(sd^2 + tau^2 / K)). */
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

/* Logarithm of a further factor of the integrand. */
typedef double (*factor)(const void *context, double u);

static void tabulate(double squares, size_t count, double scale, factor opt_factor,
                     const void *context, double widest, grid *g)
{
  static const double beyond = 2.2; /* exp(2 * 2.2) / 2 is 40 nats */
  const double effects = 0.5 * log(squares), prior = log(scale);
  g->low = fmin(effects, prior) - beyond;
  g->step = (fmax(fmax(effects, prior), widest) + beyond - g->low) / (points - 1);
  g->highest = -INFINITY;
  for (int i = 0; i < points; i++) {
    const double u = g->low + i * g->step;
    g->height[i] =
        -((double)count - 1) * u - 0.5 * exp(2 * (effects - u)) - 0.5 * exp(2 * (u - prior));
    if (opt_factor) g->height[i] += opt_factor(context, u);
    g->highest = fmax(g->highest, g->height[i]);
  }
}

/* A point of the grid by its weight, and a uniform place in the cell around it. */
static double draw(const grid *g, idm_random *random)
{
  double weight[points];
  for (int i = 0; i < points; i++) weight[i] = exp(g->height[i] - g->highest);
  const double at = (double)idm_random_choice(random, weight, points);
  return exp(g->low + (at + idm_random_uniform(random) - 0.5) * g->step);
}

double idm_spread_log_prior(double squares, size_t count, double scale)
{
  grid g;
  double sum = 0;
  if (!(squares > 0) || !isfinite(squares) || !(scale > 0)) return -INFINITY;
  tabulate(squares, count, scale, NULL, NULL, -INFINITY, &g);
  for (int i = 0; i < points; i++) sum += exp(g.height[i] - g.highest);
  return g.highest + log(sum * g.step) - log(scale);
}

double idm_spread_draw(double squares, size_t count, double scale, idm_random *random)
{
  grid g;
  if (!(squares > 0) || !isfinite(squares) || !(scale > 0)) return NAN;
  tabulate(squares, count, scale, NULL, NULL, -INFINITY, &g);
  return draw(&g, random);
}

/* The variance of the average. */
static double average_variance(const idm_spread_levels *l, double tau)
{
  return l->sd * l->sd + tau * tau / (double)l->count;
}

/* Of the average. */
static double log_average(const void *context, double u)
{
  const idm_spread_levels *l = context;
  const double variance = average_variance(l, exp(u)), away = l->average - l->mean;
  return -0.5 * log(variance) - 0.5 * away * away / variance;
}

void idm_spread_draw_population(const idm_spread_levels *l, idm_random *random, double *ret_mean,
                                double *ret_spread)
{
  const double widest = log(fabs(l->average - l->mean)) + 0.5 * log((double)l->count);
  grid g;
  *ret_mean = *ret_spread = NAN;
  if (!(l->squares > 0) || !isfinite(l->squares) || !(widest < INFINITY) || !(l->scale > 0)) return;
  tabulate(l->squares, l->count - 1, l->scale, log_average, l, widest, &g);
  const double tau = draw(&g, random), variance = average_variance(l, tau);
  const double own = l->sd * l->sd / variance; /* the weight of the average */
  *ret_spread = tau;
  *ret_mean =
      own * l->average + (1 - own) * l->mean + l->sd * sqrt(1 - own) * idm_random_normal(random);
}
