/* Derivatives of soft extrema with respect to the inverse temperature and the weights.
 *
 * With l = log(p/w) = (x - value)/T: d value / d(1/T) = T^2 KL(p||w) = sum w T^2 (l e^l - expm1 l),
 * and d value / d w_j = T e^l, here less T, which is common to all j. Written with d = x - value as
 * d^2 phi(l) and d expm1(l)/l both are smooth through T = inf, where phi = 1/2 and the ratio is 1.
 */
#include <math.h>
#include <stdbool.h>

#include "base/soft_slope.h"
#include "base/vector.h"

/* Below this |l| the differences would cancel, and the series take over. */
static const double series_reach = 0.5;

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

/* What does not depend on the alternative. */
typedef struct scale {
  double temperature; /* 0 where it is infinite: then no l leaves the reach of the series */
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

/* One alternative with p = w ratio: its share in d/d(1/T) (to be weighted by w), and d/dw. */
IDM_INLINE void slopes(scale s, double d, double ratio, double *inverse, double *weight)
{
  double l = d * s.inverse;
  l = l < -1e6 ? -1e6 : l; /* e^l has vanished, l may not be infinite */
  const bool near = fabs(l) < series_reach;
  const double small = near ? l : 0;
  const double t = s.temperature;
  const double far_inverse = t * t * (l * ratio - ratio + 1);
  const double far_weight = t * (ratio - 1);
  *inverse = near ? d * d * phi(small) : far_inverse;
  *weight = near ? d * idm_expm1_ratio(small) : far_weight;
}

void idm_soft_slope(double temperature, size_t count, const double *weight, const double *x,
                    double value, const double *p, double *inverse, double *weights)
{
  const scale s = scale_of(temperature);
  *inverse = 0;
  for (size_t j = 0; j < count; j++) {
    weights[j] = 0;
    if (s.hard || !(weight[j] > 0)) continue;
    double part;
    slopes(s, x[j] - value, p[j] / weight[j], &part, &weights[j]);
    *inverse += weight[j] * part;
  }
}

IDM_KERNEL(, idm_soft_slope_block,
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
      double part, slope;
      slopes(s, x[i] - value[i], p[i] * scaled, &part, &slope);
      inverse[i] += w * part;
      weights[i] = slope;
    }
  }
}
