/* Soft extrema, one problem at a time. */
#include "base/soft.h"

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

/* Where exponentials are taken from, and what they sum to: value = reference + T log_sum. Kept
 * apart because in (x - value)/T the rounding of the value would be divided by T. */
typedef struct scaled_sum {
  double reference;
  double log_sum;
} scaled_sum;

static scaled_sum sum_up(double temperature, size_t count, const double *weight, const double *x,
                         double *opt_p)
{
  const double centre = mean(count, weight, x);
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
  return (scaled_sum){reference, near ? log1p(sum) : log(sum)};
}

double idm_soft(double temperature, size_t count, const double *weight, const double *x,
                double *opt_p)
{
  if (temperature == 0) return hard(temperature, count, weight, x, opt_p);
  if (isinf(temperature)) {
    for (size_t j = 0; opt_p && j < count; j++) opt_p[j] = weight[j];
    return mean(count, weight, x);
  }
  const scaled_sum s = sum_up(temperature, count, weight, x, opt_p);
  return s.reference + temperature * s.log_sum;
}

/* l e^l - expm1(l), by its series sum_n l^n (n-1)/n! where the difference would cancel. */
static double divergence_term(double l)
{
  if (l < -700) return 1; /* l e^l has vanished */
  if (fabs(l) > 0.25) return l * exp(l) - expm1(l);
  double power = 0.5 * l * l;
  double sum = 0;
  for (int n = 2; n < 20; n++) {
    sum += power * (n - 1);
    power *= l / (n + 1);
  }
  return sum;
}

double idm_soft_divergence(double temperature, size_t count, const double *weight, const double *x)
{
  if (isinf(temperature)) return 0;
  double sum = 0;
  if (temperature == 0) {
    /* The policy is w restricted to the best alternatives: KL = -log of their weight. */
    const double best = extremum(temperature, count, weight, x);
    for (size_t j = 0; j < count; j++) sum += ties(x[j], best) ? weight[j] : 0;
    return sum < 1 ? -log1p(sum - 1) : 0;
  }
  const scaled_sum s = sum_up(temperature, count, weight, x, NULL);
  for (size_t j = 0; j < count; j++)
    if (weight[j] > 0)
      sum += weight[j] * divergence_term((x[j] - s.reference) / temperature - s.log_sum);
  return sum;
}

void idm_soft_logs(double temperature, size_t count, const double *weight, const double *x,
                   double *log_p)
{
  if (temperature == 0 || isinf(temperature)) {
    idm_soft(temperature, count, weight, x, log_p);
    for (size_t j = 0; j < count; j++) log_p[j] = log_p[j] > 0 ? log(log_p[j]) : -INFINITY;
    return;
  }
  const scaled_sum s = sum_up(temperature, count, weight, x, NULL);
  for (size_t j = 0; j < count; j++)
    log_p[j] =
        weight[j] > 0 ? log(weight[j]) + (x[j] - s.reference) / temperature - s.log_sum : -INFINITY;
}
