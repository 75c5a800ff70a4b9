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
