/* Soft extrema of many lanes side by side: the inner loop of every solve. */
#include <math.h>
#include <stdbool.h>

#include "base/soft_block.h"
#include "base/vector.h"

/* See soft.c: which reference point keeps the digits. Decided once a block: where the spread of
 * some lane is of the order of T, an error of one rounding of T is one rounding of max|x|. */
static const double mean_reference = 0.5;

/* Below this 1/T overflows; no spread of finite values is soft there. */
static const double smallest_temperature = 1e-300;

/* One number a lane. */
typedef struct lanes {
  double at[IDM_LANES];
} lanes;

/* c = the extreme alternative on the support, by the sign of T. */
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

/* p[j] *= scale, lane by lane. */
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

/* Small spread: value = mean + T log1p(sum w expm1((x - mean)/T)). */
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

/* Large spread: value = extreme + T log(sum w exp((x - extreme)/T)). */
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
  } else if (largest_spread(count, weight, block, &c) < mean_reference * fabs(temperature)) {
    mean_block(temperature, count, weight, block, &c, value, p);
  } else {
    extremes(temperature < 0, count, weight, block, &c);
    extreme_block(temperature, count, weight, block, &c, value, p);
  }
}
