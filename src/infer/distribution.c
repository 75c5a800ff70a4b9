/* The normal quantile, insides of intervals, and the tail of chi-square. */
#include "infer/distribution.h"

#include <float.h>
#include <math.h>

#include "base/gamma.h"
#include "idm/distribution.h"

/* --- normal quantile ------------------------------------------------------------------------ */

/* A quotient of two polynomials of degree 7, coefficients from the constant up. */
static double ratio(const double above[8], const double below[8], double x)
{
  double a = above[7], b = below[7];
  for (int i = 7; i-- > 0;) {
    a = a * x + above[i];
    b = b * x + below[i];
  }
  return a / b;
}

/* Wichura (1988), Algorithm AS 241, PPND16: |p - 1/2| <= 0.425. */
static double central_quantile(double distance)
{
  static const double above[8] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                  1.9715909503065514427e3, 1.3731693765509461125e4,
                                  4.5921953931549871457e4, 6.7265770927008700853e4,
                                  3.3430575583588128105e4, 2.5090809287301226727e3};
  static const double below[8] = {1,
                                  4.2313330701600911252e1,
                                  6.8718700749205790830e2,
                                  5.3941960214247511077e3,
                                  2.1213794301586595867e4,
                                  3.9307895800092710610e4,
                                  2.8729085735721942674e4,
                                  5.2264952788528545610e3};
  return distance * ratio(above, below, 0.180625 - distance * distance);
}

/* The same, towards the ends: r = sqrt(-log of the tail) up to 5, */
static double outer_quantile(double r)
{
  static const double above[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                  5.76949722146069140550e0,  3.64784832476320460504e0,
                                  1.27045825245236838258e0,  2.41780725177450611770e-1,
                                  2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static const double below[8] = {1,
                                  2.05319162663775882187e0,
                                  1.67638483018380384940e0,
                                  6.89767334985100004550e-1,
                                  1.48103976427480074590e-1,
                                  1.51986665636164571966e-2,
                                  5.47593808499534494600e-4,
                                  1.05075007164441684324e-9};
  return ratio(above, below, r - 1.6);
}

/* and above 5. */
static double extreme_quantile(double r)
{
  static const double above[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                  1.78482653991729133580e0,  2.96560571828504891230e-1,
                                  2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                  2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static const double below[8] = {1,
                                  5.99832206555887937690e-1,
                                  1.36929880922735805310e-1,
                                  1.48753612908506148525e-2,
                                  7.86869131145613259100e-4,
                                  1.84631831751005468180e-5,
                                  1.42151175831644588870e-7,
                                  2.04426310338993978564e-15};
  return ratio(above, below, r - 5);
}

double idm_normal_quantile(double p)
{
  if (!(p >= 0 && p <= 1)) return NAN;
  const double distance = p - 0.5;
  if (fabs(distance) <= 0.425) return central_quantile(distance);
  const double tail = distance < 0 ? p : 1 - p;
  if (!(tail > 0)) return copysign(INFINITY, distance);
  const double r = sqrt(-log(tail));
  return copysign(r <= 5 ? outer_quantile(r) : extreme_quantile(r), distance);
}

/* --- supports ------------------------------------------------------------------------------- */

double idm_inside(double lower, double upper, double c)
{
  const double least = fmax(nextafter(lower, upper), lower + DBL_MIN);
  const double most = fmin(nextafter(upper, lower), upper - DBL_MIN);
  if (c < least) return least;
  return c > most ? most : c;
}

/* --- chi-square ----------------------------------------------------------------------------- */

/* x^a e^-x / Gamma(a + 1). For large a the three factors cancel; Stirling's formula does it first.
 */
static double poisson_term(double a, double x)
{
  if (a < 10) return exp(a * log(x) - x - idm_log_gamma(a + 1));
  const double excess = (x - a) / a;
  const double exponent =
      fabs(excess) < 0.5 ? a * (log1p(excess) - excess) : a * log(x / a) - (x - a);
  return exp(exponent - idm_half_log_two_pi - idm_stirling_rest(a)) / sqrt(a);
}

/* The lower part by its series, Abramowitz and Stegun 6.5.29; good below a + 1. */
static double lower_gamma(double a, double x)
{
  double term = 1, sum = 1;
  for (double n = a + 1; term > 0.25 * DBL_EPSILON * sum; n++) sum += term *= x / n;
  return poisson_term(a, x) * sum;
}

/* The upper part by its continued fraction, ibid. 6.5.31 contracted, by Lentz's method; good above
 * a + 1, where no denominator vanishes. */
static double upper_gamma(double a, double x)
{
  double b = x + 1 - a;
  double c = DBL_MAX;
  double d = 1 / b;
  double fraction = d;
  for (double i = 1;; i++) {
    const double numerator = -i * (i - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    fraction *= d * c;
    if (!(fabs(d * c - 1) > DBL_EPSILON)) return poisson_term(a, x) * a * fraction;
  }
}

double idm_chi_square_tail(double x, double degrees)
{
  if (isnan(x) || !(degrees >= 0 && isfinite(degrees))) return NAN;
  if (!(x > 0)) return 1;
  if (isinf(x) || !(degrees > 0)) return 0; /* with no degree all mass is at 0 */
  const double a = 0.5 * degrees, half = 0.5 * x;
  return half < a + 1 ? 1 - lower_gamma(a, half) : upper_gamma(a, half);
}
