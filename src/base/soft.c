/* Soft extrema T log sum_j w_j exp(x_j / T), for one problem or many lanes, and their derivatives.
 *
 * Contents: soft · soft block · soft slope */
#include <math.h>
#include <stdbool.h>

#include "base/soft.h"
#include "base/vector.h"

/* === soft =================================================================================== */

/* Soft extrema of one problem at a time. */

/* For a spread below this multiple of T the exponentials refer to the mean: first-order terms then
 * cancel exactly, and expm1 and log1p keep the remaining digits. */
static const double mean_reference = 0.5;

/* The value at T = 0: the largest x on the support of w; at -0.0 the smallest. */
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

/* Alternatives this close to the best are ties. Without a tolerance, rounding would select one of
 * several equal alternatives. */
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

/* Reference point of the exponentials, and the logarithm of their sum: value = reference + T
 * log_sum. Kept apart, since (x - value)/T would divide the rounding error of the value by T. */
typedef struct scaled_sum {
  double reference;
  double log_sum;
} scaled_sum;

static scaled_sum scaled_log_sum(double temperature, size_t count, const double *weight,
                                 const double *x, double *opt_p)
{
  const double centre = mean(count, weight, x);
  double spread = 0;
  for (size_t j = 0; j < count; j++)
    if (weight[j] > 0) spread = fmax(spread, fabs(x[j] - centre));
  const bool use_mean = spread < mean_reference * fabs(temperature);
  const double reference = use_mean ? centre : extremum(temperature, count, weight, x);
  double sum = 0;
  for (size_t j = 0; j < count; j++) {
    const double y = (x[j] - reference) / temperature;
    const double term = weight[j] > 0 ? weight[j] * (use_mean ? expm1(y) : exp(y)) : 0;
    if (opt_p) opt_p[j] = use_mean ? term + weight[j] : term;
    sum += term;
  }
  const double total = use_mean ? 1 + sum : sum;
  for (size_t j = 0; opt_p && j < count; j++) opt_p[j] /= total;
  return (scaled_sum){reference, use_mean ? log1p(sum) : log(sum)};
}

double idm_soft(double temperature, size_t count, const double *weight, const double *x,
                double *opt_p)
{
  if (temperature == 0) return hard(temperature, count, weight, x, opt_p);
  if (isinf(temperature)) {
    for (size_t j = 0; opt_p && j < count; j++) opt_p[j] = weight[j];
    return mean(count, weight, x);
  }
  const scaled_sum s = scaled_log_sum(temperature, count, weight, x, opt_p);
  return s.reference + temperature * s.log_sum;
}

/* l e^l - expm1(l); where the difference would cancel, by its series sum_n l^n (n-1)/n!. */
static double divergence_term(double l)
{
  if (l < -700) return 1; /* l e^l underflows */
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
    /* The policy is w restricted to the best alternatives: KL = -log of their total weight. */
    const double best = extremum(temperature, count, weight, x);
    for (size_t j = 0; j < count; j++) sum += ties(x[j], best) ? weight[j] : 0;
    return sum < 1 ? -log1p(sum - 1) : 0;
  }
  const scaled_sum s = scaled_log_sum(temperature, count, weight, x, NULL);
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
  const scaled_sum s = scaled_log_sum(temperature, count, weight, x, NULL);
  for (size_t j = 0; j < count; j++)
    log_p[j] =
        weight[j] > 0 ? log(weight[j]) + (x[j] - s.reference) / temperature - s.log_sum : -INFINITY;
}

/* === soft block ============================================================================= */

/* Soft extrema of many lanes at once: the inner loop of every solver. */

/* As mean_reference, decided once per block: where the spread of some lane is of the order of T, a
 * rounding error of T is at most one of max|x|. */
static const double soft_block_mean_reference = 0.5;

/* Below this 1/T overflows; the extremum is then hard for every spread of finite values. */
static const double smallest_temperature = 1e-300;

/* One number per lane. */
typedef struct lanes {
  double at[IDM_LANES];
} lanes;

/* c = the largest alternative on the support of w, or the smallest where `minimum` is set. */
IDM_INLINE void extremes(bool minimum, size_t count, const double *weight, const lanes *restrict x,
                         lanes *restrict c)
{
  for (int i = 0; i < IDM_LANES; i++) c->at[i] = minimum ? INFINITY : -INFINITY;
  for (size_t j = 0; j < count; j++) {
    if (!(weight[j] > 0)) continue;
    if (minimum)
      for (int i = 0; i < IDM_LANES; i++) c->at[i] = x[j].at[i] < c->at[i] ? x[j].at[i] : c->at[i];
    else
      for (int i = 0; i < IDM_LANES; i++) c->at[i] = x[j].at[i] > c->at[i] ? x[j].at[i] : c->at[i];
  }
}

IDM_INLINE void means(size_t count, const double *weight, const lanes *restrict x,
                      lanes *restrict c)
{
  for (int i = 0; i < IDM_LANES; i++) c->at[i] = 0;
  for (size_t j = 0; j < count; j++)
    for (int i = 0; i < IDM_LANES; i++) c->at[i] += weight[j] * x[j].at[i];
}

IDM_INLINE double largest_spread(size_t count, const double *weight, const lanes *restrict x,
                                 const lanes *restrict c)
{
  lanes spread = {{0}};
  for (size_t j = 0; j < count; j++) {
    if (!(weight[j] > 0)) continue;
    for (int i = 0; i < IDM_LANES; i++) {
      const double off = fabs(x[j].at[i] - c->at[i]);
      spread.at[i] = off > spread.at[i] ? off : spread.at[i];
    }
  }
  for (int width = IDM_LANES / 2; width > 0; width /= 2)
    for (int i = 0; i < width; i++)
      spread.at[i] = spread.at[i + width] > spread.at[i] ? spread.at[i + width] : spread.at[i];
  return spread.at[0];
}

/* p[j] *= scale in each lane. */
IDM_INLINE void rescale(size_t count, lanes *restrict p, const lanes *restrict scale)
{
  for (size_t j = 0; j < count; j++)
    for (int i = 0; i < IDM_LANES; i++) p[j].at[i] *= scale->at[i];
}

IDM_INLINE void hard_block(bool minimum, size_t count, const double *weight,
                           const lanes *restrict x, double *restrict value, lanes *restrict p)
{
  lanes best;
  extremes(minimum, count, weight, x, &best);
  for (int i = 0; i < IDM_LANES; i++) value[i] = best.at[i];
  if (!p) return;
  lanes total = {{0}};
  for (size_t j = 0; j < count; j++)
    for (int i = 0; i < IDM_LANES; i++) {
      const double scale = fabs(value[i]) > 1 ? fabs(value[i]) : 1;
      p[j].at[i] = fabs(x[j].at[i] - value[i]) <= IDM_TIE * scale ? weight[j] : 0;
      total.at[i] += p[j].at[i];
    }
  for (int i = 0; i < IDM_LANES; i++) total.at[i] = 1 / total.at[i];
  rescale(count, p, &total);
}

/* Small spread: value = mean + T log1p(sum_j w_j expm1((x_j - mean)/T)). */
IDM_INLINE void mean_block(double temperature, size_t count, const double *weight,
                           const lanes *restrict x, const lanes *restrict c, double *restrict value,
                           lanes *restrict p)
{
  const double inverse = 1 / temperature;
  lanes sum = {{0}};
  for (size_t j = 0; j < count; j++) {
    const double w = weight[j];
    lanes term;
    for (int i = 0; i < IDM_LANES; i++)
      term.at[i] = w * idm_vexpm1((x[j].at[i] - c->at[i]) * inverse);
    if (!(w > 0))
      for (int i = 0; i < IDM_LANES; i++) term.at[i] = 0;
    for (int i = 0; i < IDM_LANES; i++) sum.at[i] += term.at[i];
    if (p)
      for (int i = 0; i < IDM_LANES; i++) p[j].at[i] = w + term.at[i];
  }
  for (int i = 0; i < IDM_LANES; i++) value[i] = c->at[i] + temperature * idm_vlog1p(sum.at[i]);
  if (!p) return;
  for (int i = 0; i < IDM_LANES; i++) sum.at[i] = 1 / (1 + sum.at[i]);
  rescale(count, p, &sum);
}

/* Large spread: value = extremum + T log(sum_j w_j exp((x_j - extremum)/T)). */
IDM_INLINE void extreme_block(double temperature, size_t count, const double *weight,
                              const lanes *restrict x, const lanes *restrict c,
                              double *restrict value, lanes *restrict p)
{
  const double inverse = 1 / temperature;
  lanes sum = {{0}};
  for (size_t j = 0; j < count; j++) {
    const double w = weight[j];
    lanes term = {{0}};
    if (w > 0)
      for (int i = 0; i < IDM_LANES; i++)
        term.at[i] = w * idm_vexp((x[j].at[i] - c->at[i]) * inverse);
    for (int i = 0; i < IDM_LANES; i++) sum.at[i] += term.at[i];
    if (p)
      for (int i = 0; i < IDM_LANES; i++) p[j].at[i] = term.at[i];
  }
  for (int i = 0; i < IDM_LANES; i++) value[i] = c->at[i] + temperature * idm_vlog(sum.at[i]);
  if (!p) return;
  for (int i = 0; i < IDM_LANES; i++) sum.at[i] = 1 / sum.at[i];
  rescale(count, p, &sum);
}

IDM_KERNEL(, idm_soft_block,
           (double temperature, size_t count, const double *weight, const double *x, double *value,
            double *opt_p),
           (temperature, count, weight, x, value, opt_p))
{
  const lanes *block = (const lanes *)x;
  lanes *p = (lanes *)opt_p;
  if (fabs(temperature) < smallest_temperature) {
    hard_block(signbit(temperature), count, weight, block, value, p);
    return;
  }
  lanes c;
  means(count, weight, block, &c);
  if (isinf(temperature)) {
    for (int i = 0; i < IDM_LANES; i++) value[i] = c.at[i];
    for (size_t j = 0; p && j < count; j++)
      for (int i = 0; i < IDM_LANES; i++) p[j].at[i] = weight[j];
  } else if (largest_spread(count, weight, block, &c) <
             soft_block_mean_reference * fabs(temperature)) {
    mean_block(temperature, count, weight, block, &c, value, p);
  } else {
    extremes(temperature < 0, count, weight, block, &c);
    extreme_block(temperature, count, weight, block, &c, value, p);
  }
}

/* === soft slope ============================================================================= */

/* Derivatives of soft extrema with respect to the inverse temperature and the weights.
 *
 * With l = log(p/w) = (x - value)/T: d value / d(1/T) = T^2 KL(p||w) = sum w T^2 (l e^l - expm1 l),
 * and d value / d w_j = T e^l, from which T, a constant common to all j, is subtracted here.
 * Written with d = x - value as d^2 phi(l) and d expm1(l)/l, both are smooth through T = inf, where
 * phi = 1/2 and expm1(l)/l = 1. */

/* Below this |l| the differences would cancel, and the series are used. */
static const double series_radius = 0.5;

/* phi(l) = (l e^l - expm1 l)/l^2 = sum_k l^k / (k! (k + 2)). */
IDM_INLINE double phi(double l)
{
  double p = 1.0 / (479001600.0 * 14);
  p = p * l + 1.0 / (39916800.0 * 13);
  p = p * l + 1.0 / (3628800.0 * 12);
  p = p * l + 1.0 / (362880.0 * 11);
  p = p * l + 1.0 / (40320.0 * 10);
  p = p * l + 1.0 / (5040.0 * 9);
  p = p * l + 1.0 / (720.0 * 8);
  p = p * l + 1.0 / (120.0 * 7);
  p = p * l + 1.0 / (24.0 * 6);
  p = p * l + 1.0 / (6.0 * 5);
  p = p * l + 1.0 / (2.0 * 4);
  p = p * l + 1.0 / 3;
  return p * l + 0.5;
}

/* Terms that do not depend on the alternative. */
typedef struct scale {
  double temperature; /* 0 where it is infinite: then every l is within the radius of the series */
  double inverse;
  bool hard;
} scale;

static scale scale_of(double temperature)
{
  const bool hard = fabs(temperature) < 1e-300;
  return (scale){.temperature = isinf(temperature) ? 0 : temperature,
                 .inverse = hard ? 0 : 1 / temperature,
                 .hard = hard};
}

/* One alternative with p = w ratio: its term of d/d(1/T), before multiplication by w, and d/dw. */
IDM_INLINE void derivative_terms(scale s, double d, double ratio, double *inverse, double *weight)
{
  double l = d * s.inverse;
  l = l < -1e6 ? -1e6 : l; /* e^l underflows; l must not be infinite */
  const bool use_mean = fabs(l) < series_radius;
  const double small = use_mean ? l : 0;
  const double t = s.temperature;
  const double far_inverse = t * t * (l * ratio - ratio + 1);
  const double far_weight = t * (ratio - 1);
  *inverse = use_mean ? d * d * phi(small) : far_inverse;
  *weight = use_mean ? d * idm_expm1_ratio(small) : far_weight;
}

void idm_soft_derivative(double temperature, size_t count, const double *weight, const double *x,
                         double value, const double *p, double *inverse, double *weights)
{
  const scale s = scale_of(temperature);
  *inverse = 0;
  for (size_t j = 0; j < count; j++) {
    weights[j] = 0;
    if (s.hard || !(weight[j] > 0)) continue;
    double inverse_term;
    derivative_terms(s, x[j] - value, p[j] / weight[j], &inverse_term, &weights[j]);
    *inverse += weight[j] * inverse_term;
  }
}

IDM_KERNEL(, idm_soft_derivative_block,
           (double temperature, size_t count, const double *weight, const double *restrict x,
            const double *restrict value, const double *restrict p, double *restrict inverse,
            double *restrict weights),
           (temperature, count, weight, x, value, p, inverse, weights))
{
  const scale s = scale_of(temperature);
  for (int i = 0; i < IDM_LANES; i++) inverse[i] = 0;
  for (size_t j = 0; j < count; j++, x += IDM_LANES, p += IDM_LANES, weights += IDM_LANES) {
    const double w = weight[j];
    if (s.hard || !(w > 0)) {
      for (int i = 0; i < IDM_LANES; i++) weights[i] = 0;
      continue;
    }
    const double scaled = 1 / w;
    for (int i = 0; i < IDM_LANES; i++) {
      double inverse_term, weight_derivative;
      derivative_terms(s, x[i] - value[i], p[i] * scaled, &inverse_term, &weight_derivative);
      inverse[i] += w * inverse_term;
      weights[i] = weight_derivative;
    }
  }
}
