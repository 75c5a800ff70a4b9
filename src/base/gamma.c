/* Log-gamma: Stirling's series, after a shift of small arguments. */
#include "base/gamma.h"

#include <math.h>

double idm_stirling_rest(double x)
{
  static const double term[] = {1.0 / 12,   -1.0 / 360,        1.0 / 1260, -1.0 / 1680,
                                1.0 / 1188, -691.0 / 360360.0, 1.0 / 156};
  const double inverse_square = 1 / (x * x);
  double sum = 0;
  for (int i = 7; i-- > 0;) sum = sum * inverse_square + term[i];
  return sum / x;
}

double idm_log_gamma(double x)
{
  if (isinf(x)) return x;
  /* Gamma(x) = Gamma(x + k) / (x (x + 1) ... (x + k - 1)) */
  double product = 1;
  while (x < 10) {
    product *= x;
    x++;
  }
  return (x - 0.5) * log(x) - x + idm_half_log_two_pi + idm_stirling_rest(x) - log(product);
}

double idm_digamma(double x)
{
  double below = 0;
  while (x < 8) {
    below += 1 / x;
    x += 1;
  }
  const double r = 1 / (x * x);
  const double series =
      r * (1.0 / 12 - r * (1.0 / 120 -
                           r * (1.0 / 252 -
                                r * (1.0 / 240 - r * (1.0 / 132 - r * (691.0 / 32760 - r / 12))))));
  return log(x) - 0.5 / x - series - below;
}
