/* Soft extrema, one problem at a time. */
#include "base/soft.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Below this spread in units of T the mean is the better reference point: first-order terms then
 * cancel exactly and expm1/log1p keep the rest. */
static const double mean_reference = 0.5;

/* The best alternative at T = 0: the largest x on the support of w, or the smallest at -0.0. */
static double extremum(double temperature, size_t count, const double *weight, const double *x)
{
  const double sign = signbit(temperature) ? -1 : 1;
  double best = -INFINITY;
  for (size_t j = 0; j < count; j++)
    if (weight[j] > 0 && sign * x[j] > best) best = sign * x[j];
  return sign * best;
}

static double mean(size_t count, const double *weight, const double *x)
{
  double sum = 0;
  for (size_t j = 0; j < count; j++)
    if (weight[j] > 0) sum += weight[j] * x[j];
  return sum;
}

/* Alternatives this close to the best are ties: without a tolerance rounding would decide which of
 * equal alternatives is taken. */
static bool ties(double x, double best)
{
  return fabs(x - best) <= IDM_TIE * fmax(1, fabs(best));
}

static double hard(double temperature, size_t count, const double *weight, const double *x,
                   double *opt_p)
{
  const double best = extremum(temperature, count, weight, x);
  if (opt_p) {
    double total = 0;
    for (size_t j = 0; j < count; j++) {
      opt_p[j] = weight[j] > 0 && ties(x[j], best) ? weight[j] : 0;
      total += opt_p[j];
    }
    for (size_t j = 0; j < count; j++) opt_p[j] /= total;
  }
  return best;
}

double idm_soft(double temperature, size_t count, const double *weight, const double *x,
                double *opt_p)
{
  if (temperature == 0) return hard(temperature, count, weight, x, opt_p);
  const double centre = mean(count, weight, x);
  if (isinf(temperature)) {
    for (size_t j = 0; opt_p && j < count; j++) opt_p[j] = weight[j];
    return centre;
  }

  double spread = 0;
  for (size_t j = 0; j < count; j++)
    if (weight[j] > 0) spread = fmax(spread, fabs(x[j] - centre));
  const bool near = spread < mean_reference * fabs(temperature);
  const double reference = near ? centre : extremum(temperature, count, weight, x);
  double sum = 0;
  for (size_t j = 0; j < count; j++) {
    const double y = (x[j] - reference) / temperature;
    const double term = weight[j] > 0 ? weight[j] * (near ? expm1(y) : exp(y)) : 0;
    if (opt_p) opt_p[j] = near ? term + weight[j] : term;
    sum += term;
  }
  const double total = near ? 1 + sum : sum;
  for (size_t j = 0; opt_p && j < count; j++) opt_p[j] /= total;
  return reference + temperature * (near ? log1p(sum) : log(sum));
}

/* l e^l - expm1(l), by its series sum_n l^n (n-1)/n! where the difference would cancel. */
static double divergence_term(double l)
{
  if (fabs(l) > 0.25) return l * exp(l) - expm1(l);
  double power = 0.5 * l * l;
  double sum = 0;
  for (int n = 2; n < 20; n++) {
    sum += power * (n - 1);
    power *= l / (n + 1);
  }
  return sum;
}

double idm_soft_divergence(double temperature, size_t count, const double *weight, const double *x,
                           double value)
{
  if (isinf(temperature)) return 0;
  double sum = 0;
  for (size_t j = 0; j < count; j++) {
    if (!(weight[j] > 0)) continue;
    if (temperature == 0)
      sum += ties(x[j], value) ? weight[j] : 0;
    else
      sum += weight[j] * divergence_term((x[j] - value) / temperature);
  }
  /* At T = 0 the policy is w restricted to the best alternatives: KL = -log of their weight. */
  return temperature == 0 ? -log(fmin(sum, 1)) : sum;
}

double idm_soft_log(double temperature, size_t count, const double *weight, const double *x,
                    double value, size_t j)
{
  if (!(weight[j] > 0)) return -INFINITY;
  if (isinf(temperature)) return log(weight[j]);
  if (temperature != 0) return log(weight[j]) + (x[j] - value) / temperature;
  if (!ties(x[j], value)) return -INFINITY;
  double shared = 0;
  for (size_t i = 0; i < count; i++) shared += ties(x[i], value) ? weight[i] : 0;
  return log(weight[j] / shared);
}
